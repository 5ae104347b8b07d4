"""How the app is served over HTTP."""

from __future__ import annotations

import uvicorn
from fastapi import FastAPI

from .settings import SHUTDOWN_S

KEEP_ALIVE_S = 40
"""The official SDK keeps idle connections for 30 s; closing them earlier would fail requests that are on their way."""


def make_server(app: FastAPI, shutdown_seconds: int = SHUTDOWN_S) -> uvicorn.Server:
    """A server for the app, to be run on sockets that listen already.

    Args:
        shutdown_seconds: how long a server that was told to stop waits for requests in flight.
    """
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=shutdown_seconds,
    )
    return uvicorn.Server(config)
