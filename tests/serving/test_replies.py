"""What every reply carries, what a good one looks like, and what becomes of failures."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import httpx
import pytest

from oneread.calibration.profile import uncalibrated
from oneread.errors import EngineError, InvalidRequest
from oneread.serving.dialects import systemone
from oneread.serving.dialects import systemone_schema as schema

from .bad_bodies import NOUL, SECRET, one
from .fakes import FakeDecider

REQUEST_ID = re.compile(r"req_[0-9a-f]{32}")

LEVELS: list[Any] = ["calm", {"lines": [1, None, {"a": 1.5}]}, ["x", None], ""]
ODD_NAMES = [
    "",
    " ",
    "a.b-c",
    "__proto__",
    "환불 요청",
    "🙂",
    "e\u0301",
    "\u00e9",
    "\u202eabc",
    'quo"te',
    "line\nbreak",
    "\x00",
    "x" * 5000,
]
FULL: dict[str, Any] = {
    "model": "jev-latest",
    "state": {"ticket": ["a", None, 1.5, True, {"b": []}]},
    "questions": {
        "z": {"type": "noul", "instructions": {"ask": ["urgent?"]}, "criteria": {"true": None, "false": "no"}},
        "a": {"type": "choice", "instructions": None, "criteria": dict.fromkeys(ODD_NAMES)},
        "m": {"type": "score", "criteria": LEVELS},
        **{name: {"type": "noul", "criteria": {"true": ["y"]}} for name in ODD_NAMES},
    },
    "x_unknown": {"ignored": True},
    "assets": {},
}


async def test_a_reply_is_the_contract_s_and_nothing_more(client: httpx.AsyncClient, decider: FakeDecider) -> None:
    got = await client.post("/v1/systemone", json=FULL)
    assert got.status_code == 200
    assert got.headers["content-type"] == "application/json"
    body = got.json()
    want = decider.decide(decider.asked[0]).answers
    assert list(body) == ["model", "answers", "usage"]
    assert body["model"] == "fake-1"
    assert list(body["answers"]) == list(FULL["questions"])
    assert body["answers"]["z"] == {"type": "noul", "noul": want["z"].noul}  # type: ignore[union-attr]
    choice, score = body["answers"]["a"], body["answers"]["m"]
    assert list(choice) == ["type", "choice", "confidence", "probabilities"]
    assert list(choice["probabilities"]) == ODD_NAMES
    assert choice["probabilities"] == want["a"].probabilities  # type: ignore[union-attr]
    assert list(score) == ["type", "score", "confidence", "legend", "probabilities"]
    assert score["legend"] == {str(i): level for i, level in enumerate(LEVELS)}
    assert list(score["probabilities"].values()) == list(want["m"].probabilities)  # type: ignore[union-attr]
    assert all(type(count) is int for count in body["usage"].values())
    schema.SystemOneReply.model_validate(body)


async def test_content_reaches_the_domain_as_it_was_sent(client: httpx.AsyncClient, decider: FakeDecider) -> None:
    await client.post("/v1/systemone", json=FULL)
    asked = decider.asked[0]
    assert asked.state == FULL["state"]
    assert asked.questions["z"].yes is None  # type: ignore[union-attr]
    assert asked.questions["z"].no == "no"  # type: ignore[union-attr]
    assert asked.questions["m"].levels == LEVELS  # type: ignore[union-attr]


@pytest.mark.parametrize("state", ["", {}, [], "x", {"a": None}, [None]])
async def test_any_text_object_or_array_is_a_state(client: httpx.AsyncClient, state: Any) -> None:
    assert (await client.post("/v1/systemone", json={**one(NOUL), "state": state})).status_code == 200


async def test_the_most_that_is_allowed_is_answered(client: httpx.AsyncClient) -> None:
    questions: dict[str, Any] = {f"질문 {i} 🙂": {"type": "noul", "instructions": ""} for i in range(64)}
    questions |= {
        "c": {"type": "choice", "criteria": {f"선택 {i}": None for i in range(255)}},
        "s": {"type": "score", "criteria": ["x"] * 10},
    }
    got = await client.post("/v1/systemone", json={"state": "x", "questions": questions})
    assert list(got.json()["answers"]) == list(questions)
    assert len(got.json()["answers"]["c"]["probabilities"]) == 255


@pytest.mark.parametrize("model", [*systemone.ALIASES, "fake-1"])
async def test_aliases_and_the_reader_s_own_name_are_served_and_listed(client: httpx.AsyncClient, model: str) -> None:
    got = await client.post("/v1/systemone", json={**one(NOUL), "model": model})
    assert got.json()["model"] == "fake-1"
    listed = (await client.get("/v1/models")).json()["models"]
    entry = next(m for m in listed if m["name"] == model)
    assert {k: type(v) for k, v in entry.items()} == {"name": str, "description": str, "release_date": str}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/systemone", 200),
        ("GET", "/v1/models", 200),
        ("GET", "/health", 200),
        ("GET", "/ready", 200),
        ("GET", "/docs", 200),
        ("GET", "/nowhere", 404),
        ("POST", "/v1/systemone/", 404),
        ("GET", "/v1/systemone", 405),
        ("DELETE", "/v1/models", 405),
    ],
)
async def test_every_reply_has_a_request_id_of_its_own(client: httpx.AsyncClient, method: str, path: str, status: int) -> None:
    got = [await client.request(method, path, json=one(NOUL) if method == "POST" else None) for _ in range(2)]
    assert [g.status_code for g in got] == [status, status]
    ids = [g.headers["x-typesafe-request-id"] for g in got]
    assert all(REQUEST_ID.fullmatch(i) for i in ids)
    assert ids == [g.headers["x-request-id"] for g in got]
    assert ids[0] != ids[1]
    if status >= 400:
        detail = got[0].json()["detail"]
        assert detail["error_type"] == {404: "not_found", 405: "method_not_allowed"}[status]
        assert path not in detail["message"]


async def test_405_names_the_methods_allowed(client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/systemone")).headers["allow"] == "POST"


async def test_an_engine_failure_asks_to_try_again(connect: Any) -> None:
    got = await connect(FakeDecider(fault=EngineError(f"died on {SECRET}"))).post("/v1/systemone", json=one(NOUL))
    assert (got.status_code, got.headers["retry-after"], got.headers["retry-after-ms"]) == (503, "1", "1000")
    assert got.json()["detail"]["error_type"] == "unavailable"
    assert SECRET not in got.text


async def test_a_limit_of_the_reader_is_placed_in_the_body(connect: Any) -> None:
    fault = InvalidRequest.at(("questions", "q"), "Too long", "too_long", max_length=5)
    got = await connect(FakeDecider(fault=fault)).post("/v1/systemone", json=one(NOUL))
    assert got.status_code == 422
    assert got.json()["detail"] == [
        {"loc": ["body", "questions", "q"], "msg": "Too long", "type": "too_long", "ctx": {"max_length": 5}}
    ]


@pytest.mark.parametrize("fault", [RuntimeError(SECRET), MemoryError(SECRET), KeyError(SECRET), RecursionError(SECRET)])
async def test_an_unexpected_error_is_a_500_that_tells_nothing(
    connect: Any, fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        got = await connect(FakeDecider(fault=fault)).post("/v1/systemone", json=one(NOUL))
    assert got.status_code == 500
    assert got.json()["detail"]["error_type"] == "internal_error"
    assert REQUEST_ID.fullmatch(got.headers["x-typesafe-request-id"])
    assert SECRET not in got.text
    assert type(fault).__name__ in caplog.text
    assert got.headers["x-request-id"] in caplog.text
    assert SECRET not in caplog.text


async def test_the_openapi_document_describes_request_and_reply(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    post = document["paths"]["/v1/systemone"]["post"]
    ref = post["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schemas = document["components"]["schemas"]
    request = schemas[ref.removeprefix("#/components/schemas/")]
    assert set(request["properties"]) >= {"model", "state", "questions", "assets", "samples", "mode", "images"}
    assert schemas["ChoiceQuestion"]["properties"]["criteria"]["maxProperties"] == 255
    assert schemas["ScoreQuestion"]["properties"]["criteria"]["maxItems"] == 10
    assert {"200", "400", "401", "403", "413", "415", "422", "500", "503"} <= set(post["responses"])
    refs = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert refs <= set(schemas)


async def test_the_calibration_profile_is_named_in_the_list_of_models(client: httpx.AsyncClient, decider: FakeDecider) -> None:
    plain = (await client.get("/v1/models")).json()["models"][0]["description"]
    decider.calibration = uncalibrated("fake-1", "ab" * 32)
    named = (await client.get("/v1/models")).json()["models"][0]["description"]
    assert named == f"{plain} Calibrated by profile uncalibrated."
