"""A report for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.console import Group
from rich.markup import escape
from rich.table import Table

from .orders import Shift
from .outcomes import Summary
from .report import Report
from .run import count

COLUMNS = (
    ("accuracy", "accuracy"),
    ("chance", "chance"),
    ("macro_f1", "macro F1"),
    ("brier", "Brier"),
    ("log_score", "log score"),
    ("ece_width", "ECE"),
    ("ece_mass", "ECE mass"),
    ("aurc", "AURC"),
    ("auroc", "AUROC"),
    ("mae", "MAE"),
    ("rps", "RPS"),
)
MOST_TASKS = 40
WIDTH = 112
"""Columns of a terminal below which the numbers would be cut; narrower ones wrap the lines instead."""


def report_table(report: Report) -> Group:
    """One table of all parts, and lines on orders, packing and failures."""
    title = f"{report.reader}, calibration {report.calibration or 'of the reader'}"
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    table.add_column("cases", justify="right")
    for _, title in COLUMNS:
        table.add_column(title, justify="right")
    for part, found in report.parts.items():
        if part == "task" and len(found) > MOST_TASKS:
            table.caption = f"{len(found)} tasks: see report.json (--out)"
            continue
        if part in ("group", "task") and len(found) == 1:
            continue
        table.add_section()
        _rows(table, part, found)
    lines = [f"[bold]Other order[/]: {name}: {_shift(shift)}" for name, shift in report.orders.items()]
    lines.append(f"[bold]Packed against alone[/]: {_shift(report.packed)}")
    lines += [f"[yellow]{n} cases got no answer: {kind}[/]" for kind, n in count(report.failed).items()]
    lines.append(f"{len(report.columns)} cases in {report.seconds:.1f} s. ± is half a 95 % bootstrap interval over states.")
    return Group(table, *lines)


def _rows(table: Table, part: str, found: Mapping[str, Summary]) -> None:
    for name, summary in found.items():
        label = "[bold]all[/]" if part == "all" else f"{name} options" if part == "options" else escape(name)
        table.add_row(label, str(summary.cases), *(_value(summary, metric) for metric, _ in COLUMNS))


def _value(summary: Summary, metric: str) -> str:
    if metric not in summary.values:
        return ""
    text = f"{summary.values[metric]:.3f}"
    if metric in ("accuracy", "ece_width") and metric in summary.intervals:
        low, high = summary.intervals[metric]
        text += f" ±{(high - low) / 2:.3f}"
    return text


def _shift(shift: Shift | str) -> str:
    if isinstance(shift, str):
        return shift
    median, _, p99, _ = shift.moved
    return f"{shift.flips:.1%} of {shift.cases} answers flip; probabilities move by {median:.3f} (99th percentile {p99:.3f})"
