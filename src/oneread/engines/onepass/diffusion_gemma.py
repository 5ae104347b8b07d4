"""DiffusionGemma, top to bottom: prompt rows and canvas rows through one loop over the layers.

A row is a token: of a prompt (causal) or of a canvas (sees its whole prompt and its whole canvas). Both kinds go through
the same weights. What differs is which keys a row sees (packing.py), the norm on a canvas row's embedding, and one scalar
a layer. So a prompt and a canvas read over it need one sweep of the weights, not a prefill and then a canvas pass. The last
layer computes only the rows that are read, a few slots of hundreds of rows.

`forward` is the whole model. The `Steps` it calls are written out below in plain torch; kernels/ has faster twins.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import torch
from torch import Tensor

from .attention import Sight, masked_attention
from .config import Config, LayerKind, LayerShape
from .experts import experts_grouped, experts_loop, gated
from .head import read_slots
from .kernels.plan import takes_packed
from .linear import Linear
from .options import Options
from .store import KeyValueStore

Rows: TypeAlias = Any
"""Rows on their way into a matrix: a Tensor; where the kernels keep them in FP8, values and scales."""


@dataclass(slots=True, eq=False)
class Layer:
    """One layer's weights. Norm weights are (hidden,) unless noted.

    Attributes:
        qkv: queries, keys and (sliding layers only) values, stacked.
        query_norm, key_norm: (head_dim,).
        gate_up, down: the dense MLP that runs beside the experts.
        router: (experts, hidden); router_scale: (hidden,); expert_scale: (experts,).
        prompt_scalar, canvas_scalar: (1,), what the layer's output is multiplied by on either kind of row.
    """

    shape: LayerShape
    input_norm: Tensor
    qkv: Linear
    query_norm: Tensor
    key_norm: Tensor
    output: Linear
    attention_norm: Tensor
    dense_norm: Tensor
    gate_up: Linear
    down: Linear
    after_dense_norm: Tensor
    router: Linear
    router_scale: Tensor
    expert_scale: Tensor
    experts_norm: Tensor
    experts_gate_up: Linear
    experts_down: Linear
    after_experts_norm: Tensor
    output_norm: Tensor
    prompt_scalar: Tensor
    canvas_scalar: Tensor


@dataclass(slots=True, eq=False)
class SelfConditioning:
    """Turns the previous denoising step's expected embedding into something added to a canvas row's embedding."""

    norm: Tensor
    gate_up: Linear
    down: Linear


@dataclass(slots=True, eq=False)
class Weights:
    """The whole text model. `embedding` is (vocab, hidden) and also the output matrix. `rounded`: weights of experts that 12 bits
    hold only nearly (packed.py)."""

    config: Config
    embedding: Tensor
    layers: list[Layer]
    norm: Tensor
    self_conditioning: SelfConditioning
    rounded: int = 0

    @property
    def embedding_scale(self) -> float:
        """sqrt(hidden) as the weights' dtype has it. A number of the host, so that a graph can hold it."""
        return torch.tensor(self.config.hidden**0.5, dtype=self.dtype).item()

    @property
    def dtype(self) -> torch.dtype:
        """What activations are computed in."""
        return self.embedding.dtype

    @property
    def device(self) -> torch.device:
        return self.embedding.device


@dataclass(slots=True, eq=False)
class Batch:
    """One pass on the device: q new rows, k keys. See `packing.Pack`.

    Attributes:
        tokens, positions: int32 (q,). canvas: bool (q,).
        rows: int32 (q,), where each new row's key and value go in the store; key_rows: int32 (k,), where all keys are.
        wanted: int32 (w,), the rows whose output is used; the last layer computes no others. wanted_count: int32 (1,), how
            many of them are not padding.
        image_rows, image_values: int64 (i,) and (i, hidden), embeddings that replace those of image placeholders.
        soft: (q, hidden) or None, expected embeddings of the step before (zero on prompt rows); None on a first step.
    """

    tokens: Tensor
    positions: Tensor
    canvas: Tensor
    rows: Tensor
    key_rows: Tensor
    sight: Sight
    wanted: Tensor
    wanted_count: Tensor
    image_rows: Tensor | None = None
    image_values: Tensor | None = None
    soft: Tensor | None = None


def forward(weights: Weights, batch: Batch, store: KeyValueStore, steps: Steps) -> Tensor:
    """Run every layer over the rows; their keys and values go into the store.

    Returns:
        (w, hidden), the wanted rows before the final norm.
    """
    config = weights.config
    steps.packs = takes_packed(len(batch.tokens), config.experts_per_token, config.experts)
    steps.begin(config, batch)
    x = steps.embed(weights, batch)
    h = steps.normed_for(x, weights.layers[0].input_norm, weights.layers[0].qkv)
    for index, layer in enumerate(weights.layers):
        query = steps.query_key_value(steps.linear(h, layer.qkv), layer, store, index, batch)
        if index + 1 == len(weights.layers):
            # Nobody sees more of the other rows than the keys and values they have just left.
            if not len(batch.wanted):
                return x[:0]
            x, query, batch = steps.narrow(x, query, layer.shape.kind, batch)
        attended = steps.attention(query, layer.shape, layer.output, store, index, batch)
        x, for_dense, for_experts, for_router = steps.after_attention(x, steps.linear(attended, layer.output), layer)
        # First, as all that leads to the experts waits for it; the dense MLP may run beside what follows.
        logits = steps.router_logits(for_router, layer)
        dense = steps.dense(for_dense, layer)
        chosen, shares = steps.route(logits, layer, config.experts_per_token)
        mixed = steps.experts(for_experts, chosen, shares, layer.experts_gate_up, layer.experts_down)
        following = weights.layers[index + 1] if index + 1 < len(weights.layers) else None
        x, h = steps.after_experts(x, dense, mixed, layer, batch, following)
    return x


@dataclass(slots=True, eq=False)
class Steps:
    """The model's steps in plain torch: the reference, exact in float32 on any device.

    `count` is int32 (1,), the rows that are not padding, for steps that can leave padding out. `packs`: whether this pass
    multiplies with the 12-bit form of experts that are kept in both.
    """

    options: Options = field(default_factory=Options)
    count: Tensor | None = None
    epsilon: float = 1e-6
    masks: dict[LayerKind, Any] = field(default_factory=dict)
    turns: dict[LayerKind, tuple[Tensor, Tensor]] = field(default_factory=dict)
    packs: bool = False

    def begin(self, config: Config, batch: Batch) -> None:
        """What all layers share: the masks, and the cosines and sines of every row's position."""
        self.epsilon = config.epsilon
        for kind in config.ropes:
            self.look(kind, batch.sight, batch.key_rows)
            angles = batch.positions[:, None].float() * inverse_frequencies(config, kind, batch.positions.device)
            self.turns[kind] = angles.cos()[:, None], angles.sin()[:, None]

    def look(self, kind: LayerKind, sight: Sight, key_rows: Tensor) -> None:
        """Prepare what `attention` needs of the rule in layers of a kind."""
        self.masks[kind] = self.mask(sight, kind)

    def mask(self, sight: Sight, kind: LayerKind) -> Any:
        if self.options.attention == "flex":
            from .flex import block_mask

            return block_mask(sight, kind)
        return sight.mask(kind)

    def narrow(self, x: Tensor, query: Tensor, kind: LayerKind, batch: Batch) -> tuple[Tensor, Tensor, Batch]:
        """From here on only the wanted rows: of x, of the queries, and of the rule for layers of one kind."""
        rows = batch.wanted.long()
        sight = batch.sight.of(rows)
        self.look(kind, sight, batch.key_rows)
        self.count = batch.wanted_count
        return x[rows], query[rows], replace(batch, canvas=batch.canvas[rows], sight=sight)

    def embed(self, weights: Weights, batch: Batch) -> Tensor:
        """Token embeddings times sqrt(hidden). Canvas rows are normed, on later steps with self-conditioning added."""
        x = weights.embedding[batch.tokens.long()] * weights.embedding_scale
        if batch.image_rows is not None and batch.image_values is not None:
            x[batch.image_rows] = batch.image_values.to(x.dtype)
        canvas = x
        if batch.soft is not None:
            part = weights.self_conditioning
            inner = self.gated(self.linear(self.normed_for(batch.soft, part.norm, part.gate_up), part.gate_up), part.down)
            canvas = canvas + self.linear(inner, part.down)
        return torch.where(batch.canvas[:, None], self.norm(canvas, None), x)

    def norm(self, x: Tensor, weight: Tensor | None) -> Tensor:
        """RMS norm over the last dimension, in float32; with a weight or without."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return (wide if weight is None else wide * weight.float()).to(x.dtype)

    def normed_for(self, x: Tensor, weight: Tensor, following: Linear) -> Rows:
        """`norm`, in the form that the matrix which follows takes."""
        return self.norm(x, weight)

    def linear(self, x: Rows, weight: Linear) -> Tensor:
        return weight(x)

    def dense(self, x: Rows, layer: Layer) -> Tensor:
        """The dense MLP that runs beside the experts."""
        return self.linear(self.gated(self.linear(x, layer.gate_up), layer.down), layer.down)

    def gated(self, x: Tensor, following: Linear) -> Rows:
        """gelu of the first half of each row, times the second half."""
        return gated(x)

    def query_key_value(self, qkv: Tensor, layer: Layer, store: KeyValueStore, index: int, batch: Batch) -> Tensor:
        """Split, norm and turn; store keys and values; return queries (q, heads, head_dim).

        A full layer's value is its key as projected, before norm and rotation. Values are normed without a weight.
        """
        shape, kind = layer.shape, layer.shape.kind
        parts = qkv.view(len(qkv), -1, shape.head_dim)
        heads = parts.shape[1] - shape.kv_heads * (2 if kind == "sliding" else 1)
        query, key, value = parts[:, :heads], parts[:, heads : heads + shape.kv_heads], parts[:, -shape.kv_heads :]
        cosine, sine = self.turns[kind]
        at = store.rows(index, batch.rows)
        store.keys[kind][at] = turn(self.norm(key, layer.key_norm), cosine, sine)
        store.values[kind][at] = self.norm(value, None)
        return turn(self.norm(query, layer.query_norm), cosine, sine)

    def attention(
        self, query: Tensor, shape: LayerShape, following: Linear, store: KeyValueStore, index: int, batch: Batch
    ) -> Rows:
        """(q, heads * head_dim), in the form that the matrix which follows takes."""
        at = store.rows(index, batch.key_rows)
        keys, values, mask = store.keys[shape.kind][at], store.values[shape.kind][at], self.masks[shape.kind]
        if self.options.attention == "flex":
            from .flex import flex

            return flex(query, keys, values, mask)
        return masked_attention(query, keys, values, mask)

    def after_attention(self, x: Tensor, attended: Tensor, layer: Layer) -> tuple[Tensor, Rows, Rows, Tensor]:
        """Add attention's output; norm the sum for the dense MLP, for the experts and for the router, which sees it raw."""
        x = x + self.norm(attended, layer.attention_norm)
        for_router = self.norm(x, None) * layer.router_scale * x.shape[-1] ** -0.5
        return x, self.norm(x, layer.dense_norm), self.norm(x, layer.experts_norm), for_router

    def router_logits(self, x: Tensor, layer: Layer) -> Tensor:
        """(q, experts), what `route` takes."""
        return layer.router(x)

    def route(self, logits: Tensor, layer: Layer, k: int) -> tuple[Tensor, Tensor]:
        """The k experts of each row, int64 (q, k), and their shares, float32: renormalised, times each expert's scale."""
        shares, chosen = torch.softmax(logits.float(), dim=-1).topk(k, dim=-1)
        return chosen, shares / shares.sum(-1, keepdim=True) * layer.expert_scale.float()[chosen]

    def experts(self, x: Rows, chosen: Tensor, shares: Tensor, gate_up: Linear, down: Linear) -> Tensor:
        """(q, hidden), or (q * n, hidden) with n parts of each row that `after_experts` sums."""
        run = experts_grouped if self.options.experts == "grouped" else experts_loop
        return run(x, chosen, shares, self.form_of(gate_up), self.form_of(down))

    def form_of(self, experts: Linear) -> Linear:
        """Experts as this pass multiplies them. The rows that it began with decide, in the last layer too."""
        return experts if experts.twin is None or not self.packs else experts.twin

    def after_experts(
        self, x: Tensor, dense: Tensor, mixed: Tensor, layer: Layer, batch: Batch, following: Layer | None
    ) -> tuple[Tensor, Rows]:
        """Add both MLPs' normed sum, scale by the row's kind; also normed for the next layer."""
        both = self.norm(dense, layer.after_dense_norm) + self.norm(mixed, layer.after_experts_norm)
        scalar = torch.where(batch.canvas, layer.canvas_scalar, layer.prompt_scalar)
        x = (x + self.norm(both, layer.output_norm)) * scalar[:, None]
        return x, x if following is None else self.norm(x, following.input_norm)

    def read_slots(self, hidden: Tensor, weights: Weights, labels: Tensor, label_slots: Tensor) -> Tensor:
        """See `head.read_slots`."""
        return read_slots(hidden, weights.embedding, labels, label_slots, weights.config.softcap)


def turn(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotate the two halves of each head against one another. x (q, heads, d); cosine, sine float32 (q, 1, d / 2)."""
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1).to(x.dtype)


def inverse_frequencies(config: Config, kind: LayerKind, device: torch.device) -> Tensor:
    """float32 (head_dim / 2,): angle per position of each pair. A proportional rope leaves the last pairs still."""
    rope, shape = config.ropes[kind], config.shape_of(kind)
    assert shape is not None, "a rope belongs to layers"
    turning = int(rope.share * shape.head_dim // 2)
    exponents = torch.arange(0, 2 * turning, 2, dtype=torch.float32, device=device) / shape.head_dim
    still = torch.zeros(shape.head_dim // 2 - turning, device=device)
    return torch.cat((1.0 / rope.theta**exponents, still))
