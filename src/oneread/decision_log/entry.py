"""What a decision log holds, whatever its file is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..errors import OnereadError

FORMAT = 1


class LogError(OnereadError):
    """The file is not a decision log, or cannot be opened."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision as it was logged. ``request`` is None where only its digest was kept."""

    id: str
    at: float
    reader: str
    reader_digest: str
    calibration: str | None
    digest: str
    request: dict[str, Any] | None
    answers: dict[str, list[float]]


class Record(NamedTuple):
    """An entry as it is stored: its columns, with request and answers as JSON."""

    id: str
    at: float
    reader: str
    reader_digest: str
    calibration: str | None
    digest: str
    request: str | None
    answers: str
    input_tokens: int

    @property
    def entry(self) -> Entry:
        """What it tells."""
        request = None if self.request is None else json.loads(self.request)
        return Entry(*self[:6], request, json.loads(self.answers))


class Sink(Protocol):
    """Where records go. Used from one thread; may raise whatever its file makes it raise."""

    def put(self, record: Record) -> bool:
        """Take a record; True once it and all before it are in the file."""
        ...

    def flush(self) -> None:
        """Write what is held back."""
        ...

    def tidy(self, days: float | None, max_bytes: int) -> None:
        """Delete what is older than so many days, and the oldest beyond so many bytes."""
        ...

    def close(self) -> None:
        """Let go of the file; what is held back is lost."""
        ...
