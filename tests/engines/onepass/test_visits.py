"""Which blocks of keys each block of rows visits, against the rule itself, in memory that is poisoned and guarded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.base import Read, Slot
from oneread.engines.onepass.attention import Sight
from oneread.engines.onepass.config import LayerKind
from oneread.engines.onepass.packing import NO_LIMIT, Layout, pack_reads
from oneread.engines.onepass.prefix import PrefixCache
from oneread.engines.onepass.transfer import Sizes, read_block, write_block

from .fused import DEVICE, fused_steps, needs_triton
from .guarded import guarded_memory

pytestmark = needs_triton
KINDS: tuple[LayerKind, ...] = ("sliding", "full")


def wanted(sight: Sight, key_rows: torch.Tensor, kind: LayerKind, rows: int, keys: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each block of rows its visits: int32 (visits, keys) rows of the store, and int64 (visits, rows) views."""
    mask = sight.mask(kind).cpu().numpy()
    blocks, key_blocks = -(-mask.shape[0] // rows), -(-mask.shape[1] // keys)
    whole = np.zeros((blocks * rows, key_blocks * keys), np.bool_)
    whole[: mask.shape[0], : mask.shape[1]] = mask
    parts = whole.reshape(blocks, rows, key_blocks, keys).transpose(0, 2, 1, 3)
    views = (parts.astype(np.uint64) << np.arange(keys, dtype=np.uint64)).sum(3, dtype=np.uint64).view(np.int64)
    source = np.zeros(key_blocks * keys, np.int32)
    source[: len(key_rows)] = key_rows.cpu().numpy()
    visited = parts.any((2, 3))
    return [(source.reshape(key_blocks, keys)[seen], view[seen]) for seen, view in zip(visited, views, strict=True)]


def check(sight: Sight, key_rows: torch.Tensor, kind: LayerKind, rows: int, keys: int) -> list[int]:
    """Compare what the kernel says with the rule. Returns each block's number of visits."""
    from oneread.engines.onepass.kernels.plan import AttentionTiles

    steps = fused_steps(len(sight.nodes))
    steps.tiles.attention[kind], steps.beside = AttentionTiles(rows, keys, 4), False
    with guarded_memory():
        steps.look(kind, sight, key_rows)
    got, want = steps.visits[kind], wanted(sight, key_rows, kind, rows, keys)
    counts = got.counts.tolist()
    assert counts == [len(sources) for sources, _ in want]
    for index, (sources, views) in enumerate(want):
        np.testing.assert_array_equal(got.sources[index, : len(sources)].cpu().numpy(), sources)
        np.testing.assert_array_equal(got.views[index, : len(views)].cpu().numpy(), views)
    return counts


def on_device(**parts: np.ndarray) -> Any:
    return [torch.from_numpy(np.ascontiguousarray(part)).to(DEVICE) for part in parts.values()]


def drawn(rows: int, keys: int, nodes: int, run: int, chance: float, seed: int) -> tuple[Sight, torch.Tensor]:
    """Nodes in runs of up to so many rows and keys, in any order, that see one another by chance; positions at random."""
    rng = np.random.default_rng(seed)

    def runs(count: int) -> np.ndarray:
        lengths = rng.integers(1, run + 1, count)
        return rng.integers(0, nodes, count).repeat(lengths)[:count].astype(np.int32)

    low = rng.integers(0, 300, rows)
    high = np.where(rng.random(rows) < 0.2, NO_LIMIT, low + rng.integers(-20, 200, rows))
    parts = on_device(
        nodes=runs(rows),
        low=low.astype(np.int32),
        high=high.astype(np.int32),
        key_nodes=runs(keys),
        key_positions=rng.integers(0, 500, keys).astype(np.int32),
        sees=(rng.random((nodes, nodes)) < chance).astype(np.uint8),
    )
    key_rows = torch.from_numpy(rng.permutation(10 * keys)[:keys].astype(np.int32)).to(DEVICE)
    return Sight(*parts), key_rows


@pytest.fixture(params=[False, True], ids=["apart", "together"])
def together(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a program has several blocks of rows, where these are small."""
    from oneread.engines.onepass.kernels import attention

    if request.param:
        monkeypatch.setattr(attention, "APART", 0)
    return bool(request.param)


@pytest.fixture
def few_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program looks at few keys at a time, so that passes of few keys have many such spans."""
    from oneread.engines.onepass.kernels import attention

    monkeypatch.setattr(attention, "LOOKED", 2048)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(32, 32), (8, 32), (4, 64), (16, 16), (64, 64)])
@pytest.mark.parametrize(("nodes", "run", "chance"), [(1, 1, 1.0), (40, 60, 0.03), (90, 12, 0.01), (30, 1, 0.1), (3, 400, 0.5)])
@pytest.mark.usefixtures("together", "few_keys")
def test_any_nodes_in_any_order(kind: LayerKind, shape: tuple[int, int], nodes: int, run: int, chance: float) -> None:
    for seed, (rows, keys) in enumerate([(1, 1), (75, 413), (107, 258)]):
        check(*drawn(rows, keys, nodes, run, chance, seed), kind, *shape)


@pytest.mark.parametrize(("kind", "rows"), [("sliding", 32), ("full", 8)])
@pytest.mark.usefixtures("together")
def test_every_key_is_seen_alone(kind: LayerKind, rows: int) -> None:
    """One key at a time is seen, at both ends of what a program looks at together, by one row or another of four nodes."""
    for keys in (511, 512, 513, 1025, 2048, 2049):
        for place in {0, 511, 512, 2047, keys - 1} & set(range(keys)):
            for row in (0, 13, 39) if place == keys - 1 else (17,):
                nodes = np.array([4] * 14 + [2] * 10 + [5] * 15 + [1], np.int32)
                key_nodes = np.full(keys, 3, np.int32)
                key_nodes[place] = 0
                sees = np.zeros((6, 6), np.uint8)
                sees[nodes[row], 0] = 1
                low, high = np.full(40, 9, np.int32), np.full(40, 3, np.int32)
                low[row] = high[row] = 5
                parts = on_device(
                    nodes=nodes, low=low, high=high, key_nodes=key_nodes, key_positions=np.full(keys, 5, np.int32), sees=sees
                )
                key_rows = torch.arange(keys, dtype=torch.int32, device=DEVICE)
                assert sum(check(Sight(*parts), key_rows, kind, rows, 32)) == 1
                # One position on, nobody sees it.
                parts[4] += 1
                assert sum(check(Sight(*parts), key_rows, kind, rows, 32)) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("padding", [0, 21])
@pytest.mark.usefixtures("together", "few_keys")
def test_passes_of_reads(kind: LayerKind, padding: int) -> None:
    """A window that is shorter than prompts, segments that see one another or not, and prompts that are half in the cache."""
    rng = np.random.default_rng(3)
    tokens = lambda count: rng.integers(8, 200, count).astype(np.int32)  # noqa: E731
    shared, segments, cache = tokens(70), np.array([0, 0, 1, 2, 2, 3], np.int16), PrefixCache(64)
    for _ in range(2):
        reads = [
            Read(tokens(2), (Slot(0, (1, 2)),), np.concatenate([shared, tokens(60)])),
            Read(tokens(30), (Slot(1, (1, 2)), Slot(3, (4,))), tokens(90)),
            Read(tokens(6), (Slot(5, (1, 2)),), shared, segments=segments),
            Read(tokens(6), (Slot(5, (1, 2)),), tokens(5), segments=segments, sees=np.tri(4, dtype=np.bool_)),
            Read(tokens(1), (Slot(0, (3,)),), np.concatenate([shared, tokens(9)])),
        ]
        pack = pack_reads(reads, cache, Layout(40, False, 512))
        cache.written(pack.fresh)
        cache.release(pack.pages)
        own = Sizes.of(pack)
        sizes = Sizes(own.rows + padding, own.past + padding, own.nodes + 2 * (padding > 0), own.slots + 3, own.labels)
        host = np.full(sizes.words, -1, np.int32)
        write_block(pack, sizes, 511, host)
        batch = read_block(torch.from_numpy(host).to(DEVICE), sizes).batch
        check(batch.sight, batch.key_rows, kind, *((32, 32) if kind == "sliding" else (8, 32)))
        # The last layer has the wanted rows alone, of all reads.
        check(batch.sight.of(batch.wanted.long()), batch.key_rows, kind, *((32, 32) if kind == "sliding" else (8, 32)))
