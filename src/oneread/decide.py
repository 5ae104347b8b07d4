"""The one path: Request -> plan -> reads -> merge windows and splits -> temperature -> softmax -> Answers."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .answers import (
    Answer,
    Answers,
    ChoiceAnswer,
    NoulAnswer,
    ScoreAnswer,
    Usage,
    choice_confidence,
    expectation,
    score_confidence,
)
from .calibration.temperature import softmax
from .engines.base import Read, Reading
from .errors import InvalidRequest, Issue
from .planning import Lengths, Row, make_plan, next_rows
from .questions import Choice, Content, Noul, Question, Request, Score, option_count, question_type, validate

if TYPE_CHECKING:
    from .calibration.profile import Profile
    from .readers.reader import Reader

Scores = NDArray[np.float64]
"""Raw scores of a question's answers, shape (options,)."""

MAX_TOKENS = 2_000_000
"""The most tokens one request may make a reader read, over all rows."""


class Decider:
    """Answers requests with one reader. Safe to use from any thread and any event loop.

    Args:
        reader: what answers; None loads the embedded reader.
        max_tokens: requests that need more than this many tokens over all rows are refused.
        calibration: a profile whose temperatures take the place of the reader's own.

    Raises:
        ProfileError: the profile was fitted for another reader.

    Example:
        >>> from oneread import Decider, Noul
        >>> with Decider() as decider:
        ...     answers = decider.ask("The site is down!", {"urgent": Noul("Does this need a reply within the hour?")})
    """

    def __init__(self, reader: Reader | None = None, max_tokens: int = MAX_TOKENS, calibration: Profile | None = None) -> None:
        if reader is None:
            from .readers.reader import load_reader

            reader = load_reader()
        if calibration is not None:
            calibration.require(reader.name, reader.digest)
        self.reader = reader
        self.max_tokens = max_tokens
        self.calibration = calibration

    def ask(self, state: Content, questions: Mapping[str, Question]) -> Answers:
        """Answer questions about a state. Raises as `decide` does."""
        return self.decide(Request(state, questions))

    def decide(self, request: Request) -> Answers:
        """Answer a request; blocks until it is read.

        Raises:
            InvalidRequest: the request breaks a rule of the domain or a limit of the reader.
            EngineError: the engine failed; the request may be sent again.
        """
        steps = self._steps(request)
        try:
            reads = next(steps)
            while True:
                reads = steps.send(self.reader.engine.read(reads).result())
        except StopIteration as done:
            answers: Answers = done.value
            return answers

    async def adecide(self, request: Request) -> Answers:
        """As `decide`, without blocking the event loop. Cancelling it gives up the reads that have not started."""
        steps = self._steps(request)
        # Tokenising a long state takes a while and holds no lock on the interpreter.
        reads, answers = await asyncio.to_thread(_advance, steps, None)
        while answers is None:
            readings = await asyncio.wrap_future(self.reader.engine.read(reads))
            reads, answers = _advance(steps, readings)
        return answers

    def close(self) -> None:
        """Finish what is being read and free the reader."""
        self.reader.engine.close()

    def __enter__(self) -> Decider:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _steps(self, request: Request) -> Generator[list[Read], list[Reading], Answers]:
        """Yields the reads still needed, takes their readings, returns the answers."""
        validate(request)
        canvas = self.reader.canvas
        state = canvas.encode_state(request.state)
        questions = {key: canvas.compile(question) for key, question in request.questions.items()}
        try:
            plan = make_plan(
                {
                    key: Lengths(canvas.form.window, canvas.frame_tokens(q), canvas.option_tokens(q), len(state))
                    for key, q in questions.items()
                }
            )
        except InvalidRequest as error:
            raise InvalidRequest([_addressed(issue, request.questions) for issue in error.issues]) from None
        scores: dict[Row, Sequence[float]] = {}
        input_tokens = output_tokens = 0
        while rows := next_rows(plan, scores):
            input_tokens += sum(canvas.row_tokens(questions[row.question], row.options) + _size(row.window) for row in rows)
            if input_tokens > self.max_tokens:
                message = f"The request needs {input_tokens} tokens to be read; at most {self.max_tokens} are allowed"
                raise InvalidRequest.at((), message, "too_many_tokens", max_tokens=self.max_tokens)
            reads = [canvas.row(questions[row.question], row.options, state[slice(*row.window)]) for row in rows]
            readings = yield reads
            for row, reading in zip(rows, readings, strict=True):
                scores[row] = reading.scores.tolist()
                output_tokens += len(row.options)
        answers = {
            key: self._answer(question, merge(option_count(question), {row: scores[row] for row in plan.rows[key]}))
            for key, question in request.questions.items()
        }
        return Answers(self.reader.name, answers, Usage(input_tokens, output_tokens))

    def _temperature(self, question: Question) -> float:
        if self.calibration is not None:
            return self.calibration.temperature(question)
        return self.reader.temperatures.of(question_type(question), option_count(question))

    def _answer(self, question: Question, scores: Scores) -> Answer:
        probabilities = softmax(scores, self._temperature(question)).tolist()
        match question:
            case Noul():
                return NoulAnswer(probabilities[0])
            case Choice(options):
                names = list(options)
                top = names[max(range(len(names)), key=probabilities.__getitem__)]
                return ChoiceAnswer(top, choice_confidence(probabilities), dict(zip(names, probabilities, strict=True)))
            case Score(levels):
                return ScoreAnswer(
                    expectation(probabilities), score_confidence(probabilities), tuple(levels), tuple(probabilities)
                )


def merge(options: int, rows: Mapping[Row, Sequence[float]]) -> Scores:
    """One raw score for each option, from the rows of one question.

    Rows of one window hold the options that were read together; windows are combined by the mean.

    Args:
        options: how many the question has.
        rows: each row's raw scores, in the order of its options; every option stands in every window once.
    """
    by_window: dict[tuple[int, int], Scores] = {}
    for row, values in rows.items():
        window = by_window.setdefault(row.window, np.full(options, np.nan))
        window[list(row.options)] = values
    return np.asarray(np.stack(list(by_window.values())).mean(axis=0), np.float64)


def _size(span: tuple[int, int]) -> int:
    return span[1] - span[0]


def _advance(
    steps: Generator[list[Read], list[Reading], Answers], readings: list[Reading] | None
) -> tuple[list[Read], Answers | None]:
    """One step of the generator: the next reads, or none and the answers."""
    try:
        return (next(steps) if readings is None else steps.send(readings)), None
    except StopIteration as done:
        return [], done.value


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
