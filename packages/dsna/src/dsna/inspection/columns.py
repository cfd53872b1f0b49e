"""Columns of data frames and arrays: the original values shown with an explanation."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.errors import DSNAError
from .._utils.parameters import is_number
from ..forest.scaling import column_spread

_LISTED = 5  # names in a message


class NoSuchQueryError(DSNAError, IndexError):
    """The query number is out of range; as an ``IndexError``, this also ends loops over an explanation."""


def query_numbers(n: int, query: Any) -> np.ndarray:
    """Numbers of the queries, out of n, selected by a number, slice, mask or array of numbers.

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


def is_kept_rows(table: Any) -> bool:
    """Whether a table is the training rows that a :class:`dsna.tables.TableEncoder` keeps."""
    from ..tables.kept_rows import KeptRows  # reading files is not needed to fit or predict

    return isinstance(table, KeptRows)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a table, with their original values.

    Parameters
    ----------
    names : name of each column.
    values : (n,) values of each column.
    named : whether the table has names of its own; otherwise they are x0, x1, ...
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
    def read(cls, table: Any, name: str = "X") -> Columns:
        """Columns of a pandas, polars or Arrow table, kept rows, an array or a list; errors call it ``name``."""
        if is_kept_rows(table):
            return cls(tuple(table.names.tolist()), tuple(table.data().values()), True, table.identifiers())
        if hasattr(table, "column_names"):  # an Arrow table, whose ``columns`` are the values
            return cls(tuple(table.column_names), tuple(column.to_numpy() for column in table.columns), True)
        if hasattr(table, "columns") and hasattr(table, "shape"):
            indexed = getattr(table, "iloc", table)
            values = [np.array(indexed[:, j]) for j in range(table.shape[1])]
            return cls(tuple(table.columns), tuple(values), True)
        array = np.array(table.toarray() if hasattr(table, "toarray") else table)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise DSNAError(f"{name} has {array.ndim} dimensions: pass a data frame, or an array of rows and columns.")
        return cls(tuple(f"x{j}" for j in range(array.shape[1])), tuple(array.T), False)

    def __len__(self) -> int:
        return len(self.values[0]) if self.values else 0

    def __getitem__(self, rows: Any) -> Columns:
        values = tuple(column[rows] for column in self.values)
        return replace(self, values=values, id=None if self.id is None else self.id[rows])

    def under(self, names: Sequence[Hashable], table: str) -> Columns:
        """Columns with these names, in this order; a table without names of its own gets these names."""
        if not self.named:
            if len(self.names) != len(names):
                raise DSNAError(
                    f"{table} has {len(self.names)} columns, but the model was fitted on {len(names)}: pass the same "
                    "columns in the same order, or a data frame with their names."
                )
            return replace(self, names=tuple(names))
        missing = [str(name) for name in names if name not in self.names]
        if missing:
            raise DSNAError(
                f"{table} lacks the column {_name_list(missing)}, which the model was fitted on: pass the frame "
                "given to fit (it may have other columns too)."
            )
        return replace(self, names=tuple(names), values=tuple(self.values[self.names.index(name)] for name in names))

    def identified_by(self, name: Hashable) -> Columns:
        """Use the column with this name, if there is one, for identifiers."""
        if name not in self.names:
            return self
        j = self.names.index(name)
        names, values = self.names[:j] + self.names[j + 1 :], self.values[:j] + self.values[j + 1 :]
        return replace(self, names=names, values=values, id=self.values[j])


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingColumns:
    """Values and identifiers of the training rows that appear in an explanation.

    Parameters
    ----------
    rows : (r,) numbers of the training rows, sorted.
    columns : their values and identifiers; empty if only identifiers are known.
    spread : standard deviation of each numeric column in all of ``train``, NaN for other columns.
    reach : number of rows in ``train``; the values of later rows, from ``add_samples``, are unknown.
    id_name : name of the identifiers.
    """

    rows: np.ndarray
    columns: Columns
    spread: np.ndarray
    reach: int
    id_name: str

    def at(self, rows: np.ndarray) -> Columns:
        """Values and identifiers of rows that are in ``rows``."""
        return self.columns[np.searchsorted(self.rows, rows)]


def training_columns(
    rows: np.ndarray, queries: Columns, train: Any, id: Any, lengths: Sequence[int]
) -> tuple[Columns, TrainingColumns | None]:
    """Columns of the queries and of the training rows ``rows``, with matching names.

    Parameters
    ----------
    rows : sorted numbers of training rows.
    queries : columns of the queries.
    train : data frame, array or kept rows of the training rows, or None.
    id : name of a column of ``train``, array of identifiers, or None.
    lengths : allowed numbers of rows of ``train``; if empty, any number that covers ``rows``.
    """
    if train is None and id is None:
        return queries, None
    table = Columns((), (), False) if train is None else Columns.read(train, "train")
    if train is not None:
        _check_length(len(table), "train", rows, lengths)
    id_name = "id"
    if is_kept_rows(train):
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
    values = tuple(_values_of(column, rows) for column in table.values)
    columns = replace(table, values=values, id=None if table.id is None else _values_of(table.id, rows))
    return queries, TrainingColumns(rows=rows, columns=columns, spread=spread, reach=reach, id_name=id_name)


def _check_column(id: Hashable, table: Columns, train: Any) -> None:
    """Validate that ``id`` is a column of ``train``."""
    if train is None:
        raise DSNAError(f"id={id!r} names a column, but train is None: pass train=, the frame that has it.")
    if not table.named:
        raise DSNAError(f"id={id!r} names a column, but train is an array: pass a data frame, or an array as id.")
    if id not in table.names:
        raise DSNAError(
            f"id={id!r} is not a column of train, which has {_name_list([str(name) for name in table.names])}: pass "
            "one of these, or an array of identifiers, one for each training row."
        )


def _check_length(n: int, name: str, rows: np.ndarray, lengths: Sequence[int]) -> None:
    """Validate that a table has as many rows as the model was fitted on."""
    if n in lengths or (not lengths and n > rows.max(initial=-1)):
        return
    fitted = f"on {lengths[0]}" if lengths else f"on {rows.max() + 1} or more"
    fitted += f" ({lengths[-1]} with those of add_samples)" if len(set(lengths)) > 1 else ""
    raise DSNAError(
        f"{name} has {n} rows, but the model was fitted {fitted}: pass all rows given to fit, in the same order."
    )


def _values_of(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Values of the given rows; None for rows past the end."""
    available = rows < len(values)
    if available.all():
        return np.asarray(values[rows])
    result = np.full(len(rows), None, dtype=object)
    result[available] = values[rows[available]]
    return result


def _name_list(names: Sequence[str]) -> str:
    """The first names and the number of others."""
    return ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


def is_missing(value: Any) -> bool:
    """Whether a cell holds no value: None, NaN, NaT or pandas.NA."""
    return value is None or repr(value) == "<NA>" or bool(value != value)


def as_numbers(values: np.ndarray) -> np.ndarray | None:
    """Values of a column of numbers or dates as float64, with NaN for missing values; None for other columns."""
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
    """Standard deviation of a numeric column, zero if it is constant; NaN for other columns."""
    numbers = as_numbers(values)
    if numbers is None:
        return np.nan
    finite = numbers[np.isfinite(numbers)]
    return float(column_spread(finite[:, None])[0]) if len(finite) and np.ptp(finite) > 0 else 0.0
