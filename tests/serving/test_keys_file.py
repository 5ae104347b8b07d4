"""Keys from a file: what it may hold, reloading, rates, models; the origin secret."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from oneread.serving import auth
from oneread.serving.auth import KeyRing, KeysFileError, read_keys

from .bad_bodies import NOUL, one
from .fakes import FakeDecider


def sha(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def entry(name: str, key: str, rest: str = "") -> str:
    return f'[[key]]\nname = "{name}"\nsha256 = "{sha(key)}"\n{rest}\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "keys.toml"
    file.write_text(entry("web", "key-one") + entry("batch", "key-two", 'requests_per_minute = 2\nmodels = ["jev-latest"]'))
    return file


@pytest.fixture(autouse=True)
def look_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "LOOK_AGAIN_S", 0.0)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def ask(client: httpx.AsyncClient, key: str, **fields: Any) -> httpx.Response:
    return await client.post("/v1/systemone", json={**one(NOUL), **fields}, headers=bearer(key))


async def test_keys_of_the_file_and_of_the_environment_open_the_door(connect: Any, decider: FakeDecider, file: Path) -> None:
    client = connect(decider, keys_file=file, api_keys=("key-env",))
    for key, status in [("key-one", 200), ("key-two", 200), ("key-env", 200), ("key-three", 401), (sha("key-one"), 401)]:
        assert (await ask(client, key)).status_code == status


async def test_a_changed_file_counts_at_once_and_a_broken_one_changes_nothing(
    connect: Any, decider: FakeDecider, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = connect(decider, keys_file=file)
    assert (await ask(client, "key-three")).status_code == 401
    file.write_text(entry("new", "key-three"))
    assert (await ask(client, "key-three")).status_code == 200
    assert (await ask(client, "key-one")).status_code == 401
    for broken in ("not toml [", "", '[[key]]\nname = "planted-secret"'):
        file.write_text(broken)
        assert (await ask(client, "key-three")).status_code == 200
        assert (await ask(client, "key-one")).status_code == 401
    file.unlink()
    assert (await ask(client, "key-three")).status_code == 200
    assert "the keys stay as they were" in caplog.text
    assert "planted-secret" not in caplog.text


async def test_a_key_is_held_to_its_rate_and_told_when_to_come_back(connect: Any, decider: FakeDecider, file: Path) -> None:
    client = connect(decider, keys_file=file)
    assert [(await ask(client, "key-two")).status_code for _ in range(3)] == [200, 200, 429]
    got = await ask(client, "key-two")
    assert got.json()["detail"]["error_type"] == "rate_limit_error"
    assert 29_000 < int(got.headers["retry-after-ms"]) <= 30_000
    assert got.headers["retry-after"] == "30"
    assert (await ask(client, "key-one")).status_code == 200
    os.utime(file, (1, 1))  # read again, nobody gets a fresh minute
    assert (await ask(client, "key-two")).status_code == 429


async def test_a_rate_fills_up_with_time(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(auth.time, "monotonic", lambda: now)
    caller = read_keys(file)[1]
    caller.spend()
    caller.spend()
    with pytest.raises(auth.Refused):
        caller.spend()
    now += 30
    caller.spend()
    with pytest.raises(auth.Refused):
        caller.spend()
    now += 3600
    caller.spend()
    caller.spend()
    with pytest.raises(auth.Refused):
        caller.spend()


async def test_a_key_asks_for_its_models_only(connect: Any, decider: FakeDecider, file: Path) -> None:
    client = connect(decider, keys_file=file)
    assert (await ask(client, "key-two", model="jev-latest")).status_code == 200
    got = await ask(client, "key-two", model="fake-1")
    assert (got.status_code, got.json()["detail"]["error_type"]) == (403, "permission_error")
    assert (await ask(client, "key-one", model="fake-1")).status_code == 200


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "at least one"),
        ("key = 3", "at least one"),
        ('keys = "a"\n' + entry("a", "k"), "only"),
        ('[[key]]\nname = "a"', "sha256 should be"),
        ('[[key]]\nname = "a"\nsha256 = "abc"', "sha256 should be"),
        ('[[key]]\nname = "a b"\nsha256 = "' + sha("k") + '"', "name should be"),
        (entry("a", "k", "requests_per_minute = 0"), "requests_per_minute"),
        (entry("a", "k", "requests_per_minute = true"), "requests_per_minute"),
        (entry("a", "k", 'models = "x"'), "models should be"),
        (entry("a", "k", "colour = 1"), "known are"),
        (entry("a", "k") + entry("b", "k"), "twice"),
        (entry("a", "k") + entry("a", "l"), "twice"),
    ],
)
def test_a_file_that_holds_something_else_is_refused_at_the_start(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(text)
    with pytest.raises(KeysFileError, match=what):
        KeyRing((), file)


def test_a_file_that_is_not_there_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(KeysFileError, match="No such file"):
        KeyRing((), tmp_path / "none.toml")


@pytest.mark.parametrize(("sent", "status"), [(None, 403), ("wrong", 403), ("s3cret", 200)])
async def test_only_what_the_proxy_stamped_is_answered(connect: Any, decider: FakeDecider, sent: str | None, status: int) -> None:
    client = connect(decider, origin_secret="s3cret")
    headers = {} if sent is None else {"x-origin-secret": sent}
    assert (await client.post("/v1/systemone", json=one(NOUL), headers=headers)).status_code == status
    assert (await client.get("/health")).status_code == 200


async def test_metrics_ask_for_a_key_where_there_are_keys(connect: Any, decider: FakeDecider) -> None:
    client = connect(decider, api_keys=("key-one",))
    assert (await client.get("/metrics")).status_code == 403
    assert (await client.get("/metrics", headers=bearer("key-one"))).status_code == 200
    assert (await connect(decider).get("/metrics")).status_code == 200
