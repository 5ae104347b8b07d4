"""What tuning gives, and what it forgets, for several choices of trained layers.

    python bench/tuning.py DATA --tasks app_review_type isear_emotion --recipes 0 2 4 12 [--reader DIR] [--cases 300]

DATA holds train/TASK.jsonl.gz and test/TASK.jsonl.gz. For each task and each number of trained layers (0 is the head alone):
accuracy and log loss (after one temperature) on the task's test cases before, half of the way and all of the way, accuracy on
other tasks, and processor seconds. The rate falls with the number of layers; the epochs keep the work alike.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from oneread.canvas.markers import MarkerCanvas
from oneread.evaluate.cases import Case, cases_of, load_rows, sample
from oneread.readers.manifest import TOKENIZER, read_manifest
from oneread.readers.reader import EMBEDDED
from oneread.readers.weights import load_weights
from oneread.tuning.examples import examples
from oneread.tuning.model import Encoder
from oneread.tuning.train import Cached, Recipe, Trainer, accuracy, log_losses

OTHERS = ("goemotions", "clinc150", "entity_type_wnut17", "prompt_attack_detection", "code_comment_java")


def recipe(layers: int) -> Recipe:
    rate, epochs = {0: (1e-2, 20), 1: (4e-4, 8), 2: (3e-4, 8), 4: (2e-4, 6)}.get(layers, (1e-4, 3))
    return Recipe(layers=layers, rate=rate, epochs=epochs)


def main() -> None:
    parser = argparse.ArgumentParser(description="What tuning gives for several choices of trained layers.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", nargs="+", required=True)
    parser.add_argument("--recipes", nargs="+", type=int, default=[0, 1, 2, 4])
    parser.add_argument("--reader", type=Path, default=EMBEDDED)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--tests", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    manifest = read_manifest(a.reader)
    shards = [a.reader / f.name for f in manifest.files if f.name != TOKENIZER]
    canvas = MarkerCanvas(Tokenizer.from_file(str(a.reader / TOKENIZER)), manifest.form)

    def load(part: str, task: str, n: int) -> list[Case]:
        return cases_of(sample(load_rows([a.data / part / f"{task}.jsonl.gz"]), n, 0))

    found = []
    for task in a.tasks:
        for layers in a.recipes:
            trainer = Trainer(Encoder(manifest.model, load_weights(shards, manifest.model)).eval(), recipe(layers))
            start = time.process_time()
            training = trainer.prepare(examples(canvas, load("train", task, a.cases), np.random.default_rng(0)))
            prepared = time.process_time() - start
            test = trainer.prepare(examples(canvas, load("test", task, a.tests)))
            others = [trainer.prepare(examples(canvas, load("test", other, 40))) for other in OTHERS if other != task]
            row: dict[str, object] = {"task": task, "layers": layers, "before": measured(trainer, test, others)}
            start = time.process_time()
            trainer.train([training] * trainer.recipe.epochs)
            row |= {"prepare_cpu_s": round(prepared, 1), "train_cpu_s": round(time.process_time() - start, 1)}
            for share in (0.5, 1.0):
                trainer.blend(share)
                row[f"at {share:g}"] = measured(trainer, test, others)
            found.append(row)
            print(json.dumps(row), flush=True)
    if a.json:
        a.json.write_text(json.dumps(found, indent=1) + "\n")


def measured(trainer: Trainer, test: Cached, others: list[Cached]) -> dict[str, float]:
    scores = trainer.scores(test)
    return {
        "accuracy": round(accuracy(scores, test.examples), 3),
        "log_loss": round(float(log_losses(scores, test.examples).mean()), 3),
        "others": round(float(np.mean([accuracy(trainer.scores(o), o.examples) for o in others])), 3),
    }


if __name__ == "__main__":
    main()
