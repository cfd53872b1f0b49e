"""Arrays in fewer bytes, before they are compressed, and back: exactly the same numbers.

Whole numbers take the shortest type that holds them, or that holds their differences where these are shorter. Floats
are dealt into planes, one for each byte of a number: signs and exponents repeat, and compress well apart from the
digits, which do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_FEWEST = 64  # numbers for which it is worth it
_PACKED = {code: np.dtype(code) for code in ("<i2", "<i4", "<i8", "<f4", "<f8")}
_SHORT = tuple(np.dtype(code) for code in ("u1", "<i1", "<u2", "<i2", "<u4", "<i4"))


def pack(array: np.ndarray) -> tuple[np.ndarray, dict[str, str]] | None:
    """The array to store, and how the one given is made of it; None where nothing is gained."""
    dtype = array.dtype
    if dtype.str not in _PACKED or array.size < _FEWEST or not array.ndim:
        return None
    if dtype.kind == "f":
        digits = np.ascontiguousarray(array).view(np.uint8).reshape(*array.shape, dtype.itemsize)
        return np.ascontiguousarray(np.moveaxis(digits, -1, 0)), {"how": "planes", "dtype": dtype.str}
    stored, how = _shortest(array), "whole"
    if array.ndim == 1:
        steps = _shortest(np.diff(array, prepend=array.dtype.type(0)))
        if steps.itemsize < stored.itemsize and np.array_equal(np.cumsum(steps, dtype=dtype), array):
            stored, how = steps, "steps"
    return (stored, {"how": how, "dtype": dtype.str}) if stored.itemsize < dtype.itemsize else None


def unpacked_bytes(stored: np.ndarray, how: Any, dtype: Any) -> int:
    """Size that the array has again."""
    return stored.nbytes if how == "planes" else stored.size * _PACKED[dtype].itemsize


def unpack(stored: np.ndarray, how: Any, dtype: Any) -> np.ndarray:
    """The array again, which is one of its own."""
    into = _PACKED[dtype]
    if how == "planes" and stored.dtype == np.uint8 and stored.ndim > 1 and len(stored) == into.itemsize:
        return np.ascontiguousarray(np.moveaxis(stored, 0, -1)).view(into).reshape(stored.shape[1:])
    if stored.dtype in _SHORT and into.kind == "i":
        if how == "whole":
            return stored.astype(into)
        if how == "steps" and stored.ndim == 1:
            return np.cumsum(stored, dtype=into)
    raise ValueError(f"an array of {stored.dtype} and shape {stored.shape} is not packed as {how!r} of {dtype!r}")


def _shortest(numbers: np.ndarray) -> np.ndarray:
    """The same whole numbers in the shortest type."""
    low, high = int(numbers.min()), int(numbers.max())
    fitting = (dtype for dtype in _SHORT if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max)
    return numbers.astype(next(fitting, numbers.dtype))
