"""The embedded encoder in torch, for training: the same weights, the same numbers as its engine, gradients where asked.

Lower layers that stay as they are run once for each read (`prefix`); the upper ones run in every step (`suffix`), the last
of them for the slots only, as in the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..engines.base import Read
from ..engines.encoder import EncoderConfig, Weights, dense, relative_buckets

HIDDEN = -1e9
"""Added to the attention score of a key that a query must not see."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Reads padded to one length.

    Attributes:
        ids, positions: (b, l) int64; positions include the model's offset.
        bias: (b, heads or 1, l, l) float32.
        slots: (b, s) int64, padded with 0.
        slot_mask: (b, s) bool, the slots that are there.
    """

    ids: Tensor
    positions: Tensor
    bias: Tensor
    slots: Tensor
    slot_mask: Tensor


class Layer(nn.Module):
    """A post-norm layer; see `engines.encoder`."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        d, f = config.width, config.ffn
        self.heads, self.tanh = config.heads, config.gelu == "tanh"
        self.qkv, self.o, self.n1 = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.LayerNorm(d, config.eps)
        self.f1, self.f2, self.n2 = nn.Linear(d, f), nn.Linear(f, d), nn.LayerNorm(d, config.eps)

    def forward(self, queries: Tensor, x: Tensor, bias: Tensor, dropout: float) -> Tensor:
        """queries (b, q, width) attend to x (b, l, width) with bias (b, heads or 1, q, l)."""
        b, n, d = x.shape
        weight_q, weight_kv = self.qkv.weight[:d], self.qkv.weight[d:]
        q = F.linear(queries, weight_q, self.qkv.bias[:d]).view(b, -1, self.heads, d // self.heads).transpose(1, 2)
        kv = F.linear(x, weight_kv, self.qkv.bias[d:]).view(b, n, 2, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, kv[0], kv[1], attn_mask=bias)
        a = a.transpose(1, 2).reshape(b, -1, d)
        y = self.n1(queries + F.dropout(self.o(a), dropout, self.training))
        hidden = F.gelu(self.f1(y), approximate="tanh" if self.tanh else "none")
        out: Tensor = self.n2(y + F.dropout(self.f2(hidden), dropout, self.training))
        return out


class Head(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.zeros(width))


class Encoder(nn.Module):
    """Parameters are named as in `EncoderConfig.shapes`."""

    def __init__(self, config: EncoderConfig, weights: Weights) -> None:
        super().__init__()
        self.config = config
        self.we, self.pe = nn.Embedding(config.vocab, config.width), nn.Embedding(config.positions, config.width)
        self.ln0 = nn.LayerNorm(config.width, config.eps)
        if config.relative_buckets:
            self.rb = nn.Embedding(config.relative_buckets, config.heads)
        self.lay = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.head = Head(config.width)
        self.load_state_dict({name: torch.from_numpy(np.array(dense(weight))) for name, weight in weights.items()})
        self.requires_grad_(False)

    def collate(self, reads: Sequence[Read]) -> Batch:
        """Reads as one batch on the model's device."""
        b, length = len(reads), max(len(r.canvas) for r in reads)
        ids = np.zeros((b, length), np.int64)
        place = np.zeros((b, length), np.int64)
        slots = np.zeros((b, max(len(r.slots) for r in reads)), np.int64)
        mask = np.zeros(slots.shape, bool)
        hidden = np.zeros((b, 1, length, length), np.float32)
        for i, read in enumerate(reads):
            n = len(read.canvas)
            ids[i, :n] = read.canvas
            place[i, :n] = np.arange(n) if read.positions is None else read.positions
            slots[i, : len(read.slots)] = [slot.position for slot in read.slots]
            mask[i, : len(read.slots)] = True
            hidden[i, :, :, n:] = HIDDEN
            if read.segments is not None and read.sees is not None:
                allowed = read.sees[read.segments[:, None], read.segments[None, :]]
                hidden[i, 0, :n, :n] = np.where(allowed, 0, HIDDEN)
        device = self.head.w.device
        bias = torch.from_numpy(hidden).to(device)
        if self.config.relative_buckets:
            distance = place[:, None, :] - place[:, :, None]
            found = relative_buckets(distance, self.config.relative_buckets, self.config.relative_distance)
            bias = bias + self.rb.weight.detach()[torch.from_numpy(found).to(device)].permute(0, 3, 1, 2)
        move: Any = lambda a: torch.from_numpy(a).to(device)  # noqa: E731 - three short uses
        return Batch(move(ids), move(place + self.config.position_offset), bias, move(slots), move(mask))

    @torch.no_grad()
    def prefix(self, batch: Batch, layers: int) -> Tensor:
        """Hidden rows (b, l, width) after the embeddings and this many layers, without gradients or dropout."""
        x = self.ln0(self.we(batch.ids) + self.pe(batch.positions))
        for layer in list(self.lay)[:layers]:
            x = layer(x, x, batch.bias, 0.0)
        rows: Tensor = x
        return rows

    def suffix(self, x: Tensor, batch: Batch, layers: int, dropout: float = 0.0) -> Tensor:
        """Raw scores (b, s) of the slots from what `prefix` gave for the same `layers`; of absent slots -inf."""
        upper = list(self.lay)[layers:]
        for layer in upper[:-1]:
            x = layer(x, x, batch.bias, dropout)
        at = batch.slots[:, :, None]
        queries = x.gather(1, at.expand(-1, -1, x.shape[2]))
        if upper:
            rows = batch.bias.gather(2, batch.slots[:, None, :, None].expand(-1, batch.bias.shape[1], -1, batch.bias.shape[3]))
            queries = upper[-1](queries, x, rows, dropout)
        scores = F.dropout(queries, dropout, self.training) @ self.head.w
        found: Tensor = scores.masked_fill(~batch.slot_mask, -torch.inf)
        return found
