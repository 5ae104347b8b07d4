"""Ask what was asked again, of another reader or under another calibration, and say what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import InvalidRequest
from .codec import answers_value, request_of
from .entry import Entry

if TYPE_CHECKING:
    from ..decide import Decider

WORST = 10


@dataclass(frozen=True, slots=True)
class Change:
    """One question whose distribution moved.

    Attributes:
        id: of the logged decision.
        question: its id in the request.
        distance: total variation between the two distributions, half the sum of |p - q|, 0 to 1.
        before, after: indices of the top answer.
    """

    id: str
    question: str
    distance: float
    before: int
    after: int


@dataclass(slots=True)
class Replay:
    """What changed.

    Attributes:
        decisions: asked again.
        without_request: entries that hold a digest only.
        refused: requests that the new reader does not take.
        questions: compared.
        same_top: of them, how many keep their top answer.
        distance: mean total variation over the questions.
        missing: questions answered only once, as stages went another way.
        worst: the largest changes, largest first, at most `WORST`.
    """

    decisions: int = 0
    without_request: int = 0
    refused: int = 0
    questions: int = 0
    same_top: int = 0
    missing: int = 0
    worst: list[Change] = field(default_factory=list)
    _total: float = 0.0

    @property
    def distance(self) -> float:
        return self._total / self.questions if self.questions else 0.0

    def add(self, change: Change) -> None:
        """Count one question."""
        self.questions += 1
        self.same_top += change.before == change.after
        self._total += change.distance
        self.worst = sorted([*self.worst, change], key=lambda c: -c.distance)[:WORST]


def replay(entries: Iterable[Entry], decider: Decider, step: Callable[[], object] = lambda: None) -> Replay:
    """Ask all entries that hold their request.

    Args:
        step: called after each entry.
    """
    found = Replay()
    for entry in entries:
        if entry.request is None:
            found.without_request += 1
        else:
            _again(entry, decider, found)
        step()
    return found


def _again(entry: Entry, decider: Decider, found: Replay) -> None:
    assert entry.request is not None
    try:
        now = answers_value(decider.decide(request_of(entry.request)))
    except InvalidRequest:
        found.refused += 1
        return
    found.decisions += 1
    for key in dict.fromkeys((*entry.answers, *now)):
        if key not in now or key not in entry.answers:
            found.missing += 1
            continue
        p, q = entry.answers[key], now[key]
        distance = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
        found.add(Change(entry.id, key, distance, _top(p), _top(q)))


def _top(p: list[float]) -> int:
    return max(range(len(p)), key=p.__getitem__)
