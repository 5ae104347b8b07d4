"""Reads labelled cases: one JSON object a line, {task, group, state, type, instructions, criteria, answer}."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oneread.canvas.text import option_texts, render
from oneread.questions import Choice, Content, Noul, Question, Score, question_type

from .cases import CaseWriter


@dataclass(frozen=True)
class Example:
    """A labelled question about a state; `answer` is an index into its options (a noul's are yes, no)."""

    task: str
    question: Question
    state: Content
    answer: int

    def with_question(self, question: Question, answer: int | None = None) -> Example:
        return replace(self, question=question, answer=self.answer if answer is None else answer)

    def write(self, writer: CaseWriter, smoothing: float = 0.0) -> None:
        options = option_texts(self.question)
        head = render(self.question.instructions)
        writer.add(
            self.task, question_type(self.question), head, render(self.state), options, target_of(self, len(options), smoothing)
        )


def target_of(example: Example, n: int, smoothing: float) -> list[float]:
    """The target distribution: all on the answer; with `smoothing`, a share spread over the others. A score's share
    falls by half with each level of distance, since its neighbours are nearly right."""
    if smoothing == 0:
        return [float(i == example.answer) for i in range(n)]
    if isinstance(example.question, Score):
        share = [0.0 if i == example.answer else 0.5 ** abs(i - example.answer) for i in range(n)]
        spread = 3 * smoothing
    else:
        share = [float(i != example.answer) for i in range(n)]
        spread = smoothing
    total = sum(share)
    return [1 - spread if i == example.answer else spread * s / total for i, s in enumerate(share)]


def parse(record: Mapping[str, Any]) -> Example:
    """A record of a corpus file."""
    criteria, answer = record["criteria"], record["answer"]
    match record["type"]:
        case "noul":
            criteria = criteria or {}
            question: Question = Noul(record["instructions"], criteria.get("true"), criteria.get("false"))
            index = int(not answer)
        case "choice":
            question = Choice(criteria, record["instructions"])
            index = list(criteria).index(answer)
        case "score":
            question = Score(criteria, record["instructions"])
            index = int(answer)
        case other:
            raise ValueError(f"unknown question type {other!r}")
    return Example(record["task"], question, record["state"], index)


def read(path: Path) -> Iterator[Example]:
    """The examples of a .jsonl or .jsonl.gz file."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield parse(json.loads(line))
