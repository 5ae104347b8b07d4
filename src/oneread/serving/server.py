"""How the app is served over HTTP."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from .limits import Limits
from .protocol import Protocol
from .settings import SHUTDOWN_S
from .tls import Certificate

KEEP_ALIVE_S = 40
"""The official SDK keeps idle connections for 30 s; closing them earlier would fail requests that are on their way."""


class Server(uvicorn.Server):
    """A uvicorn server that tells when it begins to stop."""

    on_stop: Callable[[], None] | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, and finish what was."""
        if self.on_stop is not None:
            self.on_stop()
        await super().shutdown(sockets)


def make_server(
    app: FastAPI,
    shutdown_seconds: int = SHUTDOWN_S,
    limits: Limits | None = None,
    tls: Certificate | None = None,
    on_stop: Callable[[], None] | None = None,
) -> Server:
    """A server for the app, to be run on sockets that listen already.

    Args:
        shutdown_seconds: how long a server that was told to stop waits for requests in flight.
        limits: of heads.
        tls: speak HTTPS with this certificate.
        on_stop: called once when it begins to stop.
    """
    limits = limits or Limits()
    config = uvicorn.Config(
        app,
        http=type("LimitedProtocol", (Protocol,), {"header_s": limits.header_s}),
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=shutdown_seconds,
        h11_max_incomplete_event_size=limits.header_bytes,
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )
    server = Server(config)
    server.on_stop = on_stop
    return server
