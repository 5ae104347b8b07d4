"""transformers' own DiffusionGemma on the same card, of the same sizes with random weights: encoder, then decoder."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from onepass_model import TEXT, TINY


def random_model(device: torch.device, dtype: torch.dtype, dry: bool) -> Any:
    """The released sizes; in a dry run a tiny one. The vision tower is a stub."""
    from transformers.models.diffusion_gemma import (
        DiffusionGemmaConfig,
        DiffusionGemmaForBlockDiffusion,
        DiffusionGemmaTextConfig,
    )

    text = {**TEXT, **({**TINY, "num_hidden_layers": 6} if dry else {})}
    text["layer_types"] = TEXT["layer_types"][-text["num_hidden_layers"] :]
    vision = {"model_type": "gemma4_vision", "num_hidden_layers": 1, "hidden_size": 32, "intermediate_size": 48}
    vision |= {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16}
    config = DiffusionGemmaConfig(text_config=DiffusionGemmaTextConfig(**text), vision_config=vision)
    with torch.device("meta"):
        model = DiffusionGemmaForBlockDiffusion(config).to(dtype).eval()
    fill(model, device)
    return model


def fill(model: Any, device: torch.device) -> None:
    """Give a model on the meta device random tensors, one for all places that share it."""
    made: dict[int, Any] = {}
    for name, module in model.named_modules():
        for kind in (module._parameters, module._buffers):
            for key, old in kind.items():
                if old is None:
                    continue
                if id(old) not in made:
                    tensor = torch.empty(old.shape, dtype=old.dtype, device=device)
                    if "inv_freq" in key:
                        tensor.uniform_()
                    elif "norm" in name or "scale" in key or "scalar" in key:
                        tensor.fill_(1.0)
                    else:
                        tensor.normal_(0, 0.02)
                    made[id(old)] = torch.nn.Parameter(tensor, False) if isinstance(old, torch.nn.Parameter) else tensor
                kind[key] = made[id(old)]


@torch.no_grad()
def two_sweeps(model: Any, prompts: torch.Tensor, canvases: torch.Tensor) -> torch.Tensor:
    """transformers' read: encode prompts, then decode canvases over the cache. Logits of every canvas row."""
    from transformers.cache_utils import DynamicCache

    cache = DynamicCache(config=model.config.text_config)
    # Releases before 5.20 call the cache past_key_values.
    name = "cache" if "cache" in inspect.signature(model.model.decoder.forward).parameters else "past_key_values"
    model.model.encoder(input_ids=prompts, **{name: cache})
    out: torch.Tensor = model(input_ids=None, decoder_input_ids=canvases, **{name: cache}).logits
    return out
