"""The experts' products over weights of 12 bits against plain torch over the same weights unpacked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.onepass.diffusion_gemma import Steps
from oneread.engines.onepass.experts import experts_loop
from oneread.engines.onepass.linear import Linear, in_12_bits
from oneread.engines.onepass.packed import pack

from . import tiny
from .fused import CUDA, DEVICE, EXPERTS, HIDDEN, K, engines, fused_steps, needs_triton
from .guarded import guarded_memory

pytestmark = needs_triton


def packed_stack(*shape: int) -> Linear:
    """Random bf16 matrices in 12 bits, with rows of very different sizes, zeros and numbers too small to be kept exactly."""
    weight = torch.randn(shape, device=DEVICE) * shape[-1] ** -0.5
    weight *= torch.exp2(torch.randint(-12, 2, shape[:-1], device=DEVICE).float())[..., None]
    weight[..., ::7] *= 2.0**-13
    weight[..., ::11] = 0
    assert any(pack(matrix)[3] for matrix in weight[:4].to(torch.bfloat16))
    return in_12_bits(weight.to(torch.bfloat16))


@pytest.mark.parametrize(("block", "inner", "shape"), [
    (16, 64, {}),
    (16, 192, {"down_depth": 32, "wide": 16}),
    (32, 128, {"depth": 32, "down_depth": 64, "group": 4}),
    (64, 64, {"down_depth": 32}),
])  # fmt: skip
@pytest.mark.parametrize("rows", [1, 37])
def test_products_over_weights_of_12_bits(rows: int, block: int, inner: int, shape: dict[str, Any]) -> None:
    torch.manual_seed(rows)
    gate_up, down = packed_stack(EXPERTS, 2 * inner, HIDDEN), packed_stack(EXPERTS, HIDDEN, inner)
    steps = fused_steps(rows, block)
    tiles = replace(steps.tiles.wide[0][1], block=block, **shape)
    steps.tiles.packed = ((float("inf"), tiles),)
    dtype = torch.bfloat16 if CUDA else torch.float32
    x = torch.randn(rows, HIDDEN, device=DEVICE).to(dtype)
    layer: Any = type("Layer", (), {"expert_scale": torch.ones(EXPERTS, device=DEVICE)})
    from oneread.engines.onepass.kernels.packed import LIFT

    with guarded_memory():
        chosen, shares = steps.route(torch.randn(rows, EXPERTS, device=DEVICE), layer, K)
        out = steps.experts(x * LIFT, chosen, shares, gate_up, down).view(rows, K, HIDDEN)
    want = experts_loop(x.float(), chosen, shares, gate_up, down)
    error = (out.float().sum(1) - want).norm() / want.norm()
    assert error < (0.02 if CUDA else 1e-5)


def test_a_router_in_parts_gives_the_same_choice() -> None:
    torch.manual_seed(0)
    columns, rows = 700, 37
    layer: Any = type("Layer", (), {"expert_scale": torch.rand(EXPERTS, device=DEVICE) + 0.5})
    layer.router = Linear(torch.randn(EXPERTS, columns, device=DEVICE) * columns**-0.5)
    x = torch.randn(rows, columns, device=DEVICE)
    steps = fused_steps(rows)
    with guarded_memory():
        logits = steps.router_logits(x, layer)
        chosen, shares = steps.route(logits, layer, K)
    assert logits.shape[0] > 1
    want_chosen, want_shares = Steps().route(Steps().router_logits(x, layer), layer, K)
    torch.testing.assert_close(chosen.long(), want_chosen)
    torch.testing.assert_close(shares, want_shares)


def test_a_pass_over_weights_of_12_bits(tmp_path: Path) -> None:
    folder = tiny.saved(tiny.tiny_model(top_k_experts=4, moe_intermediate_size=64), tmp_path)
    fused, plain = engines(folder)
    for layer in plain.weights.layers:
        layer.experts_gate_up, layer.experts_down = (
            in_12_bits(part.weight.to(torch.bfloat16)) for part in (layer.experts_gate_up, layer.experts_down)
        )
    assert fused.weights is plain.weights
    from oneread.engines.onepass.kernels.plan import ExpertTiles

    shape = ExpertTiles(16, depth=32, wide=64, down_depth=32, stages=2)
    fused._steps.tiles.packed = ((float("inf"), shape),)  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    reads = [tiny.random_read(rng, p, c) for p, c in [(3, 4), (60, 16)]]
    for ours, theirs in zip(fused.forward(reads), plain.forward(reads), strict=True):
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-4)
