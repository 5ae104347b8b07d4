"""Turns a float checkpoint into a reader's directory: shards of weights, tokenizer and reader.json.

    python -m training.export CHECKPOINT OUT --config reader.base.json --tokenizer tokenizer.json
        [--bits 4|8|32] [--word-bits 4|8|32] [--eight MATRIX ...] [--samples FOLDER]

CHECKPOINT is a safetensors file of the float tensors that `EncoderConfig.shapes` names (float16 or float32). The config is a
reader.json without ``files``. The samples are labelled cases (.jsonl or .jsonl.gz) of which a few hundred are read to see what
flows into each matrix. `export_reader` does the same from Python.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from bench.records import load_cases, row
from oneread.canvas.markers import MarkerCanvas, MarkerForm
from oneread.engines.encoder import EncoderConfig
from oneread.readers.export import q8, write_reader
from oneread.readers.manifest import TOKENIZER

from .inputs import Inputs, gather
from .quantize import q4, smoothing

SAMPLES = 512
"""Cases read to see what flows into each matrix."""


def export_reader(
    weights: Mapping[str, NDArray[Any]],
    entries: Mapping[str, Any],
    tokenizer: Path,
    directory: Path,
    *,
    bits: int = 8,
    word_bits: int = 8,
    eight: Collection[str] = (),
    inputs: Inputs | None = None,
) -> int:
    """Write a reader's directory. Returns the bytes of all weights together.

    Args:
        weights: float tensors by the names of `EncoderConfig.shapes`.
        entries: reader.json without ``files``; ``model`` holds the fields of `EncoderConfig`.
        tokenizer: the tokenizer.json to copy.
        directory: made if needed; its old shards are removed.
        bits: of the layers' matrices: 4, 8, or 32 for float32 (an export for checking, four times the size).
        word_bits: of the word embedding, likewise. Positions are stored as int8 unless bits is 32.
        eight: names of matrices that are stored as int8 all the same, where bits is 4.
        inputs: what flows into the matrices: makes the rounding to 4 bits better, and evens out the channels that come from
            layer norms, which are rounded to int8 at run time.

    Raises:
        ValueError: when a tensor is missing, not the encoder's, or of the wrong shape.
    """
    shapes = EncoderConfig(**entries["model"]).shapes()
    if unknown := sorted(set(eight) - shapes.keys()):
        raise ValueError(f"{unknown[0]} is not a tensor of this encoder")
    for name in sorted(shapes.keys() ^ weights.keys()):
        raise ValueError(f"{name} is {'missing' if name in shapes else 'not a tensor of this encoder'}")
    stored: dict[str, NDArray[Any]] = {}
    for name, shape in shapes.items():
        value = np.asarray(weights[name], np.float32)
        if value.shape != shape:
            raise ValueError(f"{name} should be {shape}, found {value.shape}")
        width = {"we.weight": word_bits, "pe.weight": min(32, max(8, bits))}.get(name, max(8, bits) if name in eight else bits)
        if len(shape) == 1 or name == "rb.weight":
            stored[name] = value if bits == 32 else value.astype(np.float16)
        elif width == 32:
            stored[name] = value
        else:
            moments = None
            if inputs is not None and name in inputs.moments:
                moments = inputs.moments[name]
                if name.endswith((".qkv.weight", ".f1.weight")):  # the inputs that come from a layer norm
                    smooth = smoothing(inputs.largest[name])
                    stored[f"{name}.smooth"] = smooth
                    value, moments = value * smooth, moments / smooth / smooth[:, None]
            codes, stored[f"{name}.scale"] = q8(value) if width == 8 else q4(value, moments)
            stored[f"{name}.q{width}"] = codes
    manifest = write_reader(directory, entries, stored, tokenizer)
    return sum(file.size for file in manifest.files if file.name != TOKENIZER)


def main() -> None:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(description="Turn a float checkpoint into a reader's directory.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--bits", type=int, choices=(4, 8, 32), default=8)
    parser.add_argument("--word-bits", type=int, choices=(4, 8, 32), default=8)
    parser.add_argument("--eight", nargs="+", default=[], metavar="MATRIX")
    parser.add_argument("--samples", type=Path)
    a = parser.parse_args()
    weights = {name: value.astype(np.float32) for name, value in load_file(a.checkpoint).items()}
    entries = json.loads(a.config.read_text("utf-8"))
    inputs = None
    if a.samples:
        canvas = MarkerCanvas(Tokenizer.from_file(str(a.tokenizer)), MarkerForm(**entries["form"]))
        reads = [read for case in load_cases(a.samples, SAMPLES) if (read := row(canvas, case))]
        inputs = gather(EncoderConfig(**entries["model"]), weights, reads)
    size = export_reader(weights, entries, a.tokenizer, a.out, bits=a.bits, word_bits=a.word_bits, eight=a.eight, inputs=inputs)
    print(f"{size / 1e6:.1f} MB of weights in {a.out}")


if __name__ == "__main__":
    main()
