"""``oneread replay``"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ..errors import MissingExtra, OnereadError
from .console import fail, out
from .options import READER_TODO, ReaderPath, Threads
from .progress import Bars
from .serve_options import Calibration


def replay(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A log, SQLite or Parquet, written by 'oneread serve --log-decisions --log-inputs'."),
    ],
    reader: ReaderPath = None,
    threads: Threads = None,
    calibration: Calibration = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Ask everything in a decision log again, of another reader or calibration, and say what changes."""
    from ..calibration.profile import load_profile
    from ..decide import Decider
    from ..decision_log import LogError, entries
    from ..decision_log import replay as again
    from ..readers.reader import load_reader

    try:
        logged = list(entries(file))
    except MissingExtra as error:
        fail(f"{str(error).partition(':')[0]}.", f"Install it with:{str(error).partition(':')[2]}")
    except LogError as error:
        fail(f"{error}.", "Give a file written by 'oneread serve --log-decisions FILE --log-inputs'.")
    try:
        profile = None if calibration is None else load_profile(calibration)
        with Decider(load_reader(reader, threads), calibration=profile) as decider, Bars() as bars:
            found = again(logged, decider, bars.start_bar("asking again", len(logged)))
            name = decider.reader.name
    except OnereadError as error:
        fail(str(error), READER_TODO)
    if found.decisions == 0:
        fail(f"{file} holds no requests to ask again.", "Log them with --log-inputs; without it only their SHA-256 is kept.")
    value: dict[str, Any] = {
        "reader": name,
        "calibration": None if profile is None else profile.name,
        "decisions": found.decisions,
        "without_request": found.without_request,
        "refused": found.refused,
        "questions": found.questions,
        "same_top": found.same_top,
        "missing": found.missing,
        "mean_total_variation": found.distance,
        "largest_changes": [
            {"id": c.id, "question": c.question, "total_variation": c.distance, "before": c.before, "after": c.after}
            for c in found.worst
            if c.distance > 0
        ],
    }
    if as_json:
        out.print_json(json.dumps(value))
        return
    out.print(
        f"{found.decisions} decisions asked again of {name}: {found.same_top} of {found.questions} questions keep their top "
        f"answer, mean total variation {found.distance:.4f}.",
        markup=False,
        soft_wrap=True,
    )
    for what, count in (("hold no request", found.without_request), ("are refused now", found.refused)):
        if count:
            out.print(f"{count} entries {what}.")
    if value["largest_changes"]:
        table = Table("decision", "question", "total variation", "top before", "top after")
        for c in value["largest_changes"]:
            table.add_row(c["id"], c["question"], f"{c['total_variation']:.4f}", str(c["before"]), str(c["after"]))
        out.print(table)
