"""The one path: Request -> stages -> plan -> reads -> merge windows, splits and draws -> temperature -> softmax -> Answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from ..controls import Confidence, Content, Controls
from ..engines.base import Reading, Tokens
from ..planning import stages
from ..questions import Message, Question, Request, option_count, question_type, validate
from .foresight import most_tokens
from .run import Run, Step
from .thinking import Thinking, think, think_aside
from .writing import Text, write

if TYPE_CHECKING:
    from ..answers import Answers
    from ..calibration.profile import Profile
    from ..readers.reader import Reader

MAX_TOKENS = 2_000_000
"""The most tokens one request may make a reader read, over all rows."""


class Follower(Protocol):
    """Who follows one request through `Decider.adecide`. Called on the event loop, but for `foreseen`."""

    def foreseen(self, tokens: int) -> None:
        """Once, before all else, in some thread: the most tokens that all rounds may read; 0 if there is one round only."""
        ...

    def planned(self, rows: int, tokens: int, queued: bool = True) -> None:
        """Before each round. What it raises ends the request before it.

        Args:
            queued: whether the tokens will wait with the engine; else they are work, as thoughts are, that it does not see.
        """
        ...

    def read(self, readings: Sequence[Reading]) -> None:
        """After each round."""
        ...

    def answered(self, answers: Answers) -> None:
        """At the end, with diagnostics whether or not the request asked for them."""
        ...


class Decider:
    """Answers requests with one reader. Safe to use from any thread and any event loop.

    Args:
        reader: what answers; None loads the embedded reader.
        max_tokens: requests that need more than this many tokens over all rows are refused.
        calibration: a profile whose temperatures take the place of the reader's own.
        confidence: the formula behind every confidence, where a request names none.
        diagnostics: whether replies tell how they were read, where a request does not say.

    Raises:
        ProfileError: the profile was fitted for another reader.

    Example:
        >>> from oneread import Decider, Noul
        >>> with Decider() as decider:
        ...     answers = decider.ask("The site is down!", {"urgent": Noul("Does this need a reply within the hour?")})
    """

    def __init__(
        self,
        reader: Reader | None = None,
        max_tokens: int = MAX_TOKENS,
        calibration: Profile | None = None,
        confidence: Confidence = "typesafe",
        diagnostics: bool = False,
    ) -> None:
        if reader is None:
            from ..readers.reader import load_reader

            reader = load_reader()
        if calibration is not None:
            calibration.require(reader.name, reader.digest)
        self.reader = reader
        self.max_tokens = max_tokens
        self.calibration = calibration
        self.confidence: Confidence = confidence
        self.diagnostics = diagnostics

    def ask(self, state: Content, questions: Mapping[str, Question], controls: Controls | None = None) -> Answers:
        """Answer questions about a state. Raises as `decide` does."""
        return self.decide(Request(state, questions, controls or Controls()))

    def decide(self, request: Request) -> Answers:
        """Answer a request; blocks until it is read.

        Raises:
            InvalidRequest: the request breaks a rule of the domain or a limit of the reader.
            EngineError: the engine failed; the request may be sent again.
        """
        steps = self._steps(request)
        try:
            step = next(steps)
            while True:
                if isinstance(step, Thinking):
                    step = steps.send(think(self.reader, step))
                else:
                    step = steps.send(self.reader.engine.read(step).result())
        except StopIteration as done:
            answers: Answers = done.value
            return answers

    async def adecide(self, request: Request, follower: Follower | None = None) -> Answers:
        """As `decide`, without blocking the event loop. Cancelling it gives up the reads that have not started."""
        followed = request
        if follower is not None:
            followed = replace(request, controls=replace(request.controls, diagnostics=True))
        steps = self._steps(followed, None if follower is None else follower.foreseen)
        # Tokenising a long state takes a while and holds no lock on the interpreter.
        step, answers = await asyncio.to_thread(_advance, steps, None)
        while answers is None:
            if isinstance(step, Thinking):
                if follower is not None:
                    follower.planned(len(step.prompts), step.most_read(self.reader), queued=False)
                thoughts = await think_aside(self.reader, step)
                if follower is not None:
                    follower.read(())
                step, answers = _advance(steps, thoughts)
                continue
            if follower is not None:
                follower.planned(len(step), sum(read.tokens for read in step))
            readings = await asyncio.wrap_future(self.reader.engine.read(step))
            if follower is not None:
                follower.read(readings)
            step, answers = _advance(steps, readings)
        if follower is None:
            return answers
        follower.answered(answers)
        wanted = self.diagnostics if request.controls.diagnostics is None else request.controls.diagnostics
        return answers if wanted else replace(answers, diagnostics=None)

    def write(self, messages: Sequence[Message], max_tokens: int, seed: int = 42, stop: Sequence[str] = ()) -> Text:
        """Continue a conversation; see `writing.write`. Iterating over the text blocks while a piece is written.

        Raises:
            UnknownModel: this reader only reads.
            InvalidRequest: the conversation is too long for it.
        """
        return write(self.reader, messages, max_tokens, seed, stop)

    def close(self) -> None:
        """Finish what is being read and free the reader."""
        self.reader.engine.close()

    def __enter__(self) -> Decider:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _steps(self, request: Request, foreseen: Callable[[int], None] | None = None) -> Generator[Step, Any, Answers]:
        """Yields the reads or thoughts still needed, takes what came of them, returns the answers."""
        validate(request)
        run = Run(self, request)
        in_order = stages(request.questions, request.asking, request.controls.ask)
        if foreseen is not None:
            foreseen(most_tokens(run, in_order))
        for number, stage in enumerate(in_order):
            yield from run.read_stage(number, stage)
        return run.answers()

    def temperature(self, question: Question) -> float:
        """The temperature applied to a question."""
        if self.calibration is not None:
            return self.calibration.temperature(question)
        return self.reader.temperatures.of(question_type(question), option_count(question))


def _advance(steps: Generator[Step, Any, Answers], came: list[Reading] | list[Tokens] | None) -> tuple[Step, Answers | None]:
    """One turn of the generator: what is needed next, or nothing and the answers."""
    try:
        return (next(steps) if came is None else steps.send(came)), None
    except StopIteration as done:
        return [], done.value
