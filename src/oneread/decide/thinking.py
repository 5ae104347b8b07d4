"""Thoughts that are written before questions are read: prompts in, token ids out."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

import numpy as np

from ..engines import base
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


def think(reader: Reader, wanted: Thinking) -> list[Tokens]:
    """Write the thoughts, one after another. Blocks; engine and this look at `base.wanted` meanwhile."""
    assert reader.writer is not None, "a reader that cannot write was refused"
    thoughts: list[Tokens] = []
    for prompt, images in wanted.prompts:
        blocks = [NO_TOKENS]
        for block in reader.writer.generate(prompt, wanted.most, wanted.seed, images, (wanted.end,)):
            blocks.append(block)
            if not base.wanted.get()():
                return thoughts
        thoughts.append(np.concatenate(blocks))
    return thoughts


async def think_aside(reader: Reader, wanted: Thinking) -> list[Tokens]:
    """As `think`, in a thread. Cancelling it ends the writing with its step."""
    stop = Event()
    context = copy_context()
    context.run(base.wanted.set, lambda: not stop.is_set())
    try:
        return await asyncio.get_running_loop().run_in_executor(None, lambda: context.run(think, reader, wanted))
    finally:
        stop.set()
