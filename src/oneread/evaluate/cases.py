"""Labelled cases: a JSONL file, each line a state with one question or several, and the right answers.

One question: ``{"task", "group", "state", "type", "instructions", "criteria", "answer"}``, criteria as on the wire.
Several: ``{"task", "group", "state", "questions": {id: {type, instructions, criteria}}, "answers": {id: answer}}``.
An answer is true or false for a noul, an option's name for a choice, a level's index for a score. ``task`` and ``group``
may be left out. Other keys are not read.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..calibration.digests import case_digest, question_digest, state_digest
from ..controls import Content
from ..errors import InvalidRequest, OnereadError
from ..questions import Choice, Noul, Question, Request, Score, question_type, validate

SINGLE = "answer"
"""The id under which a line's only question is asked."""


class CasesError(OnereadError):
    """A file of cases cannot be used as it stands. Names the file and the line, never what stands there."""


@dataclass(frozen=True)
class Case:
    """A labelled question about a state.

    Attributes:
        source: file name and line, ``"tickets.jsonl:12"``.
        task: what it belongs to; the file's name when it does not say.
        group: a family of tasks, or the task.
        key: the question's id.
        gold: index of the right answer: 0 for yes and 1 for no, an option's or a level's index.
    """

    source: str
    task: str
    group: str
    key: str
    state: Content
    question: Question
    gold: int

    @property
    def type(self) -> str:
        return question_type(self.question)

    @cached_property
    def digest(self) -> str:
        """Of state and question."""
        return case_digest(self.state, self.question)

    @cached_property
    def question_digest(self) -> str:
        return question_digest(self.question)

    @cached_property
    def cluster(self) -> str:
        """Of the state: cases of one cluster are not independent."""
        return state_digest(self.state)


@dataclass(frozen=True, slots=True)
class Row:
    """The cases of one line: one state, asked in one request."""

    source: str
    state: Content
    cases: tuple[Case, ...]

    @property
    def request(self) -> Request:
        return Request(self.state, {case.key: case.question for case in self.cases})


def load_rows(paths: Iterable[Path]) -> list[Row]:
    """Every row of these files (``.jsonl``, ``.jsonl.gz``), or of the files in a directory.

    Raises:
        CasesError: a file is missing or empty, or a line is not a case.
    """
    rows: list[Row] = []
    for path in paths:
        files = sorted(p for p in path.iterdir() if p.name.endswith((".jsonl", ".jsonl.gz"))) if path.is_dir() else [path]
        if not files:
            raise CasesError(f"{path} holds no .jsonl or .jsonl.gz file")
        for file in files:
            rows += _load_file(file)
    if not rows:
        raise CasesError("No case was found")
    return rows


def cases_of(rows: Iterable[Row]) -> list[Case]:
    """The cases of all rows, in order."""
    return [case for row in rows for case in row.cases]


def parse_row(value: Any, source: str, task: str) -> Row:
    """One line's JSON value as a row.

    Raises:
        CasesError: saying what is missing or wrong.
    """
    if not isinstance(value, Mapping) or "state" not in value:
        raise CasesError(f"{source}: a line should be an object with a state")
    task = str(value.get("task") or task)
    group = str(value.get("group") or task)
    if "questions" in value:
        wires, answers = value["questions"], value.get("answers")
        if not isinstance(wires, Mapping) or not isinstance(answers, Mapping) or set(wires) != set(answers) or not wires:
            raise CasesError(f"{source}: questions and answers should be objects with the same ids")
    else:
        if SINGLE not in value:
            raise CasesError(f"{source}: answer is missing")
        wires, answers = {SINGLE: value}, {SINGLE: value[SINGLE]}
    cases: list[Case] = []
    for key, wire in wires.items():
        where = source if len(wires) == 1 else f"{source}: question {len(cases) + 1}"
        question = _question(wire, where)
        cases.append(Case(source, task, group, str(key), value["state"], question, _gold(question, answers[key], where)))
    row = Row(source, value["state"], tuple(cases))
    try:
        validate(row.request)
    except InvalidRequest as error:
        raise CasesError(f"{source}: {error.issues[0].message}") from None
    return row


def labels(question: Question) -> tuple[str, ...]:
    """The name of each allowed answer: yes and no, option names, level numbers."""
    match question:
        case Noul():
            return ("yes", "no")
        case Choice(options):
            return tuple(options)
        case Score(levels):
            return tuple(str(i) for i in range(len(levels)))


def sample(rows: Sequence[Row], at_most: int | None, seed: int) -> list[Row]:
    """At most this many rows, chosen by `seed`, in the file's order; all when None."""
    if at_most is None or at_most >= len(rows):
        return list(rows)
    import numpy as np

    chosen = np.random.default_rng(seed).choice(len(rows), at_most, replace=False)
    return [rows[i] for i in sorted(chosen.tolist())]


def _load_file(path: Path) -> Iterator[Row]:
    task = path.name.removesuffix(".gz").removesuffix(".jsonl")
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                source = f"{path.name}:{number}"
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    raise CasesError(f"{source}: not JSON") from None
                yield parse_row(value, source, task)
    except (OSError, EOFError) as error:
        raise CasesError(f"{path} cannot be read: {error if isinstance(error, EOFError) else error.strerror or error}") from None


def _question(wire: Any, where: str) -> Question:
    if not isinstance(wire, Mapping):
        raise CasesError(f"{where}: a question should be an object")
    instructions, criteria = wire.get("instructions"), wire.get("criteria")
    match wire.get("type"):
        case "noul" if criteria is None or isinstance(criteria, Mapping):
            sides = criteria or {}
            return Noul(instructions, sides.get("true"), sides.get("false"))
        case "choice" if isinstance(criteria, Mapping):
            return Choice(dict(criteria), instructions)
        case "score" if isinstance(criteria, list):
            return Score(criteria, instructions)
        case "noul" | "choice" | "score":
            raise CasesError(f"{where}: criteria should be an object (a list for a score)")
    raise CasesError(f"{where}: type should be noul, choice or score")


def _gold(question: Question, answer: Any, where: str) -> int:
    match question:
        case Noul() if isinstance(answer, bool):
            return 0 if answer else 1
        case Noul():
            raise CasesError(f"{where}: the answer to a noul should be true or false")
        case Choice(options) if isinstance(answer, str) and answer in options:
            return list(options).index(answer)
        case Choice():
            raise CasesError(f"{where}: the answer to a choice should be the name of one of its options")
        case Score(levels) if type(answer) is int and 0 <= answer < len(levels):
            return answer
        case Score(levels):
            raise CasesError(f"{where}: the answer to a score should be a level's index, 0 to {len(levels) - 1}")
