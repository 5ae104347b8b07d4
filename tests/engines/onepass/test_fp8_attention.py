"""Attention that writes FP8 for the matrix which follows, against the same kernel's output in the rows' own dtype."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.onepass.diffusion_gemma import Batch
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.linear import FP8, Linear

from . import tiny
from .fused import CUDA, DEVICE, engines, needs_triton, padded_pass
from .guarded import guarded_memory

pytestmark = needs_triton
SHARP = 5
"""A row that sees nothing but itself, and what it sees is as large as a value can be; so is row `SHARP` + 1, below zero."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.saved(tiny.tiny_model(top_k_experts=4, moe_intermediate_size=64), tmp_path_factory.mktemp("fp8"))


@pytest.fixture
def fp8_as_devices_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton's interpreter halves FP8 numbers that round up to a power of two. What overflows is NaN here, as torch has it."""
    if CUDA:
        return
    import triton.language as tl
    from triton.runtime import interpreter

    plain = interpreter._convert_float

    def convert(values: np.ndarray, source: Any, target: Any, rounding: Any) -> np.ndarray:
        if (source, target) != (tl.float32, tl.float8e4nv):
            return plain(values, source, target, rounding)
        return torch.from_numpy(np.ascontiguousarray(values)).to(FP8).view(torch.uint8).numpy()

    monkeypatch.setattr(interpreter, "_convert_float", convert)


def fp8_steps(engine: OnePassModel) -> Any:
    engine._steps.options = replace(engine.options, activations="fp8")
    return engine._steps


def following(dtype: torch.dtype) -> Linear:
    return Linear(torch.empty(1, 1, device=DEVICE, dtype=dtype))


def fill_with_values(engine: OnePassModel) -> None:
    """Every row of the store gets a key and a value of root mean square 1, as if all pages had been computed."""
    for part in (*engine.store.keys.values(), *engine.store.values.values()):
        part.normal_()
        part /= part.square().mean(-1, keepdim=True).sqrt()


def projected(rows: int, heads: int, kv_heads: int, size: int, own_values: bool) -> torch.Tensor:
    """Queries, keys and values of so many rows, random; the two sharp ones have queries like keys, and values of one number."""
    parts = torch.randn(rows, heads + kv_heads * (2 if own_values else 1), size, device=DEVICE)
    for row, value in ((SHARP, 1e3), (SHARP + 1, -1e3)):
        parts[row] = 0.0
        parts[row, :, 3] = value
    return parts.flatten(1)


def agree(got: Any, wide: torch.Tensor, size: int) -> None:
    """FP8 values times their scale are the wide output to within half a step of FP8."""
    scale = size**0.5 / 448
    assert got.values.dtype == FP8
    assert got.values.shape == wide.shape
    assert got.scales.shape == (len(wide),)
    torch.testing.assert_close(got.scales, torch.full_like(got.scales, scale))
    step = torch.maximum(wide.abs() * 2**-4, torch.full_like(wide, scale * 2**-10))
    error = (got.values.float() * scale - wide).abs()
    assert bool((error <= 1.01 * step).all()), "also if it is no number"


@pytest.mark.parametrize("kind", ["sliding", "full"])
@pytest.mark.parametrize(("cached", "beside"), [(0, True), (40, True), (200, False)])
@pytest.mark.usefixtures("fp8_as_devices_round")
def test_attention_in_fp8_is_attention_rounded(folder: Path, cached: int, beside: bool, kind: str) -> None:
    engine, _ = engines(folder)
    steps, config, store = fp8_steps(engine), engine.weights.config, engine.store
    index = next(i for i, shape in enumerate(config.layers) if shape.kind == kind)
    shape, rng = config.layers[index], np.random.default_rng(cached)
    norm = torch.ones(shape.head_dim, device=DEVICE)
    layer: Any = SimpleNamespace(shape=shape, query_norm=norm, key_norm=norm)
    first, fresh = tiny.random_read(rng, 200, 4), tiny.random_read(rng, 50, 9)
    padded_pass(engine, [first])
    read = replace(fresh, prompt=np.concatenate([first.prompt[:cached], fresh.prompt]))
    batch = padded_pass(engine, [read, tiny.random_read(rng, 3, 2)])[0].batch
    torch.manual_seed(0)
    with torch.inference_mode():
        fill_with_values(engine)
        qkv = projected(len(batch.tokens), config.heads, shape.kv_heads, shape.head_dim, kind == "sliding")
        with guarded_memory():
            steps.begin(config, batch)
            assert steps.beside == beside
            query = steps.query_key_value(qkv, layer, store, index, batch)
            query[SHARP : SHARP + 2] *= 100

            def both(some: torch.Tensor, of: Batch) -> tuple[Any, torch.Tensor]:
                got, wide = (steps.attention(some, shape, following(d), store, index, of) for d in (FP8, torch.bfloat16))
                return got, wide

            got, wide = both(query, batch)
            agree(got, wide, shape.head_dim)
            for row, most in ((SHARP, 448), (SHARP + 1, -448)):
                components = got.values[row].float().view(config.heads, shape.head_dim)
                assert bool((components[:, 3] == most).all())
                assert components.count_nonzero() == config.heads
            narrowed, few = both(*steps.narrow(wide, query, kind, batch)[1:])
            assert len(few) == len(batch.wanted) < len(wide)
            agree(narrowed, few, shape.head_dim)


def test_other_ways_to_attend_leave_rounding_to_the_product(folder: Path) -> None:
    engine, _ = engines(folder)
    steps, config = fp8_steps(engine), engine.weights.config
    steps.options = replace(steps.options, attention="sdpa")
    batch = padded_pass(engine, [tiny.random_read(np.random.default_rng(0), 9, 4)])[0].batch
    shape = config.layers[0]
    query = torch.randn(len(batch.tokens), config.heads, shape.head_dim, device=DEVICE)
    steps.begin(config, batch)
    out = steps.attention(query, shape, following(FP8), engine.store, 0, batch)
    assert torch.is_tensor(out)
    assert out.dtype == query.dtype
