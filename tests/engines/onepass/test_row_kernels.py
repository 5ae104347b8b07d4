"""The kernels of whole rows, of heads and of a pass's two ends against plain torch, in memory that is poisoned and guarded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.onepass import head
from oneread.engines.onepass.diffusion_gemma import Layer, Steps
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.linear import FP8, Linear

from . import tiny
from .fused import CUDA, DEVICE, HIDDEN, engines, fused_steps, needs_triton
from .guarded import guarded_memory

pytestmark = needs_triton


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = tiny.tiny_model(top_k_experts=4, moe_intermediate_size=64)
    return tiny.saved(model, tmp_path_factory.mktemp("kernels"))


def test_the_two_ends_of_a_pass_are_what_plain_torch_gives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = engines(folder)
    weights, plain = engine.weights, Steps()
    torch.manual_seed(0)
    tokens = torch.randint(0, weights.config.vocab, (37,), device=DEVICE, dtype=torch.int32)
    canvas = torch.arange(37, device=DEVICE) % 3 == 0
    batch: Any = SimpleNamespace(tokens=tokens, canvas=canvas, image_rows=None, soft=None)
    plain.epsilon = engine._steps.epsilon = weights.config.epsilon
    slots = torch.randn(5, weights.config.hidden, device=DEVICE)
    labels, of = torch.randint(0, weights.config.vocab, (2, 11), device=DEVICE, dtype=torch.int32)
    # Several pieces, the last one ragged.
    monkeypatch.setattr(head, "LOGIT_BYTES", 1)
    monkeypatch.setattr(head, "LEAST_WIDTH", 128)
    with torch.inference_mode():
        want = plain.embed(weights, batch), plain.read_slots(slots, weights, labels, of % 5)
        with guarded_memory():
            got = engine._steps.embed(weights, batch), engine._steps.read_slots(slots, weights, labels, of % 5)
    for one, other in zip(got, want, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_pieces_of_the_vocabulary_are_summed_in_several_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pieces, the first two of two parts each; pieces and parts are ragged."""
    engine, _ = engines(folder)
    torch.manual_seed(0)
    weights: Any = SimpleNamespace(embedding=torch.randn(20001, 64, device=DEVICE), config=SimpleNamespace(softcap=30.0))
    slots = torch.randn(3, 64, device=DEVICE)
    labels = torch.tensor([0, 20000, 8321, 77], device=DEVICE, dtype=torch.int32)
    of = torch.tensor([0, 1, 2, 2], device=DEVICE, dtype=torch.int32)
    monkeypatch.setattr(head, "LOGIT_BYTES", 1)
    monkeypatch.setattr(head, "LEAST_WIDTH", 8320)
    with torch.inference_mode():
        want = Steps().read_slots(slots, weights, labels, of)
        with guarded_memory():
            got = engine._steps.read_slots(slots, weights, labels, of)
    torch.testing.assert_close(got, want, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("rows", [1, 5, 33])
def test_row_kernels_give_what_torch_gives(folder: Path, rows: int) -> None:
    fused, reference = engines(folder)
    layer: Layer = fused.weights.layers[0]
    steps, plain = fused._steps, reference._steps
    steps.count = torch.tensor([rows], dtype=torch.int32, device=DEVICE)
    torch.manual_seed(rows)
    x, attended, dense = (torch.randn(rows, HIDDEN, device=DEVICE) for _ in range(3))
    mixed = torch.randn(rows * 4, HIDDEN, device=DEVICE)
    batch: Any = type("Flags", (), {"canvas": torch.arange(rows, device=DEVICE) % 2 == 0})
    with guarded_memory():
        got = [
            steps.normed_for(x, layer.input_norm, layer.qkv),
            steps.gated(torch.cat((x, attended), 1), layer.down),
            *steps.after_attention(x, attended, layer),
            *steps.after_experts(x, dense, mixed, layer, batch, layer),
        ]
    want = [
        plain.normed_for(x, layer.input_norm, layer.qkv),
        plain.gated(torch.cat((x, attended), 1), layer.down),
        *plain.after_attention(x, attended, layer),
        *plain.after_experts(x, dense, mixed.view(rows, 4, HIDDEN).sum(1), layer, batch, layer),
    ]
    for ours, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("fp8", [False, True])
@pytest.mark.parametrize("columns", [1, 7, 64, 65, 96, 100, 127])
def test_row_kernels_at_any_width(columns: int, fp8: bool) -> None:
    """One part or two, the last of either ragged or not; two rows are padding, whose pairs nobody wrote."""
    rows, real, k = 9, 7, 4
    torch.manual_seed(columns)
    weight = torch.empty(1, 1, device=DEVICE, dtype=FP8 if fp8 else torch.float32)
    names = ("attention", "dense", "experts", "after_dense", "after_experts", "output", "input")
    parts: Any = {f"{name}_norm": torch.randn(columns, device=DEVICE) for name in names}
    parts |= {name: Linear(weight) for name in ("gate_up", "experts_gate_up", "qkv", "down")}
    parts |= {"prompt_scalar": torch.full((1,), 0.7, device=DEVICE), "canvas_scalar": torch.full((1,), 1.3, device=DEVICE)}
    layer: Any = SimpleNamespace(**parts, router_scale=torch.randn(columns, device=DEVICE))
    batch: Any = SimpleNamespace(canvas=torch.arange(rows, device=DEVICE) % 2 == 0)
    x, attended, dense = torch.randn(3, rows, columns, device=DEVICE)
    mixed = torch.randn(rows * k, columns, device=DEVICE)
    mixed[real * k :] = float("nan")
    summed = mixed.nan_to_num(0).view(rows, k, columns).sum(1)
    steps, plain = fused_steps(real, activations="fp8"), Steps()
    twice = torch.cat((x, attended), 1)
    with guarded_memory():
        got = [
            steps.normed_for(x, layer.input_norm, layer.qkv),
            steps.gated(twice, layer.down),
            *steps.after_attention(x, attended, layer),
            *steps.after_experts(x, dense, mixed, layer, batch, layer),
            steps.after_experts(x, dense, mixed, layer, batch, None)[0],
        ]
    want = [
        plain.normed_for(x, layer.input_norm, layer.qkv),
        plain.gated(twice, layer.down),
        *plain.after_attention(x, attended, layer),
        *plain.after_experts(x, dense, summed, layer, batch, layer),
        plain.after_experts(x, dense, summed, layer, batch, None)[0],
    ]
    if fp8:
        with guarded_memory():
            got.append(steps._quantise(x))
        want.append(x)
    rounded = [one for one in got if not torch.is_tensor(one)]
    assert len(rounded) == (6 if fp8 else 0)
    for ours, theirs in zip(got, want, strict=True):
        if torch.is_tensor(ours):
            torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
            continue
        torch.testing.assert_close(ours.scales, theirs.abs().amax(1).clamp_min(448e-12) / 448, atol=1e-7, rtol=1e-4)
        error = (ours.values.float() * ours.scales[:, None] - theirs).norm() / theirs.norm()
        assert error < (0.05 if CUDA else 0.3)


@pytest.mark.parametrize("columns", [44, 64, 96, 100])
def test_places_in_fp8(columns: int) -> None:
    """One part or two of a row, ragged or not; blocks of nobody are not read or written."""
    from oneread.engines.onepass.kernels.experts import Order, quantise_places

    torch.manual_seed(columns)
    x = torch.randn(48, columns, device=DEVICE)
    x[16:32] = float("nan")
    owners = torch.tensor([0, -1, 1], dtype=torch.int32, device=DEVICE)
    with guarded_memory():
        got = quantise_places(x, Order(owners, owners, owners, owners), 16)
    for own in (slice(0, 16), slice(32, 48)):
        torch.testing.assert_close(got.scales[own], x[own].abs().amax(1) / 448, atol=0, rtol=1e-5)
        error = got.values[own].float() * got.scales[own, None] - x[own]
        # Triton's interpreter halves an FP8 number that rounds up to a power of two; devices do not.
        assert error.norm() < (0.05 if CUDA else 0.3) * x[own].norm()


def test_wide_heads_are_turned_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six queries of a full layer are two programs, the second ragged, and a third has the row's key and value."""
    model = tiny.tiny_model(num_attention_heads=6, top_k_experts=4, moe_intermediate_size=64)
    _, reference = engines(tiny.saved(model, tmp_path))
    # Other kernels would have to take six queries at once.
    fused = OnePassModel(reference.weights, replace(reference.options, steps="triton"))
    monkeypatch.setattr("oneread.engines.onepass.kernels.attention.WIDE_HEADS", 4)
    rng = np.random.default_rng(0)
    reads = [tiny.random_read(rng, p, c) for p, c in [(3, 4), (25, 2)]]
    with guarded_memory():
        got = fused.forward(reads)
    for ours, theirs in zip(got, reference.forward(reads), strict=True):
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=2e-4)
