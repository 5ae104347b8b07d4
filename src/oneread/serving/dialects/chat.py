"""OpenAI's chat: a decision when the first of two messages is a schema with `questions` (djev's rule), else text."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...answers import Answers
from ...decide import Piece
from ...errors import EngineError, InvalidRequest, Issue, Loc
from ...questions import Message
from ..failures import Refused, failure_of
from ..strict_json import parse as parse_json
from . import systemone
from .base import Ask, Dialect, Terms
from .openai_errors import refuse

MAX_TOKENS = 1024
MOST_TOKENS = 8192

_ROLES = ("system", "developer", "user", "assistant")
_TYPES = {"bool": "noul", "boolean": "noul"}
_SAMPLER = "The sampler is the model's own; leave this out"
_UNSUPPORTED: Mapping[str, tuple[tuple[Any, ...], str]] = {
    # field: values that change nothing, why others are refused
    "temperature": ((None, 1), _SAMPLER),
    "top_p": ((None, 1), _SAMPLER),
    "top_k": ((None,), _SAMPLER),
    "min_p": ((None, 0), _SAMPLER),
    "repetition_penalty": ((None, 1), _SAMPLER),
    "presence_penalty": ((None, 0), _SAMPLER),
    "frequency_penalty": ((None, 0), _SAMPLER),
    "logit_bias": ((None, {}), _SAMPLER),
    "n": ((None, 1), "One text is written for a request"),
    "logprobs": ((None, False), "Text is written without log probabilities"),
    "top_logprobs": ((None, 0), "Text is written without log probabilities"),
    "tools": ((None, []), "No tools are called here"),
    "tool_choice": ((None, "none", "auto"), "No tools are called here"),
    "functions": ((None, []), "No tools are called here"),
    "function_call": ((None, "none", "auto"), "No tools are called here"),
    "modalities": ((None, ["text"]), "Only text is written"),
    "audio": ((None,), "Only text is written"),
    "reasoning_effort": ((None, "none"), "Text is written after an empty thought"),
    "response_format": ((None, {"type": "text"}), "Text is written freely; ask typed questions for typed answers"),
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text that is asked for.

    Attributes:
        include_usage: whether a stream ends with the counts of tokens.
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    seed: int
    stop: tuple[str, ...]
    include_usage: bool


def parse(value: Any, terms: Terms) -> Ask:
    """The decision that a body asks for. Raises `InvalidRequest` where it asks for none."""
    if not decides(value):
        raise InvalidRequest.at(("messages",), "The first of two messages should be a JSON schema with questions", "no_questions")
    try:
        schema = parse_json(_text(value["messages"][0].get("content"), 0).encode("utf-8", "surrogatepass"))
    except InvalidRequest as error:
        where: Loc = ("messages", 0, "content")
        raise InvalidRequest([replace(issue, loc=(*where, *issue.loc)) for issue in error.issues]) from None
    questions = schema["questions"]
    if isinstance(questions, dict):
        questions = {
            key: {**q, "type": _TYPES.get(str(q.get("type")), q.get("type"))} if isinstance(q, dict) else q
            for key, q in questions.items()
        }
    state = _text(value["messages"][1].get("content"), 1)
    body = {**schema, "questions": questions, "state": state, "model": value.get("model", systemone.ALIASES[0])}
    ask = systemone.parse(body, terms)
    controls = replace(ask.request.controls, diagnostics=True)
    return replace(ask, request=replace(ask.request, controls=controls), reply=lambda answers: _decision(answers))


def decides(value: Any) -> bool:
    """Whether a body asks for a decision: exactly two messages, the first a system or developer's JSON object with `questions`.

    What is wrong with the JSON beyond that, down to numbers too long and nesting too deep to be parsed, is for `parse` to say.
    """
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or len(messages) != 2 or not all(isinstance(m, dict) for m in messages):
        return False
    if messages[0].get("role") not in ("system", "developer"):
        return False
    try:
        schema = json.loads(_text(messages[0].get("content"), 0), parse_int=float)
    except RecursionError:
        return True
    except (ValueError, InvalidRequest):
        return False
    return isinstance(schema, dict) and "questions" in schema


def streams(value: Any) -> bool:
    """Whether the reply is to come as events. Raises `InvalidRequest` where the body says neither yes nor no."""
    wanted = value.get("stream") if isinstance(value, dict) else None
    if not (wanted is None or isinstance(wanted, bool)):
        raise InvalidRequest.at(("stream",), "Input should be true or false", "bool_type")
    return wanted is True


def parse_prompt(value: Any) -> Prompt:
    """The text that a body asks for.

    Raises:
        InvalidRequest: with one issue for each fault; what the generator cannot do is refused by name.
    """
    if not isinstance(value, dict):
        raise InvalidRequest.at((), "Input should be an object", "model_type")
    issues = [
        Issue((name,), why, "unsupported")
        for name, (neutral, why) in _UNSUPPORTED.items()
        if not any(value.get(name) == same and isinstance(value.get(name), bool) == isinstance(same, bool) for same in neutral)
    ]
    messages = value.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidRequest([*issues, Issue(("messages",), "Input should be an array of at least 1 message", "list_type")])
    turns = []
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            issues.append(Issue(("messages", index, "role"), f"Input should be one of {', '.join(_ROLES)}", "literal_error"))
            continue
        turns.append(Message("system" if role == "developer" else role, _text(message.get("content"), index)))
    most = "max_tokens" if value.get("max_completion_tokens") is None else "max_completion_tokens"
    longest = MAX_TOKENS if value.get(most) is None else value[most]
    if type(longest) is not int or not 1 <= longest <= MOST_TOKENS:
        issues.append(Issue((most,), f"Input should be a whole number from 1 to {MOST_TOKENS}", "out_of_range"))
    seed = 42 if value.get("seed") is None else value["seed"]
    if type(seed) is not int or not 0 <= seed < 2**32:
        issues.append(Issue(("seed",), f"Input should be a whole number from 0 to {2**32 - 1}", "out_of_range"))
    stop = [] if value.get("stop") is None else value["stop"]
    stop = [stop] if isinstance(stop, str) else stop
    if not isinstance(stop, list) or len(stop) > 4 or not all(isinstance(s, str) and s for s in stop):
        issues.append(Issue(("stop",), "Input should be a text or an array of at most 4", "list_type"))
    options = {} if value.get("stream_options") is None else value["stream_options"]
    usage = options.get("include_usage") if isinstance(options, dict) else "none"
    if not (usage is None or isinstance(usage, bool)):
        message = "Input should be an object with include_usage, true or false"
        issues.append(Issue(("stream_options",), message, "model_type"))
    if issues:
        raise InvalidRequest(issues)
    model = value.get("model", systemone.ALIASES[0])
    return Prompt(str(model), tuple(turns), longest, seed, tuple(stop), usage is True)


def completion(pieces: Sequence[Piece], model: str) -> dict[str, Any]:
    """The body of a text that is not streamed."""
    text, last = "".join(piece.text for piece in pieces), pieces[-1]
    return _completion(model, text, last.end, last.prompt_tokens, last.tokens)


async def stream(first: Piece, others: AsyncGenerator[Piece, None], prompt: Prompt, model: str) -> AsyncIterator[str]:
    """The server-sent events of a text. One that breaks off ends with an event that says why."""
    chunk = {"id": _id(), "object": "chat.completion.chunk", "created": int(time.time()), "model": model}
    yield _event(chunk | {"choices": [_delta({"role": "assistant", "content": ""}, None)]})
    piece = first
    try:
        while True:
            yield _event(chunk | {"choices": [_delta({"content": piece.text} if piece.text else {}, piece.end)]})
            if piece.end is not None:
                break
            piece = await anext(others)
    except (Refused, EngineError) as error:
        yield _event(refuse(failure_of(error))[1])
        return
    finally:
        await others.aclose()
    if prompt.include_usage:
        yield _event(chunk | {"choices": [], "usage": _usage(piece.prompt_tokens, piece.tokens)})
    yield "data: [DONE]\n\n"


def stream_decision(body: Mapping[str, Any]) -> Iterator[str]:
    """The events of a decision: all of it at once."""
    chunk = {**body, "object": "chat.completion.chunk"}
    usage = chunk.pop("usage")
    message = body["choices"][0]["message"]
    yield _event(chunk | {"choices": [_delta(message, None)]})
    yield _event(chunk | {"choices": [_delta({}, "stop")], "usage": usage})
    yield "data: [DONE]\n\n"


def _decision(answers: Answers) -> dict[str, Any]:
    content: dict[str, Any] = {"answers": systemone.reply(answers)["answers"]}
    if answers.diagnostics is not None:
        for key, told in answers.diagnostics.questions.items():
            more = {"entropy": told.entropy, "label_mass": told.label_mass, "stderr": told.stderr, "agreement": told.agreement}
            content["answers"][key] |= more
        content["diagnostics"] = asdict(answers.diagnostics)
    if answers.skipped:
        content["diagnostics"]["skipped"] = {key: asdict(why) for key, why in answers.skipped.items()}
    text = json.dumps(content, ensure_ascii=False)
    return _completion(answers.model, text, "stop", answers.usage.input_tokens, answers.usage.output_tokens)


def _completion(model: str, text: str, end: str | None, prompt_tokens: int, tokens: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": _id(),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": end}],
        "usage": _usage(prompt_tokens, tokens),
    }


def _usage(prompt_tokens: int, tokens: int) -> dict[str, int]:
    return {"prompt_tokens": prompt_tokens, "completion_tokens": tokens, "total_tokens": prompt_tokens + tokens}


def _delta(delta: Mapping[str, Any], end: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": end}


def _event(body: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"


def _id() -> str:
    return f"chatcmpl-{secrets.token_hex(12)}"


def _text(content: Any, index: int) -> str:
    """The text of a message's content, a string or text parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(p, dict) and isinstance(p.get("text"), str) for p in content):
        return "\n".join(part["text"] for part in content)
    raise InvalidRequest.at(("messages", index, "content"), "Input should be a text or an array of text parts", "content_type")


DIALECT = Dialect(parse, refuse)
