"""Prompt pages are found again, never change, and go least recently used first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from oneread.engines.base import Read
from oneread.engines.onepass.engine import OnePassModel
from oneread.engines.onepass.prefix import PAGE, PrefixCache, page_keys
from oneread.errors import EngineError

from .tiny import WINDOW, expected, random_read, two_pass_logits

Open = Callable[..., OnePassModel]
BUDGET = 2**22


def agree(model: Any, read: Read, scores: np.ndarray) -> None:
    np.testing.assert_allclose(scores, expected(two_pass_logits(model, read), read)[0], atol=1e-4)


@pytest.mark.parametrize("length", [PAGE - 1, PAGE, 3 * PAGE, 3 * WINDOW + 5])
def test_a_prompt_read_again_is_not_computed_again(model: Any, open_engine: Open, length: int) -> None:
    rng = np.random.default_rng(length)
    first = random_read(rng, length, 6)
    engine = open_engine(kv_bytes=BUDGET)
    assert engine.forward([first])[0].tokens_reused == 0
    other = replace(first, canvas=random_read(rng, 1, 6).canvas)
    (reading,) = engine.forward([other])
    assert reading.tokens_reused == length
    agree(model, other, reading.scores)


def test_a_shared_schema_is_reused_by_other_states(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(0)
    schema = random_read(rng, 40, 6).prompt
    engine = open_engine(kv_bytes=BUDGET)
    for turn in range(3):
        reads = []
        for size in (5, 31, 60):
            tail = random_read(rng, size, 6)
            reads.append(replace(tail, prompt=np.concatenate([schema, tail.prompt])))
        for read, reading in zip(reads, engine.forward(reads), strict=True):
            agree(model, read, reading.scores)
            assert reading.tokens_reused == (0 if turn == 0 else 40 // PAGE * PAGE)
    assert engine.prefix_stats.hits == 2 * 3 * (40 // PAGE * PAGE)


def test_a_read_never_changes_a_cached_page(open_engine: Open) -> None:
    rng = np.random.default_rng(1)
    engine = open_engine(kv_bytes=BUDGET)
    first = random_read(rng, 75, 12)
    engine.forward([first])
    held = engine.prefix.stats.pages
    rows = torch.cat([engine.store.offset(i) + engine.store.scratch + torch.arange(held * PAGE) for i in (0, 2)])

    def contents() -> bytes:
        return b"".join(
            t[rows % len(t)].numpy().tobytes() for t in (engine.store.keys["sliding"], engine.store.values["sliding"])
        )

    before = contents()
    reads = [replace(first, canvas=random_read(rng, 1, w).canvas, slots=first.slots[:0]) for w in (3, 40)]
    longer = random_read(rng, 30, 8)
    engine.forward([*reads, replace(longer, prompt=np.concatenate([first.prompt, longer.prompt]))])
    assert engine.prefix.stats.pages > held
    assert contents() == before


def test_least_recently_used_pages_go_first(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(2)
    page_bytes = open_engine().weights.config.kv_row_bytes(4) * PAGE
    engine = open_engine(kv_bytes=4 * page_bytes)
    a, b, c = (random_read(rng, 2 * PAGE, 6) for _ in range(3))
    engine.forward([a])
    engine.forward([b])
    engine.forward([a])
    engine.forward([c])
    assert engine.prefix_stats.evicted == 2
    assert engine.forward([a])[0].tokens_reused == 2 * PAGE
    (reading,) = engine.forward([b])
    assert reading.tokens_reused == 0
    agree(model, b, reading.scores)


def test_a_pass_larger_than_the_cache_still_reads_right(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(3)
    page_bytes = open_engine().weights.config.kv_row_bytes(4) * PAGE
    engine = open_engine(kv_bytes=3 * page_bytes)
    reads = [random_read(rng, n, 6) for n in (50, 20, 90)]
    for _ in range(2):
        for read, reading in zip(reads, engine.forward(reads), strict=True):
            agree(model, read, reading.scores)
    assert engine.prefix_stats.pages <= 3


def test_a_prompt_longer_than_a_pass_is_computed_in_parts(model: Any, open_engine: Open) -> None:
    rng = np.random.default_rng(4)
    engine = open_engine(rows=64, kv_bytes=BUDGET)
    read = random_read(rng, 300, 10)
    agree(model, read, engine.forward([read])[0].scores)
    with pytest.raises(EngineError, match="at most"):
        engine.forward([random_read(rng, 64 + engine.prefix_stats.capacity * PAGE, 10)])


def test_a_failed_pass_leaves_no_page_that_was_not_written(open_engine: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_engine(kv_bytes=BUDGET)
    read = random_read(np.random.default_rng(5), 40, 6)

    def fail(pack: object) -> None:
        raise RuntimeError("device lost")

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_run", fail)
        with pytest.raises(RuntimeError, match="device lost"):
            engine.forward([read])
    assert engine.prefix_stats.pages == 0
    assert engine.forward([read])[0].tokens_reused == 0


def test_pinned_pages_are_not_evicted() -> None:
    cache = PrefixCache(2)
    root, _ = cache.find([])
    keys, _ = page_keys(np.arange(2 * PAGE, dtype=np.int32), ())
    path = cache.extend(root, keys)
    cache.written([path])
    beside = cache.extend(root, [b"other"])
    assert beside.slots is None, "no room while a pass holds all pages"
    cache.release([beside, path])
    assert cache.extend(root, [b"other"]).slots is not None
    found, pages = cache.find(keys)
    assert pages == 1, "the page at the end of a path goes before the one it hangs under"
    assert found.keys == keys[:1]


def test_a_long_prompt_whose_beginning_is_cached_is_read(open_engine: Any) -> None:
    engine = open_engine(rows=64, kv_bytes=2**22)
    read = random_read(np.random.default_rng(9), 300, 6)
    (first,) = engine.forward([read])
    (again,) = engine.forward([read])
    np.testing.assert_allclose(again.scores, first.scores, atol=1e-4)
    longer = replace(read, prompt=np.concatenate([read.prompt, read.prompt[:50]]))
    (one,), (other,) = engine.forward([longer]), open_engine(rows=512).forward([longer])
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-4)


def test_no_pass_takes_more_rows_than_it_may_beside_a_long_prompt(
    model: Any, open_engine: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    page_bytes = open_engine().weights.config.kv_row_bytes(4) * PAGE
    engine, rng = open_engine(rows=64, kv_bytes=128 // PAGE * page_bytes), np.random.default_rng(10)
    rows: list[int] = []
    plain = engine._run
    monkeypatch.setattr(engine, "_run", lambda pack: (rows.append(pack.rows), plain(pack))[1])
    # The short prompt's pages take the place of the long one's: there is no room for both.
    reads = [random_read(rng, 50, 6), random_read(rng, 170, 6), random_read(rng, 150, 6)]
    for read, reading in zip(reads, engine.forward(reads), strict=True):
        agree(model, read, reading.scores)
    assert max(rows) <= 64


def test_a_shared_prompt_counts_again_in_each_pass_where_nothing_is_cached(open_engine: Open) -> None:
    engine, rng = open_engine(rows=64), np.random.default_rng(11)
    first = random_read(rng, 40, 6)
    # More canvases than one pass takes, and each pass computes the prompt again.
    reads = [replace(random_read(rng, 1, 6), prompt=first.prompt) for _ in range(12)]
    for read, reading in zip(reads, engine.forward(reads), strict=True):
        np.testing.assert_allclose(reading.scores, engine.forward([read])[0].scores, atol=1e-4)
