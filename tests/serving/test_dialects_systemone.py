"""Our controls on System One's route: what each does, and how each wrong value is refused."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from oneread import Decider
from oneread.serving.dialects import systemone

from ..fakes import FakeEngine, fake_reader
from .bad_bodies import NOUL, one
from .conftest import Connect
from .fakes import FakeDecider

URGENT = {"type": "noul", "instructions": "is it urgent"}
TEAM = {"type": "choice", "instructions": "which team", "criteria": {"billing": "money", "outage": None}}
ANGER = {"type": "score", "instructions": "how angry", "criteria": ["calm", "annoyed", "furious"]}
QUESTIONS = {"urgent": URGENT, "team": TEAM, "anger": ANGER}


def sure(read: Any, slot: int) -> float:
    """The first option of every question, by far."""
    return 9.0 if slot == 0 else 0.0


async def post(client: httpx.AsyncClient, questions: Any = QUESTIONS, **more: Any) -> httpx.Response:
    return await client.post("/v1/systemone", json={"state": "the site is down", "questions": questions, **more})


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def client(connect: Connect, engine: FakeEngine) -> httpx.AsyncClient:
    return connect(Decider(fake_reader(engine)))


async def test_a_plain_reply_holds_nothing_of_ours(client: httpx.AsyncClient) -> None:
    reply = (await post(client)).json()
    assert set(reply) == {"model", "answers", "usage"}
    assert set(reply["usage"]) == {"input_tokens", "output_tokens"}
    assert [set(answer) for answer in reply["answers"].values()] == [
        {"type", "noul"},
        {"type", "choice", "confidence", "probabilities"},
        {"type", "score", "confidence", "legend", "probabilities"},
    ]


@pytest.mark.parametrize(
    ("controls", "rows"),
    [
        ({}, 3),
        ({"mode": "packed"}, 1),
        ({"mode": "packed", "sequential": True}, 1),
        ({"ask": ["anger"]}, 1),
        ({"samples": 2}, 6),
        ({"samples": 32}, 6),  # two orders each: all there are of two options, and of levels
        ({"samples": "auto", "auto_threshold": 9}, 3),
        ({"samples": "auto", "auto_threshold": 0, "auto_max": 2}, 6),
        ({"rotations": 2}, 6),
        ({"rotations": "auto", "auto_threshold": 9}, 3),
        ({"options": {"samples": 2}}, 6),
        ({"samples": 1, "options": {"samples": 2}}, 6),
        ({"options": {"canvas_length": None, "projection": "labels", "seed": 0}}, 3),
        ({"samples": None, "mode": None, "think": 0, "steps": 1, "options": None, "x_other": 5}, 3),
    ],
)
async def test_a_control_changes_what_is_read(
    controls: dict[str, Any], rows: int, client: httpx.AsyncClient, engine: FakeEngine
) -> None:
    got = await post(client, **controls)
    assert got.status_code == 200, got.text
    assert len(engine.reads) == rows


async def test_shared_instructions_and_earlier_answers_reach_the_reader(connect: Connect) -> None:
    engine = FakeEngine(sure)
    reader = fake_reader(engine, "mind the rules known : is it urgent yes which team how angry")
    questions = {"team": {**TEAM, "depends_on": ["urgent"]}, "urgent": URGENT}
    got = await post(connect(Decider(reader)), questions, instructions="mind the rules")
    assert list(got.json()["answers"]) == ["team", "urgent"]
    first, second = engine.reads
    rules = reader.canvas.encode_state("mind the rules").tolist()
    assert first.canvas.tolist()[1 : 1 + len(rules)] == second.canvas.tolist()[1 : 1 + len(rules)] == rules
    assert len(second.canvas) > len(first.canvas)


async def test_skipped_questions_are_listed_with_the_reason_and_have_no_answer(connect: Connect) -> None:
    questions = {
        "urgent": URGENT,
        "team": {**TEAM, "ask_if": {"urgent": [False]}},
        "anger": {**ANGER, "ask_if": {"urgent": ["yes"]}},
        "after": {**URGENT, "ask_if": {"anger": ["1", 2]}},
    }
    reply = (await post(connect(Decider(fake_reader(FakeEngine(sure)))), questions)).json()
    assert list(reply["answers"]) == ["urgent", "anger"]
    assert reply["x_skipped"] == {
        "team": {"because": "urgent", "was": True, "wanted": [False]},
        "after": {"because": "anger", "was": 0, "wanted": [1, 2]},
    }


async def test_an_uncertain_answer_is_listed_as_an_abstention_and_stays(connect: Connect) -> None:
    client = connect(Decider(fake_reader(FakeEngine(lambda read, slot: 0.0))))
    reply = (await post(client, {"team": {**TEAM, "abstain_below": 0.3}}, confidence="top")).json()
    assert reply["answers"]["team"]["confidence"] == 0.5
    assert "x_abstained" not in reply
    reply = (await post(client, {"team": {**TEAM, "abstain_below": 0.3}})).json()
    assert reply["answers"]["team"]["choice"] == "billing"
    assert reply["x_abstained"] == {"team": {"formula": "typesafe", "confidence": 0.0, "threshold": 0.3}}


async def test_diagnostics_come_when_asked_for(client: httpx.AsyncClient) -> None:
    reply = (await post(client, samples=2, diagnostics=True)).json()
    told = reply["x_diagnostics"]
    assert told["stages"] == [["urgent", "team", "anger"]]
    assert (told["method"], told["confidence"], told["rows"]) == ("markers", "typesafe", 6)
    team = told["questions"]["team"]
    assert team["probabilities"] == list(reply["answers"]["team"]["probabilities"].values())
    assert len(team["draws"]) == 2
    assert team["label_mass"] is None
    assert team["stderr"] >= 0
    assert 0 < team["agreement"] <= 1
    assert "x_diagnostics" not in (await post(client, diagnostics=False)).json()


async def test_confidence_goes_by_its_name(client: httpx.AsyncClient) -> None:
    found = {}
    for name in ("typesafe", "top", "margin", "entropy"):
        found[name] = (await post(client, {"team": TEAM}, confidence=name)).json()["answers"]["team"]
    p = max(found["top"]["probabilities"].values())
    assert found["top"]["confidence"] == p
    assert found["typesafe"]["confidence"] == pytest.approx(2 * p - 1)
    assert found["margin"]["confidence"] == pytest.approx(2 * p - 1)
    assert found["entropy"]["confidence"] < 2 * p - 1


HALF = {"ge": 0, "le": 1}
WRONG: list[tuple[dict[str, Any], list[Any], str]] = [
    ({"samples": 0}, ["samples"], "out_of_range"),
    ({"samples": 33}, ["samples"], "out_of_range"),
    ({"samples": 1.0}, ["samples"], "out_of_range"),
    ({"samples": "all"}, ["samples"], "out_of_range"),
    ({"samples": True}, ["samples"], "out_of_range"),
    ({"auto_max": 33}, ["auto_max"], "out_of_range"),
    ({"auto_max": "auto"}, ["auto_max"], "out_of_range"),
    ({"auto_threshold": -0.1}, ["auto_threshold"], "out_of_range"),
    ({"auto_threshold": "low"}, ["auto_threshold"], "out_of_range"),
    ({"auto_threshold": True}, ["auto_threshold"], "out_of_range"),
    ({"rotations": 0}, ["rotations"], "out_of_range"),
    ({"mode": "fast"}, ["mode"], "literal_error"),
    ({"mode": ["packed"]}, ["mode"], "literal_error"),
    ({"ask": []}, ["ask"], "too_short"),
    ({"ask": "urgent"}, ["ask"], "list_type"),
    ({"ask": [1]}, ["ask", 0], "string_type"),
    ({"ask": ["urgent", "nobody"]}, ["ask", 1], "unknown_question"),
    ({"seed": -1}, ["seed"], "out_of_range"),
    ({"seed": 2**32}, ["seed"], "out_of_range"),
    ({"steps": 0}, ["steps"], "out_of_range"),
    ({"steps": 2}, ["steps"], "unsupported_by_reader"),
    ({"think": 4097}, ["think"], "out_of_range"),
    ({"think": 64}, ["think"], "unsupported_by_reader"),
    ({"sequential": 1}, ["sequential"], "bool_type"),
    ({"projection": "half"}, ["projection"], "literal_error"),
    ({"projection": "full"}, ["projection"], "unsupported_by_reader"),
    ({"canvas_length": 20}, ["canvas_length"], "multiple_of"),
    ({"canvas_length": 32}, ["canvas_length"], "unsupported_by_reader"),
    ({"chunk_rows": 7}, ["chunk_rows"], "out_of_range"),
    ({"chunk_rows": 8}, ["chunk_rows"], "unsupported_by_reader"),
    ({"instructions": 5}, ["instructions"], "content_type"),
    ({"confidence": "high"}, ["confidence"], "literal_error"),
    ({"confidence": "mass"}, ["confidence"], "unsupported_by_reader"),
    ({"diagnostics": "yes"}, ["diagnostics"], "bool_type"),
    ({"options": {"samples": 33}}, ["options", "samples"], "out_of_range"),
    ({"options": {"steps": 2}}, ["options", "steps"], "unsupported_by_reader"),
    ({"options": {"ask": ["nobody"]}}, ["options", "ask", 0], "unknown_question"),
    ({"options": {"sample": 3}}, ["options", "sample"], "extra_forbidden"),
    ({"options": 3}, ["options"], "model_type"),
    ({"images": ["data:image/png;base64,AAAA"]}, ["images"], "images_unsupported"),
    ({"images": "x"}, ["images"], "list_type"),
]


@pytest.mark.parametrize(("controls", "loc", "kind"), WRONG, ids=lambda value: str(value)[:40])
async def test_a_wrong_control_is_refused_where_it_stands(
    controls: dict[str, Any], loc: list[Any], kind: str, client: httpx.AsyncClient, engine: FakeEngine
) -> None:
    got = await post(client, **controls)
    assert got.status_code == 422
    assert [(issue["loc"], issue["type"]) for issue in got.json()["detail"]] == [(["body", *loc], kind)]
    assert engine.reads == []


ASKED: list[tuple[dict[str, Any], list[Any], str]] = [
    ({"depends_on": "urgent"}, ["depends_on"], "list_type"),
    ({"depends_on": [1]}, ["depends_on", 0], "string_type"),
    ({"depends_on": ["urgent", "nobody"]}, ["depends_on", 1], "unknown_question"),
    ({"depends_on": ["team"]}, ["depends_on"], "cycle"),
    ({"ask_if": ["urgent"]}, ["ask_if"], "dict_type"),
    ({"ask_if": {"urgent": True}}, ["ask_if", "urgent"], "list_type"),
    ({"ask_if": {"urgent": []}}, ["ask_if", "urgent"], "too_short"),
    ({"ask_if": {"nobody": [True]}}, ["ask_if", "nobody"], "unknown_question"),
    ({"ask_if": {"urgent": [True, "maybe"]}}, ["ask_if", "urgent", 1], "impossible_answer"),
    ({"ask_if": {"anger": [3]}}, ["ask_if", "anger", 0], "impossible_answer"),
    ({"ask_if": {"anger": [[]]}}, ["ask_if", "anger", 0], "impossible_answer"),
    ({"alone": "yes"}, ["alone"], "bool_type"),
    ({"abstain_below": 1.5}, ["abstain_below"], "out_of_range"),
    ({"abstain_below": "low"}, ["abstain_below"], "float_type"),
]


@pytest.mark.parametrize(("fields", "loc", "kind"), ASKED, ids=lambda value: str(value)[:40])
async def test_a_wrong_condition_is_refused_where_it_stands(
    fields: dict[str, Any], loc: list[Any], kind: str, client: httpx.AsyncClient, engine: FakeEngine
) -> None:
    got = await post(client, {**QUESTIONS, "team": {**TEAM, **fields}})
    assert got.status_code == 422
    where = ["body", "questions", "team", "choice", *loc]
    assert [(issue["loc"], issue["type"]) for issue in got.json()["detail"]] == [(where, kind)]
    assert engine.reads == []


async def test_a_circle_of_questions_is_told_at_each_of_them(client: httpx.AsyncClient) -> None:
    questions = {"a": {**URGENT, "depends_on": ["b"]}, "b": {**ANGER, "ask_if": {"a": [True]}}, "c": TEAM}
    detail = (await post(client, questions)).json()["detail"]
    assert [issue["loc"][2] for issue in detail] == ["a", "b"]
    assert {issue["type"] for issue in detail} == {"cycle"}


async def test_alone_questions_keep_a_row_of_their_own_when_packed(client: httpx.AsyncClient, engine: FakeEngine) -> None:
    await post(client, {**QUESTIONS, "team": {**TEAM, "alone": True}}, mode="packed")
    assert sorted(len(read.slots) for read in engine.reads) == [2, 5]


async def test_the_list_of_models_is_typesafes_and_openais_at_once(connect: Connect) -> None:
    body = (await connect(FakeDecider()).get("/v1/models")).json()
    assert body["object"] == "list"
    assert [model["name"] for model in body["models"]] == [model["id"] for model in body["data"]]
    assert [model["id"] for model in body["data"]] == ["fake-1", *systemone.ALIASES]
    assert body["data"][0] == {"id": "fake-1", "object": "model", "created": 1795910400, "owned_by": "oneread"}


def test_a_request_that_says_nothing_gets_typesafes_ways() -> None:
    request = systemone.parse(one(NOUL)).request
    assert request.controls == type(request.controls)()
    assert request.asking == {}
