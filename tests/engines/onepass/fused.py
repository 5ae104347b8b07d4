"""Engines and steps that run on Triton's kernels, at small sizes, beside those of plain torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
from oneread.engines.onepass.options import Options
from oneread.engines.onepass.packing import pack_reads
from oneread.engines.onepass.transfer import DeviceBlock, Sizes, read_block, write_block
from oneread.engines.onepass.weights import load_weights

CUDA = torch.cuda.is_available()
needs_triton = pytest.mark.skipif(
    find_spec("triton") is None or not (CUDA or os.environ.get("TRITON_INTERPRET") == "1"),
    reason="needs Triton and a CUDA device, or Triton's interpreter (TRITON_INTERPRET=1)",
)
DEVICE = torch.device("cuda" if CUDA else "cpu")
EXPERTS, K, HIDDEN = 128, 8, 64


class Router:
    """Of a layer, only what routing reads: the router gives the logits it is handed."""

    def __init__(self, scale: torch.Tensor) -> None:
        self.expert_scale = scale

    @staticmethod
    def router(x: torch.Tensor) -> torch.Tensor:
        return x


def logits_of(case: str, rows: int) -> torch.Tensor:
    """Router logits: spread over all experts, all rows on the same ones (others get none), or one expert with one row."""
    made = torch.randn(rows, EXPERTS, device=DEVICE)
    if case == "crowded":
        made[:, 40:48] += 50.0
    if case == "lonely" and rows > 1:
        made[:, 40:48] += 50.0
        made[rows // 2] = made[rows // 2].flip(0)
    if case == "equal":
        made.zero_()
    return made


def fused_steps(
    count: int, block: int = 16, gated: int = 64, swap: bool = False, shape: dict[str, Any] | None = None, **options: Any
) -> Any:
    from oneread.engines.onepass.kernels.plan import ExpertTiles
    from oneread.engines.onepass.kernels.steps import FusedSteps

    steps = FusedSteps(Options(steps="triton", attention="triton", experts="triton", **options))
    layout = {"swap": swap, "down_swap": swap, **(shape or {})}
    tiles = ExpertTiles(block, gated, depth=32, wide=64, down_depth=32, stages=2, **layout)  # type: ignore[arg-type]
    steps.tiles.wide = steps.tiles.fp8 = ((float("inf"), tiles),)
    steps.count = torch.tensor([count], dtype=torch.int32, device=DEVICE)
    begin_pass(steps)
    return steps


def begin_pass(steps: Any, layers: int = 2) -> None:
    """Begin a pass of so many layers that only route and multiply experts."""
    config = SimpleNamespace(epsilon=1e-6, ropes={}, layers=(None,) * layers, experts=EXPERTS, experts_per_token=K)
    row = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    steps.begin(config, SimpleNamespace(tokens=row, key_rows=row))


def few_tiles() -> Any:
    from oneread.engines.onepass.kernels.plan import ExpertTiles, Tiles

    shape = ExpertTiles(16, depth=32, wide=64, down_depth=32, stages=2, swap=True, down_swap=True)
    return Tiles(wide=((float("inf"), shape),), fp8=((float("inf"), shape),))


def engines(folder: Path) -> tuple[OnePassModel, OnePassModel]:
    weights = load_weights(folder, read_config(folder), DEVICE)
    options = Options(rows=512, kv_bytes=2**22)
    fused = OnePassModel(weights, replace(options, steps="triton", attention="triton", experts="triton"))
    fused._steps.tiles = few_tiles()  # type: ignore[attr-defined]
    return fused, OnePassModel(weights, options)


def padded_pass(engine: OnePassModel, reads: Sequence[Read]) -> tuple[DeviceBlock, Sizes, Sizes]:
    """A pass on the device, padded as a graph's is, its own sizes and the padded ones. Its pages count as computed."""
    pack = pack_reads(reads, engine.prefix, engine._layout)
    engine.prefix.written(pack.fresh)
    engine.prefix.release(pack.pages)
    own = Sizes.of(pack)
    sizes = Sizes(own.rows + 29, own.past + 21 if own.past else 0, own.nodes + 3, own.slots + 2, own.labels + 7)
    host = np.full(sizes.words, -(2**31), np.int32)
    write_block(pack, sizes, engine.options.rows, host)
    return read_block(torch.from_numpy(host).to(DEVICE), sizes), own, sizes
