"""oneread eval and oneread calibrate, from files of cases to what they print and write."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from oneread import Choice
from oneread.calibration.profile import load_profile
from oneread.cli import app
from oneread.readers import reader as readers

from .fakes import fake_reader, rows_of


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "load_reader", lambda path=None, threads=None: fake_reader())
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return write(tmp_path / "cases.jsonl", 400, 0)


def write(path: Path, n: int, seed: int) -> Path:
    lines = []
    for row in rows_of(n, seed):
        case = row.cases[0]
        wire: dict[str, Any] = {
            "state": row.state,
            "type": case.type,
            "instructions": "q",
            "criteria": None,
            "answer": case.gold == 0,
        }
        if isinstance(case.question, Choice):
            names = list(case.question.options)
            wire |= {"criteria": dict.fromkeys(names), "answer": names[case.gold]}
        elif case.type == "score":
            wire |= {"criteria": ["l", "m", "h"], "answer": case.gold}
        lines.append(json.dumps(wire))
    path.write_text("\n".join(lines))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_eval_prints_a_table_and_writes_a_report(cases: Path, tmp_path: Path) -> None:
    result = run("eval", cases, "--out", tmp_path / "out", "--resamples", 20, "--limit", 60)
    assert result.exit_code == 0, result.output
    assert "accuracy" in result.output
    assert "secret" not in result.output
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["reader"] == "fake-1"
    assert report["calibration"] is None
    assert report["cases"] == 60
    assert {"reliability.png", "risk_coverage.png"} <= {p.name for p in (tmp_path / "out").iterdir()}


def test_numbers_come_without_matplotlib_which_is_named(cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("eval", cases, "--out", tmp_path / "out", "--resamples", 0, "--limit", 20, "--orders", 0)
    assert result.exit_code == 0
    assert "oneread[eval]" in result.output
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"report.json", "predictions.jsonl"}


def test_a_profile_is_fitted_applied_named_and_not_judged_on_its_own_cases(cases: Path, tmp_path: Path) -> None:
    profile = tmp_path / "p.json"
    made = run("calibrate", cases, "--out", profile, "--target-error", 0.2, "--abstain-cost", 0.3)
    assert made.exit_code == 0, made.output
    assert "covered" in made.output
    assert [(t.goal, t.value) for t in load_profile(profile).thresholds] == [("error", 0.2), ("cost", 0.3)]

    refused = run("eval", cases, "--calibration", profile)
    assert refused.exit_code == 1
    assert "cannot judge it" in refused.output
    allowed = run("eval", cases, "--calibration", profile, "--allow-fitted", "--resamples", 0, "--limit", 50)
    assert allowed.exit_code == 0
    assert "looks better than it is" in allowed.output

    other = write(tmp_path / "other.jsonl", 60, 5)
    fair = run("eval", other, "--calibration", profile, "--resamples", 0, "--out", tmp_path / "out")
    assert fair.exit_code == 0, fair.output
    assert json.loads((tmp_path / "out" / "report.json").read_text())["calibration"] == load_profile(profile).name


def test_a_rule_needs_no_cases(tmp_path: Path, cases: Path) -> None:
    assert run("calibrate", "--rule", "glm", "--out", tmp_path / "p.json").exit_code == 0
    assert "rule glm" in load_profile(tmp_path / "p.json").source
    assert run("calibrate", cases, "--rule", "glm", "--out", tmp_path / "p.json").exit_code == 2
    assert run("calibrate", "--out", tmp_path / "p.json").exit_code == 2
    unknown = run("calibrate", "--rule", "x", "--out", tmp_path / "p.json")
    assert unknown.exit_code == 2
    assert "glm, jev" in unknown.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval", "none.jsonl"], "cannot be read"),
        (["eval", "CASES", "--calibration", "none.json"], "cannot be read"),
        (["eval", "CASES", "--url", "http://h", "--reader", "."], "its own reader"),
        (["eval", "CASES", "--url", "ftp://h"], "http://"),
        (["calibrate", "CASES", "--out", "p.json", "--target-error", "1.5"], "between 0 and 1"),
        (["calibrate", "CASES", "--out", "p.json", "--limit", "20"], "at least 20"),
    ],
)
def test_faults_are_said_with_what_to_do(cases: Path, arguments: list[str], said: str) -> None:
    result = run(*[cases if a == "CASES" else a for a in arguments])
    assert result.exit_code != 0
    assert said in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["eval", "calibrate", "tune"])
def test_help_has_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    assert f"Example: oneread {command}" in text
    if command == "tune":
        assert "oneread[train]" in text
