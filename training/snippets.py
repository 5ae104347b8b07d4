"""A further corpus: tweets, film snippets and editorials, each rated by twenty people, out of the package vaderSentiment.

    python -m training.snippets DATA OUT

Hutto & Gilbert 2014 (MIT licence); the package is fetched with pip. OUT gets train/TASK.jsonl.gz and SOURCES.tsv, for --more of
training.prepare. Its product reviews are left out as a whole, since they come from the texts of a task that is held out
(customer_review_sentiment), and so is every snippet of which eight words in a row stand in a record of a task held out (DATA),
or which is too short to tell.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .overlap import RUN, WORD, held_out, shared_with
from .splits import DEV, UNSEEN

PACKAGE = "vaderSentiment==3.3.2"
FILES = {"vader_tweets": "tweets", "vader_movie_snippets": "movieReviewSnippets", "vader_editorials": "nytEditorialSnippets"}
WHAT = {"vader_tweets": "tweet", "vader_movie_snippets": "snippet", "vader_editorials": "sentence"}
CLEAR, PLAIN = 0.8, 0.35
"""A mean rating (-4 to 4) beyond `CLEAR` is positive or negative, one within `PLAIN` is neutral; those between are not used."""
NAMES = (("positive", "neutral", "negative"), ("favourable", "neither", "unfavourable"), ("good", "plain", "bad"))
LEVELS = (
    ["very negative", "negative", "neutral", "positive", "very positive"],
    ["hates it", "is displeased", "shows no feeling", "is pleased", "is delighted"],
)
CHOICE_ASKS = (
    "What feeling does the {w} express?",
    "Sentiment of the {w}?",
    "Mark the {w} as one of these.",
    "Is the {w} approving?",
)
NOUL_ASKS = {
    "positive": ("Does the {w} sound approving?", "Is the feeling in the {w} positive?", "Is this {w} favourable?"),
    "negative": ("Does the {w} sound disapproving?", "Is the feeling in the {w} negative?", "Is this {w} unfavourable?"),
    "neutral": ("Is the {w} without feeling?", "Is the {w} neither approving nor disapproving?"),
}


def ratings() -> dict[str, list[tuple[float, str]]]:
    """Mean rating and text of every snippet, by task."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "-q", "-d", folder, PACKAGE]
        subprocess.run(command, check=True)
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as package:
            name = next(n for n in package.getnames() if n.endswith("hutto_ICWSM_2014.tar.gz"))
            inner = package.extractfile(name)
            assert inner is not None
            data = inner.read()
    out: dict[str, list[tuple[float, str]]] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as files:
        for task, stem in FILES.items():
            member = files.extractfile(next(n for n in files.getnames() if n.endswith(f"{stem}_GroundTruth.txt")))
            assert member is not None
            rows = (line.split("\t", 2) for line in member.read().decode("utf-8", "replace").splitlines())
            out[task] = [(float(r[1]), r[2].replace("&amp;", "&").strip()) for r in rows if len(r) == 3]
    return out


def records(task: str, rated: list[tuple[float, str]]) -> Iterator[dict[str, Any]]:
    """One record a snippet: three names, yes or no, or five levels."""
    rng = random.Random(task)
    for mean, text in rated:
        if CLEAR > abs(mean) > PLAIN:
            continue
        label = "neutral" if abs(mean) <= PLAIN else "positive" if mean > 0 else "negative"
        state: Any = text if rng.random() < 0.7 else {rng.choice(("text", WHAT[task], "content")): text}
        base = {"task": task, "group": "sentiment", "state": state}
        roll = rng.random()
        if roll < 0.5:
            names = dict(zip(("positive", "neutral", "negative"), rng.choice(NAMES), strict=True))
            kept = [k for k in names if k == label or k != "neutral" or rng.random() < 0.6]
            rng.shuffle(kept)
            asked = {"type": "choice", "criteria": dict.fromkeys(names[k] for k in kept), "answer": names[label]}
            ask = rng.choice(CHOICE_ASKS)
        elif roll < 0.8:
            about = rng.choice(("positive", "negative", "positive", "negative", "neutral"))
            asked = {"type": "noul", "criteria": None, "answer": about == label}
            ask = rng.choice(NOUL_ASKS[about])
        else:
            level = 2 if label == "neutral" else (3 if mean < 2 else 4) if mean > 0 else (1 if mean > -2 else 0)
            asked = {"type": "score", "criteria": rng.choice(LEVELS), "answer": level}
            ask = "How positive is the {w}?"
        yield {**base, "instructions": ask.format(w=WHAT[task]), **asked}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    held = held_out(args.data, (*UNSEEN, *DEV))
    (args.out / "train").mkdir(parents=True, exist_ok=True)
    sources = ["task\tgroup\ttrain\ttest\tsource repository\tlicence as found there"]
    for task, rated in ratings().items():
        long = [(mean, text) for mean, text in rated if len(WORD.findall(text)) >= RUN]
        where = [shared_with(text, held) for _, text in long]
        lines = [json.dumps(r, ensure_ascii=False) for r in records(task, [x for x, w in zip(long, where, strict=True) if not w])]
        with gzip.open(args.out / "train" / f"{task}.jsonl.gz", "wt", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        sources.append(f"{task}\tsentiment\t{len(lines)}\t0\tcjhutto/vaderSentiment\tMIT")
        found = Counter(w for w in where if w)
        print(
            f"{task}: {len(rated)} snippets, {len(rated) - len(long)} too short, {found.total()} held out {found.most_common(3)},"
        )
        print(f"    {len(lines)} records", flush=True)
    (args.out / "SOURCES.tsv").write_text("\n".join(sources) + "\n")


if __name__ == "__main__":
    main()
