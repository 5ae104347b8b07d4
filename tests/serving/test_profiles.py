"""A server in another system's place: the request that its clients sent, and the reply with the fields that they saw."""

from __future__ import annotations

import math
from typing import Any

import httpx
import pytest

from oneread import Decider, EngineError
from oneread.serving.profiles import PROFILES, profile_named

from ..fakes import FakeEngine, fake_reader
from .bad_bodies import NOUL, SECRET, one
from .conftest import Connect
from .fakes import FakeDecider

# The request of djev's README, as field notes on the published systems have it
REQUEST: dict[str, Any] = {
    "model": "jev-latest",
    "state": {"ticket": "Everything is down and we have a demo at noon."},
    "questions": {
        "urgent": {"type": "noul", "instructions": "Does the customer need a reply within the hour?"},
        "team": {
            "type": "choice",
            "instructions": "Which team owns this?",
            "criteria": {"billing": None, "outage": "service down", "feature": None},
        },
        "tone": {"type": "score", "instructions": "How angry is the customer?", "criteria": ["calm", "annoyed", "furious"]},
    },
}
LN = {index: math.log(p) for index, p in enumerate([0.9, 0.1, 0.05, 0.9, 0.05, 0.1, 0.2, 0.7])}
"""The raw scores of a row that holds all three questions: their slots in order, so that the answers are these shares."""
TEAM = {"billing": 0.05, "outage": 0.9, "feature": 0.05}
TONE = {"0": 0.1, "1": 0.2, "2": 0.7}
ENTROPIES = {
    "urgent": -(0.9 * math.log(0.9) + 0.1 * math.log(0.1)),
    "team": -(0.9 * math.log(0.9) + 2 * 0.05 * math.log(0.05)),
    "tone": -sum(p * math.log(p) for p in TONE.values()),
}


def about(value: Any) -> Any:
    """The same, with numbers that need not be equal to the last bit; ANY stands for what is never the same."""
    if isinstance(value, float):
        return pytest.approx(value, abs=1e-6)
    if isinstance(value, dict):
        return {key: about(child) for key, child in value.items()}
    return [about(child) for child in value] if isinstance(value, list) else value


class Some:
    """Equal to every value of its types."""

    def __init__(self, *types: type) -> None:
        self.types = types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.types)

    def __hash__(self) -> int:
        return 0


MS = Some(float)


def packed(connect: Connect, profile: str) -> httpx.AsyncClient:
    return connect(Decider(fake_reader(FakeEngine(lambda read, slot: LN[slot]))), profile=profile)


def alone(connect: Connect, profile: str) -> httpx.AsyncClient:
    """The same shares from three rows, told apart by their number of slots and words."""

    def score(read: Any, slot: int) -> float:
        first = 0 if len(read.slots) == 2 else 2 if read in rows[:2] else 5
        return LN[first + slot]

    rows: list[Any] = []
    engine = FakeEngine(score)
    rows = engine.reads
    return connect(Decider(fake_reader(engine)), profile=profile)


def answers(confidences: tuple[float, float]) -> dict[str, Any]:
    legend = {"0": "calm", "1": "annoyed", "2": "furious"}
    return {
        "urgent": {"type": "noul", "noul": 0.9},
        "team": {"type": "choice", "choice": "outage", "confidence": confidences[0], "probabilities": TEAM},
        "tone": {"type": "score", "score": 1.6, "confidence": confidences[1], "legend": legend, "probabilities": TONE},
    }


async def test_djevs_clients_see_what_they_saw(connect: Connect) -> None:
    body = {**REQUEST, "model": "anything", "seed": 42, "samples": 1, "steps": 1}
    reply = (await packed(connect, "djev").post("/v1/systemone", json=body)).json()
    tops = {"urgent": ["yes", 0.9, ENTROPIES["urgent"]], "team": ["outage", 0.9, ENTROPIES["team"]]}
    assert reply == about(
        {
            "model": "fake-1",
            "answers": answers((0.9, 0.7)),
            "usage": {"input_tokens": Some(int), "output_tokens": 8},
            "diagnostics": {
                "steps": 1,
                "stages": [["urgent", "team", "tone"]],
                "skipped": {},
                "chunks": [["urgent", "team", "tone"]],
                "sequential": False,
                "conditioning": None,
                "samples": {
                    "n": 1,
                    "tops": [{**tops, "tone": ["2", 0.7, ENTROPIES["tone"]]}],
                    "policy": {"mode": "fixed", "n": 1},
                },
                "timing": {"total_ms": MS, "reads": 1},
                "prompt_tokens": Some(int),
                "questions": {
                    key: {"entropy": [value], "label_mass": None, "argmax_is_label": None} for key, value in ENTROPIES.items()
                },
                "engine": "oneread",
            },
        }
    )


async def test_djev_reads_again_where_it_is_uncertain_and_answers_null_where_it_skips(connect: Connect) -> None:
    questions = {**REQUEST["questions"], "side": {**REQUEST["questions"]["urgent"], "ask_if": {"team": ["billing"]}}}
    client = connect(Decider(fake_reader(FakeEngine(lambda read, slot: LN[slot]))), profile="djev")
    reply = (await client.post("/v1/systemone", json={**REQUEST, "questions": questions})).json()
    assert list(reply["answers"]) == ["urgent", "team", "tone", "side"]
    assert reply["answers"]["side"] is None
    told = reply["diagnostics"]
    assert told["skipped"] == {"side": {"because": "team", "was": reply["answers"]["team"]["choice"], "wanted": ["billing"]}}
    assert told["samples"]["n"] > 1
    policy = told["samples"]["policy"]
    assert policy == about(
        {"mode": "auto", "max": 4, "threshold": 0.1, "extended": True, "first_read_entropy": ENTROPIES["tone"]}
    )


async def test_openjevs_clients_see_what_they_saw(connect: Connect) -> None:
    body = {**REQUEST, "model": "openjev-latest", "samples": 1}
    reply = (await packed(connect, "openjev").post("/v1/systemone", json=body)).json()
    three = math.log(3)
    assert reply == about(
        {
            "model": "fake-1",
            "answers": answers((1 - ENTROPIES["team"] / three, 1 - ENTROPIES["tone"] / three)),
            "usage": {"input_tokens": Some(int), "output_tokens": 0},
        }
    )


async def test_jev_locals_clients_see_what_they_saw(connect: Connect) -> None:
    options = {"seed": 0, "samples": 1, "mode": "packed", "projection": "labels", "canvas_length": None}
    body = {**REQUEST, "model": "diffusiongemma-local", "options": options}
    reply = (await packed(connect, "jev-local").post("/v1/systemone", json=body)).json()
    usage = reply["usage"]
    assert reply == about(
        {
            "model": "fake-1",
            "answers": answers((0.85, 0.5)),
            "usage": {
                "input_tokens": Some(int),
                "output_tokens": 8,
                "prompt_tokens": usage["input_tokens"],
                "questions": 3,
                "decoder_passes": 1,
                "canvas_tokens": 8,
                "prefill_ms": MS,
                "decode_ms": MS,
                "total_ms": MS,
                "peak_memory_gb": Some(float, type(None)),
            },
        }
    )
    assert usage["total_ms"] == pytest.approx(usage["prefill_ms"] + usage["decode_ms"])


async def test_vllms_clients_see_what_they_saw(connect: Connect) -> None:
    body = {**REQUEST, "model": "google/gemma", "instructions": "Judge the ticket.", "priority": 1, "cache_salt": "x"}
    reply = (await alone(connect, "vllm").post("/v1/systemone", json=body)).json()
    told = answers((0.9, 0.7))
    told["urgent"] |= {"confidence": 0.9, "probabilities": {"yes": 0.9, "no": 0.1}}
    assert reply["id"].startswith("decision-")
    assert reply == about(
        {
            "id": Some(str),
            "object": "structured_decision",
            "created": Some(int),
            "model": "fake-1",
            "answers": told,
            "usage": {"input_tokens": Some(int), "output_tokens": 8},
            "diagnostics": {key: {"label_mass": None, "argmax_is_label": None} for key in told},
            "x_confidence": "top",
        }
    )


# profile -> (status, body) of: an invalid question, no JSON, an unknown model (djev and vLLM look at none), a wrong key,
# an engine that failed, a fault of ours
LEVELS = {"state": SECRET, "questions": {"q": {"type": "score", "criteria": ["low"]}}}
TOLD = "questions.q.score.criteria: At least 2 levels are needed, found 1"
FAILURES: dict[str, list[tuple[int, Any]]] = {
    "djev": [
        (422, {"error": {"message": TOLD, "type": "validation_error"}}),
        (400, {"error": {"message": "offset 1: JSON decode error", "type": "validation_error"}}),
        (200, None),
        (401, {"error": {"message": Some(str), "type": "authentication_error"}}),
        (503, {"error": {"message": Some(str), "type": "server_error"}}),
        (500, {"error": {"message": Some(str), "type": "server_error"}}),
    ],
    "openjev": [
        (422, {"detail": [Some(dict)]}),
        (422, {"detail": [Some(dict)]}),
        (400, {"detail": {"error_type": "api_usage_error", "message": Some(str)}}),
        (401, {"detail": {"error_type": "authentication_error", "message": Some(str)}}),
        (503, {"detail": {"error_type": "unavailable", "message": Some(str)}}),
        (500, {"detail": {"error_type": "internal_error", "message": Some(str)}}),
    ],
    "jev-local": [
        (422, {"detail": "Invalid request", "x_errors": [Some(dict)]}),
        (422, {"detail": "Invalid request", "x_errors": [Some(dict)]}),
        (400, {"detail": "Unknown model"}),
        (401, {"detail": Some(str)}),
        (503, {"detail": "Model is not ready"}),
        (500, {"detail": "Inference failed"}),
    ],
    "vllm": [
        (400, {"error": {"message": TOLD, "type": "BadRequestError", "param": "questions.q.score.criteria", "code": 400}}),
        (400, {"error": {"message": "offset 1: JSON decode error", "type": "BadRequestError", "param": "offset 1", "code": 400}}),
        (200, None),
        (401, {"error": "Unauthorized"}),
        (503, {"error": {"message": Some(str), "type": "InternalServerError", "param": None, "code": 503}}),
        (500, {"error": {"message": Some(str), "type": "InternalServerError", "param": None, "code": 500}}),
    ],
}


@pytest.mark.parametrize("profile", FAILURES)
async def test_clients_see_the_failures_they_saw(profile: str, connect: Connect) -> None:
    path = "/v1/systemone"
    plain = connect(FakeDecider(), profile=profile)
    got = [
        await plain.post(path, json=LEVELS),
        await plain.post(path, content=b"{", headers={"content-type": "application/json"}),
        await plain.post(path, json={**one(NOUL), "model": "gpt-2"}),
        await connect(FakeDecider(), profile=profile, api_keys=("k",)).post(
            path, json=one(NOUL), headers={"authorization": "Bearer wrong"}
        ),
        await connect(FakeDecider(fault=EngineError(SECRET)), profile=profile).post(path, json=one(NOUL)),
        await connect(FakeDecider(fault=RuntimeError(SECRET)), profile=profile).post(path, json=one(NOUL)),
    ]
    for reply, (status, body) in zip(got, FAILURES[profile], strict=True):
        assert reply.status_code == status
        assert body is None or reply.json() == body
        assert SECRET not in reply.text


async def test_what_jev_locals_reader_cannot_do_is_told_in_its_words(connect: Connect) -> None:
    got = await packed(connect, "jev-local").post("/v1/systemone", json={**REQUEST, "options": {"projection": "full"}})
    assert got.status_code == 422
    assert got.json()["detail"] == "Request cannot be processed"
    assert got.json()["x_errors"][0]["loc"] == ["body", "options", "projection"]


@pytest.mark.parametrize("profile", [name for name in PROFILES if name])
async def test_a_request_still_has_the_last_word(profile: str, connect: Connect) -> None:
    engine = FakeEngine()
    client = connect(Decider(fake_reader(engine)), profile=profile)
    body = {**REQUEST, "mode": "independent", "samples": 1, "confidence": "typesafe", "diagnostics": False}
    reply = (await client.post("/v1/systemone", json=body)).json()
    assert len(engine.reads) == 3
    p = max(reply["answers"]["team"]["probabilities"].values())
    assert reply["answers"]["team"]["confidence"] == pytest.approx((p - 1 / 3) / (2 / 3))


async def test_an_operator_sets_confidence_and_diagnostics(connect: Connect) -> None:
    client = connect(Decider(fake_reader()), confidence="top", diagnostics=True)
    reply = (await client.post("/v1/systemone", json=REQUEST)).json()
    assert reply["answers"]["team"]["confidence"] == max(reply["answers"]["team"]["probabilities"].values())
    assert reply["x_diagnostics"]["confidence"] == "top"


async def test_mass_asked_for_by_name_is_refused_by_a_reader_without_labels(connect: Connect) -> None:
    for profile, more in (("vllm", {"confidence": "mass"}), (None, {"confidence": "mass"})):
        client = connect(Decider(fake_reader()), profile=profile)
        assert (await client.post("/v1/systemone", json={**REQUEST, **more})).status_code in (400, 422)


async def test_the_names_that_clients_send_are_listed(connect: Connect) -> None:
    listed = {
        name: {m["name"] for m in (await connect(FakeDecider(), profile=name).get("/v1/models")).json()["models"]}
        for name in PROFILES
    }
    assert "diffusiongemma-local" in listed["jev-local"]
    assert "openjev-latest" in listed["openjev"]
    assert all("jev-latest" in names for names in listed.values())


def test_each_profile_listens_where_its_system_did() -> None:
    ports = {name: profile.port for name, profile in PROFILES.items()}
    assert ports == {None: 8080, "djev": 8011, "openjev": 8080, "jev-local": 8017, "vllm": 8000}
    with pytest.raises(ValueError, match="djev, openjev, jev-local, vllm"):
        profile_named("sglang")
