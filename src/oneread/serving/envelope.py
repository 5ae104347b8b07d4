"""What every reply carries, and what becomes of an error that nobody expected."""

from __future__ import annotations

import logging
import secrets
import traceback

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .failures import INTERNAL
from .profiles import dialect_at

log = logging.getLogger("oneread.serving")


class Envelope:
    """Gives each reply its request id; turns an unexpected error into a 500 that tells nothing of it.

    The log gets the error's type and where it was raised, never its message, which may hold evidence.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = f"req_{secrets.token_hex(16)}"
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                header = request_id.encode()
                message["headers"] = [*message.get("headers", ()), (b"x-typesafe-request-id", header), (b"x-request-id", header)]
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except Exception as error:
            places = "".join(traceback.format_tb(error.__traceback__))
            log.error("%s: %s\n%s", request_id, type(error).__qualname__, places)
            if started:
                raise RuntimeError("a reply was broken off") from None
            status, body = dialect_at(scope).refuse(INTERNAL)
            await JSONResponse(body, status)(scope, receive, send_with_id)
