"""Text, block by block: a canvas of noise is denoised in a few steps, committed, and the next block follows.

The sampler is DiffusionGemma's own. At each step every canvas position is predicted under a falling temperature; the
predictions of lowest entropy are accepted, as many as are nearly independent of one another (arXiv:2505.24857: their
entropies sum to less than the bound, the largest left out); all other positions become noise again. The step's
predictions condition the next step as expected embeddings. A block is done when two steps running predict the same
tokens with a mean entropy below the threshold, or after the last step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..base import PromptImage, Read, Tokens
from .engine import OnePassModel, check_wanted
from .sampler import Sampler, accepted, entropy_of


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


def generate(
    model: OnePassModel,
    prompt: Tokens,
    max_tokens: int,
    seed: int,
    sampler: Sampler,
    images: tuple[PromptImage, ...] = (),
    ends: tuple[int, ...] = (),
) -> Iterator[Block]:
    """Write text after a prompt, yielding each block as it is committed. Reads of others run between the steps.

    Args:
        prompt: token ids; the prefix cache keeps their keys and values from step to step.
        max_tokens: the last block is cut there.
        seed: same prompt, seed and device: same text.
        ends: tokens that end the text beside the sampler's.

    Raises:
        EngineError: prompt and text are longer than the engine's window, or nobody waits for the text any more (`base.wanted`).
    """
    config = model.weights.config
    device = model.weights.device
    noise = torch.Generator(device).manual_seed(seed)
    written = 0
    while True:
        tokens, steps = _denoise(model, prompt, images, sampler, noise)
        at = np.flatnonzero(np.isin(tokens, (*sampler.ends, *ends)))
        end = int(tokens[at[0]]) if len(at) else None
        kept = tokens[: at[0]] if len(at) else tokens
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
) -> tuple[Tokens, int]:
    """One block: its predicted tokens, int32 (canvas,), and the steps taken. Each step is a turn of the model's."""
    config, device = model.weights.config, model.weights.device
    soft: Tensor | None = None
    history: list[Tensor] = []
    with model.turn():
        canvas = torch.randint(0, config.vocab, (config.canvas,), generator=noise, device=device)
    for step in range(sampler.steps, 0, -1):
        check_wanted()
        with model.turn():
            logits = model.denoise(Read(canvas.cpu().numpy().astype(np.int32), (), prompt, images=images), soft)
            left = torch.tensor(step, dtype=torch.int32, device=device) / sampler.steps
            logits = logits / (sampler.t_min + (sampler.t_max - sampler.t_min) * left)
            drawn = torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=noise)[:, 0]
            predicted = logits.argmax(-1)
            entropy = entropy_of(logits)
            fresh = torch.randint(0, config.vocab, (config.canvas,), generator=noise, device=device)
            canvas = torch.where(accepted(entropy, sampler.entropy_bound), drawn, fresh)
            stable = len(history) == sampler.stability and all(torch.equal(old, predicted) for old in history)
            history = [*history, predicted][-sampler.stability :] if sampler.stability else []
            if step == 1 or (stable and bool(entropy.mean() < sampler.confidence)):
                return predicted.cpu().numpy().astype(np.int32), sampler.steps - step + 1
            soft = model.expected_embeddings(logits)
    raise AssertionError("a sampler takes at least one step")
