"""Choices of memory and speed, each switchable by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How the engine uses its device.

    Attributes:
        rows: most new rows of one pass; longer prompts are computed in several.
        kv_bytes: what the prefix cache may take.
    """

    rows: int = 4096
    kv_bytes: int = 2 * 2**30
