"""Rounding a float matrix to blocks of 4-bit codes, as `oneread.readers.weights` stores them (int8: `oneread.readers.export`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oneread.readers.weights import BLOCK

Float = NDArray[np.float32]

_SHRINK = np.linspace(0.7, 1.0, 7, dtype=np.float32)


def smoothing(largest: Float) -> NDArray[np.float16]:
    """Divisors (columns,) of a matrix's inputs: the square root of how far a channel's largest value exceeds the median one.

    The exponent 1/2 gave the least error of the scores among 0.5, 0.7 and 0.9, and was better than dividing by the weights'
    sizes too (Xiao et al. 2022, SmoothQuant).
    """
    return np.sqrt(np.maximum(largest / np.median(largest), 1)).astype(np.float16)


def q4(values: Float, hessian: Float | None = None) -> tuple[NDArray[np.uint8], NDArray[np.float16]]:
    """Packed codes (rows, columns / 2) and float16 block scales (rows, columns / 32).

    Each block's scale is the one of 14 candidates, of either sign, with the least squared error. With a Hessian (columns,
    columns), the mean of x x^T over the matrix's inputs, the columns are rounded one after another and each one's error is
    made up for by those that follow (Frantar et al. 2022, GPTQ).
    """
    rows, columns = values.shape
    blocks = columns // BLOCK
    codes, scale = np.empty((rows, columns), np.uint8), np.empty((rows, blocks), np.float16)
    if hessian is None:
        for b in range(blocks):
            part = slice(b * BLOCK, (b + 1) * BLOCK)
            scale[:, b] = _best_scale(values[:, part])
            codes[:, part] = _codes(values[:, part], scale[:, b, None])
    else:
        _gptq(values, hessian, codes, scale)
    return codes[:, 0::2] | codes[:, 1::2] << 4, scale


def _gptq(values: Float, hessian: Float, codes: NDArray[np.uint8], scale: NDArray[np.float16]) -> None:
    h = hessian.astype(np.float64)
    h[np.diag_indices_from(h)] += 0.01 * np.mean(np.diag(h))
    upper = np.linalg.cholesky(np.linalg.inv(h)).T.astype(np.float32)
    rest = np.ascontiguousarray(values.T, np.float32)  # one column of the matrix after another
    for b in range(scale.shape[1]):
        start, stop = b * BLOCK, (b + 1) * BLOCK
        scale[:, b] = _best_scale(rest[start:stop].T, 1 / np.diag(upper)[start:stop] ** 2)
        step = np.where(scale[:, b] == 0, 1, scale[:, b]).astype(np.float32)
        errors = np.empty((BLOCK, len(values)), np.float32)
        for j in range(start, stop):
            code = np.clip(np.rint(rest[j] / step), -8, 7)
            codes[:, j] = code + 8
            errors[j - start] = (rest[j] - code * step) / upper[j, j]
            rest[j + 1 : stop] -= upper[j, j + 1 : stop, None] * errors[j - start]
        rest[stop:] -= upper[start:stop, stop:].T @ errors


def _best_scale(block: Float, weight: Float | None = None) -> NDArray[np.float16]:
    """The scale (rows,) of each row of a block (rows, 32); `weight` (32,) says what an error in each column costs."""
    largest = np.abs(block).max(axis=1)
    best_error, best = np.full(len(block), np.inf, np.float32), np.zeros(len(block), np.float16)
    for shrink in _SHRINK:
        for sign in (1, -1):
            candidate = (largest * (sign * shrink / 8)).astype(np.float16)
            step = np.where(candidate == 0, 1, candidate).astype(np.float32)[:, None]
            difference = block - np.clip(np.rint(block / step), -8, 7) * step
            error = np.einsum("ij,ij->i", difference, difference if weight is None else difference * weight)
            better = error < best_error
            best_error[better], best[better] = error[better], candidate[better]
    return best


def _codes(values: Float, scale: NDArray[np.float16]) -> NDArray[np.uint8]:
    safe = np.where(scale == 0, np.float16(1), scale).astype(np.float32)
    return (np.clip(np.rint(values / safe), -8, 7) + 8).astype(np.uint8)
