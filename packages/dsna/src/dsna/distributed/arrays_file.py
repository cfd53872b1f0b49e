"""Files of arrays that are read as memory maps: the format of a stored shard.

A file holds raw arrays, one after another; their names, dtypes, shapes and offsets are in the entry of the file in the
manifest of a model. Nothing in a file is ever run or unpacked.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.atomic import FileError, explained, whole_file
from .._utils.errors import DSNAError
from .._utils.invariants import damage_refused
from .shards import Shard, ShardLimits

_ALIGNMENT = 64
_CHUNK = 1 << 22
_DTYPES = ("float64", "int64", "int32")
_LONGEST_AXIS = 1 << 40


class StoreError(DSNAError):
    """A folder of a model that cannot be read or written; the message names the file, the problem and the remedy."""


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Write arrays to a file, completely or not at all; return the entry of the file in the manifest.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     entry = write_arrays(Path(folder) / "a.bin", {"x": np.arange(3)})
    ...     read_arrays(Path(folder) / "a.bin", entry)["x"].tolist()
    [0, 1, 2]
    """
    layout: dict[str, list[Any]] = {}
    digest, size = hashlib.sha256(), 0
    try:
        with whole_file(path) as stream:
            for name, array in arrays.items():
                padding = b"\0" * (-size % _ALIGNMENT)
                contiguous = np.ascontiguousarray(array)
                layout[name] = [str(contiguous.dtype), list(contiguous.shape), size + len(padding)]
                for piece in (padding, contiguous.reshape(-1).view(np.uint8).data if contiguous.size else b""):
                    stream.write(piece)
                    digest.update(piece)
                    size += len(piece)
    except OSError as error:
        raise FileError(explained(error)) from error
    return {"file": path.name, "size": size, "sha256": digest.hexdigest(), "arrays": layout}


def sha256_of(path: Path) -> str:
    """Compute the digest of a file, which is read in pieces."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def check_size(path: Path, entry: dict[str, Any]) -> None:
    """Refuse a file that is missing or whose size differs from its entry, without reading it."""
    if not path.is_file():
        raise StoreError(f"{path}: this file of the model is missing. Copy the whole folder, or train again.")
    if path.stat().st_size != entry["size"]:
        raise _changed(path)


def check_file(path: Path, entry: dict[str, Any]) -> None:
    """Refuse a file that is missing or differs from its entry."""
    check_size(path, entry)
    if sha256_of(path) != entry["sha256"]:
        raise _changed(path)


def _changed(path: Path) -> StoreError:
    return StoreError(f"{path}: changed since the model was saved, or damaged. Copy the folder again, or train again.")


def damaged_file_refused(path: Path) -> AbstractContextManager[None]:
    """Context manager that reports any damage to the content of a file in one sentence."""
    return damage_refused(f"{path}: invalid content", "Copy the whole folder again, or train again.", StoreError)


def read_arrays(path: Path, entry: dict[str, Any], names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """Map the arrays of a file, or those with these names."""
    arrays: dict[str, np.ndarray] = {}
    for name, (dtype, shape, offset) in entry["arrays"].items():
        lengths = (*shape, offset)
        if dtype not in _DTYPES or any(type(n) is not int or not 0 <= n <= _LONGEST_AXIS for n in lengths):
            raise StoreError(f"{path}: {name} has a wrong dtype or shape in the manifest. Train again.")
        if offset + math.prod(shape) * np.dtype(dtype).itemsize > entry["size"]:
            raise StoreError(f"{path}: {name} ends past the end of the file. Train again.")
        if names is None or name in names:
            is_empty = 0 in shape  # which cannot be mapped
            arrays[name] = (
                np.empty(shape, dtype)
                if is_empty
                else np.memmap(path, dtype, mode="r", offset=offset, shape=tuple(shape))
            )
    return arrays


class StoredShard:
    """A shard in a file, which is opened on first use.

    Parameters
    ----------
    path : the file.
    entry : its entry in the manifest.
    limits : required sizes and row numbers; None for a file that this process wrote.
    """

    def __init__(self, path: Path, entry: dict[str, Any], limits: ShardLimits | None = None):
        self.path, self.entry, self.limits = path, entry, limits
        self._shard: Shard | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_shard": None}  # each worker maps the file

    def open(self) -> Shard:
        """Return the shard, checked when it is opened for the first time."""
        if self._shard is None:
            if self.limits is not None:
                check_file(self.path, self.entry)
            with damaged_file_refused(self.path):
                shard = Shard.restored(dict(read_arrays(self.path, self.entry)))
                if self.limits is not None:
                    shard.check_limits(self.limits)
            self._shard = shard
        return self._shard


def store_shard(shard: Shard, path: Path) -> StoredShard:
    """Write a shard to a file and return the stored shard."""
    return StoredShard(path, write_arrays(path, shard.state))
