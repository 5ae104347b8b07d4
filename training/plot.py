"""Draws metrics.jsonl of runs: tempered log loss, accuracy and calibration error on dev tasks against tokens read.

python -m training.plot OUT.png RUN [RUN ...]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PANELS = (
    ("tempered_log_loss", "log loss at the best temperature, dev tasks (nats)"),
    ("accuracy", "accuracy, dev tasks"),
    ("ece", "calibration error, dev tasks"),
    ("train_loss", "training loss (nats)"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    args = parser.parse_args()
    figure, axes = plt.subplots(1, len(PANELS), figsize=(4.2 * len(PANELS), 3.4), layout="constrained")
    for run in args.runs:
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        for axis, (key, title) in zip(axes, PANELS, strict=True):
            axis.plot([line["tokens"] / 1e6 for line in lines], [line[key] for line in lines], marker="o", label=run.name)
            axis.set(title=title, xlabel="million tokens")
    axes[0].legend(fontsize=7)
    figure.savefig(args.out, dpi=110)


if __name__ == "__main__":
    main()
