# ruff: noqa: E501  (a table of texts, one a line)
"""Scores by a stated policy over numbers, flags and kinds: points, ladders of conditions, ranges, a base that is raised, exceptions.

The conditions stand in the instructions or in the levels; the levels are bare numbers, names or texts, from either end; the case
is a record, a text, or a record with a note. Task names start with ``made:graded``: their instructions may speak of the order
of levels, so `augment` leaves that order alone.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from oneread.questions import Choice, Content, Score

from ..corpus import Example
from .graded_cases import DOMAINS, Field, Kind, Number
from .graded_texts import (
    ADDS,
    BY_NUMBER,
    BY_RUBRIC,
    ENDINGS,
    HIGHEST_WINS,
    LOWEST,
    MANY,
    NAMES,
    PREFACES,
    RUNGS,
    STARTS,
    STRONGEST,
    STRONGEST_LAST,
    STRONGEST_REVERSED,
    TAKES,
)
from .spin import spin

Condition: TypeAlias = tuple[str, bool]
FIELDS = frozenset(f.name for _, _, row in DOMAINS.values() for f in row)


def _cap(text: str) -> str:
    """With a capital, unless it begins with the name of a field, which stays as it stands in the record."""
    named = re.match(r"(\w+) (?:is |[<>])", text)
    return text if named and named[1] in FIELDS else text[0].upper() + text[1:]


def _rising(names: Sequence[str]) -> bool:
    """Whether the names are numbers that rise with the level ("tier 0", "tier 1"); P3, P2, P1 and words are not."""
    found = [re.search(r"\d+$", n) for n in names]
    return all(found) and all(int(a[0]) < int(b[0]) for a, b in pairwise(m for m in found if m))


def _lines(rng: random.Random, lines: Sequence[str]) -> str:
    roll = rng.random()
    if roll < 0.3:
        return "\n" + "\n".join(f"- {_cap(t)}" for t in lines) + "\n"
    if roll < 0.45:
        return "\n" + "\n".join(f"{i + 1}. {_cap(t)}" for i, t in enumerate(lines)) + "\n"
    return " ".join(_cap(t) for t in lines)


def _told(rng: random.Random, kind: str, text: str) -> str:
    before = spin(rng, rng.choice(PREFACES).replace("{kind}", kind))
    return (before + text.replace("{kind}", kind).strip() + rng.choice(ENDINGS).replace("{kind}", kind)).strip()


def case(rng: random.Random) -> tuple[str, Content, list[tuple[Field, Any]], bool]:
    """What the case is called, its state, its fields with their values, and whether the state is a record alone."""
    domain = rng.choice(list(DOMAINS))
    kind, opening, fields = DOMAINS[domain]
    drawn = [(f, f.draw(rng)) for f in rng.sample(list(fields), rng.randint(4, len(fields)))]
    told = rng.random()
    in_record = drawn if told < 0.45 else [] if told < 0.8 else drawn[: len(drawn) // 2]
    in_text = [x for x in drawn if x not in in_record]
    sentences = [t for f, v in in_text if (t := f.tell(rng, v))]
    rng.shuffle(sentences)
    text = " ".join([spin(rng, opening), *sentences]) if rng.random() < 0.7 else " ".join(sentences) or spin(rng, opening)
    if not in_record:
        return kind, text if rng.random() < 0.75 else {rng.choice(("text", "body", "summary", "note")): text}, drawn, False
    camel = rng.random() < 0.15
    words = rng.random() < 0.15  # yes and no instead of true and false
    record: dict[str, Any] = {
        _camel(f.name) if camel else f.name: ("yes" if v else "no") if words and isinstance(v, bool) else v for f, v in in_record
    }
    if rng.random() < 0.3:
        record = {"id": rng.randint(100, 99999), **record}
    if rng.random() < 0.2:
        record[rng.choice(("created", "date"))] = f"2025-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    if in_text:
        record[rng.choice(("note", "comment", "description", "notes"))] = text
        return kind, record, drawn, False
    roll = rng.random()
    state: Content = record
    if roll < 0.15:
        state = json.dumps(record)
    elif roll < 0.3:
        state = {domain: record}
    elif roll < 0.42:
        state = "\n".join(f"{k}: {json.dumps(v) if isinstance(v, bool) else v}" for k, v in record.items())
    elif roll < 0.52 and len(record) > 4:  # half of it one level deeper
        keys = list(record)
        deep = set(rng.sample(keys, len(keys) // 2))
        state = {**{k: record[k] for k in keys if k not in deep}, "details": {k: record[k] for k in keys if k in deep}}
    return kind, state, drawn, not camel


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(w.title() for w in rest)


def _conditions(rng: random.Random, drawn: Sequence[tuple[Field, Any]], record: bool, n: int) -> list[Condition]:
    by_field = record and rng.random() < 0.3
    return [f.condition(rng, v, by_field) for f, v in rng.sample(list(drawn), n)]


def _joined(rng: random.Random, conditions: Sequence[Condition]) -> Condition:
    """One condition out of two: both, or one of them; in brackets where either has an "and" or "or" of its own."""
    (a, x), (b, y) = conditions
    if any(re.search(r" and | or (?!more\b)", t) for t in (a, b)):
        a, b = f"({a})", f"({b})"
    return rng.choice(
        ((f"{a} and {b}", x and y), (f"{a} or {b}", x or y), (f"both {a} and {b}", x and y), (f"{a}, or {b}", x or y))
    )


def graded(rng: random.Random) -> Iterator[Example]:
    """Two or three policies over one case."""
    kind, state, drawn, record = case(rng)
    for _ in range(rng.randint(2, 3)):
        roll = rng.random()
        if roll < 0.3:
            yield points(rng, kind, state, _conditions(rng, drawn, record, rng.randint(2, min(5, len(drawn)))))
        elif roll < 0.62:
            n = rng.randint(2, min(5, len(drawn)))
            single = _conditions(rng, drawn, record, n)
            if n > 3 and rng.random() < 0.6:
                single = [_joined(rng, single[:2]), *single[2:]]
            yield ladder(rng, kind, state, single)
        elif roll < 0.74:
            yield how_many(rng, kind, state, _conditions(rng, drawn, record, rng.randint(2, min(4, len(drawn)))))
        elif roll < 0.87 and any(isinstance(f, Number) for f, _ in drawn):
            yield ranges(rng, kind, state, *rng.choice([(f, v) for f, v in drawn if isinstance(f, Number)]))
        else:
            kinds = [(f, v) for f, v in drawn if isinstance(f, Kind)]
            others = [(f, v) for f, v in drawn if not isinstance(f, Kind)]
            conditions = _conditions(rng, others, record, rng.randint(1, min(3, len(others))))
            yield raised(rng, kind, state, *kinds[0], conditions) if kinds else points(rng, kind, state, conditions)


def _named(rng: random.Random, n: int) -> tuple[list[str], bool]:
    """Names of n levels from the lowest up, and whether they are numbers."""
    roll = rng.random()
    if n in NAMES and roll < 0.4:
        return list(rng.choice(NAMES[n])), False
    form = rng.choice(("{}", "{}", "{}", "level {}", "rating {}", "score {}", "Level {}"))
    return [form.format(i) for i in range(n)], True


def _ask(rng: random.Random, task: str, state: Content, kind: str, text: str, levels: Sequence[str], level: int) -> Example:
    """The score, a third of them listed from the highest level; now and then a choice among the levels."""
    told = _told(rng, kind, text)
    n = len(levels)
    if rng.random() < 0.06:
        order = rng.sample(range(n), n)
        return Example(task + "_choice", Choice({levels[i]: None for i in order}, told), state, order.index(level))
    if rng.random() < (0.1 if levels[0] == "0" else 0.3):
        return Example(task, Score(list(levels)[::-1], told), state, n - 1 - level)
    return Example(task, Score(list(levels), told), state, level)


def points(rng: random.Random, kind: str, state: Content, conditions: Sequence[Condition]) -> Example:
    """A sum with weights, deductions, a start, a cap and sometimes one condition that settles it alone."""
    settled: Condition | None = None
    if len(conditions) > 2 and rng.random() < 0.2:
        settled, conditions = conditions[0], conditions[1:]
    start = rng.choice((0, 0, 0, 1, 2))
    total, low, high, lines = start, start, start, []
    for text, holds in conditions:
        weight = rng.choice((1, 1, 1, 1, 2))
        down = rng.random() < 0.2
        lines.append(rng.choice(TAKES if down else ADDS).format(w=weight, c=text))
        step = -weight if down else weight
        total += step * holds
        low, high = low + min(0, step), high + max(0, step)
    top = min(high, rng.randint(2, 5)) if rng.random() < 0.35 and high > 2 else min(high, 6)
    top = max(top, 1)
    if high > top or rng.random() < 0.15:
        lines.append(
            rng.choice(
                (f"The final score is at most {top}.", f"Never more than {top} in total.", f"A sum above {top} counts as {top}.")
            )
        )
    if low < 0:
        lines.append(
            rng.choice(("The final score is never below 0.", "Not less than 0 in total.", "A negative sum counts as 0."))
        )
    level = max(0, min(total, top))
    if settled:
        fixed = rng.choice((0, top))
        lines.append(
            rng.choice(
                (
                    "But if {c}, the score is {f} in any case.",
                    "Exception: if {c}, it is always {f}.",
                    "Whatever else holds, it is {f} if {c}.",
                )
            ).format(c=settled[0], f=fixed)
        )
        level = fixed if settled[1] else level
    levels, numbers = _named(rng, top + 1)
    opening = rng.choice(STARTS).format(s=start, kind=kind) + " " if start or rng.random() < 0.6 else ""
    text = opening + _lines(rng, lines)
    if not numbers:
        text += " " + "; ".join(f"{i} = {name}" for i, name in enumerate(levels)) + "."
    return _ask(rng, "made:graded_points", state, kind, text, levels, level)


def how_many(rng: random.Random, kind: str, state: Content, conditions: Sequence[Condition]) -> Example:
    """A level by the number of conditions that hold; the levels say how many."""
    n = len(conditions)
    count = sum(h for _, h in conditions)
    listed = _lines(rng, [_cap(c) + "." for c, _ in conditions])
    if rng.random() < 0.5 and n > 2:  # two or more are one level
        levels = rng.choice(
            (
                ["none of them", "exactly one", "two or more"],
                ["no condition met", "one condition met", "at least two conditions met"],
                ["none holds", "only one holds", "several hold"],
            )
        )
        text = rng.choice(("How many of these hold for the {kind}? ", "Conditions: ", "Check the list. ")) + listed
        return _ask(rng, "made:graded_many", state, kind, text, levels, min(count, 2))
    if rng.random() < 0.4:
        names, _ = _named(rng, n + 1)
        rule = " ".join(f"{name} if {MANY[i] if i < n else 'all of them hold'}." for i, name in enumerate(names))
        return _ask(rng, "made:graded_many", state, kind, f"{listed} {rule}", names, count)
    words = ("none", "one", "two", "three", "four")
    form = rng.choice(("{} of the conditions", "{} of them", "{} met", "{}"))
    text = (
        rng.choice(("Count the conditions that hold. ", "How many are true? ", "Number of criteria that the {kind} meets: "))
        + listed
    )
    return _ask(rng, "made:graded_many", state, kind, text, [form.format(w) for w in words[: n + 1]], count)


def ladder(rng: random.Random, kind: str, state: Content, conditions: Sequence[Condition]) -> Example:
    """A condition for each level above the lowest; the highest that is met counts. It stands in the instructions or the levels."""
    n = len(conditions) + 1
    level = max((i + 1 for i, (_, h) in enumerate(conditions) if h), default=0)
    if rng.random() < 0.5:  # the rubric is in the levels
        name = rng.choice(("", "", "", "name"))
        names = _named(rng, n)[0] if name else None
        default = rng.choice(
            ("none of the other levels applies", "anything else", "no condition is met", "all other cases", "nothing of the kind")
        )
        texts = [_cap(t) if rng.random() < 0.9 else t for t in (default, *(c for c, _ in conditions))]
        levels = [f"{a}: {t}" for a, t in zip(names, texts, strict=True)] if names else texts
        back = rng.random() < 0.35
        # "highest" is plain only where the levels are told by their place alone or by a number that rises
        numbered = bool(names) and _rising(names or ())
        forward = (*STRONGEST, *BY_NUMBER) if numbered else STRONGEST_LAST if names else (*STRONGEST, *STRONGEST_LAST)
        win = rng.choice(STRONGEST_REVERSED if back else forward)
        told = _told(rng, kind, rng.choice(BY_RUBRIC).replace("{win}", win))
        if back:
            return Example("made:graded_rubric", Score(levels[::-1], told), state, n - 1 - level)
        return Example("made:graded_rubric", Score(levels, told), state, level)
    levels, _ = _named(rng, n)
    form = rng.choice(RUNGS)
    lines = [form.format(l=levels[i + 1], c=c) for i, (c, _) in enumerate(conditions)]
    roll = rng.random()
    if roll < 0.4:  # from the top, the first that matches
        lines = [*lines[::-1], rng.choice(LOWEST).format(l=levels[0])]
        text = rng.choice(("From the top, the first that matches counts. ", "Stop at the first rule that applies. ")) + _lines(
            rng, lines
        )
    else:
        if roll < 0.6:
            rng.shuffle(lines)
        # names that run from P4 to P1 or by colour have no highest but by their order
        win = (
            rng.choice(HIGHEST_WINS)
            if _rising(levels)
            else f"Order, lowest first: {', '.join(levels)}. {rng.choice(HIGHEST_WINS)}"
        )
        text = f"{_lines(rng, [*lines, rng.choice(LOWEST).format(l=levels[0])])} {win}"
    return _ask(rng, "made:graded_ladder", state, kind, text, levels, level)


def ranges(rng: random.Random, kind: str, state: Content, field: Number, value: int) -> Example:
    """Levels that are ranges of one number."""
    low, high = field.span
    inside = [x for x in (2, 3, 4, 5, 10, 15, 20, 30, 50, 60, 100, 200, 300, 500, 1000, 2000, 5000) if low < x < high]
    cuts = sorted(rng.sample(inside, min(len(inside), rng.randint(2, 5))))
    level = sum(value >= c for c in cuts)
    bounds = [f"{a} to {b - 1}" if b - 1 > a else f"{a}" for a, b in pairwise(cuts)]
    lowest, highest = rng.choice(
        (
            ("less than {}", "{} or more"),
            ("below {}", "at least {}"),
            ("under {}", "{} and above"),
            ("fewer than {}", "from {} up"),
        )
    )
    texts = [lowest.format(cuts[0]), *bounds, highest.format(cuts[-1])]
    what = field.name.replace("_", " ")
    if rng.random() < 0.55:
        unit = rng.random() < 0.4
        levels = [f"{what}: {t}" if unit else t for t in texts]
        return _ask(
            rng,
            "made:graded_range",
            state,
            kind,
            rng.choice(
                (
                    f"{_cap(what)}?",
                    f"Into which range does it fall: {what}?",
                    f"Grade the {{kind}} by {what}.",
                    f"Level by {what}.",
                )
            ),
            levels,
            level,
        )
    levels, _ = _named(rng, len(texts))
    lines = [f"{name}: {what} {t}." for name, t in zip(levels, texts, strict=True)]
    return _ask(rng, "made:graded_range", state, kind, f"Grade by {what}. {_lines(rng, lines)}", levels, level)


def raised(rng: random.Random, kind: str, state: Content, field: Kind, value: str, conditions: Sequence[Condition]) -> Example:
    """A base by one field, raised or lowered by others."""
    base = {v: rng.randint(0, 2) for v in field.values}
    total, lines = base[value], []
    for text, holds in conditions:
        down = rng.random() < 0.3
        total += (-1 if down else 1) * holds
        lines.append(
            rng.choice(("One level {d} if {c}.", "{c}: one level {d}.", "If {c}, go one level {d}.")).format(
                c=text, d="down" if down else "up"
            )
        )
    top = rng.choice((2, 3, 3, 4))
    levels, numbers = _named(rng, top + 1)
    name = field.name.replace("_", " ")
    start = (
        f"The base level depends on the {name}: " + ", ".join(f"{v} {levels[b] if numbers else b}" for v, b in base.items()) + "."
    )
    kept = rng.choice(
        (
            "Add up all steps first; only the result is kept between {a} and {b}.",
            "Steps up and down cancel out. What then lies outside of {a} to {b} counts as the nearer end.",
            "The order of the steps does not matter: the sum counts, and never less than {a} or more than {b}.",
        )
    )
    text = f"{start} {_lines(rng, lines)} {kept.format(a=levels[0], b=levels[-1])}"
    if not numbers:
        text += " " + ", ".join(f"{i} is {x}" for i, x in enumerate(levels)) + "."
    return _ask(rng, "made:graded_base", state, kind, text, levels, max(0, min(total, top)))
