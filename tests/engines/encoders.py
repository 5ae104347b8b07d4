"""Small random encoders, and rows for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oneread.engines.base import Read, Slot
from oneread.engines.encoder import EncoderConfig, Int8Matrix, Weight
from oneread.readers.weights import to_int8

MPNET = EncoderConfig(
    layers=3, width=64, heads=4, ffn=128, vocab=200, positions=98, position_offset=2, relative_buckets=32, eps=1e-5
)
BERT = EncoderConfig(layers=2, width=48, heads=3, ffn=96, vocab=150, positions=96, eps=1e-12)


def random_weights(config: EncoderConfig, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Weights whose scores spread over a few units."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in config.shapes().items():
        value = rng.normal(size=shape) * (shape[-1] ** -0.5 if len(shape) == 2 and name.startswith("lay.") else 0.5)
        norm = name.split(".")[-2] in ("ln0", "n1", "n2")
        weights[name] = (1 + 0.2 * value if norm and name.endswith("weight") else value).astype(np.float32)
    return weights


def rounded(weights: dict[str, NDArray[np.float32]], smooth: bool = False) -> dict[str, Weight]:
    """The same weights with int8 matrices; with `smooth`, channels of the inputs are divided by numbers around 1."""
    out: dict[str, Weight] = {}
    for name, value in weights.items():
        if value.ndim == 1 or name == "rb.weight":
            out[name] = value
            continue
        divisor = None
        if smooth and name.startswith("lay."):
            divisor = np.random.default_rng(len(name)).uniform(0.5, 3, value.shape[1]).astype(np.float32)
            value = value * divisor
        codes, scale = to_int8(value)
        out[name] = Int8Matrix(codes, scale, divisor)
    return out


def random_row(config: EncoderConfig, rng: np.random.Generator, length: int | None = None) -> Read:
    """A row in one segment."""
    n = length or int(rng.integers(5, config.positions - config.position_offset + 1))
    slots = sorted(rng.choice(n, size=min(n, int(rng.integers(1, 6))), replace=False).tolist())
    return Read(rng.integers(0, config.vocab, n).astype(np.int32), tuple(Slot(p) for p in slots))


def segmented_row(config: EncoderConfig, rng: np.random.Generator) -> Read:
    """A row of four segments at overlapping positions, each of which sees itself and some others."""
    sizes = rng.integers(3, 14, 4)
    n = int(sizes.sum())
    sees = rng.random((4, 4)) < 0.5
    np.fill_diagonal(sees, True)
    positions = np.concatenate([np.arange(start, start + size) for start, size in zip((0, 4, 4, 20), sizes, strict=True)])
    return Read(
        rng.integers(0, config.vocab, n).astype(np.int32),
        (Slot(int(sizes[0]) - 1), Slot(n - 1)),
        segments=np.repeat(np.arange(4, dtype=np.int16), sizes),
        sees=sees,
        positions=positions.astype(np.int32),
    )
