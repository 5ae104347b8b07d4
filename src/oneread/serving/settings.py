"""What an operator may set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..controls import Confidence
from .images import ImageLimits
from .limits import Limits

if TYPE_CHECKING:
    from ..readers.checkpoint import Placement

API_KEY = "ONEREAD_API_KEY"
API_KEYS = "ONEREAD_API_KEYS"
ORIGIN_SECRET = "ONEREAD_ORIGIN_SECRET"  # noqa: S105, the name of a variable

MAX_BODY_BYTES = 8 * 1024 * 1024
SHUTDOWN_S = 30


@dataclass(frozen=True, slots=True)
class LogChoice:
    """What is written to the decision log.

    Attributes:
        file: a SQLite file; where its name ends in ``.parquet``, a folder of Parquet files.
        full: keep requests as they were asked; otherwise a SHA-256 of state and questions only.
        sample: the share of requests that is kept, 0 to 1.
        days: entries older than this are deleted; None keeps them.
        max_bytes: beyond this size the oldest entries are deleted.
    """

    file: Path
    full: bool = False
    sample: float = 1.0
    days: float | None = None
    max_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server is set up.

    Attributes:
        reader: the directory of a reader's files; None serves the embedded one.
        threads: CPU threads of the engine; None lets the reader choose.
        calibration: a calibration profile fitted for the reader; None keeps the reader's own temperatures.
        api_keys: the keys that open ``/v1/...``; without any, every caller is let in.
        keys_file: a TOML file with more keys; see `auth.read_keys`.
        origin_secret: what every request to ``/v1/...`` has to bring in the header ``x-origin-secret``.
        placement: where a DiffusionGemma checkpoint is loaded, and what it may take there.
        isolated: run the model in a process of its own, which is replaced when it crashes or hangs; a
            DiffusionGemma checkpoint always runs in the server's own.
        pass_timeout_s: where isolated, how long a pass may take before it counts as hung.
        limits: how much one request may ask, and all of them together.
        log: the decision log; None keeps none.
        tracing: send OpenTelemetry traces.
        max_body_bytes: the longest request body, as sent and after decompression.
        profile: the name of a system whose clients should see what they saw; see `profiles`.
        confidence: the formula behind every confidence, where a request names none; None takes the profile's.
        diagnostics: whether replies tell how they were read, where a request does not say.
        images: limits of images, for a reader that takes them.
        canary_age_s: for how many seconds ``/ready`` repeats its last canary read.
        canary_timeout_s: after how many seconds a canary read counts as failed.
    """

    reader: Path | None = None
    threads: int | None = None
    calibration: Path | None = None
    api_keys: tuple[str, ...] = ()
    keys_file: Path | None = None
    origin_secret: str | None = None
    placement: Placement | None = None
    isolated: bool = False
    pass_timeout_s: float = 15.0
    limits: Limits = field(default_factory=Limits)
    log: LogChoice | None = None
    tracing: bool = False
    max_body_bytes: int = MAX_BODY_BYTES
    profile: str | None = None
    confidence: Confidence | None = None
    diagnostics: bool = False
    images: ImageLimits = field(default_factory=ImageLimits)
    canary_age_s: float = 5.0
    canary_timeout_s: float = 10.0


def api_key(environ: Mapping[str, str]) -> str | None:
    """The key in the environment variable `API_KEY`; None where it is not set. Raises as `secret` does."""
    return secret(environ, API_KEY)


def api_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    """All keys of the environment: that of `API_KEY` and those of `API_KEYS`, which have commas between them.

    Raises:
        ValueError: as `secret`, of any of them.
    """
    one, several = secret(environ, API_KEY), secret(environ, API_KEYS)
    keys = (*(() if one is None else (one,)), *(() if several is None else several.split(",")))
    if not all(keys):
        raise ValueError(f"{API_KEYS} is set but one of its keys is empty")
    return tuple(dict.fromkeys(keys))


def secret(environ: Mapping[str, str], name: str) -> str | None:
    """The secret in an environment variable; None where it is not set.

    Raises:
        ValueError: it is set but cannot serve as one. An empty one most often is a secret that failed to arrive, so it
            must not open the server to everybody.
    """
    key = environ.get(name)
    if key is None:
        return None
    if not key or not all("!" <= c <= "~" for c in key):
        raise ValueError(f"{name} is set but is empty or holds spaces or characters beyond printable ASCII")
    return key
