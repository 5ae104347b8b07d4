"""How a reader's weights are stored, and how they are unpacked for the engine.

A tensor NAME is stored in one of three ways, in any of the safetensors shards:

- ``NAME``: float32 or float16 as it is.
- ``NAME.q8`` int8 (rows, columns) and ``NAME.scale`` float16 (rows,): value = code * scale of its row.
- ``NAME.q4`` uint8 (rows, columns / 2) and ``NAME.scale`` float16 (rows, columns / 32): two 4-bit codes to a byte, the even
  column in the low half; value = (code - 8) * scale of its block of 32 columns. A scale may be negative.

Beside the codes of a matrix there may be ``NAME.smooth`` float16 (columns,): the codes are of the matrix times it, column by
column, and the matrix's inputs are divided by it before they are rounded.

Matrices of 4-bit codes are unpacked to int8 with one scale for each row, which is what the engine multiplies with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from ..engines.encoder import EncoderConfig, Int8Matrix, Weight
from ..engines.startup import tell
from ..errors import ReaderError

BLOCK = 32
_CHUNK_VALUES = 1 << 19
_TABLES = ("we.weight", "pe.weight")


def load_weights(shards: Sequence[Path], config: EncoderConfig) -> dict[str, Weight]:
    """Every weight of the encoder, float32 or int8 with row scales.

    Raises:
        ReaderError: naming a tensor that is missing, of the wrong shape or type, not finite, stored twice, or not the encoder's.
    """
    stored: dict[str, NDArray[Any]] = {}
    for name, tensor in stored_tensors(shards):
        if name in stored:
            raise ReaderError(f"Tensor {name} is stored twice")
        stored[name] = tensor
    weights: dict[str, Weight] = {}
    shapes = config.shapes()
    for name, shape in shapes.items():
        tell("loading weights", len(weights), len(shapes))
        if f"{name}.q4" in stored:
            weights[name] = _from_q4(name, shape, stored)
        elif f"{name}.q8" in stored:
            codes = _take(stored, f"{name}.q8", shape, "int8")
            scale = _finite(f"{name}.scale", _take(stored, f"{name}.scale", shape[:1], "float16"))
            weights[name] = Int8Matrix(_laid_out(name, codes), scale.astype(np.float32), _smooth(name, shape, stored))
        else:
            weights[name] = _finite(name, _take(stored, name, shape, "float16", "float32")).astype(np.float32)
    for name in sorted(stored):
        raise ReaderError(f"Tensor {name} is not one of this encoder's")
    return weights


def unpack_q4(packed: NDArray[np.uint8], scale: NDArray[np.float16]) -> NDArray[np.float32]:
    """Values (rows, columns) float32 of 4-bit codes (rows, columns / 2) and block scales (rows, columns / 32)."""
    rows, columns = packed.shape[0], packed.shape[1] * 2
    codes = np.empty((rows, columns), np.int8)
    codes[:, 0::2] = packed & 15
    codes[:, 1::2] = packed >> 4
    codes -= 8
    blocks = codes.reshape(rows, columns // BLOCK, BLOCK) * scale.astype(np.float32)[:, :, None]
    return blocks.reshape(rows, columns)


def to_int8(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Codes and row scales (rows,) of the nearest int8 matrix; a row of zeros gets scale 0."""
    scale = np.abs(values).max(axis=1) / np.float32(127)
    codes = np.rint(values * (1 / np.where(scale > 0, scale, np.float32(1)))[:, None]).astype(np.int8)
    return codes, scale.astype(np.float32)


def _from_q4(name: str, shape: tuple[int, ...], stored: dict[str, NDArray[Any]]) -> Int8Matrix:
    rows, columns = shape
    packed = _take(stored, f"{name}.q4", (rows, columns // 2), "uint8")
    scale = _finite(f"{name}.scale", _take(stored, f"{name}.scale", (rows, columns // BLOCK), "float16"))
    codes = _laid_out(name, np.empty((rows, columns), np.int8))
    row_scale = np.empty(rows, np.float32)
    step = max(1, _CHUNK_VALUES // columns)
    for at in range(0, rows, step):  # so that only a part is ever float32
        part = slice(at, at + step)
        codes[part], row_scale[part] = to_int8(unpack_q4(packed[part], scale[part]))
    return Int8Matrix(codes, row_scale, _smooth(name, shape, stored))


def _laid_out(name: str, codes: NDArray[np.int8]) -> NDArray[np.int8]:
    """Codes of a table row by row, those of a matrix column by column: as the engine takes them, without another copy."""
    return codes if name in _TABLES else np.asfortranarray(codes)


def _smooth(name: str, shape: tuple[int, ...], stored: dict[str, NDArray[Any]]) -> NDArray[np.float32] | None:
    if name in _TABLES or f"{name}.smooth" not in stored:
        return None
    smooth = _finite(f"{name}.smooth", _take(stored, f"{name}.smooth", shape[1:], "float16")).astype(np.float32)
    if not (smooth > 0).all():
        raise ReaderError(f"Tensor {name}.smooth should be above 0")
    return smooth


def stored_tensors(shards: Sequence[Path]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Every tensor of the shards, as stored."""
    for path in shards:
        try:
            with safe_open(path, "np") as file:
                for name in file.keys():  # noqa: SIM118 - not a mapping
                    yield name, file.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise ReaderError(f"{path} is not a safetensors file") from error


def _take(stored: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...], *dtypes: str) -> NDArray[Any]:
    tensor = stored.pop(name, None)
    if tensor is None:
        raise ReaderError(f"Tensor {name} is missing")
    if tensor.shape != shape or tensor.dtype.name not in dtypes:
        raise ReaderError(f"Tensor {name} should be {' or '.join(dtypes)} {shape}, found {tensor.dtype.name} {tensor.shape}")
    return tensor


def _finite(name: str, tensor: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(tensor).all():
        raise ReaderError(f"Tensor {name} holds a value that is not finite")
    return tensor
