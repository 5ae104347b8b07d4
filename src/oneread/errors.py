"""The errors a caller can meet, in one tree. A dialect turns each into its own wire shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing wrong with a request. It names the place and what is allowed, never the value found there.

    Attributes:
        loc: path from the root of the request, e.g. ``("questions", "urgent", "noul", "criteria")``.
        message: one sentence for a person.
        type: a stable machine name, e.g. ``"too_long"``.
        context: the limits the message speaks of, e.g. ``{"max_length": 255}``; never the evidence.
    """

    loc: Loc
    message: str
    type: str
    context: Mapping[str, Any] = field(default_factory=dict)


class OnereadError(Exception):
    """The root of all errors raised on purpose."""


class InvalidRequest(OnereadError):
    """The request cannot be answered as it stands. ``issues`` holds at least one `Issue`."""

    def __init__(self, issues: Sequence[Issue]) -> None:
        self.issues: tuple[Issue, ...] = tuple(issues)
        super().__init__("; ".join(f"{'.'.join(map(str, i.loc)) or 'request'}: {i.message}" for i in self.issues))

    @classmethod
    def at(cls, loc: Loc, message: str, type: str, **context: Any) -> InvalidRequest:
        """One issue at one place."""
        return cls([Issue(loc, message, type, context)])


class UnknownModel(OnereadError):
    """The request names a model that this server does not serve."""


class ReaderError(OnereadError):
    """A reader's files are missing, damaged or of a form this version does not know."""


class MissingExtra(OnereadError):
    """An optional dependency is needed. The message names the install line."""


class EngineError(OnereadError):
    """The engine failed while it read; the request may be sent again."""
