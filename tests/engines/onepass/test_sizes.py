"""The released checkpoint's sizes, counted from its config alone."""

from __future__ import annotations

from typing import Any

import torch

from oneread.engines.onepass.config import Config, parse_config
from oneread.engines.onepass.options import ExpertBits
from oneread.engines.onepass.weights import Skeleton

RELEASED: dict[str, Any] = {
    "model_type": "diffusion_gemma",
    "canvas_length": 256,
    "image_token_id": 258880,
    "text_config": {
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
        "final_logit_softcapping": 30.0,
        "max_position_embeddings": 262144,
        "hidden_activation": "gelu_pytorch_tanh",
        "use_bidirectional_attention": "vision",
        "attention_bias": False,
        "tie_word_embeddings": True,
    },
}
REAL: Config = parse_config(RELEASED)


def test_the_released_config_has_the_published_number_of_parameters() -> None:
    skeleton = Skeleton(REAL, lambda _: "plain", torch.bfloat16, torch.device("meta"))
    skeleton.weights()
    assert sum(part.numel() for part in skeleton.parts.values()) == 25_250_986_752 + 2 * 30
    assert REAL.kv_row_bytes(2) == 225_280


def test_twelve_bits_take_three_quarters_and_a_scale_for_each_output() -> None:
    def sizes(bits: ExpertBits) -> tuple[int, int]:
        """Bytes of the experts and of the whole text model."""
        skeleton = Skeleton(REAL, lambda _: "plain", torch.bfloat16, torch.device("meta"), expert_bits=bits)
        experts = sum(layer.experts_gate_up.nbytes + layer.experts_down.nbytes for layer in skeleton.weights().layers)
        return experts, experts + sum(part.nbytes for name, part in skeleton.parts.items() if ".experts." not in name)

    weights, outputs = 30 * 128 * 3 * 2816 * 704, 30 * 128 * (2 * 704 + 2816)
    assert sizes(16) == (2 * weights, 50_501_973_624)
    assert sizes(12) == (weights * 3 // 2 + 4 * outputs, 39_147_861_624)
    assert sizes("12+16") == (sizes(12)[0] + sizes(16)[0], sizes(12)[1] + 2 * weights)


def test_fp8_and_nvfp4_take_the_published_share() -> None:
    def gigabytes(form: Any) -> float:
        skeleton = Skeleton(REAL, form, torch.bfloat16, torch.device("meta"), fused_experts=False)
        weights = skeleton.weights()
        return sum(layer.experts_gate_up.nbytes + layer.experts_down.nbytes for layer in weights.layers) / 1e9

    assert abs(gigabytes(lambda _: "fp8") - 22.84) < 0.2
    assert abs(gigabytes(lambda _: "nvfp4") - 22.84 * 0.5625) < 0.2
