"""Each Triton kernel against plain torch, at ragged and odd sizes, in memory that is poisoned and guarded on both sides."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.base import Read
from oneread.engines.onepass.diffusion_gemma import Steps
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.experts import experts_loop
from oneread.engines.onepass.linear import FP8, Linear, quantise_rows

from . import tiny
from .fused import (
    CUDA,
    DEVICE,
    EXPERTS,
    HIDDEN,
    K,
    Router,
    begin_pass,
    engines,
    few_tiles,
    fused_steps,
    logits_of,
    needs_triton,
    padded_pass,
)
from .guarded import guarded_memory

pytestmark = needs_triton
INNER = 64


def stacks(inner: int = INNER) -> tuple[Linear, Linear]:
    shapes = (EXPERTS, 2 * inner, HIDDEN), (EXPERTS, HIDDEN, inner)
    return tuple(Linear(torch.randn(shape, device=DEVICE) * shape[2] ** -0.5) for shape in shapes)  # type: ignore[return-value]


@pytest.mark.parametrize("case", ["spread", "crowded", "lonely", "equal"])
@pytest.mark.parametrize(("rows", "real"), [(1, 1), (7, 0), (37, 35), (64, 64)])
def test_experts_give_what_one_after_another_gives(case: str, rows: int, real: int) -> None:
    torch.manual_seed(rows)
    x, logits, (gate_up, down) = torch.randn(rows, HIDDEN, device=DEVICE), logits_of(case, rows), stacks()
    layer: Any = Router(torch.rand(EXPERTS, device=DEVICE) + 0.5)
    steps = fused_steps(real)
    with guarded_memory():
        for _ in range(2):  # two layers of a pass
            chosen, shares = steps.route(logits, layer, K)
            out = steps.experts(x, chosen, shares, gate_up, down).view(rows, K, HIDDEN)
    want_chosen, want_shares = Steps().route(logits, layer, K)
    if case != "equal":
        assert torch.equal(chosen[:real].sort(-1).values.long(), want_chosen[:real].sort(-1).values)
        want = experts_loop(x, want_chosen, want_shares, gate_up, down)
        torch.testing.assert_close(out[:real].sum(1), want[:real], atol=2e-4, rtol=1e-4)
    assert (chosen[real:] == -1).all()
    assert (shares[real:] == 0).all()
    assert (steps.totals.sum(1) == real * K).all()


def test_each_pass_counts_anew() -> None:
    torch.manual_seed(0)
    x, (gate_up, down) = torch.randn(9, HIDDEN, device=DEVICE), stacks()
    layers = [torch.randn(9, EXPERTS, device=DEVICE) for _ in range(3)]
    router: Any = Router(torch.ones(EXPERTS, device=DEVICE))
    steps, passes = fused_steps(7), []
    steps.totals = torch.zeros(0)
    for _ in range(2):
        begin_pass(steps, 3)
        outs = []
        for turn, logits in enumerate(layers):
            chosen, shares = steps.route(logits, router, K)
            assert steps.totals[turn].sum() == 7 * K, "else the products read pairs that nobody placed"
            outs.append(steps.experts(x, chosen, shares, gate_up, down).view(9, K, HIDDEN)[:7])
        passes.append((steps.totals.clone(), torch.stack(outs)))
    counted = [Steps().route(logits[:7], router, K)[0].flatten().bincount(minlength=EXPERTS) for logits in layers]
    for totals, outs in passes:
        assert torch.equal(totals.long(), torch.stack(counted))
        torch.testing.assert_close(outs, passes[0][1])


BY_COPY_ENGINE = {"tma": True, "down_tma": True}


@pytest.mark.parametrize(
    ("swap", "shape"),
    [
        (False, {}),
        (True, {}),
        (False, {"halve": True}),
        (False, {"group": 3}),
        (False, {"halve": True, "group": 8, **BY_COPY_ENGINE}),
        (True, BY_COPY_ENGINE),
        (False, {"merge": True}),
        (True, {"merge": True}),
        (False, {"merge": True, **BY_COPY_ENGINE}),
        (False, {"merge": True, "halve": True, "join": 16}),
        (False, {"merge": True, "halve": True, "join": 16, "group": 8, **BY_COPY_ENGINE}),
        (True, {"merge": True, "join": 16}),
    ],
)
@pytest.mark.parametrize(("block", "gated", "inner"), [(64, 64, 128), (16, 128, 192), (32, 128, 320)])
def test_other_block_shapes_give_the_same(block: int, gated: int, inner: int, swap: bool, shape: dict[str, Any]) -> None:
    torch.manual_seed(block)
    x, (gate_up, down) = torch.randn(90, HIDDEN, device=DEVICE), stacks(inner)
    layer: Any = Router(torch.ones(EXPERTS, device=DEVICE))
    steps = fused_steps(90, block, gated, swap, shape)
    with guarded_memory():
        chosen, shares = steps.route(logits_of("crowded", 90), layer, K)
        out = steps.experts(x, chosen, shares, gate_up, down).view(90, K, HIDDEN).sum(1)
    torch.testing.assert_close(out, experts_loop(x, chosen, shares, gate_up, down), atol=5e-4, rtol=1e-4)


@pytest.mark.parametrize("rows", [48, 49, 64, 65, 80, 81])
def test_the_last_pairs_join_at_every_count(rows: int) -> None:
    torch.manual_seed(rows)
    x, (gate_up, down) = torch.randn(rows, HIDDEN, device=DEVICE), stacks()
    layer: Any = Router(torch.ones(EXPERTS, device=DEVICE))
    steps = fused_steps(rows, 32, shape={"merge": True, "halve": True, "join": 16, **BY_COPY_ENGINE})
    with guarded_memory():
        chosen, shares = steps.route(logits_of("crowded", rows), layer, K)
        out = steps.experts(x, chosen, shares, gate_up, down).view(rows, K, HIDDEN).sum(1)
    torch.testing.assert_close(out, experts_loop(x, chosen, shares, gate_up, down), atol=5e-4, rtol=1e-4)


@pytest.mark.parametrize("shape", [{}, {"halve": True}, {"merge": True, "join": 16}], ids=["whole", "halved", "joined"])
def test_what_stands_behind_an_experts_last_pair_is_not_used(shape: dict[str, Any]) -> None:
    from oneread.engines.onepass.kernels.experts import sort_pairs

    torch.manual_seed(0)
    x, (gate_up, down) = torch.randn(35, HIDDEN, device=DEVICE), stacks()
    layer: Any = Router(torch.ones(EXPERTS, device=DEVICE))
    steps = fused_steps(35, 32, shape=shape)
    tiles = steps.tiles.wide[0][1]
    with guarded_memory():
        chosen, shares = steps.route(logits_of("lonely", 35), layer, K)
        order = sort_pairs(chosen, steps.ranks, steps.totals[0], tiles.block)
        order.pairs[order.pairs < 0] = 0
        between = steps.products.gate_up(x, order, K, gate_up, tiles)
        out = steps.products.down(between, order, shares, down, tiles).view(35, K, HIDDEN).sum(1)
    torch.testing.assert_close(out, experts_loop(x, chosen, shares, gate_up, down), atol=5e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "shape", [{"join": 16}, {"merge": True, "join": 8}, {"merge": True, "join": 64}, {"merge": True, "join": 24}]
)
def test_blocks_that_cannot_join_are_refused(shape: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="join"):
        fused_steps(1, 32, shape=shape)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_rows_that_are_no_numbers_choose_experts_that_exist(value: float) -> None:
    logits = torch.randn(9, EXPERTS, device=DEVICE)
    logits[2] = value
    logits[5, 17] = value
    layer: Any = Router(torch.ones(EXPERTS, device=DEVICE))
    steps, (gate_up, down) = fused_steps(9), stacks()
    with guarded_memory():
        chosen, shares = steps.route(logits, layer, K)
        assert ((chosen >= 0) & (chosen < EXPERTS)).all()
        assert all(len(set(row)) == K for row in chosen.tolist()), "no expert twice"
        out = steps.experts(torch.randn(9, HIDDEN, device=DEVICE), chosen, shares, gate_up, down).view(9, K, -1).sum(1)
    fine = [0, 1, 3, 4, 6, 7, 8]
    assert out[fine].isfinite().all(), "one row's fault stays its own"


def impossible_choices() -> torch.Tensor:
    """Only row 2 chooses experts that exist, the first ones."""
    chosen = torch.full((5, K), EXPERTS, dtype=torch.int32, device=DEVICE)
    chosen[1], chosen[2], chosen[3] = 2**30, torch.arange(K), -(2**31)
    return chosen


@pytest.mark.parametrize("total", [0, 1000, 2**20, -1000])
@pytest.mark.parametrize("rank", [0, 17, 1000, 2**30, -1, -(2**31)])
def test_choices_that_no_router_makes_are_placed_nowhere_else(total: int, rank: int) -> None:
    from oneread.engines.onepass.kernels.experts import sort_pairs

    chosen = impossible_choices()
    totals = torch.full((EXPERTS,), total, dtype=torch.int32, device=DEVICE)
    with guarded_memory():
        order = sort_pairs(chosen, torch.full_like(chosen, rank), totals, 16)
    assert ((order.owners >= -1) & (order.owners < EXPERTS)).all()
    assert (order.limits <= len(order.pairs)).all()
    placed = order.pairs[order.pairs != -1].tolist()
    assert set(placed) <= set(range(2 * K, 3 * K))


def test_choices_that_no_router_makes_are_not_multiplied() -> None:
    steps, (gate_up, down), chosen = fused_steps(5), stacks(), impossible_choices()
    x, shares = torch.randn(5, HIDDEN, device=DEVICE), torch.rand(5, K, device=DEVICE)
    steps.totals[0, :K], steps.routed, steps.ranks = 1, 1, torch.zeros_like(chosen)
    with guarded_memory():
        out = steps.experts(x, chosen, shares, gate_up, down).view(5, K, HIDDEN)
    want = experts_loop(x[2:3], chosen[2:3], shares[2:3], gate_up, down)
    torch.testing.assert_close(out[2].sum(0), want[0], atol=2e-4, rtol=1e-4)
    assert out[[0, 1, 3, 4]].isnan().all(), "what nobody writes stays as it was"


@pytest.mark.parametrize(
    "shape", [{}, BY_COPY_ENGINE, {"merge": True, "join": 16, "down_tma": True}], ids=["threads", "copy engine", "joined"]
)
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("rows", [1, 37])
def test_fp8_rows_and_weights(rows: int, swap: bool, shape: dict[str, Any]) -> None:
    torch.manual_seed(rows)
    gate_up, down = (Linear(*quantise_rows(part.weight)) for part in stacks())
    assert gate_up.weight.dtype == FP8
    values, scales = quantise_rows(torch.randn(rows, HIDDEN, device=DEVICE))
    layer: Any = Router(torch.ones(EXPERTS, device=DEVICE))
    steps = fused_steps(rows, 16 if swap else 64, swap=swap, shape=shape, activations="fp8")
    from oneread.engines.onepass.kernels.experts import Quantised

    with guarded_memory():
        chosen, shares = steps.route(logits_of("crowded" if "join" in shape else "spread", rows), layer, K)
        out = steps.experts(Quantised(values, scales), chosen, shares, gate_up, down).view(rows, K, HIDDEN)
    want = experts_loop(values.float() * scales[:, None], chosen, shares, gate_up, down)
    error = (out.float().sum(1) - want).norm() / want.norm()
    # Values in between are rounded to FP8 (3 %); Triton's interpreter also halves some of them.
    assert error < (0.05 if CUDA else 0.12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = tiny.tiny_model(top_k_experts=4, moe_intermediate_size=64)
    return tiny.saved(model, tmp_path_factory.mktemp("kernels"))


@pytest.mark.skipif(not CUDA, reason="streams run side by side on a device only")
@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("overlap", ["routing", "experts"])
def test_a_dense_mlp_on_a_stream_of_its_own_gives_the_same(folder: Path, overlap: str, graphs: bool) -> None:
    plain, _ = engines(folder)
    beside = OnePassModel(plain.weights, replace(plain.options, overlap=overlap, graphs=graphs, warm_rows=()))  # type: ignore[arg-type]
    beside._steps.tiles = few_tiles()  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    reads = [tiny.random_read(rng, p, c) for p, c in [(3, 4), (60, 16), (25, 2)]]
    want = plain.forward(reads)
    for _ in range(4):
        for ours, theirs in zip(beside.forward(reads), want, strict=True):
            np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-4)


@pytest.mark.parametrize(("cached", "beside"), [(0, True), (40, True), (200, False)])
def test_keys_side_by_side_or_in_the_store_give_the_same(folder: Path, cached: int, beside: bool) -> None:
    fused, plain = engines(folder)
    rng = np.random.default_rng(cached)
    first = tiny.random_read(rng, 200, 4)
    fresh = tiny.random_read(rng, 50, 9)
    both = [replace(fresh, prompt=np.concatenate([first.prompt[:cached], fresh.prompt])), tiny.random_read(rng, 3, 2)]
    for reads in ([first], both, [replace(both[0], canvas=both[0].canvas[:5], slots=both[0].slots[:1])]):
        want = plain.forward(reads)
        for ours, theirs in zip(fused.forward(reads), want, strict=True):
            np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-4)
            assert ours.tokens_reused == theirs.tokens_reused
        if reads is both:
            assert fused._steps.beside == beside  # type: ignore[attr-defined]
            assert bool(want[0].tokens_reused) == bool(cached)


def test_an_engine_that_is_closed_holds_no_weights(folder: Path) -> None:
    engine, _ = engines(folder)
    tiles = engine._steps.tiles  # type: ignore[attr-defined]
    tiles.wide = ((float("inf"), replace(tiles.wide[0][1], **BY_COPY_ENGINE)),)
    engine.forward([tiny.random_read(np.random.default_rng(0), 3, 4)])
    held = [weakref.ref(d) for d in engine._steps.products.descriptors.values()]  # type: ignore[attr-defined]
    assert held
    engine.close()
    gc.collect()
    assert not [one for one in held if one() is not None]


def padded_read(engine: OnePassModel, reads: list[Read]) -> np.ndarray:
    """Scores and log-sum-exps of a padded pass, in guarded memory."""
    device, own, sizes = padded_pass(engine, reads)
    with torch.inference_mode(), guarded_memory():
        out = engine._read(device).cpu().numpy()
    return np.concatenate([out[: own.labels], out[sizes.labels : sizes.labels + own.slots]])


def test_a_padded_pass_reads_nothing_that_nobody_wrote(folder: Path) -> None:
    fused, reference = engines(folder)
    rng = np.random.default_rng(0)
    reads = [tiny.random_read(rng, p, c) for p, c in [(3, 4), (60, 16), (25, 2)]]
    longer = tiny.random_read(rng, 40, 9)
    longer = replace(longer, prompt=np.concatenate([reads[2].prompt[:24], longer.prompt]))
    # The second pass finds its prompts in the cache; the third a few keys beside many new ones.
    for passed, beside in ((reads, True), (reads, False), ([longer, tiny.random_read(rng, 20, 5)], True)):
        want = reference.forward(passed)
        got = padded_read(fused, passed)
        both = np.concatenate([*(r.scores for r in want), *(r.log_sum_exp for r in want if r.log_sum_exp is not None)])
        np.testing.assert_allclose(got, both, atol=2e-4)
        for kept in (*fused.store.keys.values(), *fused.store.values.values()):
            assert kept.isfinite().all(), "padding must not leave its own in the store"
        assert fused._steps.beside == beside  # type: ignore[attr-defined]
    assert want[0].tokens_reused == 24


def test_a_canvas_is_denoised_as_plain_torch_does(folder: Path) -> None:
    fused, plain = engines(folder)
    rng = np.random.default_rng(0)
    read = tiny.random_read(rng, 30, 6)
    for engine in (fused, plain):
        engine.forward([read])
    for canvas in (6, 40):  # more cached than computed, and less
        read = replace(read, canvas=rng.integers(8, 100, canvas).astype(np.int32), slots=())
        want = plain.denoise(read, None)
        torch.testing.assert_close(fused.denoise(read, None), want, atol=2e-4, rtol=0)
        soft = plain.expected_embeddings(want)
        torch.testing.assert_close(fused.denoise(read, soft), plain.denoise(read, soft), atol=2e-4, rtol=0)
