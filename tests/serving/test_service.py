"""Loading in the background, the canary, and callers who leave."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import httpx
import pytest

from oneread.engines.startup import tell
from oneread.errors import EngineError, ReaderError
from oneread.serving import app as app_module
from oneread.serving.app import create_app
from oneread.serving.service import Service
from oneread.serving.settings import Settings
from oneread.serving.warmth import CANARY, warm_up

from .bad_bodies import NOUL, one
from .fakes import FakeDecider


def client_of(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url="http://test")


async def test_health_is_up_while_the_reader_loads_and_requests_wait_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    decider, may_load = FakeDecider(), threading.Event()

    def load(_: Settings) -> Any:
        assert may_load.wait(10)
        return decider

    monkeypatch.setattr(app_module, "_load", load)
    app = create_app()
    async with app.router.lifespan_context(app), client_of(app) as client:
        assert (await client.get("/health")).status_code == 200
        ready = await client.get("/ready")
        assert (ready.status_code, ready.json()) == (503, {"status": "loading"})
        for got in (await client.post("/v1/systemone", json=one(NOUL)), await client.get("/v1/models")):
            assert (got.status_code, got.headers["retry-after"]) == (503, "1")
        may_load.set()
        await app.state.service.loaded()
        assert (await client.get("/ready")).json()["status"] == "ready"
        assert (await client.post("/v1/systemone", json=one(NOUL))).status_code == 200
        assert not decider.closed
    assert decider.closed


async def test_ready_tells_how_far_loading_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    decider, steps = FakeDecider(), threading.Semaphore(0)

    def load(_: Settings) -> Any:
        tell("loading weights", 3, 8)
        assert steps.acquire(timeout=10)
        warm_up(decider)  # type: ignore[arg-type]
        tell("warming up", 1, 4)
        assert steps.acquire(timeout=10)
        return decider

    monkeypatch.setattr(app_module, "_load", load)
    app = create_app()
    async with app.router.lifespan_context(app), client_of(app) as client:
        for step, done, total in (("loading weights", 3, 8), ("warming up", 1, 4)):
            async with asyncio.timeout(10):
                got = await client.get("/ready")
                while got.json().get("step") != step or got.json()["done"] != done:
                    got = await client.get("/ready")
            assert got.status_code == 503
            assert got.json() == {"status": "loading", "step": step, "done": done, "total": total}
            steps.release()
        await app.state.service.loaded()
        assert (await client.get("/ready")).json()["status"] == "ready"
    assert CANARY in decider.asked


async def test_a_reader_that_does_not_load_is_reported(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def load(_: Settings) -> Any:
        raise ReaderError("weights.bin is damaged")

    monkeypatch.setattr(app_module, "_load", load)
    app = create_app()
    async with app.router.lifespan_context(app), client_of(app) as client:
        await app.state.service.settled()
        assert "weights.bin is damaged" in caplog.text
        with pytest.raises(ReaderError):
            await app.state.service.loaded()
        ready = await client.get("/ready")
        assert (ready.status_code, ready.json()) == (503, {"status": "failing"})
        assert (await client.post("/v1/systemone", json=one(NOUL))).status_code == 503


async def test_a_given_decider_is_left_open(decider: FakeDecider) -> None:
    app = create_app(decider=decider)
    async with app.router.lifespan_context(app):
        pass
    assert not decider.closed


async def test_ready_reads_a_canary_and_repeats_it_for_a_while(connect: Any, decider: FakeDecider) -> None:
    client = connect(decider, canary_age_s=60.0)
    got = await asyncio.gather(*(client.get("/ready") for _ in range(5)))
    assert [g.status_code for g in got] == [200] * 5
    assert len(decider.asked) == 1
    client = connect(decider, canary_age_s=0.0)
    for _ in range(3):
        await client.get("/ready")
    assert len(decider.asked) == 4


async def test_ready_fails_when_the_engine_does_and_recovers_with_it(connect: Any, decider: FakeDecider) -> None:
    client = connect(decider, canary_age_s=0.0)
    decider.fault = EngineError("gone")
    got = await client.get("/ready")
    assert (got.status_code, got.json()) == (503, {"status": "failing", "reason": "a canary read failed with EngineError"})
    decider.fault = None
    assert (await client.get("/ready")).status_code == 200


async def test_ready_fails_when_the_engine_hangs(connect: Any) -> None:
    client = connect(FakeDecider(hold=asyncio.Event()), canary_timeout_s=0.05)
    got = await client.get("/ready")
    assert (got.status_code, got.json()["reason"]) == (503, "a canary read took more than 0.05 s")


async def test_a_caller_who_leaves_gives_up_the_decision() -> None:
    decider = FakeDecider(hold=asyncio.Event())
    app = create_app(decider=decider)
    left = asyncio.Event()
    body = httpx.Request("POST", "http://test", json=one(NOUL)).content
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/systemone",
        "raw_path": b"",
        "query_string": b"",
        "headers": [],
        "state": {},
    }

    async def receive() -> dict[str, Any]:
        for message in messages:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        pass

    call = asyncio.create_task(app(scope, receive, send))
    await asyncio.sleep(0.05)
    assert (decider.given_up, call.done()) == (0, False)
    left.set()
    await asyncio.wait_for(call, 5)
    assert decider.given_up == 1


async def test_a_cancelled_request_gives_up_the_decision() -> None:
    decider = FakeDecider(hold=asyncio.Event())
    service = Service(Settings(), lambda _: decider, decider)  # type: ignore[arg-type, return-value]
    call = asyncio.create_task(service.answer(CANARY, asyncio.Event().wait()))  # type: ignore[arg-type]
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.sleep(0)
    assert decider.given_up == 1


async def test_free_heap_goes_back_to_the_system_as_long_as_the_app_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed: list[int] = []
    monkeypatch.setattr("oneread.serving.app.TIDY_S", 0.01)
    monkeypatch.setattr("oneread.serving.app.trim_heap", lambda: trimmed.append(len(trimmed)))
    app = create_app(Settings(), FakeDecider())  # type: ignore[arg-type]
    async with app.router.lifespan_context(app):
        await asyncio.sleep(0.2)
        assert len(trimmed) >= 3
    done = len(trimmed)
    await asyncio.sleep(0.1)
    assert len(trimmed) <= done + 1


async def test_what_loading_leaves_is_no_garbage_to_look_for_while_the_app_lives() -> None:
    app = create_app(Settings())
    async with app.router.lifespan_context(app):
        for _ in range(600):
            if gc.get_freeze_count():
                break
            await asyncio.sleep(0.05)
        assert gc.get_freeze_count() > 10_000
    assert gc.get_freeze_count() == 0
