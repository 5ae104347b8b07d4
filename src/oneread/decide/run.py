"""One request on its way from its stages to its answers."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..answers import (
    Abstention,
    Answer,
    Answers,
    Diagnostics,
    QuestionDiagnostics,
    Skipped,
    Usage,
    confidence,
)
from ..canvas.label_form import Setting
from ..canvas.labels import LabelCanvas
from ..canvas.text import context_text
from ..controls import Asking, Confidence
from ..engines.base import NO_TOKENS, Read, Reading, Tokens
from ..errors import InvalidRequest, Issue
from ..planning import Row, StagePlan, next_rows, plan_stage, skip_reason, value_of
from ..questions import Request, question_type
from .concluding import answer_of, told_of
from .progress import StageProgress
from .refusals import addressed, refuse_crowded, refuse_unsupported, refuse_wide
from .thinking import Thinking

if TYPE_CHECKING:
    from ..planning import Part
    from ..planning.windows import Span
    from ..readers.reader import Reader
    from .decider import Decider

_PLAINLY = Asking()

Step: TypeAlias = "list[Read] | Thinking"
"""What a request needs next: readings for reads, or token ids for thoughts, in their order."""


class Run:
    """One request on its way: what was answered, skipped and read so far."""

    def __init__(self, decider: Decider, request: Request) -> None:
        self._decider, self._request = decider, request
        self._started = time.perf_counter()
        self._reading_s = 0.0
        self._confidence: Confidence = request.controls.confidence or decider.confidence
        refuse_unsupported(request, self._confidence, decider.reader)
        self._labels = decider.reader.canvas if isinstance(decider.reader.canvas, LabelCanvas) else None
        self._setting = _setting(request, decider.reader)
        self._form = decider.reader.canvas.row_form if self._labels is None else self._labels.form_for(self._setting)
        refuse_crowded(request, self._form)
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
        self._thoughts: dict[tuple[tuple[Part, ...], Span], Tokens] = {}
        self._on_label: dict[str, bool] = {}

    def read_stage(self, number: int, stage: tuple[str, ...]) -> Generator[Step, Any, None]:
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
                self._form,
                len(self._state),
                packed=request.controls.mode == "packed",
                alone=[key for key, asked in request.asking.items() if asked.alone],
            )
        except InvalidRequest as error:
            raise InvalidRequest([addressed(issue, request.questions) for issue in error.issues]) from None

    def _read(self, number: int, plan: StagePlan) -> Generator[Step, Any, None]:
        decider, request = self._decider, self._request
        reader = decider.reader
        questions = {key: request.questions[key] for key in plan.options}
        progress = StageProgress(
            questions, plan, request.controls, reader.canvas.ordered, reader.engine.capabilities.noise, decider.temperature
        )
        while rows := next_rows(plan, progress):
            if self._setting.thought:
                yield from self._think(rows)
            reads = [self._lay(row) for row in rows]
            self._rows += len(rows)
            self._widths |= {read.tokens for read in reads}
            self._input_tokens += sum(read.tokens for read in reads)
            self._output_tokens += sum(len(read.slots) for read in reads)
            self._check_tokens()
            sent = time.perf_counter()
            readings: list[Reading] = yield reads
            self._reading_s += time.perf_counter() - sent
            for row, read, reading in zip(rows, reads, readings, strict=True):
                progress.record(row, reading)
                self._reused += reading.tokens_reused
                self._note_tops(row, read, reading)
        for key in questions:
            self._conclude(number, key, progress)

    def _lay(self, row: Row) -> Read:
        reader, (parts, state) = self._decider.reader, self._parts(row)
        seed = self._request.controls.seed
        # A question that has a row to itself is read as it would be by itself, whatever the mode.
        if self._labels is None:
            return reader.canvas.row(parts, state, len(parts) > 1, seed, row.draw)
        thought = self._thoughts.get((row.parts, row.window), NO_TOKENS)
        read = self._labels.row(parts, state, len(parts) > 1, seed, row.draw, self._setting, thought)
        refuse_wide(read.images, len(read.canvas), reader.engine.capabilities.image_room)
        return read

    def _parts(self, row: Row) -> tuple[list[tuple[Any, Sequence[int]]], Tokens]:
        """The questions of a row, compiled, and its part of the state."""
        return [(self._compiled[p.question], p.options) for p in row.parts], self._state[slice(*row.window)]

    def _think(self, rows: Sequence[Row]) -> Generator[Step, Any, None]:
        """A thought for each prompt that has none: draws share it, another order or window has its own."""
        assert self._labels is not None, "a reader that does not think was refused"
        wanted = [key for key in dict.fromkeys((row.parts, row.window) for row in rows) if key not in self._thoughts]
        if not wanted:
            return
        refuse_wide(self._setting.images, self._labels.form.canvas, self._decider.reader.engine.capabilities.image_room)
        laid = [self._parts(Row(*key)) for key in wanted]
        prompts = tuple(self._labels.to_think(parts, state, len(parts) > 1, self._setting) for parts, state in laid)
        thinking = Thinking(prompts, self._setting.thought, self._request.controls.seed, self._labels.thought_end)
        self._input_tokens += thinking.prompt_tokens
        self._check_tokens()
        sent = time.perf_counter()
        thoughts: list[Tokens] = yield thinking
        self._reading_s += time.perf_counter() - sent
        self._thoughts.update(zip(wanted, thoughts, strict=True))
        self._output_tokens += sum(map(len, thoughts))

    def _check_tokens(self) -> None:
        most = self._decider.max_tokens
        if self._input_tokens > most:
            message = f"The request needs more than {most} tokens to be read, over all rows"
            raise InvalidRequest.at((), message, "too_many_tokens", max_tokens=most)

    def _note_tops(self, row: Row, read: Read, reading: Reading) -> None:
        if reading.tops is not None:
            for part, slot, top in zip(row.parts, read.slots, reading.tops.tolist(), strict=True):
                self._on_label[part.question] = self._on_label.get(part.question, True) and top in slot.labels

    def _thought_of(self, key: str) -> tuple[str, ...]:
        script = self._decider.reader.script
        asked = [thought for (parts, _), thought in self._thoughts.items() if any(part.question == key for part in parts)]
        return tuple(script.decode(thought) for thought in asked) if script is not None else ()

    def _conclude(self, number: int, key: str, progress: StageProgress) -> None:
        """The answer of one question whose rows are all read."""
        question = self._request.questions[key]
        kind = question_type(question)
        draws = progress.result(key)
        probabilities = draws.mean.tolist()
        mass = progress.label_mass(key)
        sure = confidence(self._confidence, kind, probabilities, mass)
        self._answers[key] = answer_of(question, probabilities, sure)
        threshold = self._request.asking.get(key, _PLAINLY).abstain_below
        if threshold is not None and sure < threshold:
            self._abstained[key] = Abstention(self._confidence, sure, threshold)
        if self._wants_diagnostics:
            self._told[key] = told_of(
                key, number, draws, mass, progress, self._form, self._on_label.get(key), self._thought_of(key)
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


def _setting(request: Request, reader: Reader) -> Setting:
    """What a request chooses of how a reader with labels is asked. Decodes its images."""
    c = request.controls
    images, issues = [], []
    for image in request.images:
        assert reader.eyes is not None, "images were refused"
        try:
            images.append(reader.eyes.see(image.data, image.width, image.height, c.image_tokens))
        except ValueError as error:
            issues.append(Issue(image.loc, str(error), "image_unreadable"))
    if issues:
        raise InvalidRequest(issues)
    return Setting(c.think, tuple(images), c.canvas_length, c.chunk_rows, c.steps, c.projection == "full")
