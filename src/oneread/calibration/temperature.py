"""Temperatures: one number that flattens or sharpens a distribution, by question type and number of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ReaderError

TYPES = ("noul", "choice", "score")


@dataclass(frozen=True, slots=True)
class Temperatures:
    """A temperature for each type and bucket of option counts.

    Attributes:
        buckets: by type, (largest option count, temperature) pairs in rising order; the last one also serves more
            options.
    """

    buckets: Mapping[str, Sequence[tuple[int, float]]]

    @classmethod
    def parse(cls, value: Any) -> Temperatures:
        """From JSON: ``{"noul": 1.5, "choice": [[2, 1.4], [255, 1.9]], "score": 2.0}``.

        Raises:
            ReaderError: a type is missing or unknown, a bucket is out of order, or a temperature is not positive.
        """
        if not isinstance(value, Mapping) or set(value) != set(TYPES):
            raise ReaderError(f"temperatures should have exactly the keys {', '.join(TYPES)}")
        buckets = {}
        for name, entry in value.items():
            pairs = entry if isinstance(entry, list) else [[255, entry]]
            try:
                parsed = tuple((int(most), float(temperature)) for most, temperature in pairs)
            except (TypeError, ValueError):
                raise ReaderError(f"temperatures.{name} should be a number or [option count, number] pairs") from None
            rising = all(a[0] < b[0] for a, b in pairwise(parsed))
            if not parsed or not rising or not all(0 < t < 1000 for _, t in parsed):
                raise ReaderError(f"temperatures.{name} should hold positive numbers, option counts rising")
            buckets[name] = parsed
        return cls(buckets)

    def of(self, type: str, options: int) -> float:
        """The temperature for a question of this type with this many options."""
        pairs = self.buckets[type]
        return next((t for most, t in pairs if options <= most), pairs[-1][1])


def softmax(scores: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """exp(s/T) normalised to sum to 1; `scores` is (n,) of finite numbers."""
    shifted = np.exp((scores - scores.max()) / temperature)
    return np.asarray(shifted / shifted.sum(), np.float64)
