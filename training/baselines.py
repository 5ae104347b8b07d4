"""What simpler methods reach on the unseen tasks: the untuned base by similarity, and TF-IDF with logistic regression.

    python -m training.baselines DATA OUT.json --bases DIR [--base mpnet] [--per-task 60]

Similarity: cosine of mean-pooled embeddings of the state and of "instructions option"; zero-shot. TF-IDF: trained per task on its
own training records, which our reader never saw: choices whose options recur (the classifier's probabilities are limited to the
options offered), yes/no questions on "instructions state", scores by level. Tasks whose
options never recur have no such baseline.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from tokenizers import Tokenizer

from oneread.canvas.text import option_texts, render
from oneread.questions import Choice, Noul, Score

from .corpus import Example, read
from .encoder import Encoder, visibility
from .feed import load_encoder
from .splits import UNSEEN


@torch.no_grad()
def embed(model: Encoder, tokenizer: Tokenizer, text: str) -> np.ndarray:
    """Mean-pooled over tokens, unit length."""
    ids = torch.tensor([tokenizer.encode(text).ids[:256]])
    pos = torch.arange(ids.shape[1])[None]
    e = model.hidden(ids, pos, visibility(torch.zeros_like(ids), "full"))[0].mean(0)
    return np.asarray((e / e.norm()).numpy())


def by_similarity(model: Encoder, tokenizer: Tokenizer, examples: list[Example]) -> float:
    """Accuracy of the option whose text is nearest to the state."""
    known: dict[str, np.ndarray] = {}
    right = 0
    for e in examples:
        options = [f"{render(e.question.instructions)} {o}" for o in option_texts(e.question)]
        for text in {render(e.state), *options} - known.keys():
            known[text] = embed(model, tokenizer, text)
        right += int(np.argmax([known[o] @ known[render(e.state)] for o in options]) == e.answer)
    return right / len(examples)


def by_words(train: list[Example], test: list[Example]) -> tuple[float, int] | None:
    """Accuracy over the test examples of the types that can be learned, and how many those are."""
    right = total = 0
    for kind in (Choice, Noul, Score):
        fit, check = ([e for e in part if isinstance(e.question, kind)] for part in (train, test))
        if len(fit) < 50 or not check:
            continue
        labels = [_label(e) for e in fit]
        if len(set(labels)) > max(60, len(labels) // 10) or len(set(labels)) < 2:
            continue
        model = make_pipeline(
            TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2), LogisticRegression(max_iter=300, C=4)
        )
        model.fit([_text(e) for e in fit], labels)
        known = {c: i for i, c in enumerate(model.classes_)}
        for e, p in zip(check, model.predict_proba([_text(e) for e in check]), strict=True):
            names = (
                list(e.question.options)
                if isinstance(e.question, Choice)
                else [str(i) for i in range(len(option_texts(e.question)))]
            )
            right += int(np.argmax([p[known[n]] if n in known else 0.0 for n in names]) == e.answer)
            total += 1
    return (right / total, total) if total else None


def _text(e: Example) -> str:
    return render(e.state) if isinstance(e.question, Choice) else f"{render(e.question.instructions)} {render(e.state)}"


def _label(e: Example) -> str:
    return list(e.question.options)[e.answer] if isinstance(e.question, Choice) else str(e.answer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--bases", type=Path, required=True)
    parser.add_argument("--base", default="mpnet")
    parser.add_argument("--per-task", type=int, default=60)
    parser.add_argument("--fit", type=int, default=3000)
    args = parser.parse_args()
    model, _, tokenizer = load_encoder(args.bases, args.base)
    model.eval()
    result: dict[str, Any] = {}
    for task in UNSEEN:
        test = list(read(args.data / "test" / f"{task}.jsonl.gz"))
        train = list(read(args.data / "train" / f"{task}.jsonl.gz"))
        words = by_words(random.Random(0).sample(train, min(len(train), args.fit)), test)
        result[task] = {"tfidf": None if words is None else round(words[0], 3), "tfidf_cases": words[1] if words else 0}
        print(task, result[task], flush=True)
    args.out.write_text(json.dumps(result, indent=1))
    for task in UNSEEN if args.per_task else ():
        test = list(read(args.data / "test" / f"{task}.jsonl.gz"))
        some = random.Random(0).sample(test, min(len(test), args.per_task))
        result[task] |= {"similarity": round(by_similarity(model, tokenizer, some), 3), "similarity_cases": len(some)}
        print(task, result[task], flush=True)
        args.out.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
