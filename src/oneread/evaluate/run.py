"""Asks every case of a decider or a server, many at a time, and keeps what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..answers import Answer, Answers, ChoiceAnswer, NoulAnswer, ScoreAnswer
from ..controls import Controls
from ..errors import InvalidRequest, OnereadError
from ..questions import Choice, Question, Request
from .cases import Row
from .metrics import Floats
from .outcomes import Outcome


class Target(Protocol):
    """What is evaluated: a `Decider`, or a `Remote` server."""

    async def adecide(self, request: Request) -> Answers: ...


@dataclass(frozen=True, slots=True)
class Failed:
    """A row that got no answer: where it stands, and what kind of error (never its text, which may repeat the evidence)."""

    source: str
    cases: int
    error: str


async def ask_all(
    target: Target,
    rows: Sequence[Row],
    concurrency: int,
    advance: Callable[[], object] = lambda: None,
    controls: Controls | None = None,
) -> tuple[list[Outcome], list[Failed]]:
    """Ask every row, each as one request; outcomes in the order of rows.

    Args:
        concurrency: requests under way at a time.
        advance: called after each row.
        controls: how all rows are read; None for the defaults.
    """
    found: list[list[Outcome]] = [[] for _ in rows]
    failed: list[Failed] = []
    waiting = iter(enumerate(rows))

    async def work() -> None:
        for place, row in waiting:  # one iterator, shared: each worker takes the next row
            try:
                request = row.request if controls is None else replace(row.request, controls=controls)
                answers = (await target.adecide(request)).answers
                found[place] = [Outcome(case, distribution(answers[case.key], case.question)) for case in row.cases]
            except OnereadError as error:
                failed.append(Failed(row.source, len(row.cases), _kind(error)))
            advance()

    workers = [asyncio.create_task(work()) for _ in range(max(1, min(concurrency, len(rows))))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
    return [outcome for outcomes in found for outcome in outcomes], failed


def distribution(answer: Answer, question: Question) -> Floats:
    """The probabilities of an answer in the question's order; a noul's are yes, then no. Sums to 1."""
    match answer:
        case NoulAnswer(p):
            found = np.array([p, 1 - p])
        case ChoiceAnswer(probabilities=by_name) if isinstance(question, Choice):
            found = np.array([by_name[name] for name in question.options])
        case ScoreAnswer(probabilities=levels):
            found = np.array(levels)
        case _:
            raise TypeError("a choice was answered for another type")
    found = np.asarray(found, np.float64)
    normalised: Floats = found / found.sum()
    return normalised


def count(failed: Iterable[Failed]) -> dict[str, int]:
    """Cases that failed, by kind of error."""
    kinds: dict[str, int] = {}
    for failure in failed:
        kinds[failure.error] = kinds.get(failure.error, 0) + failure.cases
    return kinds


def _kind(error: OnereadError) -> str:
    return error.issues[0].type if isinstance(error, InvalidRequest) else getattr(error, "kind", type(error).__name__)
