"""Tiny random DiffusionGemma models made by transformers, and transformers' own two-pass read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import Gemma4VisionConfig
from transformers.cache_utils import DynamicCache
from transformers.models.diffusion_gemma import (
    DiffusionGemmaConfig,
    DiffusionGemmaForBlockDiffusion,
    DiffusionGemmaTextConfig,
)

from oneread.engines.base import Read, Slot

WINDOW = 24
VOCAB = 211


def tiny_config(**changes: Any) -> DiffusionGemmaConfig:
    text = {
        "vocab_size": VOCAB,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "global_head_dim": 32,
        "num_global_key_value_heads": 1,
        "sliding_window": WINDOW,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
        "num_experts": 8,
        "top_k_experts": 3,
        "moe_intermediate_size": 32,
        "use_bidirectional_attention": "vision",
        "initializer_range": 0.2,
        "bos_token_id": 2,
        "eos_token_id": 1,
        "pad_token_id": 0,
    }
    vision = Gemma4VisionConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, head_dim=16
    )
    return DiffusionGemmaConfig(
        text_config=DiffusionGemmaTextConfig(**{**text, **changes}),
        vision_config=vision,
        initializer_range=0.2,
        canvas_length=8,
        image_token_id=7,
    )


def tiny_model(seed: int = 0, **changes: Any) -> DiffusionGemmaForBlockDiffusion:
    """A random float32 model whose norms and scales are random too, and whose encoder and decoder scalars differ."""
    torch.manual_seed(seed)
    model = DiffusionGemmaForBlockDiffusion(tiny_config(**changes)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or name.endswith(("router.scale", "per_expert_scale")):
                parameter.copy_(1 + 0.3 * torch.randn_like(parameter))
        for index, (encoder, decoder) in enumerate(
            zip(model.model.encoder.language_model.layers, model.model.decoder.layers, strict=True)
        ):
            encoder.layer_scalar.fill_(0.7 + 0.1 * index)
            decoder.layer_scalar.fill_(1.2 - 0.1 * index)
    return model


def saved(model: DiffusionGemmaForBlockDiffusion, folder: Path, **options: Any) -> Path:
    model.save_pretrained(folder, **options)
    return folder


def two_pass_logits(model: DiffusionGemmaForBlockDiffusion, read: Read) -> torch.Tensor:
    """transformers' read: encode the prompt, then decode the canvas over its cache. float32 (canvas rows, vocab)."""
    with torch.no_grad():
        cache = DynamicCache(config=model.config.text_config)
        prompt = torch.from_numpy(read.prompt.astype(np.int64))[None]
        model.model.encoder(input_ids=prompt, cache=cache)
        canvas = torch.from_numpy(read.canvas.astype(np.int64))[None]
        positions = len(read.prompt) + torch.arange(len(read.canvas))[None]
        return model(input_ids=None, cache=cache, decoder_input_ids=canvas, decoder_position_ids=positions).logits[0]


def expected(logits: torch.Tensor, read: Read) -> tuple[np.ndarray, np.ndarray]:
    """Scores and log-sum-exps as a reading holds them."""
    scores = [logits[s.position, label] for s in read.slots for label in s.labels]
    log_sum_exp = [logits[s.position].logsumexp(-1) for s in read.slots]
    return torch.stack(scores).numpy(), torch.stack(log_sum_exp).numpy()


def random_read(rng: np.random.Generator, prompt: int, canvas: int, slots: int = 2, labels: int = 3) -> Read:
    def tokens(count: int) -> np.ndarray:
        return rng.integers(8, VOCAB, count).astype(np.int32)

    where = sorted(rng.choice(canvas, slots, replace=False).tolist())
    open_slots = tuple(Slot(p, tuple(rng.choice(VOCAB, labels, replace=False).tolist())) for p in where)
    return Read(tokens(canvas), open_slots, tokens(prompt))
