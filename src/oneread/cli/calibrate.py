"""``oneread calibrate``"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ..calibration.priors import RULES
from ..calibration.profile import Profile, default_name, uncalibrated
from ..errors import OnereadError
from .console import err, fail, out
from .eval import CASES_TODO, Limit, Seed
from .options import ReaderPath, Threads
from .progress import Bars


def calibrate(
    save: Annotated[Path, typer.Option("--out", help="The profile to write.", metavar="FILE")],
    cases: Annotated[
        list[Path] | None, typer.Argument(metavar="CASES...", help="Labelled cases, as 'oneread eval' takes them.")
    ] = None,
    reader: ReaderPath = None,
    threads: Threads = None,
    coverage: Annotated[
        float, typer.Option(min=0, max=0.999, help="Share of conformal sets that hold the right answer; 0 fits no sets.")
    ] = 0.9,
    target_error: Annotated[
        list[float] | None, typer.Option(help="Find thresholds above which at most this share of answers is wrong.")
    ] = None,
    abstain_cost: Annotated[
        list[float] | None,
        typer.Option(help="Find thresholds of least cost, a wrong answer costing 1 and an answer not accepted this much."),
    ] = None,
    holdout: Annotated[float, typer.Option(min=0.05, max=0.8, help="Share of the cases that only measures.")] = 0.3,
    rule: Annotated[
        str | None, typer.Option(help=f"Without cases: temperatures by a published rule ({', '.join(sorted(RULES))}).")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The profile's name; left out, the reader's and 8 digits.")] = None,
    limit: Limit = None,
    seed: Seed = 0,
) -> None:
    """Fit a calibration profile on labelled cases, for 'oneread serve --calibration FILE' and 'oneread eval'.

    Temperatures by type, number of options, and question where one is asked often; conformal sets; thresholds. A part of the
    cases is kept apart to measure what was fitted. The profile names the reader and keeps digests of the cases it was fitted
    on, no text.
    """
    from ..evaluate.fitting import Goals, fit_profile, scored
    from ..readers.reader import load_reader

    if bool(cases) == (rule is not None):
        fail("Give labelled cases, or --rule to do without.", CASES_TODO, 2)
    if rule is not None and rule not in RULES:
        fail(f"--rule should be one of {', '.join(sorted(RULES))}.", "docs/calibration.md says where they come from.", 2)
    if not all(0 < value < 1 for value in [*(target_error or ()), *(abstain_cost or ())]):
        fail("--target-error and --abstain-cost take numbers between 0 and 1.", "Try --target-error 0.05.", 2)
    try:
        loaded = load_reader(reader, threads)
        try:
            if rule is not None:
                temperatures = RULES[rule].temperatures()
                source = f"rule {rule}: log T = {RULES[rule].a} - {RULES[rule].b} log n, without labels"
                profile = Profile(
                    name or default_name(loaded.name, temperatures, ()), loaded.name, loaded.digest, temperatures, source=source
                )
            else:
                outcomes = _ask(cases or [], loaded, limit, seed)
                goals = Goals(coverage or None, tuple(target_error or ()), tuple(abstain_cost or ()), holdout)
                profile = fit_profile(scored(outcomes), loaded.name, loaded.digest, loaded.temperatures, goals, name)
        finally:
            loaded.close()
    except OnereadError as error:
        fail(str(error), CASES_TODO)
    profile.save(save)
    _print(profile)
    err.print(f"Written to {save}. Apply it with: oneread serve --calibration {save}", markup=False, soft_wrap=True)


def _ask(paths: list[Path], reader: Any, limit: int | None, seed: int) -> list[Any]:
    """Outcomes of the reader without any temperature."""
    from ..decide import Decider
    from ..evaluate.cases import load_rows, sample
    from ..evaluate.run import ask_all, count

    rows = sample(load_rows(paths), limit, seed)
    decider = Decider(reader, calibration=uncalibrated(reader.name, reader.digest))
    with Bars() as bars:
        outcomes, failed = asyncio.run(ask_all(decider, rows, 16, bars.start_bar("cases", len(rows))))
    for kind, n in count(failed).items():
        err.print(f"[yellow]{n} cases got no answer: {kind}[/]")
    return outcomes


def _print(profile: Profile) -> None:
    out.print(f"{profile.name}: {profile.source}", markup=False)
    table = Table("type", "options", "temperature")
    for kind, pairs in profile.temperatures.buckets.items():
        for most, temperature in pairs:
            table.add_row(kind, "all" if len(pairs) == 1 else f"up to {most}", f"{temperature:.2f}")
    out.print(table)
    if profile.questions:
        out.print(f"{len(profile.questions)} questions have temperatures of their own.")
    if profile.measured:
        out.print(_held_out(profile.measured))


def _held_out(measured: Mapping[str, Any]) -> Table:
    table = Table(title="on cases held out", title_justify="left")
    table.add_column("")
    for kind, entry in measured.items():
        table.add_column(f"{kind} ({entry['cases']})")
    for metric, label in (("log_score", "log score"), ("brier", "Brier"), ("ece_width", "ECE"), ("ece_mass", "ECE mass")):
        changes = (f"{entry['before'][metric]:.3f} → {entry['after'][metric]:.3f}" for entry in measured.values())
        table.add_row(label, *changes)
    if any("sets" in entry for entry in measured.values()):
        table.add_row("sets", *(_sets(entry.get("sets")) for entry in measured.values()))
    for place, first in enumerate(next(iter(measured.values()))["thresholds"]):
        goal = "error at most" if first["goal"] == "error" else "cost of asking a person"
        table.add_row(f"{goal} {first['value']:g}", *(_accepted(entry["thresholds"][place]) for entry in measured.values()))
    return table


def _sets(sets: Mapping[str, Any] | None) -> str:
    if sets is None:
        return "too few cases"
    return f"{sets['covered']:.0%} covered (stated {sets['stated']:.0%}), {sets['mean_size']:.1f} answers"


def _accepted(found: Mapping[str, Any]) -> str:
    return (
        "nothing accepted" if found["error"] is None else f"{found['accepted']:.0%} accepted, {found['error']:.1%} of them wrong"
    )
