"""Which prompt pages are cached: a tree of pages, each found by the exact tokens that lead to it. Knows no tensors.

A prompt is cut into pages of at most `PAGE` tokens, which is also how many rows of the store a page has; its last page may
be shorter. A page's keys and values depend on nothing but the tokens from the prompt's start to its own end (and on the
whole of any image it touches, which is part of its key), so a page found again serves as it is. Pages are written once, by
the pass that computed them, and never again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ..base import PAGE, PromptImage, Tokens

PageKey: TypeAlias = tuple[int, int, bytes]
"""Start in the prompt, length, and the bytes that tell a page from its siblings."""


@dataclass(slots=True, eq=False)
class Page:
    """One cached page.

    Attributes:
        key: its tokens (and images) as bytes; unique among its parent's children.
        start: position of its first token in the prompt.
        length: tokens it holds, 1 to `PAGE`.
        slot: its place in the store of keys and values.
        pins: passes that use it now; a pinned page is not evicted.
        written: whether its keys and values are there.
    """

    key: bytes
    start: int
    length: int
    parent: Page | None
    slot: int = -1
    pins: int = 0
    written: bool = False
    children: dict[bytes, Page] = field(default_factory=dict)


@dataclass(slots=True)
class PrefixStats:
    """Counters since the start, in tokens; `pages` and `capacity` are pages held now and at most."""

    hits: int = 0
    misses: int = 0
    shared: int = 0
    evicted: int = 0
    pages: int = 0
    capacity: int = 0


def page_keys(prompt: Tokens, images: Sequence[PromptImage]) -> Iterator[PageKey]:
    """Cut a prompt into pages, in order.

    No page goes on past an image's end. So two prompts that share an image's first page share all of its pages, which
    they must: the image's first rows see its last ones.
    """
    whole, wide = prompt.tobytes(), prompt.itemsize
    if not images:
        for start in range(0, len(prompt), PAGE):
            length = min(PAGE, len(prompt) - start)
            yield start, length, whole[start * wide : (start + length) * wide]
        return
    ends = [image.start + image.tokens for image in images]
    stop = 0
    while stop < len(prompt):
        start = stop
        stop = min([start + PAGE, len(prompt), *(end for end in ends if end > start)])
        key = whole[start * wide : stop * wide]
        for image in images:
            if image.start < stop and start < image.start + image.tokens:
                # Where the image begins relative to the page, and how long it is: its rows see one another both ways.
                key += np.array([image.start - start, image.tokens], np.int32).tobytes() + image.digest
        yield start, stop - start, key


class PrefixCache:
    """The tree of cached pages, with least-recently-used eviction. Used from one thread.

    Args:
        capacity: pages the store has room for; 0 caches nothing.
    """

    def __init__(self, capacity: int) -> None:
        self.stats = PrefixStats(capacity=capacity)
        self._root = Page(b"", 0, 0, None)
        self._free = list(range(capacity - 1, -1, -1))
        # Least recently used first. A path is touched from its end to its start, so no page stands after its parent.
        self._recent: OrderedDict[int, Page] = OrderedDict()

    def find(self, keys: Sequence[PageKey]) -> list[Page]:
        """The cached pages that `keys` begins with. Pins each; `release` undoes it."""
        page, path = self._root, []
        for _, _, key in keys:
            child = page.children.get(key)
            if child is None or not child.written:
                break
            child.pins += 1
            path.append(child)
            page = child
        self.touch(path)
        return path

    def touch(self, path: Sequence[Page]) -> None:
        """A prompt's pages from its first on are used now."""
        for page in reversed(path):
            self._recent.move_to_end(page.slot)

    def add(self, parent: Page | None, start: int, length: int, key: bytes) -> Page | None:
        """Make room for a page under its parent (None: the prompt's first). Pinned, and not found until `written`.

        Once the whole path is there it wants a `touch`. None when the store holds nothing but pinned pages.
        """
        above = parent or self._root
        if not self._free and not self._evict():
            return None
        page = Page(key, start, length, parent, self._free.pop(), pins=1)
        above.children[key] = page
        self._recent[page.slot] = page
        self.stats.pages += 1
        return page

    def written(self, pages: Iterable[Page]) -> None:
        """The keys and values of these pages are in the store: they can be found from now on."""
        for page in pages:
            page.written = True

    def release(self, pages: Iterable[Page]) -> None:
        """Unpin pages. One that was never written is dropped."""
        for page in sorted(pages, key=lambda p: -p.start):
            page.pins -= 1
            if not page.written and not page.pins:
                self._drop(page)

    def clear(self) -> None:
        """Drop every page that is not pinned."""
        while self._evict():
            pass

    def _evict(self) -> bool:
        for page in self._recent.values():
            if not page.pins and not page.children:
                self._drop(page)
                self.stats.evicted += 1
                return True
        return False

    def _drop(self, page: Page) -> None:
        del self._recent[page.slot]
        del (page.parent or self._root).children[page.key]
        self._free.append(page.slot)
        self.stats.pages -= 1
