"""One request on its way from its stages to its answers."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..answers import (
    Abstention,
    Answer,
    Answers,
    ChoiceAnswer,
    Diagnostics,
    NoulAnswer,
    QuestionDiagnostics,
    ScoreAnswer,
    Skipped,
    Usage,
    confidence,
    expectation,
)
from ..canvas.text import context_text
from ..controls import Asking, Confidence
from ..engines.base import Read, Reading, Tokens
from ..errors import InvalidRequest, Issue
from ..planning import Row, StagePlan, next_rows, plan_stage, skip_reason, value_of
from ..questions import Choice, Noul, Question, Request, Score, question_type
from .merging import entropy
from .progress import StageProgress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..readers.reader import Reader
    from .decider import Decider

_PLAINLY = Asking()


class Run:
    """One request on its way: what was answered, skipped and read so far."""

    def __init__(self, decider: Decider, request: Request) -> None:
        self._decider, self._request = decider, request
        self._started = time.perf_counter()
        self._reading_s = 0.0
        self._confidence: Confidence = request.controls.confidence or decider.confidence
        _refuse_unsupported(request, self._confidence, decider.reader)
        self._state: Tokens = decider.reader.canvas.encode_state(request.state)
        self._answers: dict[str, Answer] = {}
        self._skipped: dict[str, Skipped] = {}
        self._abstained: dict[str, Abstention] = {}
        self._told: dict[str, QuestionDiagnostics] = {}
        self._stages: list[tuple[str, ...]] = []
        self._chunks: list[tuple[tuple[str, ...], ...]] = []
        self._rows = self._reused = 0
        self._input_tokens = self._output_tokens = 0
        self._widths: set[int] = set()

    def read_stage(self, number: int, stage: tuple[str, ...]) -> Generator[list[Read], list[Reading], None]:
        """Read one stage: its groups together, or in packed sequential mode one after the other."""
        request = self._request
        asked: list[str] = []
        for key in stage:
            reason = skip_reason(request.asking.get(key, _PLAINLY), self._answers, self._skipped)
            if reason is None:
                asked.append(key)
            else:
                self._skipped[key] = reason
        if not asked:
            return
        self._stages.append(tuple(asked))
        plan = self._plan(asked, ())
        self._chunks.append(tuple(group.questions for group in plan.groups))
        if not (request.controls.sequential and request.controls.mode == "packed"):
            yield from self._read(number, plan)
            return
        before: tuple[str, ...] = ()
        for group in plan.groups:
            yield from self._read(number, self._plan(group.questions, before))
            before += group.questions

    def _compile(self, key: str, before: tuple[str, ...]) -> Any:
        """The question with its context: shared instructions, then what it depends on and what was read before it."""
        request = self._request
        known = dict.fromkeys((*request.asking.get(key, _PLAINLY).needs, *before))
        given = [(request.questions[k], value_of(self._answers[k])) for k in known if k in self._answers]
        context = context_text(request.controls.instructions, given)
        return self._decider.reader.canvas.compile(request.questions[key], context)

    def _plan(self, keys: Sequence[str], before: tuple[str, ...]) -> StagePlan:
        canvas, request = self._decider.reader.canvas, self._request
        self._compiled = {key: self._compile(key, before) for key in keys}
        try:
            return plan_stage(
                {key: canvas.lengths(question) for key, question in self._compiled.items()},
                canvas.row_form,
                len(self._state),
                packed=request.controls.mode == "packed",
                alone=[key for key, asked in request.asking.items() if asked.alone],
            )
        except InvalidRequest as error:
            raise InvalidRequest([_addressed(issue, request.questions) for issue in error.issues]) from None

    def _read(self, number: int, plan: StagePlan) -> Generator[list[Read], list[Reading], None]:
        decider, request = self._decider, self._request
        reader = decider.reader
        questions = {key: request.questions[key] for key in plan.options}
        progress = StageProgress(
            questions, plan, request.controls, reader.canvas.ordered, reader.engine.capabilities.noise, decider.temperature
        )
        while rows := next_rows(plan, progress):
            reads = [self._lay(row) for row in rows]
            self._rows += len(rows)
            self._widths |= {read.tokens for read in reads}
            self._input_tokens += sum(read.tokens for read in reads)
            self._output_tokens += sum(len(read.slots) for read in reads)
            if self._input_tokens > decider.max_tokens:
                message = f"The request needs more than {decider.max_tokens} tokens to be read, over all rows"
                raise InvalidRequest.at((), message, "too_many_tokens", max_tokens=decider.max_tokens)
            sent = time.perf_counter()
            readings = yield reads
            self._reading_s += time.perf_counter() - sent
            for row, reading in zip(rows, readings, strict=True):
                progress.record(row, reading)
                self._reused += reading.tokens_reused
        for key in questions:
            self._conclude(number, key, progress)

    def _lay(self, row: Row) -> Read:
        parts = [(self._compiled[part.question], part.options) for part in row.parts]
        controls = self._request.controls
        state = self._state[slice(*row.window)]
        # A question that has a row to itself is read as it would be by itself, whatever the mode.
        return self._decider.reader.canvas.row(parts, state, len(parts) > 1, controls.seed, row.draw)

    def _conclude(self, number: int, key: str, progress: StageProgress) -> None:
        """The answer of one question whose rows are all read."""
        question = self._request.questions[key]
        kind = question_type(question)
        draws = progress.result(key)
        probabilities = draws.mean.tolist()
        mass = progress.label_mass(key)
        sure = confidence(self._confidence, kind, probabilities, mass)
        self._answers[key] = _answer(question, probabilities, sure)
        threshold = self._request.asking.get(key, _PLAINLY).abstain_below
        if threshold is not None and sure < threshold:
            self._abstained[key] = Abstention(self._confidence, sure, threshold)
        if self._wants_diagnostics:
            group = progress.group(key)
            self._told[key] = QuestionDiagnostics(
                stage=number,
                probabilities=tuple(probabilities),
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
                second_round=len(group.splits) > 1 and self._decider.reader.canvas.row_form.second_round,
                temperature=progress.temperature(key),
            )

    @property
    def _wants_diagnostics(self) -> bool:
        asked = self._request.controls.diagnostics
        return self._decider.diagnostics if asked is None else asked

    def answers(self) -> Answers:
        """The reply, once all stages are read."""
        decider, order = self._decider, self._request.questions
        total = time.perf_counter() - self._started
        diagnostics = None
        if self._wants_diagnostics:
            diagnostics = Diagnostics(
                questions={key: self._told[key] for key in order if key in self._told},
                stages=tuple(self._stages),
                chunks=tuple(self._chunks),
                method=f"{decider.reader.engine.capabilities.readout}s",
                confidence=self._confidence,
                calibration=None if decider.calibration is None else decider.calibration.name,
                rows=self._rows,
                widths=tuple(sorted(self._widths)),
                tokens_reused=self._reused,
                timing_ms={
                    "plan": 1000 * (total - self._reading_s),
                    "read": 1000 * self._reading_s,
                    "total": 1000 * total,
                },
            )
        return Answers(
            decider.reader.name,
            {key: self._answers[key] for key in order if key in self._answers},
            Usage(self._input_tokens, self._output_tokens, self._reused),
            {key: self._skipped[key] for key in order if key in self._skipped},
            {key: self._abstained[key] for key in order if key in self._abstained},
            diagnostics,
        )


def _answer(question: Question, probabilities: list[float], sure: float) -> Answer:
    match question:
        case Noul():
            return NoulAnswer(probabilities[0])
        case Choice(options):
            names = list(options)
            top = names[max(range(len(names)), key=probabilities.__getitem__)]
            return ChoiceAnswer(top, sure, dict(zip(names, probabilities, strict=True)))
        case Score(levels):
            return ScoreAnswer(expectation(probabilities), sure, tuple(levels), tuple(probabilities))


def _refuse_unsupported(request: Request, formula: Confidence, reader: Reader) -> None:
    """Refuse by name what the reader's engine cannot do."""
    can, c = reader.engine.capabilities, request.controls
    issues: list[Issue] = []

    def refuse(name: str, why: str) -> None:
        issues.append(Issue((name,), f"The reader {reader.name} {why}", "unsupported_by_reader"))

    # Neither has a way into a row yet, whatever the engine could do.
    issues += [Issue(image.loc, f"The reader {reader.name} reads text only", "images_unsupported") for image in request.images]
    if c.think:
        refuse("think", "does not think first; leave it out or send 0")
    if c.steps > can.steps:
        refuse("steps", f"reads in at most {can.steps} step{'s' if can.steps > 1 else ''}")
    if can.readout == "marker":
        if formula == "mass":
            refuse("confidence", "has no label mass; use typesafe, top, margin or entropy")
        if c.projection == "full":
            refuse("projection", "has no vocabulary to project to; use labels")
        if c.canvas_length is not None:
            refuse("canvas_length", "has no canvas of fixed width; leave it out")
        if c.chunk_rows is not None:
            refuse("chunk_rows", "has no canvas of fixed width; leave it out")
    else:
        if c.projection == "full":
            refuse("projection", "computes the labels' part of the vocabulary only, and its log-sum-exp; use labels")
        if c.canvas_length is not None:
            refuse("canvas_length", "takes the narrowest canvas; leave it out")
        if c.chunk_rows is not None:
            refuse("chunk_rows", "fills the canvas; leave it out")
    if issues:
        raise InvalidRequest(issues)


def _addressed(issue: Issue, questions: Mapping[str, Question]) -> Issue:
    """An issue of the planner, which knows options by index, at the place where the request says it."""
    question = questions[str(issue.loc[1])]
    loc = [*issue.loc[:2], question_type(question), *issue.loc[2:]]
    if isinstance(loc[-1], int):
        match question:
            case Choice(options):
                loc[-1] = list(options)[loc[-1]]
            case Noul():
                loc[-1] = ("true", "false")[loc[-1]]
            case Score():
                pass
    return replace(issue, loc=tuple(loc))
