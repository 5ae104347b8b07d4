"""A DiffusionGemma folder: whose reader it is, what it needs, and what is refused before or while it is loaded."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from oneread import Decider  # noqa: E402
from oneread.errors import EngineError, ReaderError  # noqa: E402
from oneread.readers.checkpoint import Placement, fingerprint, name_of, survey  # noqa: E402
from oneread.readers.reader import load_reader  # noqa: E402

from ..canvas.test_labels import SPECIALS  # noqa: E402
from .asking import ASKED, ask  # noqa: E402
from .asking import told as told_of  # noqa: E402
from .gemma import NAME, PLACED, open_checkpoint, write_checkpoint  # noqa: E402


def test_the_folder_says_who_the_reader_is(decider: Decider, folder: Path) -> None:
    reader = decider.reader
    assert (reader.name, reader.licence) == (NAME, "apache-2.0")
    assert reader.has_mass
    assert reader.takes_images
    assert reader.digest == fingerprint(folder)
    assert name_of(Path("/x/models--google--diffusiongemma/snapshots/0a1b")) == "diffusiongemma"


def test_a_changed_weight_changes_the_fingerprint(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / NAME
    shutil.copytree(folder, copy)
    assert fingerprint(copy) == fingerprint(folder)
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-5] ^= 1
    weights.write_bytes(data)
    assert fingerprint(copy) != fingerprint(folder)


def test_a_folder_that_is_not_whole_is_refused(folder: Path, tmp_path: Path) -> None:
    def broken(name: str, text: str | None) -> Path:
        copy = tmp_path / f"{name}-{text is None}"
        shutil.copytree(folder, copy)
        (copy / name).unlink()
        if text is not None:
            (copy / name).write_text(text)
        return copy

    with pytest.raises(ReaderError, match=r"tokenizer\.json is missing"):
        open_checkpoint(broken("tokenizer.json", None))
    with pytest.raises(ReaderError, match=r"model_type should be 'diffusion_gemma'"):
        open_checkpoint(broken("config.json", '{"model_type": "gpt2"}'))
    small = write_checkpoint(tmp_path / "small", specials=SPECIALS)
    shutil.copy(folder / "tokenizer.json", small / "tokenizer.json")
    config = json.loads((small / "config.json").read_text())
    config["text_config"]["vocab_size"] = 100
    (small / "config.json").write_text(json.dumps(config))
    with pytest.raises(ReaderError, match=r"tokens, the model only 100"):
        open_checkpoint(small)


def test_the_fit_is_known_before_anything_is_loaded(folder: Path) -> None:
    known = survey(folder, PLACED)
    assert (known.device, known.tower, known.sees) == ("cpu", True, True)
    fit = known.fit
    parts = dict(fit.parts)
    assert parts["weights"] > 0
    assert 0 < parts["prefix cache"] <= 2**22
    assert parts["one pass"] > 0
    assert parts["image tower"] > 0
    assert str(fit).count("GiB") == 2


def test_what_twelve_bits_rounded_is_told_of_the_reader(decider: Decider, tmp_path: Path) -> None:
    half = write_checkpoint(tmp_path, bfloat16=True)
    plain, placement = survey(half, PLACED), replace(PLACED, expert_bits=12)
    assert plain.fit.needed - survey(half, placement).fit.needed == plain.fit.spared > 0
    with Decider(load_reader(half, threads=1, placement=placement)) as packed:
        told = packed.reader.rounding
        assert told is not None
        assert told.startswith("experts' weights in 12 bits: less than 0.01 % of them rounded, by at most 2^-22")
        assert packed.reader.description.endswith(f". E{told[1:]}.")
        got = ask(packed)
    with Decider(load_reader(half, threads=1, placement=replace(PLACED, expert_bits=16))) as same:
        assert same.reader.rounding is None
        assert "bits" not in same.reader.description
        want = ask(same)
    for key in ASKED:
        np.testing.assert_allclose(told_of(got, key).probabilities, told_of(want, key).probabilities, atol=0.02)
    assert decider.reader.rounding is None


def test_a_device_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(ReaderError, match="names no device"):
        survey(folder, Placement("abacus"))
    for name in ("meta", "mps"):
        with pytest.raises(ReaderError, match=f"device '{name}' is none that this engine runs on"):
            survey(folder, Placement(name))
    if not torch.cuda.is_available():
        with pytest.raises(ReaderError, match="no CUDA device"):
            survey(folder, Placement("cuda"))


def test_scores_that_are_no_numbers_are_no_answers(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    copy = tmp_path / NAME
    shutil.copytree(folder, copy)
    tensors = load_file(copy / "model.safetensors")
    save_file({name: torch.full_like(tensor, float("nan")) for name, tensor in tensors.items()}, copy / "model.safetensors")
    with Decider(open_checkpoint(copy)) as decider, pytest.raises(EngineError, match="not finite"):
        ask(decider)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("config.json", "[]", "model_type should be"),
        ("config.json", {"canvas_length": "x"}, "canvas should be a whole number"),
        ("config.json", {"canvas_length": 0}, "canvas should be a whole number"),
        ("config.json", {"text_config": {"layer_types": 5}}, "text_config"),
        ("generation_config.json", "[]", "should be an object"),
        ("generation_config.json", '{"sampler_config": 5}', "should be an object"),
        ("generation_config.json", '{"max_denoising_steps": 0}', "cannot be so: max_denoising_steps"),
        ("generation_config.json", '{"t_min": "x", "eos_token_id": ["y"]}', "cannot be so: eos_token_id, t_min, t_max"),
        ("model.safetensors.index.json", '{"weight_map": ["a"]}', "not an index"),
        ("model.safetensors.index.json", '{"weight_map": {"a": 5}}', "not an index"),
        ("model.safetensors.index.json", '{"weight_map": {"a": "lost.safetensors"}}', "cannot be read"),
        ("tokenizer.json", "{}", "not a tokenizer"),
    ],
)
def test_a_file_of_another_form_is_named(folder: Path, tmp_path: Path, name: str, text: str | dict[str, Any], says: str) -> None:
    copy = tmp_path / NAME
    shutil.copytree(folder, copy)
    if isinstance(text, dict):
        text = json.dumps(json.loads((copy / name).read_text()) | text)
    (copy / name).write_text(text)
    with pytest.raises(ReaderError, match=says) as caught:
        open_checkpoint(copy)
    assert name in str(caught.value) or "lost.safetensors" in str(caught.value)


@pytest.mark.parametrize("entry", [5, {}, {"dtype": "F32", "shape": [1], "data_offsets": [0]}])
def test_a_weights_file_of_another_form_is_named(folder: Path, tmp_path: Path, entry: Any) -> None:
    header = json.dumps({"x": entry}).encode()
    shutil.copytree(folder, tmp_path / NAME)
    (tmp_path / NAME / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ReaderError, match=r"model\.safetensors: is not a safetensors file"):
        survey(tmp_path / NAME, PLACED)


@pytest.mark.parametrize("change", [-1, -100_000, 1])
def test_weights_cut_off_are_found_before_anything_is_loaded(folder: Path, tmp_path: Path, change: int) -> None:
    shutil.copytree(folder, tmp_path / NAME)
    file = tmp_path / NAME / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[:change] if change < 0 else data + b"x")
    with pytest.raises(ReaderError, match="bytes of tensors where its header says"):
        survey(tmp_path / NAME, PLACED)
