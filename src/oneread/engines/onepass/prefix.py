"""Which prompt pages are cached: a tree of pages, each found by the exact tokens that lead to it. Knows no tensors.

A prompt is cut into pages of at most `PAGE` tokens, which is also how many rows of the store a page has; its last page may
be shorter. A page's keys and values depend on nothing but the tokens from the prompt's start to its own end (and on the
whole of any image it touches, which is part of its key), so a page found again serves as it is. Pages are written once, by
the pass that computed them, and never again.

Pages that follow one another without a fork stand in the tree as one run, as a prompt has many pages and few forks. A run
is cut in two where a path forks from it or ends inside it, so a path always ends with a run. Pages that the store has no
room for are in the tree as well while a pass holds them, without slots: the prompts of that pass share them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..base import PAGE, PromptImage, Tokens


@dataclass(slots=True, eq=False)
class Run:
    """Pages that follow one another.

    Attributes:
        keys: of each page, its tokens (and images) as bytes; a run's first key is unique among its parent's children.
        slots: the pages' places in the store of keys and values; None when it has no room for them.
        pins: paths through here, or to here, that passes hold now; a pinned run loses no page.
        written: whether its keys and values are in the store.
    """

    keys: list[bytes]
    parent: Run | None
    slots: list[int] | None
    pins: int = 0
    written: bool = False
    children: dict[bytes, Run] = field(default_factory=dict)

    def upwards(self) -> Iterator[Run]:
        """This run and those above it. None of the tree's root, which has no pages."""
        run = self
        while run.parent is not None:
            yield run
            run = run.parent


@dataclass(slots=True)
class PrefixStats:
    """Counters since the start, in tokens; `pages` and `capacity` are pages held now and at most."""

    hits: int = 0
    misses: int = 0
    shared: int = 0
    evicted: int = 0
    pages: int = 0
    capacity: int = 0


def page_keys(prompt: Tokens, images: Sequence[PromptImage]) -> tuple[list[bytes], list[int]]:
    """Cut a prompt into pages: the bytes that tell each page from its siblings, and where pages begin and end.

    Page i holds tokens ``bounds[i]`` to ``bounds[i + 1]``. No page goes on past an image's end. So two prompts that share
    an image's first page share all of its pages, which they must: the image's first rows see its last ones.
    """
    whole, wide, size = prompt.tobytes(), prompt.itemsize, len(prompt)
    if not images:
        full, rest = divmod(size, PAGE)
        complete: list[bytes] = np.frombuffer(whole, f"V{PAGE * wide}", full).tolist()
        return complete + [whole[-rest * wide :]] * (rest > 0), [*range(0, size, PAGE), size]
    ends = [image.start + image.tokens for image in images]
    keys, bounds = [], [0]
    while (start := bounds[-1]) < size:
        stop = min([start + PAGE, size, *(end for end in ends if end > start)])
        key = whole[start * wide : stop * wide]
        for image in images:
            if image.start < stop and start < image.start + image.tokens:
                # Where the image begins relative to the page, and how long it is: its rows see one another both ways.
                key += np.array([image.start - start, image.tokens], np.int32).tobytes() + image.digest
        keys.append(key)
        bounds.append(stop)
    return keys, bounds


class PrefixCache:
    """The tree of cached pages, with least-recently-used eviction. Used from one thread.

    A path is named by its last run, and held until that is given to `release`.

    Args:
        capacity: pages the store has room for; 0 caches nothing.
    """

    def __init__(self, capacity: int) -> None:
        self.stats = PrefixStats(capacity=capacity)
        self._root = Run([], None, [])
        self._free = list(range(capacity - 1, -1, -1))
        # Least recently used first, and within a run its last page. A path is touched from its end to its start, so no run
        # stands after its parent.
        self._recent: OrderedDict[Run, None] = OrderedDict()

    def find(self, keys: Sequence[bytes]) -> tuple[Run, int]:
        """The path of cached pages that `keys` begins with, held, and how many they are."""
        run, pages = self._walk(self._root, keys, only_written=True)
        for above in run.upwards():
            above.pins += 1
        self._touch(run)
        return run, pages

    def extend(self, end: Run, keys: Sequence[bytes]) -> Run:
        """A held path and, below it, all of `keys`: from now on that path is held instead.

        What is not in the tree is added, and not found until `written`. Pages are evicted for it; where the store holds
        nothing but pinned pages, the rest of the path gets no slots.
        """
        run, at = self._walk(end, keys)
        for above in run.upwards():
            if above is end:
                break
            above.pins += 1
        if at < len(keys) and run.slots is not None:
            slots = self._take(len(keys) - at)
            if slots:
                run = self._hang(run, keys[at : at + len(slots)], slots)
                self._recent[run] = None
                self.stats.pages += len(slots)
                at += len(slots)
        self._touch(run)
        return self._hang(run, keys[at:], None) if at < len(keys) else run

    def written(self, runs: Iterable[Run]) -> None:
        """The keys and values of these runs are in the store: they can be found from now on."""
        for run in runs:
            run.written = True

    def release(self, ends: Iterable[Run]) -> None:
        """Let go of paths. Of a path that nobody holds any more, runs that were never written are dropped."""
        for end in ends:
            for run in end.upwards():
                run.pins -= 1
                if not run.written and not run.pins:
                    self._free += self._drop(run, len(run.keys))

    def _walk(self, run: Run, keys: Sequence[bytes], only_written: bool = False) -> tuple[Run, int]:
        """How far `keys` leads down from a run: the last run, and how many pages. A run that goes on is cut there."""
        at = 0
        while at < len(keys):
            child = run.children.get(keys[at])
            if child is None or (only_written and not child.written):
                break
            same = _common(child.keys, keys[at : at + len(child.keys)])
            run = child if same == len(child.keys) else self._cut(child, same)
            at += same
        return run, at

    def _cut(self, run: Run, at: int) -> Run:
        """Make a run of its first pages. The rest keeps its name: who holds it holds a path through the new run."""
        assert run.parent is not None
        slots = None if run.slots is None else run.slots[:at]
        first = Run(run.keys[:at], run.parent, slots, run.pins, run.written, {run.keys[at]: run})
        run.parent.children[first.keys[0]] = first
        run.parent = first
        del run.keys[:at]
        if run.slots is not None:
            del run.slots[:at]
            # Where it belongs, behind the rest of its run: runs are cut for a path that ends here, and that is touched now.
            self._recent[first] = None
        return first

    def _hang(self, parent: Run, keys: Sequence[bytes], slots: list[int] | None) -> Run:
        """A new run, held by one who held its parent."""
        run = Run(list(keys), parent, slots, pins=1)
        parent.children[run.keys[0]] = run
        return run

    def _touch(self, end: Run) -> None:
        """A path is used now."""
        for run in end.upwards():
            if run.slots is not None:
                self._recent.move_to_end(run)

    def _take(self, count: int) -> list[int]:
        """Up to so many slots: free ones first, then those of the pages that were not used for the longest time."""
        slots = self._free[: -count - 1 : -1]
        del self._free[len(self._free) - len(slots) :]
        while len(slots) < count:
            run = next((run for run in self._recent if not run.pins and not run.children), None)
            if run is None:
                break
            evicted = self._drop(run, min(count - len(slots), len(run.keys)))
            self.stats.evicted += len(evicted)
            slots += evicted
        return slots

    def _drop(self, run: Run, pages: int) -> list[int]:
        """Take so many pages off a run's end. Their slots, the last page's first, are nobody's then."""
        if pages == len(run.keys) and run.parent is not None:
            del run.parent.children[run.keys[0]]
            self._recent.pop(run, None)
        del run.keys[-pages:]
        if run.slots is None:
            return []
        slots = run.slots[: -pages - 1 : -1]
        del run.slots[-pages:]
        self.stats.pages -= pages
        return slots


def _common(some: Sequence[bytes], others: Sequence[bytes]) -> int:
    """How many pages two paths begin with that are the same."""
    if some == others:
        return len(some)
    return next(
        (n for n, (one, other) in enumerate(zip(some, others, strict=False)) if one != other), min(len(some), len(others))
    )
