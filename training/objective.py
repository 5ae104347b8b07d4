"""The loss: the log score (a proper scoring rule) of each question's softmax against its target."""

from __future__ import annotations

import torch
from torch import Tensor


def log_probabilities(scores: Tensor, row: Tensor, rows: int) -> Tensor:
    """log softmax of the slots of each row; `row` (m,) says whose slot each of the (m,) scores is."""
    top = torch.full((rows,), -torch.inf, device=scores.device).scatter_reduce(0, row, scores.detach(), "amax")
    shifted = scores - top[row]
    total = torch.zeros(rows, device=scores.device).index_add(0, row, shifted.exp())
    return shifted - total.log()[row]


def loss(scores: Tensor, row: Tensor, rows: int, target: Tensor) -> Tensor:
    """Mean over rows of the cross-entropy with the target distribution, in nats."""
    return -(target * log_probabilities(scores, row, rows)).sum() / rows
