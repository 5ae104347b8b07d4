"""Corpus and made cases -> two case files: what is trained on, and what is measured.

    python -m training.prepare DATA OUT [--more DIR ...] [--draws 560000] [--times 1] [--made 45000] [--seed 1]

DATA holds train/ and test/ with one TASK.jsonl.gz each, and SOURCES.tsv; each DIR of --more the same, without test/. Tasks of
a group share its weight: a task is drawn in proportion to (tasks in its group) ** -0.5, by half as much when it is not English,
`MORE` times as much where named, and never more often than its records allow (`--times` as often, twice that for small ones,
each time in another variant). Records that share a run of eight words with a task that is held out are left out, and so are
made and derived cases that ask in its words (`training.wordings`).
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from oneread.questions import Choice, Content

from .augment import MEANINGLESS, augment
from .cases import CaseWriter
from .corpus import Example, read
from .derive import derive
from .made import generate
from .overlap import held_out, shared_with
from .splits import DEV, UNSEEN, Task, read_tasks
from .wordings import held_wordings, kept

MORE = {
    "tweet_sentiment": 2.0,
    "phrase_polarity_mpqa": 1.5,
    "dialogue_sentiment_meld": 1.3,
    "vader_tweets": 1.5,
    "vader_movie_snippets": 1.5,
    "goemotions": 1.5,
    "tweet_emoji": 1.5,
    "offensive_tweets": 2.0,
    "hatecheck": 1.5,
    "irony_tweets": 1.3,
    "commonsense_qa": 1.3,
    "piqa": 1.3,
    "mnli": 1.5,
}
"""English tasks of groups that few tasks stand for: so many times as much as others, records too."""


REWORDED = ("trecqa_answer_relevance",)
"""Tasks that are trained on only in the wordings of `derive`: in their own, a task that is held out asks."""


def quotas(tasks: dict[str, Task], sizes: dict[str, int], draws: int, times: int = 1) -> dict[str, int]:
    """How often each task is drawn; sums to about `draws`, less when the records do not suffice.

    A record is drawn at most `times`, one of a task of fewer than 2,000 records twice as often; of a task in `MORE` more often.
    """
    in_group = Counter(tasks[t].group for t in sizes)
    weight = {t: in_group[tasks[t].group] ** -0.5 * (1.0 if tasks[t].english else 0.5) * MORE.get(t, 1.0) for t in sizes}
    most = {t: int(times * n * (2 if n < 2000 else 1) * MORE.get(t, 1.0)) for t, n in sizes.items()}
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


def without_overlap(corpus: dict[str, list[Example]], data: Path) -> dict[str, list[Example]]:
    """The corpus without records of which a run of words stands in a record of a task that is held out."""
    held = held_out(data, (*UNSEEN, *DEV))
    clean = {t: [e for e in examples if shared_with(e.state, held) is None] for t, examples in corpus.items()}
    dropped = {t: len(corpus[t]) - len(clean[t]) for t in corpus if len(corpus[t]) > len(clean[t])}
    print(f"left out for overlap: {sum(dropped.values())} records, most of {Counter(dropped).most_common(6)}", flush=True)
    return {t: examples for t, examples in clean.items() if examples}


def write_training(
    data: Path, out: Path, draws: int, made: int, seed: int, times: int = 1, more: Sequence[Path] = (), derived: float = 1.0
) -> None:
    tasks, paths = {}, {}
    for folder in (data, *more):
        for t, task in read_tasks(folder).items():
            tasks[t], paths[t] = task, folder / "train" / f"{t}.jsonl.gz"
    wanted = [t for t in tasks if t not in UNSEEN and t not in DEV and paths[t].exists()]
    corpus = without_overlap({t: list(read(paths[t])) for t in wanted}, data)
    wanted = list(corpus)
    pools = {t: option_pool(e) for t, e in corpus.items()}
    share = quotas(tasks, {t: len(e) for t, e in corpus.items() if t not in REWORDED}, draws, times)
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
        strangers = list(dict.fromkeys(strangers))  # two options of one name would be one
        order = rng.sample(examples, len(examples))
        for i in range(share.get(t, 0)):
            e = order[i % len(order)]
            augment(e, rng, pools[t], strangers).write(writer, smoothing=0.03) if i >= len(
                order
            ) or rng.random() < 0.7 else e.write(writer, 0.03)
    rng, held = random.Random(seed), held_wordings(data)
    for e in kept("made", generate(made, seed), held):
        (augment(e, rng, {}, []) if rng.random() < 0.3 else e).write(writer, smoothing=0.01)
    for e in kept("derived", derive(corpus, seed, derived), held):
        (augment(e, rng, {}, []) if rng.random() < 0.3 else e).write(writer, smoothing=0.03)
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
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="further corpora to train on (training.snippets)")
    parser.add_argument("--derived", type=float, default=1.0, help="share of the cases that training.derive gives")
    parser.add_argument("--draws", type=int, default=560_000)
    parser.add_argument("--times", type=int, default=1, help="how often a record may be drawn")
    parser.add_argument("--made", type=int, default=45_000, help="made states; about three cases each")
    parser.add_argument("--dev", type=int, default=200, help="further records of each dev task")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    write_training(args.data, args.out, args.draws, args.made, args.seed, args.times, args.more, args.derived)
    write_measured(args.data, args.out, args.dev, args.seed)


if __name__ == "__main__":
    main()
