"""Other ways to say the same case: every change keeps the label true. All randomness comes from the generator passed in."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from oneread.canvas.text import render
from oneread.questions import Choice, Content, Noul, Score

from .corpus import Example

MEANINGLESS = re.compile(r"^(\w|\d+|[A-Za-z]\d|option.?\d+|statement.?\d+|choice.?\d+|sentence.?\d+)$", re.I)
NONE = ("none_of_these", "none of the above", "something_else", "other", "no_match", "unknown")
LIKE_NONE = re.compile(r"none|other|unknown|neither|unclear|else|undetermined|not_", re.I)
PREFIXES = ("", "Task: ", "Question: ", "Please answer: ", "You are a classifier. ", "Read the input carefully. ", "Decide: ")
SUFFIXES = ("", " Use only what is stated.", " Pick the best option.", " Answer from the text alone.", " Be strict.")
FIELDS = ("text", "message", "content", "body", "input", "document", "description", "comment")
GRADED = "made:graded"
"""Policies whose instructions may speak of the order of the levels; they come in either order as made."""
RULED = (GRADED, "made:rule")
"""Policies: without their instructions nothing decides."""
FILLER = (
    "Sent from my phone",
    "-- \nKind regards",
    "This message and any attachments are confidential.",
    "Ref: {n}",
    "Ticket #{n}",
    "Received: {n} ms ago",
    "Page 1 of {d}",
    "Version 2.{d}",
    "id={n}",
    "Thread: {n}",
    "Please consider the environment before printing.",
    "Unsubscribe at any time in your settings.",
    "[image: logo]",
    "Timestamp: 2025-0{d}-1{d}T0{d}:12:4{d}Z",
    "---",
    "Channel: web",
    "Status: open",
)


def augment(e: Example, rng: random.Random, pool: Mapping[str, Content | None], strangers: list[str]) -> Example:
    """One random variant.

    Args:
        pool: every option name seen in the example's task, with a description where one was seen.
        strangers: option names of other tasks, for distractors that cannot be right.
    """
    match e.question:
        case Choice():
            e = _choice(e, rng, pool, strangers)
        case Noul():
            e = _noul(e, rng)
        case Score():
            fixed = e.task.startswith(GRADED) or any(re.match(r"\s*\d", render(x)) for x in e.question.levels)
            if rng.random() < 0.1 and not fixed:
                n = len(e.question.levels)
                e = e.with_question(Score(list(e.question.levels)[::-1], e.question.instructions), n - 1 - e.answer)
    return _instructions(_state(e, rng), rng)


def _choice(e: Example, rng: random.Random, pool: Mapping[str, Content | None], strangers: list[str]) -> Example:
    assert isinstance(e.question, Choice)
    items: list[tuple[str, Content | None]] = list(e.question.options.items())
    gold = items[e.answer]
    meaningful = not any(MEANINGLESS.match(k) for k, _ in items)
    if meaningful:
        if len(pool) >= 20 and rng.random() < 0.25:  # many options
            more = rng.sample(sorted(pool), min(len(pool), int(rng.triangular(4, 70, 8))))
            items += [(k, pool[k]) for k in more if k not in {x for x, _ in items}]
        if strangers and rng.random() < 0.08:
            items += [
                (k, None) for k in rng.sample(strangers, min(len(strangers), rng.randint(1, 4))) if k not in {x for x, _ in items}
            ]
        described = [k for k, d in items if d is not None]
        if described and rng.random() < 0.3:
            items = [(k, None) for k, _ in items]
            gold = (gold[0], None)
        elif rng.random() < 0.3:
            items = [(k, pool.get(k) if d is None else d) for k, d in items]
            gold = next(x for x in items if x[0] == gold[0])
        if not any(LIKE_NONE.search(k) for k, _ in items) and len(items) > 2 and rng.random() < 0.12:
            none = (rng.choice(NONE), None)
            if rng.random() < 0.5:
                items.remove(gold)
                gold = none
            items.append(none)
    rng.shuffle(items)
    answer = items.index(gold)
    roll = rng.random()
    if meaningful and roll < 0.12:  # names that say nothing; what they stand for is in the description
        style: Callable[[int], str] = rng.choice(
            [
                lambda i: chr(65 + i % 26) + (str(i // 26) if i > 25 else ""),
                lambda i: str(i + 1),
                lambda i: f"option_{i + 1}",
                lambda i: f"c{i}",
            ]
        )
        items = [
            (style(i), k.replace("_", " ") if d is None else f"{k.replace('_', ' ')}: {render(d)}")
            for i, (k, d) in enumerate(items)
        ]
    elif meaningful and roll < 0.22:
        change: Callable[[str], str] = rng.choice(
            [
                str.upper,
                str.title,
                lambda k: k.replace("_", "-"),
                lambda k: k.replace("_", " ").capitalize(),
                lambda k: k.replace("_", "."),
            ]
        )
        if len({change(k) for k, _ in items}) == len(items):
            items = [(change(k), d) for k, d in items]
    return e.with_question(Choice(dict(items), e.question.instructions), answer)


def _noul(e: Example, rng: random.Random) -> Example:
    q = e.question
    assert isinstance(q, Noul)
    roll = rng.random()
    if roll < 0.15 and q.yes is not None:
        return e.with_question(Noul(q.instructions))
    if roll < 0.19 and q.yes is not None and q.no is not None:
        return e.with_question(Noul(None, q.yes, q.no))
    if roll < 0.22 and q.yes is not None:
        return e.with_question(Noul(q.instructions, q.yes, None))
    text = render(q.instructions)
    if roll < 0.25 and q.yes is None and text:
        lead = rng.choice(
            [
                "Answer yes only if the answer to this is no: ",
                "Is the following false or answered with no? ",
                "Reverse the answer: ",
            ]
        )
        return e.with_question(Noul(lead + text), 1 - e.answer)
    if roll < 0.31 and q.yes is None:
        names = rng.choice([("yes", "no"), ("true", "false"), ("correct", "incorrect"), ("applies", "does_not_apply")])
        pairs = list(enumerate(names))
        rng.shuffle(pairs)
        return e.with_question(Choice({n: None for _, n in pairs}, q.instructions), [i for i, _ in pairs].index(e.answer))
    return e


def _state(e: Example, rng: random.Random) -> Example:
    state, roll = e.state, rng.random()
    if roll < 0.08:
        lines = [f.format(n=rng.randint(1000, 99999), d=rng.randint(1, 9)) for f in rng.sample(FILLER, rng.randint(1, 5))]
        if isinstance(state, str):
            before = rng.randint(0, len(lines))
            state = "\n".join([*lines[:before], state, *lines[before:]])
        elif isinstance(state, Mapping):
            state = {**state, rng.choice(["meta", "footer", "source", "note"]): rng.choice(lines)}
    elif roll < 0.16 and isinstance(state, str):
        state = {rng.choice(FIELDS): state}
        if rng.random() < 0.5:
            extra: dict[str, Any] = {
                "id": rng.randint(1, 99999),
                "lang": None,
                "created": f"2025-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
                "channel": rng.choice(["email", "chat", "web", "api"]),
            }
            state.update({k: extra[k] for k in rng.sample(list(extra), 2)})
    elif roll < 0.22:
        inner = state if isinstance(state, Mapping) else {rng.choice(FIELDS): state}
        state = {rng.choice(["record", "data", "item", "payload", "event"]): inner}
    elif roll < 0.25 and isinstance(state, Mapping):
        state = json.dumps(state, ensure_ascii=False)
    elif roll < 0.28 and isinstance(state, str):
        state = state.lower() if rng.random() < 0.7 else state.upper()
    return Example(e.task, e.question, state, e.answer)


def _instructions(e: Example, rng: random.Random) -> Example:
    q = e.question
    if not isinstance(q.instructions, str) or rng.random() > 0.15:
        return e
    roll = rng.random()
    text: Content | None = rng.choice(PREFIXES) + q.instructions + rng.choice(SUFFIXES)
    if roll < 0.1:
        text = {"instruction": q.instructions}
    elif (
        roll < 0.2 and isinstance(q, Choice) and not e.task.startswith(RULED) and not any(MEANINGLESS.match(k) for k in q.options)
    ):
        text = None
    match q:
        case Choice(options):
            return e.with_question(Choice(options, text))
        case Score(levels):
            return e.with_question(Score(levels, text))
        case Noul(_, yes, no):
            return e.with_question(Noul(text if text is not None else q.instructions, yes, no))
