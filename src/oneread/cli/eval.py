"""``oneread eval``"""

from __future__ import annotations

import asyncio
import ipaddress
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from ..calibration.profile import Profile, load_profile
from ..errors import MissingExtra, OnereadError
from .console import err, fail, out
from .options import ReaderPath, Threads
from .progress import Bars

if TYPE_CHECKING:
    from ..decide import Decider
    from ..evaluate.report import Report

CasePaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="CASES...",
        help="JSONL files of labelled cases (.jsonl or .jsonl.gz), or directories of them. A line holds state, type, "
        "instructions, criteria and answer (and, if you like, task and group); or state, questions and answers by id.",
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Take at most this many lines, drawn by --seed.")]
Seed = Annotated[int, typer.Option(min=0, help="Of what is drawn: lines, orders, resamples.")]
CASES_TODO = "docs/evaluation.md shows the form of a case; 'oneread eval --help' has an example."


def evaluate(
    cases: CasePaths,
    url: Annotated[str | None, typer.Option(help="Ask a running server that speaks POST /v1/systemone.", metavar="URL")] = None,
    model: Annotated[str, typer.Option(help="The model to ask the server for.")] = "jev-latest",
    key_env: Annotated[
        str, typer.Option(help="Environment variable that holds the server's key.", metavar="NAME")
    ] = "ONEREAD_API_KEY",
    reader: ReaderPath = None,
    threads: Threads = None,
    calibration: Annotated[
        Path | None, typer.Option(help="Calibration profile to apply (see 'oneread calibrate').", metavar="FILE")
    ] = None,
    allow_fitted: Annotated[
        bool, typer.Option("--allow-fitted", help="Judge a profile also on cases it was fitted on: the result flatters it.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option("--out", help="Write report.json, predictions.jsonl (no texts) and plots there.", metavar="DIR"),
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="Show the names of options in confusion plots.")] = False,
    orders: Annotated[int, typer.Option(min=0, max=16, help="Ask choices again in this many other orders; 0 for none.")] = 1,
    resamples: Annotated[int, typer.Option(min=0, help="Of the bootstrap behind the intervals; 0 for none.")] = 200,
    concurrency: Annotated[int, typer.Option(min=1, max=256, help="Requests under way at a time.")] = 16,
    limit: Limit = None,
    seed: Seed = 0,
) -> None:
    """Measure a reader, or a server, on labelled cases.

    Accuracy, macro F1, Brier and log score, calibration error, AUROC, level errors, risk and coverage, and how often another
    order of options changes an answer: in all, by type, number of options, group and task, with 95 % intervals. Nothing is
    sent anywhere but to --url.
    """
    from ..evaluate.cases import cases_of, load_rows, sample
    from ..evaluate.fitting import overlapping
    from ..evaluate.report import Options
    from ..evaluate.report import evaluate as measure
    from ..evaluate.tables import WIDTH, report_table

    if url is not None and (reader is not None or calibration is not None):
        fail("--url asks a server, which has its own reader and calibration.", "Leave --reader and --calibration out.", 2)
    options = Options(concurrency, orders, resamples, seed)
    try:
        rows = sample(load_rows(cases), limit, seed)
        profile = None if calibration is None else load_profile(calibration)
        fitted = 0 if profile is None else overlapping(profile, cases_of(rows))
        if fitted and not allow_fitted:
            fail(
                f"The profile was fitted on {fitted} of these {len(cases_of(rows))} cases, so they cannot judge it.",
                "Use cases kept apart from fitting, or add --allow-fitted.",
            )
        with Bars() as bars:

            async def run() -> Report | None:
                if url is not None:
                    from ..evaluate.remote import Remote

                    _say_where(url)
                    async with Remote(url, os.environ.get(key_env), model) as remote:
                        return await measure(
                            remote, rows, options, lambda: ", ".join(sorted(remote.served)), None, None, bars.start_bar
                        )
                decider = _decider(reader, threads, profile)
                try:
                    applied = None if profile is None else profile.name
                    return await measure(decider, rows, options, lambda: decider.reader.name, applied, decider, bars.start_bar)
                finally:
                    decider.close()

            report = asyncio.run(run())
    except OnereadError as error:
        fail(str(error), CASES_TODO)
    if report is None:
        fail("No case was answered.", "Check the server with 'oneread doctor --url', or a case with 'oneread ask'.")
    out.width = max(out.width, WIDTH)
    out.print(report_table(report))
    if fitted:
        err.print(f"[bold red]The profile was fitted on {fitted} of these cases: its calibration looks better than it is.[/]")
    if save is not None:
        report.save(save)
        _plots(report, save, names)


def _decider(reader: Path | None, threads: int | None, profile: Profile | None) -> Decider:
    from ..decide import Decider
    from ..readers.reader import load_reader

    return Decider(load_reader(reader, threads), calibration=profile)


def _plots(report: Report, directory: Path, names: bool) -> None:
    from ..evaluate.plots import save_plots

    files = ["report.json", "predictions.jsonl"]
    try:
        files += [path.name for path in save_plots(report.columns, directory, names)]
    except MissingExtra as error:
        err.print(f"No plots: {error}", markup=False, soft_wrap=True)
    err.print(f"Written to {directory}: {', '.join(files)}", markup=False, soft_wrap=True)


def _say_where(url: str) -> None:
    host = urlsplit(url).hostname or ""
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    if not local:
        err.print(f"[yellow]The cases are sent to {host}.[/]")
