"""Columns of data frames and arrays of any kind, read as numbers, dates, booleans or words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from .._utils.errors import DSNAError
from .column_types import ColumnType, type_of_words
from .files.delimited import few, listed
from .notation import Evidence, Notation, evidence_of
from .words import Words, booleans, dates, numbers, words_of

_EPOCH = "datetime64[us]"
_SHOWN = 3  # cells shown in a message


@dataclass(frozen=True)
class Unreadable:
    """Count and examples of the cells of a column that cannot be read as values of its type.

    Parameters
    ----------
    cells, filled : int
        Number of unreadable cells, and of all cells that are not empty.
    what : str
        Plural name of the values of the type, such as "numbers".
    examples : tuple of str
        The first unreadable cells.

    Examples
    --------
    >>> (Unreadable(1, 4, "numbers", ("'x'",)) + Unreadable(1, 6, "numbers", ("'y'",))).text()
    "2 of 10 cells cannot be read as numbers, 'x', 'y'"
    """

    cells: int = 0
    filled: int = 0
    what: str = "numbers"
    examples: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Share of the cells that are not empty."""
        return self.cells / max(self.filled, 1)

    def __add__(self, other: Unreadable) -> Unreadable:
        examples = (*self.examples, *other.examples)[:_SHOWN]
        return Unreadable(self.cells + other.cells, self.filled + other.filled, other.what, examples)

    def text(self) -> str:
        """Describe the cells in a message."""
        examples = listed(self.examples, self.cells)
        return f"{self.cells} of {self.filled} cells cannot be read as {self.what}, {examples}"


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of an input column.

    Parameters
    ----------
    name : str
    storage : {"number", "boolean", "date", "text"}
        Type in which the input stores the cells.
    data : (n,) float64 with NaN for missing numbers and booleans, (n,) datetime64[us], or Words for text
    levels : tuple of str
        Levels of an ordered categorical column, the lowest first.
    declared : bool
        Whether the input declares text as categorical, whatever the cells look like.
    way : str
        Notation of text: the decimal sign, or the order of day and month; empty if unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.tables.cells import Cells
    >>> Cells.of_array("a", np.array(["1", "2", "x"], dtype=object)).numbers()
    (array([ 1.,  2., nan]), array([False, False,  True]))
    """

    name: str
    storage: str
    data: Any
    levels: tuple[str, ...] = ()
    declared: bool = False
    way: str = ""

    @classmethod
    def of_array(cls, name: str, column: np.ndarray) -> Cells:
        """Read a column of an array."""
        if column.dtype.kind in "iuf":
            return cls(name, "number", _finite(column.astype(np.float64)))
        if column.dtype.kind == "b":
            return cls(name, "boolean", column.astype(np.float64))
        if column.dtype.kind == "M":
            return cls(name, "date", column.astype(_EPOCH))
        return cls._of_objects(name, column.tolist())

    @classmethod
    def of_series(cls, series: nw.Series[Any], name: str) -> Cells:
        """Read a column of a data frame."""
        dtype = series.dtype
        if dtype.is_numeric() or dtype == nw.Boolean:
            storage = "boolean" if dtype == nw.Boolean else "number"
            return cls(name, storage, _finite(_as_floats(series)))
        if dtype == nw.Duration:
            return cls(name, "number", _finite(_as_floats(series.dt.total_microseconds()) / 1e6))
        if dtype == nw.Date or dtype == nw.Datetime:
            if dtype == nw.Datetime and getattr(dtype, "time_zone", None):
                series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            if dtype == nw.Date:
                return cls(name, "date", np.array(series.to_list(), dtype=_EPOCH))
            return cls(name, "date", series.to_numpy().astype(_EPOCH))
        if dtype.is_nested():
            raise DSNAError(f"Column {name!r} holds {dtype}: split the values into columns, or drop it.")
        if dtype in (nw.Categorical, nw.Enum):
            return cls._of_categories(name, series)
        return cls._of_objects(name, series.to_list())

    @classmethod
    def _of_categories(cls, name: str, series: nw.Series[Any]) -> Cells:
        """Read a categorical column as text, even if its categories are numbers."""
        levels: list[str] = []
        native = series.to_native()
        if getattr(getattr(native, "cat", None), "ordered", False) is True:  # pandas only
            levels = words_of(_whole_floats_as_ints(native.cat.categories.tolist())).values
            levels = levels if len(levels) == len(native.cat.categories) > 1 else []
        return cls(name, "text", words_of(_whole_floats_as_ints(series.to_list())), tuple(levels), declared=True)

    @classmethod
    def _of_objects(cls, name: str, cells: Sequence[Any]) -> Cells:
        """Read Python objects as numbers or booleans if all are, otherwise as text."""
        cell_types = {type(cell) for cell in cells}
        if cell_types and cell_types <= {int, float}:
            return cls(name, "number", _finite(np.array(cells, dtype=np.float64)))
        if cell_types == {bool}:
            return cls(name, "boolean", np.array(cells, dtype=np.float64))
        for cell_type in cell_types:
            if issubclass(cell_type, dict | list | tuple | set):
                raise TypeError(f"argument must be a string or a number: column {name!r} holds a {cell_type.__name__}.")
        return cls(name, "text", words_of(cells))

    def __len__(self) -> int:
        return len(self.data.codes if self.storage == "text" else self.data)

    def type(self) -> ColumnType:
        """Infer the type of the column from all of its cells."""
        if self.levels:
            return ColumnType("ordered", levels=self.levels)
        if self.storage == "text":
            column_type = type_of_words(self.data)
            return column_type if column_type.kind == "constant" or not self.declared else ColumnType("category")
        values = self.data[~self.missing()]
        if not len(values) or (len(values) == len(self.data) and np.all(values == values[0])):
            return ColumnType("constant")
        return ColumnType(self.storage)

    def missing(self) -> np.ndarray:
        """Return a mask of missing cells."""
        if self.storage == "text":
            return np.asarray(self.data.codes < 0)
        return np.asarray(np.isnat(self.data) if self.storage == "date" else np.isnan(self.data))

    def evidence(self, kind: str) -> Evidence:
        """Return the evidence of text for one notation of numbers or dates."""
        return evidence_of(self.data, kind)

    def numbers(self, decimal: str = "") -> tuple[np.ndarray, np.ndarray]:
        """Return float64 values, NaN where missing or unreadable, and a mask of unreadable cells."""
        if self.storage == "date":
            return self.data.astype(np.float64), ~np.isnat(self.data)
        if self.storage != "text":
            return self.data, np.zeros(len(self.data), dtype=bool)
        sign = self.way or decimal or self.evidence("number").way or "."
        return self._expand(numbers(self.data.values, sign), np.nan, np.isnan)

    def booleans(self) -> tuple[np.ndarray, np.ndarray]:
        """Return 1.0 for true and 0.0 for false, NaN where missing or unreadable, and a mask of unreadable cells."""
        if self.storage == "text":
            truths = np.array([_boolean(value) for value in self.data.values], dtype=np.float64)
            return self._expand(truths, np.nan, np.isnan)
        values, _ = self.numbers()
        unreadable = ~np.isnan(values) & ~np.isin(values, (0.0, 1.0))
        return np.where(unreadable, np.nan, values), unreadable

    def dates(self, order: str = "ymd") -> tuple[np.ndarray, np.ndarray]:
        """Return datetime64[us] values, NaT where missing or unreadable, and a mask of unreadable cells."""
        if self.storage == "text":
            return self._expand(dates(self.data.values, self.way or order), np.datetime64("NaT"), np.isnat)
        if self.storage == "date":
            return self.data, np.zeros(len(self.data), dtype=bool)
        return np.full(len(self.data), "NaT", dtype=_EPOCH), ~np.isnan(self.data)

    def words(self) -> Words:
        """Return the cells as text."""
        if self.storage == "text":
            return self.data  # type: ignore[no-any-return]
        if self.storage == "date":
            return words_of([str(date) for date in self.data.tolist()])
        if self.storage == "boolean":
            return words_of(np.where(np.isnan(self.data), "", np.where(self.data == 1.0, "True", "False")).tolist())
        distinct, codes = np.unique(self.data, return_inverse=True)
        is_number = ~np.isnan(distinct)
        texts = [str(int(value)) if value == round(value) else repr(value) for value in distinct[is_number].tolist()]
        return Words(np.where(is_number[codes], codes, -1).astype(np.int64), texts, [])

    def _expand(
        self, word_values: np.ndarray, missing_value: Any, is_missing: Callable[[Any], Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the value of each cell from those of the distinct words, and a mask of unreadable cells."""
        unreadable: np.ndarray = is_missing(word_values)
        return self.data.expand(word_values, missing_value), self.data.expand(unreadable, False)


def _boolean(value: str) -> float:
    truths = booleans([value])
    if truths is None:
        return {"0": 0.0, "1": 1.0}.get(value, np.nan)
    return float(truths[0])


def _whole_floats_as_ints(cells: Sequence[Any]) -> list[Any]:
    """Convert whole floats back to integers: columns of integers are stored as floats if values are missing."""
    return [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]


def _finite(column: np.ndarray) -> np.ndarray:
    """Replace infinite numbers by NaN."""
    return np.where(np.isinf(column), np.nan, column)


def _as_floats(series: nw.Series[Any]) -> np.ndarray:
    """Convert numbers or booleans to float64, and nulls to NaN."""
    array = series.to_numpy()
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    return np.array([np.nan if cell is None or cell != cell else float(cell) for cell in series.to_list()])


@dataclass(frozen=True)
class InputColumns:
    """The columns of a data frame or an array, read one at a time.

    Parameters
    ----------
    names : tuple of str
        x0, x1, ... if the input has no names.
    has_names : bool
        Whether the input has names.
    n_rows : int
    read : function from the index of a column to its Cells
    """

    names: tuple[str, ...]
    has_names: bool
    n_rows: int
    read: Callable[[int], Cells]

    @classmethod
    def of(cls, X: Any) -> InputColumns:
        """Read a pandas, polars or Arrow frame, another frame that narwhals supports, or a 2-D array."""
        if sp.issparse(X):
            raise TypeError("Sparse data was passed, but dense data is required: call X.toarray().")
        if hasattr(X, "__array__") and not hasattr(X, "columns"):
            return cls._of_array(X)
        try:
            frame = nw.from_native(X, eager_only=True)
        except nw.exceptions.DuplicateError as error:
            raise DSNAError(f"Columns of the data frame share a name: {error}. Give each a name of its own.") from error
        except TypeError:
            return cls._of_array(X)
        names = [str(name) for name in frame.columns]
        has_names = all(isinstance(name, str) for name in frame.columns)
        if not has_names and any(isinstance(name, str) for name in frame.columns):
            raise TypeError(
                "Feature names are only supported if all input features have string names, but your input has "
                "both text and other names: convert them all to strings."
            )
        if not has_names:
            names = [f"x{j}" for j in range(len(names))]
        _check_not_empty(frame.shape)
        return cls(tuple(names), has_names, frame.shape[0], lambda j: Cells.of_series(frame[:, j], names[j]))

    def without(self, names: set[str | None]) -> InputColumns:
        """Drop columns by name; columns without names are all kept.

        Examples
        --------
        >>> import pandas as pd
        >>> InputColumns.of(pd.DataFrame({"a": [1], "b": [2]})).without({"a"}).names
        ('b',)
        """
        indices = [j for j, name in enumerate(self.names) if not self.has_names or name not in names]
        if not indices:
            raise DSNAError("No column is left beside the target and dropped columns: add columns, or drop fewer.")
        kept_names = tuple(self.names[j] for j in indices)
        return InputColumns(kept_names, self.has_names, self.n_rows, lambda j: self.read(indices[j]))

    def with_notation(
        self, cells: Cells, column_type: ColumnType, notation: Notation, types: Mapping[str, ColumnType]
    ) -> Cells:
        """Set the notation of a column of text, inferred from its cells or, if they are ambiguous, other columns.

        Parameters
        ----------
        cells : the column.
        column_type : its type.
        notation : notation of the table so far.
        types : known types of columns.
        """
        name = cells.name
        has_notation = column_type.kind == "number" or notation.has_order(name, column_type)
        if cells.storage != "text" or not has_notation:
            return cells
        way = notation.way(name, cells.evidence(column_type.kind))
        if way is None:
            for other in map(self.read, range(len(self.names))):
                if other.storage != "text" or other.name == name:
                    continue
                if (types.get(other.name) or other.type()).kind == "number":
                    notation.way(other.name, other.evidence("number"))
            way = notation.resolve(name, cells.evidence(column_type.kind))
        return replace(cells, way=way)

    def match(self, names: Sequence[str] | None, n_features: int, owner: str, warn: Callable[[str], None]) -> list[int]:
        """Return the indices of the training columns, matched by name, or by position if one side has no names.

        Parameters
        ----------
        names : names of the training columns, or None.
        n_features : number of training columns.
        owner : name of the fitted estimator in messages.
        warn : function that receives warnings.
        """
        if names is None or not self.has_names:
            if len(self.names) != n_features:
                raise DSNAError(
                    f"X has {len(self.names)} features, but {owner} is expecting {n_features} features as input: pass "
                    "the same columns in the same order, or a data frame with their names."
                )
            if names is not None:
                warn(f"X does not have valid feature names, but {owner} was fitted with feature names")
            elif self.has_names:
                warn(f"X has feature names, but {owner} was fitted without feature names")
            return list(range(n_features))
        index_of_name = {name: j for j, name in enumerate(self.names)}
        absent = [name for name in names if name not in index_of_name]
        if absent:
            raise DSNAError(
                f"X lacks the training columns {few(absent)}; it has {few(self.names)}: add them, or correct "
                "their names. (Feature names should match those that were passed during fit.)"
            )
        extra = [name for name in self.names if name not in set(names)]
        if extra:
            warn(f"columns that were not in the training data are ignored: {few(extra)}")
        return [index_of_name[name] for name in names]

    @classmethod
    def _of_array(cls, X: Any) -> InputColumns:
        array = check_array(X, dtype=None, ensure_all_finite=False)
        names = tuple(f"x{j}" for j in range(array.shape[1]))
        return cls(names, False, len(array), lambda j: Cells.of_array(names[j], array[:, j]))


def _check_not_empty(shape: tuple[int, int]) -> None:
    for length, axis_name in zip(shape, ("sample", "feature"), strict=True):
        if not length:
            raise DSNAError(f"Found array with 0 {axis_name}(s) (shape={shape}) while a minimum of 1 is required.")
