"""Thoughts that are written before questions are read: prompts in, token ids out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from ..engines.base import NO_TOKENS, PromptImage, Tokens

if TYPE_CHECKING:
    from ..readers.reader import Reader


@dataclass(frozen=True, slots=True)
class Thinking:
    """Thoughts still needed, one for each prompt.

    Attributes:
        prompts: each ends where its thought begins; with the images in it.
        most: tokens of one thought.
        end: the token that ends a thought.
    """

    prompts: tuple[tuple[Tokens, tuple[PromptImage, ...]], ...]
    most: int
    seed: int
    end: int

    @property
    def prompt_tokens(self) -> int:
        """Of all prompts."""
        return sum(len(prompt) for prompt, _ in self.prompts)

    def most_read(self, reader: Reader) -> int:
        """The most tokens that go through the model for it."""
        assert reader.writer is not None, "a reader that cannot write was refused"
        return self.prompt_tokens + round(len(self.prompts) * self.most * reader.writer.passes)


def think(reader: Reader, wanted: Thinking, stop: Event | None = None) -> list[Tokens]:
    """Write the thoughts, one after another. Blocks; between blocks of text it looks whether to stop."""
    assert reader.writer is not None, "a reader that cannot write was refused"
    thoughts: list[Tokens] = []
    for prompt, images in wanted.prompts:
        blocks = [NO_TOKENS]
        for block in reader.writer.generate(prompt, wanted.most, wanted.seed, images, (wanted.end,)):
            blocks.append(block)
            if stop is not None and stop.is_set():
                return thoughts
        thoughts.append(np.concatenate(blocks))
    return thoughts


async def think_aside(reader: Reader, wanted: Thinking) -> list[Tokens]:
    """As `think`, in a thread. Cancelling it ends the writing with its block."""
    stop = Event()
    try:
        return await asyncio.to_thread(think, reader, wanted, stop)
    finally:
        stop.set()
