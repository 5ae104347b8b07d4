"""Whatever one part of a good body is replaced with, every route answers or refuses; none fails."""

from __future__ import annotations

import copy
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oneread import Decider
from oneread.serving.app import create_app
from oneread.serving.settings import Settings

from ..fakes import fake_reader
from .conftest import Connect
from .fakes import FakeDecider
from .test_dialects_systemone import QUESTIONS
from .test_images import B64, URL, SeeingReader

SYSTEM_ONE: dict[str, Any] = {
    "model": "jev-latest",
    "state": {"a": ["<a>", None, 1.5]},
    "questions": {**QUESTIONS, "late": {**QUESTIONS["team"], "ask_if": {"urgent": [True], "anger": [1]}, "depends_on": ["team"]}},
    "samples": "auto",
    "options": {"seed": 1, "mode": "packed"},
    "instructions": "x",
    "ask": ["late"],
}
DECISION: dict[str, Any] = {
    "model": "gpt-6-luna",
    "input": [
        {"role": "developer", "content": "x"},
        {"role": "user", "content": [{"type": "input_text", "text": "x"}, {"type": "input_json", "data": {"a": 1}}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
    ],
    "questions": [
        {"type": "predicate", "name": "p", "instructions": [{"type": "input_text", "text": "x"}], "abstain_below": 0.5},
        {"type": "choice", "instructions": "x", "choices": [{"value": "a", "description": "d"}, {"value": True}]},
        {"type": "score", "instructions": "x", "levels": [{"label": "a"}, {"label": "b", "description": "d"}]},
    ],
    "rotations": 2,
}
CHAT: dict[str, Any] = {
    "model": "jev-latest",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "assistant", "content": "y"}],
    "max_tokens": 5,
    "stop": ["a"],
    "stream": False,
    "stream_options": {"include_usage": True},
    "temperature": 1,
    "seed": 1,
}
SCHEMA: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": '{"questions": {"q": {"type": "bool", "instructions": "x"}}, "samples": 2}'},
        {"role": "user", "content": "x"},
    ]
}
SEEN: dict[str, Any] = {
    "state": ["<a>", {"type": "image_url", "image_url": {"url": URL}}],
    "questions": {"q": QUESTIONS["urgent"]},
    "assets": {"<a>": {"type": "image", "format": "png", "data_base64": B64}},
    "images": [URL, {"content_type": "image/png", "base64": B64}],
}
ROUTES = [
    ("/v1/systemone", SYSTEM_ONE),
    ("/v1/systemone", SEEN),
    ("/v1/decisions", DECISION),
    ("/v1/decisions", SYSTEM_ONE),
    ("/api/alpha/decisions", SYSTEM_ONE),
    ("/api/alpha/decisions", SEEN),
    ("/inference/v1/systemone", SYSTEM_ONE),
    ("/v1/chat/completions", CHAT),
    ("/v1/chat/completions", SCHEMA),
]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "a", ""]), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in children for place in places(child, (*path, key)))]


def put(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    body = copy.deepcopy(body)
    inner = body
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return body


@pytest.mark.parametrize(("path", "body"), ROUTES, ids=[f"{path}-{i}" for i, (path, _) in enumerate(ROUTES)])
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_no_part_of_a_body_breaks_a_route(path: str, body: Any, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(places(body)))
    sent = put(body, place, data.draw(anything))
    decider: Any = FakeDecider(SeeingReader()) if body is SEEN else Decider(fake_reader())
    transport = httpx.ASGITransport(create_app(Settings(), decider), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        got = await client.post(path, json=sent)
    assert got.status_code in (200, 400, 404, 422), (got.status_code, sent)


@pytest.mark.parametrize(("path", "body"), ROUTES, ids=[f"{path}-{i}" for i, (path, _) in enumerate(ROUTES)])
async def test_the_bodies_that_are_broken_there_are_good(path: str, body: Any, connect: Connect) -> None:
    sent = {**body, "state": body["state"][:1]} if body is SEEN and path == "/v1/systemone" else body
    sent = {k: v for k, v in sent.items() if k not in ("images", "assets")} if path == "/api/alpha/decisions" else sent
    client = connect(FakeDecider(SeeingReader()) if body is SEEN else Decider(fake_reader()))
    got = await client.post(path, json=sent)
    assert got.status_code == (404 if body is CHAT else 200), got.text
