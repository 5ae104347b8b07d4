"""Memory that tells on whoever writes past it or reads what nobody wrote: padding on both sides, and poison in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import pytest
import torch

GUARD = 4096
"""Bytes on either side of a tensor, a multiple of any alignment that a kernel may assume."""
POISON = 0xFF
"""Every float of these bytes is NaN (FP8 too), every int is -1."""


@contextmanager
def guarded_memory() -> Iterator[list[torch.Tensor]]:
    """`torch.empty` and `torch.empty_like` give poisoned memory between guards.

    Yields the allocations. On leaving, raises AssertionError if a guard was written.
    """
    made: list[torch.Tensor] = []
    plain = torch.empty

    def empty(*shape: Any, dtype: torch.dtype | None = None, device: Any = None, **others: Any) -> torch.Tensor:
        sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list | torch.Size) else shape
        if others:
            return plain(sizes, dtype=dtype, device=device, **others)
        kind = dtype or torch.get_default_dtype()
        size = prod(sizes) * kind.itemsize
        whole = torch.full((size + 2 * GUARD,), POISON, dtype=torch.uint8, device=device)
        made.append(whole)
        return whole[GUARD : GUARD + size].view(kind).view(sizes)

    def empty_like(x: torch.Tensor) -> torch.Tensor:
        return empty(x.shape, dtype=x.dtype, device=x.device)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "empty", empty)
        patch.setattr(torch, "empty_like", empty_like)
        yield made
    for whole in made:
        assert bool((whole[:GUARD] == POISON).all()), "something was written before a tensor"
        assert bool((whole[-GUARD:] == POISON).all()), "something was written behind a tensor"
