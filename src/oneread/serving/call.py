"""One HTTP request as every part of serving sees it: its id, its clock, its caller."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..engines.base import Reading
from ..engines.turns import Errand

if TYPE_CHECKING:
    from ..answers import Answers
    from .auth import Caller

Span = tuple[str, float, float]
"""A named piece of a call: its start and end, in monotonic seconds."""


@dataclass(slots=True)
class Call:
    """What is known of a call so far. Never holds evidence, except `answers`, which live as long as the call.

    Attributes:
        id: what every reply carries.
        started: monotonic seconds when its head had arrived.
        headers: of the request, lower-case names.
        caller: whose key opened the door; None on an open server.
        spans: what it was busy with.
        rows, tokens: read for it so far.
        answers: once there are any, with diagnostics.
        kind: of the failure it ended in.
    """

    id: str
    started: float
    headers: dict[bytes, bytes] = field(default_factory=dict)
    caller: Caller | None = None
    spans: list[Span] = field(default_factory=list)
    rows: int = 0
    tokens: int = 0
    answers: Answers | None = None
    kind: str | None = None
    model: str = ""

    def seconds(self, name: str) -> float | None:
        """The time spent in all spans of a name; None where there is none."""
        found = [end - start for span, start, end in self.spans if span == name]
        return sum(found) if found else None


current: ContextVar[Call | None] = ContextVar("call", default=None)


def this_call() -> Call:
    """The call being answered; a new one outside of HTTP."""
    call = current.get()
    return call if call is not None else Call("none", time.monotonic())


class Follow:
    """Notes on a call what `Decider.adecide` does for it, and asks for admission before its first read.

    Args:
        errand: what the reads are part of.
        admit: called once, with the tokens that all reads may take; raises to refuse.
    """

    def __init__(self, call: Call, errand: Errand, admit: Callable[[int], None]) -> None:
        self._call, self._errand, self._admit = call, errand, admit
        self._foreseen = self._unseen = 0
        self._rounds = 0
        self.since = time.monotonic()
        """When the last step ended."""

    def foreseen(self, tokens: int) -> None:
        """Before the first reads are planned, in some thread: how many tokens all rounds may take."""
        self._foreseen = tokens

    def planned(self, rows: int, tokens: int, queued: bool = True) -> None:
        """Before reads are queued, or what the engine does not see is begun: that counts until it is done."""
        now = time.monotonic()
        self._call.spans.append(("plan" if self._rounds == 0 else "answer", self.since, now))
        if self._rounds == 0:
            self._admit(max(tokens, self._foreseen))
        self._unseen = 0 if queued else tokens
        self._errand.queued(tokens - self._unseen)
        self._rounds += 1
        self._call.rows += rows
        self._call.tokens += tokens
        self.since = now

    def read(self, readings: Sequence[Reading]) -> None:
        """Once they are read, or done."""
        self._errand.queued(self._unseen)
        now = time.monotonic()
        started = self.since + min((r.waited_s for r in readings), default=0.0)
        self._call.spans += [("queue", self.since, started), ("read", started, now)]
        self.since = now

    def answered(self, answers: Answers) -> None:
        """At the end; the answers hold diagnostics whether or not the caller asked for them."""
        self._call.spans.append(("answer", self.since, time.monotonic()))
        self._call.answers = answers
