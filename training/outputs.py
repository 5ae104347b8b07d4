"""What a run or an average leaves in its folder: weights, config, raw scores of every measured case, and its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from .encoder import Encoder
from .feed import reversed_scores, score
from .measure import figures
from .rows import Rows
from .transport import pack8, save_parts

PART_BYTES = 15_500_000


def write_reader(folder: Path, tensors: dict[str, Tensor], config: dict[str, Any]) -> None:
    """weights.safetensors (float16), int8 parts and config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({k: v.half().cpu().contiguous() for k, v in tensors.items()}, folder / "weights.safetensors")
    save_parts(pack8({k: v.float().cpu() for k, v in tensors.items()}), folder, "int8", PART_BYTES)
    (folder / "config.json").write_text(json.dumps(config, indent=1))


def measure_reader(folder: Path, model: Encoder, rows: Rows, device: torch.device, batch_tokens: int) -> dict[str, Any]:
    """scores.npz: every measured case, alone and, in layout apart, as packed rows see the state. Returns `measure.figures`."""
    everything, layout = np.arange(len(rows.cases)), rows.form.layout
    layouts = (layout, "blind") if layout == "apart" else (layout,)
    arrays = {name: score(model, rows, everything, name, device, batch_tokens)[1] for name in layouts}
    if layout == "full":
        arrays["reversed"] = reversed_scores(model, rows, everything, device, batch_tokens)
    np.savez(folder / "scores.npz", **arrays)
    return {name: figures(rows.cases, scores) for name, scores in arrays.items()}


def summary(measured: dict[str, Any]) -> dict[str, Any]:
    """The figures by which averages are chosen, of the first layout: those of dev tasks, and what it gives on unseen ones."""
    first = next(iter(measured.values()))
    return {
        "dev_accuracy": first["dev"]["accuracy"],
        "dev_tempered_log_loss": first["dev_tempered_log_loss"],
        "unseen_accuracy": first["unseen"]["accuracy"],
    }
