"""Typed decisions as one compact file: unique texts, and integers that say how they make rows.

A case is a question about a state with a target over its options; `CaseFile` holds many as text, `Tokens` the same for
one tokenizer, framed and ready to be laid into rows.
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = ("noul", "choice", "score")


@dataclass
class CaseFile:
    """Cases as text. All of `head`, `state` and `options` are indices into `texts`.

    Attributes:
        task: index into `tasks`.
        kind: index into `TYPES`.
        starts: (cases + 1,) offsets into `options` and `target`.
        target: probability of each option; sums to 1 within a case.
        synthetic tasks have names that start with ``made:``.
    """

    texts: list[str]
    tasks: list[str]
    task: NDArray[np.int32]
    kind: NDArray[np.int8]
    head: NDArray[np.int32]
    state: NDArray[np.int32]
    starts: NDArray[np.int64]
    options: NDArray[np.int32]
    target: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.task)

    def save(self, path: Path) -> None:
        """Texts as one lzma stream; arrays beside them, all in one .npz."""
        blob = lzma.compress("\0".join(self.texts).encode(), preset=6)
        np.savez_compressed(
            path,
            texts=np.frombuffer(blob, np.uint8),
            tasks=np.array(self.tasks),
            task=self.task,
            kind=self.kind,
            head=self.head,
            state=self.state,
            starts=self.starts,
            options=self.options,
            target=self.target.astype(np.float16),
        )

    @staticmethod
    def load(path: Path) -> CaseFile:
        z = np.load(path)
        texts = lzma.decompress(z["texts"].tobytes()).decode().split("\0")
        arrays = {k: z[k] for k in ("task", "kind", "head", "state", "starts", "options")}
        return CaseFile(texts, [str(t) for t in z["tasks"]], target=z["target"].astype(np.float32), **arrays)


@dataclass
class CaseWriter:
    """Collects cases and interns their texts."""

    _texts: dict[str, int] = field(default_factory=dict)
    _tasks: dict[str, int] = field(default_factory=dict)
    _rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    _options: list[int] = field(default_factory=list)
    _target: list[float] = field(default_factory=list)
    _starts: list[int] = field(default_factory=lambda: [0])

    def add(self, task: str, kind: str, head: str, state: str, options: Sequence[str], target: Sequence[float]) -> None:
        if len(options) != len(target) or len(options) < 2:
            raise ValueError(f"{task}: {len(options)} options for {len(target)} targets")
        if abs(sum(target) - 1) > 1e-3:
            raise ValueError(f"{task}: the target sums to {sum(target):.3f}, not 1")
        t = self._tasks.setdefault(task, len(self._tasks))
        self._rows.append((t, TYPES.index(kind), self._text(head), self._text(state)))
        self._options += [self._text(o) for o in options]
        self._target += target
        self._starts.append(len(self._options))

    def file(self) -> CaseFile:
        rows = np.array(self._rows, np.int32).reshape(-1, 4)
        return CaseFile(
            list(self._texts),
            list(self._tasks),
            rows[:, 0],
            rows[:, 1].astype(np.int8),
            rows[:, 2],
            rows[:, 3],
            np.array(self._starts, np.int64),
            np.array(self._options, np.int32),
            np.array(self._target, np.float32),
        )

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text.replace("\0", " "), len(self._texts))


@dataclass
class Tokens:
    """The texts of a `CaseFile` as token ids, one flat array; text i is ``flat[at[i]:at[i + 1]]``, without framing."""

    flat: NDArray[np.uint16]
    at: NDArray[np.int64]


def tokenise(texts: Sequence[str], tokenizer: Any, longest: int) -> Tokens:
    """Token ids of every text, each cut to `longest`. Needs a vocabulary of at most 65536."""
    flat: list[NDArray[np.uint16]] = []
    lengths: list[int] = []
    for i in range(0, len(texts), 20000):
        for e in tokenizer.encode_batch_fast([t[: longest * 12] for t in texts[i : i + 20000]], add_special_tokens=False):
            ids = np.array(e.ids[:longest], np.uint16)
            flat.append(ids)
            lengths.append(len(ids))
    return Tokens(np.concatenate(flat), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
