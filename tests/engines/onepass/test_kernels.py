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
from oneread.engines.onepass.packing import pack_reads
from oneread.engines.onepass.transfer import Sizes, read_block, write_block

from . import tiny
from .fused import CUDA, DEVICE, EXPERTS, HIDDEN, K, engines, few_tiles, fused_steps, needs_triton
from .guarded import guarded_memory

pytestmark = needs_triton
INNER = 64


class Router:
    """Of a layer, only what routing reads: the router gives the logits it is handed."""

    def __init__(self, scale: torch.Tensor) -> None:
        self.expert_scale = scale

    @staticmethod
    def router(x: torch.Tensor) -> torch.Tensor:
        return x


def logits_of(case: str, rows: int) -> torch.Tensor:
    """Router logits: spread over all experts, all rows on the same ones (others get none), or one expert with one row."""
    made = torch.randn(rows, EXPERTS, device=DEVICE)
    if case == "crowded":
        made[:, 40:48] += 50.0
    if case == "lonely" and rows > 1:
        made[:, 40:48] += 50.0
        made[rows // 2] = made[rows // 2].flip(0)
    if case == "equal":
        made.zero_()
    return made


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
        for _ in range(2):  # the second finds the totals as the first left them
            chosen, shares = steps.route(logits, layer, K)
            out = steps.experts(x, chosen, shares, gate_up, down).view(rows, K, HIDDEN)
    want_chosen, want_shares = Steps().route(logits, layer, K)
    if case != "equal":
        assert torch.equal(chosen[:real].sort(-1).values.long(), want_chosen[:real].sort(-1).values)
        want = experts_loop(x, want_chosen, want_shares, gate_up, down)
        torch.testing.assert_close(out[:real].sum(1), want[:real], atol=2e-4, rtol=1e-4)
    assert (chosen[real:] == -1).all()
    assert (shares[real:] == 0).all()
    assert (steps.totals == 0).all()


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


def test_choices_that_no_router_makes_write_nowhere() -> None:
    steps, (gate_up, down) = fused_steps(5), stacks()
    chosen = torch.full((5, K), EXPERTS, dtype=torch.int32, device=DEVICE)
    chosen[1], chosen[2] = 2**30, torch.arange(K)
    # Ends far outside, as totals that nobody zeroed would give.
    steps.totals.fill_(1000)
    with guarded_memory():
        steps.experts(torch.randn(5, HIDDEN, device=DEVICE), chosen, torch.ones(5, K, device=DEVICE), gate_up, down)


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
    """Scores and log-sum-exps of a pass padded as a graph's is, in guarded memory."""
    pack = pack_reads(reads, engine.prefix, engine._layout)
    engine.prefix.written(pack.fresh)
    engine.prefix.release(pack.pages)
    own = Sizes.of(pack)
    sizes = Sizes(own.rows + 29, own.past + 21 if own.past else 0, own.nodes + 3, own.slots + 2, own.labels + 7)
    host = np.full(sizes.words, -(2**31), np.int32)
    write_block(pack, sizes, engine.options.rows, host)
    block = torch.from_numpy(host).to(DEVICE)
    with torch.inference_mode(), guarded_memory():
        out = engine._read(read_block(block, sizes)).cpu().numpy()
    return np.concatenate([out[: own.labels], out[sizes.labels : sizes.labels + own.slots]])


def test_a_padded_pass_reads_nothing_that_nobody_wrote(folder: Path) -> None:
    fused, reference = engines(folder)
    rng = np.random.default_rng(0)
    reads = [tiny.random_read(rng, p, c) for p, c in [(3, 4), (60, 16), (25, 2)]]
    for _ in range(2):  # the second finds its prompts in the cache
        want = reference.forward(reads)
        got = padded_read(fused, reads)
        both = np.concatenate([*(r.scores for r in want), *(r.log_sum_exp for r in want if r.log_sum_exp is not None)])
        np.testing.assert_allclose(got, both, atol=2e-4)
        for kept in (*fused.store.keys.values(), *fused.store.values.values()):
            assert kept.isfinite().all(), "padding must not leave its own in the store"
