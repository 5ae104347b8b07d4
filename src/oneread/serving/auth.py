"""Who may ask: Bearer keys from the environment and from a file, and what each of them may do."""

from __future__ import annotations

import hashlib
import hmac
import logging
import math
import re
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers

from .failures import Failure, Refused

log = logging.getLogger("oneread.serving")

LOOK_AGAIN_S = 1.0
"""A keys file is looked at for changes at most this often, when a request comes."""

ORIGIN_HEADER = "x-origin-secret"

_MISSING = Failure(403, "authentication_error", "An API key is needed: send the header 'Authorization: Bearer KEY'.")
_WRONG = Failure(
    401,
    "authentication_error",
    "The API key is not known here. Expected the header 'Authorization: Bearer KEY' with a key of this server.",
    headers={"www-authenticate": "Bearer"},
)
_ELSEWHERE = Failure(403, "permission_error", "This server takes requests through its proxy only.")


class KeysFileError(Exception):
    """A keys file cannot be read or holds something else than keys."""


@dataclass(slots=True)
class Caller:
    """A key that is known, and what its owner may do.

    Attributes:
        name: what the log calls it.
        digest: SHA-256 of the key.
        requests_per_minute: how many it may send; None does not bound it. A minute's worth may come at once.
        models: names it may ask for; empty for all.
    """

    name: str
    digest: bytes
    requests_per_minute: int | None = None
    models: tuple[str, ...] = ()
    _left: float = field(default=0.0, init=False)
    _filled_at: float | None = field(default=None, init=False)

    def spend(self) -> None:
        """Count one request. Raises `Refused` (429) when the rate is used up."""
        rate = self.requests_per_minute
        if rate is None:
            return
        now = time.monotonic()
        self._left = rate if self._filled_at is None else min(rate, self._left + (now - self._filled_at) * rate / 60)
        self._filled_at = now
        if self._left < 1:
            wait = (1 - self._left) * 60 / rate
            headers = {"retry-after": str(math.ceil(wait)), "retry-after-ms": str(math.ceil(wait * 1000))}
            raise Refused(Failure(429, "rate_limit_error", f"This key may send {rate} requests a minute.", headers=headers))
        self._left -= 1

    def check_model(self, model: str) -> None:
        """Raise `Refused` (403) unless the key may ask for the model."""
        if self.models and model not in self.models:
            message = f"This key may ask for {', '.join(self.models)} only."
            raise Refused(Failure(403, "permission_error", message, about="model"))

    def keep_count(self, before: Caller) -> None:
        """Go on where an earlier reading of the same key stood, so that a reload gives nobody a fresh minute."""
        self._left, self._filled_at = before._left, before._filled_at


class KeyRing:
    """The keys that open the API. Only their digests are held; without keys and without a file every caller is let in.

    Args:
        keys: given as they are.
        file: a TOML file with more, read again when it changes; see `read_keys`.

    Raises:
        KeysFileError: the file is not one at the start. Later, one that became unreadable leaves the last good keys in force.
    """

    def __init__(self, keys: Iterable[str] = (), file: Path | None = None) -> None:
        self._fixed = tuple(Caller(f"key-{i}", _digest(key.encode())) for i, key in enumerate(keys, 1))
        self._file = file
        self._looked_at = time.monotonic()
        self._seen = None if file is None else _fingerprint(file)
        self._callers = self._fixed if file is None else (*self._fixed, *read_keys(file))

    def __bool__(self) -> bool:
        return bool(self._callers) or self._file is not None

    def check(self, headers: Headers) -> Caller | None:
        """The caller, or None on an open server.

        Every key is compared, in constant time, so that the time taken tells nothing about them.

        Raises:
            Refused: 403 without a key, 401 with one that is not known.
        """
        self._reload()
        if not self:
            return None
        sent = headers.getlist("authorization")
        if not sent:
            raise Refused(_MISSING)
        scheme, _, key = sent[0].strip().partition(" ")
        if len(sent) > 1 or scheme.lower() != "bearer":
            raise Refused(_WRONG)
        if not key.strip():
            raise Refused(_MISSING)
        digest = _digest(key.strip().encode("latin-1"))
        found = [caller for caller in self._callers if hmac.compare_digest(digest, caller.digest)]
        if not found:
            raise Refused(_WRONG)
        return found[0]

    def _reload(self) -> None:
        now = time.monotonic()
        if self._file is None or now - self._looked_at < LOOK_AGAIN_S:
            return
        self._looked_at = now
        seen = _fingerprint(self._file)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            fresh = read_keys(self._file)
        except KeysFileError as error:
            log.error("the keys stay as they were: %s", error)
            return
        before = {caller.digest: caller for caller in self._callers}
        for caller in fresh:
            if caller.digest in before:
                caller.keep_count(before[caller.digest])
        self._callers = (*self._fixed, *fresh)
        log.warning("%d keys were read from the keys file", len(fresh))


class Origin:
    """A secret that a proxy adds to every request, so that nobody reaches the server around it."""

    def __init__(self, secret: str | None) -> None:
        self._digest = None if secret is None else _digest(secret.encode())

    def check(self, headers: Headers) -> None:
        """Raise `Refused` (403) unless the request carries the secret once."""
        if self._digest is None:
            return
        sent = headers.getlist(ORIGIN_HEADER)
        if len(sent) != 1 or not hmac.compare_digest(_digest(sent[0].encode("latin-1")), self._digest):
            raise Refused(_ELSEWHERE)


def read_keys(file: Path) -> tuple[Caller, ...]:
    """The keys of a TOML file.

    Each stands in a table ``[[key]]`` with ``name``, ``sha256`` (of the key, 64 hexadecimal digits), and, where wanted,
    ``requests_per_minute`` and ``models``.

    Raises:
        KeysFileError: it cannot be read, or an entry is not one; the message names the entry's number, never its content.
    """
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise KeysFileError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise KeysFileError(f"{file} is not TOML") from None
    entries = found.get("key")
    if not isinstance(entries, list) or set(found) != {"key"}:
        raise KeysFileError(f"{file} should hold [[key]] tables only, at least one")
    callers = tuple(_caller(file, number, entry) for number, entry in enumerate(entries, 1))
    if len({c.digest for c in callers}) < len(callers) or len({c.name for c in callers}) < len(callers):
        raise KeysFileError(f"{file} holds a name or a key twice")
    return callers


def _caller(file: Path, number: int, entry: Any) -> Caller:
    def wrong(what: str) -> KeysFileError:
        return KeysFileError(f"{file}, key {number}: {what}")

    if not isinstance(entry, dict) or not set(entry) <= {"name", "sha256", "requests_per_minute", "models"}:
        raise wrong("known are name, sha256, requests_per_minute and models")
    name, digest = entry.get("name"), entry.get("sha256")
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]{1,64}", name):
        raise wrong("name should be 1 to 64 letters, digits, '.', '-' or '_'")
    if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", digest):
        raise wrong("sha256 should be 64 hexadecimal digits")
    rate = entry.get("requests_per_minute")
    if rate is not None and (not isinstance(rate, int) or isinstance(rate, bool) or rate < 1):
        raise wrong("requests_per_minute should be an integer of at least 1")
    models: Sequence[Any] = entry.get("models", [])
    if not isinstance(models, list) or not all(isinstance(model, str) for model in models):
        raise wrong("models should be an array of names")
    return Caller(name, bytes.fromhex(digest), rate, tuple(models))


def _fingerprint(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
