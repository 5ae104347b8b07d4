"""What every reply carries, what is counted and logged of it, and what becomes of an error that nobody expected."""

from __future__ import annotations

import logging
import secrets
import time
import traceback
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .call import Call, current
from .failures import INTERNAL, Failure
from .logs import event
from .metrics import DIALECTS
from .profiles import dialect_at

if TYPE_CHECKING:
    from .service import Service
    from .tracing import Tracer

log = logging.getLogger("oneread.serving")

STRICT_CSP = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", STRICT_CSP.encode()),
)
"""On every reply that does not set them itself."""

CLIENT_GONE = 499

TOO_LONG = Failure(431, "api_usage_error", "The head of the request is too long.", headers={"connection": "close"})


class Envelope:
    """Gives each reply its request id, its timing and its security headers; counts, logs and traces it.

    An unexpected error becomes a 500 that tells nothing of it. The log gets the error's type and where it was raised, never
    its message, which may hold evidence; and a path only where it is one of ours, since any other is the caller's text.
    """

    def __init__(self, app: ASGIApp, service: Service, tracer: Tracer | None = None) -> None:
        self._app, self._service, self._tracer = app, service, tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        call = Call(f"req_{secrets.token_hex(16)}", time.monotonic(), dict(scope["headers"]))
        token = current.set(call)
        status = CLIENT_GONE  # unless a reply is begun

        async def send_in_envelope(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _headers(message.get("headers", ()), call)
            await send(message)

        try:
            if _head_bytes(scope) > self._service.settings.limits.header_bytes:
                call.kind = TOO_LONG.kind
                await _refusal(scope, TOO_LONG)(scope, receive, send_in_envelope)
                return
            await self._app(scope, receive, send_in_envelope)
        except ClientDisconnect:
            call.kind = "client_closed_request"
        except Exception as error:
            places = "".join(traceback.format_tb(error.__traceback__))
            log.error("%s: %s\n%s", call.id, type(error).__qualname__, places)
            if status != CLIENT_GONE:
                raise RuntimeError("a reply was broken off") from None
            call.kind = INTERNAL.kind
            await _refusal(scope, INTERNAL)(scope, receive, send_in_envelope)
        finally:
            current.reset(token)
            self._note(scope, status, call)

    def _note(self, scope: Scope, status: int, call: Call) -> None:
        path, seconds, reader = scope["path"], time.monotonic() - call.started, self._service.reader_name
        self._service.metrics.replied(path, status, reader, call, seconds)
        fields = {
            "id": call.id,
            "method": scope["method"] if path in DIALECTS else "-",
            "path": path if path in DIALECTS else "other",
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        if call.kind is not None:
            fields["kind"] = call.kind
        if call.caller is not None:
            fields["key"] = call.caller.name
        if call.tokens:
            fields |= {"rows": call.rows, "tokens": call.tokens}
        event(log, logging.INFO if path in DIALECTS else logging.DEBUG, "request", **fields)
        if self._tracer is not None and path in DIALECTS:
            self._tracer.record(scope["method"], path, status, reader, call)


def _refusal(scope: Scope, failure: Failure) -> JSONResponse:
    status, body = dialect_at(scope).refuse(failure)
    return JSONResponse(body, status, dict(failure.headers))


def _head_bytes(scope: Scope) -> int:
    """About the size of a request's head; exact but for its separators."""
    line = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    return line + sum(len(name) + len(value) for name, value in scope["headers"])


def _headers(headers: list[tuple[bytes, bytes]], call: Call) -> list[tuple[bytes, bytes]]:
    request_id = call.id.encode()
    present = {name.lower() for name, _ in headers}
    own = [(b"x-typesafe-request-id", request_id), (b"x-request-id", request_id), (b"server-timing", _timing(call))]
    return [*headers, *own, *((name, value) for name, value in SECURITY if name not in present)]


def _timing(call: Call) -> bytes:
    """Milliseconds, as the Server-Timing header has them."""
    spent = {name: call.seconds(name) for name in ("plan", "queue", "read", "answer")}
    spent["total"] = time.monotonic() - call.started
    return ", ".join(f"{name};dur={1000 * s:.1f}" for name, s in spent.items() if s is not None).encode()
