# ruff: noqa: E501  (a table of texts, one a line)
"""Scores on scales whose levels say in words what they stand for: three to five levels, from either end, in the levels or the instructions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from oneread.questions import Choice, Content, Score

from ..corpus import Example
from .ask import wrap
from .rubric_texts import SCALES, Scale
from .spin import spin

LEADS = (
    "", "", "", "", "Use the rubric. ", "Grade the {kind} by the levels below. ", "Read the {kind} first, then compare it with each level. ", "Pick the level whose description fits best; do not average. ", "Only what is written counts, not what one may guess. ", "Two graders have to come to the same level, so keep to the wording. ",
)  # fmt: skip
FIELDS = ("text", "content", "note", "message", "entry")


def rubric(rng: random.Random) -> Iterator[Example]:
    """One scene, graded once or twice with other wordings of the scale."""
    scale = SCALES[rng.choice(list(SCALES))]
    level = rng.randrange(len(scale.levels))
    text = spin(rng, rng.choice(scale.levels[level][1]))
    state = wrap(
        rng,
        text[:1].upper() + text[1:] if scale.kind != "greeting and request" else text,
        FIELDS,
        source=rng.choice(("mail", "form", "chat", "export")),
    )
    for _ in range(rng.randint(1, 3)):
        yield _graded(rng, scale, state, level)


def kept(rng: random.Random, scale: Scale, level: int) -> list[int]:
    """The levels that are offered, the right one among them, in their order: some are left out."""
    others = [i for i in range(len(scale.levels)) if i != level]
    return sorted([level, *rng.sample(others, rng.randint(min(2, len(others)), len(others)))])


def _graded(rng: random.Random, scale: Scale, state: Content, level: int) -> Example:
    offered = kept(rng, scale, level)
    row = rng.choice((0, 1, 2, None))  # one style of wording, or mixed
    texts = [rng.choice(scale.levels[i][0]) if row is None else scale.levels[i][0][row] for i in offered]
    answer, n = offered.index(level), len(offered)
    ask = rng.choice(LEADS).replace("{kind}", scale.kind) + rng.choice(scale.asks)
    roll = rng.random()
    if roll < 0.2:  # the rubric is in the instructions, the levels are numbers or letters
        names = rng.choice(
            (
                [str(i) for i in range(n)],
                [f"level {i}" for i in range(n)],
                list("EDCBA")[5 - n :],
                [f"{i + 1} of {n}" for i in range(n)],
            )
        )
        ask += _explained(rng, names, texts)
        return Example("made:graded_scale", Score(names, ask), state, answer)
    if roll < 0.28:
        order = rng.sample(range(n), n)
        return Example("made:graded_scale_choice", Choice({texts[i]: None for i in order}, ask), state, order.index(answer))
    if rng.random() < 0.35:
        return Example("made:graded_scale", Score(texts[::-1], ask), state, n - 1 - answer)
    return Example("made:graded_scale", Score(texts, ask), state, answer)


def _explained(rng: random.Random, names: Sequence[str], texts: Sequence[str]) -> str:
    form = rng.choice((" {} = {};", "\n{}: {}", "\n- {} - {}", " {} means: {}."))
    return "".join(form.format(a, t) for a, t in zip(names, texts, strict=True)).rstrip(";")
