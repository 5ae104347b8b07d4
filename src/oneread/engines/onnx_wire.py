"""Writes an ONNX model as bytes, without the onnx package: the few messages of onnx.proto that an encoder's graph needs.

Protocol buffers' wire format: a field is a varint key ``number << 3 | wire type``, then a varint (type 0), a length and
bytes (type 2) or four bytes (type 5). Field numbers are those of onnx/onnx.proto (IR version 10).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Attribute: TypeAlias = "int | float | NDArray[Any]"
Shape: TypeAlias = Sequence[int | str]

IR_VERSION = 10
OPSET = 21
_ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "float16": 10}


@dataclass
class Graph:
    """An ONNX graph under construction.

    Attributes:
        constants: the weights by name. They stay outside the written bytes: hand them to the session beside the model.
    """

    constants: dict[str, NDArray[Any]] = field(default_factory=dict)
    _nodes: list[bytes] = field(default_factory=list)
    _inputs: list[bytes] = field(default_factory=list)
    _outputs: list[bytes] = field(default_factory=list)
    _small: dict[str, NDArray[Any]] = field(default_factory=dict)

    def input(self, name: str, dtype: str, shape: Shape) -> str:
        """Declare an input; a string in `shape` names a length known at run time."""
        self._inputs.append(_value_info(name, dtype, shape))
        return name

    def output(self, name: str, tensor: str, dtype: str, shape: Shape) -> None:
        """Declare a tensor an output under this name."""
        self._nodes.append(_text(1, tensor) + _text(2, name) + _text(4, "Identity"))
        self._outputs.append(_value_info(name, dtype, shape))

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """A weight under this name, kept outside the bytes."""
        self.constants[name] = np.ascontiguousarray(value)
        return name

    def small(self, value: NDArray[Any]) -> str:
        """A constant of a few values, written into the bytes."""
        name = f"c_{value.dtype}_{value.shape}_{value.tobytes().hex()}"
        self._small[name] = value
        return name

    def node(self, op: str, inputs: Sequence[str], domain: str = "", **attributes: Attribute) -> str:
        """Append a node with one output; returns its name. An empty input name leaves an optional input out."""
        name = f"{op}_{len(self._nodes)}"
        body = b"".join(_text(1, i) for i in inputs) + _text(2, name) + _text(3, name) + _text(4, op)
        body += b"".join(_bytes(5, _attribute(k, v)) for k, v in attributes.items()) + (_text(7, domain) if domain else b"")
        self._nodes.append(body)
        return name

    def to_bytes(self, domains: Mapping[str, int]) -> bytes:
        """The ModelProto. `domains` are operator sets beside the standard one, with their versions."""
        constants = [_external(name, value) for name, value in self.constants.items()]
        constants += [_tensor(name, value) for name, value in self._small.items()]
        graph = _repeated(1, self._nodes) + _text(2, "encoder") + _repeated(5, constants)
        graph += _repeated(11, self._inputs) + _repeated(12, self._outputs)
        opsets = {"": OPSET, **domains}
        imports = [_text(1, domain) + _varint(2, version) for domain, version in opsets.items()]
        return _varint(1, IR_VERSION) + _text(2, "oneread") + _bytes(7, graph) + _repeated(8, imports)


def _value_info(name: str, dtype: str, shape: Shape) -> bytes:
    dims = [_text(2, d) if isinstance(d, str) else _varint(1, d) for d in shape]
    tensor = _varint(1, _ELEMENT_TYPES[dtype]) + _bytes(2, _repeated(1, dims))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _tensor(name: str, value: NDArray[Any]) -> bytes:
    return _tensor_head(name, value) + _bytes(9, np.ascontiguousarray(value).tobytes())


def _external(name: str, value: NDArray[Any]) -> bytes:
    """A tensor whose data the session is given beside the model; the location is never opened."""
    return _tensor_head(name, value) + _bytes(13, _text(1, "location") + _text(2, "given-in-memory")) + _varint(14, 1)


def _tensor_head(name: str, value: NDArray[Any]) -> bytes:
    dims = b"".join(_varint(1, d) for d in value.shape)
    return dims + _varint(2, _ELEMENT_TYPES[value.dtype.name]) + _text(8, name)


def _attribute(name: str, value: Attribute) -> bytes:
    head = _text(1, name)
    if isinstance(value, float):
        return head + _key(2, 5) + struct.pack("<f", value) + _varint(20, 1)
    if isinstance(value, int):
        return head + _varint(3, value) + _varint(20, 2)
    return head + _bytes(5, _tensor("", value)) + _varint(20, 4)


def _repeated(number: int, messages: Iterable[bytes]) -> bytes:
    return b"".join(_bytes(number, m) for m in messages)


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _bytes(number: int, value: bytes) -> bytes:
    return _key(number, 2) + _uint(len(value)) + value


def _varint(number: int, value: int) -> bytes:
    return _key(number, 0) + _uint(value & 0xFFFF_FFFF_FFFF_FFFF)


def _key(number: int, wire_type: int) -> bytes:
    return _uint(number << 3 | wire_type)


def _uint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
