"""Reads of more than one denoising step, and reads that also name the vocabulary's most probable token at a slot.

Before the last step only the slots change: a slot's prediction is kept where the model's sampler accepts it, and is noise
again where it does not; the prediction conditions the next step as an expected embedding. Everything else on the canvas
stays as it is and is conditioned on nothing. The reading is what the last step says, at temperature 1. Chance is seeded
by the read's own tokens and comes from the host, so a reading depends on nothing beside it, and every device draws alike.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..base import Read, Reading, Tokens
from .head import cap, logits
from .sampler import Sampler, accepted, entropy_of

if TYPE_CHECKING:
    from .engine import OnePassModel


@torch.inference_mode()
def read_in_steps(model: OnePassModel, reads: Sequence[Read], steps: int) -> list[Reading]:
    """Readings after so many steps, for reads whose rows fit one pass."""
    weights = model.weights
    dice = [torch.Generator().manual_seed(_seed(read)) for read in reads]
    soft: Tensor | None = None
    first: list[Reading] = []
    for left in range(steps, 0, -1):
        readings, hidden = model.read_hidden(reads, soft)
        first = first or readings
        if left == 1:
            break
        moved, conditions = [], []
        for read, rows, chance in zip(reads, _split(hidden, reads), dice, strict=True):
            scores = cap(logits(rows, weights.embedding), weights.config.softcap) / model.sampler.temperature(left / steps)
            moved.append(replace(read, canvas=_next(read, scores, model.sampler, chance)))
            conditions.append(model.expected_embeddings(scores))
        reads, soft = moved, torch.cat(conditions)
    tops: list[Tokens | None] = [
        _tops(rows, weights.embedding) if read.full else None for read, rows in zip(reads, _split(hidden, reads), strict=True)
    ]
    # What was cached before the first step is what the read was spared; later steps find the first one's pages.
    return [
        replace(reading, tokens_reused=start.tokens_reused, tops=top)
        for reading, start, top in zip(readings, first, tops, strict=True)
    ]


def _seed(read: Read) -> int:
    return zlib.crc32(read.canvas.tobytes(), zlib.crc32(read.prompt.tobytes()))


def _split(hidden: Tensor, reads: Sequence[Read]) -> Sequence[Tensor]:
    """(slots, hidden) of all reads -> of each."""
    parts: Sequence[Tensor] = torch.split(hidden, [len(read.slots) for read in reads])
    return parts


def _next(read: Read, scores: Tensor, sampler: Sampler, chance: torch.Generator) -> Tokens:
    """The canvas of the next step, given the slots' tempered logits (slots, vocab)."""
    slots, vocab = scores.shape
    sure = accepted(entropy_of(scores), sampler.entropy_bound)
    sums = torch.softmax(scores, dim=-1).cumsum(-1, dtype=torch.float64)
    # Chance comes from the host, so that it is the same on every device.
    point = torch.rand(slots, 1, generator=chance, dtype=torch.float64).to(sums.device) * sums[:, -1:]
    drawn = torch.searchsorted(sums, point)[:, 0].clamp(max=vocab - 1)
    fresh = torch.randint(0, vocab, (slots,), generator=chance).to(scores.device)
    kept = torch.where(sure, drawn, fresh)
    canvas = read.canvas.copy()
    canvas[[slot.position for slot in read.slots]] = kept.cpu().numpy().astype(np.int32)
    return canvas


def _tops(hidden: Tensor, embedding: Tensor) -> Tokens:
    return logits(hidden, embedding).argmax(-1).cpu().numpy().astype(np.int32)
