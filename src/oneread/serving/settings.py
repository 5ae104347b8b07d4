"""What an operator may set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server is set up.

    Attributes:
        reader: the directory of a reader's files; None serves the embedded one.
        threads: CPU threads of the engine; None lets the reader choose.
        api_keys: the keys that open ``/v1/...``; without any, every caller is let in.
        max_body_bytes: the longest request body, as sent and after decompression.
        canary_age_s: for how many seconds ``/ready`` repeats its last canary read.
        canary_timeout_s: after how many seconds a canary read counts as failed.
    """

    reader: Path | None = None
    threads: int | None = None
    api_keys: tuple[str, ...] = ()
    max_body_bytes: int = 8 * MIB
    canary_age_s: float = 5.0
    canary_timeout_s: float = 10.0
