"""Lossless packing of arrays into fewer bytes before compression, and back.

Whole numbers take the shortest type that holds them, or their differences where these are shorter. Floats are split
into planes, one for each byte of a number: signs and exponents repeat, so they compress well apart from the digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MIN_SIZE = 64  # numbers for which packing is worth it
_PACKED = {code: np.dtype(code) for code in ("<i2", "<i4", "<i8", "<f4", "<f8")}
_SHORT = tuple(np.dtype(code) for code in ("u1", "<i1", "<u2", "<i2", "<u4", "<i4"))


def pack(array: np.ndarray) -> tuple[np.ndarray, dict[str, str]] | None:
    """Return the array to store and how to unpack it; None where packing gains nothing."""
    dtype = array.dtype
    if dtype.str not in _PACKED or array.size < _MIN_SIZE or not array.ndim:
        return None
    if dtype.kind == "f":
        digits = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, dtype.itemsize)
        return np.ascontiguousarray(np.moveaxis(digits, -1, 0)), {"how": "planes", "dtype": dtype.str}
    stored, packing = _shortest(array), "whole"
    if array.ndim == 1:
        steps = _shortest(np.diff(array, prepend=array.dtype.type(0)))
        if steps.itemsize < stored.itemsize and np.array_equal(np.cumsum(steps, dtype=dtype), array):
            stored, packing = steps, "steps"
    return (stored, {"how": packing, "dtype": dtype.str}) if stored.itemsize < dtype.itemsize else None


def unpacked_bytes(stored: np.ndarray, packing: Any, dtype: Any) -> int:
    """Return the size of the array when unpacked."""
    return stored.nbytes if packing == "planes" else stored.size * _PACKED[dtype].itemsize


def unpack(stored: np.ndarray, packing: Any, dtype: Any) -> np.ndarray:
    """Unpack an array; the result is a copy."""
    target_dtype = _PACKED[dtype]
    if packing == "planes" and stored.dtype == np.uint8 and stored.ndim > 1 and len(stored) == target_dtype.itemsize:
        return np.ascontiguousarray(np.moveaxis(stored, 0, -1)).view(target_dtype).reshape(stored.shape[1:])
    if stored.dtype in _SHORT and target_dtype.kind == "i":
        if packing == "whole":
            return stored.astype(target_dtype)
        if packing == "steps" and stored.ndim == 1:
            return np.cumsum(stored, dtype=target_dtype)
    raise ValueError(f"an array of {stored.dtype} and shape {stored.shape} is not packed as {packing!r} of {dtype!r}")


def _shortest(numbers: np.ndarray) -> np.ndarray:
    """Cast whole numbers to the shortest type that holds them."""
    low, high = int(numbers.min()), int(numbers.max())
    fitting = (dtype for dtype in _SHORT if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max)
    return numbers.astype(next(fitting, numbers.dtype))
