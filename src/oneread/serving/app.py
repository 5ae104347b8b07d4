"""The ASGI app: how its parts are put together, and how an error becomes a reply."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from ..errors import OnereadError
from ..version import __version__
from . import routes
from .auth import KeyRing
from .dialects import systemone_schema as schema
from .envelope import Envelope
from .failures import Refused, failure_of
from .openapi import describe_body
from .profiles import dialect_at, profile_named
from .service import Service
from .settings import Settings

if TYPE_CHECKING:
    from ..decide import Decider


def create_app(settings: Settings | None = None, decider: Decider | None = None) -> FastAPI:
    """The server as an ASGI app.

    Args:
        settings: defaults when None.
        decider: answers the requests; None loads the reader of the settings in the background once the app starts.
            A decider that was passed in is closed by its owner.
    """
    settings = settings or Settings()
    keys = KeyRing(settings.api_keys)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service.start()
        yield
        await app.state.service.close()

    def require_key(request: Request) -> None:
        keys.check(request.headers)

    app = FastAPI(
        title="oneread",
        version=__version__,
        summary="Typed answers with calibrated probabilities about a piece of evidence, in one forward pass.",
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        lifespan=lifespan,
        redirect_slashes=False,
        exception_handlers={OnereadError: _failed, Refused: _failed, HTTPException: _failed},
    )
    app.state.profile = profile_named(settings.profile)
    app.state.service = Service(settings, _load, decider)
    app.add_middleware(Envelope)
    locked = [Depends(require_key)]
    if keys:
        locked.append(Depends(HTTPBearer(auto_error=False, description="A key of this server.")))
    app.include_router(routes.api, dependencies=locked)
    app.include_router(routes.probes)
    describe_body(app, "/v1/systemone", schema.SystemOneRequest)
    return app


def _load(settings: Settings) -> Decider:
    from ..calibration.profile import load_profile
    from ..decide import Decider
    from ..readers.reader import load_reader

    profile = None if settings.calibration is None else load_profile(settings.calibration)
    return Decider(load_reader(settings.reader, settings.threads), calibration=profile)


async def _failed(request: Request, error: Exception) -> Response:
    failure = failure_of(error)
    status, body = dialect_at(request.scope).refuse(failure)
    return JSONResponse(body, status, failure.headers)
