"""Which records share a run of eight words with records of the tasks that are held out.

    python -m training.overlap DATA [TASK ...]

Prints, for each task that is trained on (or those named), how many of its training records share such a run with any record,
training or test, of an `UNSEEN` and of a `DEV` task, and with which task most.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .splits import DEV, UNSEEN, read_tasks

WORD = re.compile(r"[^\W_]+")
RUN = 8


def runs(text: str) -> Iterator[int]:
    """Hashes of every run of `RUN` words, case and punctuation aside; of the whole text when it has from 5 to 7 words."""
    words = WORD.findall(text.lower())
    if 5 <= len(words) < RUN:
        yield hash(" ".join(words))
    for i in range(len(words) - RUN + 1):
        yield hash(" ".join(words[i : i + RUN]))


def leaves(value: Any) -> Iterator[str]:
    """The strings of a state, without the names of its fields."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for v in value:
            yield from leaves(v)
    elif isinstance(value, str):
        yield value


def states(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["state"]


def held_out(data: Path, tasks: Iterable[str]) -> dict[int, str]:
    """Each run of words in the records of these tasks, with the task it was found in first."""
    found: dict[int, str] = {}
    for task in tasks:
        for part in ("train", "test"):
            path = data / part / f"{task}.jsonl.gz"
            for state in states(path) if path.exists() else ():
                for text in leaves(state):
                    for run in runs(text):
                        found.setdefault(run, task)
    return found


def shared_with(state: Any, held: dict[int, str]) -> str | None:
    """The task of `held_out` that a state, or a text, shares a run of words with; None where there is none."""
    return next((held[run] for text in leaves(state) for run in runs(text) if run in held), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("tasks", nargs="*")
    args = parser.parse_args()
    tables = {"unseen": held_out(args.data, UNSEEN), "dev": held_out(args.data, DEV)}
    for task in args.tasks or [t for t in read_tasks(args.data) if t not in UNSEEN and t not in DEV]:
        path = args.data / "train" / f"{task}.jsonl.gz"
        if not path.exists():
            continue
        total, shared = 0, {name: Counter[str]() for name in tables}
        for state in states(path):
            total += 1
            for name, table in tables.items():
                if task_held := shared_with(state, table):
                    shared[name][task_held] += 1
        print(task, total, *(f"{name}: {c.total()} {c.most_common(3)}" for name, c in shared.items()), sep="\t", flush=True)


if __name__ == "__main__":
    main()
