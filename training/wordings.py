"""Which of our own wordings ask as a task that is held out asks.

    python -m training.wordings DATA [--more DIR ...] [--made 45000] [--seed 1]

Compares the instructions, descriptions, scale levels and label sets of made and derived cases, and those of the tasks that are
trained on, with those of every record of the `UNSEEN` and `DEV` tasks, and prints ours that collide, never theirs.

Two texts collide when they share a run of `RUN` words of which three are content words, or when `ALIKE` of their content words
are the same. Texts of one or two content words ("Category?", "Which label fits?") are everybody's, unless both hold the same ones
and one of these stands in a label of that task, as in "Is this a feature request?", or that task has no labels; descriptions and
levels so short ("slow") collide only when two of one question do. Label sets collide when ours holds every label of a set of
three or more, not all of them `COMMON`, that a held-out task offers by name. Case and marks do not count, in texts `STOP` words
and a plural s neither.

What stands in one record only is its content and no wording, but a run of words in two different instructions is. Of a task
whose descriptions mostly stand in one record (answers, not labels) only the instructions count.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from oneread.canvas.text import render
from oneread.questions import Choice, Content, Noul, Question, Score

from .augment import MEANINGLESS
from .corpus import Example, read
from .derive import derive
from .made import generate
from .splits import DEV, UNSEEN, read_tasks

RUN, ALIKE = 5, 0.75
STOP = frozenset(
    """a about an and any anybody anyone anything are as at be been being best by can could do does doing for from give given has
    have he her here his how i if in into is it its may me might more most must my of on one or other our rather should so some
    somebody someone something such t than that the their them there these they this those to up us very was we were what when
    where which whether who whom whose why will with would you your s re below following above text message post comment tweet
    sentence passage review ticket mail email issue input document""".split()  # noqa: SIM905
)
"""Words that tell no question from another, among them names of what is judged."""
COMMON = frozenset(
    """positive negative neutral mixed good bad yes no not none true false other else unknown unclear low medium high
    question query request sentiment rating 0 1 2 3 4 5 star""".split()  # noqa: SIM905
)
"""Label words that belong to no task: nearly every set of opinions, grades, stars and yes/no has them."""


@cache
def words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()))


@cache
def content(text: str) -> frozenset[str]:
    """The words that say what is asked."""
    return frozenset(w[:-1] if len(w) > 3 and w[-1] == "s" != w[-2] else w for w in words(text) if w not in STOP)


def descriptions(question: Question) -> list[str]:
    match question:
        case Choice(options):
            parts: Iterable[Content | None] = options.values()
        case Score(levels):
            parts = levels
        case Noul(_, yes, no):
            parts = (yes, no)
    return [render(p) for p in parts if p is not None]


def names(question: Question) -> list[str]:
    """Names of options, and levels of a few words, where they mean something."""
    if isinstance(question, Score):
        return [t for t in descriptions(question) if len(words(t)) < 5 and not MEANINGLESS.match(t)]
    return [n for n in question.options if not MEANINGLESS.match(n)] if isinstance(question, Choice) else []


def labels(question: Question) -> frozenset[str]:
    """The set of names, when it has three and is not everybody's."""
    out = frozenset(" ".join(words(n)) for n in names(question)) - {""}
    return out if len(out) > 2 and any(content(n) - COMMON for n in out) else frozenset()


def runs(text: str) -> Iterator[tuple[str, ...]]:
    """Every run of `RUN` words of which three are content words."""
    said = words(text)
    found = (said[i : i + RUN] for i in range(len(said) - RUN + 1))
    return (run for run in found if len(content(" ".join(run))) > 2)


class Held:
    """The wordings of tasks that are held out."""

    def __init__(self, examples: Iterable[Example]) -> None:
        asked, told, named = (defaultdict[str, Counter[str]](Counter) for _ in range(3))
        sets: dict[str, Counter[frozenset[str]]] = defaultdict(Counter)
        for e in examples:
            asked[e.task][render(e.question.instructions)] += 1
            told[e.task].update(descriptions(e.question))
            named[e.task].update(names(e.question))
            sets[e.task][labels(e.question)] += 1
        self.labels: dict[frozenset[str], str] = {}
        self.runs: dict[tuple[str, ...], str] = {}
        self.short: dict[frozenset[str], str] = {}
        self.long: dict[str, list[tuple[frozenset[str], str]]] = defaultdict(list)
        self.known: dict[str, str | None] = {}
        for task in asked:
            options, bare = named[task] + told[task], not named[task]  # yes/no only: the questions name what is asked for
            if sum(n < 2 for n in options.values()) > len(options) / 2:  # answers, not labels
                told[task], named[task], sets[task] = Counter(), Counter(), Counter()
            concepts = {w for name, n in named[task].items() if n > 1 for w in content(name)} - COMMON
            self.labels |= {ls: task for ls, n in sets[task].items() if ls and n > 1}
            twice = Counter(run for text in asked[task] for run in set(runs(text)))  # a template with a slot
            self.runs.update({run: task for run, n in twice.items() if n > 1})
            for text, n in (asked[task] + told[task]).items():
                bag = content(text)
                if n > 1 and len(bag) > 2:
                    self.runs.update(dict.fromkeys(runs(text), task))
                    for w in bag:
                        self.long[w].append((bag, task))
                elif n > 1 and (bag - COMMON if bare else bag & concepts):
                    self.short[bag] = task

    def asked_in(self, text: str) -> str | None:
        """The task that a text collides with."""
        if text not in self.known:
            self.known[text] = self._asked_in(text)
        return self.known[text]

    def _asked_in(self, text: str) -> str | None:
        bag = content(text)
        if len(bag) < 3:
            return self.short.get(bag)
        rare = sorted(bag, key=lambda w: (len(self.long.get(w, ())), w))[: len(bag) - math.ceil(ALIKE * len(bag)) + 1]
        alike = (task for w in rare for other, task in self.long.get(w, ()) if len(bag & other) >= ALIKE * len(bag | other))
        return next(alike, None) or next((self.runs[r] for r in runs(text) if r in self.runs), None)

    def collisions(self, e: Example) -> dict[str, str]:
        """What of an example collides -> the task that it collides with."""
        asked = render(e.question.instructions)
        told = {t: task for t in descriptions(e.question) if (task := self.asked_in(t))}
        brief = Counter(task for t, task in told.items() if len(content(t)) < 3)
        told = {t: task for t, task in told.items() if len(content(t)) > 2 or brief[task] > 1}
        if task := self.asked_in(asked):
            told[asked] = task
        ours = labels(e.question)
        key = " | ".join(sorted(ours))
        if ours and key not in self.known:
            self.known[key] = next((task for theirs, task in self.labels.items() if theirs <= ours), None)
        if ours and (task := self.known[key]):
            told[key] = task
        return told


def held_wordings(data: Path) -> Held:
    paths = (data / part / f"{task}.jsonl.gz" for task in (*UNSEEN, *DEV) for part in ("train", "test"))
    return Held(e for path in paths if path.exists() for e in read(path))


def kept(name: str, examples: Iterable[Example], held: Held) -> Iterator[Example]:
    """The examples without those that collide, whose number is printed at the end."""
    left_out: Counter[str] = Counter()
    for e in examples:
        if found := held.collisions(e):
            left_out[next(iter(found.values()))] += 1
        else:
            yield e
    print(f"{name}: left out for their wording: {left_out.total()} cases, as in {dict(left_out.most_common())}", flush=True)


def report(name: str, examples: Iterable[Example], held: Held) -> None:
    """Our wordings that collide, most frequent first, with how many cases have them."""
    total, cases, found = 0, Counter[str](), Counter[tuple[str, str, str]]()
    for e in examples:
        total += 1
        here = held.collisions(e)
        cases.update(set(here.values()))
        found.update((task, e.task, text) for text, task in here.items())
    print(f"{name}: {total} cases; of these collide with {dict(cases.most_common())}")
    for (task, own, text), n in sorted(found.items(), key=lambda x: (x[0][0], -x[1])):
        print(n, task, own, repr(text[:150]), sep="\t")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="further corpora to train on")
    parser.add_argument("--made", type=int, default=45_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    held = held_wordings(args.data)
    paths = [folder / "train" / f"{t}.jsonl.gz" for folder in (args.data, *args.more) for t in read_tasks(folder)]
    trained = [p for p in paths if p.name.split(".")[0] not in (*UNSEEN, *DEV) and p.exists()]
    corpus = {p.name.split(".")[0]: list(read(p)) for p in trained}
    report("made", generate(args.made, args.seed), held)
    report("derived", derive(corpus, args.seed), held)
    for task, examples in corpus.items():
        shared = Counter(t for e in examples for t in set(held.collisions(e).values()))
        if shared:
            print("trained on", task, len(examples), dict(shared.most_common(5)), sep="\t")


if __name__ == "__main__":
    main()
