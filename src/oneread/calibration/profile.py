"""A calibration profile: what was fitted for one reader, as a small JSON file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..errors import ReaderError
from ..questions import Question, option_count, question_type
from .digests import DIGEST_BYTES, question_digest
from .sets import Sets
from .temperature import TYPES, Temperatures
from .thresholds import Thresholds

FORMAT = "oneread-calibration/1"

T = TypeVar("T")


class ProfileError(ReaderError):
    """A calibration profile is missing, damaged, of another version, or was fitted for another reader."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What turns one reader's raw scores into probabilities, sets and decisions.

    Attributes:
        name: what replies and lists call it.
        reader: name of the reader it was fitted for.
        reader_digest: SHA-256 of that reader's files.
        temperatures: by type and bucket of option counts.
        questions: temperatures of single questions, by `question_digest`.
        sets: conformal sets, where fitted.
        thresholds: for accepting an answer.
        fitted_on: digests of the cases that any number here was fitted on.
        source: how it came about, for a person.
        measured: what was measured on cases held out from fitting, as JSON.
    """

    name: str
    reader: str
    reader_digest: str
    temperatures: Temperatures
    questions: Mapping[str, float] = field(default_factory=dict)
    sets: Sets | None = None
    thresholds: tuple[Thresholds, ...] = ()
    fitted_on: frozenset[str] = frozenset()
    source: str = ""
    measured: Mapping[str, Any] = field(default_factory=dict)

    def temperature(self, question: Question) -> float:
        """The question's own temperature, or that of its type and option count."""
        if self.questions:
            own = self.questions.get(question_digest(question))
            if own is not None:
                return own
        return self.temperatures.of(question_type(question), option_count(question))

    def require(self, reader: str, digest: str) -> None:
        """Refuse another reader than the one it was fitted for.

        Raises:
            ProfileError: naming both.
        """
        if digest != self.reader_digest:
            raise ProfileError(
                f"Calibration profile {self.name!r} was fitted for reader {self.reader!r} with files {self.reader_digest[:12]}; "
                f"this reader is {reader!r} with files {digest[:12]}. Fit one with: oneread calibrate"
            )

    def overlap(self, cases: Iterable[str]) -> int:
        """How many of these cases, by digest, it was fitted on."""
        return sum(case in self.fitted_on for case in cases)

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def to_json(self) -> dict[str, Any]:
        """As a JSON value; `from_json` reads it back."""
        fitted = b"".join(sorted(bytes.fromhex(digest) for digest in self.fitted_on))
        return {
            "format": FORMAT,
            "name": self.name,
            "reader": {"name": self.reader, "sha256": self.reader_digest},
            "source": self.source,
            "temperatures": {name: [list(pair) for pair in self.temperatures.buckets[name]] for name in TYPES},
            "questions": dict(self.questions),
            "sets": None if self.sets is None else {"coverage": self.sets.coverage, "least": _lists(self.sets.least)},
            "thresholds": [{"goal": t.goal, "value": t.value, "top": _lists(t.top)} for t in self.thresholds],
            "fitted_on": {"cases": len(self.fitted_on), "digests": base64.b64encode(fitted).decode()},
            "measured": dict(self.measured),
        }

    @classmethod
    def from_json(cls, value: Any) -> Profile:
        """From a JSON value.

        Raises:
            ProfileError: naming the part that is missing or of the wrong form.
        """
        if not isinstance(value, Mapping) or value.get("format") != FORMAT:
            raise ProfileError(f"A calibration profile should be an object of format {FORMAT!r}")
        reader = _part(value, "reader", lambda v: (_text(v["name"]), _text(v["sha256"])))
        return cls(
            name=_part(value, "name", _text),
            reader=reader[0],
            reader_digest=reader[1],
            temperatures=_part(value, "temperatures", Temperatures.parse),
            questions=_part(value, "questions", lambda v: {_text(k): _temperature(t) for k, t in v.items()}),
            sets=_part(value, "sets", lambda v: v and Sets(_share(v["coverage"]), _buckets(v["least"], _share))),
            thresholds=_part(value, "thresholds", lambda v: tuple(_thresholds(t) for t in v)),
            fitted_on=_part(value, "fitted_on", lambda v: frozenset(_digests(v["digests"]))),
            source=_part(value, "source", _text),
            measured=_part(value, "measured", dict),
        )


def load_profile(path: Path) -> Profile:
    """Read a profile from a file.

    Raises:
        ProfileError: it is missing, is not JSON, or is not a profile of this version.
    """
    try:
        return Profile.from_json(json.loads(path.read_bytes()))
    except OSError as error:
        raise ProfileError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise ProfileError(f"{path} is not JSON") from None
    except ProfileError as error:
        raise ProfileError(f"{path}: {error}") from None


def uncalibrated(reader: str, digest: str) -> Profile:
    """A profile that leaves the reader's scores as they are: what fitting starts from."""
    return Profile("uncalibrated", reader, digest, Temperatures(dict.fromkeys(TYPES, ((255, 1.0),))))


def default_name(reader: str, temperatures: Temperatures, fitted_on: Iterable[str]) -> str:
    """The reader's name and 8 digits that differ between profiles of other cases or temperatures."""
    content = json.dumps([sorted(fitted_on), {k: list(v) for k, v in temperatures.buckets.items()}])
    return f"{reader}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _part(value: Mapping[str, Any], name: str, read: Callable[[Any], T]) -> T:
    try:
        return read(value[name])
    except (KeyError, TypeError, ValueError, AttributeError, ReaderError):
        raise ProfileError(f"{name} is missing or of the wrong form") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _temperature(value: Any) -> float:
    if not 0 < float(value) < 1000:
        raise ValueError
    return float(value)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not 0 <= float(value) <= 1.01:
        raise ValueError
    return float(value)


def _threshold(value: Any) -> float | None:
    return None if value is None else _share(value)


def _buckets(value: Any, read: Callable[[Any], T]) -> dict[str, tuple[tuple[int, T], ...]]:
    return {name: tuple((int(edge), read(v)) for edge, v in pairs) for name, pairs in value.items() if name in TYPES}


def _thresholds(value: Any) -> Thresholds:
    if value["goal"] not in ("error", "cost"):
        raise ValueError
    return Thresholds(value["goal"], _share(value["value"]), _buckets(value["top"], _threshold))


def _digests(text: str) -> list[str]:
    data = base64.b64decode(text, validate=True)
    if len(data) % DIGEST_BYTES:
        raise ValueError
    return [data[i : i + DIGEST_BYTES].hex() for i in range(0, len(data), DIGEST_BYTES)]


def _lists(buckets: Mapping[str, Sequence[tuple[int, Any]]]) -> dict[str, list[list[Any]]]:
    return {name: [list(pair) for pair in pairs] for name, pairs in buckets.items()}
