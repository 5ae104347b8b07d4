"""The requests of two published articles on djev, OpenJev and jev-local, sent as their curl examples send them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from oneread import Decider

from .conftest import Live, running

JSON = {"content-type": "application/json"}
THREE = """{
  "model": "jev-latest",
  "state": {"ticket": "Everything is down and we have a demo at noon."},
  "questions": {
    "urgent": {"type": "noul", "instructions": "Does the customer need a reply within the hour?"},
    "team": {"type": "choice", "instructions": "Which team owns this?",
             "criteria": {"billing": null, "outage": "service down", "feature": null}},
    "tone": {"type": "score", "instructions": "How angry is the customer?",
             "criteria": ["calm", "annoyed", "furious"]}
  }}"""
TYPESAFE = """{"state":"Hi, I have been trying to connect Stripe for 3 days.","model":"jev-latest","questions":
  {"urgency":{"type":"noul","instructions":"Does this message express urgency?"}}}"""
SEEDED = """{
  "model": "jev-latest",
  "seed": 42,
  "samples": 1,
  "state": {"ticket": "Everything is down and we have a demo at noon. Fix it now."},
  "questions": {
    "urgent": {"type": "noul", "instructions": "Does the customer need a reply within the hour?"}
  }
}"""
PING = '{"model":"jev-latest","state":"ping","questions":{"ok":{"type":"noul","instructions":"Is this a ping?"}}}'
NEXT_STEP = """{
    "state": "pytest cannot collect tests: ModuleNotFoundError: No module named yaml",
    "questions": {
      "next_step": {
        "type": "choice",
        "instructions": "Which investigation best fits this failure?",
        "criteria": {
          "environment": "Inspect missing dependencies and the Python environment.",
          "assertion": "Inspect an assertion that compared the wrong values.",
          "network": "Inspect a remote request that timed out."
        }
      }
    }
  }"""
LOGIN = """{
  "model": "diffusiongemma-local",
  "state": {"test_result": "Login rejects every user with HTTP 500.", "workaround": "None known."},
  "questions": {
    "investigate": {"type": "noul", "instructions": "Does login fail for users?"},
    "next_file": {
      "type": "choice",
      "instructions": "Which supplied file should be inspected first?",
      "criteria": {
        "auth": "src/auth.py handles login requests.",
        "styles": "static/theme.css controls colors.",
        "other": "Neither file matches the problem."
      }
    },
    "severity": {
      "type": "score",
      "instructions": "How disruptive is the reported issue?",
      "criteria": [
        "Cosmetic issue; functionality works.",
        "A feature fails, with a working alternative.",
        "A feature is blocked without a known workaround."
      ]
    }
  }
}"""


@pytest.fixture(scope="module")
def djev(decider: Decider) -> Iterator[Live]:
    with running(decider, profile="djev") as live:
        yield live


@pytest.fixture(scope="module")
def local(decider: Decider) -> Iterator[Live]:
    with running(decider, profile="jev-local") as live:
        yield live


def post(live: Live, body: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{live.url}/v1/systemone", content=body, headers={**JSON, **headers}, timeout=60)


def test_three_types_at_once(live: Live, djev: Live) -> None:
    plain, packed = post(live, THREE).json(), post(djev, THREE).json()
    for reply in (plain, packed):
        assert reply["answers"]["team"]["choice"] in ("billing", "outage", "feature")
        assert list(reply["answers"]["tone"]["legend"].values()) == ["calm", "annoyed", "furious"]
    assert set(plain) == {"model", "answers", "usage"}
    assert {"steps", "stages", "chunks", "samples", "timing", "engine"} <= set(packed["diagnostics"])


def test_typesafes_own_quick_start(live: Live) -> None:
    reply = post(live, TYPESAFE, authorization="Bearer anything").json()
    assert set(reply["answers"]["urgency"]) == {"type", "noul"}


@pytest.mark.parametrize("server", ["live", "djev"])
def test_the_same_seed_gives_the_same_answer(server: str, request: pytest.FixtureRequest) -> None:
    subject: Live = request.getfixturevalue(server)
    assert post(subject, SEEDED).json()["answers"] == post(subject, SEEDED).json()["answers"]


def test_the_request_defaults_of_djev_are_taken(live: Live) -> None:
    body = json.loads(THREE) | {"samples": "auto", "auto_max": 4, "auto_threshold": 0.1, "steps": 1}
    assert post(live, json.dumps(body)).status_code == 200


@pytest.mark.parametrize(("server", "status"), [("live", 422), ("djev", 422)])
def test_a_photo_is_refused_by_name(server: str, status: int, request: pytest.FixtureRequest) -> None:
    subject: Live = request.getfixturevalue(server)
    body = {
        "model": "jev-latest",
        "state": {"note": "the photo is from the returns desk"},
        "questions": {"damaged": {"type": "noul", "instructions": "Is the item damaged?"}},
    }
    files = {"request": (None, json.dumps(body)), "photo": ("1234.jpg", b"\xff\xd8\xff\xe0", "image/jpeg")}
    got = httpx.post(f"{subject.url}/v1/systemone", files=files)
    assert got.status_code == status
    assert "Images need a reader that takes them" in got.text


def test_a_side_is_asked_for_only_where_there_is_a_wall(live: Live, djev: Live) -> None:
    questions = {
        "ahead": {
            "type": "choice",
            "instructions": "Judge only a 30 degree window at the center.",
            "criteria": {"all clear ahead": None, "danger: wall ahead": None},
        },
        "side": {
            "type": "choice",
            "instructions": "Which half of the frame is the obstacle in?",
            "criteria": {"left half": None, "right half": None},
            "ask_if": {"ahead": ["danger: wall ahead"]},
        },
    }
    for state in ("There is nothing in front of me, all clear ahead.", "Danger: there is a wall right ahead, to the left."):
        body = json.dumps({"state": state, "questions": questions})
        plain, packed = post(live, body).json(), post(djev, body).json()
        walled = plain["answers"]["ahead"]["choice"] == "danger: wall ahead"
        assert ("side" in plain["answers"]) is walled
        assert ("side" in plain.get("x_skipped", {})) is not walled
        assert list(packed["answers"]) == ["ahead", "side"]


def test_no_question_is_refused_with_the_place(live: Live, djev: Live) -> None:
    body = '{"model":"jev-latest","state":"x","questions":{}}'
    assert post(live, body).json()["detail"][0]["loc"] == ["body", "questions"]
    got = post(djev, body)
    assert got.status_code == 422
    assert got.json()["error"]["message"].startswith("questions: ")


def test_a_key_is_asked_for_where_there_is_one(decider: Decider) -> None:
    with running(decider, profile="djev", api_keys=("replace-me",)) as live:
        assert post(live, PING, authorization="Bearer replace-me").status_code == 200
        got = post(live, PING)
        assert got.status_code == 401
        assert got.json()["error"]["type"] == "authentication_error"
        assert httpx.get(f"{live.url}/health").status_code == 200


def test_eight_reads_at_once(live: Live) -> None:
    def ask(n: int) -> int:
        question = {"type": "noul", "instructions": "Is n even?"}
        body = {"model": "jev-latest", "state": {"n": n}, "questions": {"ok": question}, "samples": 1}
        return post(live, json.dumps(body)).status_code

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [200] * 8


def test_jev_locals_next_step(local: Live) -> None:
    reply = post(local, NEXT_STEP).json()
    assert reply["answers"]["next_step"]["choice"] in ("environment", "assertion", "network")
    assert {"prompt_tokens", "questions", "decoder_passes", "canvas_tokens", "total_ms"} <= set(reply["usage"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "independent", "seed": 0, "samples": 1},
        {"canvas_length": None, "projection": "labels"},
        {"seed": 0, "samples": 4},
        {"seed": 0, "samples": 1, "mode": "packed", "projection": "labels", "canvas_length": None},
    ],
)
def test_jev_locals_three_types_and_options(options: dict[str, Any], local: Live) -> None:
    reply = post(local, json.dumps({**json.loads(LOGIN), "options": options})).json()
    assert list(reply["answers"]) == ["investigate", "next_file", "severity"]
    assert reply["answers"]["next_file"]["choice"] in ("auth", "styles", "other")
    assert reply["usage"]["questions"] == 3


def test_jev_locals_failures_repeat_nothing(local: Live) -> None:
    question = {"q": {"type": "noul", "instructions": "Check"}}
    got = post(local, json.dumps({"model": "other", "state": "x", "questions": question}))
    assert (got.status_code, got.json()) == (400, {"detail": "Unknown model"})
    got = post(local, '{"secret":"PRIVATE"}')
    assert (got.status_code, got.json()["detail"]) == (422, "Invalid request")
    assert "PRIVATE" not in got.text


def test_health_and_models_answer(local: Live) -> None:
    assert httpx.get(f"{local.url}/health").json()["status"] == "ok"
    assert "diffusiongemma-local" in {model["name"] for model in httpx.get(f"{local.url}/v1/models").json()["models"]}
    assert httpx.get(f"{local.url}/openapi.json").status_code == 200


def test_a_raw_read_of_vllm_is_text_and_needs_a_reader_that_writes(live: Live) -> None:
    body = {
        "model": "dgemma",
        "messages": [
            {"role": "system", "content": "Answer a fixed set of questions... Reply with one line per question."},
            {"role": "user", "content": '{"ticket": "Since this morning the dashboard shows a blank page after login..."}'},
        ],
        "max_tokens": 17,
        "logprobs": True,
        "top_logprobs": 20,
        "vllm_xargs": {"diffusion_seed_canvas": [100, 45518, 107], "diffusion_max_steps": 1},
    }
    got = httpx.post(f"{live.url}/v1/chat/completions", json=body)
    assert got.status_code == 400
    assert got.json()["error"]["param"] == "logprobs"
