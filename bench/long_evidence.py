"""How should the windows of a long state be combined, and the rows of many options be joined?

Measures rules for both on labelled cases with the embedded reader: long documents as they are, short evidence hidden
in unrelated text, and tasks with 50 or more options. Cases are JSONL files of records with `state`, `type`,
`instructions`, `criteria` and `answer`.

    python bench/long_evidence.py --data CASES_DIR --out long_evidence.json
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oneread import Choice, Noul, Question, Score
from oneread.calibration.temperature import softmax
from oneread.canvas.text import render
from oneread.planning import Row, first_draw, plan_stage
from oneread.questions import option_count, question_type
from oneread.readers.reader import Reader, load_reader

Array = NDArray[np.float64]


def mean(windows: Array) -> Array:
    return windows.mean(axis=0)


def total(windows: Array) -> Array:
    return windows.sum(axis=0)


def centred(windows: Array) -> Array:
    return windows - windows.mean(axis=1, keepdims=True)


def strongest(windows: Array) -> Array:
    """Each option's best score over windows, counted from that window's mean."""
    return centred(windows).max(axis=0)


def surest(windows: Array) -> Array:
    """The scores of the window whose distribution is sharpest."""
    return windows[np.argmax([softmax(w, 1.0).max() for w in windows])]


def weighted(power: float) -> Callable[[Array], Array]:
    """Mean with weights (1 - H / ln n) ** power: windows that say nothing count little."""

    def rule(windows: Array) -> Array:
        probabilities = np.stack([softmax(w, 1.0) for w in windows])
        entropy = -(probabilities * np.log(probabilities + 1e-12)).sum(axis=1) / np.log(windows.shape[1])
        weights = np.maximum(1 - entropy, 1e-6) ** power
        return np.asarray((centred(windows) * (weights / weights.sum())[:, None]).sum(axis=0))

    return rule


def mixture(windows: Array) -> Array:
    """The log of the mean distribution."""
    return np.asarray(np.log(np.stack([softmax(w, 1.0) for w in windows]).mean(axis=0) + 1e-12))


RULES: dict[str, Callable[[Array], Array]] = {
    "mean": mean, "sum": total, "strongest": strongest, "surest": surest,
    "weighted^1": weighted(1), "weighted^2": weighted(2), "weighted^4": weighted(4), "mixture": mixture,
}  # fmt: skip


def question_of(record: dict[str, Any]) -> tuple[Question, int]:
    """The question and the index of its right answer."""
    criteria = record["criteria"]
    if record["type"] == "noul":
        sides = criteria or {}
        return Noul(record["instructions"], sides.get("true"), sides.get("false")), 0 if record["answer"] else 1
    if record["type"] == "choice":
        return Choice(criteria, record["instructions"]), list(criteria).index(record["answer"])
    return Score(criteria, record["instructions"]), int(record["answer"])


def records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def window_scores(reader: Reader, state: str, question: Question) -> tuple[Array, dict[Row, list[float]]]:
    """Raw scores (windows, options) of a state read with the default plan, and the rows themselves."""
    canvas = reader.canvas
    compiled, tokens = canvas.compile(question), canvas.encode_state(state)
    rows = first_draw(plan_stage({"q": canvas.lengths(compiled)}, canvas.row_form, len(tokens)))
    reads = [canvas.row([(compiled, row.parts[0].options)], tokens[slice(*row.window)]) for row in rows]
    readings = reader.engine.read(reads).result()
    spans = sorted({row.window for row in rows})
    scores = np.zeros((len(spans), option_count(question)))
    by_row = {row: reading.scores.tolist() for row, reading in zip(rows, readings, strict=True)}
    for row, values in by_row.items():
        scores[spans.index(row.window), list(row.parts[0].options)] = values
    return scores, by_row


def evaluate(reader: Reader, cases: Sequence[tuple[str, Question, int]]) -> dict[str, dict[str, float]]:
    hits: dict[str, list[float]] = {rule: [] for rule in RULES}
    losses: dict[str, list[float]] = {rule: [] for rule in RULES}
    windows: list[int] = []
    for state, question, right in cases:
        scores, _ = window_scores(reader, state, question)
        windows.append(len(scores))
        temperature = reader.temperatures.of(question_type(question), scores.shape[1])
        for rule, combine in RULES.items():
            combined = combine(scores)
            hits[rule].append(float(np.argmax(combined) == right))
            losses[rule].append(-float(np.log(softmax(combined, temperature)[right] + 1e-12)))
    table = {rule: {"accuracy": float(np.mean(hits[rule])), "log_loss": float(np.mean(losses[rule]))} for rule in RULES}
    return {"cases": {"n": len(cases), "windows": float(np.mean(windows))}, **table}


def long_documents(data: Path, reader: Reader, limit: int) -> list[tuple[str, Question, int]]:
    found = []
    for path in sorted(data.glob("*.jsonl.gz")):
        taken = 0
        for record in records(path):
            state = render(record["state"])
            if len(state) > 2200 and len(reader.canvas.encode_state(state)) > 520 and taken < 40:
                taken += 1
                found.append((state, *question_of(record)))
    random.Random(0).shuffle(found)
    return found[:limit]


HIDDEN = ("email_spam", "hate_offensive_neither", "hatecheck", "prompt_attack_detection", "goemotions", "clinc150",
          "snips_intent", "airline_tweet_sentiment", "customer_review_sentiment", "disaster_tweets")  # fmt: skip


def hidden_evidence(data: Path, limit: int) -> list[tuple[str, Question, int]]:
    """A short record between news paragraphs, at a random place."""
    chance = random.Random(1)
    filler = [render(r["state"])[:1200] for r in records(data / "bbc_news.jsonl.gz")]
    found = []
    for task in HIDDEN:
        for record in list(records(data / f"{task}.jsonl.gz"))[:30]:
            around = [chance.choice(filler) for _ in range(4)]
            at = chance.randrange(5)
            state = "\n\n".join([*around[:at], render(record["state"])[:1200], *around[at:]])
            found.append((state, *question_of(record)))
    chance.shuffle(found)
    return found[:limit]


def label_set(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Every option that a task's records name, with the first description seen."""
    options: dict[str, Any] = {}
    for record in found:
        if record["type"] == "choice":
            for name, description in record["criteria"].items():
                options.setdefault(name, description)
    return options


def many_options(data: Path, reader: Reader, limit: int) -> dict[str, dict[str, float]]:
    """One softmax over raw scores of split rows, against a second round among the best of each row.

    Each record is asked with all options of its task, for tasks with 50 to 255 of them.
    """
    outcome: dict[str, list[float]] = {"one row where it fits": [], "split, one softmax": [], "split, second round": []}
    canvas = reader.canvas
    for path in sorted(data.glob("*.jsonl.gz")):
        found = list(records(path))
        options = label_set(found)
        if not 50 <= len(options) <= 255:
            continue
        for record in [r for r in found if r["type"] == "choice"][:limit]:
            question, right = question_of({**record, "criteria": options})
            compiled, tokens = canvas.compile(question), canvas.encode_state(record["state"])[:150]
            scores, by_row = window_scores(reader, render(record["state"])[:600], question)
            outcome["one row where it fits"].append(float(np.argmax(scores.mean(axis=0)) == right))
            groups = np.array_split(np.arange(len(options)), max(2, len(by_row)))
            reads = [canvas.row([(compiled, [int(i) for i in group])], tokens) for group in groups]
            split = [reading.scores for reading in reader.engine.read(reads).result()]
            outcome["split, one softmax"].append(float(np.argmax(np.concatenate(split)) == right))
            kept = [(float(s[i]), int(g[i])) for g, s in zip(groups, split, strict=True) for i in np.argsort(-s)[:4]]
            best = [i for _, i in sorted(kept, reverse=True)[:10]]
            final = reader.engine.read([canvas.row([(compiled, best)], tokens)]).result()[0].scores
            outcome["split, second round"].append(float(best[int(np.argmax(final))] == right))
    return {rule: {"n": len(hits), "accuracy": float(np.mean(hits))} for rule, hits in outcome.items() if hits}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of TASK.jsonl.gz files")
    parser.add_argument("--limit", type=int, default=300, help="cases of each kind")
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    args = parser.parse_args()
    reader = load_reader()
    result: dict[str, Any] = {
        "reader": reader.name,
        "long documents": evaluate(reader, long_documents(args.data, reader, args.limit)),
        "hidden evidence": evaluate(reader, hidden_evidence(args.data, args.limit)),
        "50 and more options": many_options(args.data, reader, args.limit // 10),
    }
    reader.engine.close()
    for title, table in result.items():
        print(f"\n{title}" if isinstance(table, dict) else f"{title}: {table}")
        if isinstance(table, dict):
            for rule, figures in table.items():
                print(f"  {rule:24}" + "  ".join(f"{name} {value:.3f}" for name, value in figures.items()))
    if args.out:
        args.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
