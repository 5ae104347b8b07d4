"""The command line: what each command prints, how it fails, and that docs/cli.md says what --help says."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from oneread.calibration.profile import Profile
from oneread.calibration.temperature import Temperatures
from oneread.cli import app
from oneread.cli.table import answers_table
from oneread.version import __version__

DOCS = Path(__file__).parents[1] / "docs" / "cli.md"
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
ONEREAD = [sys.executable, "-c", "from oneread.cli import app; app()"]
KEY = "cli-key"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("ONEREAD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")


def call(*args: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(app, args, input=stdin)


def flags(command: Any) -> dict[str, tuple[str | None, str]]:
    """Flag -> (variable, default as docs write it)."""
    return {
        option.opts[-1]: (option.envvar, "" if option.default is None or option.default is False else str(option.default))
        for option in command.params
        if option.opts[-1].startswith("--") and option.name != "help"
    }


def section(command: str) -> str:
    return re.search(rf"^## oneread {command}$(.*?)(?=^## |\Z)", DOCS.read_text(encoding="utf-8"), re.M | re.S)[1]  # type: ignore[index]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_docs_list_exactly_the_flags_of_help(name: str) -> None:
    rows = re.findall(r"^\| `(--[\w-]+)` \| (?:`(\w+)`)? ?\| (?:`([^`]*)`)? ?\|", section(name), re.M)
    documented = {flag: (variable or None, default) for flag, variable, default in rows}
    assert documented == flags(COMMANDS[name])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_an_example_and_every_flag(name: str) -> None:
    shown = call(name, "--help")
    assert shown.exit_code == 0
    assert f"oneread {name}" in shown.stdout.split("Example:")[1]
    for flag, (variable, _) in flags(COMMANDS[name]).items():
        assert flag in shown.stdout
        assert variable is None or variable in shown.stdout


def test_every_flag_of_serve_has_a_variable() -> None:
    assert all(variable for variable, _ in flags(COMMANDS["serve"]).values())
    assert "--api-key" not in flags(COMMANDS["serve"])
    assert "ONEREAD_API_KEY" in call("serve", "--help").stdout


def test_help_without_a_command_lists_them_with_an_example() -> None:
    shown = call("--help").stdout
    assert all(name in shown for name in ("serve", "ask", "doctor", "version"))
    assert "Example: oneread ask" in shown


def test_version() -> None:
    assert call("version").stdout.startswith(f"oneread {__version__} (Python 3.")


def test_ask_draws_a_table_and_prints_json(tmp_path: Path) -> None:
    case = tmp_path / "state.json"
    case.write_text('{"subject": "Everything is down", "plan": null}')
    questions = ["--noul", "Is it urgent?", "--choice", "Which team=mine?=billing, outage", "--score", "How angry?=calm,furious"]
    drawn = call("ask", f"@{case}", *questions)
    assert drawn.exit_code == 0, drawn.output
    assert all(text in drawn.stdout for text in ("Is it urgent?", "Which team=mine?", "billing", "1 furious", "█", "tokens read"))
    printed = call("ask", "-", *questions, "--json", stdin="Everything is down")
    reply = json.loads(printed.stdout)
    assert list(reply["answers"]) == ["Is it urgent?", "Which team=mine?", "How angry?"]
    assert list(reply["answers"]["Which team=mine?"]["probabilities"]) == ["billing", "outage"]


def test_the_table_shows_the_best_of_many_options_and_counts_the_rest() -> None:
    p = {f"option {i}": i / 45 for i in range(10)}
    reply = {
        "model": "m",
        "answers": {"q": {"type": "choice", "choice": "option 9", "confidence": 0.1, "probabilities": p}},
        "usage": {"input_tokens": 3, "output_tokens": 10},
    }
    bars = str(next(iter(answers_table({"q": {"type": "choice"}}, reply).columns[3].cells)))
    assert "option 9" in bars
    assert "option 2" in bars
    assert "option 1" not in bars
    assert bars.endswith("and 2 more")


WRONG_CALLS: list[tuple[list[str], str, str]] = [
    (["ask"], "There is no evidence.", "Give a text"),
    (["ask", "x"], "There is no question.", "Add --noul"),
    (["ask", "x", "--noul", "a", "--noul", "a"], "The same question stands there twice.", "--request"),
    (["ask", "x", "--choice", "a,b"], "--choice takes a question", 'Write --choice "'),
    (["ask", "x", "--score", "q=a,,b"], "--score takes a question", 'Write --score "'),
    (["ask", "x", "--choice", "q=a,a"], "--choice takes a question", 'Write --choice "'),
    (["ask", "x", "--choice", "q=a"], "At least 2 options are needed, found 1", "docs/api.md"),
    (["ask", "@nowhere.txt", "--noul", "q"], "nowhere.txt cannot be read: No such file or directory.", "Check the path"),
    (["ask", "--request", "nowhere.json"], "nowhere.json cannot be read", "Check the path"),
    (["ask", "x", "--request", "nowhere.json"], "--request holds the state and the questions already.", "Leave the state"),
    (["ask", "x", "--noul", "q", "--url", "ftp://x"], "ftp://x is not an http URL.", "Write --url http://127.0.0.1:8080"),
    (["ask", "x", "--noul", "q", "--url", "http://127.0.0.1:9"], "No answer from http://127.0.0.1:9", "oneread serve"),
    (["ask", "x", "--noul", "q", "--calibration", "/nowhere.json"], "/nowhere.json cannot be read", "oneread calibrate"),
    (["ask", "x", "--noul", "q", "--calibration", "p.json", "--url", "http://127.0.0.1:9"], "its own calibration", "Leave --cal"),
    (["ask", "x", "--noul", "q", "--reader", "/nowhere"], "/nowhere/reader.json cannot be read", "oneread doctor"),
    (["serve", "--reader", "/nowhere", "--port", "0"], "/nowhere/reader.json cannot be read", "oneread doctor"),
    (["serve", "--host", "no.such.host.invalid"], "The host 'no.such.host.invalid' is not known.", "Use --host 127.0.0.1"),
    (["serve", "--host", "192.0.2.1", "--port", "0"], "192.0.2.1 port 0 cannot be listened on", "--host"),
]


@pytest.mark.parametrize(("args", "what", "todo"), WRONG_CALLS, ids=[" ".join(args) for args, _, _ in WRONG_CALLS])
def test_a_wrong_call_gets_one_clear_line_and_what_to_do(args: list[str], what: str, todo: str) -> None:
    got = call(*args)
    assert got.exit_code in (1, 2)
    lines = got.stderr.strip().splitlines()
    assert len(lines) == 2, got.stderr
    assert lines[0].startswith("error")
    assert what in lines[0]
    assert todo in lines[1]
    assert not got.stdout


@pytest.mark.parametrize("flag", [["--port", "65536"], ["--port", "http"], ["--threads", "0"], ["--max-body-bytes", "1"]])
def test_a_flag_out_of_range_is_named(flag: list[str]) -> None:
    got = call("serve", *flag)
    assert got.exit_code == 2
    assert flag[0] in got.stderr
    assert "Traceback" not in got.stderr


@pytest.mark.parametrize("key", ["", "two words", "clé"])
def test_a_key_that_cannot_be_one_stops_the_server(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEREAD_API_KEY", key)
    got = call("serve", "--port", "0")
    assert got.exit_code == 2
    assert "ONEREAD_API_KEY is set but" in got.stderr
    assert not key or key not in got.stderr


@pytest.mark.parametrize(("text", "offset"), [("{", "at offset 1"), ('{"state": NaN}', "at offset 10")])
def test_a_request_file_that_is_not_json_is_named_with_the_place(tmp_path: Path, text: str, offset: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    got = call("ask", "--request", str(path))
    assert got.exit_code == 2
    assert offset in got.stderr


def test_doctor_finds_this_machine_sound_and_times_a_read() -> None:
    got = call("doctor", "--port", "0")
    assert got.exit_code == 0, got.output
    for name in ("python", "platform", "cores", "onnxruntime", "reader", "canary read", "port"):
        assert re.search(rf"^ok +{name} ", got.stdout, re.M), got.stdout
    assert "SHA-256" in got.stdout


def test_doctor_names_a_damaged_reader_and_a_taken_port(tmp_path: Path) -> None:
    embedded = Path(sys.modules["oneread"].__file__ or "").parent / "readers" / "embedded"
    for file in embedded.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = next(tmp_path.glob("*.safetensors"))
    data = bytearray(weights.read_bytes())
    data[len(data) // 2] ^= 1
    weights.write_bytes(data)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        got = call("doctor", "--reader", str(tmp_path), "--port", str(port))
    assert got.exit_code == 1
    assert re.search(r"^bad +reader ", got.stdout, re.M)
    assert "is damaged: its SHA-256" in " ".join(got.stdout.split())
    assert re.search(rf"^bad +port +Port {port} of 127.0.0.1 is taken", got.stdout, re.M)
    assert "Stop what listens there" in got.stdout
    assert "2 of " in got.stderr


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """A server started as its users start it: its URL, the text of its panel, its process."""
    environ = {**os.environ, "ONEREAD_API_KEY": KEY, "ONEREAD_PORT": "0", "COLUMNS": "120", "NO_COLOR": "1"}
    process = subprocess.Popen([*ONEREAD, "serve"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    panel = ""
    for line in process.stdout:
        panel += line
        if line.strip().startswith("curl"):
            break
    assert "curl" in panel, process.stderr.read() if process.stderr else ""
    yield re.search(r"http://127\.0\.0\.1:\d+", panel)[0], panel, process  # type: ignore[index]
    if process.poll() is None:
        process.kill()
    process.wait()


def test_the_panel_tells_what_is_served_where_and_to_whom(served: tuple[str, str, Any]) -> None:
    url, panel, _ = served
    assert f"{url}/docs" in panel
    assert "oneread-" in panel
    assert "asked of every caller of /v1" in panel
    assert KEY not in panel


@pytest.mark.skipif(sys.platform == "win32", reason="the line is for a POSIX shell")
def test_the_curl_line_of_the_panel_works(served: tuple[str, str, Any]) -> None:
    line = next(line.strip() for line in served[1].splitlines() if line.strip().startswith("curl"))
    body = re.search(r"-d '([^']*)'", line)[1]  # type: ignore[index]
    assert 'Authorization: Bearer $ONEREAD_API_KEY"' in line
    request = urllib.request.Request(
        re.search(r"http://\S+", line)[0],  # type: ignore[index]
        body.encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"},
    )
    with urllib.request.urlopen(request, timeout=60) as got:
        assert json.load(got)["answers"]["urgent"]["type"] == "noul"


def test_ask_answers_under_a_calibration(tmp_path: Path) -> None:
    from oneread.readers.manifest import read_manifest
    from oneread.readers.reader import EMBEDDED

    manifest = read_manifest(EMBEDDED)
    warm = Temperatures.parse({"noul": 50, "choice": 50, "score": 50})
    profile, other = tmp_path / "warm.json", tmp_path / "other.json"
    for path, digest in ((profile, manifest.digest), (other, "0" * 64)):
        Profile(path.stem, manifest.name, digest, warm).save(path)
    asked = ("ask", "The site is down!", "--noul", "Is this about a website?", "--json")
    plain, warmed = json.loads(call(*asked).stdout), json.loads(call(*asked, "--calibration", str(profile)).stdout)
    (p,), (q,) = ([answer["noul"] for answer in reply["answers"].values()] for reply in (plain, warmed))
    assert abs(q - 0.5) < abs(p - 0.5) / 4
    refused = call(*asked, "--calibration", str(other))
    assert refused.exit_code == 1
    assert "fitted" in refused.stderr


def test_ask_asks_a_running_server(served: tuple[str, str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEREAD_URL", served[0])
    refused = call("ask", "x", "--noul", "y")
    assert refused.exit_code == 1
    assert "The server answered 403" in refused.stderr
    assert "Set ONEREAD_API_KEY" in refused.stderr
    monkeypatch.setenv("ONEREAD_API_KEY", KEY)
    case = next((Path(__file__).parents[1] / "examples" / "cases").glob("01-*.json"))
    far = json.loads(call("ask", "--request", str(case), "--json").stdout)
    monkeypatch.delenv("ONEREAD_URL")
    near = json.loads(call("ask", "--request", str(case), "--json").stdout)
    assert far["model"] == near["model"]
    assert list(far["answers"]) == list(near["answers"])
    assert far["usage"] == near["usage"]
    told = call("ask", "x", "--noul", "y", "--url", served[0] + "/v1")
    assert "The server answered 404" in told.stderr
    assert "without /v1/systemone" in told.stderr


def test_a_taken_port_is_named(served: tuple[str, str, Any]) -> None:
    port = served[0].rpartition(":")[2]
    got = call("serve", "--port", port)
    assert got.exit_code == 1
    assert got.stderr.startswith(f"error Port {port} of 127.0.0.1 is taken.")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_server_ends_with_0(number: signal.Signals) -> None:
    process = subprocess.Popen([*ONEREAD, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while "curl" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(number)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 0, told
    assert "Traceback" not in told
