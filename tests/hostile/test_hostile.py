"""Hostile input: whatever is sent, no 5xx, no hang, JSON replies, and a secret planted in the evidence comes back nowhere.

A few hundred cases run by default, thousands with ``-m slow``.
"""

# ruff: noqa: E501
from __future__ import annotations

import copy
import gzip
import json
import random
import re
import socket
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from backports import zstd
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig

from tests.serving.test_protocol import serving

from .conftest import Target

SECRET = "planted-secret-77d0"

PATHS = ("/v1/systemone", "/v1/decisions", "/api/alpha/decisions", "/inference/v1/systemone", "/v1/chat/completions")

FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
MANY = settings(max_examples=4000, deadline=None, suppress_health_check=list(HealthCheck))


def send(target: Target, method: str, path: str, content: bytes, headers: Any = None) -> httpx.Response:
    async def call() -> httpx.Response:
        transport = httpx.ASGITransport(target.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test", timeout=30) as client:
            return await client.request(method, path, content=content, headers=headers or {"content-type": "application/json"})

    return target.loop.run_until_complete(call())


def harmless(target: Target, got: httpx.Response) -> None:
    """No fault of the server's, JSON, named, and without the secret; nor in the log so far."""
    assert got.status_code < 500, got.text
    assert got.headers["x-request-id"].startswith("req_")
    if got.content and got.headers.get("content-type", "").startswith("application/json"):
        got.json()
    if got.status_code != 200:  # a 200 repeats options and levels, as the contract says
        assert SECRET not in got.text
    assert SECRET not in target.log.getvalue()
    target.log.seek(0)
    target.log.truncate()


QUESTIONS = {
    "a": {"type": "noul", "instructions": f"Is it {SECRET}?", "criteria": {"true": "so", "false": None}},
    "b": {"type": "choice", "instructions": "Which?", "criteria": {"x": None, "y": "why"}},
    "c": {"type": "score", "criteria": ["low", "high"], "instructions": {"text": "How?"}},
}
BODIES: dict[str, Any] = {
    "/v1/systemone": {"model": "jev-latest", "state": {"text": SECRET, "n": [1, 2]}, "questions": QUESTIONS},
    "/inference/v1/systemone": {"model": "jev-latest", "state": [SECRET], "questions": QUESTIONS},
    "/v1/decisions": {
        "model": "jev-latest",
        "input": [{"role": "user", "content": SECRET}],
        "questions": [
            {"type": "predicate", "instructions": "Is it?"},
            {"type": "choice", "choices": [{"value": "x"}, {"value": True, "description": "why"}], "instructions": "Which?"},
            {"type": "score", "levels": [{"label": "low"}, {"label": "high"}], "instructions": "How?", "name": "c"},
        ],
    },
    "/api/alpha/decisions": {"model": "jev-latest", "state": SECRET, "input": SECRET, "questions": QUESTIONS},
    "/v1/chat/completions": {
        "model": "jev-latest",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": SECRET}]}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "d",
                "schema": {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"enum": ["x", "y"]}}},
            },
        },
    },
}


def nested(depth: int, leaf: Any) -> Any:
    for i in range(depth):
        leaf = [leaf] if i % 2 else {"k": leaf}
    return leaf


NASTY: list[Any] = [
    None, True, 0, -1, 1e308, 10**400, -(2**63), 0.1, "", " ", SECRET, "\x00", "‮" + SECRET, "\ufeff", "a" * 70_000, "👩‍👩‍👧" * 50,
    [], {}, [SECRET], {"k": SECRET}, [[]], [None] * 300, {str(i): None for i in range(300)}, nested(63, SECRET), nested(200, SECRET),
    {"type": SECRET}, {"type": "box"}, {"$ref": SECRET}, {"__proto__": {"a": 1}}, {"image_url": {"url": f"file:///etc/{SECRET}"}},
    {"type": "image_url", "image_url": {"url": f"http://169.254.169.254/{SECRET}"}}, "data:image/png;base64,AAAA", "../../etc/passwd",
    "{{7*7}}", "${jndi:ldap://x}", "'; drop table decisions; --", "<image:1>", "%s%n", "NaN", "1e999",
]  # fmt: skip
EXTRA = ("x_samples", "x_rotations", "x_mode", "samples", "seed", "steps", "assets", "think", "diagnostics", "ask", "stream", "tools",
         "temperature", "max_tokens", "images", "priority", "x_diagnostics", "depends_on", "ask_if", "criteria", "type")  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with one of its keys or indices."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield value, key
        yield from places(child)


def mutated(path: str, seed: int) -> Any:
    """A good body with one to three places changed for the worse."""
    dice = random.Random(seed)
    body = copy.deepcopy(BODIES[path])
    for _ in range(dice.randint(1, 3)):
        container, key = dice.choice(list(places(body)))
        match dice.randrange(4):
            case 0 if isinstance(container, dict):
                del container[key]
            case 1 if isinstance(container, dict):
                container[dice.choice(EXTRA)] = copy.deepcopy(dice.choice(NASTY))
            case 2 if isinstance(container, list):
                container += [copy.deepcopy(container[key])] * dice.choice([1, 5, 300])
            case _:
                container[key] = copy.deepcopy(dice.choice(NASTY))
    return body


def check_mutated(target: Target, path: str, seed: int) -> None:
    body = mutated(path, seed)
    got = send(target, "POST", path, json.dumps(body).encode())
    if path == "/v1/chat/completions" and got.status_code in (501, 503):
        return
    harmless(target, got)


@pytest.mark.parametrize("path", PATHS)
def test_bodies_changed_for_the_worse(target: Target, path: str) -> None:
    for seed in range(80):
        check_mutated(target, path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_thousands_of_bodies_changed_for_the_worse(target: Target, path: str) -> None:
    for seed in range(1000, 4000):
        check_mutated(target, path, seed)


def check_bytes(target: Target, path: str, content: bytes) -> None:
    harmless(target, send(target, "POST", path, content))


@FEW
@given(path=st.sampled_from(PATHS), content=st.binary(max_size=300) | st.text().map(str.encode))
def test_raw_bytes(target: Target, path: str, content: bytes) -> None:
    check_bytes(target, path, content)


@pytest.mark.slow
@MANY
@given(path=st.sampled_from(PATHS), content=st.binary(max_size=3000) | st.text().map(str.encode))
def test_thousands_of_raw_bytes(target: Target, path: str, content: bytes) -> None:
    check_bytes(target, path, content)


GOOD = json.dumps(BODIES["/v1/systemone"]).encode()


@FEW
@given(data=st.data())
def test_good_bodies_with_bytes_flipped(target: Target, data: st.DataObject) -> None:
    content = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    harmless(target, send(target, "POST", "/v1/systemone", bytes(content)))


NAMES = ("content-type", "content-encoding", "authorization", "x-request-timeout-ms", "traceparent", "tracestate", "accept",
         "x-forwarded-for", "expect", "range", "cookie", "x-http-method-override", "te", "x-origin-secret")  # fmt: skip
VALUES = st.sampled_from(
    ["", "gzip", "zstd", "gzip, zstd", "identity", "br", "application/json", "multipart/form-data", "multipart/form-data; boundary=x",
     "text/plain", "Bearer", "1", "-1", "1e9", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "100-continue", "*/*", SECRET]
) | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=80)  # fmt: skip


@FEW
@given(path=st.sampled_from(PATHS), headers=st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=5))
def test_headers_of_every_kind(target: Target, path: str, headers: list[tuple[str, str]]) -> None:
    got = send(target, "POST", path, GOOD, [(name.encode(), value.encode()) for name, value in headers])
    if got.status_code == 504:  # a deadline of a millisecond was asked for
        return
    harmless(target, got)


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PLANTED"])
@pytest.mark.parametrize("path", [*PATHS, "/metrics", "/docs", "/", f"/{SECRET}", "/v1/../metrics", "/docs/..%2f..%2fetc/passwd"])
def test_methods_and_paths_of_every_kind(target: Target, method: str, path: str) -> None:
    harmless(target, send(target, method, path, b""))


PIECES = [b"POST /v1/systemone HTTP/1.1\r\n", b"GET /health HTTP/1.1\r\n", b"host: x\r\n", b"content-length: 10\r\n", b"\r\n", b"0\r\n\r\n",
          b"transfer-encoding: chunked\r\n", b"content-length: 99999999999999999999\r\n", b"connection: upgrade\r\nupgrade: websocket\r\n",
          b"expect: 100-continue\r\n", b"GET / HTTP/0.9\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x00", b"\xff\xfe", b":", b" ", b"\n",
          b'{"state": "' + SECRET.encode() + b'"}', b"5\r\nhello\r\n", b"GET http://evil.example/ HTTP/1.1\r\n", b"host: y\r\n"]  # fmt: skip


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as port:
        yield port


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(parts=st.lists(st.sampled_from(PIECES) | st.binary(max_size=40), min_size=1, max_size=8))
def test_bytes_on_the_wire(port: int, parts: list[bytes]) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"".join(parts))
        connection.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while chunk := connection.recv(65536):
                got += chunk
        except ConnectionResetError:
            pass
    for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", got):
        assert status < b"500" or status == b"501"
    assert SECRET.encode() not in got
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b"200 OK" in connection.recv(65536)


@pytest.mark.parametrize("coding", ["gzip", "zstd", "gzip, gzip", "zstd, zstd"])
def test_compression_bombs_cost_neither_memory_nor_time(target: Target, coding: str) -> None:
    content = b"\x00" * (64 * 1024 * 1024)
    for name in coding.split(", "):
        content = gzip.compress(content, 6) if name == "gzip" else zstd.compress(content, 3)
    tracemalloc.start()
    start = time.monotonic()
    got = send(target, "POST", "/v1/systemone", content, {"content-type": "application/json", "content-encoding": coding})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got.status_code == 413
    assert time.monotonic() - start < 5
    assert peak < 16 * 1024 * 1024


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_depth_costs_no_stack(target: Target, depth: int) -> None:
    for open_, close in (("[", "]"), ('{"a":', "}")):
        state = open_ * depth + "1" + close * depth
        got = send(target, "POST", "/v1/systemone", f'{{"state": {state}, "questions": {json.dumps(QUESTIONS)}}}'.encode())
        assert got.status_code in (413, 422)
        harmless(target, got)


def document_app() -> FastAPI:
    from oneread.serving.app import create_app
    from tests.serving.fakes import FakeDecider

    return create_app(None, FakeDecider())  # type: ignore[arg-type]


schema = schemathesis.openapi.from_asgi("/openapi.json", document_app())

# Its negative mode gives up now and then on schemas of JSON inside JSON, so it runs among the slow tests only; bodies that the
# document does not allow are what the rest of this file makes.
positive = SchemathesisConfig()
positive.projects.default.generation.update(modes=[schemathesis.GenerationMode.POSITIVE])
positive_schema = schemathesis.openapi.from_asgi("/openapi.json", document_app(), config=positive)


def answered(case: Any) -> None:
    got = case.call()
    assert got.status_code < 500, got.text
    assert got.headers["x-request-id"][0].startswith("req_")


@positive_schema.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_what_the_openapi_document_allows(case: Any) -> None:
    answered(case)


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_the_openapi_document_does_not_allow(case: Any) -> None:
    answered(case)


@pytest.mark.slow
@positive_schema.parametrize()
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
def test_thousands_of_what_the_openapi_document_allows(case: Any) -> None:
    assert case.call().status_code < 500
