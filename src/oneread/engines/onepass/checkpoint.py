"""A checkpoint's safetensors files: what they hold, and reading it one tensor at a time."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError, safe_open

from ...errors import ReaderError

if TYPE_CHECKING:
    from torch import Tensor

MAX_HEADER = 100 * 2**20


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor of a file: safetensors dtype name (``"BF16"``, ``"F8_E4M3"``, ``"U8"``...), shape and size in bytes."""

    file: Path
    dtype: str
    shape: tuple[int, ...]
    nbytes: int


def list_tensors(folder: Path) -> dict[str, Entry]:
    """Every tensor of a checkpoint by name, from the files' headers alone.

    Raises:
        ReaderError: a file is missing, is not safetensors or not as long as it says, or the index and the files disagree.
    """
    index = folder / "model.safetensors.index.json"
    if index.exists():
        try:
            named: Mapping[str, str] = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
            files = sorted({folder / name for name in named.values()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ReaderError(f"{index}: is not an index of safetensors files") from error
    else:
        named, files = {}, [folder / "model.safetensors"]
    entries: dict[str, Entry] = {}
    for file in files:
        entries.update(_header(file))
    lost = sorted(name for name in named if name not in entries or entries[name].file.name != named[name])
    if lost:
        raise ReaderError(f"{index}: tensors are not in the files it names: {_some(lost)}")
    return entries


def read_tensors(entries: Mapping[str, Entry]) -> Iterator[tuple[str, Tensor]]:
    """The named tensors, file after file, on the CPU. Each is a view of its mapped file: it costs no memory of its own."""
    by_file: dict[Path, list[str]] = {}
    for name, entry in entries.items():
        by_file.setdefault(entry.file, []).append(name)
    for file, names in by_file.items():
        try:
            with safe_open(file, framework="pt", device="cpu") as tensors:
                for name in names:
                    yield name, tensors.get_tensor(name)
        except (OSError, SafetensorError) as error:
            raise ReaderError(f"{file}: cannot be read as safetensors") from error


def refuse(folder: Path, faults: Mapping[str, list[str]]) -> None:
    """Raise a `ReaderError` that names the tensors at fault, if there are any. Keys say what is wrong with them."""
    found = [f"{what}: {_some(sorted(names))}" for what, names in faults.items() if names]
    if found:
        raise ReaderError(f"{folder}: does not fit DiffusionGemma. " + ". ".join(found))


def _header(file: Path) -> dict[str, Entry]:
    try:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > MAX_HEADER:
                raise ReaderError(f"{file}: is not a safetensors file")
            header = json.loads(stream.read(length))
            size = file.stat().st_size - 8 - length
    except OSError as error:
        raise ReaderError(f"{file}: cannot be read ({error.strerror})") from error
    except (ValueError, struct.error) as error:
        raise ReaderError(f"{file}: is not a safetensors file") from error
    try:
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        ends = max((entry["data_offsets"][1] for entry in entries.values()), default=0)
        if ends != size:
            raise ReaderError(f"{file}: has {size} bytes of tensors where its header says {ends}; fetch it again")
        return {
            name: Entry(file, entry["dtype"], tuple(entry["shape"]), entry["data_offsets"][1] - entry["data_offsets"][0])
            for name, entry in entries.items()
        }
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise ReaderError(f"{file}: is not a safetensors file") from error


def _some(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
