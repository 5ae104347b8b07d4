"""The engine of the base install: a small encoder on onnxruntime, on CPU threads, without torch."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..errors import EngineError
from .base import Capabilities, Read, Reading
from .batcher import Batcher
from .encoder import EncoderConfig, Weights, build, dense, relative_buckets
from .heap import trim_heap
from .isolated import PASS_TIMEOUT_S, IsolatedModel
from .load import Gauges
from .onnx_wire import Graph

BUCKET = 32
"""Reads whose lengths round up to the same multiple of this share a pass."""

TOKEN_BUDGET = 512
"""The most padded tokens of one pass: more made no pass faster for each token, and took memory."""

HIDDEN = np.float32(-1e9)
"""Added to the score of a key that a query must not see."""


def default_threads() -> int:
    """Threads for one engine: the processors this process may use, at most 4."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(4, usable)


def embedded_engine(config: EncoderConfig, weights: Weights, window: int, threads: int | None = None) -> Batcher:
    """An engine for these weights; see `EncoderModel`."""
    return Batcher(EncoderModel(config, weights, window, threads or default_threads()), TOKEN_BUDGET)


def isolated_engine(
    config: EncoderConfig, make: Callable[[], EncoderModel], window: int, pass_timeout_s: float = PASS_TIMEOUT_S
) -> Batcher:
    """An engine whose model is made, by the picklable `make`, in a process of its own; see `IsolatedModel`."""
    return Batcher(IsolatedModel(make, RowLimits.of(config, window).bucket, pass_timeout_s), TOKEN_BUDGET)


@dataclass(frozen=True, slots=True)
class RowLimits:
    """What reads an encoder takes: at most `window` tokens, at positions up to `last_position`."""

    window: int
    last_position: int

    @classmethod
    def of(cls, config: EncoderConfig, window: int) -> RowLimits:
        return cls(window, config.positions - config.position_offset - 1)

    def bucket(self, read: Read) -> int:
        """The read's length rounded up to a multiple of `BUCKET`.

        Raises:
            EngineError: when the engine cannot run the read.
        """
        n = len(read.canvas)
        if len(read.prompt):
            raise EngineError("An encoder has no causal prompt: a read should hold a canvas only")
        if any(slot.labels for slot in read.slots):
            raise EngineError("An encoder reads markers: a slot should hold no labels")
        if not 0 < n <= self.window:
            raise EngineError(f"A read should hold 1 to {self.window} tokens, found {n}")
        if read.positions is not None and not 0 <= read.positions.min() <= read.positions.max() <= self.last_position:
            raise EngineError(f"Positions should be from 0 to {self.last_position}")
        return -(-n // BUCKET) * BUCKET


class EncoderModel:
    """A small encoder that reads option markers. Driven from one thread.

    Args:
        config: the encoder's shape.
        weights: every weight of `EncoderConfig.shapes`.
        window: the longest read.
        threads: threads of one pass.
    """

    def __init__(self, config: EncoderConfig, weights: Weights, window: int, threads: int) -> None:
        self._prepare(config, weights, window)
        graph = build(config, weights, unsigned=not signed_products_are_exact())
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC  # the graph is written as it should run
        options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
        options.enable_mem_pattern = False  # it keeps a plan for each length it meets
        # the session reads these arrays in place, so they live as long as it does
        self._constants = {name: ort.OrtValue.ortvalue_from_numpy(value) for name, value in graph.constants.items()}
        options.add_external_initializers(list(self._constants), list(self._constants.values()))
        self._held = sum(value.nbytes for value in graph.constants.values())
        model = graph.to_bytes({"com.microsoft": 1})
        self._session: ort.InferenceSession | None = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        trim_heap()

    def _prepare(self, config: EncoderConfig, weights: Weights, window: int) -> None:
        self._capabilities = Capabilities(readout="marker", window=window)
        self._offset = config.position_offset
        self._limits = RowLimits.of(config, window)
        self._last_position = self._limits.last_position
        # the attention bias of each signed distance, (heads, 2 * last + 2); one zero head where the model has none; the last
        # column is what hides a key
        distances = np.arange(-self._last_position, self._last_position + 1)
        by_distance = np.zeros((1, len(distances)), np.float32)
        if config.relative_buckets:
            buckets = relative_buckets(distances, config.relative_buckets, config.relative_distance)
            by_distance = dense(weights["rb.weight"])[buckets].T
        self._by_distance = np.pad(by_distance, ((0, 0), (0, 1)), constant_values=HIDDEN)

    @property
    def capabilities(self) -> Capabilities:
        """Marker readout, up to the window."""
        return self._capabilities

    def bucket(self, read: Read) -> int:
        """See `RowLimits.bucket`."""
        return self._limits.bucket(read)

    def forward(self, reads: Sequence[Read]) -> list[Reading]:
        """One pass. The scores of a read do not depend on the reads beside it."""
        if self._session is None:
            raise EngineError("The engine is closed")
        rows, length = len(reads), max(len(r.canvas) for r in reads)
        ids = np.zeros((rows, length), np.int64)
        positions = np.full((rows, length), self._offset, np.int64)
        slots = np.zeros((rows, max(len(r.slots) for r in reads)), np.int64)
        for i, read in enumerate(reads):
            n = len(read.canvas)
            ids[i, :n] = read.canvas
            positions[i, :n] += np.arange(n) if read.positions is None else read.positions
            slots[i, : len(read.slots)] = [slot.position for slot in read.slots]
        bias = self._bias(reads, length)
        per_row = bias if len(bias) == rows else np.broadcast_to(bias, (rows, *bias.shape[1:]))
        slot_bias = np.take_along_axis(per_row, slots[:, None, :, None], axis=2)
        feed = {
            "ids": ids,
            "positions": positions,
            "bias": bias,
            "slots": slots + np.arange(rows)[:, None] * length,
            "slot_bias": slot_bias,
        }
        (scores,) = self._session.run(["scores"], feed)
        return [Reading(np.array(scores[i, : len(read.slots)])) for i, read in enumerate(reads)]

    def gauges(self) -> Gauges:
        """The bytes of its weights; an encoder keeps no keys and values."""
        return Gauges(self._held)

    def close(self) -> None:
        """Free the model."""
        self._session, self._held = None, 0
        self._constants.clear()

    def _bias(self, reads: Sequence[Read], length: int) -> NDArray[np.float32]:
        """What is added to the attention scores: (1 or rows, heads or 1, length, length); one for all rows where it can be."""
        if all(len(r.canvas) == length and r.sees is None and r.positions is None for r in reads):
            return self._plain_bias(length)[None]
        bias = np.empty((len(reads), len(self._by_distance), length, length), np.float32)
        for i, read in enumerate(reads):
            n = len(read.canvas)
            at = np.arange(n) if read.positions is None else read.positions.astype(np.int64)
            distance = at[None, :] - at[:, None] + self._last_position
            if read.segments is not None and read.sees is not None:
                distance[~read.sees[read.segments[:, None], read.segments[None, :]]] = -1
            column = np.full((length, length), -1)
            column[:n, :n] = distance
            np.take(self._by_distance, column, axis=1, out=bias[i], mode="wrap")
        return bias

    def _plain_bias(self, length: int) -> NDArray[np.float32]:
        """The bias of a row at positions 0..length-1 whose tokens all see one another: (heads or 1, length, length)."""
        table = self._by_distance
        step = table.strides[1]
        # element (h, i, j) is table[h, j - i + last]
        view = as_strided(table[:, self._last_position :], (len(table), length, length), (table.strides[0], -step, step))
        return np.ascontiguousarray(view)


@cache
def signed_products_are_exact() -> bool:
    """Whether this processor multiplies uint8 by int8 codes without overflow.

    x86 processors without VNNI add pairs of products in 16 bits, which saturates; onnxruntime uses that instruction all the
    same. Unsigned codes are slower but exact everywhere.
    """
    graph = Graph()
    codes = graph.input("codes", "uint8", ("rows", 64))
    matrix = graph.small(np.full((64, 16), 127, np.int8))
    graph.output("sums", graph.node("MatMulInteger", [codes, matrix]), "int32", ("rows", 16))
    session = ort.InferenceSession(graph.to_bytes({}), providers=["CPUExecutionProvider"])
    (sums,) = session.run(["sums"], {"codes": np.full((2, 64), 255, np.uint8)})
    return bool((sums == 64 * 255 * 127).all())
