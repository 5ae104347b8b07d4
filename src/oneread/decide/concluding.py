"""What a question's reading comes to: its answer, and how it was read."""

from __future__ import annotations

from ..answers import Answer, ChoiceAnswer, NoulAnswer, QuestionDiagnostics, ScoreAnswer, expectation
from ..planning import RowForm
from ..questions import Choice, Noul, Question, Score
from .merging import Draws, entropy
from .progress import StageProgress


def answer_of(question: Question, probabilities: list[float], sure: float) -> Answer:
    """A typed answer, given its distribution and confidence."""
    match question:
        case Noul():
            return NoulAnswer(probabilities[0])
        case Choice(options):
            names = list(options)
            top = names[max(range(len(names)), key=probabilities.__getitem__)]
            return ChoiceAnswer(top, sure, dict(zip(names, probabilities, strict=True)))
        case Score(levels):
            return ScoreAnswer(expectation(probabilities), sure, tuple(levels), tuple(probabilities))


def told_of(
    key: str,
    stage: int,
    draws: Draws,
    mass: float | None,
    progress: StageProgress,
    form: RowForm,
    argmax_is_label: bool | None,
    thoughts: tuple[str, ...],
) -> QuestionDiagnostics:
    """How a question was read."""
    group = progress.group(key)
    return QuestionDiagnostics(
        stage=stage,
        probabilities=tuple(draws.mean.tolist()),
        entropy=entropy(draws.mean),
        label_mass=mass,
        draws=tuple(tuple(d) for d in draws.distributions.tolist()),
        stderr=draws.stderr,
        agreement=draws.agreement,
        orders=progress.orders_read(key),
        orders_agree=progress.orders_agree(key),
        entropies=tuple(entropy(d) for d in draws.distributions),
        extended=progress.extended(key),
        windows=len(group.spans),
        splits=len(group.splits),
        second_round=len(group.splits) > 1 and form.second_round,
        temperature=progress.temperature(key),
        argmax_is_label=argmax_is_label,
        thoughts=thoughts,
    )
