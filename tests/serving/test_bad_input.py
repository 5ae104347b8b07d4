"""Every way a body can be wrong gets the error of the table: exact, placed, and silent about the evidence."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oneread.serving.app import create_app

from .bad_bodies import BAD, NOUL, SECRET, Bad, one
from .fakes import FakeDecider

JSON_TYPE = {"content-type": "application/json"}


def test_the_table_is_long_enough_and_names_are_unique() -> None:
    assert len({bad.name for bad in BAD}) == len(BAD) >= 60


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
async def test_a_bad_body_gets_its_exact_error(bad: Bad, client: httpx.AsyncClient, decider: FakeDecider) -> None:
    got = await client.post("/v1/systemone", content=bad.raw, headers=JSON_TYPE)
    assert got.status_code == 422
    assert got.json() == {"detail": bad.expected}
    assert SECRET not in got.text
    assert SECRET not in str(got.headers)
    assert got.headers["x-typesafe-request-id"].startswith("req_")
    assert not decider.asked


# name, headers, body, status, error type, message
Refusal = tuple[str, dict[str, str], bytes, int, str, str]
GOOD = json.dumps(one(NOUL)).encode()
MODELS = "The model is not served here. Served: fake-1, jev-latest, jev-preview, jev-1.13.0, jev-1.14.0."
MEDIA = "The body should be JSON: send 'Content-Type: application/json'."
CODING = "The content encoding should be gzip or zstd, at most 2 of them one over the other."
LARGE = "The body should be at most 10000 bytes, also after decompression."
REFUSED: list[Refusal] = [
    ("unknown-model", JSON_TYPE, json.dumps({"model": SECRET, **one(NOUL)}).encode(), 400, "api_usage_error", MODELS),
    ("empty-model", JSON_TYPE, json.dumps({"model": "", **one(NOUL)}).encode(), 400, "api_usage_error", MODELS),
    ("model-case", JSON_TYPE, json.dumps({"model": "Jev-Latest", **one(NOUL)}).encode(), 400, "api_usage_error", MODELS),
    ("form", {"content-type": "application/x-www-form-urlencoded"}, GOOD, 415, "unsupported_media_type", MEDIA),
    ("plain-text", {"content-type": "text/plain"}, GOOD, 415, "unsupported_media_type", MEDIA),
    ("xml", {"content-type": "application/xml"}, GOOD, 415, "unsupported_media_type", MEDIA),
    ("brotli", {**JSON_TYPE, "content-encoding": "br"}, GOOD, 415, "unsupported_media_type", CODING),
    ("deflate", {**JSON_TYPE, "content-encoding": "deflate"}, GOOD, 415, "unsupported_media_type", CODING),
    ("three-codings", {**JSON_TYPE, "content-encoding": "gzip, gzip, gzip"}, GOOD, 415, "unsupported_media_type", CODING),
    ("coding-over-unknown", {**JSON_TYPE, "content-encoding": "br, gzip"}, GOOD, 415, "unsupported_media_type", CODING),
    ("too-large", JSON_TYPE, json.dumps({**one(NOUL), "state": SECRET * 1000}).encode(), 413, "request_too_large", LARGE),
]


@pytest.mark.parametrize(("name", "headers", "body", "status", "kind", "message"), REFUSED, ids=[row[0] for row in REFUSED])
async def test_a_refused_request_gets_its_exact_error(
    name: str, headers: dict[str, str], body: bytes, status: int, kind: str, message: str, connect: Any, decider: FakeDecider
) -> None:
    client = connect(decider, max_body_bytes=10_000)
    got = await client.post("/v1/systemone", content=body, headers=headers)
    assert got.status_code == status
    assert got.json() == {"detail": {"error_type": kind, "message": message}}
    assert SECRET not in got.text
    assert not decider.asked


async def test_a_multipart_body_is_refused_by_name_before_it_is_read(client: httpx.AsyncClient) -> None:
    got = await client.post("/v1/systemone", files={"request": ("", json.dumps(one(NOUL))), "asset-0": b"\x89PNG"})
    assert got.status_code == 422
    message = "Images need a reader that takes them; this one reads text only"
    assert got.json() == {"detail": [{"loc": ["body"], "msg": message, "type": "images_unsupported"}]}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=4),
    max_leaves=12,
)
content = st.text(max_size=8) | json_values
kinds = st.sampled_from(["noul", "choice", "score", "box", "boolean", None, 3, {}])
nearly_a_question = (
    st.fixed_dictionaries({}, optional={"type": kinds, "instructions": content, "criteria": content, "extra": content})
    | json_values
)
nearly_a_request = st.fixed_dictionaries(
    {},
    optional={
        "state": content,
        "model": st.just("jev-latest") | json_values,
        "questions": st.dictionaries(st.text(st.characters(), max_size=8), nearly_a_question, max_size=3) | json_values,
        "assets": json_values,
        "x": json_values,
    },
)
bodies = (
    st.binary(max_size=64)
    | st.text(max_size=64).map(lambda text: text.encode())
    | nearly_a_request.map(lambda value: json.dumps(value).encode())
    | st.tuples(nearly_a_request.map(lambda value: json.dumps(value).encode()), st.integers(0, 200), st.binary(max_size=3)).map(
        lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :]
    )
)
headers = st.fixed_dictionaries(
    {},
    optional={
        "content-encoding": st.sampled_from(["gzip", "zstd", "gzip, zstd", "identity"]),
        "content-type": st.just("application/json"),
    },
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bodies, headers)
def test_no_body_gets_a_5xx_and_every_refusal_is_well_formed(body: bytes, headers: dict[str, str]) -> None:
    import asyncio

    async def post() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(decider=FakeDecider()), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post("/v1/systemone", content=body, headers=headers)

    got = asyncio.run(post())
    assert got.status_code in (200, 400, 422), (got.status_code, got.text)
    detail = got.json().get("detail")
    if got.status_code == 422:
        assert detail
        assert all(
            issue["loc"][0] == "body" and isinstance(issue["msg"], str) and isinstance(issue["type"], str) for issue in detail
        )
    elif got.status_code == 400:
        assert isinstance(detail["error_type"], str)
