"""Attention's steps on CUDA: which keys each block of rows visits, heads on their way in, and the visits themselves."""

# mypy: disable-error-code="no-untyped-call, no-any-return, index, unused-ignore, import-not-found, import-untyped"
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
import triton
from torch import Tensor

from ..attention import Sight
from ..config import Config, LayerKind, LayerShape
from ..diffusion_gemma import Batch, Layer, Steps, inverse_frequencies
from ..linear import FP8, Linear
from ..store import KeyValueStore
from . import attend, heads, sight
from .experts import Quantised, described, room
from .plan import Tiles

LOOKED = 16384
"""Rows times keys that a program looks at together, to say which keys its rows see."""
LOOKING, APART = 32, 2048
"""Rows of such a program; but a pass of at most so many rows has a program for each block, and so more of them."""
WIDE_HEADS = 4
"""Queries of a full layer, whose heads are wide, that one program turns."""


@dataclass(slots=True, eq=False)
class Visits:
    """Which keys each block of rows visits, for all layers of a kind; see sight.py.

    Attributes:
        counts: int32 (blocks,). sources: int32 (blocks, visits, keys), rows of the store, or places side by side.
        views: int64 (blocks, visits, rows), what a row sees of a visit's keys, a bit each.
    """

    counts: Tensor
    sources: Tensor
    views: Tensor


@dataclass(slots=True, eq=False)
class AttentionSteps(Steps):
    """Of `Steps`, those around attention.

    Attributes:
        rows: new rows of this pass. beside: whether its keys and values lie side by side for attention, as they do where no more
            are cached than computed; else attention finds them in the store.
        near: by kind of layer, keys and values side by side, (keys, kv_heads, head_dim) each; near_rows: int32 (keys,), where
            each key stands there.
    """

    tiles: Tiles = field(default_factory=Tiles)
    frequencies: dict[LayerKind, Tensor] = field(default_factory=dict)
    visits: dict[LayerKind, Visits] = field(default_factory=dict)
    rows: int = 0
    beside: bool = False
    near: dict[LayerKind, tuple[Tensor, Tensor]] = field(default_factory=dict)
    near_rows: Tensor = field(default_factory=lambda: torch.zeros(0))

    def begin(self, config: Config, batch: Batch) -> None:
        self.epsilon = config.epsilon
        device = batch.tokens.device
        self.rows, self.near = len(batch.tokens), {}
        self.beside = self.options.attention == "triton" and len(batch.key_rows) <= 2 * self.rows
        if self.beside:
            self.near_rows = torch.arange(len(batch.key_rows), dtype=torch.int32, device=device)
        for kind in config.ropes:
            if kind not in self.frequencies:
                self.frequencies[kind] = inverse_frequencies(config, kind, device)
            self.look(kind, batch.sight, batch.key_rows)

    def look(self, kind: LayerKind, sights: Sight, key_rows: Tensor) -> None:
        if self.options.attention != "triton":
            Steps.look(self, kind, sights, key_rows)
            return
        rows, keys, device = len(sights.nodes), len(key_rows), key_rows.device
        t = self.tiles.attending(kind, self.rows, self.beside)
        key_rows = self.near_rows if self.beside else key_rows
        blocks, key_blocks = triton.cdiv(rows, t.rows), triton.cdiv(keys, t.keys)
        counts = torch.empty(blocks, dtype=torch.int32, device=device)
        sources = torch.empty((blocks, key_blocks, t.keys), dtype=torch.int32, device=device)
        views = torch.empty((blocks, key_blocks, t.rows), dtype=torch.int64, device=device)
        together = max(1, LOOKING // t.rows) if rows > APART else 1
        sight.visits_kernel[(triton.cdiv(blocks, together),)](
            sights.nodes,
            sights.low,
            sights.high,
            key_rows,
            sights.key_nodes,
            sights.key_positions,
            sights.sees,
            len(sights.sees),
            rows,
            keys,
            counts,
            sources,
            views,
            block=t.rows,
            key_block=t.keys,
            together=together,
            span=min(max(1, LOOKED // (together * t.rows * t.keys)), triton.next_power_of_2(key_blocks)),
            sliding=kind == "sliding",
            num_warps=8,
        )
        self.visits[kind] = Visits(counts, sources, views)

    def query_key_value(self, qkv: Tensor, layer: Layer, store: KeyValueStore, index: int, batch: Batch) -> Tensor:
        shape = layer.shape
        own_values = shape.kind == "sliding"
        count = qkv.shape[-1] // shape.head_dim - shape.kv_heads * (2 if own_values else 1)
        query = torch.empty((len(qkv), count, shape.head_dim), dtype=qkv.dtype, device=qkv.device)
        width, warps = triton.next_power_of_2(count), 4
        if shape.kind == "full" and count > WIDE_HEADS:
            width, warps = WIDE_HEADS, 2
        programs = 1 if width >= count else triton.cdiv(count, width) + 1
        keys, values = store.keys[shape.kind], store.values[shape.kind]
        near_keys, near_values = self._near(shape, store, index, batch.key_rows) if self.beside else (keys, values)
        heads.heads_kernel[(len(qkv), programs)](
            qkv,
            layer.query_norm,
            layer.key_norm,
            self.frequencies[shape.kind],
            batch.positions,
            batch.rows,
            query,
            keys,
            values,
            near_keys,
            near_values,
            store.offset(index),
            store.scratch,
            len(batch.key_rows) - len(qkv),
            self.epsilon,
            heads=count,
            kv_heads=shape.kv_heads,
            width=width,
            kv_width=triton.next_power_of_2(shape.kv_heads),
            half=shape.head_dim // 2,
            own_values=own_values,
            beside=self.beside,
            num_warps=warps,
        )
        return query

    def attention(
        self, query: Tensor, shape: LayerShape, following: Linear, store: KeyValueStore, index: int, batch: Batch
    ) -> Any:
        if self.options.attention != "triton":
            return Steps.attention(self, query, shape, following, store, index, batch)
        rows, count, size = query.shape
        quantised = self._quantises(following)
        out, scales = room(query, count * size, quantised)
        t, visits = self.tiles.attending(shape.kind, self.rows, self.beside), self.visits[shape.kind]
        keys, values = store.keys[shape.kind], store.values[shape.kind]
        if self.beside:
            keys, values = (described(part.flatten(1), [t.keys, size]) for part in self.near[shape.kind])
        attend.attend_kernel[(triton.cdiv(rows, t.rows), shape.kv_heads)](
            query,
            keys,
            values,
            visits.counts,
            visits.sources,
            visits.views,
            rows,
            visits.sources.shape[1],
            store.offset(index),
            store.scratch,
            out,
            scales,
            heads=count,
            kv_heads=shape.kv_heads,
            size=size,
            block=t.rows,
            key_block=t.keys,
            beside=self.beside,
            quantised=quantised,
            num_warps=t.warps,
            num_stages=t.stages,
        )
        return Quantised(out, scales) if quantised else out

    def _quantises(self, weight: Linear) -> bool:
        return weight.weight.dtype == FP8 and self.options.activations == "fp8"

    def _near(self, shape: LayerShape, store: KeyValueStore, index: int, key_rows: Tensor) -> tuple[Tensor, Tensor]:
        """Room for a layer's keys and values side by side, with the cached ones in it."""
        keys, values = store.keys[shape.kind], store.values[shape.kind]
        if shape.kind not in self.near:
            sizes = (len(key_rows), shape.kv_heads, shape.head_dim)
            self.near[shape.kind] = (
                torch.empty(sizes, dtype=keys.dtype, device=keys.device),
                torch.empty(sizes, dtype=values.dtype, device=values.device),
            )
        near, size, past = self.near[shape.kind], shape.kv_heads * shape.head_dim, len(key_rows) - self.rows
        if past:
            attend.fetch_kernel[(past,)](
                keys, values, key_rows, *near, store.offset(index), store.scratch, size, triton.next_power_of_2(size), num_warps=4
            )
        return near
