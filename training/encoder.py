"""The encoder that is trained: any post-norm BERT, with MPNet's relative position bias where the base has one.

Tensor names are those of the shipped format: ``we pe ln0 rb lay.I.{qkv,o,n1,f1,f2,n2} head.w``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes of a post-norm encoder.

    Attributes:
        position_offset: row of `pe` that stands for position 0 (2 for MPNet, 0 for BERT).
        buckets: T5-style relative position buckets (bidirectional, maximum distance 128); 0 when the base has none.
    """

    vocab: int
    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    position_offset: int = 0
    eps: float = 1e-12
    buckets: int = 0


class Linear(nn.Linear):
    """Float32 master weights, used in the dtype of the input."""

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


class Layer(nn.Module):
    def __init__(self, c: EncoderConfig) -> None:
        super().__init__()
        self.heads = c.heads
        self.qkv, self.o, self.n1 = Linear(c.width, 3 * c.width), Linear(c.width, c.width), nn.LayerNorm(c.width, c.eps)
        self.f1, self.f2, self.n2 = Linear(c.width, c.inner), Linear(c.inner, c.width), nn.LayerNorm(c.width, c.eps)

    def forward(self, x: Tensor, bias: Tensor, dropout: float) -> Tensor:
        """x: (b, l, width) float32; bias: (b, heads or 1, l, l) added to the attention scores, in the dtype of the products."""
        b, n, w = x.shape
        q, k, v = self.qkv(x.to(bias.dtype)).view(b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(b, self.heads, n, n))
        x = self.n1(x + F.dropout(self.o(a.transpose(1, 2).reshape(b, n, w)), dropout, self.training))
        return self.n2(x + F.dropout(self.f2(F.gelu(self.f1(x.to(bias.dtype)))), dropout, self.training))


class Head(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(width) / width**0.5)


class Encoder(nn.Module):
    """Scores every marker of every row.

    Args of a call:
        ids, pos: (b, l) int; pos counts from 0.
        bias: (b, 1, l, l) float: 0 where a token sees another, -inf or very low elsewhere (see `visibility`).
        markers: (m,) int64 into the flattened (b * l) tokens.
    Returns:
        (m,) float32 raw scores.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        c = config
        self.we, self.pe = nn.Embedding(c.vocab, c.width), nn.Embedding(c.positions, c.width)
        self.ln0 = nn.LayerNorm(c.width, c.eps)
        if c.buckets:
            self.rb = nn.Embedding(c.buckets, c.heads)
            self.rb.weight.requires_grad_(False)
        self.lay = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.head = Head(c.width)
        self.dropout = 0.0
        self.compute = torch.float32  # dtype of the products; sums and norms stay in float32
        self.compiled: list[Any] = []

    def embed(self, ids: Tensor, pos: Tensor) -> Tensor:
        """What the first layer reads: (b, l, width) float32."""
        x = self.we(ids) + self.pe(pos + self.config.position_offset)
        return F.dropout(self.ln0(x), self.dropout, self.training)

    def attention_bias(self, pos: Tensor, bias: Tensor) -> Tensor:
        """Who sees whom plus the relative positions, (b, heads or 1, l, l) in the dtype of the products."""
        bias = bias.to(self.compute)
        if self.config.buckets:
            span = int(self.config.positions)
            table = self.rb.weight.to(self.compute)[bucket(torch.arange(-span, span + 1, device=pos.device), self.config.buckets)]
            bias = bias + table[pos[:, None, :] - pos[:, :, None] + span].permute(0, 3, 1, 2)
        return bias.contiguous()

    def hidden(self, ids: Tensor, pos: Tensor, bias: Tensor) -> Tensor:
        """Last hidden states (b, l, width), float32."""
        x, bias = self.embed(ids, pos), self.attention_bias(pos, bias)
        for layer in self.compiled if self.training and self.compiled else self.lay:
            x = layer(x, bias, self.dropout)
        return x

    def forward(self, ids: Tensor, pos: Tensor, bias: Tensor, markers: Tensor) -> Tensor:
        x = self.hidden(ids, pos, bias).flatten(0, 1)[markers]
        return F.dropout(x, self.dropout, self.training) @ self.head.w


def bucket(relative: Tensor, buckets: int, far: int = 128) -> Tensor:
    """T5's bidirectional bucket of each distance (key minus query position), int64."""
    half = buckets // 2
    exact = half // 2
    distance = relative.abs()
    large = exact + (torch.log(distance.clamp(min=1).float() / exact) / math.log(far / exact) * (half - exact)).long()
    return (relative > 0).long() * half + torch.where(distance < exact, distance.long(), large.clamp(max=half - 1))


FRAME, STATE, OPTION = 0, 1, 2
"""Parts of a row; option j is `OPTION + j`; padding is -1. Question q's frame and options are shifted by q * `QUESTION`."""
QUESTION = 1024


def visibility(parts: Tensor, layout: str) -> Tensor:
    """(b, 1, l, l) float bias from the part of each token (b, l): 0 where row i sees column j, else -1e4.

    full: everything sees everything. apart: an option sees its question's frame, the state and itself; frame and state
    see all. blind, state_first: as apart, but the state sees only itself, so that nothing of a question reaches another
    through it.
    """
    q, k = parts[:, :, None], parts[:, None, :]
    real = k >= 0
    if layout == "full":
        sees = real.expand(-1, parts.shape[1], -1)
    else:
        state_k, state_q = k == STATE, q == STATE
        frame_q = (q % QUESTION == FRAME) & (q >= 0)
        same_question = (q // QUESTION == k // QUESTION) & ~state_q
        frame_k = k % QUESTION == FRAME
        sees = real & (state_k | (same_question & (frame_q | frame_k | (q == k))))
        sees = sees | (real & state_q) if layout == "apart" else sees
        sees = sees | (q < 0) & real  # padding rows see something, so that their softmax is finite
    return torch.where(sees, 0.0, -1e4)[:, None]
