"""Checkpoints load in every published form, and what does not fit is refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.models.diffusion_gemma import DiffusionGemmaForBlockDiffusion

from oneread.engines.onepass.config import parse_config, read_config
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.linear import FP8
from oneread.engines.onepass.options import Options
from oneread.engines.onepass.weights import load_weights
from oneread.errors import ReaderError

from .tiny import expected, random_read, saved, tiny_model, two_pass_logits

Tensors = dict[str, torch.Tensor]
CPU = torch.device("cpu")
E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])


def engine_of(folder: Path, **options: Any) -> OnePassModel:
    return OnePassModel(load_weights(folder, read_config(folder), CPU, **options), Options(rows=256, kv_bytes=0))


def quantised(
    folder: Path, target: Path, quantise: Callable[[str, torch.Tensor], tuple[Tensors, torch.Tensor]], attention: bool
) -> tuple[Path, Tensors]:
    """A copy of a checkpoint with experts unfused and matrices quantised, and the dequantised tensors of the original form."""
    target.mkdir()
    shutil.copy(folder / "config.json", target)
    out: Tensors = {}
    plain: Tensors = {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        if name.endswith("experts.gate_up_proj"):
            stem, halves = name.removesuffix("gate_up_proj"), []
            for expert, both in enumerate(tensor):
                parts = [
                    quantise(f"{stem}{expert}.{side}_proj", w) for side, w in zip(("gate", "up"), both.chunk(2), strict=True)
                ]
                out.update(parts[0][0] | parts[1][0])
                halves.append(torch.cat([parts[0][1], parts[1][1]]))
            plain[name] = torch.stack(halves)
        elif name.endswith("experts.down_proj"):
            stem = name.removesuffix("down_proj")
            made = [quantise(f"{stem}{expert}.down_proj", w) for expert, w in enumerate(tensor)]
            for tensors, _ in made:
                out.update(tensors)
            plain[name] = torch.stack([w for _, w in made])
        elif attention and ".layers." in name and name.endswith("_proj.weight") and "vision" not in name:
            tensors, plain[name] = quantise(name.removesuffix(".weight"), tensor)
            out.update(tensors)
        else:
            out[name] = plain[name] = tensor
    save_file({k: v.contiguous() for k, v in out.items()}, target / "model.safetensors")
    return target, plain


def fp8_channel(module: str, weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    scale = weight.abs().amax(1, keepdim=True) / 448
    stored = (weight / scale).to(FP8)
    return {f"{module}.weight": stored, f"{module}.weight_scale": scale.bfloat16()}, stored.float() * scale.bfloat16().float()


def fp8_tensor(module: str, weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    scale = weight.abs().max().reshape(()) / 448
    stored = (weight / scale).to(FP8)
    tensors = {f"{module}.weight": stored, f"{module}.weight_scale": scale, f"{module}.input_scale": torch.tensor(0.5)}
    return tensors, stored.float() * scale


def nvfp4(module: str, weight: torch.Tensor) -> tuple[Tensors, torch.Tensor]:
    groups = weight.unflatten(1, (-1, 16))
    scale_2 = weight.abs().max() / (6 * 448)
    scale = (groups.abs().amax(-1) / 6 / scale_2).to(FP8)
    wide = (scale.float() * scale_2)[..., None]
    codes = ((groups / wide.clamp_min(1e-12)).abs()[..., None] - E2M1).abs().argmin(-1)
    values = (E2M1[codes] * groups.sign() * wide).flatten(1)
    codes = (codes + 8 * (groups < 0)).flatten(1).to(torch.uint8)
    packed = codes[:, 0::2] | (codes[:, 1::2] << 4)
    return {f"{module}.weight": packed, f"{module}.weight_scale": scale, f"{module}.weight_scale_2": scale_2}, values


@pytest.mark.parametrize(
    ("quantise", "attention"), [(fp8_channel, True), (fp8_tensor, True), (nvfp4, False)], ids=["channel", "tensor", "nvfp4"]
)
def test_quantised_files_read_as_their_dequantised_values(
    folder: Path, tmp_path: Path, quantise: Any, attention: bool, open_engine: Any
) -> None:
    small, plain = quantised(folder, tmp_path / "small", quantise, attention)
    wide = tmp_path / "wide"
    wide.mkdir()
    shutil.copy(folder / "config.json", wide)
    save_file({k: v.contiguous() for k, v in plain.items()}, wide / "model.safetensors")
    read = random_read(np.random.default_rng(0), 40, 8)
    kept = engine_of(small)
    got, want, original = (e.forward([read])[0].scores for e in (kept, engine_of(wide), open_engine()))
    np.testing.assert_allclose(got, want, atol=1e-4)
    assert np.abs(want - original).max() > 1e-3, "the quantised values differ from the original's, so the check means something"
    assert kept.weights.layers[0].experts_down.weight.dtype in (FP8, torch.uint8), "the weights stay small on the device"


def test_a_sharded_checkpoint_loads(model: Any, tmp_path: Path) -> None:
    folder = saved(model, tmp_path, max_shard_size="200KB")
    assert len(list(folder.glob("*.safetensors"))) > 2
    read = random_read(np.random.default_rng(1), 30, 8)
    got = engine_of(folder).forward([read])[0].scores
    np.testing.assert_allclose(got, expected(two_pass_logits(model, read), read)[0], atol=1e-4)


def test_a_checkpoint_keeps_its_dtype_or_takes_another(model: Any, tmp_path: Path) -> None:
    folder = saved(tiny_model().bfloat16(), tmp_path)
    read = random_read(np.random.default_rng(2), 30, 8)
    own, wide = engine_of(folder), engine_of(folder, dtype=torch.float32)
    assert (own.weights.dtype, wide.weights.dtype) == (torch.bfloat16, torch.float32)
    reference = DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32).eval()
    want = expected(two_pass_logits(reference, read), read)[0]
    np.testing.assert_allclose(wide.forward([read])[0].scores, want, atol=1e-4)
    assert np.isfinite(own.forward([read])[0].scores).all()


def test_tensors_that_do_not_fit_are_refused_by_name(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "config.json", tmp_path)
    tensors = load_file(folder / "model.safetensors")
    gone = "model.decoder.layers.1.mlp.up_proj.weight"
    del tensors[gone]
    tensors["model.decoder.layers.9.oddity"] = torch.zeros(1)
    tensors["model.decoder.norm.weight"] = torch.zeros(3)
    tensors["model.decoder.layers.0.router.scale"] = torch.zeros(64, dtype=torch.int32)
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ReaderError) as caught:
        engine_of(tmp_path)
    message = str(caught.value)
    assert f"Missing tensors: {gone}" in message
    assert "Unknown tensors: model.decoder.layers.9.oddity" in message
    assert "model.decoder.norm.weight is [3], not [64]" in message
    assert "model.decoder.layers.0.router.scale is I32" in message


def test_damaged_files_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "config.json", tmp_path)
    with pytest.raises(ReaderError, match="cannot be read"):
        engine_of(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"not a tensor file at all")
    with pytest.raises(ReaderError, match="is not a safetensors file"):
        engine_of(tmp_path)
    shutil.copy(folder / "model.safetensors", tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"lost": "model.safetensors"}}))
    with pytest.raises(ReaderError, match="tensors are not in the files it names: lost"):
        engine_of(tmp_path)
    content = (folder / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors.index.json").unlink()
    (tmp_path / "model.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(ReaderError, match="bytes of tensors where its header says"):
        engine_of(tmp_path)


def test_the_released_config_form_gives_the_same_sizes(folder: Path) -> None:
    raw = json.loads((folder / "config.json").read_text())
    released = json.loads((folder / "config.json").read_text())
    text = released["text_config"]
    full = next(iter(text.pop("per_layer_config").values()))
    text |= {"global_head_dim": full["head_dim"], "num_global_key_value_heads": full["num_key_value_heads"]}
    ours, theirs = parse_config(raw), parse_config(released)
    assert ours.layers == theirs.layers
    assert {(s.kind, s.kv_heads, s.head_dim) for s in ours.layers} == {("sliding", 2, 16), ("full", 1, 32)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "gemma4"}, "model_type should be 'diffusion_gemma'"),
        ({"text_config": None}, "text_config is missing"),
        ({"text_config.hidden_activation": "silu"}, "hidden_activation should be one of 'gelu_pytorch_tanh'"),
        ({"text_config.use_bidirectional_attention": "all"}, "use_bidirectional_attention"),
        ({"text_config.layer_types": ["sliding_attention"]}, "layer_types names 1 layers"),
        ({"text_config.num_key_value_heads": 3}, "4 attention heads do not divide over 3"),
        ({"text_config.rope_parameters": {}}, "rope_parameters"),
        ({"text_config.final_logit_softcapping": None}, "final_logit_softcapping should be a number"),
        ({"text_config.final_logit_softcapping": 0}, "final_logit_softcapping should be a number"),
        ({"text_config.final_logit_softcapping": 50.0}, "final_logit_softcapping should be a number"),
        ({"tie_word_embeddings": False}, "share their weights"),
    ],
)
def test_what_the_engine_does_not_do_is_refused(folder: Path, change: dict[str, Any], message: str) -> None:
    raw = json.loads((folder / "config.json").read_text())
    for path, value in change.items():
        *parents, last = path.split(".")
        place = raw
        for parent in parents:
            place = place[parent]
        place[last] = value
    with pytest.raises(ReaderError, match=message):
        parse_config(raw)


def test_a_config_that_lacks_a_size_is_refused_with_its_name(folder: Path) -> None:
    raw = json.loads((folder / "config.json").read_text())
    del raw["text_config"]["moe_intermediate_size"]
    with pytest.raises(ReaderError, match=r"text_config\.moe_intermediate_size is missing"):
        parse_config(raw)
