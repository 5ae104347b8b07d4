"""Labelled cases for benchmarks: files of one JSON object a line, {task, type, state, instructions, criteria, answer}."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oneread.canvas.markers import MarkerCanvas
from oneread.engines.base import Read
from oneread.questions import Choice, Content, Noul, Question, Score


@dataclass(frozen=True)
class Case:
    """A labelled question about a state; `answer` is an index into its options (a noul's are yes, no)."""

    task: str
    kind: str
    question: Question
    state: Content
    answer: int


def load_cases(folder: Path, count: int, seed: int = 0) -> list[Case]:
    """A random sample, the same for the same folder and seed, spread evenly over the folder's files."""
    rng = random.Random(seed)
    paths = sorted(folder.glob("*.jsonl*"))
    if not paths:
        raise SystemExit(f"no .jsonl or .jsonl.gz file in {folder}")
    each = -(-count // len(paths))
    cases: list[Case] = []
    for path in paths:
        found = _read(path)
        cases += rng.sample(found, min(each, len(found)))
    rng.shuffle(cases)
    return cases[:count]


def row(canvas: MarkerCanvas, case: Case) -> Read | None:
    """The case as one row, its state cut to what fits; None when instructions and options alone fill half the window."""
    question, state = canvas.compile(case.question), canvas.encode_state(case.state)
    parts, window = [(question, range(len(question.options)))], canvas.form.window
    taken = len(canvas.row(parts, state[:0]).canvas)
    return canvas.row(parts, state[: window - taken]) if taken <= window // 2 else None


def _read(path: Path) -> list[Case]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [_case(json.loads(line)) for line in content.decode().split("\n") if line.strip()]


def _case(record: Mapping[str, Any]) -> Case:
    criteria, answer, instructions = record["criteria"], record["answer"], record["instructions"]
    question: Question
    match record["type"]:
        case "noul":
            criteria = criteria or {}
            question, index = Noul(instructions, criteria.get("true"), criteria.get("false")), int(not answer)
        case "choice":
            question, index = Choice(criteria, instructions), list(criteria).index(answer)
        case _:
            question, index = Score(criteria, instructions), int(answer)
    return Case(record["task"], record["type"], question, record["state"], index)
