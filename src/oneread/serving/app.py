"""The ASGI app: how its parts are put together, and how an error becomes a reply."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from ..engines.heap import set_aside, trim_heap
from ..errors import OnereadError
from ..version import __version__
from . import ops, routes
from .auth import KeyRing, Origin
from .call import this_call
from .dialects import systemone_schema as schema
from .dialects.openai_schema import DecisionRequest
from .envelope import Envelope
from .failures import Refused, failure_of
from .openapi import describe_body
from .profiles import dialect_at, profile_named
from .service import Service
from .settings import Settings
from .tracing import Tracer
from .warmth import warm_up

if TYPE_CHECKING:
    from ..decide import Decider


TIDY_S = 60.0
"""Seconds between two returns of free heap to the system."""


def create_app(settings: Settings | None = None, decider: Decider | None = None) -> FastAPI:
    """The server as an ASGI app.

    Args:
        settings: defaults when None.
        decider: answers the requests; None loads the reader of the settings in the background once the app starts.
            A decider that was passed in is closed by its owner.
    """
    settings = settings or Settings()
    keys, origin = KeyRing(settings.api_keys, settings.keys_file), Origin(settings.origin_secret)
    service = Service(settings, _load, decider)
    tracer = Tracer() if settings.tracing else None

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        tidying = asyncio.create_task(_tidy())
        yield
        tidying.cancel()
        await service.close()
        gc.unfreeze()
        if tracer is not None:
            await asyncio.to_thread(tracer.close)

    async def require_key(request: Request) -> None:
        origin.check(request.headers)
        this_call().caller = keys.check(request.headers)

    async def take_place(request: Request) -> AsyncIterator[None]:
        caller = this_call().caller
        if caller is not None:
            caller.spend()
        with service.place() if request.method == "POST" else nullcontext():
            yield

    app = FastAPI(
        title="oneread",
        version=__version__,
        summary="Typed answers with calibrated probabilities about a piece of evidence, in one forward pass.",
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        exception_handlers={OnereadError: _failed, Refused: _failed, HTTPException: _failed},
    )
    app.state.profile = profile_named(settings.profile)
    app.state.service = service
    app.add_middleware(Envelope, service=service, tracer=tracer)
    locked = [Depends(require_key)]
    if keys:
        locked.append(Depends(HTTPBearer(auto_error=False, description="A key of this server.")))
    app.include_router(routes.api, dependencies=[*locked, Depends(take_place)])
    app.include_router(routes.probes)
    app.include_router(ops.metrics, dependencies=locked)
    app.include_router(ops.pages)
    describe_body(app, "/v1/systemone", schema.SystemOneRequest)
    describe_body(app, "/v1/decisions", DecisionRequest)
    return app


def _load(settings: Settings) -> Decider:
    from ..calibration.profile import load_profile
    from ..decide import Decider
    from ..readers.reader import load_reader

    profile = None if settings.calibration is None else load_profile(settings.calibration)
    s = settings
    reader = load_reader(s.reader, s.threads, s.isolated, s.pass_timeout_s, s.placement)
    decider = Decider(reader, settings.limits.tokens, profile)
    warm_up(decider)
    set_aside()
    return decider


async def _tidy() -> None:
    while True:
        await asyncio.sleep(TIDY_S)
        await asyncio.to_thread(trim_heap)


async def _failed(request: Request, error: Exception) -> Response:
    failure = failure_of(error)
    this_call().kind = failure.kind
    status, body = dialect_at(request.scope).refuse(failure)
    return JSONResponse(body, status, failure.headers)
