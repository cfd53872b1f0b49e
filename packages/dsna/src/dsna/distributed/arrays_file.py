"""Arrays in one file, read as maps of it: what a shard is stored in.

A file holds raw arrays, one after another; their names, dtypes, shapes and places are in a description beside it (the
manifest of a model). Nothing in a file is ever run or unpacked.
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

_ALIGNED = 64
_CHUNK = 1 << 22
_DTYPES = ("float64", "int64", "int32")
_LONGEST_AXIS = 1 << 40


class StoreError(DSNAError):
    """A store of shards that cannot be read: the message names the file, the problem and the remedy."""


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Write arrays to a file, whole or not at all; returns their description.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     about = write_arrays(Path(folder) / "a.bin", {"x": np.arange(3)})
    ...     read_arrays(Path(folder) / "a.bin", about)["x"].tolist()
    [0, 1, 2]
    """
    places: dict[str, list[Any]] = {}
    digest, size = hashlib.sha256(), 0
    try:
        with whole_file(path) as stream:
            for name, array in arrays.items():
                gap = b"\0" * (-size % _ALIGNED)
                plain = np.ascontiguousarray(array)
                places[name] = [str(plain.dtype), list(plain.shape), size + len(gap)]
                for piece in (gap, plain.reshape(-1).view(np.uint8).data if plain.size else b""):
                    stream.write(piece)
                    digest.update(piece)
                    size += len(piece)
    except OSError as error:
        raise FileError(explained(error)) from error
    return {"file": path.name, "size": size, "sha256": digest.hexdigest(), "arrays": places}


def sha256_of(path: Path) -> str:
    """Digest of a file, read a piece at a time."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while piece := stream.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def check_size(path: Path, about: dict[str, Any]) -> None:
    """Refuse a file that is missing, or longer or shorter than the one that was described; it is not read."""
    if not path.is_file():
        raise StoreError(f"{path}: this file of the model is missing. Copy the whole folder, or train again.")
    if path.stat().st_size != about["size"]:
        raise _changed(path)


def check_file(path: Path, about: dict[str, Any]) -> None:
    """Refuse a file that is missing, or not the one that was described."""
    check_size(path, about)
    if sha256_of(path) != about["sha256"]:
        raise _changed(path)


def _changed(path: Path) -> StoreError:
    return StoreError(f"{path}: changed since the model was saved, or damaged. Copy the folder again, or train again.")


def unsound(path: Path) -> AbstractContextManager[None]:
    """A context in which whatever is wrong with the content of a file is said of it in a sentence."""
    return damage_refused(
        f"{path}: no sound part of this model", "Copy the whole folder again, or train again.", StoreError
    )


def read_arrays(path: Path, about: dict[str, Any], names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of a file as maps of it, or some of them."""
    arrays: dict[str, np.ndarray] = {}
    for name, (dtype, shape, offset) in about["arrays"].items():
        lengths = (*shape, offset)
        if dtype not in _DTYPES or any(type(n) is not int or not 0 <= n <= _LONGEST_AXIS for n in lengths):
            raise StoreError(f"{path}: {name} is described as no array of a model. Train again.")
        if offset + math.prod(shape) * np.dtype(dtype).itemsize > about["size"]:
            raise StoreError(f"{path}: {name} is described past the end of the file. Train again.")
        if names is None or name in names:
            empty = 0 in shape
            arrays[name] = (
                np.empty(shape, dtype) if empty else np.memmap(path, dtype, mode="r", offset=offset, shape=tuple(shape))
            )
    return arrays


class StoredShard:
    """A shard in a file, opened when it is first used.

    Parameters
    ----------
    path : the file.
    about : its description.
    limits : what it must fit; None where it was just made.
    """

    def __init__(self, path: Path, about: dict[str, Any], limits: ShardLimits | None = None):
        self.path, self.about, self.limits = path, about, limits
        self._shard: Shard | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_shard": None}  # a worker maps the file itself

    def open(self) -> Shard:
        """The shard, checked when it is opened for the first time."""
        if self._shard is None:
            if self.limits is not None:
                check_file(self.path, self.about)
            with unsound(self.path):
                shard = Shard.restored(dict(read_arrays(self.path, self.about)))
                if self.limits is not None:
                    shard.check_limits(self.limits)
            self._shard = shard
        return self._shard


def store_shard(shard: Shard, path: Path) -> StoredShard:
    """Write a shard to a file, and stand for it."""
    return StoredShard(path, write_arrays(path, shard.state))
