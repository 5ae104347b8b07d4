"""From the raw scores of many rows to one distribution of a question: windows, splits, a second round, draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..calibration.temperature import softmax

Scores: TypeAlias = NDArray[np.float64]
"""Raw scores or probabilities of a question's options, shape (options,)."""


def entropy(probabilities: Scores) -> float:
    """-sum p ln p, in nats, over the allowed answers."""
    positive = probabilities[probabilities > 0]
    return float(-(positive * np.log(positive)).sum())


def combine_windows(windows: Sequence[Scores]) -> Scores:
    """One raw score for each option from its scores in every window of a long state.

    The mean of the centred scores, weighted by how much a window says: 1 - H / ln n of its softmax. A window in which
    nothing bears on the question counts little. Chosen by bench/long_evidence.py; docs/adr/0002 has the table.

    Args:
        windows: for each window, raw scores (options,) of all options.
    """
    if len(windows) == 1:
        return windows[0]
    stacked = np.stack(windows)
    centred = stacked - stacked.mean(axis=1, keepdims=True)
    told = np.array([1 - entropy(softmax(w, 1.0)) / np.log(stacked.shape[1]) for w in stacked])
    weights = np.maximum(told, 1e-6)
    return np.asarray((centred * (weights / weights.sum())[:, None]).sum(axis=0), np.float64)


def second_round(first: Scores, finalists: Sequence[int], final: Scores) -> Scores:
    """Raw scores after the best options of split rows were read together once more.

    P(option) = P(one of the finalists) * P(option | finalists): the finalists share their joint mass of the first round
    as the second one says; the others keep their scores. First and second round at temperature 1.

    Args:
        first: raw scores of all options, each from its own row.
        finalists: indices into `first`.
        final: raw scores of the finalists, in that order.
    """
    joined = first.copy()
    chosen = list(finalists)
    joined[chosen] = final - _log_sum_exp(final) + _log_sum_exp(first[chosen])
    return joined


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The distributions of a question's draws and what they say together.

    Attributes:
        distributions: one for each draw, (draws, options); each sums to 1.
    """

    distributions: NDArray[np.float64]

    @property
    def mean(self) -> Scores:
        """The reported distribution."""
        return np.asarray(self.distributions.mean(axis=0), np.float64)

    @property
    def stderr(self) -> float | None:
        """Standard error of the top answer's probability over draws, sqrt(var / n); None for a single draw."""
        n = len(self.distributions)
        if n < 2:
            return None
        top = int(self.mean.argmax())
        return float(np.sqrt(self.distributions[:, top].var(ddof=1) / n))

    @property
    def agreement(self) -> float:
        """Share of draws whose top answer is that of their mean."""
        return float((self.distributions.argmax(axis=1) == self.mean.argmax()).mean())


def _log_sum_exp(scores: Scores) -> float:
    top = float(scores.max())
    return top + float(np.log(np.exp(scores - top).sum()))
