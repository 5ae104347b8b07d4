"""The domain's output: typed answers, and the formulas behind their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from .controls import AnswerValue, Confidence, Content


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
        output_tokens: open slots read (an encoder's option markers or a canvas's label slots), and tokens of thoughts.
        tokens_reused: of the input tokens, those whose keys and values came from a cache.
    """

    input_tokens: int
    output_tokens: int
    tokens_reused: int = 0


@dataclass(frozen=True, slots=True)
class Abstention:
    """An answer too uncertain to act on; its typed value is in the reply all the same.

    Attributes:
        formula: the name of the confidence that was compared.
        confidence: its value, below `threshold`.
    """

    formula: str
    confidence: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Skipped:
    """Why a question was not asked.

    Attributes:
        because: id of the question whose answer ruled it out.
        was: that answer; None when that question was skipped itself.
        wanted: the answers under which this question would have been asked.
    """

    because: str
    was: AnswerValue | None
    wanted: tuple[AnswerValue, ...]


@dataclass(frozen=True, slots=True)
class QuestionDiagnostics:
    """How one question was read.

    Attributes:
        stage: counted from 0.
        probabilities: the reported distribution, in the request's order of options (yes, no for a noul).
        entropy: of it, in nats over the allowed answers.
        label_mass: share of the full vocabulary's probability on the allowed labels, mean over draws; None for a reader
            without labels.
        draws: the distribution of every draw.
        stderr: standard error of the top answer's probability over draws; None for a single draw.
        agreement: share of draws with the reported top answer.
        orders: in how many orders the options were read.
        orders_agree: whether every order, by the mean of its draws, has the reported top answer; None for a single order.
        entropies: of every draw, in nats.
        extended: whether an uncertain first draw called for more.
        windows: windows of the state.
        splits: rows over which the options were spread.
        second_round: whether the best options of split rows were read together once more.
        temperature: that was applied.
        argmax_is_label: whether the most probable token of the whole vocabulary was an allowed label in every read; None
            unless ``projection="full"`` asked for it.
        thoughts: what was thought before the question was read, one text for each row that was read of it.
    """

    stage: int
    probabilities: tuple[float, ...]
    entropy: float
    label_mass: float | None
    draws: tuple[tuple[float, ...], ...]
    stderr: float | None
    agreement: float
    orders: int
    orders_agree: bool | None
    entropies: tuple[float, ...]
    extended: bool
    windows: int
    splits: int
    second_round: bool
    temperature: float
    argmax_is_label: bool | None = None
    thoughts: tuple[str, ...] = ()

    @property
    def first_entropy(self) -> float:
        """Of the first draw, in nats: what ``auto`` looks at."""
        return self.entropies[0]


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How a request was read.

    Attributes:
        questions: by id, of every question that was asked.
        stages: the ids of each stage.
        chunks: of each stage, the questions that shared rows.
        method: how answers are read off a row: ``"markers"`` or ``"labels"``.
        confidence: the name of the formula behind every confidence.
        calibration: the name of the profile applied; None for the reader's own temperatures.
        rows: rows read, over all stages and draws.
        widths: their distinct lengths in tokens, prompt and canvas together, the shortest first.
        tokens_reused: prompt tokens whose keys and values came from a cache.
        timing_ms: milliseconds of planning (``plan``), waiting and reading (``read``), and both (``total``).
    """

    questions: Mapping[str, QuestionDiagnostics]
    stages: tuple[tuple[str, ...], ...]
    chunks: tuple[tuple[tuple[str, ...], ...], ...]
    method: str
    confidence: str
    calibration: str | None
    rows: int
    widths: tuple[int, ...]
    tokens_reused: int
    timing_ms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Answers:
    """The reply to a request: one answer under each question's id, in the request's order.

    Attributes:
        model: the reader that answered.
        answers: of every question that was asked.
        skipped: the others, with the reason.
        abstained: questions whose answer fell below their `abstain_below`.
        diagnostics: None unless asked for.
    """

    model: str
    answers: Mapping[str, Answer]
    usage: Usage
    skipped: Mapping[str, Skipped] = field(default_factory=dict)
    abstained: Mapping[str, Abstention] = field(default_factory=dict)
    diagnostics: Diagnostics | None = None


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


def confidence(name: Confidence, kind: str, probabilities: Sequence[float], label_mass: float | None = None) -> float:
    """A distribution's confidence by the formula of this name.

    - ``typesafe``: `score_confidence` for a score, else `choice_confidence` (a noul as a choice of two).
    - ``top``: max p (djev).
    - ``margin``: p1 - p2, the two highest (jev-local).
    - ``entropy``: 1 - H / ln n (OpenJev).
    - ``mass``: max p * label mass (vLLM).

    Args:
        kind: the question's type.
        probabilities: sum to 1.
        label_mass: share of the vocabulary's probability on the allowed labels; needed by ``mass``.
    """
    ranked = sorted(probabilities, reverse=True)
    match name:
        case "typesafe":
            return score_confidence(probabilities) if kind == "score" else choice_confidence(probabilities)
        case "top":
            return ranked[0]
        case "margin":
            return ranked[0] - ranked[1]
        case "entropy":
            spread = -sum(p * math.log(p) for p in probabilities if p > 0) / math.log(len(probabilities))
            return min(1.0, max(0.0, 1 - spread))
        case "mass":
            if label_mass is None:
                raise ValueError("confidence 'mass' needs a label mass")
            return ranked[0] * label_mass
