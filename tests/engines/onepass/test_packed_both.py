"""Experts in 12 bits and in 16 side by side: what is loaded and counted, told and refused, and which passes read which form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from oneread.engines.base import Read
from oneread.engines.onepass import load as loading
from oneread.engines.onepass import packed
from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.diffusion_gemma import Layer, Weights
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.fit import GIB, check_fit, measure_fit
from oneread.engines.onepass.graphs import blank, bucket
from oneread.engines.onepass.kernels import plan
from oneread.engines.onepass.linear import Linear, in_12_bits
from oneread.engines.onepass.load import default_options, load_onepass, rounding
from oneread.engines.onepass.options import ExpertBits, Options
from oneread.engines.onepass.weights import DECODER, load_weights
from oneread.errors import ReaderError

from . import tiny
from .fused import DEVICE, few_tiles, needs_triton
from .test_packed_loading import OPTIONS, load, stacks_of, with_tensor
from .test_weights import fp8_channel, nvfp4, quantised

FUSED = Options(rows=512, kv_bytes=2**22, steps="triton", attention="triton", experts="triton")
BOTH = replace(FUSED, expert_bits="12+16")
LAST = f"{DECODER}.layers.1.experts.down_proj"
PAIRS = 7
"""In place of the limit: with 4 of 8 experts a row, passes of up to 14 rows are small."""
SMALL, LARGE = ((6, 8),), ((3, 4), (4, 4))
"""Prompts and canvases."""


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint whose experts can be packed, of sizes that the kernels take."""
    kinds = ["sliding_attention", "full_attention"]
    model = tiny.tiny_model(num_hidden_layers=2, layer_types=kinds, top_k_experts=4, moe_intermediate_size=64)
    return tiny.saved(model.bfloat16(), tmp_path_factory.mktemp("both"))


def reads_of(*sizes: tuple[int, int]) -> list[Read]:
    rng = np.random.default_rng(len(sizes))
    return [tiny.random_read(rng, prompt, canvas) for prompt, canvas in sizes]


def told_apart(folder: Path) -> dict[ExpertBits, Weights]:
    """float32 weights by their experts' form. In 12 bits experts are others than in 16, so that readings say which were read."""
    base = load_weights(folder, read_config(folder), DEVICE, torch.float32)

    def formed(layer: Layer, bits: ExpertBits) -> Layer:
        changes: dict[str, Any] = {}
        for name in ("experts_gate_up", "experts_down"):
            weight = getattr(layer, name).weight
            other = in_12_bits((1.5 * weight.flip(0)).bfloat16())
            changes[name] = Linear(weight) if bits == 16 else other if bits == 12 else Linear(weight, twin=other)
        return replace(layer, **changes)

    every: tuple[ExpertBits, ...] = (16, 12, "12+16")
    return {bits: replace(base, layers=[formed(layer, bits) for layer in base.layers]) for bits in every}


def agree(weights: dict[ExpertBits, Weights], options: Options) -> None:
    """Each pass of one engine with both forms reads what an engine with the one form reads, to the last bit."""
    engines = {bits: OnePassModel(of, options) for bits, of in weights.items()}
    for engine in engines.values():
        if options.experts == "triton":
            engine._steps.tiles = tiles = few_tiles()  # type: ignore[attr-defined]
            shape = plan.ExpertTiles(16, depth=32, wide=64, down_depth=32, stages=2)
            tiles.packed = ((float("inf"), shape),)
    forms: tuple[tuple[Any, ExpertBits, ExpertBits], ...] = ((SMALL, 12, 16), (LARGE, 16, 12))
    for sizes, own, other in forms:
        reads = reads_of(*sizes)
        both, one, wrong = engines["12+16"].forward(reads), engines[own].forward(reads), engines[other].forward(reads)
        for got, want, not_this in zip(both, one, wrong, strict=True):
            np.testing.assert_array_equal(got.scores, want.scores)
            np.testing.assert_array_equal(got.log_sum_exp, want.log_sum_exp)
            assert np.abs(got.scores - not_this.scores).max() > 1e-2


def test_small_passes_read_12_bits_and_large_ones_16(wide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "PACKED_PAIRS", PAIRS)
    agree(told_apart(wide), OPTIONS)


@needs_triton
def test_small_passes_of_the_kernels_read_12_bits_and_large_ones_16(wide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "PACKED_PAIRS", PAIRS)
    agree(told_apart(wide), FUSED)


def test_the_number_of_rows_decides() -> None:
    assert plan.takes_packed(896, 8, 128)
    assert not plan.takes_packed(897, 8, 128)
    assert [plan.most_packed(8, 128), plan.most_packed(6, 128), plan.most_packed(4, 8)] == [896, 1152, 112]
    # No pass is padded beyond the limit.
    rows = np.zeros(880, np.int32)
    padded = bucket(replace(blank(), tokens=rows, key_rows=rows), 4096)
    assert padded is not None
    assert padded.rows == 896


def test_what_is_loaded_is_either_form_as_it_is_loaded_alone(wide: Path) -> None:
    both, twelve, sixteen = (load(wide, bits) for bits in ("12+16", 12, 16))  # type: ignore[arg-type]
    for pair, low, plain in zip(stacks_of(both), stacks_of(twelve), stacks_of(sixteen), strict=True):
        assert pair.twin is not None
        assert torch.equal(pair.weight, plain.weight)
        for name in ("weight", "high", "scale"):
            assert torch.equal(getattr(pair.twin, name), getattr(low, name))
        assert pair.nbytes == plain.nbytes + low.nbytes
        assert (pair.outputs, pair.inputs) == (plain.outputs, plain.inputs)
        one = pair[3].twin
        assert one is not None
        assert torch.equal(one.dequantised(torch.float32), low[3].dequantised(torch.float32))
    assert both.rounded == twelve.rounded > 0


def test_each_matrix_is_packed_as_it_comes(wide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes, pack = [], packed.pack

    def seen(matrix: torch.Tensor) -> Any:
        shapes.append(tuple(matrix.shape))
        return pack(matrix)

    monkeypatch.setattr(packed, "pack", seen)
    load(wide, "12+16")
    assert sorted(shapes) == sorted([(128, 64), (64, 64)] * 2 * 8)


def test_the_fit_counts_both_forms_and_says_which_one_would_fit(wide: Path) -> None:
    config = read_config(wide)
    both, twelve, sixteen = (measure_fit(wide, config, replace(BOTH, expert_bits=b), GIB) for b in ("12+16", 12, 16))
    low, plain = (sum(stack.nbytes for stack in stacks_of(load(wide, bits))) for bits in (12, 16))  # type: ignore[arg-type]
    assert dict(both.parts)["weights"] == dict(sixteen.parts)["weights"]
    assert dict(both.parts)["experts in 12 bits"] == low
    assert both.needed - sixteen.needed == both.doubled == low
    assert both.needed - twelve.needed == both.spared == plain
    assert "weights 0.0 + experts in 12 bits 0.0 + prefix cache" in str(both)
    assert sixteen.doubled == twelve.doubled == 0
    for free, bits in ((both.needed - 1, 16), (sixteen.needed, 16), (sixteen.needed - 1, 12), (twelve.needed, 12)):
        with pytest.raises(ReaderError, match=f"need less. Or take --expert-bits {bits}, which needs 0.0 GiB less and fits"):
            check_fit(measure_fit(wide, config, BOTH, free))
        check_fit(measure_fit(wide, config, replace(FUSED, expert_bits=bits), free))  # type: ignore[arg-type]
    with pytest.raises(ReaderError, match=r"fewer rows a pass need less$"):
        check_fit(measure_fit(wide, config, BOTH, twelve.needed - 1))
    check_fit(measure_fit(wide, config, BOTH, both.needed))


def test_what_cannot_be_packed_is_refused_as_for_12_bits(folder: Path, wide: Path, tmp_path: Path) -> None:
    fp8, _ = quantised(folder, tmp_path / "fp8", fp8_channel, True)
    odd = tiny.saved(tiny.tiny_model(moe_intermediate_size=32).bfloat16(), tmp_path / "odd")
    for checkpoint, says in (
        (fp8, r"in bfloat16, a tensor for each layer; this checkpoint has F8_E4M3 \[64, 32\]; leave --expert-bits out"),
        (folder, "this checkpoint has F32"),
        (odd, "sizes of a multiple of 64, not 64 by 32"),
    ):
        with pytest.raises(ReaderError, match=f"12 bits for experts' weights need .*{says}"):
            load(checkpoint, "12+16")
        config = read_config(checkpoint)
        assert measure_fit(checkpoint, config, BOTH, GIB) == measure_fit(checkpoint, config, FUSED, GIB)
    tensor = load_file(wide / "model.safetensors")[LAST]
    tensor[5, 3, 7] = float("inf")
    with pytest.raises(ReaderError, match=rf"{LAST}, expert 5: .* finite numbers below 65,536; --expert-bits 16"):
        load(with_tensor(wide, tmp_path / "damaged", LAST, tensor), "12+16")
    name = f"{DECODER}.layers.1.experts.gate_up_proj"
    single = load_file(wide / "model.safetensors")[name].float()
    with pytest.raises(ReaderError, match=rf"{name}, expert 0: .* a bfloat16 matrix .*, not torch\.float32"):
        load(with_tensor(wide, tmp_path / "single", name, single), "12+16")


def test_where_the_fused_kernels_do_not_run_both_forms_are_refused(
    wide: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = r"12 and 16 bits side by side are for the experts' fused kernels only: {}; leave --expert-bits out"
    with pytest.raises(ReaderError, match=says.format("they need a CUDA device")):
        default_options(wide, "cpu", expert_bits="12+16")
    monkeypatch.setattr(loading, "lacking", lambda *_: "the card is too old")
    with pytest.raises(ReaderError, match=says.format("the card is too old")):
        default_options(wide, "cuda", expert_bits="12+16")
    monkeypatch.setattr(loading, "lacking", lambda *_: None)
    assert default_options(wide, "cuda", expert_bits="12+16") == replace(Options.for_cuda(), expert_bits="12+16")
    small, _ = quantised(folder, tmp_path / "nvfp4", nvfp4, False)
    with pytest.raises(ReaderError, match=says.format("NVFP4 weights have none")):
        default_options(small, "cuda", expert_bits="12+16")
    with pytest.raises(ValueError, match="not quantised"):
        OnePassModel(load(wide, "12+16"), replace(OPTIONS, experts="grouped"))


def test_both_forms_and_what_was_rounded_are_told(wide: Path) -> None:
    weights = load(wide, "12+16")
    forms = "experts' weights in 12 bits for passes of up to 112 rows, in 16 for larger ones: "
    assert weights.rounded
    assert rounding(weights) == (f"{forms}less than 0.01 % of those in 12 bits rounded, by at most 2^-22 of their row's largest")
    weights.rounded = 0
    assert rounding(weights) == f"{forms}none of those in 12 bits rounded"


@needs_triton
def test_a_checkpoint_is_loaded_in_both_forms_and_says_so(wide: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = load_onepass(wide, str(DEVICE), replace(BOTH, rows=64, kv_bytes=0))
    assert all(stack.twin is not None for stack in stacks_of(model.weights))
    model.close()
    assert capsys.readouterr().out.count("in 16 for larger ones: less than 0.01 % of those in 12 bits rounded") == 1
