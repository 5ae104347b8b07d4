"""A reader of random weights, small enough to train in a second, and cases it can learn."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from oneread.engines.encoder import EncoderConfig
from oneread.evaluate.cases import Row, parse_row
from oneread.readers.export import q8, write_reader

from ..fakes import BOS, MASK, SEP, word_tokenizer

COLOURS = ("red", "green", "blue", "grey")
WORDS = " ".join((*COLOURS, *(f"w{i}" for i in range(40)), "which colour is it yes no : 0 1 2"))


def config(vocab: int, **changes: Any) -> EncoderConfig:
    return EncoderConfig(**{
        "layers": 2, "width": 32, "heads": 2, "ffn": 64, "vocab": vocab, "positions": 130, "position_offset": 2,
        "relative_buckets": 8, "eps": 1e-5, **changes,
    })  # fmt: skip


def tiny_reader(directory: Path, layout: str = "full", int8: bool = True, **changes: Any) -> Path:
    """Write a reader with random weights, its matrices in int8 or float32; returns its directory."""
    tokenizer = word_tokenizer(WORDS)
    model = config(tokenizer.get_vocab_size(), **changes)
    rng = np.random.default_rng(0)
    stored: dict[str, np.ndarray] = {}
    for name, shape in model.shapes().items():
        norm = name.endswith((".n1.weight", ".n2.weight")) or name == "ln0.weight"
        value = (np.ones(shape) if norm else rng.normal(0, 0.3, shape)).astype(np.float32)
        if not int8:
            stored[name] = value
        elif len(shape) == 2 and name != "rb.weight":
            stored[f"{name}.q8"], stored[f"{name}.scale"] = q8(value)
        else:
            stored[name] = value.astype(np.float16)
    source = directory.parent / f"{directory.name}.tokenizer.json"
    tokenizer.save(str(source))
    entries = {
        "name": "tiny", "description": "Random.", "release_date": "2026-01-01", "licence": "Apache-2.0", "model": asdict(model),
        "form": {"window": 128, "bos": BOS, "sep": SEP, "mask": MASK, "layout": layout},
        "temperatures": {"noul": 1.0, "choice": 1.0, "score": 1.0},
    }  # fmt: skip
    write_reader(directory, entries, stored, source)
    return directory


def colour_rows(n: int, seed: int = 0, nouls: bool = False) -> list[Row]:
    """States of random words with one colour among them; three choices ask which, each fourth row, or with `nouls` every
    one, asks whether it is red, which half of them are."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        noul = nouls or i % 4 == 3
        colour = COLOURS[rng.integers(4) * rng.integers(2) if noul else rng.integers(4)]
        words = [f"w{k}" for k in rng.integers(0, 40, 5)]
        words.insert(int(rng.integers(6)), colour)
        value: dict[str, Any] = {"task": "colours", "state": " ".join(words), "instructions": "which colour is it"}
        if noul:
            value |= {"type": "noul", "instructions": "is it red", "criteria": None, "answer": colour == "red"}
        else:
            value |= {"type": "choice", "criteria": dict.fromkeys(COLOURS), "answer": colour}
        rows.append(parse_row(value, f"colours.jsonl:{i + 1}", "colours"))
    return rows
