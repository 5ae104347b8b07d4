"""Text, block by block: a canvas of noise is denoised in a few steps, committed, and the next block follows.

The sampler is DiffusionGemma's own. At each step every canvas position is predicted under a falling temperature; the
predictions of lowest entropy are accepted, as many as are nearly independent of one another (arXiv:2505.24857: their
entropies sum to less than the bound, the largest left out); all other positions become noise again. The step's
predictions condition the next step as expected embeddings. A block is done when two steps running predict the same
tokens with a mean entropy below the threshold, or after the last step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import ReaderError
from ..base import PromptImage, Read, Tokens
from .engine import OnePassModel


@dataclass(frozen=True, slots=True)
class Sampler:
    """The sampler's constants.

    Attributes:
        steps: most denoising steps of a block.
        t_max, t_min: temperature before the first step and after the last, falling linearly between.
        entropy_bound: nats of summed entropy that the accepted positions may have.
        stability: steps for which the predictions must stay the same.
        confidence: nats of mean entropy below which a stable block is done.
        ends: token ids that end the text.
    """

    steps: int = 48
    t_min: float = 0.4
    t_max: float = 0.8
    entropy_bound: float = 0.1
    stability: int = 1
    confidence: float = 0.005
    ends: tuple[int, ...] = (1, 106, 50)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One committed block of text.

    Attributes:
        tokens: its token ids, without the end token and what follows it.
        steps: denoising steps it took.
        end: the token that ended the text, or None.
        last: whether no block follows.
    """

    tokens: Tokens
    steps: int
    end: int | None
    last: bool


def read_sampler(folder: Path) -> Sampler:
    """The sampler of a checkpoint's ``generation_config.json``; what it leaves out has the published values.

    Raises:
        ReaderError: the file is not JSON.
    """
    path = folder / "generation_config.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise ReaderError(f"{path}: is not JSON") from error
    ends = raw.get("eos_token_id")
    given: dict[str, Any] = {
        "steps": raw.get("max_denoising_steps"),
        "t_min": raw.get("t_min"),
        "t_max": raw.get("t_max"),
        "entropy_bound": (raw.get("sampler_config") or {}).get("entropy_bound"),
        "stability": raw.get("stability_threshold"),
        "confidence": raw.get("confidence_threshold"),
        "ends": (ends,) if isinstance(ends, int) else tuple(ends) if ends else None,
    }
    return Sampler(**{name: value for name, value in given.items() if value is not None})


def generate(
    model: OnePassModel,
    prompt: Tokens,
    max_tokens: int,
    seed: int,
    sampler: Sampler,
    images: tuple[PromptImage, ...] = (),
) -> Iterator[Block]:
    """Write text after a prompt, yielding each block as it is committed. Reads of others run between the steps.

    Args:
        prompt: token ids; the prefix cache keeps their keys and values from step to step.
        max_tokens: the last block is cut there.
        seed: same prompt, seed and device: same text.

    Raises:
        EngineError: prompt and text are longer than the engine's window.
    """
    config = model.weights.config
    device = model.weights.device
    noise = torch.Generator(device).manual_seed(seed)
    written = 0
    while True:
        canvas, steps = _denoise(model, prompt, images, sampler, noise)
        tokens = canvas.cpu().numpy().astype(np.int32)
        ends = np.flatnonzero(np.isin(tokens, sampler.ends))
        end = int(tokens[ends[0]]) if len(ends) else None
        kept = tokens[: ends[0]] if len(ends) else tokens
        if len(kept) > max_tokens - written:
            kept, end = kept[: max_tokens - written], None
        written += len(kept)
        last = end is not None or written >= max_tokens
        yield Block(kept, steps, end, last)
        if last:
            return
        prompt = np.concatenate([prompt, tokens])
        if len(prompt) + config.canvas > model.capabilities.window:
            return


@torch.inference_mode()
def _denoise(
    model: OnePassModel, prompt: Tokens, images: tuple[PromptImage, ...], sampler: Sampler, noise: torch.Generator
) -> tuple[Tensor, int]:
    """One block: its predicted tokens, int64 (canvas,), and the steps taken."""
    config, device = model.weights.config, model.weights.device
    soft: Tensor | None = None
    history: list[Tensor] = []
    canvas = torch.randint(0, config.vocab, (config.canvas,), generator=noise, device=device)
    predicted = canvas
    for step in range(sampler.steps, 0, -1):
        logits = model.denoise(Read(canvas.cpu().numpy().astype(np.int32), (), prompt, images=images), soft)
        left = torch.tensor(step, dtype=torch.int32, device=device) / sampler.steps
        logits = logits / (sampler.t_min + (sampler.t_max - sampler.t_min) * left)
        drawn = torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=noise)[:, 0]
        predicted = logits.argmax(-1)
        entropy = _entropy(logits)
        fresh = torch.randint(0, config.vocab, (config.canvas,), generator=noise, device=device)
        canvas = torch.where(_accepted(entropy, sampler.entropy_bound), drawn, fresh)
        stable = len(history) == sampler.stability and all(torch.equal(old, predicted) for old in history)
        history = [*history, predicted][-sampler.stability :] if sampler.stability else []
        if stable and bool(entropy.mean() < sampler.confidence):
            return predicted, sampler.steps - step + 1
        soft = model.expected_embeddings(logits)
    return predicted, sampler.steps


def _entropy(logits: Tensor) -> Tensor:
    """Entropy in nats of each row's distribution, float32 (rows,)."""
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    return -(log_p * torch.softmax(log_p, dim=-1)).sum(-1)


def _accepted(entropy: Tensor, bound: float) -> Tensor:
    """bool (rows,): positions taken in order of entropy while those before them sum to no more than the bound."""
    ordered, order = entropy.sort()
    before = ordered.cumsum(0) - ordered
    return torch.zeros_like(before, dtype=torch.bool).scatter(0, order, before <= bound)
