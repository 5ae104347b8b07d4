"""DiffusionGemma with random weights: the released sizes, reduced ones, and what a pass must read and multiply."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import torch

from oneread.engines.onepass.config import Config, parse_config
from oneread.engines.onepass.diffusion_gemma import Layer, SelfConditioning, Weights
from oneread.engines.onepass.linear import FP8, Linear, in_12_bits
from oneread.engines.onepass.options import Form
from oneread.engines.onepass.weights import Skeleton

TEXT: dict[str, Any] = {
    "vocab_size": 262144,
    "hidden_size": 2816,
    "intermediate_size": 2112,
    "moe_intermediate_size": 704,
    "num_experts": 128,
    "top_k_experts": 8,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "num_global_key_value_heads": 2,
    "head_dim": 256,
    "global_head_dim": 512,
    "num_hidden_layers": 30,
    "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 5,
    "rope_parameters": {
        "full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1000000.0, "rope_type": "proportional"},
        "sliding_attention": {"rope_theta": 10000.0, "rope_type": "default"},
    },
    "sliding_window": 1024,
    "rms_norm_eps": 1e-06,
    "max_position_embeddings": 262144,
    "hidden_activation": "gelu_pytorch_tanh",
    "use_bidirectional_attention": "vision",
    "attention_bias": False,
}
TINY = {
    "vocab_size": 512,
    "hidden_size": 64,
    "intermediate_size": 96,
    "moe_intermediate_size": 64,
    "num_experts": 8,
    "top_k_experts": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_global_key_value_heads": 1,
    "head_dim": 16,
    "global_head_dim": 32,
    "sliding_window": 64,
}


def config_of(**changes: Any) -> Config:
    text = {**TEXT, **changes}
    text["layer_types"] = TEXT["layer_types"][-text["num_hidden_layers"] :]
    return parse_config({"model_type": "diffusion_gemma", "text_config": text})


def random_weights(config: Config, form: Form, device: torch.device, dtype: torch.dtype, seed: int = 0) -> Weights:
    """Weights of a config's sizes: matrices so scaled that activations keep their size, norms and scales one."""
    torch.manual_seed(seed)
    inner = (".experts.", ".self_attn.", ".mlp.")
    skeleton = Skeleton(
        config, lambda name: form if any(part in name for part in inner) else "plain", dtype, device, form == "plain"
    )
    weights = skeleton.weights()
    for name, part in skeleton.parts.items():
        if part.dtype == FP8:
            part.copy_((torch.randn(part.shape, device=device) * 60).clamp_(-448, 448).to(FP8))
        elif name.endswith("weight_scale"):
            part.fill_(0.02 / 60)
        elif "norm" in name or name.endswith(("scale", "layer_scalar")):
            part.fill_(1.0)
        else:
            for piece in part if part.ndim == 3 else [part]:
                piece.normal_(0, 0.02)
    return weights


def steady_weights(config: Config, form: Form, device: torch.device, dtype: torch.dtype) -> Weights:
    """Random weights whose routing does not hang on rounding, to tell a kernel's error from flips between equal experts.

    Tokens fall into clusters, and in each layer a cluster has its own experts, whose router logits stand well above all
    others. Layers add little enough that a row stays with its cluster, and attention's scores are moderate.
    """
    weights = random_weights(config, form, device, dtype)
    clusters = 64
    centres = torch.nn.functional.normalize(torch.randn(clusters, config.hidden, device=device), dim=-1)
    own = centres[torch.arange(config.vocab, device=device) % clusters] * config.hidden**0.5
    noise = torch.randn(config.vocab, config.hidden, device=device)
    weights.embedding.copy_(0.01 * (0.4 * own + 0.917 * noise))
    for layer in weights.layers:
        order = torch.rand(clusters, config.experts, device=device).argsort(-1)
        picks = torch.zeros(clusters, config.experts, device=device)
        strength = 0.9 + 0.2 * torch.rand(clusters, config.experts_per_token, device=device)
        picks.scatter_(1, order[:, : config.experts_per_token], strength)
        layer.router.weight.copy_(60.0 * picks.t() @ centres)
        layer.query_norm.fill_(2.0 * config.shape_of(layer.shape.kind).head_dim ** -0.5)  # type: ignore[union-attr]
        layer.attention_norm.fill_(0.15)
        layer.output_norm.fill_(0.15)
    return weights


def widened(value: Any) -> Any:
    """The same weights in float32, dequantised."""
    if isinstance(value, Linear):
        return Linear(value.dequantised(torch.float32))
    if isinstance(value, torch.Tensor):
        return value.float()
    if isinstance(value, list):
        return [widened(item) for item in value]
    if isinstance(value, Weights | Layer | SelfConditioning):
        return type(value)(**{f.name: widened(getattr(value, f.name)) for f in fields(value)})
    return value


def packed_experts(weights: Weights, keep: bool = False) -> Weights:
    """The same with the experts' bf16 weights packed into 12 bits, layer by layer: `weights` lets go of what was packed.

    Args:
        keep: both forms, as `Options.expert_bits` "12+16" does.
    """
    layers = []
    while weights.layers:
        layer = weights.layers.pop(0)
        stacks = {}
        for name in ("experts_gate_up", "experts_down"):
            wide = getattr(layer, name)
            packed = in_12_bits(wide.weight)
            stacks[name] = replace(wide, twin=packed) if keep else packed
        layers.append(replace(layer, **stacks))
    return replace(weights, layers=layers)


def bytes_read(weight: torch.Tensor | Linear, few: bool) -> int:
    """Bytes of a weight; of experts in both forms, those that a pass of few rows reads or a larger one."""
    twin = weight.twin if isinstance(weight, Linear) else None
    return weight.nbytes if twin is None else twin.nbytes if few else weight.nbytes - twin.nbytes


def weight_bytes(weights: Weights, few: bool) -> int:
    """Bytes of every weight a pass reads: all experts, and the embedding as output matrix."""
    total = weights.embedding.nbytes
    for layer in weights.layers:
        parts = [getattr(layer, f.name) for f in fields(layer)]
        total += sum(bytes_read(part, few) for part in parts if isinstance(part, torch.Tensor | Linear))
    return total


def active_parameters(config: Config, layers: int | None = None) -> int:
    """Multiplied weights a row meets in the first `layers` layers (all by default), the output matrix apart."""
    total = 0
    for shape in config.layers[:layers]:
        keys = shape.kv_heads * shape.head_dim
        total += config.hidden * (2 * config.heads * shape.head_dim + keys * (2 if shape.kind == "sliding" else 1))
        total += 3 * config.hidden * config.dense + config.hidden * config.experts
        total += config.experts_per_token * 3 * config.hidden * config.expert
    return total
