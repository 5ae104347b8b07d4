"""The command line for operators: doors, keys, certificates, the log and its replay, top."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import re
import ssl
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from oneread.cli import app, starting
from oneread.serving.warmth import Step
from tests.faults.server import serve


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ONEREAD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")


def call(*args: str) -> Any:
    return CliRunner().invoke(app, args)


WRONG: list[tuple[list[str], str, str]] = [
    (["--host", "0.0.0.0"], "Without a key, whoever reaches 0.0.0.0 would be answered.", "--insecure"),
    (["--host", "::"], "Without a key, whoever reaches :: would be answered.", "--insecure"),
    (["--keys-file", "/nowhere.toml"], "/nowhere.toml cannot be read: No such file", "docs/operations.md"),
    (["--tls-cert", "a.pem"], "--tls-cert and --tls-key go together", "Give both"),
    (["--tls-cert", "a.pem", "--tls-key", "b.pem"], "cannot be used: No such file", "openssl x509"),
    (["--log-decisions", "/nowhere/log.sqlite"], "/nowhere/log.sqlite cannot be written", "--log-decisions"),
]


@pytest.mark.parametrize(("args", "what", "todo"), WRONG, ids=[" ".join(args) for args, _, _ in WRONG])
def test_a_wrong_way_to_serve_is_refused_before_it_serves(args: list[str], what: str, todo: str) -> None:
    got = call("serve", "--port", "0", *args)
    assert got.exit_code == 2
    lines = [line for line in got.stderr.splitlines() if line.strip()]
    assert any(what in line for line in lines), got.stderr
    assert todo in lines[-1]


def test_a_level_that_is_none_is_named() -> None:
    got = call("serve", "--log-level", "loud")
    assert got.exit_code == 2
    assert "--log-level" in got.stderr


def test_several_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    from oneread.serving.settings import api_keys

    assert api_keys({"ONEREAD_API_KEY": "a", "ONEREAD_API_KEYS": "b,c,a"}) == ("a", "b", "c")
    assert api_keys({}) == ()
    for wrong in ("", "a,,b", "a, b"):
        with pytest.raises(ValueError, match="ONEREAD_API_KEYS is set but"):
            api_keys({"ONEREAD_API_KEYS": wrong})


def test_a_server_on_a_lan_with_a_made_certificate_logs_replays_and_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, log = tmp_path / "keys.toml", tmp_path / "log.sqlite"
    keys.write_text(f'[[key]]\nname = "web"\nsha256 = "{hashlib.sha256(b"lan-key").hexdigest()}"\n')
    flags = ["--host", "0.0.0.0", "--keys-file", str(keys), "--tls-self-signed", "--in-process", "--log-decisions", str(log)]
    environ = {"XDG_STATE_HOME": str(tmp_path), "SSL_CERT_FILE": str(tmp_path / "oneread" / "tls" / "certificate.pem")}
    with serve(tmp_path, *flags, "--log-inputs", environ=environ) as running:
        context = ssl.create_default_context(cafile=environ["SSL_CERT_FILE"])
        body = {"state": "x", "questions": {"q": {"type": "noul", "instructions": "Is it?"}}}
        asked = urllib.request.Request(
            f"{running.url}/v1/systemone",
            json.dumps(body).encode(),
            {"content-type": "application/json", "authorization": "Bearer lan-key"},
        )
        with urllib.request.urlopen(asked, context=context, timeout=60) as got:
            assert json.load(got)["answers"]["q"]["type"] == "noul"
        monkeypatch.setenv("SSL_CERT_FILE", environ["SSL_CERT_FILE"])
        refused = call("top", "--url", running.url, "--once", "--every", "0.2")
        assert refused.exit_code == 1
        assert "answered 403" in refused.stderr
        monkeypatch.setenv("ONEREAD_API_KEY", "lan-key")
        seen = call("top", "--url", running.url, "--once", "--every", "0.2")
        assert seen.exit_code == 0, seen.output
        assert re.search(r"status 200 +\d", seen.stdout)
        assert "ready" in seen.stdout
    found = json.loads(call("replay", str(log), "--json").stdout)
    assert (found["decisions"], found["questions"], found["same_top"]) == (1, 1, 1)
    assert found["mean_total_variation"] < 1e-6
    told = call("replay", str(log))
    assert "1 of 1 questions keep their top answer" in told.stdout


@pytest.mark.parametrize("terminal", [False, True])
def test_a_start_is_shown_step_by_step(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=terminal, width=100, color_system=None)
    monkeypatch.setattr(starting, "err", console)
    steps = [None, *(Step("loading weights", done, 4) for done in range(4)), Step("warming up", 1, 4), Step("reading a canary")]

    async def start() -> None:
        left = iter(steps)
        now: list[Step | None] = []
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def step() -> Step | None:
            now.append(next(left, steps[-1]))
            if len(now) == len(steps):
                over.set_result(None)
            return now[-1]

        await starting.show_start(step, {over}, "text")

    monkeypatch.setattr(starting, "LOOK_S", 0.15)
    asyncio.run(start())
    if terminal:
        assert re.search("loading weights.*50%", shown.getvalue())
    else:
        assert shown.getvalue().splitlines() == ["loading weights", "warming up 25 %", "reading a canary"]


def test_replay_says_what_it_cannot_do(tmp_path: Path) -> None:
    got = call("replay", str(tmp_path / "none.sqlite"))
    assert got.exit_code == 1
    assert "is not there" in got.stderr
    (tmp_path / "text").write_text("hello " * 100)
    assert "cannot be used as a decision log" in call("replay", str(tmp_path / "text")).stderr


def test_top_says_when_nobody_answers() -> None:
    got = call("top", "--url", "http://127.0.0.1:9", "--once", "--every", "0.2")
    assert got.exit_code == 1
    assert "No answer from http://127.0.0.1:9" in got.stderr
    assert call("top", "--url", "ftp://x", "--once").exit_code == 2
