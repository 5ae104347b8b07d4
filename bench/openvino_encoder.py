"""The encoder as an OpenVINO graph, built with its operators and no ONNX step: a candidate of `runtime_choice`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset13 as op

from oneread.engines.encoder import EncoderConfig

Kind = Literal["float", "int8", "w8a8"]


def build(
    config: EncoderConfig, dense: Mapping[str, NDArray[np.float32]], packed: Mapping[str, Any], kind: Kind,
    largest: Mapping[str, float],
) -> ov.Model:  # fmt: skip
    """The same inputs and output as `oneread.engines.encoder.build`.

    Args:
        dense: float32 vectors and tables, and for kind float the matrices.
        packed: for int8 and w8a8 (codes, row scales) of each matrix.
        largest: for w8a8 the clipping range of each linear layer's input.
    """
    ids, positions, slots = (op.parameter([-1, -1], np.int64, name=n) for n in ("ids", "positions", "slots"))
    bias, slot_bias = (op.parameter([-1, -1, -1, -1], np.float32, name=n) for n in ("bias", "slot_bias"))
    axis = op.constant(np.int64(0))

    def vector(name: str) -> Any:
        return op.constant(dense[name])

    def rows(name: str, indices: Any) -> Any:
        if kind == "float":
            return op.gather(op.constant(dense[name]), indices, axis)
        codes, scale = packed[f"{name}:rows"]
        table = op.multiply(op.convert(op.constant(codes), np.float32), op.constant(scale[:, None]))
        return op.gather(table, indices, axis)

    def norm(x: Any, name: str) -> Any:
        x = op.mvn(x, op.constant(np.array([-1], np.int64)), True, config.eps, "INSIDE_SQRT")
        return op.add(op.multiply(x, vector(f"{name}.weight")), vector(f"{name}.bias"))

    def linear(x: Any, name: str) -> Any:
        if kind == "w8a8":
            high = np.float32(largest[name])
            low = -high * np.float32(128 / 127)
            x = op.fake_quantize(x, *(op.constant(v) for v in (low, high, low, high)), 256)
        if kind == "float":
            weight: Any = op.constant(dense[f"{name}.weight"])
        else:
            codes, scale = packed[f"{name}.weight"]
            weight = op.multiply(op.convert(op.constant(codes), np.float32), op.constant(scale[:, None]))
        return op.add(op.matmul(x, weight, False, True), vector(f"{name}.bias"))

    def heads(x: Any) -> Any:
        shape = op.constant(np.array([0, 0, config.heads, config.width // config.heads], np.int64))
        return op.transpose(op.reshape(x, shape, True), op.constant(np.array([0, 2, 1, 3], np.int64)))

    x = norm(op.add(rows("we.weight", ids), rows("pe.weight", positions)), "ln0")
    for i in range(config.layers):
        name = f"lay.{i}."
        parts = op.split(linear(x, f"{name}qkv"), op.constant(np.int64(2)), 3)
        q, k, v = (heads(parts.output(j)) for j in range(3))
        mask = bias
        if i == config.layers - 1:
            flat = op.reshape(x, op.constant(np.array([-1, config.width], np.int64)), False)
            x = op.gather(flat, slots, axis)
            queries = op.reshape(parts.output(0), op.constant(np.array([-1, config.width], np.int64)), False)
            q, mask = heads(op.gather(queries, slots, axis)), slot_bias
        attended = op.transpose(op.scaled_dot_product_attention(q, k, v, mask), op.constant(np.array([0, 2, 1, 3], np.int64)))
        attended = op.reshape(attended, op.constant(np.array([0, 0, config.width], np.int64)), True)
        x = norm(op.add(x, linear(attended, f"{name}o")), f"{name}n1")
        hidden = op.gelu(linear(x, f"{name}f1"), config.gelu)
        x = norm(op.add(x, linear(hidden, f"{name}f2")), f"{name}n2")
    scores = op.reduce_sum(op.multiply(x, vector("head.w")), op.constant(np.array([-1], np.int64)))
    return ov.Model([scores], [ids, positions, bias, slots, slot_bias], "encoder")
