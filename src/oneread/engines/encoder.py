"""The small encoder: its shape, its weights, and its graph for onnxruntime, written from the weights at load time.

A post-norm transformer encoder (BERT, MiniLM, MPNet): embeddings, then layers of attention and a feed-forward block, each
followed by a layer norm of the sum with its input. Attention scores take an additive bias that carries relative positions
and who sees whom. The last layer runs for the slots only, and a slot's score is its hidden row times one vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .onnx_wire import Graph

_CONTRIB = "com.microsoft"
_GELU_FLOOR = -0.1701
"""Just below the least value of GELU, exact (-0.16997) or approximated (-0.17004)."""


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """The shape of an encoder.

    Attributes:
        layers: how many.
        width: of the hidden rows.
        heads: attention heads; they divide the width.
        ffn: width of the feed-forward block.
        vocab: rows of the word embedding.
        positions: rows of the position embedding (a token-type row, where a model has one, is added to them beforehand).
        position_offset: row of the position embedding that position 0 takes.
        relative_buckets: rows of the relative bias table, half for each direction; 0 when the model has none.
        relative_distance: from this distance on all positions share a bucket.
        eps: of the layer norms.
        gelu: ``"erf"`` or its ``"tanh"`` approximation.
    """

    layers: int
    width: int
    heads: int
    ffn: int
    vocab: int
    positions: int
    position_offset: int = 0
    relative_buckets: int = 0
    relative_distance: int = 128
    eps: float = 1e-12
    gelu: Literal["erf", "tanh"] = "erf"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every weight, by name."""
        d, f = self.width, self.ffn
        shapes: dict[str, tuple[int, ...]] = {"we.weight": (self.vocab, d), "pe.weight": (self.positions, d), "head.w": (d,)}
        if self.relative_buckets:
            shapes["rb.weight"] = (self.relative_buckets, self.heads)
        for norm in ("ln0", *(f"lay.{i}.{n}" for i in range(self.layers) for n in ("n1", "n2"))):
            shapes |= {f"{norm}.weight": (d,), f"{norm}.bias": (d,)}
        for i in range(self.layers):
            for name, (rows, columns) in {"qkv": (3 * d, d), "o": (d, d), "f1": (f, d), "f2": (d, f)}.items():
                shapes |= {f"lay.{i}.{name}.weight": (rows, columns), f"lay.{i}.{name}.bias": (rows,)}
        return shapes


@dataclass(frozen=True, slots=True, eq=False)
class Int8Matrix:
    """A matrix of shape (rows, columns) as ``codes * scale[:, None] / smooth``.

    Attributes:
        codes: int8.
        scale: float32 (rows,).
        smooth: float32 (columns,) or None for ones. The matrix's inputs are divided by it before they are rounded, so that
            a few channels of large values do not coarsen the rest (Xiao et al. 2022, SmoothQuant).
    """

    codes: NDArray[np.int8]
    scale: NDArray[np.float32]
    smooth: NDArray[np.float32] | None = None

    def dense(self) -> NDArray[np.float32]:
        """The matrix as float32."""
        dense = self.codes.astype(np.float32) * self.scale[:, None]
        return dense if self.smooth is None else dense / self.smooth


Weight: TypeAlias = "NDArray[np.float32] | Int8Matrix"
Weights: TypeAlias = Mapping[str, Weight]


def dense(weight: Weight) -> NDArray[np.float32]:
    """A weight as a float32 array."""
    return weight.dense() if isinstance(weight, Int8Matrix) else weight


def relative_buckets(distance: NDArray[np.int64], buckets: int, max_distance: int) -> NDArray[np.int64]:
    """The bucket of each signed distance (key position - query position), as T5 defines it for a bidirectional encoder.

    Half of the buckets are for keys after the query. Of each half, one half is exact (distances 0, 1, ...) and the rest
    grow with the logarithm up to `max_distance`. Source: Raffel et al. 2020, relative attention bias; as in MPNet.
    """
    half = buckets // 2
    exact = half // 2
    size = np.abs(distance)
    # float32, as in the models' own code: the floor of the logarithm must fall the same way
    ratio = np.log(np.maximum(size, 1).astype(np.float32) / np.float32(exact)) / np.float32(np.log(max_distance / exact))
    far = np.minimum(exact + (ratio * np.float32(half - exact)).astype(np.int64), half - 1)
    found: NDArray[np.int64] = (distance > 0) * half + np.where(size < exact, size, far)
    return found


def build(config: EncoderConfig, weights: Weights, unsigned: bool = False) -> Graph:
    """The encoder as an ONNX graph.

    Inputs: ``ids`` and ``positions`` (rows, length) int64; ``bias`` (rows or 1, heads or 1, length, length) float32, added to
    the attention scores; ``slots`` (rows, slots) int64, indices into the flattened rows; ``slot_bias`` (rows or 1, heads or 1,
    slots, length) float32, the bias of the slots' own rows. Output: ``scores`` (rows, slots) float32.

    A float weight is multiplied in float32. An `Int8Matrix` is multiplied in integers: each token's row is rounded to int8
    with a scale of its own, so that no token's result depends on another's, and the sums are exact in int32.

    Args:
        unsigned: write int8 matrices as uint8 around 128, for processors whose products of signed codes overflow. The
            scores are the same.
    """
    g = Graph()
    w = _Weighted(g, config, weights, unsigned)
    ids, positions = (g.input(name, "int64", ("rows", "length")) for name in ("ids", "positions"))
    bias = g.input("bias", "float32", ("bias_rows", "bias_heads", "length", "length"))
    slots = g.input("slots", "int64", ("rows", "slots"))
    slot_bias = g.input("slot_bias", "float32", ("slot_bias_rows", "slot_bias_heads", "slots", "length"))

    x = g.node("Add", [w.rows("we.weight", ids), w.rows("pe.weight", positions)])
    x = g.node("LayerNormalization", [x, w.vector("ln0.weight"), w.vector("ln0.bias")], axis=-1, epsilon=config.eps)
    x = w.flat(x)
    for i in range(config.layers - 1):
        x = _layer(w, f"lay.{i}.", x, x, ids, bias)
    # only the slots' rows of the last layer are used
    at_slots = w.flat(g.node("Gather", [x, slots], axis=0))
    x = _layer(w, f"lay.{config.layers - 1}.", at_slots, x, ids, slot_bias)
    scores = g.node("MatMul", [x, g.constant("head.w", dense(weights["head.w"])[:, None])])
    g.output("scores", g.node("Reshape", [scores, g.node("Shape", [slots])]), "float32", ("rows", "slots"))
    return g


def _layer(w: _Weighted, name: str, queries: str, x: str, ids: str, bias: str) -> str:
    """One layer: `queries` (tokens asked for, width) attend to `x` (all tokens, width)."""
    g, config = w.graph, w.config
    inner = w.factor(x)
    asking = inner if queries == x else w.factor(queries)
    per_row = g.node("Concat", [g.node("Shape", [ids], start=0, end=1), w.ints(-1, config.width)], axis=0)
    q, k, v = (
        g.node("Reshape", [w.linear(rows, f"{name}qkv.weight", part), per_row])
        for part, rows in enumerate((asking, inner, inner))
    )
    attended = g.node(
        "MultiHeadAttention", [q, k, v, w.vector(f"{name}qkv.bias"), "", bias], domain=_CONTRIB, num_heads=config.heads
    )
    o = w.linear(w.factor(w.flat(attended)), f"{name}o.weight")
    x = w.add_norm(o, w.vector(f"{name}o.bias"), queries, f"{name}n1")
    hidden = w.gelu(w.linear(w.factor(x), f"{name}f1.weight"), f"{name}f1.bias")
    out = w.linear(w.factor(hidden, _GELU_FLOOR), f"{name}f2.weight")
    return w.add_norm(out, w.bias_above(_GELU_FLOOR, f"{name}f2"), x, f"{name}n2")


@dataclass(frozen=True, slots=True)
class _Factor:
    """The left side of a product: as float32, and, once an int8 matrix asked for it, as codes with a scale for each token.

    With a floor, no value lies below it, and the codes stand for value - floor in all of 0..255.
    """

    dense: str
    floor: float | None
    int8: list[tuple[str, str]]


class _Weighted:
    """Operations that take a weight by its name."""

    def __init__(self, graph: Graph, config: EncoderConfig, weights: Weights, unsigned: bool) -> None:
        self.graph, self.config, self._weights, self._unsigned = graph, config, weights, unsigned

    def ints(self, *values: int) -> str:
        return self.graph.small(np.array(values, np.int64))

    def flat(self, x: str) -> str:
        """As (tokens, width)."""
        return self.graph.node("Reshape", [x, self.ints(-1, self.config.width)])

    def vector(self, name: str) -> str:
        return self.graph.constant(name, dense(self._weights[name]))

    def rows(self, name: str, indices: str) -> str:
        """Rows of a table, as float32."""
        g, weight = self.graph, self._weights[name]
        if not isinstance(weight, Int8Matrix):
            return g.node("Gather", [g.constant(name, weight), indices], axis=0)
        codes = g.node("Gather", [g.constant(name, weight.codes), indices], axis=0)
        scale = g.node("Gather", [g.constant(f"{name}.scale", weight.scale[:, None]), indices], axis=0)
        return g.node("Mul", [g.node("Cast", [codes], to=1), scale])

    def factor(self, x: str, floor: float | None = None) -> _Factor:
        return _Factor(x, floor, [])

    def bias_above(self, floor: float, name: str) -> str:
        """The bias of a linear layer whose input was a factor with this floor."""
        weight, bias = self._weights[f"{name}.weight"], dense(self._weights[f"{name}.bias"])
        if isinstance(weight, Int8Matrix):
            bias = bias + np.float32(floor) * weight.dense().sum(axis=1)
        return self.graph.constant(f"{name}.bias", bias)

    def linear(self, x: _Factor, name: str, part: int | None = None) -> str:
        """x times the transposed matrix, without bias; `part` picks one of three stacked matrices."""
        g, weight = self.graph, self._weights[name]
        whole = name
        rows, name = self._part(name, part)
        if not isinstance(weight, Int8Matrix):
            return g.node("MatMul", [x.dense, g.constant(name, weight[rows].T)])
        smooth = None if weight.smooth is None else self.graph.constant(f"{whole}.smooth", 1 / weight.smooth)
        codes, scale = self._int8(x, smooth)
        matrix = weight.codes[rows].T
        at = g.constant(name, matrix.view(np.uint8) ^ np.uint8(128) if self._unsigned else matrix)
        one, zero = g.small(np.ones((), np.float32)), g.small(np.full((), 128 if x.floor is None else 0, np.uint8))
        inputs = [codes, at, one, g.constant(f"{name}.scale", weight.scale[rows]), zero]
        if self._unsigned:
            inputs.append(g.small(np.full((), 128, np.uint8)))
        product = g.node("MatMulIntegerToFloat", inputs, domain=_CONTRIB)
        return g.node("Mul", [product, scale])

    def _part(self, name: str, part: int | None) -> tuple[slice, str]:
        """The rows of one of three stacked matrices, and a name for it."""
        size = self.config.width
        return (slice(None), name) if part is None else (slice(part * size, (part + 1) * size), f"{name}.{part}")

    def _int8(self, x: _Factor, smooth: str | None) -> tuple[str, str]:
        """Codes (tokens, width) uint8 around 128, or above 0 with a floor, and scales (tokens, 1) float32."""
        if not x.int8:
            g = self.graph
            values = x.dense if x.floor is None else g.node("Add", [x.dense, g.small(np.array(-x.floor, np.float32))])
            if smooth is not None:
                values = g.node("Mul", [values, smooth])
            size, steps = (g.node("Abs", [values]), 127) if x.floor is None else (values, 255)
            largest = g.node("ReduceMax", [size, self.ints(-1)], keepdims=1)
            scale = g.node("Mul", [largest, g.small(np.array(1 / steps, np.float32))])
            each = g.node("Reshape", [scale, self.ints(-1)])
            zero = np.full(1, 128 if x.floor is None else 0, np.uint8)
            zeros = g.node("ConstantOfShape", [g.node("Shape", [each])], value=zero)
            x.int8.append((g.node("QuantizeLinear", [values, each, zeros], axis=0), scale))
        return x.int8[0]

    def add_norm(self, x: str, bias: str, skip: str, norm: str) -> str:
        """Layer norm of x + bias + skip. Three plain nodes: onnxruntime's fused SkipLayerNormalization is many times slower."""
        g = self.graph
        total = g.node("Add", [g.node("Add", [x, bias]), skip])
        scale, shift = self.vector(f"{norm}.weight"), self.vector(f"{norm}.bias")
        return g.node("LayerNormalization", [total, scale, shift], axis=-1, epsilon=self.config.eps)

    def gelu(self, x: str, bias: str) -> str:
        op = "BiasGelu" if self.config.gelu == "erf" else "FastGelu"
        return self.graph.node(op, [x, self.vector(bias)], domain=_CONTRIB)
