from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from fastapi import FastAPI

from oneread import Decider
from oneread.serving import logs
from oneread.serving.app import create_app
from oneread.serving.limits import Limits
from oneread.serving.settings import Settings
from tests.fakes import fake_reader


@dataclass
class Target:
    """An app on the whole path down to a fake engine, and everything it logs."""

    app: FastAPI
    log: io.StringIO
    loop: asyncio.AbstractEventLoop


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    stream, loop = io.StringIO(), asyncio.new_event_loop()
    logger = logging.getLogger("oneread")
    before = logger.handlers[:], logger.level, logger.propagate
    logs.set_up("json", "debug")
    logger.handlers[0].stream = stream  # type: ignore[attr-defined]
    with Decider(fake_reader()) as decider:
        settings = Settings(max_body_bytes=256 * 1024, limits=Limits(questions=50, tokens=200_000, timeout_s=20))
        yield Target(create_app(settings, decider), stream, loop)
    logger.handlers[:], logger.level, logger.propagate = before
    loop.close()
