"""One evaluation, from rows to everything that is reported of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..controls import Controls
from . import metrics
from .cases import Row, sample
from .orders import (
    NO_CASES,
    NO_COMPANIONS,
    NO_PACKED_MODE,
    NOT_MEASURED,
    NOUL_ORDER,
    Shift,
    compare,
    order_pairs,
    other_order,
    packed_rows,
)
from .outcomes import Columns, Outcome, Summary
from .run import Failed, Target, ask_all, count

FORMAT = "oneread-eval/1"
CURVE_POINTS = 100
MOST_PACKED = 300
"""Lines that are read packed as well, drawn by the seed."""


@dataclass(frozen=True, slots=True)
class Options:
    """How an evaluation is made.

    Attributes:
        concurrency: requests under way at a time.
        orders: in how many further orders choices are asked again.
        resamples: of the bootstrap; 0 gives no intervals.
        seed: of orders and resamples.
    """

    concurrency: int = 16
    orders: int = 1
    resamples: int = 200
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured. Holds no text of a case beyond names of tasks and groups.

    Attributes:
        reader: who answered.
        calibration: name of the profile that was applied, or None.
        parts: by ``all``, ``type``, ``options``, ``group`` and ``task``, a summary for each name.
        orders: by type, how answers moved when options were listed in another order, or why that is not known.
        packed: likewise, between questions packed together and alone.
        seconds: the first pass over all rows took.
    """

    reader: str
    calibration: str | None
    columns: Columns
    failed: Sequence[Failed]
    parts: Mapping[str, Mapping[str, Summary]]
    orders: Mapping[str, Shift | str]
    packed: Shift | str
    seconds: float
    options: Options
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def whole(self) -> Summary:
        return self.parts["all"]["all"]

    def to_json(self) -> dict[str, object]:
        """As a JSON value, written by `save`."""
        columns = self.columns
        coverage, risk = metrics.risk_coverage(columns.top, columns.right)
        at = np.unique(np.linspace(0, len(risk) - 1, CURVE_POINTS).round().astype(int))
        return {
            "format": FORMAT,
            "reader": self.reader,
            "calibration": self.calibration,
            "cases": len(columns),
            "failed": count(self.failed),
            "seconds": round(self.seconds, 3),
            "settings": {"orders": self.options.orders, "resamples": self.options.resamples, "seed": self.options.seed},
            "notes": list(self.notes),
            "results": {part: {name: s.to_json() for name, s in found.items()} for part, found in self.parts.items()},
            "orders": {name: v if isinstance(v, str) else v.to_json() for name, v in self.orders.items()},
            "packed_against_alone": self.packed if isinstance(self.packed, str) else self.packed.to_json(),
            "reliability": [[round(p, 6), round(a, 6), n] for p, a, n in metrics.reliability(columns.top, columns.right)],
            "risk_coverage": [[round(float(coverage[i]), 6), round(float(risk[i]), 6)] for i in at],
        }

    def save(self, directory: Path) -> None:
        """Write ``report.json`` and ``predictions.jsonl`` (places, indices and probabilities; no text)."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "report.json").write_text(json.dumps(self.to_json(), indent=1) + "\n", encoding="utf-8")
        with (directory / "predictions.jsonl").open("w", encoding="utf-8") as stream:
            for place, outcome in enumerate(self.columns.outcomes):
                case = outcome.case
                line = {
                    "at": case.source,
                    "question": question_number(self.columns.outcomes, place),
                    "type": case.type,
                    "gold": case.gold,
                    "probabilities": [round(p, 6) for p in outcome.probabilities.tolist()],
                }
                stream.write(json.dumps(line) + "\n")


def question_number(outcomes: Sequence[Outcome], place: int) -> int:
    """Which question of its line an outcome is about, from 0: ids are the caller's text and are not written."""
    first = place
    while first and outcomes[first - 1].case.source == outcomes[place].case.source:
        first -= 1
    return place - first


async def evaluate(
    target: Target,
    rows: Sequence[Row],
    options: Options,
    reader: Callable[[], str],
    calibration: str | None = None,
    packed: Target | None = None,
    progress: Callable[[str, int], Callable[[], object]] = lambda what, total: lambda: None,
) -> Report | None:
    """Ask every row, and its choices again in other orders; None when no row was answered.

    Args:
        reader: gives the reader's name once something was asked.
        packed: the same reader, where it can be asked to read questions together.
        progress: ``progress(what, total)`` starts a bar and returns what to call after each row.
    """
    start = time.monotonic()
    first, failed = await ask_all(target, rows, options.concurrency, progress("cases", len(rows)))
    seconds = time.monotonic() - start
    if not first:
        return None
    orders: dict[str, Shift | str] = {"noul": NOUL_ORDER, "choice": NOT_MEASURED, "score_reversed": NOT_MEASURED}
    pairs: dict[str, list[tuple[metrics.Floats, metrics.Floats]]] = {"choice": [], "score": []}
    for k in range(options.orders):
        again = other_order(rows, options.seed + k)
        if k:  # reversing is the only other order of levels
            again = [Row(r.source, r.state, kept) for r in again if (kept := tuple(c for c in r.cases if c.type == "choice"))]
        other, _ = await ask_all(target, again, options.concurrency, progress(f"order {k + 2}", len(again)))
        for name, found in order_pairs(first, other).items():
            pairs[name] += found
    for name, key in (("choice", "choice"), ("score", "score_reversed")):
        shift = compare(pairs[name])
        if options.orders:
            orders[key] = shift or NO_CASES
    columns = Columns(first)
    kinds = {"type": columns.kinds, "options": columns.buckets, "group": columns.groups, "task": columns.tasks}
    parts = {"all": {"all": columns.summary(np.arange(len(columns)), options.resamples, options.seed)}}
    advance = progress("intervals", sum(len(set(names)) for names in kinds.values()))
    for part, names in kinds.items():
        parts[part] = {}
        for name, index in columns.by(names).items():
            parts[part][name] = columns.summary(index, options.resamples, options.seed)
            advance()
    together = await _packed(packed, rows, first, options, progress)
    return Report(reader(), calibration, columns, failed, parts, orders, together, seconds, options)


async def _packed(
    packed: Target | None,
    rows: Sequence[Row],
    alone: Sequence[Outcome],
    options: Options,
    progress: Callable[[str, int], Callable[[], object]],
) -> Shift | str:
    if packed is None:
        return NO_PACKED_MODE
    several = sample(packed_rows(rows, options.seed), MOST_PACKED, options.seed)
    controls = Controls(mode="packed")
    other, _ = await ask_all(packed, several, options.concurrency, progress("packed", len(several)), controls)
    by_place = {(o.case.source, o.case.key): o.probabilities for o in alone}
    pairs = [(by_place[place], o.probabilities) for o in other if (place := (o.case.source, o.case.key)) in by_place]
    return compare(pairs) or NO_COMPANIONS
