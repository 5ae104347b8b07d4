"""A target whose probabilities are known, and cases about it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from oneread import Answers, ChoiceAnswer, Decider, InvalidRequest, Noul, NoulAnswer, Request, ScoreAnswer, Usage
from oneread.answers import expectation
from oneread.calibration.temperature import Temperatures, softmax
from oneread.evaluate.cases import Row, labels, parse_row
from oneread.questions import Content, Question
from oneread.readers.reader import Reader

from ..fakes import FakeEngine, word_canvas

SCALE = 1.7


def option_score(state: Content, name: str) -> float:
    """A score that hangs on the state and an answer's name alone, -SCALE to SCALE."""
    return (zlib.crc32(f"{state}|{name}".encode()) / 2**32 * 2 - 1) * SCALE


class FakeTarget:
    """Answers softmax of `score(state, name, place)`; states that hold "broken" are refused."""

    def __init__(
        self, score: Callable[[Content, str, int], float] = lambda state, name, place: option_score(state, name)
    ) -> None:
        self.score = score
        self.asked: list[Request] = []

    async def adecide(self, request: Request) -> Answers:
        self.asked.append(request)
        if "broken" in str(request.state):
            raise InvalidRequest.at(("state",), f"cannot read {request.state}", "too_many_tokens")
        return Answers("fake-1", {key: self.answer(request.state, q) for key, q in request.questions.items()}, Usage(1, 1))

    def answer(self, state: Content, question: Question) -> Any:
        names = labels(question)
        p = softmax(np.array([self.score(state, name, i) for i, name in enumerate(names)]), 1.0).tolist()
        if isinstance(question, Noul):
            return NoulAnswer(p[0])
        if names[0] == "0":
            return ScoreAnswer(expectation(p), 0.5, tuple(names), tuple(p))
        return ChoiceAnswer(names[int(np.argmax(p))], 0.5, dict(zip(names, p, strict=True)))


def rows_of(n: int, seed: int = 0, types: tuple[str, ...] = ("noul", "choice", "score"), temperature: float = 1.0) -> list[Row]:
    """Rows whose right answers are drawn from softmax(option_score / temperature)."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        kind = types[i % len(types)]
        state = f"secret state {seed} {i}"
        names = {"noul": ["yes", "no"], "choice": [f"o{k}" for k in range(2 + i % 7)], "score": ["0", "1", "2"]}[kind]
        criteria = {"noul": None, "choice": dict.fromkeys(names), "score": ["l", "m", "h"]}[kind]
        gold = int(rng.choice(len(names), p=softmax(np.array([option_score(state, x) for x in names]), temperature)))
        answer = {"noul": gold == 0, "choice": names[gold], "score": gold}[kind]
        value = {
            "task": f"{kind}_task",
            "state": state,
            "type": kind,
            "instructions": "q",
            "criteria": criteria,
            "answer": answer,
        }
        rows.append(parse_row(value, f"f.jsonl:{i + 1}", "f"))
    return rows


def fake_reader(score: Callable[[Any, int], float] | None = None) -> Any:
    own = Temperatures.parse({"noul": 1, "choice": 1, "score": 1})
    about = ("fake-1", "Answers as it is told.", "2026-11-29", "Apache-2.0", "ab" * 32)
    return Reader(*about, FakeEngine(score), word_canvas(), own)


def fake_decider() -> Decider:
    return Decider(fake_reader())
