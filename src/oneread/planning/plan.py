"""The step-by-step planner: which rows answer a request, and which are still needed once some were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from ..errors import InvalidRequest, Issue, Loc
from .lengths import Lengths
from .windows import Span, groups, windows

MIN_STATE = 64
"""A row leaves at least this many tokens to a state that is as long."""

OVERLAP = 64
"""Neighbouring windows of a long state share at least this many tokens (less where the room is small)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row to read: some options of one question, in this order, over one window of the state.

    Attributes:
        question: the question's id.
        options: indices of its allowed answers.
        window: token span of the state, [start, stop).
    """

    question: str
    options: tuple[int, ...]
    window: Span


@dataclass(frozen=True, slots=True)
class Plan:
    """How a request is answered.

    Attributes:
        rows: the rows of each question, in the request's order.
    """

    rows: Mapping[str, tuple[Row, ...]]

    @property
    def row_count(self) -> int:
        return sum(len(rows) for rows in self.rows.values())


def make_plan(questions: Mapping[str, Lengths]) -> Plan:
    """Plan every question by itself: its rows do not depend on the other questions.

    Raises:
        InvalidRequest: instructions or an option that no row of the reader can hold; ``loc`` is
            ``("questions", id, "instructions")`` or ``("questions", id, "criteria", index)``.
    """
    issues: list[Issue] = []
    rows = {key: _question_rows(key, lengths, issues) for key, lengths in questions.items()}
    if issues:
        raise InvalidRequest(issues)
    return Plan(rows)


def next_rows(plan: Plan, scores: Mapping[Row, Sequence[float]]) -> tuple[Row, ...]:
    """The rows that can be read now and have not been; empty when the plan is done.

    Args:
        scores: the raw scores of each row read so far, in the order of its options.
    """
    return tuple(row for rows in plan.rows.values() for row in rows if row not in scores)


def _question_rows(key: str, lengths: Lengths, issues: list[Issue]) -> tuple[Row, ...]:
    limit = lengths.window // 2
    if lengths.frame > limit:
        issues.append(_too_long(("questions", key, "instructions"), "Instructions are", lengths.frame, limit))
        return ()
    longest = max(lengths.options)
    room = lengths.window - lengths.frame - min(lengths.state, MIN_STATE)
    if longest > room:
        loc = ("questions", key, "criteria", lengths.options.index(longest))
        issues.append(_too_long(loc, "This answer is", longest, room))
        return ()
    splits, spans = _layout(lengths)
    return tuple(Row(key, tuple(range(*split)), span) for split in splits for span in spans)


@lru_cache(maxsize=4096)
def _layout(lengths: Lengths) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The split of the options and of the state that reads the fewest tokens; on ties, the fewest splits."""
    ends = (0, *accumulate(lengths.options))
    best: tuple[int, tuple[Span, ...], tuple[Span, ...]] | None = None
    for count in range(1, len(lengths.options) + 1):
        if best is not None and count * lengths.frame >= best[0]:
            break
        splits = groups(len(lengths.options), count)
        room = lengths.window - lengths.frame - max(ends[b] - ends[a] for a, b in splits)
        if room < min(lengths.state, MIN_STATE):
            continue
        spans = windows(lengths.state, room, min(OVERLAP, room // 4))
        tokens = len(spans) * (count * lengths.frame + ends[-1]) + count * sum(b - a for a, b in spans)
        if best is None or tokens < best[0]:
            best = tokens, splits, spans
    assert best is not None, "one option to a row always fits"
    return best[1:]


def _too_long(loc: Loc, what: str, found: int, limit: int) -> Issue:
    message = f"{what} {found} tokens long with framing; this reader takes at most {limit}"
    return Issue(loc, message, "too_many_tokens", {"max_tokens": limit, "actual_tokens": found})
