"""HTTP/1.1 as uvicorn speaks it, with typed refusals of what is no HTTP and a bound on how long a head may take."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from .dialects import systemone
from .envelope import SECURITY
from .failures import Failure


class Protocol(H11Protocol):
    """One connection. What cannot be parsed has no path yet, so it is refused in System One's shape."""

    header_s = 10.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first head."""
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Start the clock at the first byte of a head, stop it at the last."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_clock()
        elif self._head_timer is None and self.conn.trailing_data[0]:
            self._start_clock()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP/1.1, and close."""
        cause = sys.exc_info()[1]
        hint = cause.error_status_hint if isinstance(cause, h11.RemoteProtocolError) else 400
        what = "The head of the request is too long." if hint == 431 else "This is not a valid HTTP/1.1 request."
        self._refuse(Failure(hint if hint in (400, 431, 501, 505) else 400, "api_usage_error", what))

    def _start_clock(self) -> None:
        self._head_timer = self.loop.call_later(self.header_s, self._too_slow)

    def _stop_clock(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        if self.transport.is_closing():
            return
        if self.conn.trailing_data[0]:
            self._refuse(Failure(408, "timeout", f"The head of the request took longer than {self.header_s:g} s."))
        else:
            self.transport.close()

    def _refuse(self, failure: Failure) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            # its body went wrong; the app learns that the caller is gone
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            status, value = systemone.DIALECT.refuse(failure)
            body, request_id = json.dumps(value).encode(), f"req_{secrets.token_hex(16)}".encode()
            headers = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
                (b"x-typesafe-request-id", request_id),
                (b"x-request-id", request_id),
                *SECURITY,
            ]
            for event in (
                h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES.get(status, b"")),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
