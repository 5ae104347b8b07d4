"""Block shapes of the kernels, by what is multiplied. bench/onepass_tune.py measures the experts' ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ..config import LayerKind


@dataclass(frozen=True, slots=True)
class ExpertTiles:
    """Shapes of the experts' products.

    Attributes:
        block: pairs a program multiplies; an expert's pairs take whole blocks.
        gated: columns of gate and of up of one program of the first product.
        depth, down_depth: inputs multiplied at a time.
        warps, stages, down_warps, down_stages: of a program, and loads in flight.
        wide: outputs of one program of the second product.
        swap, down_swap: whether weights are the left side of a product: Hopper's matrix unit takes 64 rows or more
            on the left, and a block of few pairs has fewer.
        halve: whether a block that is at most half full, such as an expert's last one, is multiplied as half a block.
        join: of how many pairs or fewer an expert's last block is multiplied by the program of the block before, over the same
            loads of weights; 0 for none. A power of two from 16 on, with `merge` only.
        group: blocks that stand side by side in the first product's order of programs, over the same columns of weights.
        merge: whether gate and up are multiplied as one matrix of twice the columns: rows are read from shared memory once.
        tma, down_tma: whether the card's copy engine loads weights (in the second product the rows too), not each thread
            its part.
        stationary: whether a tile of weights for the second product stays in shared memory while its expert's rows pass by, where
            `hopper.stays` says so: FP8 rows and weights in blocks of 128, of sizes that fit, on a Hopper card under a known
            Triton. `wide` and `down_*` are for elsewhere.
    """

    block: int
    gated: int = 64
    depth: int = 64
    warps: int = 4
    stages: int = 4
    wide: int = 128
    down_depth: int = 64
    down_warps: int = 4
    down_stages: int = 4
    swap: bool = False
    down_swap: bool = False
    halve: bool = False
    join: int = 0
    group: int = 1
    merge: bool = False
    tma: bool = False
    down_tma: bool = False
    stationary: bool = False

    def __post_init__(self) -> None:
        if self.join and not (self.merge and 16 <= self.join <= self.block and self.join & (self.join - 1) == 0):
            raise ValueError(f"join={self.join} needs merge=True and a power of two from 16 to block ({self.block})")


Classes: TypeAlias = tuple[tuple[float, ExpertTiles], ...]
"""Shapes, and up to how many pairs an expert on average they are for."""

LARGE = ExpertTiles(
    128, gated=128, warps=8, down_warps=8, down_stages=3, halve=True, group=8, merge=True, tma=True, down_tma=True
)

WIDE: Classes = (
    (8, ExpertTiles(16, depth=128, stages=5, wide=64, down_stages=3, swap=True, down_swap=True)),
    (26, ExpertTiles(32, stages=5, wide=64, swap=True, down_swap=True)),
    (56, ExpertTiles(64, gated=128, stages=5)),
    (350, replace(LARGE, join=16)),
    (float("inf"), LARGE),
)
FP8_ROWS: Classes = (
    (8, ExpertTiles(16, depth=256, stages=5, wide=64, down_stages=6, swap=True, down_swap=True)),
    (28, ExpertTiles(32, depth=128, stages=5, down_depth=128, down_warps=8, down_stages=3, swap=True, down_swap=True)),
    (
        float("inf"),
        ExpertTiles(
            128,
            gated=128,
            depth=128,
            warps=8,
            down_depth=128,
            down_warps=8,
            down_stages=3,
            halve=True,
            group=8,
            merge=True,
            tma=True,
            down_tma=True,
            stationary=True,
        ),
    ),
)

PACKED: Classes = (
    (8, ExpertTiles(16, stages=3, down_depth=32, wide=64, down_stages=4)),
    (26, ExpertTiles(32, down_depth=32, wide=64, down_stages=5)),
    (100, ExpertTiles(64, stages=3, down_depth=32, wide=64)),
    (float("inf"), ExpertTiles(128, depth=32, group=8, down_depth=32, wide=64, down_stages=3)),
)
"""For weights of 12 bits, always the left side. A depth is of pairs of inputs; of the outputs, `wide` of each half are meant."""
PACKED_PAIRS = 56
"""Where experts are kept in 12 bits and in 16: up to so many pairs an expert on average a pass multiplies with the former. Of 128
experts, 8 a row, that is 896 rows, a size that graphs pad to: padded or not, a pass has one form.
Other limits are rounded down to one."""


def takes_packed(rows: int, k: int, experts: int) -> bool:
    """Whether a pass of so many rows multiplies with the 12-bit form, where experts are kept in both."""
    return rows <= most_packed(k, experts)


def most_packed(k: int, experts: int) -> int:
    """The rows of the largest pass that does."""
    most = PACKED_PAIRS * experts // k
    return most // 128 * 128 or most


@dataclass(frozen=True, slots=True)
class AttentionTiles:
    """Shapes of attention: rows of a program, each with all query heads that share a key head; keys (at most 64) it takes
    at a time; its warps and stages."""

    rows: int
    keys: int
    warps: int
    stages: int = 3


ATTENTION: dict[LayerKind, AttentionTiles] = {"sliding": AttentionTiles(32, 32, 4), "full": AttentionTiles(8, 32, 8)}
NEAR: dict[LayerKind, AttentionTiles] = {"sliding": AttentionTiles(32, 32, 4, 2), "full": AttentionTiles(8, 32, 8, 2)}
"""Where a pass's keys and values lie side by side."""
FEW: dict[LayerKind, AttentionTiles] = {**NEAR, "sliding": AttentionTiles(32, 64, 4, 2)}
"""The same in a pass of up to `FEW_ROWS` rows: programs are fewer than the card takes at once."""
FEW_ROWS = 1024


@dataclass(slots=True)
class Tiles:
    """Block shapes for a device: of attention, by layer kind; and of the experts, by the form of rows and weights."""

    attention: dict[LayerKind, AttentionTiles] = field(default_factory=lambda: dict(ATTENTION))
    near: dict[LayerKind, AttentionTiles] = field(default_factory=lambda: dict(NEAR))
    few: dict[LayerKind, AttentionTiles] = field(default_factory=lambda: dict(FEW))
    wide: Classes = WIDE
    fp8: Classes = FP8_ROWS
    packed: Classes = PACKED

    def attending(self, kind: LayerKind, rows: int, near: bool) -> AttentionTiles:
        """Shapes of attention in a pass of so many rows, whose keys and values lie side by side or in the store."""
        return (self.attention if not near else self.few if rows <= FEW_ROWS else self.near)[kind]

    def experts(self, rows: int, k: int, experts: int, form: Literal["wide", "fp8", "packed"]) -> ExpertTiles:
        """Shapes for a pass of so many rows. Their number alone decides, so a graph's choice is fixed.

        Args:
            form: whether rows are FP8; and else, whether weights have 12 bits.
        """
        average = rows * k / experts
        classes: Classes = getattr(self, form)
        return next(tiles for most, tiles in classes if average <= most)
