"""Arrays in one file, read as maps of it: what a shard is stored in.

A file holds raw arrays, one after another; their names, dtypes, shapes and places are in a description beside it (the
manifest of a model). Nothing in a file is ever run or unpacked.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.atomic import FileError, explained, whole_file
from .._utils.errors import DSNAError
from .shards import ROWS, Shard

_ALIGNED = 64
_CHUNK = 1 << 22
_DTYPES = ("float64", "int64", "int32")
_AXES = {"Z": 2, "label": 2, "trend": 2}
_FIELDS = (*ROWS, "leaf_ptr", "leaf_rows")


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


def read_arrays(path: Path, about: dict[str, Any]) -> dict[str, np.ndarray]:
    """The arrays of a file as maps of it."""
    found: dict[str, np.ndarray] = {}
    for name, (dtype, shape, offset) in about["arrays"].items():
        if dtype not in _DTYPES or any(type(n) is not int or n < 0 for n in (*shape, offset)):
            raise StoreError(f"{path}: {name} is described as no array of a model. Train again.")
        if offset + int(np.prod(shape)) * np.dtype(dtype).itemsize > about["size"]:
            raise StoreError(f"{path}: {name} is described past the end of the file. Train again.")
        empty = 0 in shape
        found[name] = (
            np.empty(shape, dtype) if empty else np.memmap(path, dtype, mode="r", offset=offset, shape=tuple(shape))
        )
    return found


class StoredShard:
    """A shard in a file, opened when it is first used.

    Parameters
    ----------
    path : the file.
    about : its description.
    limits : number of leaves and of strata, and columns of Z, trend and label, that it must fit; None where it was just
        made, and needs no check.
    """

    def __init__(self, path: Path, about: dict[str, Any], limits: tuple[int, int, int, int, int] | None = None):
        self.path, self.about, self.limits = path, about, limits
        self._shard: Shard | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_shard": None}  # a worker maps the file itself

    def open(self) -> Shard:
        """The shard, checked when it is opened for the first time."""
        if self._shard is None:
            if self.limits is not None:
                check_file(self.path, self.about)
            arrays = read_arrays(self.path, self.about)
            if set(arrays) != set(_FIELDS):
                raise StoreError(f"{self.path}: not the arrays of a shard. Train again.")
            shard = Shard(**arrays)
            if self.limits is not None and not _is_sound(shard, *self.limits):
                raise StoreError(f"{self.path}: no sound shard of this model. Copy the folder again, or train again.")
            self._shard = shard
        return self._shard


def _is_sound(shard: Shard, n_leaves: int, n_strata: int, width: int, trends: int, outputs: int) -> bool:
    """Whether every number in a shard is one that kernels can take."""
    n, ptr, rows = shard.n_rows, shard.leaf_ptr, shard.leaf_rows
    right = all(getattr(shard, name).ndim == _AXES.get(name, 1) for name in _FIELDS)
    right = right and all(len(getattr(shard, name)) == n for name in ROWS)
    right = right and (shard.Z.shape[1], shard.trend.shape[1], shard.label.shape[1]) == (width, trends, outputs)
    whole = {"code": "int64", "number": "int64", "fold": "int64", "leaf_ptr": "int64", "leaf_rows": "int32"}
    right = right and all(getattr(shard, name).dtype == whole.get(name, "float64") for name in _FIELDS)
    if not right or len(ptr) != n_leaves + 1 or ptr[0] != 0 or ptr[-1] != len(rows) or np.any(np.diff(ptr) < 0):
        return False
    within = not len(rows) or (rows.min() >= 0 and rows.max() < n)
    within = within and (not n or (shard.code.min() >= 0 and shard.code.max() < n_strata))
    within = within and bool(np.all(np.diff(shard.number) > 0)) and bool(np.all(shard.weight > 0))
    return bool(within and all(np.isfinite(a).all() for a in (shard.Z, shard.label, shard.weight, shard.trend)))


def store_shard(shard: Shard, path: Path) -> StoredShard:
    """Write a shard to a file, and stand for it."""
    return StoredShard(path, write_arrays(path, {name: getattr(shard, name) for name in _FIELDS}))
