"""A decider that answers at once, from a hash of what it is asked."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from oneread.answers import (
    Answers,
    ChoiceAnswer,
    NoulAnswer,
    ScoreAnswer,
    Usage,
    choice_confidence,
    expectation,
    score_confidence,
)
from oneread.calibration.profile import Profile
from oneread.decide import Follower
from oneread.engines.load import Gauges, Pass
from oneread.questions import Choice, Noul, Question, Request, Score, option_count, validate


class Untold:
    """What a monitored engine tells of itself, where a test does not ask for it."""

    def gauges(self) -> Gauges:
        return Gauges()

    def memory(self) -> int:
        return 0

    def observe(self, observer: Callable[[Pass], None]) -> None:
        pass


@dataclass
class FakeReader:
    name: str = "fake-1"
    description: str = "Answers from a hash."
    release_date: str = "2026-11-29"
    takes_images: bool = False
    has_mass: bool = False
    engine: object = None
    digest: str = "0" * 64


@dataclass
class FakeDecider:
    """`fault` is raised instead of answering; `hold` keeps `adecide` waiting until it is set."""

    reader: FakeReader = field(default_factory=FakeReader)
    calibration: Profile | None = None
    fault: Exception | None = None
    hold: asyncio.Event | None = None
    asked: list[Request] = field(default_factory=list)
    given_up: int = 0
    closed: bool = False

    def decide(self, request: Request) -> Answers:
        validate(request)
        self.asked.append(request)
        if self.fault is not None:
            raise self.fault
        answers = {key: _answer(request.state, question) for key, question in request.questions.items()}
        return Answers(self.reader.name, answers, Usage(17, len(answers)))

    async def adecide(self, request: Request, follower: Follower | None = None) -> Answers:
        if follower is not None:
            follower.planned(1, 17)
        try:
            if self.hold is not None:
                await self.hold.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        answers = self.decide(request)
        if follower is not None:
            follower.read([])
            follower.answered(answers)
        return answers

    def close(self) -> None:
        self.closed = True


def _answer(state: object, question: Question) -> NoulAnswer | ChoiceAnswer | ScoreAnswer:
    seed = json.dumps([state, asdict(question)], sort_keys=True).encode()
    raw = [1 + hashlib.sha256(seed + bytes([i])).digest()[0] for i in range(option_count(question))]
    p = [x / sum(raw) for x in raw]
    match question:
        case Noul():
            return NoulAnswer(p[1])
        case Choice(options):
            names = list(options)
            return ChoiceAnswer(names[p.index(max(p))], choice_confidence(p), dict(zip(names, p, strict=True)))
        case Score(levels):
            return ScoreAnswer(expectation(p), score_confidence(p), tuple(levels), tuple(p))
