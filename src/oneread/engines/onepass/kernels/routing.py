"""Each row's experts, and the (row, expert) pairs sorted into blocks of one expert each. All on the device, no sync.

A pair is numbered ``row * k + j``. `order` lists pairs expert by expert, each expert's run in blocks of its own; `owners`
names the expert of each block, or -1 behind the last; `ends` says where in `order` each expert's last pair stands, plus one.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def choose_kernel(
    logits,
    expert_scale,
    count,
    chosen,
    shares,
    totals,
    experts: tl.constexpr,
    width: tl.constexpr,
    k: tl.constexpr,
):
    """Softmax over all experts, the k largest (the lowest index first where equal), renormalised, times each one's scale.

    Rows from `count` on are padding: they choose nobody, -1.
    """
    row = tl.program_id(0)
    at = tl.arange(0, width)
    p = tl.load(logits + row * experts + at, mask=at < experts, other=float("-inf")).to(tl.float32)
    p = tl.exp(p - tl.max(p, 0))
    p = p / tl.sum(p, 0)
    p = tl.where(p == p, p, 0.0)  # a row that is not a number chooses someone all the same, never memory out of bounds
    real = row < tl.load(count)
    slot = tl.arange(0, k)
    best = tl.zeros((k,), tl.int32)
    share = tl.zeros((k,), tl.float32)
    left = tl.where(at < experts, p, -1.0)
    for j in tl.static_range(k):
        top = tl.max(left, 0)
        expert = tl.min(tl.where(left == top, at, width), 0)
        best = tl.where(slot == j, expert, best)
        share = tl.where(slot == j, top, share)
        left = tl.where(at == expert, -1.0, left)
    share = share / tl.sum(share, 0) * tl.load(expert_scale + best).to(tl.float32)
    tl.store(chosen + row * k + slot, tl.where(real, best, -1))
    tl.store(shares + row * k + slot, tl.where(real, share, 0.0))
    tl.atomic_add(totals + best, 1, mask=(slot < k) & real)


@triton.jit(do_not_specialize=["blocks"])
def starts_kernel(
    totals,
    ends,
    owners,
    blocks,
    experts: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
    span: tl.constexpr,
):
    """Where each expert's run begins, written to `ends` for `place_kernel` to move on, and each block's owner. One program.

    Leaves the totals at zero for the next layer.
    """
    at = tl.arange(0, width)
    total = tl.load(totals + at, mask=at < experts, other=0)
    # Several warps may hold a copy of `total`; none may read what another has zeroed.
    tl.debug_barrier()
    own = (total + block - 1) // block
    end = tl.cumsum(own, 0)
    tl.store(ends + at, (end - own) * block, mask=at < experts)
    tl.store(totals + at, tl.zeros((width,), tl.int32), mask=at < experts)
    for base in range(0, blocks, span):
        number = base + tl.arange(0, span)
        owner = tl.sum((end[None, :] <= number[:, None]).to(tl.int32), 1)
        tl.store(owners + number, tl.where(owner < experts, owner, -1), mask=number < blocks)


@triton.jit(do_not_specialize=["pairs", "room"])
def place_kernel(chosen, ends, order, pairs, room, experts: tl.constexpr, span: tl.constexpr):
    """Put each pair into its expert's run. Where inside the run does not matter: every row of a block stands alone.

    Whatever `chosen` and `ends` hold, nothing is written outside the `room` places of `order`.
    """
    pair = tl.program_id(0) * span + tl.arange(0, span)
    expert = tl.load(chosen + pair, mask=pair < pairs, other=-1)
    real = (expert >= 0) & (expert < experts)
    place = tl.atomic_add(ends + tl.where(real, expert, 0), 1, mask=real)
    tl.store(order + place, pair, mask=real & (place >= 0) & (place < room))
