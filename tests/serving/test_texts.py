"""A text is let in like a decision, and given up at its deadline or when its caller leaves."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from oneread.decide.writing import Piece, Text
from oneread.engines.base import wanted
from oneread.engines.batcher import Batcher
from oneread.serving.admission import Admission
from oneread.serving.app import create_app
from oneread.serving.call import Call
from oneread.serving.failures import Refused
from oneread.serving.limits import Limits
from oneread.serving.settings import Settings
from oneread.serving.texts import written

from ..engines.models import StepModel
from ..fakes import FakeWriter, fake_reader


class Slow:
    """A text of pieces that each wait to be let go; knows when it was given up."""

    def __init__(self, count: int) -> None:
        self.go, self.closed = threading.Semaphore(0), threading.Event()
        self.text = Text(5, 3.0, self._pieces(count))

    def _pieces(self, count: int) -> Iterator[Piece]:
        try:
            for i in range(1, count + 1):
                assert self.go.acquire(timeout=10)
                yield Piece("x", 5, 4 * i, "stop" if i == count else None)
        finally:
            self.closed.set()


async def never() -> None:
    await asyncio.Event().wait()


def begin(slow: Slow, seconds: float = 10.0, gone: Any = never, admission: Admission | None = None) -> tuple[Any, Call]:
    call = Call("c", time.monotonic())
    deadline = time.monotonic() + seconds
    return written(slow.text, 12, admission or Admission(Limits()), call, deadline, gone, asyncio.Event()), call


async def test_what_is_to_be_written_counts_as_work_until_it_is_done() -> None:
    slow, engine, admission = Slow(2), Batcher(StepModel(), 64), Admission(Limits())
    admission.serve(engine)
    pieces, call = begin(slow, admission=admission)
    slow.go.release()
    await anext(pieces)
    (work,) = admission._admitted
    assert work.later == 5 + 12 * 3 - 5 - 4 * 3
    assert call.tokens == 5 + 4
    slow.go.release()
    assert [piece.end async for piece in pieces] == ["stop"]
    assert not admission._admitted
    assert call.tokens == 5 + 8
    engine.close()


async def test_a_text_that_takes_too_long_is_a_504() -> None:
    slow = Slow(2)
    pieces, _ = begin(slow, seconds=0.05)
    with pytest.raises(Refused) as caught:
        await anext(pieces)
    assert caught.value.failure.status == 504
    slow.go.release()


async def test_a_caller_who_leaves_ends_the_text() -> None:
    slow, left = Slow(3), asyncio.Event()
    pieces, _ = begin(slow, gone=left.wait)
    slow.go.release()
    await anext(pieces)
    left.set()
    with pytest.raises(Refused) as caught:
        await anext(pieces)
    assert caught.value.failure.status == 499
    slow.go.release()
    for _ in range(100):
        if slow.closed.is_set():
            break
        await asyncio.sleep(0.02)
    assert slow.closed.is_set(), "nothing more is written once its block is done"


def chat_client(writer: Any, **limits: Any) -> httpx.AsyncClient:
    import dataclasses

    from oneread import Decider

    reader = dataclasses.replace(fake_reader(), writer=writer, script=writer)
    app = create_app(Settings(limits=Limits(**limits)), Decider(reader))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")


BODY = {"messages": [{"role": "user", "content": "hello"}]}


class Stuck(FakeWriter):
    """Writes its first block and then takes its time."""

    def generate(self, *args: Any, **keywords: Any) -> Iterator[Any]:
        blocks = super().generate(*args, **keywords)
        yield next(blocks)
        time.sleep(0.5)
        yield from blocks


async def test_a_stream_that_breaks_off_says_why() -> None:
    async with chat_client(Stuck("abcdef"), timeout_s=0.2) as client:
        plain = await client.post("/v1/chat/completions", json=BODY)
        assert plain.status_code == 504
        streamed = await client.post("/v1/chat/completions", json=BODY | {"stream": True})
    assert streamed.status_code == 200
    events = [line for line in streamed.text.splitlines() if line]
    assert '"content": "abc"' in events[1]
    assert '"code": "timeout"' in events[-1]
    assert "[DONE]" not in streamed.text


async def test_a_conversation_longer_than_the_window_is_refused() -> None:
    async with chat_client(FakeWriter("abc")) as client:
        got = await client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "x" * 300}]})
    assert got.status_code == 400
    assert got.json()["error"]["param"] == "messages"


SCHEMA = '{"questions": {"a": {"type": "noul", "instructions": "x"}%s}%s}'
TWICE = ', "a": {"type": "score", "criteria": ["x", "y"]}'


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"max_tokens": 0}, "max_tokens", "out_of_range"),
        ({"max_tokens": False}, "max_tokens", "out_of_range"),
        ({"max_completion_tokens": 0, "max_tokens": 5}, "max_completion_tokens", "out_of_range"),
        ({"stop": ""}, "stop", "list_type"),
        ({"stop": 0}, "stop", "list_type"),
        ({"stream": "yes"}, "stream", "bool_type"),
        ({"stream": 1}, "stream", "bool_type"),
        ({"stream_options": 5}, "stream_options", "model_type"),
        ({"stream_options": {"include_usage": "x"}}, "stream_options", "model_type"),
        ({"temperature": True}, "temperature", "unsupported"),
        ({"min_p": 0.1}, "min_p", "unsupported"),
        ({"repetition_penalty": 1.2}, "repetition_penalty", "unsupported"),
        ({"functions": [{"name": "x"}]}, "functions", "unsupported"),
        ({"modalities": ["audio"]}, "modalities", "unsupported"),
        ({"reasoning_effort": "high"}, "reasoning_effort", "unsupported"),
    ],
)
async def test_what_a_text_cannot_heed_is_refused_and_never_passed_over(body: dict[str, Any], param: str, code: str) -> None:
    async with chat_client(FakeWriter("abc")) as client:
        got = await client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "x"}]} | body)
    assert got.status_code == 400
    assert (got.json()["error"]["param"], got.json()["error"]["code"]) == (param, code)


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (SCHEMA % (TWICE, ""), "json_repeated_key"),
        (SCHEMA % ("", ', "seed": ' + "9" * 5000), "json_number_too_long"),
        (SCHEMA % ("", ', "auto_threshold": NaN'), "json_constant"),
        (SCHEMA % ("", ', "instructions": ' + "[" * 100_000 + "]" * 100_000), "json_too_deep"),
        (SCHEMA % ("", ', "instructions": "\\ud800"'), "string_unicode"),
    ],
)
async def test_a_schema_in_a_chat_is_json_as_a_body_is(schema: str, code: str) -> None:
    messages = [{"role": "system", "content": schema}, {"role": "user", "content": "x"}]
    async with chat_client(FakeWriter("abc")) as client:
        got = await client.post("/v1/chat/completions", json={"messages": messages})
    assert got.status_code == 400
    assert got.json()["error"]["param"].startswith("messages[0].content")
    assert got.json()["error"]["code"] == code


async def test_who_writes_is_told_in_the_middle_of_a_piece_that_nobody_waits() -> None:
    told = threading.Event()

    def pieces() -> Any:
        for _ in range(500):
            if not wanted.get()():
                told.set()
                return
            time.sleep(0.01)
        yield Piece("x", 5, 4, "stop")

    call = Call("c", time.monotonic())
    text = Text(5, 3.0, pieces())
    with pytest.raises(Refused):
        await anext(written(text, 12, Admission(Limits()), call, time.monotonic() + 0.1, never, asyncio.Event()))
    assert await asyncio.to_thread(told.wait, 2)
