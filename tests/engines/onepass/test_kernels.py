"""Each Triton kernel against plain torch, at ragged and odd sizes, in memory that is poisoned and guarded on both sides."""

from __future__ import annotations

import gc
import os
import weakref
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.base import Read
from oneread.engines.onepass import head
from oneread.engines.onepass.config import read_config
from oneread.engines.onepass.diffusion_gemma import Layer, Steps
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.experts import experts_loop
from oneread.engines.onepass.linear import FP8, Linear, quantise_rows
from oneread.engines.onepass.options import Options
from oneread.engines.onepass.packing import pack_reads
from oneread.engines.onepass.transfer import Sizes, read_block, write_block
from oneread.engines.onepass.weights import load_weights

from . import tiny
from .guarded import guarded_memory

CUDA = torch.cuda.is_available()
pytestmark = pytest.mark.skipif(
    find_spec("triton") is None or not (CUDA or os.environ.get("TRITON_INTERPRET") == "1"),
    reason="needs Triton and a CUDA device, or Triton's interpreter (TRITON_INTERPRET=1)",
)
DEVICE = torch.device("cuda" if CUDA else "cpu")
EXPERTS, K, HIDDEN, INNER = 128, 8, 64, 64


class Router:
    """Of a layer, only what routing reads: the router gives the logits it is handed."""

    def __init__(self, scale: torch.Tensor) -> None:
        self.expert_scale = scale

    @staticmethod
    def router(x: torch.Tensor) -> torch.Tensor:
        return x


def fused_steps(
    count: int, block: int = 16, gated: int = 64, swap: bool = False, shape: dict[str, Any] | None = None, **options: Any
) -> Any:
    from oneread.engines.onepass.kernels.plan import ExpertTiles
    from oneread.engines.onepass.kernels.steps import FusedSteps

    steps = FusedSteps(Options(steps="triton", attention="triton", experts="triton", **options))
    layout = {"swap": swap, "down_swap": swap, **(shape or {})}
    tiles = ExpertTiles(block, gated, depth=32, wide=64, down_depth=32, stages=2, **layout)  # type: ignore[arg-type]
    steps.tiles.wide = steps.tiles.fp8 = ((float("inf"), tiles),)
    steps.count = torch.tensor([count], dtype=torch.int32, device=DEVICE)
    steps.totals = torch.zeros(EXPERTS, dtype=torch.int32, device=DEVICE)
    return steps


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


def few_tiles() -> Any:
    from oneread.engines.onepass.kernels.plan import ExpertTiles, Tiles

    shape = ExpertTiles(16, depth=32, wide=64, down_depth=32, stages=2, swap=True, down_swap=True)
    return Tiles(wide=((float("inf"), shape),), fp8=((float("inf"), shape),))


def engines(folder: Path) -> tuple[OnePassModel, OnePassModel]:
    weights = load_weights(folder, read_config(folder), DEVICE)
    options = Options(rows=512, kv_bytes=2**22)
    fused = OnePassModel(weights, replace(options, steps="triton", attention="triton", experts="triton"))
    fused._steps.tiles = few_tiles()  # type: ignore[attr-defined]
    return fused, OnePassModel(weights, options)


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


def test_the_two_ends_of_a_pass_are_what_plain_torch_gives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = engines(folder)
    weights, plain = engine.weights, Steps()
    torch.manual_seed(0)
    tokens = torch.randint(0, weights.config.vocab, (37,), device=DEVICE, dtype=torch.int32)
    canvas = torch.arange(37, device=DEVICE) % 3 == 0
    batch: Any = SimpleNamespace(tokens=tokens, canvas=canvas, image_rows=None, soft=None)
    plain.epsilon = engine._steps.epsilon = weights.config.epsilon
    slots = torch.randn(5, weights.config.hidden, device=DEVICE)
    labels, of = torch.randint(0, weights.config.vocab, (2, 11), device=DEVICE, dtype=torch.int32)
    # Several pieces, the last one ragged.
    monkeypatch.setattr(head, "LOGIT_BYTES", 1)
    monkeypatch.setattr(head, "LEAST_WIDTH", 128)
    with torch.inference_mode():
        want = plain.embed(weights, batch), plain.read_slots(slots, weights, labels, of % 5)
        with guarded_memory():
            got = engine._steps.embed(weights, batch), engine._steps.read_slots(slots, weights, labels, of % 5)
    for one, other in zip(got, want, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_pieces_of_the_vocabulary_are_summed_in_several_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pieces, the first two of two parts each; pieces and parts are ragged."""
    engine, _ = engines(folder)
    torch.manual_seed(0)
    weights: Any = SimpleNamespace(embedding=torch.randn(20001, 64, device=DEVICE), config=SimpleNamespace(softcap=30.0))
    slots = torch.randn(3, 64, device=DEVICE)
    labels = torch.tensor([0, 20000, 8321, 77], device=DEVICE, dtype=torch.int32)
    of = torch.tensor([0, 1, 2, 2], device=DEVICE, dtype=torch.int32)
    monkeypatch.setattr(head, "LOGIT_BYTES", 1)
    monkeypatch.setattr(head, "LEAST_WIDTH", 8320)
    with torch.inference_mode():
        want = Steps().read_slots(slots, weights, labels, of)
        with guarded_memory():
            got = engine._steps.read_slots(slots, weights, labels, of)
    torch.testing.assert_close(got, want, atol=2e-5, rtol=2e-5)


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


@pytest.mark.parametrize("rows", [1, 5, 33])
def test_row_kernels_give_what_torch_gives(folder: Path, rows: int) -> None:
    fused, reference = engines(folder)
    layer: Layer = fused.weights.layers[0]
    steps, plain = fused._steps, reference._steps
    steps.count = torch.tensor([rows], dtype=torch.int32, device=DEVICE)
    torch.manual_seed(rows)
    x, attended, dense = (torch.randn(rows, HIDDEN, device=DEVICE) for _ in range(3))
    mixed = torch.randn(rows * 4, HIDDEN, device=DEVICE)
    batch: Any = type("Flags", (), {"canvas": torch.arange(rows, device=DEVICE) % 2 == 0})
    with guarded_memory():
        got = [
            steps.normed_for(x, layer.input_norm, layer.qkv),
            steps.gated(torch.cat((x, attended), 1), layer.down),
            *steps.after_attention(x, attended, layer),
            *steps.after_experts(x, dense, mixed, layer, batch, layer),
        ]
    want = [
        plain.normed_for(x, layer.input_norm, layer.qkv),
        plain.gated(torch.cat((x, attended), 1), layer.down),
        *plain.after_attention(x, attended, layer),
        *plain.after_experts(x, dense, mixed.view(rows, 4, HIDDEN).sum(1), layer, batch, layer),
    ]
    for ours, theirs in zip(got, want, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("fp8", [False, True])
@pytest.mark.parametrize("columns", [1, 7, 64, 65, 96, 100, 127])
def test_row_kernels_at_any_width(columns: int, fp8: bool) -> None:
    """One part or two, the last of either ragged or not; two rows are padding, whose pairs nobody wrote."""
    rows, real, k = 9, 7, 4
    torch.manual_seed(columns)
    weight = torch.empty(1, 1, device=DEVICE, dtype=FP8 if fp8 else torch.float32)
    names = ("attention", "dense", "experts", "after_dense", "after_experts", "output", "input")
    parts: Any = {f"{name}_norm": torch.randn(columns, device=DEVICE) for name in names}
    parts |= {name: Linear(weight) for name in ("gate_up", "experts_gate_up", "qkv", "down")}
    parts |= {"prompt_scalar": torch.full((1,), 0.7, device=DEVICE), "canvas_scalar": torch.full((1,), 1.3, device=DEVICE)}
    layer: Any = SimpleNamespace(**parts, router_scale=torch.randn(columns, device=DEVICE))
    batch: Any = SimpleNamespace(canvas=torch.arange(rows, device=DEVICE) % 2 == 0)
    x, attended, dense = torch.randn(3, rows, columns, device=DEVICE)
    mixed = torch.randn(rows * k, columns, device=DEVICE)
    mixed[real * k :] = float("nan")
    summed = mixed.nan_to_num(0).view(rows, k, columns).sum(1)
    steps, plain = fused_steps(real, activations="fp8"), Steps()
    twice = torch.cat((x, attended), 1)
    with guarded_memory():
        got = [
            steps.normed_for(x, layer.input_norm, layer.qkv),
            steps.gated(twice, layer.down),
            *steps.after_attention(x, attended, layer),
            *steps.after_experts(x, dense, mixed, layer, batch, layer),
            steps.after_experts(x, dense, mixed, layer, batch, None)[0],
        ]
    want = [
        plain.normed_for(x, layer.input_norm, layer.qkv),
        plain.gated(twice, layer.down),
        *plain.after_attention(x, attended, layer),
        *plain.after_experts(x, dense, summed, layer, batch, layer),
        plain.after_experts(x, dense, summed, layer, batch, None)[0],
    ]
    if fp8:
        with guarded_memory():
            got.append(steps._quantise(x))
        want.append(x)
    rounded = [one for one in got if not torch.is_tensor(one)]
    assert len(rounded) == (6 if fp8 else 0)
    for ours, theirs in zip(got, want, strict=True):
        if torch.is_tensor(ours):
            torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
            continue
        torch.testing.assert_close(ours.scales, theirs.abs().amax(1).clamp_min(448e-12) / 448, atol=1e-7, rtol=1e-4)
        error = (ours.values.float() * ours.scales[:, None] - theirs).norm() / theirs.norm()
        assert error < (0.05 if CUDA else 0.3)


def test_wide_heads_are_turned_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six queries of a full layer are two programs, the second ragged, and a third has the row's key and value."""
    model = tiny.tiny_model(num_attention_heads=6, top_k_experts=4, moe_intermediate_size=64)
    _, reference = engines(tiny.saved(model, tmp_path))
    # Other kernels would have to take six queries at once.
    fused = OnePassModel(reference.weights, replace(reference.options, steps="triton"))
    monkeypatch.setattr("oneread.engines.onepass.kernels.steps.WIDE_HEADS", 4)
    rng = np.random.default_rng(0)
    reads = [tiny.random_read(rng, p, c) for p, c in [(3, 4), (25, 2)]]
    with guarded_memory():
        got = fused.forward(reads)
    for ours, theirs in zip(got, reference.forward(reads), strict=True):
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=2e-4)
