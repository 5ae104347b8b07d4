"""Accuracy, log loss and calibration error from raw scores: few and fast, for training. `oneread eval` has the rest."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import CaseFile
from .splits import DEV, UNSEEN

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


def probabilities(cases: CaseFile, scores: Floats, temperature: Floats | float = 1.0) -> Floats:
    """Softmax within each case, over all cases of the file. `temperature` is one, or one for each case."""
    row = np.repeat(np.arange(len(cases)), np.diff(cases.starts))
    s = scores / (temperature[row] if isinstance(temperature, np.ndarray) else temperature)
    top = np.maximum.reduceat(s, cases.starts[:-1])
    e = np.exp(s - top[row])
    return np.asarray(e / np.add.reduceat(e, cases.starts[:-1])[row], np.float32)


def outcomes(cases: CaseFile, scores: Floats, index: Ints, temperature: Floats | float = 1.0) -> dict[str, NDArray[Any]]:
    """For each case of `index` that was read: right, confidence, p (of the labelled answer), chance, and its index."""
    p = probabilities(cases, scores, temperature)
    lists: dict[str, list[Any]] = {"right": [], "confidence": [], "p": [], "chance": [], "case": []}
    for i in index:
        part = slice(cases.starts[i], cases.starts[i + 1])
        if np.isnan(scores[part]).any():
            continue
        gold = int(cases.target[part].argmax())
        best = int(p[part].argmax())
        for k, v in zip(lists, (best == gold, p[part][best], p[part][gold], 1 / (part.stop - part.start), i), strict=True):
            lists[k].append(v)
    return {k: np.array(v, np.int64 if k == "case" else None) for k, v in lists.items()}


def ece(right: NDArray[Any], confidence: NDArray[Any], bins: int = 15) -> float:
    """Expected calibration error over bins of equal width (Guo et al. 2017)."""
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    return float(
        sum(abs(right[which == b].mean() - confidence[which == b].mean()) * (which == b).mean() for b in np.unique(which))
    )


TEMPERATURES = (0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0, 2.5, 3.0)


def brief(cases: CaseFile, starts: Ints, scores: Floats, index: Ints) -> dict[str, float]:
    """Accuracy, chance, log loss and calibration error, each case alike.

    The tempered log loss is that of the best of `TEMPERATURES` for all cases: a reader ships with temperatures, so one that
    is merely too sure of itself is no worse.
    """
    o = outcomes(cases, scores, index)
    tempered = min(float(-np.log(np.maximum(outcomes(cases, scores, index, t)["p"], 1e-9)).mean()) for t in TEMPERATURES)
    return {
        "accuracy": round(float(o["right"].mean()), 4),
        "chance": round(float(o["chance"].mean()), 4),
        "log_loss": round(float(-np.log(np.maximum(o["p"], 1e-9)).mean()), 4),
        "tempered_log_loss": round(tempered, 4),
        "ece": round(ece(o["right"], o["confidence"]), 4),
        "read": len(o["p"]),
    }


def of_tasks(cases: CaseFile, tasks: Collection[str]) -> Ints:
    """The cases of these tasks."""
    return np.flatnonzero(np.isin(cases.task, [i for i, t in enumerate(cases.tasks) if t in tasks]))


def accuracy(cases: CaseFile, scores: Floats, tasks: Collection[str]) -> dict[str, Any]:
    """Mean over tasks of accuracy and chance, pooled calibration error, and accuracy by task."""
    o = outcomes(cases, scores, of_tasks(cases, tasks))
    by_task: dict[str, tuple[float, float]] = {}
    if not len(o["case"]):
        return {"accuracy": None, "tasks": by_task}
    for t in np.unique(cases.task[o["case"]]):
        mine = cases.task[o["case"]] == t
        by_task[cases.tasks[t]] = (round(float(o["right"][mine].mean()), 3), round(float(o["chance"][mine].mean()), 3))
    mean = np.array(list(by_task.values())).mean(0)
    return {
        "accuracy": round(float(mean[0]), 4),
        "chance": round(float(mean[1]), 4),
        "ece": round(ece(o["right"], o["confidence"]), 4),
        "log_loss": round(float(-np.log(np.maximum(o["p"], 1e-9)).mean()), 4),
        "tasks": by_task,
    }


def figures(cases: CaseFile, scores: Floats) -> dict[str, Any]:
    """`accuracy` of dev and of unseen tasks, and the log loss of all dev cases after one temperature."""
    dev = of_tasks(cases, DEV)
    return {
        "dev_tempered_log_loss": brief(cases, cases.starts, scores, dev)["tempered_log_loss"] if len(dev) else None,
        "dev": accuracy(cases, scores, DEV),
        "unseen": accuracy(cases, scores, UNSEEN),
    }
