"""The published conformance kit, as anyone would run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from .conftest import KEY, Live


def run(url: str, report: Path, *flags: str) -> dict[str, Any]:
    command = [
        sys.executable,
        "-c",
        "import sys; from jevcompat.cli import main; sys.exit(main())",
        "test",
        url,
        "--json",
        str(report),
    ]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, timeout=300, check=False)
    assert report.exists(), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(report.read_text())
    assert done.returncode == 0, done.stdout
    return found


def test_a_keyed_server_meets_every_requirement(keyed: Live, tmp_path: Path) -> None:
    report = run(keyed.url, tmp_path / "report.json", "--key", KEY)
    assert report["summary"]["verdict"] == "conformant"
    assert report["summary"]["MUST"] == {"passed": 32, "failed": 0, "skipped": 1, "tested": 32}
    assert report["summary"]["SHOULD"] == {"passed": 15, "failed": 0, "skipped": 0, "tested": 15}


def test_an_open_server_meets_every_requirement_that_applies(live: Live, tmp_path: Path) -> None:
    report = run(live.url, tmp_path / "report.json")
    assert report["summary"]["MUST"] == {"passed": 32, "failed": 0, "skipped": 1, "tested": 32}
    assert report["summary"]["SHOULD"] == {"passed": 13, "failed": 0, "skipped": 2, "tested": 13}
