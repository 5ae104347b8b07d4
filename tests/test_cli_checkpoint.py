"""The commands with a DiffusionGemma folder: asked, checked before it is loaded, refused where it does not fit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from oneread.cli.loading import placed  # noqa: E402
from oneread.cli.options import BitsName  # noqa: E402

from .readers.gemma import NAME, write_checkpoint  # noqa: E402
from .test_cli import ONEREAD, call  # noqa: E402

SMALL = ("--device", "cpu", "--threads", "1", "--prefix-cache-gib", "0.01", "--pass-rows", "512")
HUGE = ("--device", "cpu", "--prefix-cache-gib", "100000")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    before = torch.get_num_threads()
    yield write_checkpoint(tmp_path_factory.mktemp("cli"))
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same in bfloat16."""
    return write_checkpoint(tmp_path_factory.mktemp("half"), bfloat16=True)


def test_a_folder_is_asked(folder: Path) -> None:
    got = call("ask", "it broke", "--noul", "Is it urgent?", "--reader", str(folder), *SMALL, "--json")
    assert got.exit_code == 0, got.stderr
    reply = json.loads(got.stdout)
    assert reply["model"] == NAME
    assert 0 <= reply["answers"]["Is it urgent?"]["noul"] <= 1


def test_doctor_checks_a_folder_before_and_after_loading(folder: Path) -> None:
    told = " ".join(call("doctor", "--port", "0", "--reader", str(folder), *SMALL).stdout.split())
    assert "device cpu" in told
    assert "images taken, by the checkpoint's image tower" in told
    assert "weights 0.0 + image tower 0.0 + prefix cache 0.0 + one pass" in told
    assert "GiB <=" in told
    assert f"reader {NAME}, whole by its files' headers, loaded in" in told
    assert "labels yes, no, 10 digits, and" in told


def test_twelve_bits_are_asked_for_by_flag_or_variable_and_what_they_rounded_is_told(
    half: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounded = "experts' weights in 12 bits: less than 0.01 % of them rounded, by at most 2^-22 of their row's largest"
    doctor = ("doctor", "--port", "0", "--reader", str(half), *SMALL)
    for bits, told in (((), False), (("--expert-bits", "16"), False), (("--expert-bits", "12"), True)):
        got = call(*doctor, *bits)
        assert got.exit_code == 0, got.stdout
        assert (f"rounded {rounded}" in " ".join(got.stdout.split())) is told
    got = call("ask", "it broke", "--noul", "Is it urgent?", "--reader", str(half), *SMALL, "--expert-bits", "12", "--json")
    assert got.exit_code == 0, got.stderr
    monkeypatch.setenv("ONEREAD_EXPERT_BITS", "12")
    assert rounded in " ".join(call(*doctor).stdout.split())
    assert rounded not in " ".join(call(*doctor, "--expert-bits", "16").stdout.split())
    got = call("doctor", "--port", "0")
    assert got.exit_code == 0, "as --pass-rows, it says nothing of a reader that is no checkpoint"
    assert "rounded" not in got.stdout


@pytest.mark.parametrize("command", ["doctor", "ask"])
def test_twelve_bits_for_weights_that_are_not_bfloat16_are_refused_by_name(folder: Path, command: str) -> None:
    own = {"doctor": ("--port", "0"), "ask": ("x", "--noul", "y")}[command]
    got = call(command, *own, "--reader", str(folder), *SMALL, "--expert-bits", "12")
    assert got.exit_code == 1
    told = " ".join((got.stdout + got.stderr).split())
    assert "12 bits for experts' weights need them in bfloat16" in told
    assert "this checkpoint has F32" in told
    assert ("Leave --expert-bits (ONEREAD_EXPERT_BITS) out" in told) is (command == "doctor")


@pytest.mark.parametrize("command", ["doctor", "ask", "serve"])
def test_another_number_of_bits_is_refused_with_those_that_are_taken(command: str) -> None:
    got = call(command, "--expert-bits", "8")
    assert got.exit_code == 2
    told = " ".join(got.stderr.replace("│", " ").split())
    assert "--expert-bits" in told
    assert "'8' is not one of '16', '12', '12+16'" in told


@pytest.mark.parametrize("command", ["doctor", "ask", "serve"])
def test_both_forms_are_refused_where_the_fused_kernels_do_not_run(half: Path, command: str) -> None:
    own = {"doctor": ("--port", "0"), "ask": ("x", "--noul", "y"), "serve": ("--port", "0")}[command]
    got = call(command, *own, "--reader", str(half), *SMALL, "--expert-bits", "12+16")
    assert got.exit_code == 1
    told = " ".join((got.stdout + got.stderr).replace("│", " ").split())
    assert "12 and 16 bits side by side are for the experts' fused kernels only: they need a CUDA device" in told
    assert ("Leave --expert-bits (ONEREAD_EXPERT_BITS) out" in told) is (command == "doctor")


def test_bits_of_experts_are_placed_by_their_name() -> None:
    names: list[Any] = [None, *BitsName]
    assert [placed(None, bits=name).expert_bits for name in names] == [None, 16, 12, "12+16"]


def test_where_only_twelve_bits_fit_doctor_says_so(half: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from oneread.engines.onepass import load
    from oneread.readers.checkpoint import survey

    fit = survey(half, placed("cpu", 0.01, 512)).fit
    enough = fit.needed - fit.spared

    def told(free: int, *bits: str) -> str:
        monkeypatch.setattr(load, "available_memory", lambda: free)
        return " ".join(call("doctor", "--port", "0", "--reader", str(half), *SMALL, *bits).stdout.split())

    assert (
        "→ Take --expert-bits 12, which needs 0.0 GiB less and fits (very slow on plain torch). Or take fewer --pass-rows"
        in told(enough)
    )
    assert "experts' weights in 12 bits" in told(enough, "--expert-bits", "12")
    assert "→ Take fewer --pass-rows" in told(enough - 1)


@pytest.mark.parametrize(
    ("free", "todo"),
    [
        (84, None),
        (60, "Take --expert-bits 16, which needs 34.0 GiB less and fits. Or take fewer --pass-rows"),
        (40, "Take --expert-bits 12, which needs 44.0 GiB less and fits. Or take fewer --pass-rows"),
        (39, "Take fewer --pass-rows"),
    ],
)
def test_where_both_forms_do_not_fit_doctor_names_the_one_that_does(free: int, todo: str | None) -> None:
    from oneread.cli.doctor import _survey
    from oneread.engines.onepass.fit import GIB, Fit
    from oneread.readers.checkpoint import Survey

    parts = (("text model", 50 * GIB), ("experts in 12 bits", 34 * GIB))
    known = Survey(
        "cuda", Fit(parts, free * GIB, False, spared=44 * GIB, doubled=34 * GIB), False, False, "plain torch: old card"
    )
    found = {finding.name: finding for finding in _survey(known)}
    assert found["kernels"].found == "plain torch: old card"
    told = found["fit"].todo
    assert told is None if todo is None else told is not None and told.startswith(todo)


@pytest.mark.parametrize("command", ["doctor", "ask", "serve"])
def test_what_does_not_fit_is_refused_with_the_arithmetic(folder: Path, command: str) -> None:
    own = {"doctor": (), "ask": ("x", "--noul", "y"), "serve": ()}[command]
    port = () if command == "ask" else ("--port", "0")
    got = call(command, *own, *port, "--reader", str(folder), *HUGE)
    assert got.exit_code == 1
    told = " ".join((got.stdout + got.stderr).split())
    assert "prefix cache 100000.0" in told
    assert "GiB >" in told
    assert "loaded in" not in told


def test_a_folder_is_served(half: Path) -> None:
    command = [*ONEREAD, "serve", "--port", "0", "--reader", str(half), *SMALL, "--expert-bits", "12"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = []
        while "curl" not in (line := process.stdout.readline()):
            assert line or process.poll() is None, process.stderr.read() if process.stderr else ""
            lines.append(line)
        url = line.split("http", 1)[1].split("/v1", 1)[0]
        model = httpx.get(f"http{url}/v1/models", timeout=30).json()["models"][0]
        body = {"state": "it broke", "questions": {"q": {"type": "noul", "instructions": "Is it urgent?"}}}
        reply = httpx.post(f"http{url}/v1/systemone", json=body, timeout=30).json()
        text = httpx.post(
            f"http{url}/v1/chat/completions", json={"messages": [{"role": "user", "content": "hi"}], "max_tokens": 4}
        )
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert reply["model"] == NAME
    assert "Experts' weights in 12 bits: less than 0.01 % of them rounded" in model["description"]
    assert "experts' weights in 12 bits: less than 0.01 % of them" in " ".join("".join(lines).replace("│", " ").split())
    assert text.json()["usage"]["completion_tokens"] <= 4


def test_a_folder_without_torch_is_refused_with_the_install_line(folder: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from oneread.cli import app\n"
        f"app(['ask', 'x', '--noul', 'y', '--reader', {str(folder)!r}])"
    )
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert got.returncode == 1
    assert "pip install 'oneread[torch]'" in got.stderr


def test_a_folder_is_not_tuned(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text("")
    got = call("tune", str(tmp_path / "cases.jsonl"), "--reader", str(folder), "--out", str(tmp_path / "new"))
    assert got.exit_code == 2
    assert "only encoders with a reader.json are tuned" in " ".join(got.stderr.split())
