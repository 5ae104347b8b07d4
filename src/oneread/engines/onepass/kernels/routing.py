"""Each row's experts, and the (row, expert) pairs sorted into blocks of one expert each. All on the device, no sync.

A pair is numbered ``row * k + j``. While rows choose, each expert's pairs are counted in `totals`, and what the count was
before a pair is its rank in its expert's run. `order` lists pairs expert by expert, each expert's run in blocks of its own;
`owners` names the expert of each block, or -1 behind the last; `limits` says where in `order` that expert's last pair stands,
plus one.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, untyped-decorator, import-not-found, import-untyped"
from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["rows"])
def logits_kernel(
    x,
    weight,
    out,
    rows,
    columns: tl.constexpr,
    experts: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
    span: tl.constexpr,
    depth: tl.constexpr,
):
    """x weight^T of `block` rows over a part of `span` inputs, float32 (parts, rows, experts)."""
    part = tl.program_id(1)
    row, expert, deep = tl.program_id(0) * block + tl.arange(0, block), tl.arange(0, width), tl.arange(0, depth)
    at_rows = tl.minimum(row, rows - 1).to(tl.int64)[:, None] * columns
    at_experts = tl.minimum(expert, experts - 1)[:, None] * columns
    acc = tl.zeros((width, block), tl.float32)
    for step in range(0, span, depth):
        at = part * span + step + deep
        inside = (at < columns)[None, :]
        w = tl.load(weight + at_experts + at[None, :], mask=inside, other=0.0)
        values = tl.load(x + at_rows + at[None, :], mask=inside, other=0.0)
        acc = tl.dot(w, tl.trans(values), acc, input_precision="ieee")
    target = out + (part.to(tl.int64) * rows + row)[:, None] * experts + expert[None, :]
    tl.store(target, tl.trans(acc), mask=(row < rows)[:, None] & (expert < experts)[None, :])


@triton.jit(do_not_specialize=["rows"])
def choose_kernel(
    logits,
    expert_scale,
    count,
    chosen,
    shares,
    ranks,
    totals,
    rows,
    experts: tl.constexpr,
    width: tl.constexpr,
    k: tl.constexpr,
    parts: tl.constexpr,
    slots: tl.constexpr,
    lines: tl.constexpr,
):
    """Softmax over all experts, the k largest (the lowest index first where equal), renormalised, times each one's scale.

    A program takes `lines` rows; one where logits come in `parts`.
    Counts each pair in its expert's total; its rank is how many were counted before it. Rows from `count` on are padding: they
    choose nobody, -1.
    """
    row = tl.program_id(0) * lines + tl.arange(0, lines)
    here = (row < rows)[:, None]
    real = here & (row < tl.load(count))[:, None]
    at = tl.arange(0, width)
    known = (at < experts)[None, :]
    if parts > 1:
        tl.static_assert(lines == 1)
        part = tl.arange(0, slots)
        first = logits + (part * rows + tl.program_id(0))[:, None] * experts
        every = tl.load(first + at[None, :], mask=(part < parts)[:, None] & known, other=0.0)
        # Rounded as one product would have been.
        p = tl.sum(every, 0)[None, :].to(expert_scale.dtype.element_ty).to(tl.float32)
    else:
        p = tl.load(logits + row[:, None] * experts + at[None, :], mask=here & known, other=0.0).to(tl.float32)
    p = tl.where(known, p, float("-inf"))
    p = tl.exp(p - tl.max(p, 1)[:, None])
    p = p / tl.sum(p, 1)[:, None]
    # A row that is not a number chooses someone all the same, never memory out of bounds. So does padding, until it is left out
    # below: asked here already, the count is loaded beside the logits and not behind the choice.
    p = tl.where((p == p) & real, p, 0.0)
    slot = tl.arange(0, k)[None, :]
    best = tl.zeros((lines, k), tl.int32)
    share = tl.zeros((lines, k), tl.float32)
    left = tl.where(known, p, -1.0)
    for j in tl.static_range(k):
        top = tl.max(left, 1)[:, None]
        expert = tl.min(tl.where(left == top, at[None, :], width), 1)[:, None]
        best = tl.where(slot == j, expert, best)
        share = tl.where(slot == j, top, share)
        left = tl.where(at[None, :] == expert, -1.0, left)
    scale = tl.load(expert_scale + best).to(tl.float32)
    rank = tl.atomic_add(totals + best, 1, mask=(slot < k) & real, sem="relaxed")
    share = share / tl.sum(share, 1)[:, None] * scale
    place = row[:, None] * k + slot
    tl.store(chosen + place, tl.where(real, best, -1), mask=here)
    tl.store(shares + place, tl.where(real, share, 0.0), mask=here)
    tl.store(ranks + place, tl.where(real, rank, 0), mask=here)


@triton.jit(do_not_specialize=["pairs", "blocks"])
def place_kernel(
    chosen,
    ranks,
    totals,
    order,
    owners,
    limits,
    pairs,
    blocks,
    experts: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
    span: tl.constexpr,
    numbers: tl.constexpr,
):
    """Put `span` pairs into their experts' runs, and name the owners and limits of `numbers` blocks (-1 and 0 of nobody's).

    Every program finds by itself where each expert's run begins. Whatever `chosen`, `ranks` and `totals` hold, nothing is
    written outside the `blocks` blocks.
    """
    pair = tl.program_id(0) * span + tl.arange(0, span)
    expert = tl.load(chosen + pair, mask=pair < pairs, other=-1)
    rank = tl.load(ranks + pair, mask=pair < pairs, other=-1)
    at = tl.arange(0, width)
    total = tl.load(totals + at, mask=at < experts, other=0)
    own = (total + block - 1) // block
    behind = tl.cumsum(own, 0)
    begin = (behind - own) * block
    real = (expert >= 0) & (expert < experts)
    place = tl.gather(begin, tl.where(real, expert, 0), 0) + rank
    tl.store(order + place, pair, mask=real & (place >= 0) & (place < blocks * block))
    number = tl.program_id(0) * numbers + tl.arange(0, numbers)
    owner = tl.sum((behind[None, :] <= number[:, None]).to(tl.int32), 1)
    owned = owner < experts
    limit = tl.gather(tl.minimum(begin + total, blocks * block), tl.where(owned, owner, 0), 0)
    tl.store(owners + number, tl.where(owned, owner, -1), mask=number < blocks)
    tl.store(limits + number, tl.where(owned, limit, 0), mask=number < blocks)
