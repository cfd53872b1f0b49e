"""A partition of a table as arrays: features, target, weights, groups and row keys, checked and named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError

_FEW = 5  # columns that a message names


@dataclass(frozen=True)
class Roles:
    """Which columns of a partition are what; None where there is none.

    Parameters
    ----------
    target : name of a column; of several outputs, their names.
    weight, group, key : names of columns. Of a key, equal tables give equal samples however they are cut.
    features : names of the other columns, in the order of the model; None: all that are left.
    """

    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    group: str | None = None
    key: str | None = None
    features: tuple[str, ...] | None = None

    @property
    def others(self) -> tuple[str, ...]:
        """Columns that are no features."""
        outputs = self.target if isinstance(self.target, tuple) else (self.target,)
        return tuple(name for name in (*outputs, self.weight, self.group, self.key) if name is not None)


class Block(NamedTuple):
    """A partition; n rows, those of weight zero left out."""

    X: np.ndarray  # (n, d)
    y: np.ndarray | None  # (n,) or (n, q) as given
    weight: np.ndarray  # (n,)
    group: np.ndarray | None  # (n,)
    key: np.ndarray | None  # (n,)
    position: np.ndarray  # (n,) place of each row in the partition
    names: tuple[str, ...] | None  # of the columns of X
    length: int  # rows of the partition, those of weight zero included

    def part(self, some: Any) -> Block:
        """Some of the rows."""
        fields = ("X", "y", "weight", "group", "key", "position")
        rows: dict[str, Any] = {name: getattr(self, name) for name in fields}
        picked: dict[str, Any] = {name: None if a is None else a[some] for name, a in rows.items()}
        return self._replace(**picked)


def to_block(data: Any, roles: Roles, where: str) -> Block:
    """A partition as a block.

    Parameters
    ----------
    data : data frame (pandas, polars, Arrow), dict of columns, tuple ``(X, y, sample_weight, groups)`` of arrays that
        may be shorter, or an object whose ``read()`` gives one of these.
    roles : the columns of a frame.
    where : what the partition is called in messages.

    Examples
    --------
    >>> block = to_block({"a": [1, 2], "y": ["u", "v"]}, Roles(target="y"), "partition 0")
    >>> block.X.tolist(), block.y.tolist(), block.names
    ([[1.0], [2.0]], ['u', 'v'], ('a',))
    """
    data = data.read() if hasattr(data, "read") else data
    columns = _columns(data, roles, where)
    X, names, (y, weight, group, key) = columns
    n = len(X)
    for name, values in zip(("y", "sample_weight", "groups", "key"), columns[2], strict=True):
        if values is not None and len(values) != n:
            raise DSNAError(f"{where}: {name} has {len(values)} rows, and X has {n}. Cut both alike.")
    known = np.ones(n) if weight is None else _numbers(weight, "sample_weight", where)
    if not np.all(np.isfinite(known) & (known >= 0.0)):
        raise DSNAError(f"{where}: sample_weight holds numbers that are negative or not finite.")
    block = Block(X, y, known, group, key, np.arange(n), names, n)
    return block if weight is None or known.all() else block.part(known > 0.0)


def _columns(
    data: Any, roles: Roles, where: str
) -> tuple[np.ndarray, tuple[str, ...] | None, tuple[np.ndarray | None, ...]]:
    """Features, their names, and target, weight, group and key."""
    if isinstance(data, tuple | np.ndarray):
        given = (data,) if isinstance(data, np.ndarray) else data
        X, *rest = (None if a is None else np.asarray(a) for a in given)
        if X is None or X.ndim != 2:
            shape = None if X is None else X.shape
            raise DSNAError(f"{where}: X has shape {shape}; rows and columns are needed.")
        return _matrix(X, where), None, (*rest, *[None] * (4 - len(rest)))
    frame = _Frame(data, where)
    missing = [name for name in (*roles.others, *(roles.features or ())) if name not in frame.names]
    if missing:
        what = "columns" if len(missing) > 1 else "column"
        raise DSNAError(f"{where} lacks {what} {_listed(missing)}; it has {_listed(frame.names)}.")
    names = roles.features or tuple(name for name in frame.names if name not in roles.others)
    if not names:
        raise DSNAError(f"{where}: no column is left to learn from beside the target.")
    X = np.empty((len(frame[names[0]]), len(names)))
    for j, name in enumerate(names):
        X[:, j] = _numbers(frame[name], name, where)
    _refuse_missing(X, names, where)
    return X, names, tuple(_column(frame, name) for name in (roles.target, roles.weight, roles.group, roles.key))


def _column(frame: _Frame, name: str | tuple[str, ...] | None) -> np.ndarray | None:
    """A column, several side by side, or none."""
    if isinstance(name, tuple):
        return np.stack([frame[one] for one in name], axis=1)
    return None if name is None else frame[name]


class _Frame:
    """A frame of any kind whose columns become arrays when they are asked for: some kinds have to copy them."""

    def __init__(self, data: Any, where: str):
        import narwhals as nw

        try:
            self.native: Any = data if isinstance(data, dict) else nw.from_native(data, eager_only=True)
        except TypeError as error:
            kind = f"{type(data).__module__}.{type(data).__name__}"
            raise DSNAError(f"{where} is a {kind}: a data frame, or a tuple (X, y) of arrays, is needed.") from error
        names: Any = getattr(self.native, "columns", self.native)
        self.names = {str(name): name for name in names}

    def __getitem__(self, name: str) -> np.ndarray:
        column = self.native[self.names[name]]
        return np.asarray(column) if isinstance(self.native, dict) else np.asarray(column.to_numpy())


def _matrix(X: np.ndarray, where: str) -> np.ndarray:
    numbers = _numbers(X, "X", where)
    _refuse_missing(numbers, None, where)
    return np.ascontiguousarray(numbers)


def _numbers(values: np.ndarray, name: str, where: str) -> np.ndarray:
    """Values as float64; text and dates are refused."""
    if values.dtype.kind in "biuf":
        return np.asarray(values, dtype=np.float64)
    if not values.size:
        return np.zeros(values.shape)
    try:
        if values.dtype.kind not in "O":
            raise TypeError(values.dtype)
        if any(isinstance(one, str) for one in values.ravel()[:1000]):
            raise TypeError("text")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DSNAError(
            f"{where}: column {name!r} holds {values.dtype if values.dtype.kind != 'O' else 'text'}, not numbers. "
            "Encode it before, in all partitions alike."
        ) from None


def _refuse_missing(X: np.ndarray, names: tuple[str, ...] | None, where: str) -> None:
    bad = np.flatnonzero(~np.isfinite(X).all(axis=0))
    if len(bad):
        called = [str(j) if names is None else names[j] for j in bad]
        raise DSNAError(f"{where}: NaN or infinity in column {_listed(called)}. Fill or drop these rows before.")


def _listed(names: Any) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")
