"""What a pass's rows see, and which pages it finds, against the rules said slowly: for each row, read and page by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from oneread.engines.base import PromptImage, Read, Slot
from oneread.engines.onepass.packing import Layout, Pack, pack_reads
from oneread.engines.onepass.prefix import PAGE, PrefixCache, page_keys
from oneread.errors import EngineError

NOTHING = np.zeros((0, 0), np.float32), np.zeros((0, 2), np.int32)


def some_read(rng: np.random.Generator, before: Sequence[Read]) -> Read:
    """Its prompt begins as one before it more often than not, ends there or goes on, with images now and then."""
    keep, images = rng.integers(0, 3, 0).astype(np.int32), ()
    if before and rng.random() < 0.8:
        other = before[rng.integers(len(before))]
        keep, images = other.prompt, other.images
        if rng.random() < 0.6:
            keep = keep[: rng.integers(len(keep) + 1)]
            images = tuple(image for image in images if image.start + image.tokens <= len(keep))
    parts = [keep]
    if rng.random() < 0.25:
        count = int(rng.integers(1, 3 * PAGE))
        images = (*images, PromptImage(len(keep), count, *NOTHING, bytes([rng.integers(2)])))
        parts.append(np.full(count, 7, np.int32))
    if rng.random() < 0.7:
        parts.append(rng.integers(0, 3, rng.integers(5 * PAGE)).astype(np.int32))
    width = int(rng.integers(1, 12))
    more: dict[str, Any] = {}
    if rng.random() < 0.3:
        kinds = int(rng.integers(1, 4))
        more["segments"] = np.sort(rng.integers(0, kinds, width)).astype(np.int16)
        more["sees"] = None if rng.random() < 0.3 else rng.random((kinds, kinds)) < 0.6
        more["positions"] = None if rng.random() < 0.5 else rng.integers(0, width, width).astype(np.int32)
    where = rng.choice(width, rng.integers(min(width, 3) + 1), replace=False)
    slots = tuple(Slot(int(at), tuple(rng.integers(0, 99, rng.integers(1, 5)).tolist())) for at in where)
    return Read(rng.integers(0, 9, width).astype(np.int32), slots, np.concatenate(parts), images=images, **more)


def image_at(read: Read, at: int) -> PromptImage | None:
    return next((image for image in read.images if image.start <= at < image.start + image.tokens), None)


class Checked:
    """A cache and what its store must hold: each row of it the key of one token after exactly the tokens before it."""

    def __init__(self, capacity: int, layout: Layout) -> None:
        self.cache, self.layout = PrefixCache(capacity), layout
        self.held: dict[int, int] = {}
        self.names: dict[object, int] = {}
        # The slow cache: paths of page keys, least recently used first.
        self.paths: list[tuple[bytes, ...]] = []
        self.evicted = self.tokens = self.computed = self.found = 0

    def name(self, read: Read, at: int) -> int:
        """A number for a prompt's token and all that its key depends on."""
        image = image_at(read, at)
        stop = image.start + image.tokens if image else at + 1
        seen = tuple((i.start, i.tokens, i.digest) for i in read.images if i.start < stop)
        return self.names.setdefault((at, read.prompt[:stop].tobytes(), seen), len(self.names))

    def run(self, reads: Sequence[Read], rows: bool) -> None:
        pack = pack_reads(reads, self.cache, self.layout)
        reused, computed = self.expected(reads)
        assert (list(pack.reused), pack.rows - int(pack.canvas.sum())) == (reused, computed)
        if rows:
            self.check_rows(pack, reads)
        self.cache.written(pack.fresh)
        self.cache.release(pack.pages)
        stats = self.cache.stats
        self.tokens += sum(len(read.prompt) for read in reads)
        self.computed += pack.rows - int(pack.canvas.sum())
        self.found += sum(pack.reused)
        assert (stats.pages, stats.evicted) == (len(self.paths), self.evicted)
        assert (stats.hits, stats.misses) == (self.found, self.computed)
        assert stats.hits + stats.misses + stats.shared == self.tokens

    def expected(self, reads: Sequence[Read]) -> tuple[list[int], int]:
        """Tokens found for each read, and tokens computed, page by page; the slow cache is then as this pass leaves it."""
        cuts = [page_keys(read.prompt, read.images) for read in reads]
        prompts = [[tuple(keys[: n + 1]) for n in range(len(keys))] for keys, _ in cuts]
        reused, used, missing = [], set(), {}
        for paths, (_, bounds) in zip(prompts, cuts, strict=True):
            found = next((n for n, path in enumerate(paths) if path not in self.paths), len(paths))
            used.update(paths[:found])
            missing |= {path: bounds[n + 1] - bounds[n] for n, path in enumerate(paths) if n >= found}
            reused.append(bounds[found])
        for paths in dict.fromkeys(map(tuple, prompts)):
            for path in paths:
                if path not in self.paths:
                    if len(self.paths) == self.cache.stats.capacity:
                        oldest = next((old for old in self.paths if old not in used), None)
                        if oldest is None:
                            break
                        self.paths.remove(oldest)
                        self.evicted += 1
                    self.paths.append(path)
                used.add(path)
            for path in reversed([path for path in paths if path in self.paths]):
                self.paths.remove(path)
                self.paths.append(path)
        return reused, sum(missing.values())

    def check_rows(self, pack: Pack, reads: Sequence[Read]) -> None:
        """Every row sees each key that the rules give it once, and nothing else."""
        past, window = len(pack.key_rows) - pack.rows, self.layout.window
        new_rows = pack.key_rows[past:]
        assert len(np.unique(pack.key_rows)) == len(pack.key_rows), "two keys in one row of the store"
        assert pack.key_rows.max() < self.layout.scratch + self.cache.stats.capacity * PAGE
        assert pack.key_rows[:past].min(initial=self.layout.scratch) >= self.layout.scratch
        starts, widths, at = [], [len(read.canvas) for read in reads], 0
        for width in widths:
            starts.append(at := at + int(np.argmax(pack.canvas[at:])) if width else at)
            at += width
        assert at == pack.rows
        owner = np.repeat(np.arange(len(reads)), np.diff([0, *(s + w for s, w in zip(starts, widths, strict=True))]))
        names = np.array([self.held[row] for row in pack.key_rows[:past].tolist()] + [-1] * pack.rows)
        for row in np.flatnonzero(~pack.canvas):
            read, position = reads[owner[row]], int(pack.positions[row])
            assert pack.tokens[row] == read.prompt[position]
            names[past + row] = self.held[int(new_rows[row])] = self.name(read, position)
        for row in np.flatnonzero(pack.canvas):
            names[past + row] = -1 - row

        def seen(row: int, lowest: int) -> list[int]:
            sight = pack.sees[pack.nodes[row], pack.key_nodes] & (pack.key_positions <= pack.high[row])
            return sorted(names[sight & (pack.key_positions >= lowest)].tolist())

        for row in range(pack.rows):
            read = reads[owner[row]]
            size, offset = len(read.prompt), row - starts[owner[row]]
            own: list[int] = []
            if offset >= 0:
                low, stop = size - window + 1, size
                segments = np.zeros(widths[owner[row]], int) if read.segments is None else read.segments
                mine = np.ones(len(segments), bool) if read.sees is None else read.sees[segments[offset], segments]
                own = [-1 - starts[owner[row]] - int(other) for other in np.flatnonzero(mine)]
                assert pack.tokens[row] == read.canvas[offset]
                assert pack.positions[row] == size + (offset if read.positions is None else read.positions[offset])
            else:
                position = int(pack.positions[row])
                low, stop, image = position - window + 1, position + 1, image_at(read, position)
                if image and self.layout.images_both_ways:
                    low, stop = min(low, image.start), image.start + image.tokens
            prompt = [self.name(read, at) for at in range(stop)]
            assert seen(row, 0) == sorted(prompt + own)
            assert seen(row, int(pack.low[row])) == sorted(prompt[max(low, 0) :] + own)

        slots = [(start + slot.position, slot.labels) for read, start in zip(reads, starts, strict=True) for slot in read.slots]
        assert pack.slot_rows.tolist() == [row for row, _ in slots]
        assert pack.labels.tolist() == [label for _, labels in slots for label in labels]
        assert pack.label_slots.tolist() == [index for index, (_, labels) in enumerate(slots) for _ in labels]
        soft = {part.row + n: (part.image.digest, part.offset + n) for part in pack.images for n in range(part.count)}
        for row in np.flatnonzero(~pack.canvas).tolist():
            image = image_at(reads[owner[row]], int(pack.positions[row]))
            assert soft.pop(row, None) == (image and (image.digest, int(pack.positions[row]) - image.start))
        assert not soft


@pytest.mark.parametrize("capacity", [0, 1, 4, 15, 60])
def test_rows_see_what_the_rules_say_and_pages_are_found_and_evicted_by_them(capacity: int) -> None:
    for seed in range(6):
        rng = np.random.default_rng([capacity, seed])
        checked = Checked(capacity, Layout(int(rng.integers(2, 4 * PAGE)), bool(seed % 2), 4096))
        before: list[Read] = []
        for _ in range(6):
            reads = [some_read(rng, before[-9:]) for _ in range(rng.integers(1, 6))]
            before += reads
            checked.run(reads, rows=True)
        for _ in range(60):
            reads = [some_read(rng, before[:20]) for _ in range(rng.integers(1, 4))]
            before[:20] = before[1:20] + reads[:1]
            checked.run(reads, rows=False)


def test_a_pass_that_fails_leaves_the_cache_as_it_was_but_for_what_it_evicted() -> None:
    rng = np.random.default_rng(0)
    cache, layout = PrefixCache(6), Layout(9, False, 6 * PAGE)
    first = Read(rng.integers(0, 9, 4).astype(np.int32), (), rng.integers(0, 9, 4 * PAGE).astype(np.int32))
    pack = pack_reads([first], cache, layout)
    cache.written(pack.fresh)
    cache.release(pack.pages)
    longer = Read(first.canvas, (), np.concatenate([first.prompt, rng.integers(0, 9, 9 * PAGE).astype(np.int32)]))
    with pytest.raises(EngineError, match=f"at most {6 * PAGE - 1} rows"):
        pack_reads([first, longer], cache, layout)
    assert (cache.stats.pages, cache.stats.evicted) == (4, 0)
    again = pack_reads([first], cache, layout)
    assert again.reused == (4 * PAGE,)
    cache.release(again.pages)
    # Nothing is held any more: another prompt may have every page.
    other = pack_reads([Read(first.canvas, (), longer.prompt[::-1][: 6 * PAGE].copy())], cache, layout)
    assert len(other.fresh) == 1
    assert len(other.fresh[0].keys) == 6
