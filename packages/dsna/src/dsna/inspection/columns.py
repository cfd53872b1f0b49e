"""Rows of data frames and arrays by column, as their owner knows them: the values beside an explanation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.errors import DSNAError
from .._utils.parameters import is_number
from ..forest.scaling import column_spread
from ..tables.kept_rows import KeptRows

_NAMED = 5  # of missing or known columns that a message lists


class NoSuchQueryError(DSNAError, IndexError):
    """A query that is not among those explained; as an ``IndexError`` it also ends loops over an explanation."""


def query_numbers(n: int, query: Any) -> np.ndarray:
    """Those of n queries that a number, slice, mask or array of numbers picks.

    Examples
    --------
    >>> query_numbers(4, -1)
    array([3])
    >>> query_numbers(3, 3)
    Traceback (most recent call last):
    dsna.inspection.columns.NoSuchQueryError: There is no query 3 among the 3 explained; they are numbered from 0 on.
    """
    try:
        return np.atleast_1d(np.arange(n)[query])
    except IndexError as error:
        raise NoSuchQueryError(
            f"There is no query {query} among the {n} explained; they are numbered from 0 on."
        ) from error


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a table, in its own values.

    Parameters
    ----------
    names : name of each column.
    values : (n,) values of each column.
    named : whether the names are the table's own, or x0, x1, ...
    id : (n,) identifiers of the rows, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.inspection.columns import Columns
    >>> table = Columns.read(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> table.names
    ('x0', 'x1')
    >>> [column.tolist() for column in table[[1]].values]
    [[3.0], [4.0]]
    """

    names: tuple[Hashable, ...]
    values: tuple[np.ndarray, ...]
    named: bool
    id: np.ndarray | None = None

    @classmethod
    def read(cls, table: Any, what: str = "X") -> Columns:
        """Columns of a pandas, polars or Arrow table, kept rows, an array or a list; messages call it ``what``."""
        if isinstance(table, KeptRows):
            return cls(tuple(table.names.tolist()), tuple(table.data().values()), True, table.identifiers())
        if hasattr(table, "column_names"):  # Arrow's, whose columns are not names
            return cls(tuple(table.column_names), tuple(column.to_numpy() for column in table.columns), True)
        if hasattr(table, "columns") and hasattr(table, "shape"):
            by_place = getattr(table, "iloc", table)
            values = [np.array(by_place[:, j]) for j in range(table.shape[1])]
            return cls(tuple(table.columns), tuple(values), True)
        array = np.array(table.toarray() if hasattr(table, "toarray") else table)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise DSNAError(f"{what} has {array.ndim} dimensions: pass a data frame, or an array of rows and columns.")
        return cls(tuple(f"x{j}" for j in range(array.shape[1])), tuple(array.T), False)

    def __len__(self) -> int:
        return len(self.values[0]) if self.values else 0

    def __getitem__(self, rows: Any) -> Columns:
        values = tuple(column[rows] for column in self.values)
        return replace(self, values=values, id=None if self.id is None else self.id[rows])

    def under(self, names: Sequence[Hashable], what: str) -> Columns:
        """The columns of these names, in this order; where the table has no names of its own, it takes these."""
        if not self.named:
            if len(self.names) != len(names):
                raise DSNAError(
                    f"{what} has {len(self.names)} columns and the model was fitted on {len(names)}: pass the same "
                    "columns in the same order, or a data frame with their names."
                )
            return replace(self, names=tuple(names))
        lacking = [str(name) for name in names if name not in self.names]
        if lacking:
            raise DSNAError(
                f"{what} lacks the column {_few(lacking)}, which the model was fitted on: pass the frame given to fit "
                "(it may hold further columns)."
            )
        return replace(self, names=tuple(names), values=tuple(self.values[self.names.index(name)] for name in names))

    def identified_by(self, name: Hashable) -> Columns:
        """One column taken for identifiers, where there is one of this name."""
        if name not in self.names:
            return self
        at = self.names.index(name)
        left = {field: getattr(self, field)[:at] + getattr(self, field)[at + 1 :] for field in ("names", "values")}
        return replace(self, **left, id=self.values[at])


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingColumns:
    """What the owner of the training rows knows of those that an explanation names.

    Parameters
    ----------
    rows : (r,) numbers of the training rows, sorted.
    columns : their values and identifiers; without columns where only identifiers are known.
    spread : standard deviation in all of ``train`` of each column of numbers, NaN for other columns.
    reach : how many training rows ``train`` has; later ones, of ``add_samples``, are unknown.
    id_name : what the identifiers are called.
    """

    rows: np.ndarray
    columns: Columns
    spread: np.ndarray
    reach: int
    id_name: str

    def at(self, rows: np.ndarray) -> Columns:
        """Values and identifiers of given rows, all of which are known."""
        return self.columns[np.searchsorted(self.rows, rows)]


def training_columns(
    rows: np.ndarray, queries: Columns, train: Any, id: Any, lengths: Sequence[int]
) -> tuple[Columns, TrainingColumns | None]:
    """The queries' columns, and beside these what ``train`` and ``id`` say of the training rows ``rows``.

    Parameters
    ----------
    rows : sorted numbers of the training rows wanted.
    queries : the columns of the queries.
    train : data frame, array or kept rows of the training rows, or None.
    id : name of a column of ``train``, array of identifiers, or None.
    lengths : how many rows ``train`` may have; empty where any number that covers ``rows`` will do.
    """
    if train is None and id is None:
        return queries, None
    table = Columns((), (), False) if train is None else Columns.read(train, "train")
    if train is not None:
        _check_length(len(table), "train", rows, lengths)
    id_name = "id"
    if isinstance(train, KeptRows):
        id_name = train.id_name
        table, queries = replace(table.identified_by(id_name), id=table.id), queries.identified_by(id_name)
    if np.ndim(id):
        table = replace(table, id=np.array(id))
        _check_length(len(id), "id", rows, lengths)
    elif id is not None:
        _check_column(id, table, train)
        table, queries, id_name = table.identified_by(id), queries.identified_by(id), str(id)
    reach = len(table)
    if train is not None:
        if table.named and not queries.named and len(table.names) == len(queries.names):
            queries = queries.under(table.names, "X")
        table = table.under(queries.names, "train")
    spread = np.array([_spread(column) for column in table.values])
    values = tuple(_taken(column, rows) for column in table.values)
    columns = replace(table, values=values, id=None if table.id is None else _taken(table.id, rows))
    return queries, TrainingColumns(rows=rows, columns=columns, spread=spread, reach=reach, id_name=id_name)


def _check_column(id: Hashable, table: Columns, train: Any) -> None:
    """Refuse an ``id`` that is no column of ``train``."""
    if train is None:
        raise DSNAError(f"id={id!r} names a column, and train is None: pass train=, the frame that has it.")
    if not table.named:
        raise DSNAError(f"id={id!r} names a column, and train is an array: pass a data frame, or an array as id.")
    if id not in table.names:
        raise DSNAError(
            f"id={id!r} is no column of train, which has {_few([str(name) for name in table.names])}: pass one of "
            "these, or an array of identifiers, one for each training row."
        )


def _check_length(n: int, what: str, rows: np.ndarray, lengths: Sequence[int]) -> None:
    """Refuse tables of other lengths than the model's training rows."""
    if n in lengths or (not lengths and n > rows.max(initial=-1)):
        return
    asked = f"on {lengths[0]}" if lengths else f"on {rows.max() + 1} or more"
    asked += f" ({lengths[-1]} with those of add_samples)" if len(set(lengths)) > 1 else ""
    raise DSNAError(
        f"{what} has {n} rows and the model was fitted {asked}: pass the rows given to fit, all and in their order."
    )


def _taken(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Values of these rows; None past the end."""
    inside = rows < len(values)
    if inside.all():
        return np.asarray(values[rows])
    taken = np.full(len(rows), None, dtype=object)
    taken[inside] = values[rows[inside]]
    return taken


def _few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value: None, NaN, NaT or pandas.NA."""
    return value is None or repr(value) == "<NA>" or bool(value != value)


def as_numbers(values: np.ndarray) -> np.ndarray | None:
    """A column of numbers or dates as float64, NaN where values are missing; None for any other column."""
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        unit = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
        return np.where(np.isnat(values), np.nan, values.astype(unit).astype(np.float64))
    if values.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in values], dtype=bool)
        if not missing.all() and all(is_number(value) for value in values[~missing]):
            return np.where(missing, np.nan, values).astype(np.float64)
    return None


def _spread(values: np.ndarray) -> float:
    """Standard deviation of a column of numbers, zero where it is constant; NaN for other columns."""
    numbers = as_numbers(values)
    if numbers is None:
        return np.nan
    finite = numbers[np.isfinite(numbers)]
    return float(column_spread(finite[:, None])[0]) if len(finite) and np.ptp(finite) > 0 else 0.0
