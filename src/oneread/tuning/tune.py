"""Adapts a reader of the embedded kind to labelled cases, and says what that gave on cases it never saw."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ..calibration.fit import fit_temperatures
from ..calibration.scored import Scored, split
from ..calibration.temperature import TYPES, Temperatures
from ..canvas.markers import MarkerCanvas
from ..decide import Decider
from ..engines.embedded import default_threads
from ..errors import OnereadError
from ..evaluate.cases import Case, CasesError, Row, cases_of
from ..evaluate.outcomes import Columns
from ..evaluate.run import ask_all
from ..questions import Choice
from ..readers.export import q8, write_reader
from ..readers.manifest import MANIFEST, TOKENIZER, read_manifest, verify_files
from ..readers.reader import EMBEDDED, load_reader
from ..readers.weights import load_weights, stored_tensors
from .examples import examples
from .model import Encoder
from .train import BLENDS, Recipe, Scores, Trainer, choose_share, log_losses

FEWEST = 40
"""Cases without which nothing is trained."""

ORDERS = 2
"""In how many orders of its options a choice is trained on; the frozen layers run once for each."""

Bar = Callable[[str, int], Callable[[int], object]]


class TuningError(OnereadError):
    """Tuning could not be done, or did no good."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning gave.

    Attributes:
        name: of the new reader.
        cases: how many were trained on, chose the share, and were held out.
        before, after: metrics of the old and the new reader on the cases held out.
        keep_before, keep_after: likewise on other cases that should not get worse; empty without any.
        share: how far the weights went from the old to the trained ones.
        seconds: the training took, without measuring.
    """

    name: str
    cases: tuple[int, int, int]
    before: Mapping[str, float]
    after: Mapping[str, float]
    share: float
    seconds: float
    keep_before: Mapping[str, float] = field(default_factory=dict)
    keep_after: Mapping[str, float] = field(default_factory=dict)


def tune(
    rows: Sequence[Row],
    out: Path,
    reader: Path | None = None,
    recipe: Recipe | None = None,
    name: str | None = None,
    test: Sequence[Row] = (),
    keep: Sequence[Row] = (),
    holdout: float = 0.2,
    validation: float = 0.15,
    threads: int | None = None,
    bar: Bar = lambda what, total: lambda n: None,
) -> Tuned:
    """Train the last layers of a reader on labelled cases and write the new reader to a directory.

    Args:
        rows: the cases. A part chooses how far to go and fits temperatures; another is held out and measures.
        out: a directory that is empty or not there yet.
        reader: the directory of the reader to start from; None for the embedded one.
        test: cases that measure instead of a part of `rows`.
        keep: cases of other kinds, asked before and after to show what was forgotten.
        holdout, validation: shares of `rows`; all cases about one state fall into the same part.

    Raises:
        CasesError: too few cases.
        ReaderError: the reader's files cannot be used.
        TuningError: `out` holds something, the reader has fewer layers than are to be trained, or no share of the way made
            the validation cases more probable.
    """
    directory = reader or EMBEDDED
    recipe = recipe or Recipe()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TuningError(f"{out} should be an empty directory, or not be there yet")
    training, choosing, held_out = _parts(rows, test, holdout, validation)
    manifest = read_manifest(directory)
    verify_files(directory, manifest)
    if recipe.layers > manifest.model.layers:
        raise TuningError(
            f"{manifest.name} has {manifest.model.layers} layers: so many of the last can be trained at most, not {recipe.layers}"
        )
    shards = [directory / file.name for file in manifest.files if file.name != TOKENIZER]
    canvas = MarkerCanvas(Tokenizer.from_file(str(directory / TOKENIZER)), manifest.form)
    torch.set_num_threads(threads or default_threads())

    before = measure(directory, held_out, threads, bar("before", len(held_out)))
    keep_before = measure(directory, cases_of(keep), threads, bar("keep, before", len(cases_of(keep))))
    start = time.monotonic()
    encoder = Encoder(manifest.model, load_weights(shards, manifest.model)).eval()
    trainer = Trainer(encoder, recipe)
    orders = ORDERS if canvas.ordered and any(isinstance(case.question, Choice) for case in training) else 1
    trainer.advance = bar("read", orders * len(training) + len(choosing))
    variants = [trainer.prepare(examples(canvas, training, np.random.default_rng([recipe.seed, k]))) for k in range(orders)]
    checks = trainer.prepare(examples(canvas, choosing))
    trainer.advance = bar("train", recipe.epochs * len(training))
    trainer.train([variants[epoch % orders] for epoch in range(recipe.epochs)])
    trainer.advance = bar("choose", len(BLENDS) * len(choosing))
    scores: dict[float, list[Scores]] = {}
    for share in BLENDS:
        trainer.blend(share)
        scores[share] = trainer.scores(checks)
    losses = {share: log_losses(found, checks.examples) for share, found in scores.items()}
    share = choose_share(losses)
    if share == 0:
        best = min(losses.values(), key=lambda loss: float(loss.mean()))
        raise TuningError(
            f"Training on {len(training)} cases did not help beyond chance on the {len(choosing)} that check it (log loss "
            f"{losses[0].mean():.3f}, at best {best.mean():.3f}), so no reader was written"
        )
    trainer.blend(share)
    temperatures = _temperatures(choosing, scores[share], manifest.temperatures)
    name = name or f"{manifest.name}-tuned"
    entries = json.loads((directory / MANIFEST).read_bytes())
    entries = {key: value for key, value in entries.items() if key not in ("format", "files")} | {
        "name": name,
        "description": f"{manifest.name}, tuned on {len(training)} labelled cases.",
        "release_date": date.today().isoformat(),
        "temperatures": {kind: [list(pair) for pair in temperatures.buckets[kind]] for kind in TYPES},
    }
    write_reader(out, entries, stored_with(dict(stored_tensors(shards)), trainer.changes()), directory / TOKENIZER)
    seconds = time.monotonic() - start
    after = measure(out, held_out, threads, bar("after", len(held_out)))
    keep_after = measure(out, cases_of(keep), threads, bar("keep, after", len(cases_of(keep))))
    sizes = (len(training), len(choosing), len(held_out))
    return Tuned(name, sizes, before, after, share, seconds, keep_before, keep_after)


def stored_with(stored: dict[str, NDArray[Any]], changed: Mapping[str, NDArray[np.float32]]) -> dict[str, NDArray[Any]]:
    """Stored tensors with these in place of their old values: matrices as int8, vectors in the type they had."""
    found = dict(stored)
    for name, value in changed.items():
        old = stored.get(name)
        for form in ("", ".q8", ".q4", ".scale"):
            found.pop(name + form, None)
        if old is not None and (value.ndim == 1 or old.dtype == np.float32):
            found[name] = value.astype(old.dtype)
        else:
            found[f"{name}.q8"], found[f"{name}.scale"] = q8(value)
    return found


def measure(directory: Path, cases: Sequence[Case], threads: int | None, advance: Callable[[int], object]) -> dict[str, float]:
    """Metrics of the reader in a directory on cases, through the same path that serves it; empty for none."""
    if not cases:
        return {}
    with Decider(load_reader(directory, threads)) as decider:
        rows = [Row(case.source, case.state, (case,)) for case in cases]
        outcomes, _ = asyncio.run(ask_all(decider, rows, 16, lambda: advance(1)))
    if not outcomes:
        raise TuningError("None of the cases that measure could be read")
    columns = Columns(outcomes)
    return columns.measure(np.arange(len(columns)))


def _parts(
    rows: Sequence[Row], test: Sequence[Row], holdout: float, validation: float
) -> tuple[list[Case], list[Case], list[Case]]:
    """Cases to train on, to choose with, to measure on; none of the last two has a state of the first."""
    cases = cases_of(rows)
    held_out = cases_of(test)
    if held_out:
        seen = {case.cluster for case in held_out}
        cases = [case for case in cases if case.cluster not in seen]
        training, choosing = split(cases, (1 - validation, validation), "tune")
    else:
        training, choosing, held_out = split(cases, (1 - validation - holdout, validation, holdout), "tune")
    if len(training) < FEWEST or len(choosing) < FEWEST // 8 or not held_out:
        raise CasesError(f"{len(training)} cases are left to train on and {len(choosing)} to check it; at least {FEWEST} "
                         f"and {FEWEST // 8} are needed")  # fmt: skip
    return training, choosing, held_out


def _temperatures(cases: Sequence[Case], scores: Sequence[Scores], own: Temperatures) -> Temperatures:
    scored = [
        Scored(case.type, found, case.gold, case.question_digest, case.cluster, case.digest)
        for case, found in zip(cases, scores, strict=True)
    ]
    return fit_temperatures(scored, own)
