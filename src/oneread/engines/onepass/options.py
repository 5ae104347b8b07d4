"""Choices of memory and speed, each switchable by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

Form: TypeAlias = Literal["plain", "fp8", "nvfp4"]
"""How weights are stored; see `linear.Linear`."""
ExpertBits: TypeAlias = Literal[16, 12, "12+16"]
"""Of each weight of the experts; the last keeps both forms."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the engine uses its device.

    The defaults run anywhere. `for_cuda` gives those measured to be fastest; docs/performance.md says by how much.

    Attributes:
        rows: most new rows of one pass; longer prompts are computed in several.
        kv_bytes: what the prefix cache may take.
        steps: everything between matrix products as plain torch, or as fused Triton kernels.
        attention: torch's with an explicit mask, FlexAttention with a block mask, or the Triton kernel (fused steps only).
        experts: one after another, torch's grouped products (plain weights only), or the Triton kernel (fused steps only).
        activations: FP8 weights times rows kept wide, or times rows rounded to FP8 with a scale each (fused steps only).
        overlap: what the dense MLP runs beside, on a stream of its own (fused steps on CUDA only), in passes of up to
            `overlap_rows` rows.
        overlap_rows: larger passes leave no part of the device idle.
        graphs: whether passes of up to `graph_rows` rows are replayed as CUDA graphs, padded to a few sizes.
        graph_rows: larger passes are launched kernel by kernel, without padding: they keep the device busy long enough.
        warm_rows: sizes captured at start, so that no request waits for it.
        expert_bits: of each weight of the experts, where the checkpoint has them in bfloat16. 12 hold all but a row's smallest
            exactly (packed.py) in a quarter less memory. Experts' Triton kernels are faster then in small passes and slower
            in large ones; plain torch widens them at every use and is far slower. "12+16" keeps both forms, for experts' Triton
            kernels only: small passes multiply with the one, large ones with the other (`kernels.plan.takes_packed`).
    """

    rows: int = 4096
    kv_bytes: int = 2 * 2**30
    steps: Literal["torch", "triton"] = "torch"
    attention: Literal["sdpa", "flex", "triton"] = "sdpa"
    experts: Literal["loop", "grouped", "triton"] = "loop"
    activations: Literal["wide", "fp8"] = "wide"
    overlap: Literal["none", "routing", "experts"] = "none"
    overlap_rows: int = 8192
    graphs: bool = False
    graph_rows: int = 16384
    warm_rows: tuple[int, ...] = (64, 128, 256, 384, 512, 1024)
    expert_bits: ExpertBits = 16

    def __post_init__(self) -> None:
        if self.expert_bits not in get_args(ExpertBits):
            raise ValueError(f"expert_bits should be 16, 12 or '12+16', not {self.expert_bits!r}")
        fused = self.steps == "triton"
        for name, value in (("attention", self.attention), ("experts", self.experts)):
            if value == "triton" and not fused:
                raise ValueError(f"{name}='triton' needs steps='triton'")
        if self.activations == "fp8" and not (fused and self.experts == "triton"):
            raise ValueError("activations='fp8' needs steps='triton' and experts='triton'")
        if self.overlap != "none" and not fused:
            raise ValueError("overlap needs steps='triton'")
        if self.expert_bits == 12 and self.experts == "grouped":
            raise ValueError("experts='grouped' takes weights of 16 bits")
        if self.expert_bits == "12+16" and not (fused and self.experts == "triton"):
            raise ValueError("expert_bits='12+16' needs steps='triton' and experts='triton'")
        if self.graphs and (self.experts == "loop" or self.attention == "flex"):
            raise ValueError("graphs need experts and attention that do not wait for the host")

    @classmethod
    def for_cuda(cls, form: Form = "plain", rows: int = 16384, kv_bytes: int = 8 * 2**30) -> Options:
        """The fast path for experts of a form. FP8 weights are multiplied by FP8 rows; NVFP4 has no fast products yet."""
        if form == "nvfp4":
            return cls(rows, kv_bytes, steps="triton", attention="triton", experts="loop")
        activations: Literal["wide", "fp8"] = "fp8" if form == "fp8" else "wide"
        fused = cls(rows, kv_bytes, steps="triton", attention="triton", experts="triton", activations=activations)
        return replace(fused, overlap="experts", graphs=True)
