"""What fitting looks at: a labelled question with the raw scores it got."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A labelled case and the scores of its answers, before any temperature.

    Attributes:
        type: noul, choice or score.
        scores: (options,) raw scores, or log-probabilities at temperature 1: a constant added to all changes nothing.
            For a noul: yes, then no.
        gold: index of the right answer.
        question: the question's digest.
        cluster: digest of the state; cases about one state are kept together when cases are split.
        case: the case's digest.
    """

    type: str
    scores: Scores
    gold: int
    question: str
    cluster: str
    case: str

    @property
    def options(self) -> int:
        return len(self.scores)


class Clustered(Protocol):
    """Anything that knows the digest of its state."""

    @property
    def cluster(self) -> str: ...


C = TypeVar("C", bound=Clustered)


def split(cases: Iterable[C], shares: Sequence[float], salt: str = "") -> list[list[C]]:
    """Cases in parts of about these shares, all cases of one state in the same part.

    The part is a function of the state's digest and `salt` alone, so that the same case always falls into the same one.

    Args:
        shares: positive, with sum 1.
    """
    edges = np.cumsum(shares)
    parts: list[list[C]] = [[] for _ in shares]
    for case in cases:
        parts[min(int(np.searchsorted(edges, place(case.cluster, salt), side="right")), len(parts) - 1)].append(case)
    return parts


def place(cluster: str, salt: str = "") -> float:
    """A number in [0, 1), uniform over states."""
    return int.from_bytes(sha256(f"{salt}:{cluster}".encode()).digest()[:7], "big") / 2**56
