"""The torch encoder gives the engine's scores, for every cut into frozen and trained layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from oneread.evaluate.cases import cases_of
from oneread.readers.manifest import TOKENIZER, read_manifest
from oneread.readers.reader import load_reader
from oneread.readers.weights import load_weights
from oneread.tuning.examples import examples
from oneread.tuning.model import Encoder

from .tiny import colour_rows, tiny_reader


def encoder_of(directory: Path) -> Encoder:
    manifest = read_manifest(directory)
    shards = [directory / f.name for f in manifest.files if f.name != TOKENIZER]
    return Encoder(manifest.model, load_weights(shards, manifest.model)).eval()


@pytest.mark.parametrize("layout", ["full", "apart"])
@pytest.mark.parametrize("changes", [{}, {"relative_buckets": 0, "position_offset": 0}, {"gelu": "tanh", "layers": 3}])
def test_scores_are_the_engines(tmp_path: Path, layout: str, changes: dict[str, Any]) -> None:
    directory = tiny_reader(tmp_path / "r", layout, int8=False, **changes)
    reader, encoder = load_reader(directory, 1), encoder_of(directory)
    found = examples(reader.canvas, cases_of(colour_rows(8)), np.random.default_rng(0))
    reads = [read for example in found for read in example.reads]
    wanted = [reading.scores for reading in reader.engine.read(reads).result()]
    reader.close()
    batch = encoder.collate(reads)
    for cut in range(encoder.config.layers + 1):
        with torch.no_grad():
            scores = encoder.suffix(encoder.prefix(batch, cut), batch, cut)
        for i, expected in enumerate(wanted):
            assert scores[i, : len(expected)].numpy() == pytest.approx(expected, abs=1e-4)
            assert torch.isinf(scores[i, len(expected) :]).all()


def test_only_what_is_asked_for_takes_gradients(tmp_path: Path) -> None:
    encoder = encoder_of(tiny_reader(tmp_path / "r"))
    assert not any(p.requires_grad for p in encoder.parameters())
    assert set(dict(encoder.named_parameters())) == set(encoder.config.shapes())
