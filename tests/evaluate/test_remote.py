"""A server is asked as a decider is: same answers, patient where it asks for patience, plain where it fails."""

from __future__ import annotations

import asyncio
import email.utils
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from oneread import Answers, Choice, Noul, Request, Score
from oneread.evaluate import remote
from oneread.evaluate.remote import Remote, RemoteError, endpoint, retry_after
from oneread.serving.app import create_app
from oneread.serving.settings import Settings

from .fakes import fake_decider

REQUEST = Request(
    "the evidence", {"a": Noul("q", "yes means", None), "b": Choice({"x": "1", "y": None, "": None}), "c": Score(["l", "h"], "r")}
)
GOOD = {
    "model": "m-1",
    "answers": {
        "a": {"type": "noul", "noul": 0.25},
        "b": {"type": "choice", "choice": "y", "confidence": 0.4, "probabilities": {"x": 0.3, "y": 0.6, "": 0.1}},
        "c": {"type": "score", "score": 0.7, "confidence": 0.1, "legend": {}, "probabilities": {"0": 0.3, "1": 0.7}},
    },
    "usage": {"input_tokens": 5, "output_tokens": 7},
}  # fmt: skip


def ask(handler: Callable[[httpx.Request], httpx.Response], retries: int = 3, **options: Any) -> Answers:
    async def go() -> Answers:
        async with Remote("http://host:1", retries=retries, transport=httpx.MockTransport(handler), **options) as target:
            return await target.adecide(REQUEST)

    return asyncio.run(go())


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    mine, real = threading.get_ident(), asyncio.sleep

    async def sleep(seconds: float) -> None:
        if threading.get_ident() != mine:  # a server that other tests run in a thread
            await real(seconds)
            return
        found.append(seconds)

    monkeypatch.setattr(remote.asyncio, "sleep", sleep)
    return found


def test_our_own_server_gives_the_answers_of_its_decider() -> None:
    decider = fake_decider()

    async def go() -> tuple[Answers, Answers]:
        transport = httpx.ASGITransport(create_app(Settings(api_keys=("key-1",)), decider))
        async with Remote("http://test", "key-1", transport=transport) as target:
            return await target.adecide(REQUEST), await decider.adecide(REQUEST)

    over_http, direct = asyncio.run(go())
    assert over_http.answers["a"].noul == pytest.approx(direct.answers["a"].noul)  # type: ignore[union-attr]
    assert over_http.answers["b"].probabilities == pytest.approx(direct.answers["b"].probabilities)  # type: ignore[union-attr]
    assert over_http.answers["c"].probabilities == pytest.approx(direct.answers["c"].probabilities)  # type: ignore[union-attr]
    assert over_http.usage == direct.usage


def test_what_is_sent_is_a_system_one_request_with_the_key() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=GOOD)

    answers = ask(handler, key="abc", model="jev-1.14.0")
    assert answers.model == "m-1"
    assert answers.usage.input_tokens == 5
    assert str(seen[0].url) == "http://host:1/v1/systemone"
    assert seen[0].headers["authorization"] == "Bearer abc"
    assert json.loads(seen[0].content) == {
        "model": "jev-1.14.0",
        "state": "the evidence",
        "questions": {
            "a": {"type": "noul", "instructions": "q", "criteria": {"true": "yes means"}},
            "b": {"type": "choice", "criteria": {"x": "1", "y": None, "": None}},
            "c": {"type": "score", "instructions": "r", "criteria": ["l", "h"]},
        },
    }


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_what_may_pass_is_tried_again_after_the_time_asked_for(status: int, waits: list[float]) -> None:
    replies = [httpx.Response(status, headers={"retry-after": "7"}), httpx.Response(200, json=GOOD)]
    assert ask(lambda request: replies.pop(0)).model == "m-1"
    assert waits == [7.0]


def test_a_connection_that_breaks_is_tried_again_with_growing_waits(waits: list[float]) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(RemoteError, match="cannot be reached") as caught:
        ask(handler)
    assert caught.value.kind == "unreachable"
    assert len(waits) == 3
    assert all(0.125 * 2**i <= wait <= 0.25 * 2**i for i, wait in enumerate(waits))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 302])
def test_what_will_not_pass_is_not_tried_again(status: int, waits: list[float]) -> None:
    asked: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, json={"detail": "the evidence"})

    with pytest.raises(RemoteError) as caught:
        ask(handler)
    assert caught.value.kind == f"http_{status}"
    assert "evidence" not in str(caught.value)
    assert len(asked) == 1
    assert waits == []


@pytest.mark.parametrize(
    "body",
    [
        "not json", [], {}, {"model": "m", "answers": {}}, {**GOOD, "answers": {**GOOD["answers"], "a": {"noul": 1.5}}},  # type: ignore[dict-item]
        {**GOOD, "answers": {**GOOD["answers"], "b": {"choice": "z", "confidence": 1, "probabilities": {"x": 1, "y": 0, "": 0}}}},  # type: ignore[dict-item]
        {**GOOD, "answers": {**GOOD["answers"], "b": {"choice": "x", "confidence": 1, "probabilities": {"x": 0, "y": 0, "": 0}}}},  # type: ignore[dict-item]
        {**GOOD, "answers": {**GOOD["answers"], "c": {"score": 1, "confidence": 1, "probabilities": {"0": 1}}}},  # type: ignore[dict-item]
    ],
)  # fmt: skip
def test_replies_of_another_form_are_refused(body: Any) -> None:
    reply = httpx.Response(200, text=body) if isinstance(body, str) else httpx.Response(200, json=body)
    with pytest.raises(RemoteError) as caught:
        ask(lambda request: reply)
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({}, 0), ({"retry-after": "2.5"}, 2.5), ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5), ({"retry-after": "soon"}, 0)],
)
def test_retry_after_is_understood_in_all_its_forms(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    assert retry_after({"retry-after": email.utils.formatdate(time.time() + 30, usegmt=True)}) == pytest.approx(30, abs=2)
    assert retry_after({"retry-after": email.utils.formatdate(time.time() - 30, usegmt=True)}) == 0


@pytest.mark.parametrize("url", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/systemone"])
def test_a_url_may_be_given_in_part(url: str) -> None:
    assert endpoint(url) == "http://h:1/v1/systemone"


def test_other_schemes_are_refused() -> None:
    with pytest.raises(RemoteError, match="http://"):
        endpoint("ftp://h")
