"""The model's steps on CUDA: `diffusion_gemma.Steps` with fused kernels. Nothing in a pass waits for the host."""

# mypy: disable-error-code="no-untyped-call, no-any-return, index, unused-ignore, import-not-found, import-untyped"
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
import triton
from torch import Tensor

from ..config import Config
from ..diffusion_gemma import Batch, Layer, Steps, Weights
from ..head import piece_width, pieces
from ..linear import Linear
from . import norms, routing, vocabulary
from .attention import AttentionSteps
from .experts import Products, Quantised, quantise_places, room, sort_pairs
from .packed import LIFT

SUMMED = 8192
"""Logits of a slot that one program sums."""
ROUTED, PART = 512, 512
"""Up to so many rows the router's product is made in parts of so many inputs: as one it leaves most of a card without work."""
CHOOSING = 4
"""Rows above that which one program chooses experts for."""


@dataclass(slots=True, eq=False)
class FusedSteps(AttentionSteps):
    """See `Steps`. Rows from `count` on choose no experts.

    Attributes:
        totals: int32 (layers, experts), how many pairs chose each expert in a layer of this pass; zero before. routed: the layers
            of this pass that have chosen. ranks: int32 (rows, k), the last one's; see routing.py.
    """

    products: Products = field(default_factory=Products)
    totals: Tensor = field(default_factory=lambda: torch.zeros(0))
    routed: int = 0
    ranks: Tensor = field(default_factory=lambda: torch.zeros(0))
    side: Any = None
    overlaps: bool = False

    def begin(self, config: Config, batch: Batch) -> None:
        AttentionSteps.begin(self, config, batch)
        device = batch.tokens.device
        self.overlaps = self.options.overlap != "none" and device.type == "cuda" and self.rows <= self.options.overlap_rows
        if self.overlaps and self.side is None:
            self.side = torch.cuda.Stream(device)
        self.totals = torch.zeros((len(config.layers), config.experts), dtype=torch.int32, device=device)
        self.routed = 0

    def embed(self, weights: Weights, batch: Batch) -> Tensor:
        if batch.image_rows is not None or batch.soft is not None:
            return Steps.embed(self, weights, batch)
        rows, columns, scale = len(batch.tokens), weights.embedding.shape[1], weights.embedding_scale
        out = torch.empty((rows, columns), dtype=weights.dtype, device=weights.device)
        width = triton.next_power_of_2(columns)
        vocabulary.embed_kernel[(rows,)](
            batch.tokens, batch.canvas, weights.embedding, out, scale, self.epsilon, columns, width, num_warps=8
        )
        return out

    def norm(self, x: Tensor, weight: Tensor | None) -> Tensor:
        if weight is None:
            # Only a canvas row's embedding is normed without a weight, beside images or on a later step.
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
        out, scales = room(x, columns, quantised)
        norms.gated_kernel[(len(x),)](x, out, scales, columns, *norms.parts(columns), quantised, num_warps=8)
        return Quantised(out, scales) if quantised else out

    def after_attention(self, x: Tensor, attended: Tensor, layer: Layer) -> tuple[Tensor, Any, Any, Tensor]:
        columns = x.shape[-1]
        width, rest = norms.parts(columns)
        dense_fp8, experts_fp8 = self._quantises(layer.gate_up), self._quantises(layer.experts_gate_up)
        x_out, router = torch.empty_like(x), torch.empty_like(x)
        dense, dense_scales = room(x, columns, dense_fp8)
        experts, experts_scales = room(x, columns, experts_fp8)
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
            width=width,
            rest=rest,
            root=columns**-0.5,
            lift=LIFT if self.options.experts == "triton" and self.form_of(layer.experts_gate_up).high is not None else 1.0,
            dense_quantised=dense_fp8,
            experts_quantised=experts_fp8,
            num_warps=2 if dense_fp8 or experts_fp8 else 4,
        )
        for_dense = Quantised(dense, dense_scales) if dense_fp8 else dense
        for_experts = Quantised(experts, experts_scales) if experts_fp8 else experts
        return x_out, for_dense, for_experts, router

    def router_logits(self, x: Tensor, layer: Layer) -> Tensor:
        """(rows, experts); of few rows float32 (parts, rows, experts), parts of sums that `route` adds up."""
        rows, columns = x.shape
        weight = layer.router.weight
        if rows > ROUTED or columns <= PART or weight.dtype != x.dtype:
            return layer.router(x)
        parts = triton.cdiv(columns, PART)
        out = torch.empty((parts, rows, len(weight)), dtype=torch.float32, device=x.device)
        routing.logits_kernel[(triton.cdiv(rows, 32), parts)](
            x, weight, out, rows, columns, len(weight), max(64, triton.next_power_of_2(len(weight))), 32, PART, 64, num_warps=4
        )
        return out

    def route(self, logits: Tensor, layer: Layer, k: int) -> tuple[Tensor, Tensor]:
        parts = len(logits) if logits.ndim == 3 else 1
        (rows, experts), device = logits.shape[-2:], logits.device
        chosen = torch.empty((rows, k), dtype=torch.int32, device=device)
        shares = torch.empty((rows, k), dtype=torch.float32, device=device)
        self.ranks = torch.empty((rows, k), dtype=torch.int32, device=device)
        totals, self.routed = self.totals[self.routed], self.routed + 1
        width = triton.next_power_of_2(experts)
        lines = 1 if rows <= ROUTED else CHOOSING
        routing.choose_kernel[(triton.cdiv(rows, lines),)](
            logits,
            layer.expert_scale,
            self.count,
            chosen,
            shares,
            self.ranks,
            totals,
            rows,
            experts,
            width,
            k,
            parts=parts,
            slots=triton.next_power_of_2(parts),
            lines=lines,
            num_warps=1 if lines == 1 else 2,
        )
        return chosen, shares

    def experts(self, x: Any, chosen: Tensor, shares: Tensor, gate_up: Linear, down: Linear) -> Tensor:
        """The k outputs of each row, times their shares: (rows * k, hidden). `after_experts` sums them."""
        if self.options.experts != "triton":
            self._join("routing")
            return Steps.experts(self, x, chosen, shares, gate_up, down)
        gate_up, down = self.form_of(gate_up), self.form_of(down)
        rows, k = chosen.shape
        form: Literal["wide", "fp8", "packed"] = (
            "fp8" if isinstance(x, Quantised) else "wide" if gate_up.high is None else "packed"
        )
        tiles = self.tiles.experts(rows, k, len(gate_up.weight), form)
        order = sort_pairs(chosen, self.ranks, self.totals[self.routed - 1], tiles.block)
        self._join("routing")
        between: Any = self.products.gate_up(x, order, k, gate_up, tiles)
        if isinstance(x, Quantised):
            between = quantise_places(between, order, tiles.block)
        return self.products.down(between, order, shares, down, tiles)

    def after_experts(
        self, x: Tensor, dense: Tensor, mixed: Tensor, layer: Layer, batch: Batch, following: Layer | None
    ) -> tuple[Tensor, Any]:
        self._join("experts")
        columns = x.shape[-1]
        width, rest = norms.parts(columns)
        quantised = following is not None and self._quantises(following.qkv)
        x_out = torch.empty_like(x)
        h, scales = room(x, columns, quantised)
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
            width=width,
            rest=rest,
            k=len(mixed) // len(x),
            last=following is None,
            quantised=quantised,
            num_warps=8 if quantised else 4,
        )
        return x_out, Quantised(h, scales) if quantised else h

    def read_slots(self, hidden: Tensor, weights: Weights, labels: Tensor, label_slots: Tensor) -> Tensor:
        slots, vocab, columns, softcap = len(hidden), len(weights.embedding), hidden.shape[1], weights.config.softcap
        out = torch.empty(len(labels) + slots, dtype=torch.float32, device=hidden.device)
        if not slots:
            return out
        if len(labels):
            width = triton.next_power_of_2(columns)
            vocabulary.labels_kernel[(len(labels),)](
                hidden, weights.embedding, labels, label_slots, out, softcap, columns, width, num_warps=4
            )
        width = piece_width(slots)
        parts = sum(triton.cdiv(min(width, vocab - start), SUMMED) for start in range(0, vocab, width))
        sums, first = torch.empty((slots, parts), dtype=torch.float32, device=hidden.device), 0
        for piece in pieces(hidden, weights.embedding):
            count = triton.cdiv(piece.shape[1], SUMMED)
            vocabulary.sums_kernel[(slots, count)](
                piece, sums, softcap, piece.shape[1], first, parts, block=SUMMED, span=2048, num_warps=8
            )
            first += count
            del piece  # before the next one is made
        vocabulary.log_sums_kernel[(slots,)](
            sums, out, softcap, len(labels), parts, width=triton.next_power_of_2(parts), num_warps=4
        )
        return out

    def _join(self, overlap: str) -> None:
        """Wait for the stream of its own here, if this is where this overlap ends."""
        if self.overlaps and self.options.overlap == overlap:
            torch.cuda.current_stream(self.side.device).wait_stream(self.side)

    def _quantise(self, x: Tensor) -> Quantised:
        columns = x.shape[-1]
        out, scales = room(x, columns, True)
        norms.quantise_kernel[(len(x),)](x, out, scales, columns, *norms.parts(columns), num_warps=8)
        return Quantised(out, scales)

    def _normed(self, x: Tensor, weight: Tensor, quantised: bool) -> Any:
        columns = x.shape[-1]
        out, scales = room(x, columns, quantised)
        width, rest = norms.parts(columns)
        norms.norm_kernel[(len(x),)](x, weight, out, scales, self.epsilon, columns, width, rest, quantised, num_warps=8)
        return Quantised(out, scales) if quantised else out
