"""What an operator may set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .images import ImageLimits

API_KEY = "ONEREAD_API_KEY"

MAX_BODY_BYTES = 8 * 1024 * 1024
SHUTDOWN_S = 30


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server is set up.

    Attributes:
        reader: the directory of a reader's files; None serves the embedded one.
        threads: CPU threads of the engine; None lets the reader choose.
        calibration: a calibration profile fitted for the reader; None keeps the reader's own temperatures.
        api_keys: the keys that open ``/v1/...``; without any, every caller is let in.
        max_body_bytes: the longest request body, as sent and after decompression.
        profile: the name of a system whose clients should see what they saw; see `profiles`.
        images: limits of images, for a reader that takes them.
        canary_age_s: for how many seconds ``/ready`` repeats its last canary read.
        canary_timeout_s: after how many seconds a canary read counts as failed.
    """

    reader: Path | None = None
    threads: int | None = None
    calibration: Path | None = None
    api_keys: tuple[str, ...] = ()
    max_body_bytes: int = MAX_BODY_BYTES
    profile: str | None = None
    images: ImageLimits = field(default_factory=ImageLimits)
    canary_age_s: float = 5.0
    canary_timeout_s: float = 10.0


def api_key(environ: Mapping[str, str]) -> str | None:
    """The key in the environment variable `API_KEY`; None where it is not set.

    Raises:
        ValueError: it is set but cannot serve as a key. An empty one most often is a secret that failed to arrive, so it
            must not open the server to everybody.
    """
    key = environ.get(API_KEY)
    if key is None:
        return None
    if not key or not all("!" <= c <= "~" for c in key):
        raise ValueError(f"{API_KEY} is set but is empty or holds spaces or characters beyond printable ASCII")
    return key
