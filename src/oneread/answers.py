"""The domain's output: typed answers, and the formulas behind their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .questions import Content


@dataclass(frozen=True, slots=True)
class NoulAnswer:
    """``noul`` is P(yes), 0 to 1."""

    noul: float


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """The most probable option, the whole distribution (sums to 1, request order), and `choice_confidence` of it."""

    choice: str
    confidence: float
    probabilities: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ScoreAnswer:
    """The expected level (0 to levels - 1), the distribution over levels, `score_confidence`, and the levels as asked."""

    score: float
    confidence: float
    legend: tuple[Content, ...]
    probabilities: tuple[float, ...]


Answer: TypeAlias = NoulAnswer | ChoiceAnswer | ScoreAnswer


@dataclass(frozen=True, slots=True)
class Usage:
    """What answering took.

    Attributes:
        input_tokens: every token read, counted once for each row it stood in.
        output_tokens: open slots read (an encoder's option markers or a canvas's label slots); nothing is generated.
    """

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Answers:
    """The reply to a request: one answer under each question's id, in the request's order."""

    model: str
    answers: Mapping[str, Answer]
    usage: Usage


def choice_confidence(probabilities: Sequence[float]) -> float:
    """(max p - 1/n) / (1 - 1/n): 0 for a uniform distribution, 1 for a certain one.

    TypeSafe's formula for a choice, as its official adapter computes it. `probabilities` sum to 1; n = 1 gives 1.
    """
    n = len(probabilities)
    if n == 1:
        return 1.0
    return min(1.0, max(0.0, (max(probabilities) - 1 / n) / (1 - 1 / n)))


def score_confidence(probabilities: Sequence[float]) -> float:
    """1 - E|level - mode| / D, not below 0, with D the mean distance of the levels from their middle.

    D = (1/n) * sum |i - (n-1)/2|; the mode is the lowest level of highest probability. TypeSafe's formula for a
    score, as its official adapter computes it. `probabilities` sum to 1; n = 1 gives 1.
    """
    n = len(probabilities)
    if n == 1:
        return 1.0
    mode = max(range(n), key=lambda i: probabilities[i])
    spread = sum(p * abs(i - mode) for i, p in enumerate(probabilities))
    uniform = sum(abs(i - (n - 1) / 2) for i in range(n)) / n
    return min(1.0, max(0.0, 1 - spread / uniform))


def expectation(probabilities: Sequence[float]) -> float:
    """The expected level, sum of i * p_i, between 0 and n - 1."""
    return min(float(len(probabilities) - 1), max(0.0, sum(i * p for i, p in enumerate(probabilities))))
