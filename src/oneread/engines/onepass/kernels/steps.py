"""The model's steps on CUDA: `diffusion_gemma.Steps` with fused kernels. Nothing in a pass waits for the host."""

# mypy: disable-error-code="no-untyped-call, no-any-return, index, unused-ignore, import-not-found, import-untyped"
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
import triton
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from ..attention import Sight
from ..config import Config, LayerKind, LayerShape
from ..diffusion_gemma import Batch, Layer, Steps, inverse_frequencies
from ..linear import FP8, Linear
from ..store import KeyValueStore
from . import grouped, heads, norms, routing, sight
from .plan import ExpertTiles, Tiles


@dataclass(slots=True, eq=False)
class Quantised:
    """Rows in FP8: values float8_e4m3fn (rows, n), scales float32 (rows,)."""

    values: Tensor
    scales: Tensor


@dataclass(slots=True, eq=False)
class Order:
    """Pairs sorted by expert, int32; see routing.py.

    Attributes:
        pairs: (blocks * block,), the pair of each place. owners: (blocks,). ends: (experts,).
    """

    pairs: Tensor
    owners: Tensor
    ends: Tensor


def described(x: Tensor, block: list[int]) -> TensorDescriptor:
    """x as the card's copy engine loads it, a block at a time; zeros where a block reaches beyond it."""
    return TensorDescriptor(x, list(x.shape), list(x.stride()), block)


@dataclass(slots=True, eq=False)
class Visits:
    """Which keys each block of rows visits, for all layers of a kind; see sight.py.

    Attributes:
        counts: int32 (blocks,). sources: int32 (blocks, visits, keys), rows of the store.
        views: int64 (blocks, visits, rows), what a row sees of a visit's keys, a bit each.
    """

    counts: Tensor
    sources: Tensor
    views: Tensor


@dataclass(slots=True, eq=False)
class FusedSteps(Steps):
    """See `Steps`. Rows from `count` on choose no experts."""

    tiles: Tiles = field(default_factory=Tiles)
    frequencies: dict[LayerKind, Tensor] = field(default_factory=dict)
    visits: dict[LayerKind, Visits] = field(default_factory=dict)
    totals: Tensor = field(default_factory=lambda: torch.zeros(0))
    descriptors: dict[tuple[int, ...], TensorDescriptor] = field(default_factory=dict)
    side: Any = None
    overlaps: bool = False

    def begin(self, config: Config, batch: Batch) -> None:
        self.epsilon = config.epsilon
        device, rows = batch.tokens.device, len(batch.tokens)
        self.overlaps = self.options.overlap != "none" and device.type == "cuda" and rows <= self.options.graph_rows
        if self.overlaps and self.side is None:
            self.side = torch.cuda.Stream(device)
        for kind in config.ropes:
            if kind not in self.frequencies:
                self.frequencies[kind] = inverse_frequencies(config, kind, device)
            self.look(kind, batch.sight, batch.key_rows)
        if not len(self.totals):
            self.totals = torch.zeros(config.experts, dtype=torch.int32, device=device)

    def look(self, kind: LayerKind, sights: Sight, key_rows: Tensor) -> None:
        if self.options.attention != "triton":
            Steps.look(self, kind, sights, key_rows)
            return
        rows, keys, device = len(sights.nodes), len(key_rows), key_rows.device
        t = self.tiles.attention(kind, rows)
        blocks, key_blocks = triton.cdiv(rows, t.rows), triton.cdiv(keys, t.keys)
        counts = torch.empty(blocks, dtype=torch.int32, device=device)
        sources = torch.empty((blocks, key_blocks, t.keys), dtype=torch.int32, device=device)
        views = torch.empty((blocks, key_blocks, t.rows), dtype=torch.int64, device=device)
        sight.visits_kernel[(blocks,)](
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
            span=min(max(1, 4096 // (t.rows * t.keys)), triton.next_power_of_2(key_blocks)),
            sliding=kind == "sliding",
        )
        self.visits[kind] = Visits(counts, sources, views)

    def norm(self, x: Tensor, weight: Tensor | None) -> Tensor:
        if weight is None:
            # Only a canvas row's embedding is normed without a weight, once a pass.
            return Steps.norm(self, x, weight)
        return self._normed(x, weight, quantised=False)

    def normed_for(self, x: Tensor, weight: Tensor, following: Linear) -> Any:
        return self._normed(x, weight, self._quantises(following))

    def linear(self, x: Any, weight: Linear) -> Tensor:
        if not self._quantises(weight):
            return weight(x)
        q = x if isinstance(x, Quantised) else self._quantise(x)
        return torch._scaled_mm(
            q.values,
            weight.weight.t(),
            scale_a=q.scales[:, None],
            scale_b=weight.scale[None, :],
            out_dtype=torch.bfloat16,
            use_fast_accum=True,
        )

    def dense(self, x: Any, layer: Layer) -> Tensor:
        """With `Options.overlap` on a stream of its own, until `_join`.

        Tensors that the two streams share live until then or longer, so their memory is not given away too early.
        """
        if not self.overlaps:
            return Steps.dense(self, x, layer)
        self.side.wait_stream(torch.cuda.current_stream(self.side.device))
        with torch.cuda.stream(self.side):
            return Steps.dense(self, x, layer)

    def gated(self, x: Tensor, following: Linear) -> Any:
        columns, quantised = x.shape[-1] // 2, self._quantises(following)
        out, scales = self._rows(x, columns, quantised)
        norms.gated_kernel[(len(x),)](
            x, out, scales, columns, triton.next_power_of_2(columns), quantised, **self._chain(x), num_warps=8
        )
        return Quantised(out, scales) if quantised else out

    def query_key_value(self, qkv: Tensor, layer: Layer, store: KeyValueStore, index: int, batch: Batch) -> Tensor:
        shape = layer.shape
        own_values = shape.kind == "sliding"
        count = qkv.shape[-1] // shape.head_dim - shape.kv_heads * (2 if own_values else 1)
        query = torch.empty((len(qkv), count, shape.head_dim), dtype=qkv.dtype, device=qkv.device)
        heads.heads_kernel[(len(qkv),)](
            qkv,
            layer.query_norm,
            layer.key_norm,
            self.frequencies[shape.kind],
            batch.positions,
            batch.rows,
            query,
            store.keys[shape.kind],
            store.values[shape.kind],
            store.offset(index),
            store.scratch,
            self.epsilon,
            heads=count,
            kv_heads=shape.kv_heads,
            width=triton.next_power_of_2(count),
            kv_width=triton.next_power_of_2(shape.kv_heads),
            half=shape.head_dim // 2,
            own_values=own_values,
            num_warps=4,
            **self._chain(qkv),
        )
        return query

    def attention(self, query: Tensor, shape: LayerShape, store: KeyValueStore, index: int, batch: Batch) -> Tensor:
        if self.options.attention != "triton":
            return Steps.attention(self, query, shape, store, index, batch)
        rows, count, size = query.shape
        out = torch.empty_like(query)
        t, visits = self.tiles.attention(shape.kind, rows), self.visits[shape.kind]
        sight.attend_kernel[(triton.cdiv(rows, t.rows), shape.kv_heads)](
            query,
            store.keys[shape.kind],
            store.values[shape.kind],
            visits.counts,
            visits.sources,
            visits.views,
            rows,
            visits.sources.shape[1],
            store.offset(index),
            store.scratch,
            out,
            heads=count,
            kv_heads=shape.kv_heads,
            size=size,
            block=t.rows,
            key_block=t.keys,
            num_warps=t.warps,
            num_stages=t.stages,
            **self._chain(query),
        )
        return out.view(rows, count * size)

    def after_attention(self, x: Tensor, attended: Tensor, layer: Layer) -> tuple[Tensor, Any, Any, Tensor]:
        columns = x.shape[-1]
        dense_fp8, experts_fp8 = self._quantises(layer.gate_up), self._quantises(layer.experts_gate_up)
        x_out, router = torch.empty_like(x), torch.empty_like(x)
        dense, dense_scales = self._rows(x, columns, dense_fp8)
        experts, experts_scales = self._rows(x, columns, experts_fp8)
        norms.after_attention_kernel[(len(x),)](
            x,
            attended,
            layer.attention_norm,
            layer.dense_norm,
            layer.experts_norm,
            layer.router_scale,
            x_out,
            dense,
            dense_scales,
            experts,
            experts_scales,
            router,
            self.epsilon,
            columns=columns,
            width=triton.next_power_of_2(columns),
            root=columns**-0.5,
            dense_quantised=dense_fp8,
            experts_quantised=experts_fp8,
            num_warps=8,
            **self._chain(x),
        )
        for_dense = Quantised(dense, dense_scales) if dense_fp8 else dense
        for_experts = Quantised(experts, experts_scales) if experts_fp8 else experts
        return x_out, for_dense, for_experts, router

    def route(self, x: Tensor, layer: Layer, k: int) -> tuple[Tensor, Tensor]:
        logits = layer.router(x)
        rows, experts = logits.shape
        chosen = torch.empty((rows, k), dtype=torch.int32, device=x.device)
        shares = torch.empty((rows, k), dtype=torch.float32, device=x.device)
        width = triton.next_power_of_2(experts)
        routing.choose_kernel[(rows,)](
            logits, layer.expert_scale, self.count, chosen, shares, self.totals, experts, width, k, **self._chain(x), num_warps=1
        )
        return chosen, shares

    def experts(self, x: Any, chosen: Tensor, shares: Tensor, gate_up: Linear, down: Linear) -> Tensor:
        """The k outputs of each row, times their shares: (rows * k, hidden). `after_experts` sums them."""
        if self.options.experts != "triton":
            # The Triton router counts pairs for the kernel that comes next; here nobody takes the count.
            self.totals.zero_()
            return Steps.experts(self, x, chosen, shares, gate_up, down)
        rows, k = chosen.shape
        tiles = self.tiles.experts(rows, k, len(gate_up.weight), isinstance(x, Quantised))
        order = self.sort_pairs(chosen, len(gate_up.weight), tiles.block)
        joined = self._join("routing")
        between: Any = self.gate_up(x, order, k, gate_up, tiles, joined)
        if isinstance(x, Quantised):
            between = self.quantise_places(between, order, tiles.block)
        return self.down(between, order, shares, down, tiles)

    def sort_pairs(self, chosen: Tensor, experts: int, block: int) -> Order:
        """Pairs in blocks of one expert each, from what `route` chose and counted."""
        pairs, device = chosen.numel(), chosen.device
        blocks = min(pairs, triton.cdiv(pairs, block) + experts)
        order = torch.empty(blocks * block, dtype=torch.int32, device=device)
        owners = torch.empty(blocks, dtype=torch.int32, device=device)
        ends = torch.empty(experts, dtype=torch.int32, device=device)
        width = triton.next_power_of_2(experts)
        chain = self._chain(chosen)
        routing.starts_kernel[(1,)](self.totals, ends, owners, blocks, experts, width, block, 64, **chain, num_warps=4)
        routing.place_kernel[(triton.cdiv(pairs, 256),)](chosen, ends, order, pairs, len(order), experts, 256, **chain)
        return Order(order, owners, ends)

    def gate_up(self, x: Any, order: Order, k: int, weight: Linear, t: ExpertTiles, joined: bool = False) -> Tensor:
        """gelu(gate) * up of every place of the order, (places, inner). `joined`: see `_chain`."""
        fp8, scaled = isinstance(x, Quantised), weight.weight.dtype == FP8
        values, scales = (x.values, x.scales) if isinstance(x, Quantised) else (x, x)
        inner, device = weight.outputs // 2, values.device
        # In the rows' own width: an FP8 model computes in bf16.
        out = torch.empty((len(order.pairs), inner), dtype=torch.bfloat16 if fp8 else values.dtype, device=device)
        tail = min(t.gated, max(16, triton.next_power_of_2(inner % t.gated or t.gated)))
        stack: Any = weight.weight
        stack_tail = stack
        if t.tma:
            parts = 2 if t.merge else 1
            stack, stack_tail = (self._described(weight.weight, 2, [1, parts, n, t.depth]) for n in (t.gated, tail))
        grouped.gate_up_kernel[(len(order.owners) * triton.cdiv(inner, t.gated),)](
            values,
            scales,
            stack,
            stack_tail,
            weight.scale if scaled else scales,
            order.pairs,
            order.owners,
            order.ends,
            out,
            hidden=weight.inputs,
            inner=inner,
            k=k,
            block=t.block,
            gated=t.gated,
            tail=tail,
            depth=t.depth,
            scaled=scaled,
            fp8=fp8,
            widen=t.widen,
            swap=t.swap,
            halve=t.halve,
            group=t.group,
            tma=t.tma,
            merge=t.merge,
            ahead=0 if joined else self._ahead(values, len(values), t.tma),
            num_warps=t.warps,
            num_stages=t.stages,
            **self._chain(values, joined),
        )
        return out

    def quantise_places(self, x: Tensor, order: Order, block: int) -> Quantised:
        """Every place's values in FP8, with a scale each."""
        out, scales = self._rows(x, x.shape[1], True)
        width = triton.next_power_of_2(x.shape[1])
        norms.quantise_places_kernel[(len(x) // 4,)](
            x, out, scales, order.owners, x.shape[1], width, block, 4, **self._chain(x), num_warps=4
        )
        return Quantised(out, scales)

    def down(self, x: Any, order: Order, shares: Tensor, weight: Linear, t: ExpertTiles) -> Tensor:
        """Each pair's output times its share, (pairs, hidden), where the pair belongs."""
        fp8, scaled = isinstance(x, Quantised), weight.weight.dtype == FP8
        values, scales = (x.values, x.scales) if isinstance(x, Quantised) else (x, x)
        hidden = weight.outputs
        dtype = torch.bfloat16 if fp8 else values.dtype
        out = torch.empty((shares.numel(), hidden), dtype=dtype, device=values.device)
        rows: Any = described(values, [t.block, t.down_depth]) if t.down_tma else values
        rows_half: Any = described(values, [t.block // 2, t.down_depth]) if t.down_tma and t.halve else rows
        grouped.down_kernel[(len(order.owners) * triton.cdiv(hidden, t.wide),)](
            rows,
            rows_half,
            scales,
            self._described(weight.weight, 1, [1, 1, t.wide, t.down_depth]) if t.down_tma else weight.weight,
            weight.scale if scaled else scales,
            order.pairs,
            order.owners,
            order.ends,
            shares,
            out,
            hidden=hidden,
            inner=weight.inputs,
            block=t.block,
            wide=t.wide,
            depth=t.down_depth,
            scaled=scaled,
            fp8=fp8,
            widen=t.down_widen,
            swap=t.down_swap,
            halve=t.halve,
            group=t.down_group,
            tma=t.down_tma,
            ahead=self._ahead(values, len(shares), t.down_tma),
            num_warps=t.down_warps,
            num_stages=t.down_stages,
            **self._chain(values),
        )
        return out

    def after_experts(
        self, x: Tensor, dense: Tensor, mixed: Tensor, layer: Layer, batch: Batch, following: Layer | None
    ) -> tuple[Tensor, Any]:
        joined = self._join("experts")
        columns = x.shape[-1]
        quantised = following is not None and self._quantises(following.qkv)
        x_out = torch.empty_like(x)
        h, scales = self._rows(x, columns, quantised)
        norms.after_experts_kernel[(len(x),)](
            x,
            dense,
            mixed,
            layer.after_dense_norm,
            layer.after_experts_norm,
            layer.output_norm,
            layer.output_norm if following is None else following.input_norm,
            batch.canvas,
            layer.prompt_scalar,
            layer.canvas_scalar,
            x_out,
            h,
            scales,
            self.count,
            self.epsilon,
            columns=columns,
            width=triton.next_power_of_2(columns),
            k=len(mixed) // len(x),
            last=following is None,
            quantised=quantised,
            num_warps=8,
            **self._chain(x, joined),
        )
        return x_out, Quantised(h, scales) if quantised else h

    def _join(self, overlap: str) -> bool:
        """Wait for the stream of its own here, if this is where this overlap ends, and say so."""
        if not (self.overlaps and self.options.overlap == overlap):
            return False
        torch.cuda.current_stream(self.side.device).wait_stream(self.side)
        return True

    def _chain(self, x: Tensor, joined: bool = False) -> dict[str, Any]:
        """How kernels are launched; see chain.py. One that has just `joined` two streams waits for both before it starts."""
        return {"chained": True, "launch_pdl": True} if self.options.chained and x.is_cuda and not joined else {"chained": False}

    def _ahead(self, x: Tensor, rows: int, tma: bool) -> int:
        """How many programs of a product fetch weights before they wait. Larger passes are not held up by memory."""
        small = rows <= self.options.graph_rows
        return self.options.ahead if self.options.chained and x.is_cuda and small and not tma else 0

    def _described(self, stack: Tensor, parts: int, block: list[int]) -> TensorDescriptor:
        """Experts' weights as (experts, parts, outputs, inputs), loaded in blocks; made once."""
        key = stack.data_ptr(), *block
        if key not in self.descriptors:
            self.descriptors[key] = described(stack.view(len(stack), parts, -1, stack.shape[-1]), block)
        return self.descriptors[key]

    def _quantises(self, weight: Linear) -> bool:
        return weight.weight.dtype == FP8 and self.options.activations == "fp8"

    def _rows(self, x: Tensor, columns: int, quantised: bool) -> tuple[Tensor, Tensor]:
        """Room for rows, in FP8 with scales or in x's dtype."""
        out = torch.empty((len(x), columns), dtype=FP8 if quantised else x.dtype, device=x.device)
        return out, torch.empty(len(x) if quantised else 1, dtype=torch.float32, device=x.device)

    def _quantise(self, x: Tensor) -> Quantised:
        columns = x.shape[-1]
        out, scales = self._rows(x, columns, True)
        width = triton.next_power_of_2(columns)
        norms.quantise_kernel[(len(x),)](x, out, scales, columns, width, **self._chain(x), num_warps=8)
        return Quantised(out, scales)

    def _normed(self, x: Tensor, weight: Tensor, quantised: bool) -> Any:
        columns = x.shape[-1]
        out, scales = self._rows(x, columns, quantised)
        width = triton.next_power_of_2(columns)
        chain = self._chain(x)
        norms.norm_kernel[(len(x),)](x, weight, out, scales, self.epsilon, columns, width, quantised, **chain, num_warps=8)
        return Quantised(out, scales) if quantised else out
