"""The second product whose weights stay in shared memory: on a Hopper card, beside the one that streams them. Elsewhere, when it
is not taken."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from oneread.engines.onepass import load
from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.linear import FP8, Linear, quantise_rows

from . import tiny
from .fused import DEVICE, needs_triton
from .guarded import guarded_memory
from .test_weights import fp8_channel, quantised

COUNTS = {
    "uneven": [1, 0, 64, 65, 128, 129, 300, 7],
    "one": [0, 0, 0, 1],
    "skewed": [3, 5000, 0, 200],
    "even": [512] * 8,
    "none": [0, 0, 0, 0],
}


def case(counts: list[int], hidden: int, inner: int) -> tuple[Any, Any, torch.Tensor, Linear]:
    """FP8 rows in sorted places, their order, shares, and a stack of weights. Places without a pair hold what is no number."""
    from oneread.engines.onepass.kernels.experts import Quantised, sort_pairs

    torch.manual_seed(0)
    pairs = sum(counts)
    chosen = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))[torch.randperm(pairs)]
    ranks = torch.zeros(pairs, dtype=torch.int32)
    for expert, count in enumerate(counts):
        ranks[chosen == expert] = torch.arange(count, dtype=torch.int32)
    padded = torch.cat((chosen, torch.full((16,), -1)))[:, None].int().cuda()
    totals = torch.tensor(counts, dtype=torch.int32, device="cuda")
    order = sort_pairs(padded, torch.cat((ranks, torch.zeros(16, dtype=torch.int32)))[:, None].cuda(), totals, 128)
    values, scales = quantise_rows(torch.randn(len(order.pairs), inner, device="cuda"))
    place = torch.arange(len(order.pairs), device="cuda")
    empty = place >= order.limits[place // 128]
    values.view(torch.uint8)[empty] = 0x7F
    order.pairs[empty] = 2**30
    weight = torch.randn(len(counts), hidden, inner, device="cuda")
    scale = weight.abs().amax(-1) / 448
    stack = Linear((weight / scale[..., None]).to(FP8), scale)
    return Quantised(values, scales), order, torch.rand(pairs + 16, device="cuda"), stack


@pytest.mark.gpu
@needs_triton
@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize(("hidden", "inner"), [(256, 64), (512, 704), (768, 768)])
def test_equal_to_the_product_that_streams_weights(counts: list[int], hidden: int, inner: int) -> None:
    from oneread.engines.onepass.kernels import hopper
    from oneread.engines.onepass.kernels.experts import Products
    from oneread.engines.onepass.kernels.plan import FP8_ROWS

    x, order, shares, weight = case(counts, hidden, inner)
    if not hopper.stays(weight, 128, shares.device):
        pytest.skip("needs a Hopper card and a known version of Triton")
    tiles, pairs = FP8_ROWS[-1][1], sum(counts)
    assert tiles.stationary
    with guarded_memory():
        found = hopper.stationary_down(x, order, shares, weight, hopper.stack_of(weight.weight), 128)[:pairs]
        torch.cuda.synchronize()
    order.pairs.clamp_(max=len(shares) - 1)
    wanted = Products().down(x, order, shares, weight, replace(tiles, stationary=False))[:pairs]
    assert torch.equal(found, wanted)
    rows = x.values.float() * x.scales[:, None]
    place = torch.arange(len(order.pairs), device="cuda")
    for at in place[place < order.limits[place // 128]][:: 1 + pairs // 50].tolist():
        pair = int(order.pairs[at])
        by_torch = weight[int(order.owners[at // 128])].dequantised(torch.float32) @ rows[at] * shares[pair]
        assert torch.allclose(found[pair].float(), by_torch, rtol=0.01, atol=0.01 * float(by_torch.std()))


@needs_triton
def test_where_weights_do_not_fit_they_are_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    from oneread.engines.onepass.kernels import hopper

    assert [hopper.slots_of(inputs) for inputs in (64, 704, 768)] == [1, 11, 8]
    assert hopper.slots_of(896) < hopper.FEWEST
    assert hopper.lacks(torch.device("cpu")) == "it needs CUDA"

    def stack(outputs: int, inputs: int, dtype: torch.dtype = FP8) -> Linear:
        return Linear(torch.zeros(1, outputs, inputs, dtype=dtype), torch.ones(1, outputs))

    monkeypatch.setattr(hopper, "lacks", lambda _: None)
    found = [
        hopper.stays(weight, block, DEVICE)
        for weight, block in (
            (stack(2816, 704), 128),
            (stack(2816, 704), 64),
            (stack(2816, 896), 128),
            (stack(2816, 720), 128),
            (stack(2880, 704), 128),
            (stack(2816, 704, torch.bfloat16), 128),
        )
    ]
    assert found == [True, False, False, False, False, False]
    monkeypatch.setattr(hopper, "lacks", lambda _: "it needs a Hopper card")
    assert not hopper.stays(stack(2816, 704), 128, DEVICE)


@needs_triton
def test_only_rows_in_fp8_meet_weights_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    from oneread.engines.onepass.kernels import experts
    from oneread.engines.onepass.kernels.plan import FP8_ROWS

    asked: list[int] = []
    monkeypatch.setattr(experts, "stays", lambda weight, block, device: True)
    monkeypatch.setattr(experts, "stack_of", lambda weight: asked.append(1) or "the stack")
    monkeypatch.setattr(experts, "stationary_down", lambda *given: given)
    products, tiles = experts.Products(), FP8_ROWS[-1][1]
    x = experts.Quantised(torch.zeros(128, 64, device=DEVICE).to(FP8), torch.ones(128, device=DEVICE))
    weight = Linear(torch.zeros(1, 256, 64, device=DEVICE).to(FP8), torch.ones(1, 256, device=DEVICE))
    none = torch.full((1,), -1, dtype=torch.int32, device=DEVICE)
    order = experts.Order(torch.zeros(128, dtype=torch.int32, device=DEVICE), none, none, none)
    shares = torch.ones(4, device=DEVICE)
    for _ in range(2):
        assert products.down(x, order, shares, weight, tiles) == (x, order, shares, weight, "the stack", 128)
    assert asked == [1]
    small = replace(tiles, block=16, down_depth=32, wide=64, down_stages=2, down_warps=4, halve=False, down_tma=False)
    assert torch.is_tensor(products.down(x, order, shares, weight, replace(small, stationary=False)))
    wide = torch.zeros(128, 64, device=DEVICE, dtype=torch.bfloat16)
    assert torch.is_tensor(products.down(wide, order, shares, Linear(wide.new_zeros(1, 256, 64)), small))


def test_what_keeps_large_passes_from_the_fastest_product_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from oneread.readers import checkpoint

    plain = tiny.saved(tiny.tiny_model(), tmp_path / "plain")
    fp8, _ = quantised(plain, tmp_path / "fp8", fp8_channel, True)
    config = read_config(fp8)
    assert load.streaming(plain, torch.device("cpu"), config) is None
    monkeypatch.setattr(load, "lacking", lambda *_: "the card is too old")
    assert checkpoint._slow(fp8, "cpu", config) is None
    assert checkpoint._slow(fp8, "cuda", config) == "plain torch, which is slow: the card is too old"
    monkeypatch.setattr(load, "lacking", lambda *_: None)
    assert checkpoint._slow(plain, "cuda", config) is None
    monkeypatch.setattr(load, "streaming", lambda *_: "it needs a Hopper card")
    told = checkpoint._slow(fp8, "cuda", config)
    assert told == "fused, but the one for the experts' second product of large FP8 passes: it needs a Hopper card"


@needs_triton
def test_sizes_that_do_not_stay_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from oneread.engines.onepass.kernels import hopper

    fp8, _ = quantised(tiny.saved(tiny.tiny_model(), tmp_path / "plain"), tmp_path / "fp8", fp8_channel, True)
    config = read_config(fp8)
    assert load.streaming(fp8, DEVICE, config) == f"it does not take experts of {config.hidden} by {config.expert}"
    monkeypatch.setattr(hopper, "fits", lambda *_: True)
    monkeypatch.setattr(hopper, "lacks", lambda _: None)
    assert load.streaming(fp8, DEVICE, config) is None
