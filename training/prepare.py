"""Corpus and made cases -> two case files: what is trained on, and what is measured.

    python -m training.prepare DATA OUT [--draws 560000] [--times 1] [--made 45000] [--seed 1]

DATA holds train/ and test/ with one TASK.jsonl.gz each, and SOURCES.tsv. Tasks of a group share its weight: a task is drawn
in proportion to (tasks in its group) ** -0.5, by half as much when it is not English, and never more often than its records
allow (`--times` as often, twice that for small ones, each time in another variant).
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path

from oneread.questions import Choice, Content

from .augment import MEANINGLESS, augment
from .cases import CaseWriter
from .corpus import Example, read
from .made import generate
from .splits import DEV, UNSEEN, Task, read_tasks


def quotas(tasks: dict[str, Task], sizes: dict[str, int], draws: int, times: int = 1) -> dict[str, int]:
    """How often each task is drawn; sums to about `draws`, less when the records do not suffice.

    A record is drawn at most `times`, one of a task of fewer than 2,000 records twice as often.
    """
    in_group = Counter(tasks[t].group for t in sizes)
    weight = {t: in_group[tasks[t].group] ** -0.5 * (1.0 if tasks[t].english else 0.5) for t in sizes}
    most = {t: times * n * (2 if n < 2000 else 1) for t, n in sizes.items()}
    out: dict[str, int] = {}
    left, open_tasks = float(draws), set(sizes)
    while open_tasks:  # what a small task cannot give goes to the others
        total = sum(weight[t] for t in open_tasks)
        full = {t for t in open_tasks if weight[t] / total * left >= most[t]}
        if not full:
            out |= {t: int(weight[t] / total * left) for t in open_tasks}
            break
        out |= {t: most[t] for t in full}
        left -= sum(most[t] for t in full)
        open_tasks -= full
    return out


def option_pool(examples: list[Example]) -> dict[str, Content | None]:
    """Every meaningful option name of a task, with a description where one was seen."""
    pool: dict[str, Content | None] = {}
    for e in examples:
        if isinstance(e.question, Choice):
            for name, text in e.question.options.items():
                if not MEANINGLESS.match(name) and (text is not None or name not in pool):
                    pool[name] = text
    return pool if len(pool) <= 300 else {}


def write_training(data: Path, out: Path, draws: int, made: int, seed: int, times: int = 1) -> None:
    tasks = read_tasks(data)
    wanted = [t for t in tasks if t not in UNSEEN and t not in DEV and (data / "train" / f"{t}.jsonl.gz").exists()]
    corpus = {t: list(read(data / "train" / f"{t}.jsonl.gz")) for t in wanted}
    pools = {t: option_pool(e) for t, e in corpus.items()}
    share = quotas(tasks, {t: len(e) for t, e in corpus.items()}, draws, times)
    writer = CaseWriter()
    for t, examples in corpus.items():
        rng = random.Random(f"{seed} {t}")
        strangers = [
            k
            for o in rng.sample(wanted, min(8, len(wanted)))
            if tasks[o].group != tasks[t].group
            for k in list(pools[o])[:12]
            if k not in pools[t]
        ]
        order = rng.sample(examples, len(examples))
        for i in range(share[t]):
            e = order[i % len(order)]
            augment(e, rng, pools[t], strangers).write(writer, smoothing=0.03) if i >= len(
                order
            ) or rng.random() < 0.7 else e.write(writer, 0.03)
    rng = random.Random(seed)
    for e in generate(made, seed):
        (augment(e, rng, {}, []) if rng.random() < 0.3 else e).write(writer, smoothing=0.01)
    file = writer.file()
    file.save(out / "train.npz")
    print(f"train: {len(file)} cases of {len(file.tasks)} tasks, {len(file.texts)} texts")


def write_measured(data: Path, out: Path, per_dev_task: int, seed: int) -> None:
    """Test records of every task as they are; for `DEV` more from its train file, since none is trained on."""
    writer = CaseWriter()
    for path in sorted((data / "test").glob("*.jsonl.gz")):
        task = path.name.removesuffix(".jsonl.gz")
        examples = list(read(path))
        if task in DEV:
            more = list(read(data / "train" / path.name))
            examples += random.Random(f"{seed} {task}").sample(more, min(len(more), per_dev_task))
        for e in examples:
            e.write(writer)
    for e in generate(400, seed + 1000):
        e.write(writer)
    writer.file().save(out / "measured.npz")
    print(f"measured: {len(writer.file())} cases")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--draws", type=int, default=560_000)
    parser.add_argument("--times", type=int, default=1, help="how often a record may be drawn")
    parser.add_argument("--made", type=int, default=45_000, help="made states; about three cases each")
    parser.add_argument("--dev", type=int, default=200, help="further records of each dev task")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    write_training(args.data, args.out, args.draws, args.made, args.seed, args.times)
    write_measured(args.data, args.out, args.dev, args.seed)


if __name__ == "__main__":
    main()
