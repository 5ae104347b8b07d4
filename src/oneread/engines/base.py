"""What flows into and out of every engine, and the small promise an engine makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tokens: TypeAlias = NDArray[np.int32]
"""Token ids, shape (n,), int32."""

Readout: TypeAlias = Literal["label", "marker"]
"""How answers are read off a slot: scores of label ids at one position, or one score for the option it marks."""

PAGE = 8
"""Tokens of a page: what prompts share is found, and computed once, in steps of this. Small, since every read computes what is
left of a page again; with 4, packing 32 reads takes a fifth longer."""

NO_TOKENS: Tokens = np.zeros(0, np.int32)
NO_TOKENS.flags.writeable = False

wanted: ContextVar[Callable[[], bool]] = ContextVar("wanted", default=lambda: True)
"""Whether anybody still waits for the reads that are being read in this context. A model that takes several passes for one
looks between them, one that writes between its steps, and may then end with an `EngineError` that nobody hears."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One open position of a canvas.

    Attributes:
        position: index into the canvas.
        labels: the token ids allowed here, distinct; empty for a marker, which stands for one option.
    """

    position: int
    labels: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PromptImage:
    """An image inside a prompt, prepared for the engine's vision tower.

    Attributes:
        start: index into the prompt of its first soft token.
        tokens: how many soft tokens it takes; the prompt holds that many placeholder ids from `start` on.
        patches: float32 (p, values of a patch), as the model's image processor makes them.
        patch_positions: int32 (p, 2), column and row of each patch; (-1, -1) pads.
        digest: bytes that differ when the pixels or the token budget differ.
    """

    start: int
    tokens: int
    patches: NDArray[np.float32]
    patch_positions: NDArray[np.int32]
    digest: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """One read-only pass of a canvas over a prompt.

    Attributes:
        canvas: token ids (n,); canvas rows see the whole prompt and, through `segments`, one another.
        slots: the open positions, in answer order.
        prompt: token ids (m,), causal; empty for an encoder.
        segments: (n,) int16, the segment of each canvas row; None when the canvas is one segment.
        sees: (s, s) bool, whether a row of segment i attends to rows of segment j; None when all see all.
        positions: (n,) int32, the position of each canvas row counted from the prompt's end; None for 0..n-1.
        images: the prompt's images, in order; none overlap.
        steps: denoising steps; before the last one only the slots change, every other position stays as it is.
        full: whether the reading also names the most probable token of the whole vocabulary at each slot.
    """

    canvas: Tokens
    slots: tuple[Slot, ...]
    prompt: Tokens = field(default_factory=lambda: NO_TOKENS)
    segments: NDArray[np.int16] | None = None
    sees: NDArray[np.bool_] | None = None
    positions: NDArray[np.int32] | None = None
    images: tuple[PromptImage, ...] = ()
    steps: int = 1
    full: bool = False

    @property
    def tokens(self) -> int:
        """Prompt and canvas tokens together."""
        return len(self.prompt) + len(self.canvas)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What one read returns. Nothing in it is normalised.

    Attributes:
        scores: float32, slot after slot: one raw score for each label of a slot (shape (sum of labels,)), or one for
            each marker (shape (slots,)).
        log_sum_exp: float32 (slots,), over the full vocabulary at each slot; None for markers, which have none.
        tokens_reused: prompt tokens whose keys and values came from a cache.
        waited_s: how long the read waited for its pass, where the engine knows.
        tops: int32 (slots,), the most probable token id of the whole vocabulary; None unless `Read.full` asks for it.
    """

    scores: NDArray[np.float32]
    log_sum_exp: NDArray[np.float32] | None = None
    tokens_reused: int = 0
    waited_s: float = 0.0
    tops: NDArray[np.int32] | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do. What it cannot is refused by name before anything is read.

    Attributes:
        readout: how its canvases are read.
        window: the most tokens (prompt and canvas) of one read.
        noise: whether slots hold noise, so that a seed matters.
        images: whether a prompt may hold images.
        generation: whether it can write text.
        steps: the most denoising steps of one read with all but the slots pinned.
        full: whether it can name the most probable token of the whole vocabulary at a slot.
        image_room: the most tokens that the images of one read, each with its two frame tokens, and its canvas take together.
    """

    readout: Readout
    window: int
    noise: bool = False
    images: bool = False
    generation: bool = False
    steps: int = 1
    full: bool = False
    image_room: int = 0


class Engine(Protocol):
    """Executes reads. Safe to call from any thread; a call never blocks."""

    @property
    def capabilities(self) -> Capabilities: ...

    def read(self, reads: Sequence[Read]) -> Future[list[Reading]]:
        """Queue reads; the future gives one reading for each, in order, or raises `EngineError`.

        Cancelling the future gives up the reads that have not started.
        """
        ...

    def close(self) -> None:
        """Finish what is running, refuse what waits, free the model."""
        ...


class Writer(Protocol):
    """What an engine that can write text does beside its reads (`Capabilities.generation`)."""

    def generate(
        self, prompt: Tokens, max_tokens: int, seed: int, images: tuple[PromptImage, ...] = (), ends: tuple[int, ...] = ()
    ) -> Iterator[Tokens]:
        """Write text after a prompt: the token ids of each block as it is done, without the token that ends the text.

        Blocks while a block is written; reads of others run in between. Closing the iterator ends the writing.

        Args:
            max_tokens: at least 1; the last block is cut there.
            seed: same prompt, seed and device: same text.
            ends: tokens that end the text beside the model's own.

        Raises:
            EngineError: prompt and text are longer than the engine's window, or the engine failed.
        """
        ...

    @property
    def passes(self) -> float:
        """How often, at most, a token goes through the model until it stands: what admission counts."""
        ...


class Eyes(Protocol):
    """What prepares images for an engine that takes them (`Capabilities.images`)."""

    def see(self, data: bytes, width: int, height: int, budget: int) -> PromptImage:
        """Decode an image file and cut it into at most `budget` soft tokens. Its `start` is 0.

        Raises:
            ValueError: the file is broken, is not of this size, or is too long and thin for the budget; the message says
                which and holds nothing of the file.
        """
        ...


class LocalModel(Protocol):
    """A model in this process, driven by the batcher from one thread."""

    @property
    def capabilities(self) -> Capabilities: ...

    def bucket(self, read: Read) -> int:
        """The padded length this read runs at; only reads of one bucket share a pass. 0 where nothing is padded, and reads
        of any length share a pass."""
        ...

    def forward(self, reads: Sequence[Read]) -> list[Reading]:
        """Run one pass over reads of one bucket. Blocks. A row's result does not depend on the rows beside it."""
        ...

    def close(self) -> None: ...


def new_tokens(read: Read, before: Read | None) -> int:
    """At most so many tokens of a read must be computed in a pass that also holds the read before it.

    What their prompts share is computed once, up to the page (`PAGE` tokens) in which they part.
    """
    if before is None:
        return read.tokens
    length = min(len(read.prompt), len(before.prompt))
    apart = np.flatnonzero(read.prompt[:length] != before.prompt[:length])
    shared = int(apart[0]) if len(apart) else length
    for one, other in zip_longest(read.images, before.images):
        if one is None or other is None or (one.start, one.digest) != (other.start, other.digest):
            shared = min(shared, *(image.start for image in (one, other) if image is not None))
            break
    whole = shared == len(read.prompt) == len(before.prompt)
    return read.tokens - (shared if whole else max(0, shared - PAGE + 1))
