from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from oneread.serving.app import create_app
from oneread.serving.settings import Settings

from .fakes import FakeDecider


@pytest.fixture
def decider() -> FakeDecider:
    return FakeDecider()


Connect = Callable[..., httpx.AsyncClient]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes a client of an app around a decider; keyword arguments are settings."""
    clients: list[httpx.AsyncClient] = []

    def make(decider: Any, **settings: Any) -> httpx.AsyncClient:
        app = create_app(Settings(**settings), decider)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        clients.append(httpx.AsyncClient(transport=transport, base_url="http://test"))
        return clients[-1]

    yield make
    for client in clients:
        await client.aclose()


@pytest.fixture
def client(connect: Connect, decider: FakeDecider) -> httpx.AsyncClient:
    return connect(decider)
