"""``oneread tune``"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..errors import MissingExtra, OnereadError
from .console import err, fail, out
from .eval import CasePaths, Limit, Seed
from .options import ReaderPath, Threads
from .progress import Bars

if TYPE_CHECKING:
    from ..tuning.tune import Tuned

SHOWN = (
    ("accuracy", "accuracy"),
    ("macro_f1", "macro F1"),
    ("log_score", "log score"),
    ("brier", "Brier"),
    ("ece_width", "ECE"),
    ("auroc", "AUROC (nouls)"),
    ("mae", "level error (scores)"),
)


def tune(
    cases: CasePaths,
    save: Annotated[Path, typer.Option("--out", help="Where to write the new reader: a new directory.", metavar="DIR")],
    reader: ReaderPath = None,
    test: Annotated[
        list[Path] | None, typer.Option(help="Cases that measure instead of a part of CASES.", metavar="FILE")
    ] = None,
    keep: Annotated[
        list[Path] | None, typer.Option(help="Cases of other kinds, asked before and after: what was forgotten?", metavar="FILE")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The new reader's name; left out, the old one's and '-tuned'.")] = None,
    layers: Annotated[int, typer.Option(min=0, max=48, help="How many of the last layers to train; 0 trains the head only.")] = 4,
    epochs: Annotated[int, typer.Option(min=1, max=100, help="Passes over the cases.")] = 6,
    rate: Annotated[float, typer.Option(min=1e-6, max=0.1, help="The highest learning rate.")] = 2e-4,
    holdout: Annotated[float, typer.Option(min=0.05, max=0.5, help="Share of CASES held out to measure.")] = 0.2,
    threads: Threads = None,
    limit: Limit = None,
    seed: Seed = 0,
) -> None:
    """Adapt the reader to your labelled cases: some hundred cases take minutes on two cores.

    The last layers are trained, part of the way to the trained weights is taken that makes checking cases most probable,
    temperatures are fitted anew, and the reader is measured before and after on cases it never saw. Needs torch:
    pip install 'oneread\\[train]'.
    """
    try:
        import torch  # noqa: F401
    except ImportError:
        fail(str(MissingExtra("Tuning needs torch.")), "pip install 'oneread[train]'")
    from ..evaluate.cases import load_rows, sample
    from ..readers.checkpoint import is_checkpoint
    from ..tuning.train import Recipe
    from ..tuning.tune import tune as run

    if reader is not None and is_checkpoint(reader):
        fail(
            f"{reader} is a model's checkpoint; only encoders with a reader.json are tuned.",
            "Fit it with 'oneread calibrate'.",
            2,
        )
    try:
        rows = sample(load_rows(cases), limit, seed)
        with Bars() as bars:

            def bar(what: str, total: int) -> Callable[[int], object]:
                task = bars.add_task(what, total=total)
                return lambda n: bars.advance(task, n)

            tuned = run(
                rows, save, reader, Recipe(layers=layers, epochs=epochs, rate=rate, seed=seed), name,
                load_rows(test or []) if test else (), load_rows(keep or []) if keep else (), holdout, threads=threads, bar=bar,
            )  # fmt: skip
    except OnereadError as error:
        fail(str(error), "docs/tuning.md says what cases it takes and what helps.")
    out.print(_table(tuned))
    err.print(f"Written to {save}. Serve it with: oneread serve --reader {save}", markup=False, soft_wrap=True)


def _table(tuned: Tuned) -> Table:
    training, choosing, held_out = tuned.cases
    title = f"{tuned.name}: trained on {training} cases in {tuned.seconds:.0f} s, {choosing} chose {tuned.share:.0%} of the way"
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for column in ("before", "after", *(("kept, before", "kept, after") if tuned.keep_before else ())):
        table.add_column(column, justify="right")
    for metric, label in SHOWN:
        if metric in tuned.before:
            found = [tuned.before[metric], tuned.after[metric]]
            if tuned.keep_before:
                found += [tuned.keep_before.get(metric, float("nan")), tuned.keep_after.get(metric, float("nan"))]
            table.add_row(label, *(f"{value:.3f}" for value in found))
    table.caption = f"on {held_out} cases held out"
    return table
