"""A bfloat16 checkpoint whose experts are kept in 12 bits: what is loaded, read, counted, told and refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.diffusion_gemma import Weights
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.fit import GIB, check_fit, measure_fit
from oneread.engines.onepass.linear import Linear
from oneread.engines.onepass.load import default_options, load_onepass, rounding
from oneread.engines.onepass.options import ExpertBits, Options
from oneread.engines.onepass.packed import pack
from oneread.engines.onepass.weights import DECODER, load_weights
from oneread.errors import ReaderError

from . import tiny
from .test_weights import CPU, fp8_channel, nvfp4, quantised

OPTIONS = Options(rows=256, kv_bytes=0)
LAST = f"{DECODER}.layers.3.experts.down_proj"


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint whose experts can be packed: bfloat16, 64 by 64."""
    return tiny.saved(tiny.tiny_model(moe_intermediate_size=64).bfloat16(), tmp_path_factory.mktemp("wide"))


def load(folder: Path, bits: ExpertBits = 12, **options: Any) -> Weights:
    return load_weights(folder, read_config(folder), CPU, expert_bits=bits, **options)


def stacks_of(weights: Weights) -> list[Linear]:
    return [stack for layer in weights.layers for stack in (layer.experts_gate_up, layer.experts_down)]


def with_tensor(folder: Path, target: Path, name: str, tensor: torch.Tensor) -> Path:
    """A copy of a checkpoint with one tensor of its own."""
    target.mkdir()
    shutil.copy(folder / "config.json", target)
    save_file(load_file(folder / "model.safetensors") | {name: tensor}, target / "model.safetensors")
    return target


def test_what_is_loaded_is_each_expert_packed(wide: Path) -> None:
    weights, tensors, rounded = load(wide), load_file(wide / "model.safetensors"), 0
    for index, layer in enumerate(weights.layers):
        for stack, name in ((layer.experts_gate_up, "gate_up_proj"), (layer.experts_down, "down_proj")):
            tensor = tensors[f"{DECODER}.layers.{index}.experts.{name}"]
            assert len(stack.weight) == len(tensor) == 8
            assert (stack.outputs, stack.inputs) == tensor.shape[1:]
            for expert, matrix in enumerate(tensor):
                low, high, scale, changed = pack(matrix)
                got = stack[expert]
                assert torch.equal(got.weight, low)
                assert got.high is not None
                assert torch.equal(got.high, high)
                assert got.scale is not None
                assert torch.equal(got.scale, scale)
                rounded += changed
    assert weights.rounded == rounded > 0
    assert load(wide, 16).rounded == 0


def test_reads_are_those_of_the_rounded_weights_and_close_to_the_original_ones(wide: Path) -> None:
    packed, plain, unpacked = OnePassModel(load(wide), OPTIONS), OnePassModel(load(wide, 16), OPTIONS), load(wide)
    for layer in unpacked.layers:
        layer.experts_gate_up = Linear(layer.experts_gate_up.dequantised(torch.bfloat16))
        layer.experts_down = Linear(layer.experts_down.dequantised(torch.bfloat16))
    same = OnePassModel(unpacked, OPTIONS)
    rng = np.random.default_rng(0)
    reads = [tiny.random_read(rng, prompt, canvas) for prompt, canvas in ((40, 8), (5, 16), (90, 4))]
    for got, want, near in zip(packed.forward(reads), same.forward(reads), plain.forward(reads), strict=True):
        np.testing.assert_array_equal(got.scores, want.scores)
        np.testing.assert_array_equal(got.log_sum_exp, want.log_sum_exp)
        # Weights change by 2^-22 of a row's largest: sums between layers, of bfloat16, by their last bit at most, and rarely.
        np.testing.assert_allclose(got.scores, near.scores, atol=0.03)
        np.testing.assert_allclose(got.log_sum_exp, near.log_sum_exp, atol=0.03)


def test_reads_of_weights_that_are_all_kept_are_the_same(wide: Path, tmp_path: Path) -> None:
    shutil.copy(wide / "config.json", tmp_path)
    tensors = load_file(wide / "model.safetensors")
    for name, tensor in tensors.items():
        if ".experts." in name:
            least = tensor.abs().amax(-1, keepdim=True) * 2.0**-14
            tensors[name] = torch.where(tensor.abs() < least, 0, tensor)
    save_file(tensors, tmp_path / "model.safetensors")
    weights = load(tmp_path)
    assert weights.rounded == 0
    assert rounding(weights) == "experts' weights in 12 bits: none of them rounded"
    read = tiny.random_read(np.random.default_rng(1), 50, 8)
    got, want = (OnePassModel(w, OPTIONS).forward([read])[0] for w in (weights, load(tmp_path, 16)))
    np.testing.assert_array_equal(got.scores, want.scores)


def test_the_fit_counts_the_bytes_that_are_then_allocated(wide: Path) -> None:
    config = read_config(wide)
    sixteen, twelve = (measure_fit(wide, config, replace(OPTIONS, expert_bits=bits), GIB) for bits in (16, 12))
    plain, packed = (sum(stack.nbytes for stack in stacks_of(load(wide, bits))) for bits in (16, 12))
    assert packed == sum(stack.weight.numel() * 3 + len(stack.weight) * stack.outputs * 4 for stack in stacks_of(load(wide)))
    assert dict(sixteen.parts)["weights"] - dict(twelve.parts)["weights"] == plain - packed == sixteen.spared
    assert sixteen.needed - twelve.needed == sixteen.spared
    assert twelve.spared == 0
    total = sum(tensor.nbytes for name, tensor in load_file(wide / "model.safetensors").items() if "vision" not in name)
    assert dict(twelve.parts)["weights"] == total - plain + packed


def test_where_only_twelve_bits_fit_the_refusal_says_so(wide: Path, folder: Path) -> None:
    config = read_config(wide)
    needed = measure_fit(wide, config, OPTIONS, 0).needed
    spared = measure_fit(wide, config, OPTIONS, 0).spared
    told = r"Or take --expert-bits 12, which needs 0\.0 GiB less and fits \(very slow on plain torch\)$"
    for free in (needed - 1, needed - spared):
        with pytest.raises(ReaderError, match=told):
            check_fit(measure_fit(wide, config, OPTIONS, free))
    check_fit(measure_fit(wide, config, replace(OPTIONS, expert_bits=12), needed - spared))
    with pytest.raises(ReaderError, match=r"fewer rows a pass need less$"):
        check_fit(measure_fit(wide, config, OPTIONS, needed - spared - 1))
    assert measure_fit(wide, config, OPTIONS, needed).instead is None
    assert measure_fit(folder, read_config(folder), OPTIONS, 0).spared == 0, "float32"


def test_what_cannot_be_packed_is_refused_by_name_and_spares_nothing(folder: Path, wide: Path, tmp_path: Path) -> None:
    fp8, _ = quantised(folder, tmp_path / "fp8", fp8_channel, True)
    small, _ = quantised(folder, tmp_path / "nvfp4", nvfp4, False)
    odd = tiny.saved(tiny.tiny_model(moe_intermediate_size=32).bfloat16(), tmp_path / "odd")
    single = tiny.saved(tiny.tiny_model(moe_intermediate_size=64), tmp_path / "single")
    for checkpoint, says in (
        (fp8, r"in bfloat16, a tensor for each layer; this checkpoint has F8_E4M3 \[64, 32\]; leave --expert-bits out"),
        (small, r"this checkpoint has U8 \[64, 16\]"),
        (single, r"this checkpoint has F32 \[8, 128, 64\]"),
        (odd, "sizes of a multiple of 64, not 64 by 32"),
    ):
        with pytest.raises(ReaderError, match=f"12 bits for experts' weights need .*{says}"):
            load(checkpoint)
        config = read_config(checkpoint)
        twelve, sixteen = (measure_fit(checkpoint, config, replace(OPTIONS, expert_bits=bits), GIB) for bits in (12, 16))
        assert twelve == sixteen
        assert sixteen.spared == 0
    with pytest.raises(ReaderError, match=r"loaded in bfloat16, not torch\.float32"):
        load(wide, dtype=torch.float32)
    with pytest.raises(ReaderError, match="this checkpoint has F8_E4M3"):
        load_onepass(fp8, "cpu", replace(OPTIONS, expert_bits=12), progress=False)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -65536.0])
def test_values_that_cannot_be_packed_are_refused_with_the_tensors_name(wide: Path, tmp_path: Path, value: float) -> None:
    tensor = load_file(wide / "model.safetensors")[LAST].clone()
    tensor[5, 3, 7] = value
    with pytest.raises(
        ReaderError, match=rf"{LAST}, expert 5: .* finite numbers below 65,536; --expert-bits 16 takes it as it is"
    ):
        load(with_tensor(wide, tmp_path / "damaged", LAST, tensor))


def test_a_layer_of_another_type_is_refused_with_the_tensors_name(wide: Path, tmp_path: Path) -> None:
    tensor = load_file(wide / "model.safetensors")[LAST].float()
    with pytest.raises(ReaderError, match=rf"{LAST}, expert 0: .* a bfloat16 matrix .*, not torch\.float32"):
        load(with_tensor(wide, tmp_path / "other", LAST, tensor))


def test_tensors_of_another_shape_are_refused_as_with_sixteen_bits(wide: Path, tmp_path: Path) -> None:
    tensor = load_file(wide / "model.safetensors")[LAST][:, :, :32].contiguous()
    with pytest.raises(ReaderError, match=rf"Tensors of another shape: {LAST} is \[8, 64, 32\], not \[8, 64, 64\]"):
        load(with_tensor(wide, tmp_path / "other", LAST, tensor))


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.0, "none of them rounded"),
        (1e-6, "less than 0.01 % of them rounded, by at most 2^-22 of their row's largest"),
        (0.00034, "0.03 % of them rounded, by at most 2^-22 of their row's largest"),
        (0.25, "25.00 % of them rounded, by at most 2^-22 of their row's largest"),
    ],
)
def test_the_share_that_was_rounded_is_told(wide: Path, share: float, told: str) -> None:
    weights = load(wide)
    total = sum(len(stack.weight) * stack.outputs * stack.inputs for stack in stacks_of(weights))
    weights.rounded = round(share * total) if share != 1e-6 else 1
    assert rounding(weights) == f"experts' weights in 12 bits: {told}"
    assert rounding(load(wide, 16)) is None


def test_loading_says_once_what_it_rounded(wide: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(bits: int, progress: bool) -> int:
        model = load_onepass(wide, "cpu", default_options(wide, "cpu", 64, 0, bits), progress=progress)  # type: ignore[arg-type]
        model.close()
        told = capsys.readouterr()
        return (told.out + told.err).count("experts' weights in 12 bits: ")

    assert (said(12, True), said(12, False), said(16, True)) == (1, 0, 0)


def test_options_take_sixteen_or_twelve_bits(wide: Path) -> None:
    assert default_options(wide, "cpu").expert_bits == 16
    assert default_options(wide, "cpu", expert_bits=12).expert_bits == 12
    with pytest.raises(ValueError, match=r"expert_bits should be 16, 12 or '12\+16', not 8"):
        Options(expert_bits=8)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="takes weights of 16 bits"):
        Options(experts="grouped", expert_bits=12)
