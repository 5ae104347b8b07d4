"""Which experts rows choose, and how the pairs are sorted by expert, in memory that is poisoned and guarded."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from .fused import DEVICE, EXPERTS, K, Router, begin_pass, fused_steps, logits_of, needs_triton
from .guarded import guarded_memory

pytestmark = needs_triton


def agree_with_choices(order: Any, chosen: torch.Tensor, block: int) -> None:
    """Every pair stands once, in its expert's run; runs take blocks of their own, in the experts' order."""
    owners, limits, start = [], [], 0
    for expert in range(EXPERTS):
        pairs = (chosen.flatten() == expert).nonzero()[:, 0]
        blocks = -(-len(pairs) // block)
        owners += [expert] * blocks
        limits += [start + len(pairs)] * blocks
        assert torch.equal(order.pairs[start : start + len(pairs)].sort().values.long(), pairs)
        start += blocks * block
    rest = len(order.owners) - len(owners)
    assert order.owners.tolist() == owners + [-1] * rest
    assert order.limits.tolist() == limits + [0] * rest
    assert len(order.pairs) == len(order.owners) * block


@pytest.mark.parametrize(("rows", "real"), [(1, 1), (3, 2), (7, 7), (9, 9), (37, 34), (37, 99)])
def test_many_rows_choose_four_to_a_program(rows: int, real: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one to a program; a count beyond the rows there are counts nobody more."""
    from oneread.engines.onepass.kernels import steps as module

    torch.manual_seed(rows)
    layer: Any = Router(torch.rand(EXPERTS, device=DEVICE))
    logits = logits_of("spread", rows)
    found = []
    for routed in (512, 0):
        monkeypatch.setattr(module, "ROUTED", routed)
        steps = fused_steps(real)
        with guarded_memory():
            chosen, shares = steps.route(logits, layer, K)
        found.append((chosen, shares, steps.totals[0], steps.ranks.sum(0).sum()))
    for one, four in zip(*found, strict=True):
        torch.testing.assert_close(four, one)
    assert int(found[0][2].sum()) == min(rows, real) * K


@pytest.mark.parametrize("case", ["spread", "crowded", "lonely", "equal"])
@pytest.mark.parametrize(("rows", "real", "block"), [(1, 1, 16), (7, 0, 16), (37, 35, 16), (130, 130, 64), (130, 129, 128)])
def test_every_pair_stands_once_among_those_of_its_expert(case: str, rows: int, real: int, block: int) -> None:
    from oneread.engines.onepass.kernels.experts import sort_pairs

    torch.manual_seed(rows)
    layer: Any = Router(torch.ones(EXPERTS, device=DEVICE))
    steps = fused_steps(real)
    begin_pass(steps)
    with guarded_memory():
        for turn in range(2):
            chosen, _ = steps.route(logits_of(case, rows), layer, K)
            agree_with_choices(sort_pairs(chosen, steps.ranks, steps.totals[turn], block), chosen, block)
    found = chosen[:real].flatten().long()
    assert torch.equal(steps.totals[1].long(), found.bincount(minlength=EXPERTS))
    for expert in found.unique():
        ranks = steps.ranks[chosen == expert]
        assert torch.equal(ranks.sort().values.long(), torch.arange(len(ranks), device=DEVICE)), "each rank once"


@pytest.mark.parametrize(("rows", "block"), [(150, 1), (1200, 16), (1200, 128)])
def test_pairs_and_blocks_of_many_programs(rows: int, block: int) -> None:
    """Blocks of one pair make far more of them than programs that place pairs; large ones far fewer."""
    from oneread.engines.onepass.kernels.experts import sort_pairs

    torch.manual_seed(rows)
    chosen = torch.rand(rows, EXPERTS, device=DEVICE).square().topk(K).indices.int()
    chosen[torch.rand(rows, device=DEVICE) < 0.1] = -1
    chosen[chosen == 5] = 6
    ranks = torch.zeros_like(chosen)
    for expert in range(EXPERTS):
        mine = chosen == expert
        ranks[mine] = torch.randperm(int(mine.sum()), device=DEVICE).int()
    totals = chosen[chosen >= 0].long().bincount(minlength=EXPERTS).int()
    with guarded_memory():
        order = sort_pairs(chosen, ranks, totals, block)
    agree_with_choices(order, chosen, block)
