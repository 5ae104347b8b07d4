"""The rules of the house that a machine can check: imports point one way, the base install is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "oneread"

# What each room may import of the package; everything may import errors, and a room itself.
DOMAIN = {"questions", "answers", "controls"}
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "controls": set(),
    "questions": {"controls"},
    "answers": {"questions", "controls"},
    "engines": DOMAIN,
    "calibration": DOMAIN,
    "planning": DOMAIN,
    "canvas": DOMAIN | {"engines", "planning"},
    "readers": DOMAIN | {"engines", "canvas", "calibration", "version"},
    "decide": DOMAIN | {"engines", "canvas", "calibration", "planning", "readers"},
    "evaluate": DOMAIN | {"decide", "calibration"},
    "tuning": DOMAIN | {"decide", "engines", "canvas", "calibration", "planning", "readers", "evaluate"},
    "decision_log": DOMAIN | {"decide"},
    "serving": DOMAIN | {"decide", "decision_log", "engines", "readers", "calibration", "version"},
    "cli": DOMAIN | {"decide", "decision_log", "readers", "serving", "calibration", "evaluate", "tuning", "version"},
    "__init__": DOMAIN | {"decide", "version"},
}
THIRD_PARTY: dict[str, set[str]] = {
    "errors": set(),
    "questions": set(),
    "answers": set(),
    "controls": set(),
    "planning": set(),
    "decide": {"numpy"},
    "calibration": {"numpy"},
    "canvas": {"numpy", "tokenizers"},
}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[tuple[str, bool]]:
    """Every module imported anywhere in a file: (room or distribution, whether it is ours)."""
    package = ["oneread", *path.relative_to(SOURCE).parts[:-1]]
    found: set[tuple[str, bool]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [stem] if stem.count(".") or stem != "oneread" else [f"oneread.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            found.add((parts[1], True) if parts[0] == "oneread" and len(parts) > 1 else (parts[0], False))
    return found


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(path)
    ours = {name for name, own in imports(path) if own} - {"errors", room}
    assert ours <= ALLOWED[room], f"{room} may not import {sorted(ours - ALLOWED[room])}"


@pytest.mark.parametrize("path", [p for p in FILES if room_of(p) in THIRD_PARTY], ids=lambda p: str(p.relative_to(SOURCE)))
def test_inner_rooms_import_no_framework(path: Path) -> None:
    foreign = {name for name, own in imports(path) if not own} - set(sys.stdlib_module_names) - {"oneread"}
    assert foreign <= THIRD_PARTY[room_of(path)]


def test_engines_and_dialects_keep_apart() -> None:
    for path in FILES:
        names = {name for name, own in imports(path) if own}
        if room_of(path) == "engines":
            assert not names & DOMAIN, f"an engine never sees a question: {path.name}"
        if "dialects" in path.parts:
            assert not names & {"canvas", "engines", "planning"}, f"a dialect never touches tokens: {path.name}"


def test_the_embedded_reader_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules.update(torch=None, transformers=None, sklearn=None, matplotlib=None)\n"
        "import oneread, oneread.cli, oneread.serving.app\n"
        "from oneread import Decider, Noul\n"
        "with Decider() as d: print(round(d.ask('hello', {'q': Noul('Is this a greeting?')}).answers['q'].noul, 3))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert 0 <= float(result.stdout) <= 1
