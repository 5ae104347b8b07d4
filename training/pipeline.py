"""The embedded reader from nothing to shards, in one command.

    python -m training.pipeline DATA WORK [--small]

DATA is a corpus (train/, test/, SOURCES.tsv), WORK a folder for everything in between; the reader lies in WORK/reader. Needs one
GPU for about 21 minutes, or with --small (random weights, a few steps) a CPU for some three minutes. A step whose result is
there is not repeated, and training resumes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from oneread.readers.reader import EMBEDDED

from .bases import framing, tiny
from .transport import pack8, save_parts

COMMON = ["--base", "mpnet", "--tokens", "1e12", "--evals", "4"]
RUNS: dict[str, list[str]] = {
    "first": [*COMMON, "--seconds", "400", "--lr", "1e-4", "--dropout", "0.12", "--seed", "9"],
    "second": [*COMMON, "--seconds", "390", "--lr", "9e-5", "--dropout", "0.12", "--seed", "21"],
    "third": [*COMMON, "--seconds", "245", "--lr", "1e-4", "--dropout", "0.15", "--seed", "5"],
}
"""The runs whose weights are averaged: of each the kept and the last ones, all alike. Seconds are of one H200."""
DRAWS = ["--draws", "1200000", "--times", "2", "--made", "150000"]
EIGHT = ["lay.0.qkv.weight", "lay.0.f2.weight"]
"""Stored as int8: of the matrices that the limit of 64 MB leaves room for, those that brought the scores nearest."""
SMALL = {
    "long": ["--base", "tiny", "--tokens", "2e4"],
    "short": ["--base", "tiny", "--tokens", "1e4", "--seed", "2"],
}
SMALL_STEPS = ["--batch-tokens", "2048", "--warmup", "5", "--easy", "0", "--workers", "1", "--evals", "2"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    cases, bases, runs = args.work / "cases", args.work / "bases", SMALL if args.small else RUNS
    if not (cases / "measured.npz").exists():
        if args.small:
            step("prepare", args.data, cases, "--draws", "400", "--made", "150", "--dev", "20")
        else:
            step("snippets", args.data, args.work / "more")
            step("prepare", args.data, cases, "--more", args.work / "more", *DRAWS)
    base = "tiny" if args.small else "mpnet"
    if not (bases / f"{base}.json").exists():
        if args.small:
            write_tiny(bases)
        else:
            step("fetch", bases, args.work / "wheels", cases / "train.npz", "--bases", base)
    where = ["--data", cases, "--bases", bases]
    for name, options in runs.items():
        if not (args.work / name / "result.json").exists():
            step(
                "train",
                args.work / name,
                *where,
                "--sources",
                args.data,
                "--resume",
                *options,
                *(SMALL_STEPS if args.small else ["--save-every", "30"]),
            )
    soup = args.work / "soup"
    parts = [part for name in runs for part in (args.work / name, args.work / name / "last")]
    step("soup", soup, *(f"{part}={1 / len(parts)}" for part in parts), *where)
    step("report", cases, soup / "scores.npz", soup / "report.json", "--sources", args.data)
    step("card", soup, args.work / "reader.base.json")
    step("export", soup / "weights.safetensors", args.work / "reader", "--config", args.work / "reader.base.json", "--tokenizer",
         bases / f"{base}.tokenizer.json", "--bits", "4", "--word-bits", "4", "--eight", *EIGHT, "--samples",
         args.data / "train")  # fmt: skip
    step("examples", args.work / "reader", "--json", soup / "examples.json")
    step("plot", args.work / "training.png", *(args.work / n for n in runs))


def step(module: str, *args: object) -> None:
    """Run one step as its own command, and stop when it fails."""
    command = [sys.executable, "-m", f"training.{module}", *map(str, args)]
    print("$", *command[1:], flush=True)
    subprocess.run(command, check=True)


def write_tiny(bases: Path) -> None:
    """A base of random weights on the embedded reader's tokenizer."""
    tokenizer = json.loads((EMBEDDED / "tokenizer.json").read_text())
    config, tensors = tiny(tokenizer, 30527)
    bases.mkdir(parents=True)
    (bases / "tiny.json").write_text(json.dumps({"model": config.__dict__, "form": framing(tokenizer)}))
    (bases / "tiny.tokenizer.json").write_text(json.dumps(tokenizer))
    save_parts(pack8(tensors), bases, "tiny", 4_000_000)


if __name__ == "__main__":
    main()
