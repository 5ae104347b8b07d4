"""How far a start has come: told by whoever does a part of it, heard by whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeAlias

Part: TypeAlias = Literal["verifying files", "loading weights", "warming up", "reading a canary"]


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a start and how much of it is done; ``total`` 0 where that is not known."""

    part: Part
    done: int = 0
    total: int = 0


hearer: ContextVar[Callable[[Step], None] | None] = ContextVar("hearer", default=None)
"""Hears the steps of a start that runs in this context, in the thread that takes them."""


def tell(part: Part, done: int = 0, total: int = 0) -> None:
    """Say how far a start has come; nobody may listen."""
    hear = hearer.get()
    if hear is not None:
        hear(Step(part, done, total))
