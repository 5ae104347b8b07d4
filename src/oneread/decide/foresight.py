"""How many tokens a request may need in all, known before any is read.

Counted are all stages, draws, orders, windows, second rounds and thoughts. A friend of `Run`, whose own steps it takes with
pretended answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..answers import Answer, ChoiceAnswer, NoulAnswer, ScoreAnswer
from ..canvas.text import option_texts
from ..errors import InvalidRequest
from ..planning import Row, StagePlan, first_draw
from ..planning.orders import distinct_orders
from ..questions import Choice, Noul, Question, Score, question_type

if TYPE_CHECKING:
    from .run import Run

MOST_ORDERS = 32


def most_tokens(run: Run, stages: Sequence[tuple[str, ...]]) -> int:
    """The most tokens that a run which has not begun may read, and at most what its decider allows.

    Nothing is skipped, every draw that may be made is made, and earlier answers are the longest there are. 0 for a request
    that is read in a single round, whose first reads tell it all.
    """
    controls = run._request.controls
    in_turn = controls.sequential and controls.mode == "packed"
    run._answers = {key: _longest(question) for key, question in run._request.questions.items()}
    try:
        plans = [_plan(run, stage) for stage in stages]
        single = len(plans) == 1 and not in_turn and not run._setting.thought
        if single and all(_draws(run, group.questions) == 1 and len(group.splits) == 1 for group in plans[0].groups):
            return 0
        total = 0
        for stage, plan in zip(stages, plans, strict=True):
            if not in_turn:
                _plan(run, stage)  # the run lays rows of the questions that it planned last
                total += _stage(run, plan)
                continue
            before: tuple[str, ...] = ()
            for group in plan.groups:
                total += _stage(run, _plan(run, group.questions, before))
                before += group.questions
    finally:
        run._answers = {}
    return min(total, run._decider.max_tokens)


def _plan(run: Run, keys: Sequence[str], before: tuple[str, ...] = ()) -> StagePlan:
    try:
        return run._plan(keys, before)
    except InvalidRequest:
        # with the longest answers before them the questions fit no row; with others they may, and their turn will tell
        pretended, run._answers = run._answers, {}
        try:
            return run._plan(keys, ())
        finally:
            run._answers = pretended


def _stage(run: Run, plan: StagePlan) -> int:
    costs: dict[tuple[str, ...], list[int]] = {group.questions: [] for group in plan.groups}
    for row in first_draw(plan):
        costs[tuple(part.question for part in row.parts)].append(_cost(run, row))
    total = 0
    for group in plan.groups:
        own = costs[group.questions]
        last = len(group.spans) * max(own) if plan.second_round and len(group.splits) > 1 else 0
        total += _draws(run, group.questions) * (sum(own) + last)
    return total


def _cost(run: Run, row: Row) -> int:
    """Tokens of a row; where it is thought about first, those of its thought written and read as well."""
    read, thought, writer = run._lay(row).tokens, run._setting.thought, run._decider.reader.writer
    return read if not thought or writer is None else 2 * read + round(thought * (1 + writer.passes))


def _draws(run: Run, keys: Sequence[str]) -> int:
    c = run._request.controls
    samples, rotations = (c.auto_max if wanted == "auto" else int(wanted) for wanted in (c.samples, c.rotations))
    return max(_of(run, run._request.questions[key], samples, rotations) for key in keys)


def _of(run: Run, question: Question, samples: int, rotations: int) -> int:
    """As `StageProgress.draws`, once nothing is automatic any more."""
    distinct = min(distinct_orders(question_type(question), len(option_texts(question))), MOST_ORDERS)
    distinct = distinct if run._decider.reader.canvas.ordered else 1
    noise = run._decider.reader.engine.capabilities.noise
    return samples * min(rotations, distinct) if noise else min(max(samples, rotations), distinct)


def _longest(question: Question) -> Answer:
    texts = option_texts(question)
    longest = max(range(len(texts)), key=lambda index: len(texts[index]))
    match question:
        case Noul():
            return NoulAnswer(1.0 - longest)
        case Choice(options):
            name = list(options)[longest]
            return ChoiceAnswer(name, 1.0, {name: 1.0})
        case Score(levels):
            return ScoreAnswer(float(longest), 1.0, tuple(levels), tuple(float(i == longest) for i in range(len(levels))))
