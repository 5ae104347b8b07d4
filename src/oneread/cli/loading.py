"""Loading a reader with something to look at on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .console import err

if TYPE_CHECKING:
    from ..readers.checkpoint import Placement
    from .options import BitsName


@contextmanager
def loading(reader: Path | None) -> Iterator[bool]:
    """Yields whether loading should draw bars of its own: a checkpoint does, where anything else gets a spinner."""
    from ..readers.checkpoint import is_checkpoint

    if err.is_terminal and reader is not None and is_checkpoint(reader):
        yield True
        return
    with err.status("Loading the reader"):
        yield False


def placed(
    device: str | None, cache_gib: float | None = None, rows: int | None = None, bits: BitsName | None = None
) -> Placement:
    """Where a checkpoint is loaded, by the flags."""
    from ..readers.checkpoint import Placement

    kv_bytes = None if cache_gib is None else round(cache_gib * 2**30)
    forms: dict[str, Literal[16, 12, "12+16"]] = {"16": 16, "12": 12, "12+16": "12+16"}
    return Placement(device, kv_bytes, rows, None if bits is None else forms[bits])
