"""HTTP itself: connections, caps, callers who leave; and requests of every size, alone and among others."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import statistics
import time
from typing import Any

import httpx
import pytest

from tests.serving.fakes import FakeDecider

from .conftest import Live, running

ONE: dict[str, Any] = {"state": "The site is down!", "questions": {"urgent": {"type": "noul", "instructions": "Is it urgent?"}}}


def exchange(connection: socket.socket, body: bytes, *headers: str) -> tuple[int, bytes]:
    """One request and its whole reply on an open connection."""
    head = ["POST /v1/systemone HTTP/1.1", "host: x", "content-type: application/json", f"content-length: {len(body)}", *headers]
    connection.sendall("\r\n".join([*head, "", ""]).encode() + body)
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    top, _, rest = got.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in top.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(rest) < length:
        rest += connection.recv(65536)
    return int(top.split()[1]), rest


def connect(live: Live) -> socket.socket:
    host, port = live.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def test_a_connection_outlives_errors(live: Live) -> None:
    good = json.dumps(ONE).encode()
    with connect(live) as connection:
        for body, headers, status in [
            (good, (), 200),
            (b"{", (), 422),
            (good, ("content-encoding: br",), 415),
            (good, ("content-encoding: gzip",), 422),
            (good, (), 200),
        ]:
            assert exchange(connection, body, *headers)[0] == status


def test_a_reply_does_not_wait_for_an_acknowledgement() -> None:
    body, times = json.dumps(ONE).encode(), []
    with running(FakeDecider()) as fast, connect(fast) as connection:  # type: ignore[arg-type]
        for _ in range(30):
            start = time.perf_counter()
            assert exchange(connection, body)[0] == 200
            times.append(time.perf_counter() - start)
    assert statistics.median(times) < 0.03  # the delay of Nagle's algorithm is 40 ms; without it this takes about 1 ms


@pytest.mark.slow
def test_a_connection_idle_for_36_seconds_still_serves(live: Live) -> None:
    with connect(live) as connection:
        assert exchange(connection, json.dumps(ONE).encode())[0] == 200
        time.sleep(36)
        assert exchange(connection, json.dumps(ONE).encode())[0] == 200


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_over_the_cap_gets_its_413(live: Live, declared: bool) -> None:
    body = json.dumps({**ONE, "state": "x" * 9 * 1024 * 1024}).encode()
    content = body if declared else iter([body[i : i + 65536] for i in range(0, len(body), 65536)])
    got = httpx.post(f"{live.url}/v1/systemone", content=content, headers={"content-type": "application/json"}, timeout=30)
    assert got.status_code == 413
    assert got.json()["detail"]["error_type"] == "request_too_large"


def test_a_caller_who_leaves_does_not_hold_up_the_next(live: Live) -> None:
    big = json.dumps(
        {"state": "word " * 300, "questions": {f"q{i}": {"type": "noul", "instructions": f"Is it {i}?"} for i in range(16)}}
    )
    head = f"POST /v1/systemone HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(big)}\r\n\r\n"
    for _ in range(4):
        with connect(live) as connection:
            connection.sendall((head + big).encode())
            time.sleep(0.2)
    start = time.monotonic()
    assert httpx.post(f"{live.url}/v1/systemone", json=ONE, timeout=60).status_code == 200
    alone = time.monotonic()
    assert (
        httpx.post(f"{live.url}/v1/systemone", content=big, headers={"content-type": "application/json"}, timeout=300).status_code
        == 200
    )
    assert alone - start < time.monotonic() - alone


def many_questions() -> dict[str, Any]:
    questions: dict[str, Any] = {f"질문 {i} 🙂": {"type": "noul", "instructions": f"Is it {i}?"} for i in range(62)}
    questions["255"] = {"type": "choice", "instructions": "Which shelf?", "criteria": {f"선반 {i}": None for i in range(255)}}
    questions["10"] = {"type": "score", "instructions": "How bad?", "criteria": [f"level {i}" for i in range(10)]}
    return questions


def long_state() -> str:
    return " ".join(random.Random(1).choices(["the", "server", "failed", "again", "at", "noon", "customer", "wrote"], k=6000))


@pytest.mark.parametrize(
    ("state", "questions", "least"),
    [
        pytest.param("The shelf fell at noon.", many_questions(), 64 * 8, id="64-questions-255-options-10-levels"),
        pytest.param(long_state(), ONE["questions"], 6000, id="6000-token-state"),
        pytest.param(long_state(), many_questions(), 64 * 6000, id="all-in-one", marks=pytest.mark.slow),
    ],
)
def test_the_largest_requests_are_answered_whole(live: Live, state: str, questions: dict[str, Any], least: int) -> None:
    got = httpx.post(f"{live.url}/v1/systemone", json={"state": state, "questions": questions}, timeout=1200)
    assert got.status_code == 200
    body = got.json()
    assert list(body["answers"]) == list(questions)
    for key, question in questions.items():
        answer = body["answers"][key]
        if question["type"] == "choice":
            assert list(answer["probabilities"]) == list(question["criteria"])
        elif question["type"] == "score":
            assert list(answer["legend"].values()) == question["criteria"]
        if question["type"] != "noul":
            assert sum(answer["probabilities"].values()) == pytest.approx(1, abs=1e-6)
    assert body["usage"]["input_tokens"] > least


def mixed_requests(n: int) -> list[dict[str, Any]]:
    draw = random.Random(7)
    words = [
        "the",
        "invoice",
        "server",
        "customer",
        "refund",
        "slow",
        "angry",
        "please",
        "down",
        "again",
        "thanks",
        "login",
        "page",
    ]
    requests = []
    for i in range(n):
        kinds = draw.sample(["noul", "choice", "score"], k=draw.choice([1, 1, 2]))
        questions: dict[str, Any] = {}
        for kind in kinds:
            question: dict[str, Any] = {"type": kind, "instructions": f"About {draw.choice(words)}?"}
            if kind == "choice":
                question["criteria"] = {f"{word} {k}": None for k, word in enumerate(draw.choices(words, k=draw.randint(2, 12)))}
            elif kind == "score":
                question["criteria"] = [f"{word} {k}" for k, word in enumerate(draw.choices(words, k=draw.randint(2, 6)))]
            questions[f"{kind}-{i}"] = question
        requests.append({"state": " ".join(draw.choices(words, k=draw.randint(1, 40))), "questions": questions})
    return requests


def numbers(reply: dict[str, Any]) -> list[float]:
    return [
        p
        for answer in reply["answers"].values()
        for p in ([answer["noul"]] if "noul" in answer else answer["probabilities"].values())
    ]


async def test_200_mixed_requests_are_answered_the_same_alone_and_all_at_once(live: Live) -> None:
    requests = mixed_requests(200)
    async with httpx.AsyncClient(base_url=live.url, timeout=300, limits=httpx.Limits(max_connections=None)) as client:
        alone = [(await client.post("/v1/systemone", json=request)).json() for request in requests]
        together = [
            got.json() for got in await asyncio.gather(*(client.post("/v1/systemone", json=request) for request in requests))
        ]
    for request, one, other in zip(requests, alone, together, strict=True):
        assert list(one["answers"]) == list(request["questions"]) == list(other["answers"])
        assert numbers(one) == pytest.approx(numbers(other), abs=1e-3)
        assert one["usage"] == other["usage"]
