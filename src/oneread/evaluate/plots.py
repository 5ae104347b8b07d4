"""Reliability diagram, risk-coverage curve and confusion matrices as PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingExtra
from . import metrics
from .outcomes import Columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LABELS = 20
MOST_TASKS = 12


def save_plots(columns: Columns, directory: Path, names: bool = False) -> list[Path]:
    """Draw everything into a directory; returns the files.

    Args:
        names: whether confusion matrices show the names of answers. They are the caller's text, so by default labels are
            numbered in the alphabet's order.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("Plots need matplotlib: pip install 'oneread[eval]'") from None
    directory.mkdir(parents=True, exist_ok=True)
    parts = {"all": np.arange(len(columns)), **columns.by(columns.kinds)}
    files: list[Path] = []

    def save(figure: Any, name: str) -> None:
        path = directory / name
        figure.savefig(path, dpi=120)
        files.append(path)

    figure = Figure(figsize=(4 * len(parts), 4.2), layout="constrained")
    for axes, (name, index) in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts.items(), strict=True):
        _reliability(axes, name, columns, index)
    save(figure, "reliability.png")

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, index in parts.items():
        coverage, risk = metrics.risk_coverage(columns.top[index], columns.right[index])
        axes.plot(coverage, risk, label=f"{name} (AURC {risk.mean():.3f})")
    axes.set(xlabel="share answered, the most certain first", ylabel="error among them", xlim=(0, 1), ylim=(0, None))
    axes.legend()
    axes.grid(alpha=0.3)
    save(figure, "risk_coverage.png")

    confusions = confusion_matrices(columns)
    if confusions:
        wide = min(3, len(confusions))
        high = -(-len(confusions) // wide)
        figure = Figure(figsize=(4.5 * wide, 4.5 * high), layout="constrained")
        for place, axes in enumerate(figure.subplots(high, wide, squeeze=False).flat):
            if place < len(confusions):
                _confusion(axes, *confusions[place], names)
            else:
                axes.axis("off")
        save(figure, "confusion.png")
    return files


def confusion_matrices(columns: Columns) -> list[tuple[str, list[str], metrics.Ints]]:
    """(task, label names in the alphabet's order, counts with a row for each right label), the largest tasks first.

    Tasks with more than `MOST_LABELS` labels are left out, and all but `MOST_TASKS` tasks.
    """
    found = []
    for task, index in sorted(columns.by(columns.tasks).items(), key=lambda item: -len(item[1])):
        used = np.union1d(columns.gold[index], columns.predicted[index])
        if len(used) > MOST_LABELS:
            continue
        names = {i: name for (owner, name), i in columns.label_ids.items() if owner == task}
        order = sorted(used.tolist(), key=names.__getitem__)
        place = {label: i for i, label in enumerate(order)}
        counts = np.zeros((len(order), len(order)), np.int64)
        for gold, predicted in zip(columns.gold[index].tolist(), columns.predicted[index].tolist(), strict=True):
            counts[place[gold], place[predicted]] += 1
        found.append((task, [names[i] for i in order], counts))
    return found[:MOST_TASKS]


def _reliability(axes: Axes, name: str, columns: Columns, index: metrics.Ints) -> None:
    top, right = columns.top[index], columns.right[index]
    bins = metrics.reliability(top, right)
    p, accuracy, n = (np.array(values) for values in zip(*bins, strict=True))
    axes.plot([0, 1], [0, 1], color="grey", lw=1)
    axes.bar(p, n / n.sum(), width=1 / metrics.BINS, alpha=0.2, label="share of cases")
    axes.plot(p, accuracy, "o-", label="accuracy")
    ece = metrics.ece_equal_width(top, right)
    axes.set(
        title=f"{name}: {len(index)} cases, ECE {ece:.3f}", xlabel="probability", ylabel="accuracy", xlim=(0, 1), ylim=(0, 1)
    )
    axes.legend(loc="upper left")


def _confusion(axes: Axes, task: str, labels: list[str], counts: metrics.Ints, names: bool) -> None:
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    ticks = labels if names else [str(i) for i in range(len(labels))]
    axes.set_xticks(range(len(labels)), ticks, rotation=90 if names else 0)
    axes.set_yticks(range(len(labels)), ticks)
    axes.set(title=task, xlabel="answered", ylabel="right")
    if len(labels) <= 10:
        for i, j in np.ndindex(counts.shape):
            axes.text(
                j, i, str(counts[i, j]), ha="center", va="center", color="white" if share[i, j] > 0.5 else "black", fontsize=8
            )
