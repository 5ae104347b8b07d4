"""The rows that answer one stage of a request, and which of them are still needed once some were read."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from ..errors import InvalidRequest, Issue, Loc
from .lengths import Lengths, RowForm
from .orders import Order
from .windows import Span, groups, windows

MIN_STATE = 64
"""A row leaves at least this many tokens to a state that is as long."""

OVERLAP = 64
"""Neighbouring windows of a long state share at least this many tokens (less where the room is small)."""

STEP = 32
"""Where questions may share rows, windows of a long state are multiples of so many tokens: questions of like length cut alike."""

FINALISTS = 8
"""How many options of split rows are read together in the second round."""


@dataclass(frozen=True, slots=True)
class Part:
    """One question's place in a row: which of its options are read, in which order."""

    question: str
    options: Order


@dataclass(frozen=True, slots=True)
class Row:
    """One row to read.

    Attributes:
        parts: the questions that share it; one in independent mode.
        window: token span of the state, [start, stop).
        draw: which draw it belongs to; 0 is read in the request's own order.
        final: whether it is the second round among the best options of split rows.
    """

    parts: tuple[Part, ...]
    window: Span
    draw: int = 0
    final: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Questions that share rows, and how those rows are cut.

    Attributes:
        questions: ids; one in independent mode, unless questions of a row do not change one another's reading.
        splits: spans of the options of a single question; one span for all where they fit, always so when packed.
        spans: windows of the state.
    """

    questions: tuple[str, ...]
    splits: tuple[Span, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class StagePlan:
    """How one stage is read.

    Attributes:
        groups: in the request's order.
        options: how many each question has.
        second_round: as `RowForm.second_round`.
    """

    groups: tuple[Group, ...]
    options: Mapping[str, int]
    second_round: bool


class Progress(Protocol):
    """What has been read of a stage, as `next_rows` asks for it."""

    @property
    def done(self) -> Container[Row]: ...

    def draws(self, question: str) -> int:
        """How many draws the question wants, as far as is known: 1 until its first one is read, if that decides."""
        ...

    def order(self, question: str, draw: int) -> Order:
        """The order of the question's options in a draw."""
        ...

    def best(self, question: str, draw: int, rows: Sequence[Row], count: int) -> Order:
        """The options with the highest scores in these rows, which are all read."""
        ...


def plan_stage(
    questions: Mapping[str, Lengths], form: RowForm, state: int, packed: bool = False, alone: Container[str] = ()
) -> StagePlan:
    """Plan the questions of one stage about a state of so many tokens.

    In independent mode what is read of a question does not depend on the other questions: it has rows of its own or, where
    that changes nothing (`RowForm.together`), shares short rows with those that cut the state as it does. In packed mode
    questions share rows, in even chunks (the fewest, where the state fits one window). Those in `alone`, and those that no
    row can hold whole, get rows of their own.

    Raises:
        InvalidRequest: instructions or an option that no row of the reader can hold; ``loc`` is
            ``("questions", id, "instructions")`` or ``("questions", id, "criteria", index)``.
    """
    issues = [issue for key, lengths in questions.items() for issue in _faults(key, lengths, form, state)]
    if issues:
        raise InvalidRequest(issues)
    free = [key for key in questions if key not in alone]
    if form.together:
        chunks = _together(free, questions, form, form.longest if packed else form.together, state)
    elif packed:
        chunks = _chunks([key for key in free if _fits([questions[key]], form, state)], questions, form, state)
    else:
        chunks = []
    shared = {key: Group(chunk, ((0, 0),), spans) for chunk, spans in chunks for key in chunk}
    found = list(
        dict.fromkeys(
            shared[key] if key in shared else Group((key,), *_split(lengths, form, state)) for key, lengths in questions.items()
        )
    )
    return StagePlan(tuple(found), {key: len(q.options) for key, q in questions.items()}, form.second_round)


def next_rows(plan: StagePlan, progress: Progress) -> tuple[Row, ...]:
    """The rows that can be read now and have not been; empty when the stage is done."""
    needed: list[Row] = []
    for group in plan.groups:
        for draw in range(max(progress.draws(key) for key in group.questions)):
            rows = first_round(group, draw, plan, progress.order)
            needed += rows
            if plan.second_round and len(group.splits) > 1 and all(row in progress.done for row in rows):
                needed += final_round(group, draw, rows, progress)
    return tuple(row for row in dict.fromkeys(needed) if row not in progress.done)


def first_draw(plan: StagePlan) -> tuple[Row, ...]:
    """The rows of the first draw of every group, before any second round."""
    own = {key: tuple(range(n)) for key, n in plan.options.items()}
    return tuple(row for group in plan.groups for row in first_round(group, 0, plan, lambda key, _: own[key]))


def first_round(group: Group, draw: int, plan: StagePlan, order: Callable[[str, int], Order]) -> tuple[Row, ...]:
    """The rows of one draw of a group, before any second round."""
    if len(group.questions) > 1:
        parts = tuple(Part(key, order(key, draw)) for key in group.questions)
        return tuple(Row(parts, span, draw) for span in group.spans)
    (key,) = group.questions
    chosen = order(key, draw)
    splits = group.splits if len(group.splits) > 1 else ((0, plan.options[key]),)
    return tuple(Row((Part(key, chosen[a:b]),), span, draw) for a, b in splits for span in group.spans)


def final_round(group: Group, draw: int, rows: Sequence[Row], progress: Progress) -> tuple[Row, ...]:
    """The rows that read the best options of a split question together, once its first round is read."""
    (key,) = group.questions
    largest = max(b - a for a, b in group.splits)
    best = progress.best(key, draw, rows, min(FINALISTS, largest))
    return tuple(Row((Part(key, best),), span, draw, final=True) for span in group.spans)


def _least(state: int) -> int:
    return min(state, MIN_STATE)


def _fits(questions: Sequence[Lengths], form: RowForm, state: int) -> bool:
    if form.max_questions is not None and len(questions) > form.max_questions:
        return False
    if form.max_options is not None and any(len(q.options) > form.max_options for q in questions):
        return False
    return form.room([(q.frame, q.options) for q in questions]) >= _least(state)


def _faults(key: str, lengths: Lengths, form: RowForm, state: int) -> list[Issue]:
    limit = form.window // 2
    if lengths.frame + form.frame > limit:
        return [_too_long(("questions", key, "instructions"), "Instructions are", lengths.frame + form.frame, limit)]
    longest = max(lengths.options)
    room = form.window - form.frame - lengths.frame - _least(state)
    if longest > room:
        return [_too_long(("questions", key, "criteria", lengths.options.index(longest)), "This answer is", longest, room)]
    return []


@lru_cache(maxsize=4096)
def _split(lengths: Lengths, form: RowForm, state: int) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The split of one question's options and of the state that reads the fewest tokens; on ties, the fewest splits."""
    best: tuple[int, tuple[Span, ...], tuple[Span, ...]] | None = None
    n = len(lengths.options)
    for count in range(1, n + 1):
        if best is not None and count * (lengths.frame + form.frame) >= best[0]:
            break
        splits = groups(n, count)
        if form.max_options is not None and max(b - a for a, b in splits) > form.max_options:
            continue
        room = min(form.room([(lengths.frame, lengths.options[a:b])]) for a, b in splits)
        if room < _least(state):
            continue
        if form.together and state > room >= 2 * STEP:
            room -= room % STEP
        spans = windows(state, room, min(OVERLAP, room // 4))
        repeated = count * (form.frame + lengths.frame) + sum(lengths.options)
        tokens = len(spans) * repeated + count * sum(b - a for a, b in spans)
        if best is None or tokens < best[0]:
            best = tokens, splits, spans
    assert best is not None, "one option to a row always fits"
    return best[1:]


def _chunks(
    keys: Sequence[str], questions: Mapping[str, Lengths], form: RowForm, state: int
) -> list[tuple[tuple[str, ...], tuple[Span, ...]]]:
    """The fewest even runs of questions that fit their rows, each with its windows of the state."""
    for count in range(1, len(keys) + 1):
        chunks = [tuple(keys[a:b]) for a, b in groups(len(keys), count)]
        if all(_fits([questions[key] for key in chunk], form, state) for chunk in chunks):
            rooms = [form.room([(questions[key].frame, questions[key].options) for key in chunk]) for chunk in chunks]
            return [(chunk, windows(state, room, min(OVERLAP, room // 4))) for chunk, room in zip(chunks, rooms, strict=True)]
    return []


def _together(
    keys: Sequence[str], questions: Mapping[str, Lengths], whole: RowForm, most: int, state: int
) -> list[tuple[tuple[str, ...], tuple[Span, ...]]]:
    """Runs of questions that need no splits and cut the state alike, each as long as rows of `most` tokens allow."""
    form = replace(whole, longest=most)
    alike: dict[tuple[Span, ...], list[str]] = {}
    for key in keys:
        splits, spans = _split(questions[key], whole, state)
        if len(splits) == 1:
            alike.setdefault(spans, []).append(key)
    chunks = []
    for spans, members in alike.items():
        widest = max(b - a for a, b in spans)
        chunk: list[str] = []
        for key in members:
            if chunk and form.room([(questions[k].frame, questions[k].options) for k in (*chunk, key)]) < widest:
                chunks.append((tuple(chunk), spans))
                chunk = []
            chunk.append(key)
        chunks.append((tuple(chunk), spans))
    return chunks


def _too_long(loc: Loc, what: str, found: int, limit: int) -> Issue:
    message = f"{what} {found} tokens long with framing; this reader takes at most {limit}"
    return Issue(loc, message, "too_many_tokens", {"max_tokens": limit, "actual_tokens": found})
