"""Temperatures from dev tasks, and the figures of the card from the raw scores of a run.

    python -m training.report DATA_DIR SCORES.npz OUT.json --sources SOURCES_DIR

Temperatures are fitted on `DEV` only, by type and bucket of option counts, each task alike; the rest is reported with them.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oneread.calibration.priors import RULES

from .cases import TYPES, CaseFile
from .measure import Floats, Ints, ece, of_tasks, outcomes, probabilities
from .splits import DEV, UNSEEN, read_tasks

EDGES = {"noul": (2,), "choice": (2, 4, 8, 255), "score": (10,)}
"""Largest option count of each bucket that has a temperature of its own."""

PRIOR_TASKS = 4.0


def fit_temperatures(cases: CaseFile, scores: Floats, index: Ints) -> dict[str, list[list[float]]]:
    """The temperature with the least log loss for each bucket, cases weighted so that each task counts alike.

    All dev cases together count as `PRIOR_TASKS` more tasks in each bucket, since a bucket of few tasks says little of others.
    """
    count = np.diff(cases.starts)
    grid = np.exp(np.linspace(np.log(0.5), np.log(4), 85))
    per_task = np.bincount(cases.task[index], minlength=len(cases.tasks))
    losses = {t: _losses(cases, scores, index, float(t)) for t in grid}
    each = 1 / np.maximum(1, per_task[cases.task[index]])
    overall = {t: float(np.nansum(losses[t] * each) / each.sum()) for t in grid}
    out: dict[str, list[list[float]]] = {}
    for kind, name in enumerate(TYPES):
        low, pairs = 0, []
        for edge in EDGES[name]:
            mine = (cases.kind[index] == kind) & (count[index] > low) & (count[index] <= edge)
            weight = mine * each
            best = min(grid, key=lambda t, w=weight: float(np.nansum(losses[t] * w)) + PRIOR_TASKS * overall[t])
            pairs.append([255 if edge == EDGES[name][-1] else edge, round(float(best), 3)])
            low = edge
        out[name] = pairs
    return out


def _losses(cases: CaseFile, scores: Floats, index: Ints, temperature: float) -> NDArray[np.float64]:
    p = probabilities(cases, scores, temperature)
    logs = np.add.reduceat(np.log(np.maximum(p, 1e-9)) * cases.target, cases.starts[:-1])
    return -logs[index].astype(np.float64)


def temperature_of(cases: CaseFile, temperatures: dict[str, list[list[float]]]) -> Floats:
    """The temperature of each case."""
    count = np.diff(cases.starts)
    table = [[next(t for most, t in temperatures[name] if n <= most) for n in range(256)] for name in TYPES]
    return np.array(table, np.float32)[cases.kind, np.minimum(count, 255)]


def groups(cases: CaseFile, scores: Floats, temperature: Floats, names: dict[str, str], index: Ints) -> dict[str, Any]:
    """By group and task: accuracy, chance, points above it, ECE."""
    o = outcomes(cases, scores, index, temperature)
    by: dict[str, list[int]] = defaultdict(list)
    task_of = [cases.tasks[t] for t in cases.task[o["case"]]]
    for i, t in enumerate(task_of):
        by[names.get(t, "made")].append(i)

    def line(which: list[int] | NDArray[Any]) -> dict[str, float]:
        right, chance = float(o["right"][which].mean()), float(o["chance"][which].mean())
        return {
            "cases": len(which),
            "accuracy": round(right, 3),
            "chance": round(chance, 3),
            "above": round(100 * (right - chance), 1),
            "ece": round(ece(o["right"][which], o["confidence"][which]), 3),
        }

    tasks = {t: line(np.flatnonzero(np.array(task_of) == t)) for t in dict.fromkeys(task_of)}
    of_kind = {TYPES[k]: line(np.flatnonzero(cases.kind[o["case"]] == k)) for k in np.unique(cases.kind[o["case"]])}
    return {
        "all": line(np.arange(len(task_of))),
        "groups": {g: line(w) for g, w in sorted(by.items())},
        "types": of_kind,
        "tasks": tasks,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("scores", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sources", type=Path, required=True)
    args = parser.parse_args()
    cases = CaseFile.load(args.data / "measured.npz")
    names = {t.name: t.group for t in read_tasks(args.sources).values()}
    z = np.load(args.scores)
    main_name = "apart" if "apart" in z else z.files[0]
    scores = z[main_name]
    dev, unseen = of_tasks(cases, DEV), of_tasks(cases, UNSEEN)
    made = of_tasks(cases, [t for t in cases.tasks if t.startswith("made:")])
    seen = np.setdiff1d(np.arange(len(cases)), np.concatenate([dev, unseen, made]))
    temperatures = fit_temperatures(cases, scores, dev)
    t, one = temperature_of(cases, temperatures), np.ones(len(cases), np.float32)
    parts = {"unseen": unseen, "dev": dev, "seen": seen, "made": made}
    result: dict[str, Any] = {
        "temperatures": temperatures,
        "layout": main_name,
        "after": {k: groups(cases, scores, t, names, i) for k, i in parts.items()},
    }
    result["ece_raw"] = {k: groups(cases, scores, one, names, i)["all"]["ece"] for k, i in parts.items()}
    count = np.diff(cases.starts)
    for name, rule in RULES.items():  # what temperatures without labels would have given
        by_rule = np.array([rule.temperature(int(n)) for n in count], np.float32)
        result[f"ece_rule_{name}"] = {k: groups(cases, scores, by_rule, names, i)["all"]["ece"] for k, i in parts.items()}
    if "blind" in z and main_name == "apart":
        a, b = probabilities(cases, scores, t), probabilities(cases, z["blind"], t)
        gap = np.nan_to_num(np.abs(a - b))
        moved = np.maximum.reduceat(gap, cases.starts[:-1])[unseen]
        result["packed"] = {
            "note": "state blind to the questions (packed rows) against alone; other questions move nothing in it",
            "median": round(float(np.median(moved)), 4),
            "p99": round(float(np.quantile(moved, 0.99)), 4),
            **groups(cases, z["blind"], t, names, unseen)["all"],
        }
    args.out.write_text(json.dumps(result, indent=1))
    print(json.dumps({k: v for k, v in result.items() if k != "after"}, indent=1))
    for k, r in result["after"].items():
        print(k, r["all"])
    for g, line in result["after"]["unseen"]["groups"].items():
        print(f"{g:18} {line['cases']:5} {line['accuracy']:.3f} chance {line['chance']:.3f} +{line['above']} ece {line['ece']}")


if __name__ == "__main__":
    main()
