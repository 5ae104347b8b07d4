"""A reader's directory: what is stored is what is read, and anything else is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from oneread.engines.encoder import dense
from oneread.errors import ReaderError
from oneread.readers.export import q8, write_reader
from oneread.readers.manifest import read_manifest
from oneread.readers.reader import EMBEDDED, load_reader
from oneread.readers.weights import load_weights, unpack_q4
from training.quantize import q4

from ..engines.encoders import MPNET, random_weights
from ..fakes import BOS, MASK, SEP, word_tokenizer

ENTRIES: dict[str, Any] = {
    "name": "tiny", "description": "Random.", "release_date": "2026-01-01", "licence": "Apache-2.0", "model": asdict(MPNET),
    "form": {"window": 96, "bos": BOS, "sep": SEP, "mask": MASK},
    "temperatures": {"noul": 1.0, "choice": [[2, 1.5], [255, 2.0]], "score": 1.0},
}  # fmt: skip


def stored_tensors() -> dict[str, NDArray[Any]]:
    """One matrix in each of the ways, the rest in float."""
    stored: dict[str, NDArray[Any]] = dict(random_weights(MPNET))
    codes, scale = q8(stored.pop("lay.0.o.weight"))
    stored |= {"lay.0.o.weight.q8": codes, "lay.0.o.weight.scale": scale}
    packed, scales = q4(stored.pop("lay.1.f1.weight"))
    smooth = np.linspace(0.5, 3, 64).astype(np.float16)
    stored |= {"lay.1.f1.weight.q4": packed, "lay.1.f1.weight.scale": scales, "lay.1.f1.weight.smooth": smooth}
    stored["we.weight"] = stored["we.weight"].astype(np.float16)
    return stored


def write(directory: Path, stored: dict[str, NDArray[Any]] | None = None, **changes: Any) -> Path:
    tokenizer = directory.parent / "words.json"
    word_tokenizer("red green blue").save(str(tokenizer))
    write_reader(directory, ENTRIES | changes, stored_tensors() if stored is None else stored, tokenizer)
    return directory


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return write(tmp_path / "reader")


def shards(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.safetensors"))


def test_stored_weights_are_read_back(directory: Path) -> None:
    weights, expected, stored = load_weights(shards(directory), MPNET), random_weights(MPNET), stored_tensors()
    assert list(weights) == list(MPNET.shapes())
    assert (dense(weights["lay.0.qkv.weight"]) == expected["lay.0.qkv.weight"]).all()
    assert (dense(weights["we.weight"]) == stored["we.weight"]).all()
    eight = dense(weights["lay.0.o.weight"])
    assert (np.abs(eight - expected["lay.0.o.weight"]) <= stored["lay.0.o.weight.scale"][:, None].astype(np.float32) * 0.51).all()
    codes, smooth = (stored[f"lay.1.f1.weight.{part}"] for part in ("q4", "smooth"))
    four = unpack_q4(codes, stored["lay.1.f1.weight.scale"])
    row_step = np.abs(four).max(axis=1, keepdims=True) / 127  # 4-bit blocks become int8 rows
    assert (np.abs(dense(weights["lay.1.f1.weight"]) * smooth - four) <= row_step * 0.51).all()


def test_four_bit_codes_lie_within_half_a_step_of_their_values() -> None:
    values = np.random.default_rng(0).normal(size=(40, 96)).astype(np.float32)
    packed, scale = q4(values)
    step = np.repeat(np.abs(scale.astype(np.float32)), 32, axis=1)
    clipped = np.abs(values) > 7 * step
    assert (np.abs(unpack_q4(packed, scale) - values) <= step * 0.501)[~clipped].all()
    assert clipped.mean() < 0.1


def test_rounding_that_knows_its_inputs_errs_less_on_them() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(64, 128)).astype(np.float32)
    inputs = (rng.normal(size=(2000, 16)) @ rng.normal(size=(16, 128)) + 0.1 * rng.normal(size=(2000, 128))).astype(np.float32)

    def error(moments: NDArray[np.float32] | None) -> float:
        return float(np.square(inputs @ (unpack_q4(*q4(values, moments)) - values).T).mean())

    assert error(inputs.T @ inputs / 2000) < 0.5 * error(None)


def test_a_reader_is_loaded_with_its_form_and_temperatures(directory: Path) -> None:
    reader = load_reader(directory, threads=1)
    assert (reader.name, reader.licence, reader.engine.capabilities.window) == ("tiny", "Apache-2.0", 96)
    assert [reader.temperatures.of("choice", n) for n in (2, 3, 255)] == [1.5, 2.0, 2.0]
    reader.close()


def _flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def _manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def apply(directory: Path) -> None:
        data = json.loads((directory / "reader.json").read_text("utf-8"))
        change(data)
        (directory / "reader.json").write_text(json.dumps(data), "utf-8")

    return apply


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: (d / "reader.json").unlink(), "reader.json cannot be read"),
        (lambda d: (d / "reader.json").write_text("{"), "reader.json is not JSON"),
        (lambda d: (d / "weights-0.safetensors").unlink(), "weights-0.safetensors is missing"),
        (lambda d: (d / "tokenizer.json").unlink(), "tokenizer.json is missing"),
        (lambda d: _flip_a_byte(d / "weights-0.safetensors"), "weights-0.safetensors is damaged: its SHA-256"),
        (lambda d: (d / "weights-0.safetensors").write_bytes(b"x"), "weights-0.safetensors is damaged: it should hold"),
        (lambda d: (d / "weights-9.safetensors").write_bytes(b"x"), "weights-9.safetensors is not listed"),
        (_manifest(lambda m: m.update(format="oneread-reader/2")), "format 'oneread-reader/1'"),
        (_manifest(lambda m: m["model"].pop("heads")), "model: heads is missing"),
        (_manifest(lambda m: m["model"].update(experts=8)), "model: experts is not known"),
        (_manifest(lambda m: m["model"].update(layers="3")), "model: layers is of the wrong type"),
        (_manifest(lambda m: m["temperatures"].pop("noul")), "temperatures should have exactly the keys"),
        (_manifest(lambda m: m["files"].append({"name": "../x", "size": 1, "sha256": ""})), "'../x' is no name"),
    ],
)
def test_files_that_are_missing_damaged_or_unknown_are_refused_by_name(
    directory: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(directory)
    with pytest.raises(ReaderError, match=message):
        load_reader(directory)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("lay.2.n1.bias"), "Tensor lay.2.n1.bias is missing"),
        (lambda t: t.pop("lay.0.o.weight.scale"), "Tensor lay.0.o.weight.scale is missing"),
        (lambda t: t.update({"lay.3.n1.bias": t["ln0.bias"]}), "Tensor lay.3.n1.bias is not one of"),
        (
            lambda t: t.update({"ln0.bias": t["ln0.bias"][:-1].copy()}),
            r"Tensor ln0.bias should be .* \(64,\), found float32 \(63,\)",
        ),
        (lambda t: t.update({"ln0.bias": t["ln0.bias"].astype(np.float64)}), "Tensor ln0.bias should be float16 or float32"),
        (
            lambda t: t.update({"ln0.bias": t["ln0.bias"] * np.float32(np.nan)}),
            "Tensor ln0.bias holds a value that is not finite",
        ),
        (lambda t: t["lay.1.f1.weight.smooth"].__setitem__(3, 0), "lay.1.f1.weight.smooth should be above 0"),
    ],
)
def test_tensors_that_do_not_fit_the_encoder_are_refused_by_name(
    tmp_path: Path, change: Callable[[dict[str, NDArray[Any]]], object], message: str
) -> None:
    stored = stored_tensors()
    change(stored)
    with pytest.raises(ReaderError, match=message):
        load_reader(write(tmp_path / "reader", stored))


def test_a_tensor_in_two_shards_is_refused(directory: Path) -> None:
    extra = directory / "weights-1.safetensors"
    save_file({"ln0.bias": load_file(shards(directory)[0])["ln0.bias"]}, extra)
    with pytest.raises(ReaderError, match=r"Tensor ln0\.bias is stored twice"):
        load_weights(shards(directory), MPNET)


def test_the_embedded_reader_keeps_its_sizes() -> None:
    sizes = [file.size for file in read_manifest(EMBEDDED).files if file.name.endswith(".safetensors")]
    assert sum(sizes) <= 64_000_000
    assert max(sizes) < 50_000_000
