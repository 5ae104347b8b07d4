"""What leaves the device: scores of a slot's labels, and one log-sum-exp over the whole vocabulary for each slot."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

LOGIT_BYTES = 64 * 2**20
"""Most bytes of full-vocabulary logits that exist at once."""

LEAST_WIDTH = 1024
"""Tokens of the vocabulary that are looked at together all the same."""


def read_slots(hidden: Tensor, embedding: Tensor, labels: Tensor, label_slots: Tensor, softcap: float) -> Tensor:
    """Score labels and measure the vocabulary.

    Args:
        hidden: (slots, hidden), after the final norm.
        embedding: (vocab, hidden), also the output matrix.
        labels, label_slots: int (l,), label ids and the slot each belongs to.

    Returns:
        float32 (l + slots,): the softcapped logit of each label, then the log-sum-exp of each slot.
    """
    chosen = (hidden[label_slots].float() * embedding[labels].float()).sum(-1)
    return torch.cat([cap(chosen, softcap), log_sum_exp(hidden, embedding, softcap)])


def cap(logits: Tensor, softcap: float) -> Tensor:
    """``softcap * tanh(logits / softcap)``"""
    return torch.tanh(logits / softcap) * softcap


def log_sum_exp(hidden: Tensor, embedding: Tensor, softcap: float) -> Tensor:
    """Log-sum-exp over the vocabulary of softcapped logits, float32 (slots,), in pieces of `LOGIT_BYTES`.

    No logit exceeds the softcap, so the sum is taken as ``sum exp(logit - softcap)``: it cannot overflow, and its
    smallest term, exp(-2 softcap), is a normal float32 for a softcap of up to 43.
    """
    if not len(hidden):
        return torch.zeros(0, device=hidden.device)
    total = torch.zeros(len(hidden), dtype=torch.float32, device=hidden.device)
    for piece in pieces(hidden, embedding):
        total += (cap(piece, softcap) - softcap).exp().sum(-1)
        del piece  # before the next one is made
    return total.log() + softcap


def piece_width(slots: int) -> int:
    """Tokens of one of `pieces`, `LEAST_WIDTH` or more: whole lines of memory, so that a slot's logits begin with one."""
    return max(LEAST_WIDTH, LOGIT_BYTES // (4 * slots) // 128 * 128)


def pieces(hidden: Tensor, embedding: Tensor) -> Iterator[Tensor]:
    """Logits of neighbouring tokens, float32 (slots, tokens), `LOGIT_BYTES` at a time."""
    width = piece_width(len(hidden))
    for start in range(0, len(embedding), width):
        yield logits(hidden, embedding[start : start + width])


def logits(hidden: Tensor, embedding: Tensor) -> Tensor:
    """(slots, hidden), (vocab, hidden) -> float32 (slots, vocab), accumulated and returned in float32."""
    if hidden.is_cuda and hidden.dtype != torch.float32:
        return torch.mm(hidden, embedding.t(), out_dtype=torch.float32)
    return (hidden @ embedding.t()).float()
