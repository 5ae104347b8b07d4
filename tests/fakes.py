"""A tokenizer and an engine small enough to reason about: what is tested with them is our own path, not a model."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future

import numpy as np
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from oneread.calibration.temperature import Temperatures
from oneread.canvas.markers import Layout, MarkerCanvas, MarkerForm
from oneread.engines.base import Capabilities, PromptImage, Read, Reading, Tokens
from oneread.questions import Message
from oneread.readers.reader import Reader

BOS, SEP, MASK, UNKNOWN = 0, 2, 3, 4


def word_tokenizer(words: str = "") -> Tokenizer:
    """One token a word; words outside `words` share one id."""
    special = ["<s>", "<pad>", "</s>", "<mask>", "<unk>"]
    vocabulary = {word: i for i, word in enumerate([*special, *dict.fromkeys(words.split())])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    return tokenizer


def word_canvas(words: str = "", window: int = 512, layout: Layout = "full") -> MarkerCanvas:
    return MarkerCanvas(word_tokenizer(words), MarkerForm(window, BOS, SEP, MASK, layout))


class FakeEngine:
    """Answers at once. The default score of a slot is a hash of the row's tokens and the slot's place in it."""

    capabilities = Capabilities(readout="marker", window=512)

    def __init__(self, score: Callable[[Read, int], float] | None = None) -> None:
        self.reads: list[Read] = []
        self.closed = False
        self._score = score or hashed

    def read(self, reads: Sequence[Read]) -> Future[list[Reading]]:
        self.reads.extend(reads)
        future: Future[list[Reading]] = Future()
        future.set_result([Reading(np.array([self._score(r, i) for i in range(len(r.slots))], np.float32)) for r in reads])
        return future

    def close(self) -> None:
        self.closed = True


def hashed(read: Read, slot: int) -> float:
    return zlib.crc32(read.canvas.tobytes() + bytes([slot])) / 2**32 * 4


def fake_reader(engine: FakeEngine | None = None, words: str = "") -> Reader:
    """A reader around a fake engine, at temperature 1."""
    temperatures = Temperatures.parse({"noul": 1, "choice": 1, "score": 1})
    own = ("fake-1", "Answers from a hash.", "2026-11-29", "Apache-2.0", "0" * 64)
    return Reader(*own, engine or FakeEngine(), word_canvas(words), temperatures)


class FakeWriter:
    """Writes the bytes of its text, a block of three at a time. A writer and its script in one."""

    passes = 1.0

    def __init__(self, text: str) -> None:
        self.text = text
        self.messages: list[Message] = []
        self.seeds: list[int] = []

    def encode(self, messages: Sequence[Message]) -> Tokens:
        self.messages = list(messages)
        return np.arange(sum(len(message.text) for message in messages), dtype=np.int32)

    def decode(self, tokens: Tokens) -> str:
        return bytes(tokens.tolist()).decode("utf-8", "replace")

    def generate(
        self, prompt: Tokens, max_tokens: int, seed: int, images: tuple[PromptImage, ...] = (), ends: tuple[int, ...] = ()
    ) -> Iterator[Tokens]:
        self.seeds.append(seed)
        ids = np.frombuffer(self.text.encode()[:max_tokens], np.uint8).astype(np.int32)
        yield from (ids[i : i + 3] for i in range(0, len(ids), 3))
