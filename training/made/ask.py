"""Small helpers that turn a fact about a made state into questions with varied wording."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from oneread.questions import Choice, Content, Noul, Score

from ..corpus import Example

Label: TypeAlias = Sequence[tuple[str, str]]
"""Several (name, description) pairs for one meaning."""


def pick(rng: random.Random, *templates: str, **slots: str) -> str:
    return rng.choice(templates).format(**slots)


def choice(
    rng: random.Random,
    task: str,
    state: Content,
    instructions: Sequence[str],
    labels: Mapping[str, Label],
    gold: str,
    at_most: int = 9,
) -> Example:
    """A choice among some of the labels, gold among them, named and described in one of several ways."""
    others = [k for k in labels if k != gold]
    keys = [gold, *rng.sample(others, rng.randint(1, min(len(others), at_most - 1)))]
    rng.shuffle(keys)
    plain = rng.random() < 0.5  # the label's own key, or one of its other names
    pairs = {k: (k if plain else rng.choice(labels[k])[0], rng.choice(labels[k])[1]) for k in keys}
    described = rng.random() < 0.55
    options = {name: (text if described else None) for name, text in pairs.values()}
    if len(options) < len(keys):
        options = dict.fromkeys(keys)
        return Example(task, Choice(options, rng.choice([*instructions, None])), state, keys.index(gold))
    return Example(
        task, Choice(options, rng.choice([*instructions, None] if described else instructions)), state, keys.index(gold)
    )


def noul(
    rng: random.Random,
    task: str,
    state: Content,
    truth: bool,
    yes: Sequence[str],
    no: Sequence[str] = (),
    criteria: tuple[str, str] | None = None,
) -> Example:
    """A yes/no question; `no` are wordings whose answer is the other way round; `criteria` say when it is (yes, no)."""
    if no and rng.random() < 0.3:
        return Example(task, Noul(rng.choice(no)), state, int(truth))
    if criteria and rng.random() < 0.35:
        roll = rng.random()
        text = None if roll < 0.25 else rng.choice(yes)
        return Example(task, Noul(text, criteria[0], criteria[1] if roll < 0.7 else None), state, int(not truth))
    return Example(task, Noul(rng.choice(yes)), state, int(not truth))


def score(
    rng: random.Random, task: str, state: Content, level: int, instructions: Sequence[str], scales: Sequence[Sequence[str]]
) -> Example:
    """A score on one of several scales of the same length."""
    return Example(task, Score(list(rng.choice(scales)), rng.choice(instructions)), state, level)


def wrap(rng: random.Random, text: str, fields: Sequence[str] = ("message", "text", "body"), **more: str) -> Content:
    """The text as it is, or as a field of an object."""
    roll = rng.random()
    if roll < 0.6:
        return text
    value: dict[str, str] = {**more, rng.choice(fields): text} if rng.random() < 0.5 else {rng.choice(fields): text, **more}
    return value if roll < 0.9 else {rng.choice(["ticket", "event", "data"]): value}
