"""The routes: what each path takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, TypeVar

import anyio.to_thread
from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from ..errors import InvalidRequest
from ..version import __version__
from .body import media_type, read_body, require_json
from .dialects import chat, systemone
from .dialects import systemone_schema as schema
from .dialects.base import Ask, Terms
from .multipart import split_parts
from .profiles import Profile, dialect_at
from .service import Service
from .strict_json import parse as parse_json

T = TypeVar("T")

LONG_BODY = 64 * 1024
"""Bodies longer than this are parsed in a thread, so that others are not kept waiting."""


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


TheService = Annotated[Service, Depends(_service)]

_ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": schema.ErrorReply, "description": "The model is not served here"},
    401: {"model": schema.ErrorReply, "description": "Wrong key"},
    403: {"model": schema.ErrorReply, "description": "No key"},
    413: {"model": schema.ErrorReply, "description": "The body is too large"},
    415: {"model": schema.ErrorReply, "description": "Not JSON, or a content encoding other than gzip and zstd"},
    422: {"model": schema.InvalidReply, "description": "The request is not valid"},
    500: {"model": schema.ErrorReply, "description": "The server failed"},
    503: {"model": schema.ErrorReply, "description": "Loading, or the engine failed; try again after `retry-after`"},
}
_KEY_ERRORS: dict[int | str, dict[str, Any]] = {status: _ERRORS[status] for status in (401, 403, 503)}

api = APIRouter()
probes = APIRouter(tags=["probes"])


@api.post("/v1/systemone", summary="Answer typed questions", response_model=schema.SystemOneReply, responses=_ERRORS)
async def system_one(request: Request, service: TheService) -> Response:
    """Answer every question about the state, each with its probabilities. Other questions and their order change no answer."""
    return await _decide(request, service)


@api.post("/v1/decisions", summary="Answer typed questions, OpenAI's way")
@api.post("/decisions", include_in_schema=False)
async def decisions(request: Request, service: TheService) -> Response:
    """OpenAI's Decisions API: questions and answers in lists. A body whose questions are an object is System One's."""
    return await _decide(request, service)


@api.post("/api/alpha/decisions", summary="Answer typed questions, OpenRouter's way")
async def openrouter_decisions(request: Request, service: TheService) -> Response:
    """System One in OpenRouter's envelope."""
    return await _decide(request, service)


@api.post("/inference/v1/systemone", summary="Answer typed questions, at Fireworks' path")
async def fireworks_system_one(request: Request, service: TheService) -> Response:
    """System One, with Fireworks' failures."""
    return await _decide(request, service)


@api.post("/v1/chat/completions", summary="Chat: a decision where a schema is sent, else text")
async def chat_completions(request: Request, service: TheService) -> Response:
    """A decision when the first of just two messages is a JSON object with `questions`, else text from a reader that writes."""
    return await _chat(request, service, decisions=True)


@api.post("/v1/raw/chat/completions", summary="Chat: always text")
async def raw_chat_completions(request: Request, service: TheService) -> Response:
    """Text, whatever the first message looks like."""
    return await _chat(request, service, decisions=False)


@api.get("/v1/models", summary="List models", response_model=schema.ModelList, responses=_KEY_ERRORS)
async def models(request: Request, service: TheService) -> Response:
    """The reader served, under its own name and under the aliases that requests may use."""
    decider = service.decider()
    reader, description = decider.reader, decider.reader.description
    if decider.calibration is not None:
        description += f" Calibrated by profile {decider.calibration.name}."
    aliases = request.app.state.profile.systemone.aliases or systemone.ALIASES
    return JSONResponse(systemone.models(reader.name, description, reader.release_date, aliases))


@probes.get("/health", summary="Is the process up")
async def health() -> dict[str, str]:
    """200 as long as the process serves HTTP. Whether it answers requests is told by /ready."""
    return {"status": "ok", "version": __version__}


@probes.get("/ready", summary="Are requests answered", responses={503: {"description": "Loading, or a canary read failed"}})
async def ready(service: TheService) -> Response:
    """200 when a real read worked within the last seconds. While the reader loads: the step, and how much of it is done."""
    status, canary = await service.readiness()
    body: dict[str, Any] = {"status": status}
    if status == "loading" and service.step is not None:
        body |= {"step": service.step.part, "done": service.step.done, "total": service.step.total}
    if canary is not None:
        body |= {"canary_ms": round(canary.seconds * 1000, 3)} if canary.fault is None else {"reason": canary.fault}
    return JSONResponse(body, 200 if status == "ready" else 503)


async def _decide(request: Request, service: Service) -> Response:
    """A decision in the dialect of the path."""
    service.decider()  # or a 503 before the body is read
    terms = _terms(request, service)
    multipart = media_type(request) == "multipart/form-data"
    if multipart and terms.images is None:
        raise InvalidRequest([systemone.no_images(())])
    if not multipart:
        require_json(request)
    body = await read_body(request, service.settings.max_body_bytes, service.settings.limits.body_s)
    dialect = dialect_at(request.scope)

    def parse() -> Ask:
        if not multipart:
            return dialect.parse(parse_json(body), terms)
        text, parts = split_parts(body, request.headers["content-type"])
        return dialect.parse(parse_json(text), replace(terms, parts=parts))

    return JSONResponse(await _answered(request, service, await _off_loop(parse, body)))


async def _answered(request: Request, service: Service, ask: Ask) -> dict[str, Any]:
    """The body of a reply."""
    service.permit(ask.model)
    systemone.check_model(ask.model, service.decider().reader.name, dialect_at(request.scope).aliases)
    try:
        answers = await service.answer(ask.request, _disconnected(request))
    except InvalidRequest as error:
        raise InvalidRequest([ask.place(issue) for issue in error.issues]) from None
    return ask.reply(answers)


async def _chat(request: Request, service: Service, decisions: bool) -> Response:
    decider = service.decider()
    require_json(request)
    body = await read_body(request, service.settings.max_body_bytes, service.settings.limits.body_s)
    value = await _off_loop(lambda: parse_json(body), body)
    stream = chat.streams(value)
    if decisions and chat.decides(value):
        reply = await _answered(request, service, await _off_loop(lambda: chat.parse(value, _terms(request, service)), body))
        if stream:
            return StreamingResponse(chat.stream_decision(reply), media_type="text/event-stream")
        return JSONResponse(reply)
    prompt = chat.parse_prompt(value)
    service.permit(prompt.model)
    systemone.check_model(prompt.model, decider.reader.name)
    pieces = service.write(prompt.messages, prompt.max_tokens, prompt.seed, prompt.stop, lambda: _disconnected(request))
    if not stream:
        return JSONResponse(chat.completion([piece async for piece in pieces], decider.reader.name))
    # The first piece is awaited here, so that a refusal still has its status.
    first = await anext(pieces)
    return StreamingResponse(chat.stream(first, pieces, prompt, decider.reader.name), media_type="text/event-stream")


async def _off_loop(work: Callable[[], T], body: bytes) -> T:
    """The result of some work on a body, done in a thread where the body is long."""
    return work() if len(body) <= LONG_BODY else await anyio.to_thread.run_sync(work)


def _terms(request: Request, service: Service) -> Terms:
    """What the server gives where a request does not say."""
    profile: Profile = request.app.state.profile
    settings, reader = service.settings, service.decider().reader
    controls = profile.controls_for(reader.has_mass, settings.confidence, settings.diagnostics)
    return Terms(controls, settings.images if reader.takes_images else None)


async def _disconnected(request: Request) -> None:
    """Returns once the caller has left. To be awaited after the body was read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
