"""Engines and steps that run on Triton's kernels, at small sizes, beside those of plain torch."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.options import Options
from oneread.engines.onepass.weights import load_weights

CUDA = torch.cuda.is_available()
needs_triton = pytest.mark.skipif(
    find_spec("triton") is None or not (CUDA or os.environ.get("TRITON_INTERPRET") == "1"),
    reason="needs Triton and a CUDA device, or Triton's interpreter (TRITON_INTERPRET=1)",
)
DEVICE = torch.device("cuda" if CUDA else "cpu")
EXPERTS, K, HIDDEN = 128, 8, 64


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
    config = SimpleNamespace(epsilon=1e-6, ropes={}, layers=(None,) * layers, experts=EXPERTS)
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
