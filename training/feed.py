"""What goes into and comes out of an encoder in bulk: bases and tokens from disk, batches made by other processes, scores."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.pool import AsyncResult
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from .cases import CaseFile, Tokens, tokenise
from .encoder import Encoder, EncoderConfig, visibility
from .rows import Batch, Ints, Rows, as_batch
from .transport import load_parts, unpack8


def load_encoder(bases: Path, base: str) -> tuple[Encoder, dict[str, Any], Tokenizer]:
    """An encoder with a base's weights and a fresh head, its config, and the tokenizer."""
    config = json.loads((bases / f"{base}.json").read_text())
    tokenizer = Tokenizer.from_file(str(bases / f"{base}.tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    model = Encoder(EncoderConfig(**config["model"]))
    model.load_state_dict(unpack8(load_parts(sorted(bases.glob(f"{base}.*.safetensors")))), strict=False)
    return model, config, tokenizer


def load_cases(data: Path, bases: Path, base: str, name: str, tokenizer: Tokenizer) -> tuple[CaseFile, Tokens]:
    """A case file and its tokens; tokens are kept beside the base, since tokenising takes longer than loading."""
    cases = CaseFile.load(data / f"{name}.npz")
    kept = bases / f"{base}.{name}.tokens.npz"
    if kept.exists():
        z = np.load(kept)
        if len(z["at"]) == len(cases.texts) + 1:  # otherwise they are of other cases
            return cases, Tokens(z["flat"], z["at"])
    tokens = tokenise(cases.texts, tokenizer, 440)
    np.savez(kept, flat=tokens.flat, at=tokens.at)
    return cases, tokens


_ROWS: Rows | None = None
"""What a worker process lays rows from; set before the workers are forked."""


def _make(group: Ints, seed: list[int]) -> Any:
    assert _ROWS is not None
    return _ROWS.arrays(group, np.random.default_rng(seed))


def stream(
    rows: Rows, index: Ints, budget: int, seed: int, skip: int, workers: int, first: Ints, first_steps: int
) -> Iterator[Batch]:
    """Endless batches, epoch after epoch, made ahead by other processes; the first `skip` are passed over (after a resume).

    The first `first_steps` batches are of the cases `first`.
    """
    global _ROWS
    _ROWS = rows
    with get_context("fork").Pool(workers) as pool:
        ahead: deque[tuple[AsyncResult[Any], Ints]] = deque()
        for epoch in range(1_000_000):
            groups = list(rows.batches(index, budget, np.random.default_rng([seed, epoch])))
            if epoch == 0 and first_steps:
                groups = list(rows.batches(first, budget, np.random.default_rng([seed, 99])))[:first_steps] + groups
            for i, group in enumerate(groups):
                if skip > 0:
                    skip -= 1
                    continue
                ahead.append((pool.apply_async(_make, (group, [seed, epoch, i])), group))
                if len(ahead) > 4 * workers:
                    made, its_group = ahead.popleft()
                    yield as_batch(made.get(), its_group)


@torch.no_grad()
def score(model: Encoder, rows: Rows, index: Ints, layout: str, device: torch.device, budget: int) -> tuple[Ints, np.ndarray]:
    """Raw scores of these cases, as (offsets by case of the file, scores), NaN where a row does not fit."""
    model.eval()
    out = np.full(int(rows.cases.starts[-1]), np.nan, np.float32)
    waiting = []
    for group in rows.batches(index, budget):
        b = rows.batch(group)
        d = b.to(device)
        waiting.append((group, model(d.ids, d.pos, visibility(d.parts, layout), d.markers)))
    for group, scores in waiting:
        count = rows.count[group]
        at = np.repeat(rows.cases.starts[:-1][group], count) + np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        out[at] = scores.cpu().numpy()
    model.train()
    return rows.cases.starts, out


def reversed_scores(model: Encoder, rows: Rows, index: Ints, device: torch.device, budget: int) -> np.ndarray:
    """Scores with every question's options in reverse, put back in the file's order: for the flip rate of order-aware layouts."""
    c = rows.cases
    flip = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(c.starts[:-1], c.starts[1:], strict=True)])
    turned = Rows(replace(c, options=c.options[flip], target=c.target[flip]), rows.tokens, rows.form)
    out: np.ndarray = score(model, turned, index, rows.form.layout, device, budget)[1][flip]
    return out
