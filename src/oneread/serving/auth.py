"""Who may ask: Bearer keys."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers

from .failures import Failure, Refused

_MISSING = Failure(403, "authentication_error", "An API key is needed: send the header 'Authorization: Bearer KEY'.")
_WRONG = Failure(
    401,
    "authentication_error",
    "The API key is not known here. Expected the header 'Authorization: Bearer KEY' with a key of this server.",
    headers={"www-authenticate": "Bearer"},
)


class KeyRing:
    """The keys that open the API. Only their digests are held; an empty ring lets every caller in."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._digests = tuple(_digest(key.encode()) for key in keys)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def check(self, headers: Headers) -> None:
        """Let the caller in or raise `Refused`: 403 without a key, 401 with one that is not known.

        Every key is compared, in constant time, so that the time taken tells nothing about them.
        """
        if not self._digests:
            return
        sent = headers.getlist("authorization")
        if not sent:
            raise Refused(_MISSING)
        scheme, _, key = sent[0].strip().partition(" ")
        if len(sent) > 1 or scheme.lower() != "bearer":
            raise Refused(_WRONG)
        if not key.strip():
            raise Refused(_MISSING)
        digest = _digest(key.strip().encode("latin-1"))
        if not sum([hmac.compare_digest(digest, known) for known in self._digests]):
            raise Refused(_WRONG)


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
