"""Does it fit? What a checkpoint will take on a device, counted from its files' headers before anything is loaded.

Every tensor is allocated once and files are read through maps of them, so loading takes no more than the weights
themselves. On unified memory (one memory for host and device) the pages of the files that the system keeps count as
available, and `HOST_RESERVE` is left for everything else that runs there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from ...errors import ReaderError
from ..base import PAGE
from .checkpoint import Entry, list_tensors
from .config import Config
from .kernels.plan import ATTENTION
from .options import Options

GIB = 2**30
CONTEXT = 700 * 2**20
"""CUDA's context, the libraries' workspaces and compiled kernels."""
HOST_RESERVE = 4 * GIB
"""Left free on unified memory."""
HEAD = 4 * 64 * 2**20
"""Full-vocabulary logits of one piece and what is computed from them (head.py)."""
TEXT_COPIES = 5
"""Logits, probabilities and what sampling makes of them, over the vocabulary for each position of a generated block."""

_WIDTHS = {"F64": 8, "F32": 4, "I64": 8}


@dataclass(frozen=True, slots=True)
class Fit:
    """The arithmetic.

    Attributes:
        parts: what takes memory, and bytes of each.
        free: bytes the device has.
        unified: whether host and device share them.
        spared: bytes that 12 bits for the experts' weights would take less, where those have 16 and can have 12.
        doubled: bytes that 16 bits alone would take less, where the experts have both forms.
    """

    parts: tuple[tuple[str, int], ...]
    free: int
    unified: bool
    spared: int = 0
    doubled: int = 0

    @property
    def needed(self) -> int:
        return sum(size for _, size in self.parts)

    @property
    def fits(self) -> bool:
        return self.needed <= self.free

    @property
    def instead(self) -> str | None:
        """Which bits for the experts' weights would fit where this does not, and how much less they take, in words."""
        for bits, less, warned in (
            (16, self.doubled, ""),
            (12, self.spared, "" if self.doubled else " (very slow on plain torch)"),
        ):
            if self.free < self.needed <= self.free + less:
                return f"--expert-bits {bits}, which needs {less / GIB:.1f} GiB less and fits{warned}"
        return None

    def __str__(self) -> str:
        terms = " + ".join(f"{name} {size / GIB:.1f}" for name, size in self.parts)
        sign = "<=" if self.fits else ">"
        where = "available (one memory for host and device)" if self.unified else "free on the device"
        return f"{terms} = {self.needed / GIB:.1f} GiB {sign} {self.free / GIB:.1f} GiB {where}"


def measure_fit(folder: Path, config: Config, options: Options, free: int, unified: bool = False, images: bool = False) -> Fit:
    """What `load_onepass` will take with these options.

    Args:
        free: bytes free on the device; on unified memory, bytes available on the host.
        images: whether the image tower is loaded too.

    Raises:
        ReaderError: the checkpoint's files are missing or damaged.
    """
    entries = list_tensors(folder)
    vision = sum(e.nbytes for name, e in entries.items() if ".vision_tower." in name or ".embed_vision." in name)
    text = sum(e.nbytes for e in entries.values()) - vision
    embedding = next((e for name, e in entries.items() if name.endswith("embed_tokens.weight")), None)
    element = _WIDTHS.get(embedding.dtype, 2) if embedding is not None else 2
    sixteen, twelve = _experts(entries, config) if embedding is not None and embedding.dtype == "BF16" else (0, 0)
    doubled = twelve if options.expert_bits == "12+16" else 0
    # What 12 bits alone would do without.
    spared = sixteen if doubled else sixteen - twelve
    if options.expert_bits == 12:
        text, spared = text - spared, 0
    parts = [("weights", text)]
    if doubled:
        parts.append(("experts in 12 bits", doubled))
    if images:
        parts.append(("image tower", vision))
    cached = options.kv_bytes // (config.kv_row_bytes(element) * PAGE) * PAGE

    def one(rows: int) -> int:
        return workspace(config, rows, element) + (visit_bytes(rows, rows + cached) if options.attention == "triton" else 0)

    parts += [("prefix cache", cached * config.kv_row_bytes(element)), ("one pass", one(options.rows))]
    if options.graphs:
        # Graphs share memory with one another and with nobody else: what the largest takes is theirs for good.
        parts.append(("passes as graphs", one(min(options.graph_rows, options.rows))))
    parts += [("a block of text", TEXT_COPIES * config.canvas * config.vocab * 4), ("context", CONTEXT)]
    if unified:
        parts.append(("left for the host", HOST_RESERVE))
    return Fit(tuple(parts), free, unified, spared, doubled)


def _experts(entries: dict[str, Entry], config: Config) -> tuple[int, int]:
    """Bytes of a checkpoint's experts as they are, and in 12 bits with a float32 scale an output; 0 where those cannot be."""
    names = (".experts.gate_up_proj", ".experts.down_proj") if config.packable else ()
    stacks = [e for name, e in entries.items() if name.endswith(names) and e.dtype == "BF16"]
    return sum(e.nbytes for e in stacks), sum(e.nbytes // 4 * 3 + math.prod(e.shape[:-1]) * 4 for e in stacks)


def workspace(config: Config, rows: int, element: int) -> int:
    """Bytes that one pass of this many new rows takes at its fullest moment."""
    widest = max(config.heads * shape.head_dim + 2 * shape.kv_heads * shape.head_dim for shape in config.layers)
    scratch = sum(
        2 * shape.kv_heads * shape.head_dim for kind in ("sliding", "full") if (shape := config.shape_of(kind)) is not None
    )
    experts = config.experts_per_token * (3 * config.expert + config.hidden)
    # Residual, its norms for dense MLP, experts and router, attention's input and output, the dense MLP, the experts; keys and
    # values in the store, and side by side with as many cached ones.
    row = 6 * config.hidden + 2 * widest + 3 * config.dense + experts + 3 * scratch
    return rows * row * element + HEAD


def visit_bytes(rows: int, keys: int) -> int:
    """Bytes that say which of so many keys each block of rows visits, where every block visits all (kernels/sight.py)."""
    # For each block of rows int32 (visits, keys), and int64 (visits, rows): see `kernels.steps.Visits`.
    return sum(int(rows * keys * (4 / t.rows + 8 / t.keys)) for t in ATTENTION.values())


def check_fit(fit: Fit) -> None:
    """Refuse to load what does not fit.

    Raises:
        ReaderError: with the arithmetic.
    """
    if not fit.fits:
        todo = "A smaller prefix cache or fewer rows a pass need less"
        if (instead := fit.instead) is not None:
            todo += f". Or take {instead}"
        raise ReaderError(f"not enough memory: {fit}. {todo}")
