"""Block shapes of the kernels, by what is multiplied. bench/onepass_gpu.py measures them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..config import LayerKind


@dataclass(frozen=True, slots=True)
class ExpertTiles:
    """Shapes of the experts' products.

    Attributes:
        block: pairs a program multiplies; an expert's pairs take whole blocks.
        gated: columns of gate and of up of one program.
        depth, down_depth: inputs multiplied at a time.
        wide: outputs of one program of the second product.
        widen: whether FP8 is multiplied as float16 (exact), for blocks smaller than the FP8 matrix unit takes.
    """

    block: int
    gated: int = 64
    depth: int = 64
    wide: int = 128
    down_depth: int = 64
    warps: int = 4
    stages: int = 4
    widen: bool = False


@dataclass(slots=True)
class Tiles:
    """Block shapes for a device.

    Attributes:
        rows: (rows, keys) of attention by layer kind.
        few, more, many: shapes for up to 16, up to 64, and more pairs an expert on average.
    """

    rows: dict[LayerKind, tuple[int, int]] = field(default_factory=lambda: {"sliding": (32, 64), "full": (8, 32)})
    few: ExpertTiles = ExpertTiles(16, depth=128, down_depth=64, stages=4, widen=True)
    more: ExpertTiles = ExpertTiles(32, depth=128, down_depth=64, stages=3, widen=True)
    many: ExpertTiles = ExpertTiles(128, depth=64, down_depth=64, warps=8, stages=3)

    def attention(self, kind: LayerKind) -> tuple[int, int]:
        return self.rows[kind]

    def experts(self, rows: int, k: int, experts: int, fp8: bool) -> ExpertTiles:
        """Shapes for a pass of so many rows. The number of rows alone decides, so a graph's choice is fixed."""
        average = rows * k / experts
        return self.few if average <= 12 else self.more if average <= 48 else self.many
