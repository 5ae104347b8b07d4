"""Everything that goes wrong leaves a server that serves, and a well-formed reply for everybody who still listens."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from .server import Running, ask_many, body, checked, serve

KEY = "fault-key"
AUTH = {"authorization": f"Bearer {KEY}"}


def keys(*names: str) -> str:
    return "".join(f'[[key]]\nname = "{k}"\nsha256 = "{hashlib.sha256(k.encode()).hexdigest()}"\n' for k in names)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    directory = tmp_path_factory.mktemp("faults")
    (directory / "keys.toml").write_text(keys(KEY))
    flags = ["--keys-file", str(directory / "keys.toml"), "--pass-seconds", "3", "--timeout-ms", "30000"]
    with serve(directory, *flags, "--body-seconds", "2", "--header-seconds", "2") as running:
        yield running


@pytest.fixture(autouse=True)
def serves_afterwards(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "server" in request.fixturenames:
        running: Running = request.getfixturevalue("server")
        running.wait_ready()
        assert asyncio.run(ask_many(running.url, 4, 2, **AUTH)) == [200] * 4
        assert running.metric("oneread_requests_inside", **AUTH) == 0
        assert running.metric("oneread_queue_rows", **AUTH) == 0


async def during(running: Running, fault: signal.Signals, questions: int) -> list[int]:
    calls = asyncio.create_task(ask_many(running.url, 40, 7, questions, 300, **AUTH))
    await asyncio.sleep(0.5)
    os.kill(running.engine, fault)
    return await calls


def test_an_engine_killed_in_a_batch_costs_that_batch_only(server: Running) -> None:
    statuses = asyncio.run(during(server, signal.SIGKILL, 10))
    assert set(statuses) <= {200, 503, 529}  # 529 where so slow a machine has no place for more
    assert 200 in statuses
    assert server.metric("oneread_engine_restarts", **AUTH) >= 1


def test_an_engine_that_hangs_is_replaced(server: Running) -> None:
    before = server.metric("oneread_engine_restarts", **AUTH)
    statuses = asyncio.run(during(server, signal.SIGSTOP, 8))
    assert set(statuses) <= {200, 503, 529}  # 529 where so slow a machine has no place for more
    assert 200 in statuses
    assert server.metric("oneread_engine_restarts", **AUTH) == before + 1


def send(running: Running, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", running.port), timeout=30)
    connection.sendall(sent)
    return connection


def whole(questions: int, words: int = 0) -> bytes:
    content = json.dumps(body(questions, words)).encode()
    head = f"POST /v1/systemone HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(content)}\r\n\r\n".encode() + content


def test_a_storm_of_callers_who_leave_leaves_no_work_behind(server: Running) -> None:
    for i in range(60):
        connection = send(server, whole(60, 800))
        if i % 2:  # half of them with a reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    start = time.monotonic()
    assert asyncio.run(ask_many(server.url, 1, 1, **AUTH)) == [200]
    assert time.monotonic() - start < 20  # what those who left asked for would take longer


def test_half_closed_and_half_sent_connections_are_let_go(server: Running) -> None:
    left = [send(server, whole(2)[:-10]), send(server, b"POST /v1/sys"), send(server, b"")]
    half = send(server, whole(2))
    half.shutdown(socket.SHUT_WR)
    time.sleep(2.5)
    for connection in (*left, half):
        connection.settimeout(5)
        got = connection.recv(65536)
        assert not got or got.split()[1] in (b"408", b"200")
        connection.close()


def test_a_caller_who_reads_slowly_holds_up_nobody(server: Running) -> None:
    options = {f"option {i}": None for i in range(255)}
    asked = {"state": "x", "questions": {f"q{i}": {"type": "choice", "criteria": options} for i in range(3)}}
    content = json.dumps(asked).encode()
    head = whole(1).partition(b"content-length")[0] + f"content-length: {len(content)}\r\n\r\n".encode()
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    slow.connect(("127.0.0.1", server.port))
    slow.settimeout(30)
    slow.sendall(head + content)
    got = slow.recv(100)
    assert asyncio.run(ask_many(server.url, 4, 4, **AUTH)) == [200] * 4
    while b"usage" not in got:
        chunk = slow.recv(2000)
        assert chunk
        got += chunk
    slow.close()
    assert b" 200 OK" in got


async def test_keys_change_under_load_and_no_reply_is_lost(server: Running) -> None:
    file = server.log.parent / "keys.toml"
    old = asyncio.create_task(ask_many(server.url, 30, 4, **AUTH))
    await asyncio.sleep(0.3)
    file.write_text(keys(KEY, "second"))
    await asyncio.sleep(1.2)
    assert await ask_many(server.url, 3, 1, authorization="Bearer second") == [200] * 3
    file.write_text("[[key]\nbroken")
    await asyncio.sleep(1.2)
    assert await ask_many(server.url, 3, 1, authorization="Bearer second") == [200] * 3
    file.write_text(keys(KEY))
    await asyncio.sleep(1.2)
    assert await ask_many(server.url, 1, 1, authorization="Bearer second") == [401]
    assert set(await old) == {200}


async def test_a_flood_gets_answers_and_typed_refusals_and_probes_get_through(server: Running) -> None:
    flood = asyncio.create_task(ask_many(server.url, 60, 60, 40, **AUTH, **{"x-request-timeout-ms": "4000"}))
    await asyncio.sleep(1)
    async with httpx.AsyncClient(timeout=20) as client:
        assert (await client.get(f"{server.url}/health")).status_code == 200
        assert (await client.get(f"{server.url}/ready")).json()["status"] in ("ready", "full")
        alone = await client.post(f"{server.url}/v1/systemone", json=body(1), headers=AUTH)
    assert checked(alone) == 200  # one question is answered beside 2400
    statuses = await flood
    assert len(statuses) == 60
    assert set(statuses) <= {200, 504, 529}
    assert 529 in statuses


def test_sigterm_under_load_answers_what_was_admitted_and_ends_with_0(tmp_path: Path) -> None:
    async def stop(running: Running) -> list[int | None]:
        async def ask() -> int | None:
            try:
                async with httpx.AsyncClient(timeout=60) as client:
                    return checked(await client.post(f"{running.url}/v1/systemone", json=body(4)))
            except httpx.ConnectError:
                return None  # came after the door was shut

        calls = [asyncio.create_task(ask()) for _ in range(12)]
        await asyncio.sleep(0.7)
        running.process.send_signal(signal.SIGTERM)
        return [await call for call in calls]

    with serve(tmp_path, "--timeout-ms", "60000", "--shutdown-seconds", "20") as running:
        running.wait_ready()
        start = time.monotonic()
        statuses = asyncio.run(stop(running))
        assert running.process.wait(25) == 0
        assert time.monotonic() - start < 25
        assert set(statuses) <= {200, 503, None}
        assert 200 in statuses


def test_a_full_disk_costs_log_entries_and_nothing_else(tmp_path: Path) -> None:
    def small_disk() -> None:  # no file of the server's may grow beyond this
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    flags = ["--log-decisions", str(tmp_path / "decisions.sqlite"), "--log-inputs"]
    with serve(tmp_path, *flags, "--log-level", "warning", preexec_fn=small_disk) as running:
        running.wait_ready()
        assert set(asyncio.run(ask_many(running.url, 40, 8, 1))) == {200}
        text = httpx.get(f"{running.url}/metrics").text
        assert 'oneread_decisions_logged_total{outcome="failed"}' in text
        assert 'oneread_decisions_logged_total{outcome="written"}' in text
        assert running.metric("oneread_decisions_logged_total") == 40


async def test_the_wall_clock_may_jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from oneread import Decider
    from oneread.serving.app import create_app
    from oneread.serving.settings import LogChoice, Settings
    from tests.fakes import fake_reader

    now = time.time
    (tmp_path / "keys.toml").write_text(keys(KEY).replace("sha256", "requests_per_minute = 6\nsha256"))
    with Decider(fake_reader()) as decider:
        settings = Settings(keys_file=tmp_path / "keys.toml", log=LogChoice(tmp_path / "log.sqlite"))
        app = create_app(settings, decider)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client,
        ):
            for jump, status in [(0, 200), (86400, 200), (-86400, 200), (10**9, 200), (-(10**9), 200), (0, 200), (3600, 429)]:
                monkeypatch.setattr(time, "time", lambda jump=jump: now() + jump)
                assert checked(await client.post("/v1/systemone", json=body(), headers=AUTH)) == status
                assert (await client.get("/ready")).status_code == 200
