"""Writes a reader's directory: shards of stored tensors, the tokenizer, and reader.json."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from .manifest import FORMAT, MANIFEST, TOKENIZER, Manifest, read_manifest
from .weights import to_int8

SHARD_BYTES = 40_000_000
"""A shard is closed before it would grow past this."""


def q8(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Codes (rows, columns) and float16 row scales (rows,) of a matrix."""
    scale = to_int8(values)[1].astype(np.float16)
    # rounded up where float16 fell short, so that 127 still reaches the largest value
    scale = np.where(scale.astype(np.float32) * 127 < np.abs(values).max(axis=1), np.nextafter(scale, np.float16(np.inf)), scale)
    safe = np.where(scale > 0, scale, np.float16(1)).astype(np.float32)
    return np.clip(np.rint(values / safe[:, None]), -127, 127).astype(np.int8), scale


def write_reader(directory: Path, entries: Mapping[str, Any], stored: Mapping[str, NDArray[Any]], tokenizer: Path) -> Manifest:
    """Write a reader's directory; returns its manifest.

    Args:
        directory: made if needed; its old shards are removed.
        entries: reader.json without ``format`` and ``files``.
        stored: tensors as `weights` stores them: ``NAME``, or ``NAME.q8`` or ``NAME.q4`` with ``NAME.scale``
            and perhaps ``NAME.smooth``.
        tokenizer: the tokenizer.json to copy.

    Raises:
        ReaderError: the entries are not those of a reader.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.safetensors"):
        old.unlink()
    files = [directory / TOKENIZER, *_write_shards(stored, directory)]
    shutil.copyfile(tokenizer, files[0])
    listed = [{"name": f.name, "size": f.stat().st_size, "sha256": hashlib.sha256(f.read_bytes()).hexdigest()} for f in files]
    manifest = {"format": FORMAT, **entries, "files": listed}
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return read_manifest(directory)


def _write_shards(stored: Mapping[str, NDArray[Any]], directory: Path) -> list[Path]:
    shards: list[dict[str, NDArray[Any]]] = [{}]
    size = 0
    for name, tensor in stored.items():
        if size + tensor.nbytes > SHARD_BYTES and shards[-1]:
            shards.append({})
            size = 0
        shards[-1][name] = np.ascontiguousarray(tensor)
        size += tensor.nbytes
    paths = [directory / f"weights-{i}.safetensors" for i in range(len(shards))]
    for path, shard in zip(paths, shards, strict=True):
        save_file(shard, path)
        path.chmod(0o644)
    return paths
