"""A real server on a real port with the embedded reader; what it was sent is kept for the tests to look at."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from oneread import Decider
from oneread.cli.listen import listen, url_of
from oneread.serving.app import create_app
from oneread.serving.limits import Limits
from oneread.serving.server import make_server
from oneread.serving.settings import Settings

KEY = "contract-key"

PATIENT = Limits(timeout_s=300)
"""Deadlines are tested elsewhere; here a slow machine should only be slow."""


@dataclass
class Live:
    """A server that runs; `headers` are those of every request it got, in order."""

    url: str
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def running(decider: Decider, **settings: Any) -> Iterator[Live]:
    bound = listen("127.0.0.1", 0)
    live = Live(url_of(bound))
    app = create_app(Settings(**{"limits": PATIENT, **settings}), decider)

    async def recording(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            live.headers.append({name.decode(): value.decode("latin-1") for name, value in scope["headers"]})
        await app(scope, receive, send)

    server = make_server(recording)  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield live
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="session")
def decider() -> Iterator[Decider]:
    with Decider() as decider:
        yield decider


@pytest.fixture(scope="session")
def live(decider: Decider) -> Iterator[Live]:
    with running(decider) as live:
        yield live


@pytest.fixture(scope="session")
def keyed(decider: Decider) -> Iterator[Live]:
    with running(decider, api_keys=(KEY,)) as live:
        yield live
