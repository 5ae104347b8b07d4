"""Keys: who is let in, who is told what, and what stays open."""

from __future__ import annotations

from typing import Any

import pytest

from .bad_bodies import NOUL, one
from .fakes import FakeDecider

MISSING, WRONG = 403, 401

CASES = [
    (None, MISSING),
    ("", WRONG),
    ("Bearer", MISSING),
    ("Bearer ", MISSING),
    ("Bearer key-one", 200),
    ("bearer key-one", 200),
    ("BEARER  key-one ", 200),
    ("Bearer key-two", 200),
    ("Bearer key-on", WRONG),
    ("Bearer key-one2", WRONG),
    ("Bearer KEY-ONE", WRONG),
    ("Bearer key-one key-two", WRONG),
    ("Bearer key-one,key-two", WRONG),
    ("Basic a2V5LW9uZQ==", WRONG),
    ("key-one", WRONG),
    ("Bearer clé", WRONG),
    ("Bearer " + "k" * 5000, WRONG),
]


@pytest.mark.parametrize(("sent", "status"), CASES, ids=[str(sent)[:24] for sent, _ in CASES])
@pytest.mark.parametrize("path", ["/v1/systemone", "/v1/models"])
async def test_a_keyed_server_lets_in_only_its_keys(
    connect: Any, decider: FakeDecider, path: str, sent: str | None, status: int
) -> None:
    client = connect(decider, api_keys=("key-one", "key-two"))
    headers = {} if sent is None else {b"authorization": sent.encode("latin-1")}
    got = await (
        client.post(path, json=one(NOUL), headers=headers) if path.endswith("one") else client.get(path, headers=headers)
    )
    assert got.status_code == status
    if status != 200:
        assert got.json()["detail"]["error_type"] == "authentication_error"
        assert "key-" not in got.text
        assert not decider.asked
    if status == WRONG:
        assert got.headers["www-authenticate"] == "Bearer"


async def test_two_authorization_headers_are_refused(connect: Any, decider: FakeDecider) -> None:
    client = connect(decider, api_keys=("key-one",))
    headers = [("authorization", "Bearer key-one"), ("authorization", "Bearer x")]
    assert (await client.get("/v1/models", headers=headers)).status_code == WRONG


async def test_a_key_is_checked_before_the_body(connect: Any, decider: FakeDecider) -> None:
    client = connect(decider, api_keys=("key-one",))
    assert (await client.post("/v1/systemone", content=b"not json")).status_code == MISSING


async def test_a_server_without_keys_ignores_the_header(client: Any) -> None:
    assert (await client.post("/v1/systemone", json=one(NOUL), headers={"authorization": "Bearer whatever"})).status_code == 200


@pytest.mark.parametrize("path", ["/health", "/ready", "/docs", "/openapi.json"])
async def test_probes_and_documentation_are_open(connect: Any, decider: FakeDecider, path: str) -> None:
    assert (await connect(decider, api_keys=("key-one",)).get(path)).status_code == 200
