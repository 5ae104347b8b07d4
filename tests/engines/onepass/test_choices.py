"""Every choice of speed reads what the reference reads: padding, grouped products, FlexAttention, fused kernels."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.base import Read
from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.experts import gated
from oneread.engines.onepass.graphs import CLASSES, MOST_PAST, SMALL_ROWS, Repeats, blank, bucket
from oneread.engines.onepass.linear import FP8, quantise_rows
from oneread.engines.onepass.options import Options
from oneread.engines.onepass.packing import pack_reads
from oneread.engines.onepass.transfer import Sizes, read_block, write_block
from oneread.engines.onepass.weights import expert_form, load_weights

from . import tiny
from .test_weights import fp8_channel, nvfp4, quantised

CUDA = torch.cuda.is_available()
Open = Callable[..., OnePassModel]


def reads_of(seed: int = 0) -> list[Read]:
    rng = np.random.default_rng(seed)
    reads = [tiny.random_read(rng, p, c) for p, c in [(3, 4), (60, 16), (25, 2)]]
    return [*reads, replace(reads[1], canvas=tiny.random_read(rng, 1, 7).canvas, slots=reads[0].slots)]


def agree(engine: OnePassModel, reference: OnePassModel, tolerance: float = 1e-4) -> None:
    for seed in (0, 1):
        reads = reads_of(seed)
        for _ in range(2):
            for got, want in zip(engine.forward(reads), reference.forward(reads), strict=True):
                np.testing.assert_allclose(got.scores, want.scores, atol=tolerance)
                np.testing.assert_allclose(got.log_sum_exp, want.log_sum_exp, atol=tolerance)


def test_a_padded_pass_reads_what_the_pass_itself_reads(open_engine: Open) -> None:
    engine = open_engine(kv_bytes=2**22)
    engine.forward([reads_of()[1]])
    reads = reads_of()
    pack = pack_reads(reads, engine.prefix, engine._layout)
    engine.prefix.release(pack.pages)
    own = Sizes.of(pack)
    assert own.past > 0
    padded = Sizes(own.rows + 13, own.past + 5, own.nodes + 3, own.slots + 2, own.labels + 7)
    results = []
    for sizes in (own, padded):
        host = np.full(sizes.words, -(2**31), np.int32)
        write_block(pack, sizes, engine.options.rows, host)
        with torch.inference_mode():
            out = engine._read(read_block(torch.from_numpy(host), sizes)).numpy()
        results.append(np.concatenate([out[: own.labels], out[sizes.labels : sizes.labels + own.slots]]))
    np.testing.assert_allclose(results[0], results[1], atol=1e-5)


def test_a_pass_without_rows_can_be_padded_to_any_size(open_engine: Open) -> None:
    engine = open_engine()
    sizes = Sizes(64, 0, *CLASSES[1])
    host = np.empty(sizes.words, np.int32)
    write_block(blank(), sizes, engine.options.rows, host)
    with torch.inference_mode():
        assert np.isfinite(engine._read(read_block(torch.from_numpy(host), sizes)).numpy()).all()


def test_a_bucket_holds_its_pass(open_engine: Open) -> None:
    engine = open_engine(rows=4096, kv_bytes=2**22)
    rng = np.random.default_rng(3)
    for count in (1, 3, 20, 60):
        reads = [tiny.random_read(rng, int(rng.integers(1, 70)), 4) for _ in range(count)]
        for _ in range(2):
            pack = pack_reads(reads, engine.prefix, engine._layout)
            engine.prefix.written(pack.fresh)
            engine.prefix.release(pack.pages)
            own, sizes = Sizes.of(pack), bucket(pack, 4096)
            assert sizes is not None
            assert all(getattr(own, name) <= getattr(sizes, name) for name in ("rows", "past", "slots", "labels"))
            assert own.nodes < sizes.nodes
            assert sizes.rows < own.rows + max(64, own.rows // 4)
            assert sizes.words <= max(Sizes(4096, MOST_PAST, *c).words for c in CLASSES)
    assert bucket(pack, pack.rows - 1) is None


def test_sizes_are_captured_when_they_come_again() -> None:
    repeats = Repeats(most=2)
    first, second, third = (Sizes(rows, 0, *CLASSES[1]) for rows in (64, 128, 192))
    met = (first, second, first, third, first, second)
    assert [repeats.enough(s) for s in met] == [False, False, True, False, True, False]


def test_large_sizes_are_captured_when_they_have_come_more_often() -> None:
    repeats, (small, large) = Repeats(), (Sizes(rows, 0, *CLASSES[1]) for rows in (SMALL_ROWS, SMALL_ROWS + 128))
    assert [(repeats.enough(small), repeats.enough(large)) for _ in range(5)] == [
        (False, False), (True, False), (True, False), (True, True), (True, True)
    ]  # fmt: skip
    repeats.forget(small)
    assert [repeats.enough(small) for _ in range(2)] == [False, True]


def test_only_sizes_that_graphs_take_are_captured_at_start(open_engine: Open) -> None:
    engine, captured = open_engine(rows=512), list[int]()
    engine.options = replace(engine.options, graph_rows=256, warm_rows=(64, 256, 384, 1024))
    engine._graphs = SimpleNamespace(warm=lambda rows, progress: captured.extend(rows))  # type: ignore[assignment]
    engine.warm_up()
    assert captured == [64, 256]


@pytest.mark.parametrize("choice", [{"experts": "grouped"}, {"attention": "flex"}], ids=str)
def test_torchs_own_kernels_read_what_the_reference_reads(open_engine: Open, choice: dict[str, Any]) -> None:
    reference = open_engine(kv_bytes=2**22)
    agree(OnePassModel(reference.weights, replace(reference.options, **choice)), reference)


@pytest.mark.parametrize(
    "wrong",
    [
        {"attention": "triton"},
        {"experts": "triton"},
        {"activations": "fp8"},
        {"activations": "fp8", "steps": "triton"},
        {"overlap": "experts"},
        {"expert_bits": "12+16"},
        {"expert_bits": "12+16", "steps": "triton"},
        {"graphs": True},
        {"graphs": True, "experts": "grouped", "attention": "flex"},
    ],
    ids=str,
)
def test_choices_that_do_not_go_together_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="need"):
        Options(**wrong)


def test_a_form_that_a_choice_does_not_take_is_refused(folder: Path, tmp_path: Path) -> None:
    small, _ = quantised(folder, tmp_path / "small", fp8_channel, True)
    weights = load_weights(small, read_config(small), torch.device("cpu"))
    with pytest.raises(ValueError, match="not quantised"):
        OnePassModel(weights, Options(rows=64, kv_bytes=0, experts="grouped"))
    assert expert_form(small) == "fp8"
    assert expert_form(folder) == "plain"
    packed, _ = quantised(folder, tmp_path / "packed", nvfp4, False)
    assert expert_form(packed) == "nvfp4"
    weights = load_weights(packed, read_config(packed), torch.device("cpu"))
    with pytest.raises(ValueError, match="NVFP4 needs experts='loop'"):
        OnePassModel(weights, Options(rows=64, kv_bytes=0, steps="triton", attention="triton", experts="triton"))


needs_triton = pytest.mark.skipif(
    find_spec("triton") is None or not (CUDA or os.environ.get("TRITON_INTERPRET") == "1"),
    reason="needs Triton and a CUDA device, or Triton's interpreter (TRITON_INTERPRET=1)",
)
DEVICE = "cuda" if CUDA else "cpu"


@pytest.fixture(scope="module")
def kernel_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Kernels take sizes that the other tiny model does not have: k a power of two, inner widths in tiles."""
    return tiny.saved(tiny.tiny_model(top_k_experts=4, moe_intermediate_size=64), tmp_path_factory.mktemp("kernels"))


def fused_and_reference(folder: Path, **choices: Any) -> tuple[OnePassModel, OnePassModel]:
    from oneread.engines.onepass.kernels.plan import ExpertTiles

    weights = load_weights(folder, read_config(folder), torch.device(DEVICE))
    options = Options(rows=512, kv_bytes=2**22)
    fused = replace(options, steps="triton", attention="triton", experts="triton", **choices)
    engine = OnePassModel(weights, fused)
    tiles = engine._steps.tiles  # type: ignore[attr-defined]
    tiles.wide = tiles.fp8 = ((float("inf"), ExpertTiles(16, depth=32, wide=64, down_depth=32, swap=True, down_swap=True)),)
    return engine, OnePassModel(weights, options)


@needs_triton
def test_fused_kernels_read_what_the_reference_reads(kernel_folder: Path) -> None:
    agree(*fused_and_reference(kernel_folder))


@needs_triton
@pytest.mark.parametrize("experts", ["triton", "grouped"])
def test_experts_of_either_kind_wait_for_the_dense_mlp(
    kernel_folder: Path, experts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _ = fused_and_reference(kernel_folder)
    steps, layer, waits = engine._steps, engine.weights.layers[0], []
    monkeypatch.setattr(type(steps), "_join", lambda self, overlap: waits.append(overlap))
    steps.options = replace(steps.options, experts=experts)
    steps.totals, steps.count = torch.zeros(1, 8, dtype=torch.int32, device=DEVICE), torch.tensor([5], device=DEVICE)  # type: ignore[attr-defined]
    chosen, shares = steps.route(torch.randn(5, 8, device=DEVICE), layer, 4)
    steps.experts(torch.randn(5, 64, device=DEVICE), chosen, shares, layer.experts_gate_up, layer.experts_down)
    assert waits == ["routing"]


@needs_triton
def test_fp8_weights_are_multiplied_as_they_are(kernel_folder: Path, tmp_path: Path) -> None:
    small, _ = quantised(kernel_folder, tmp_path / "small", fp8_channel, False)
    engine, reference = fused_and_reference(small)
    assert engine.weights.layers[0].experts_down.weight.dtype == FP8
    agree(engine, reference)


@needs_triton
def test_fp8_rows_are_multiplied_as_rounded(kernel_folder: Path, tmp_path: Path) -> None:
    small, _ = quantised(kernel_folder, tmp_path / "small", fp8_channel, False)
    engine, _ = fused_and_reference(small, activations="fp8")
    from oneread.engines.onepass.kernels.experts import Quantised
    from oneread.engines.onepass.kernels.steps import FusedSteps

    steps, layer = engine._steps, engine.weights.layers[1]
    assert isinstance(steps, FusedSteps)
    torch.manual_seed(0)
    x = torch.randn(37, 64, device=DEVICE)
    steps.totals, steps.count = torch.zeros(1, 8, dtype=torch.int32, device=DEVICE), torch.tensor([35], device=DEVICE)
    chosen, shares = steps.route(torch.randn(37, 8, device=DEVICE), layer, 4)
    assert (chosen[35:] == -1).all(), "padding chooses nobody"
    rounded = Quantised(*quantise_rows(x))
    got = steps.experts(rounded, chosen, shares, layer.experts_gate_up, layer.experts_down).float().view(37, 4, 64)
    assert got[:35].std() > 0.3
    rows = rounded.values.float() * rounded.scales[:, None]
    errors = []
    for row in range(35):
        for place, expert in enumerate(chosen[row].tolist()):
            inner = gated(layer.experts_gate_up[expert](rows[row : row + 1]))
            values, scales = quantise_rows(inner)
            want = layer.experts_down[expert](values.float() * scales[:, None])[0] * shares[row, place]
            errors.append((got[row, place] - want).abs())
    # Triton's interpreter halves an FP8 number that rounds up to a power of two (one in fifty); devices do not.
    assert torch.stack(errors).mean() < (0.01 if CUDA else 0.05)
    assert torch.stack(errors).median() < 0.01


@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="needs a CUDA device")
def test_graphs_read_what_the_kernels_read(tmp_path: Path) -> None:
    folder = tiny.saved(tiny.tiny_model(top_k_experts=4, moe_intermediate_size=64), tmp_path)
    weights = load_weights(folder, read_config(folder), torch.device("cuda"))
    options = replace(Options.for_cuda(rows=1024, kv_bytes=2**24), warm_rows=(64,))
    captured = OnePassModel(weights, options)
    captured.warm_up()
    agree(captured, OnePassModel(weights, replace(options, graphs=False)), 1e-3)
