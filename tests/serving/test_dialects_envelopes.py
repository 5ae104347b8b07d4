"""OpenRouter's envelope and Fireworks' path."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from oneread import Decider, EngineError

from ..fakes import fake_reader
from .bad_bodies import NOUL, SECRET, one
from .conftest import Connect
from .fakes import FakeDecider

ROUTER, FIREWORKS = "/api/alpha/decisions", "/inference/v1/systemone"
OPENAI = "/v1/decisions"


@pytest.fixture
def client(connect: Connect) -> httpx.AsyncClient:
    return connect(Decider(fake_reader()))


async def test_openrouter_gets_its_envelope(client: httpx.AsyncClient) -> None:
    body = {
        "model": "typesafe/jev-1.13",
        "state": {"ticket": "down"},
        "questions": {"urgent": {"type": "noul", "instructions": "Reply within the hour?"}},
        "provider": {"order": ["typesafe"], "allow_fallbacks": True},
    }
    reply = (await client.post(ROUTER, json=body)).json()
    assert list(reply) == ["id", "provider", "model", "answers", "usage"]
    assert reply["id"].startswith("gen-")
    assert set(reply["usage"]) == {"input_tokens", "output_tokens", "cost"}
    plain = (await client.post("/v1/systemone", json={**body, "model": "jev-latest"})).json()
    assert reply["answers"] == plain["answers"]


@pytest.mark.parametrize("path", [FIREWORKS, OPENAI, "/decisions"])
async def test_a_map_of_questions_is_system_one_wherever_it_comes(path: str, client: httpx.AsyncClient) -> None:
    assert (await client.post(path, json=one(NOUL))).json() == (await client.post("/v1/systemone", json=one(NOUL))).json()


BAD = {"state": SECRET, "questions": {"q": {"type": "score", "criteria": ["low"]}}}
PLACE = ["body", "questions", "q", "score", "criteria"]


async def test_an_invalid_request_is_told_in_each_routes_own_shape(client: httpx.AsyncClient) -> None:
    router, fireworks, openai = [await client.post(path, json=BAD) for path in (ROUTER, FIREWORKS, OPENAI)]
    assert [got.status_code for got in (router, fireworks, openai)] == [400, 400, 400]
    error = router.json()["error"]
    assert error["code"] == 400
    assert error["message"] == "questions.q.score.criteria: At least 2 levels are needed, found 1"
    assert [issue["loc"] for issue in error["metadata"]["issues"]] == [PLACE]
    assert fireworks.json()["error"] == {"object": "error", **openai.json()["error"]}
    assert openai.json()["error"] == {
        "message": "questions.q.score.criteria: At least 2 levels are needed, found 1",
        "type": "invalid_request_error",
        "param": "questions.q.score.criteria",
        "code": "too_short",
    }
    assert SECRET not in router.text + fireworks.text + openai.text


# path -> statuses of: not JSON, unknown model, no key, wrong key, other method, engine failed, bug
STATUSES: dict[str, list[int]] = {
    ROUTER: [400, 400, 401, 401, 405, 503, 500],
    FIREWORKS: [400, 400, 401, 401, 405, 503, 500],
    OPENAI: [400, 404, 401, 401, 405, 503, 500],
    "/v1/chat/completions": [400, 404, 401, 401, 405, 503, 500],
    "/v1/systemone": [422, 400, 403, 401, 405, 503, 500],
}
CHAT: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": '{"questions": {"q": {"type": "noul", "instructions": "x"}}}'},
        {"role": "user", "content": "x"},
    ]
}


@pytest.mark.parametrize("path", STATUSES)
async def test_every_failure_has_the_routes_shape_and_status(path: str, connect: Connect) -> None:
    good = CHAT if "chat" in path else one(NOUL)
    keyed = connect(FakeDecider(), api_keys=("k",))
    got = [
        await connect(FakeDecider()).post(path, content=b"{", headers={"content-type": "application/json"}),
        await connect(FakeDecider()).post(path, json={**good, "model": SECRET}),
        await keyed.post(path, json=good),
        await keyed.post(path, json=good, headers={"authorization": "Bearer wrong"}),
        await connect(FakeDecider()).get(path),
        await connect(FakeDecider(fault=EngineError(SECRET))).post(path, json=good),
        await connect(FakeDecider(fault=RuntimeError(SECRET))).post(path, json=good),
    ]
    assert [reply.status_code for reply in got] == STATUSES[path]
    for reply in got:
        body = reply.json()
        assert SECRET not in reply.text
        assert reply.headers["x-request-id"].startswith("req_")
        if path == "/v1/systemone":
            assert set(body) == {"detail"}
        elif path == ROUTER:
            assert body["error"]["code"] == reply.status_code
            assert set(body["error"]) <= {"code", "message", "metadata"}
        else:
            assert set(body["error"]) - {"object"} == {"message", "type", "param", "code"}
