"""A partition of a table as arrays: features, target, weights, groups and row keys, checked and named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError

_MAX_LISTED = 5  # columns that a message names


@dataclass(frozen=True)
class Roles:
    """Roles of the columns of a partition; None for a role that no column has.

    Parameters
    ----------
    target : name of a column; for several outputs, their names.
    weight, group, key : names of columns. With a key, equal tables give equal samples however they are cut.
    features : names of the other columns, in the order of the model; None: all remaining columns.
    """

    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    group: str | None = None
    key: str | None = None
    features: tuple[str, ...] | None = None

    @property
    def non_features(self) -> tuple[str, ...]:
        """Columns that are not features."""
        outputs = self.target if isinstance(self.target, tuple) else (self.target,)
        return tuple(name for name in (*outputs, self.weight, self.group, self.key) if name is not None)


class Partition(NamedTuple):
    """The n rows of a partition that have a weight above zero."""

    X: np.ndarray  # (n, d)
    y: np.ndarray | None  # (n,) or (n, q), with the dtype of the input
    weight: np.ndarray  # (n,)
    group: np.ndarray | None  # (n,)
    key: np.ndarray | None  # (n,)
    position: np.ndarray  # (n,) position of each row in the partition
    names: tuple[str, ...] | None  # of the columns of X
    length: int  # rows of the partition, including those of weight zero

    def subset(self, rows: Any) -> Partition:
        """Return the partition with these rows only."""
        fields = ("X", "y", "weight", "group", "key", "position")
        arrays: dict[str, Any] = {name: getattr(self, name) for name in fields}
        selected: dict[str, Any] = {name: None if array is None else array[rows] for name, array in arrays.items()}
        return self._replace(**selected)


def read_partition(data: Any, roles: Roles, source: str) -> Partition:
    """Convert a partition to arrays.

    Parameters
    ----------
    data : data frame (pandas, polars, Arrow), dict of columns, tuple ``(X, y, sample_weight, groups)`` of arrays that
        may be shorter, or an object whose ``read()`` returns one of these.
    roles : the columns of a frame.
    source : name of the partition in messages.

    Examples
    --------
    >>> partition = read_partition({"a": [1, 2], "y": ["u", "v"]}, Roles(target="y"), "partition 0")
    >>> partition.X.tolist(), partition.y.tolist(), partition.names
    ([[1.0], [2.0]], ['u', 'v'], ('a',))
    """
    data = data.read() if hasattr(data, "read") else data
    X, names, role_columns = _columns(data, roles, source)
    y, weight, group, key = role_columns
    n = len(X)
    for name, values in zip(("y", "sample_weight", "groups", "key"), role_columns, strict=True):
        if values is not None and len(values) != n:
            raise DSNAError(f"{source}: {name} has {len(values)} rows, and X has {n}. Cut both alike.")
    sample_weight = np.ones(n) if weight is None else _numbers(weight, "sample_weight", source)
    if not np.all(np.isfinite(sample_weight) & (sample_weight >= 0.0)):
        raise DSNAError(f"{source}: sample_weight contains negative or non-finite numbers.")
    partition = Partition(X, y, sample_weight, group, key, np.arange(n), names, n)
    return partition if weight is None or sample_weight.all() else partition.subset(sample_weight > 0.0)


def _columns(
    data: Any, roles: Roles, source: str
) -> tuple[np.ndarray, tuple[str, ...] | None, tuple[np.ndarray | None, ...]]:
    """Features, their names, and target, weight, group and key."""
    if isinstance(data, tuple | np.ndarray):
        arrays = (data,) if isinstance(data, np.ndarray) else data
        X, *role_columns = (None if array is None else np.asarray(array) for array in arrays)
        if X is None or X.ndim != 2:
            shape = None if X is None else X.shape
            raise DSNAError(f"{source}: X has shape {shape}; it must have rows and columns.")
        return _matrix(X, source), None, (*role_columns, *[None] * (4 - len(role_columns)))
    frame = _Frame(data, source)
    missing_names = [name for name in (*roles.non_features, *(roles.features or ())) if name not in frame.names]
    if missing_names:
        noun = "columns" if len(missing_names) > 1 else "column"
        raise DSNAError(f"{source} lacks {noun} {_listed(missing_names)}; it has {_listed(frame.names)}.")
    names = roles.features or tuple(name for name in frame.names if name not in roles.non_features)
    if not names:
        raise DSNAError(f"{source}: it has no feature columns beside the target.")
    X = np.empty((len(frame[names[0]]), len(names)))
    for j, name in enumerate(names):
        X[:, j] = _numbers(frame[name], name, source)
    _refuse_missing(X, names, source)
    return X, names, tuple(_column(frame, name) for name in (roles.target, roles.weight, roles.group, roles.key))


def _column(frame: _Frame, name: str | tuple[str, ...] | None) -> np.ndarray | None:
    """Values of a column, or of several side by side; None without a name."""
    if isinstance(name, tuple):
        return np.stack([frame[output] for output in name], axis=1)
    return None if name is None else frame[name]


class _Frame:
    """A data frame of any library that converts a column to an array on access: some libraries have to copy it."""

    def __init__(self, data: Any, source: str):
        import narwhals as nw

        try:
            self.native: Any = data if isinstance(data, dict) else nw.from_native(data, eager_only=True)
        except TypeError as error:
            kind = f"{type(data).__module__}.{type(data).__name__}"
            raise DSNAError(f"{source} is a {kind}; it must be a data frame or a tuple (X, y) of arrays.") from error
        names: Any = getattr(self.native, "columns", self.native)
        self.names = {str(name): name for name in names}

    def __getitem__(self, name: str) -> np.ndarray:
        column = self.native[self.names[name]]
        return np.asarray(column) if isinstance(self.native, dict) else np.asarray(column.to_numpy())


def _matrix(X: np.ndarray, source: str) -> np.ndarray:
    numbers = _numbers(X, "X", source)
    _refuse_missing(numbers, None, source)
    return np.ascontiguousarray(numbers)


def _numbers(values: np.ndarray, column: str, source: str) -> np.ndarray:
    """Convert values to float64; refuse text and dates."""
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype=np.float64)
    if not values.size:
        return np.zeros(values.shape)
    try:
        if values.dtype.kind not in "O":
            raise TypeError(values.dtype)
        if any(isinstance(value, str) for value in values.ravel()[:1000]):
            raise TypeError("text")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DSNAError(
            f"{source}: column {column!r} holds {values.dtype if values.dtype.kind != 'O' else 'text'}, not numbers. "
            "Encode it first, in the same way in all partitions."
        ) from None


def _refuse_missing(X: np.ndarray, names: tuple[str, ...] | None, source: str) -> None:
    incomplete_columns = np.flatnonzero(~np.isfinite(X).all(axis=0))
    if len(incomplete_columns):
        columns = [str(j) if names is None else names[j] for j in incomplete_columns]
        raise DSNAError(f"{source}: NaN or infinity in column {_listed(columns)}. Fill or drop these rows first.")


def _listed(names: Any) -> str:
    names = [str(name) for name in names]
    ending = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + ending
