"""Weights in few bytes for a trip between machines: int8 with a float16 scale per row, in files of a size of choice."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor


def pack8(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """int8 codes and a scale for each row of every matrix; vectors as float16."""
    out: dict[str, Tensor] = {}
    for name, t in tensors.items():
        t = t.detach().float().cpu()
        if t.ndim == 2 and name != "rb.weight":
            scale = (t.abs().amax(1, keepdim=True) / 127).clamp(min=1e-8).half()
            out[name] = (t / scale.float()).round().clamp(-127, 127).to(torch.int8)
            out[f"{name}.s"] = scale
        else:
            out[name] = t.half()
    return out


def unpack8(packed: dict[str, Tensor]) -> dict[str, Tensor]:
    """Float32 tensors again."""
    return {
        k: v.float() * packed[f"{k}.s"].float() if v.dtype == torch.int8 else v.float()
        for k, v in packed.items()
        if not k.endswith(".s")
    }


def save_parts(tensors: dict[str, Tensor], folder: Path, name: str, part_bytes: int) -> list[Path]:
    """Safetensors files NAME.0, NAME.1... of at most `part_bytes` each, tensors cut by rows where needed."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[dict[str, Tensor]] = [{}]
    room = part_bytes
    for key, t in tensors.items():
        row, at, piece = max(1, t[:1].numel() * t.element_size()), 0, 0
        while at < len(t):
            if room < row:
                parts.append({})
                room = part_bytes
            take = min(len(t) - at, room // row)
            parts[-1][f"{key}#{piece}"] = t[at : at + take].contiguous()
            room -= take * row
            at, piece = at + take, piece + 1
    paths = [folder / f"{name}.{i}.safetensors" for i in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        save_file(part, path)
    return paths


def load_parts(paths: list[Path]) -> dict[str, Tensor]:
    """What `save_parts` wrote, from its files in any order."""
    pieces: dict[str, dict[int, Tensor]] = {}
    for path in paths:
        for key, t in load_file(path).items():
            name, i = key.rsplit("#", 1)
            pieces.setdefault(name, {})[int(i)] = t
    return {name: torch.cat([p[i] for i in sorted(p)]) for name, p in pieces.items()}
