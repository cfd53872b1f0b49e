"""Columns of data frames and arrays, whatever holds them: as numbers, dates, booleans or words."""

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
from .files.delimited import few
from .notation import Evidence, Notation, evidence_of
from .words import Words, booleans, dates, numbers, words_of

_EPOCH = "datetime64[us]"
_SHOWN = 3  # cells that a message shows


@dataclass(frozen=True)
class Unreadable:
    """Cells of a column that hold something, but no value of its type.

    Parameters
    ----------
    cells, filled : int
        How many they are, and how many cells hold anything.
    what : str
        Values of the type, such as "numbers".
    examples : tuple of str
        The first of them.

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
        """Of the cells that hold anything."""
        return self.cells / max(self.filled, 1)

    def __add__(self, other: Unreadable) -> Unreadable:
        examples = (*self.examples, *other.examples)[:_SHOWN]
        return Unreadable(self.cells + other.cells, self.filled + other.filled, other.what, examples)

    def text(self) -> str:
        """How many cells, and the first of them."""
        more = f" and {self.cells - len(self.examples)} more" if self.cells > len(self.examples) else ""
        return f"{self.cells} of {self.filled} cells cannot be read as {self.what}, {', '.join(self.examples)}{more}"


@dataclass(frozen=True, eq=False)
class Cells:
    """A column as its owner holds it.

    Parameters
    ----------
    name : str
    held : {"number", "boolean", "date", "text"}
        How cells are held.
    data : (n,) float64 with NaN for missing values, of numbers and booleans; datetime64[us] of dates; Words of text.
    levels : tuple of str
        Of text that its owner has ordered, the lowest first.
    declared : bool
        Whether the owner says that text is categories, whatever the cells look like.
    way : str
        How text is written: the decimal sign, or the order of day and month; empty where that is not known.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.tables.cells import Cells
    >>> Cells.of_array("a", np.array(["1", "2", "x"], dtype=object)).numbers()
    (array([ 1.,  2., nan]), array([False, False,  True]))
    """

    name: str
    held: str
    data: Any
    levels: tuple[str, ...] = ()
    declared: bool = False
    way: str = ""

    @classmethod
    def of_array(cls, name: str, column: np.ndarray) -> Cells:
        """A column of an array."""
        if column.dtype.kind in "iuf":
            return cls(name, "number", _finite(column.astype(np.float64)))
        if column.dtype.kind == "b":
            return cls(name, "boolean", column.astype(np.float64))
        if column.dtype.kind == "M":
            return cls(name, "date", column.astype(_EPOCH))
        return cls._of_objects(name, column.tolist())

    @classmethod
    def of_series(cls, series: nw.Series[Any], name: str) -> Cells:
        """A column of a data frame."""
        dtype = series.dtype
        if dtype.is_numeric() or dtype == nw.Boolean:
            held = "boolean" if dtype == nw.Boolean else "number"
            return cls(name, held, _finite(_as_floats(series)))
        if dtype == nw.Duration:
            return cls(name, "number", _finite(_as_floats(series.dt.total_microseconds()) / 1e6))
        if dtype == nw.Date or dtype == nw.Datetime:
            if dtype == nw.Datetime and getattr(dtype, "time_zone", None):
                series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            if dtype == nw.Date:
                return cls(name, "date", np.array(series.to_list(), dtype=_EPOCH))
            return cls(name, "date", series.to_numpy().astype(_EPOCH))
        if dtype.is_nested():
            raise DSNAError(f"Column {name!r} holds {dtype}: take the values apart into columns, or drop it.")
        if dtype in (nw.Categorical, nw.Enum):
            return cls._of_categories(name, series)
        return cls._of_objects(name, series.to_list())

    @classmethod
    def _of_categories(cls, name: str, series: nw.Series[Any]) -> Cells:
        """A column that its owner declares to be categories: text, also where they are numbers."""
        levels: list[str] = []
        native = series.to_native()
        if getattr(getattr(native, "cat", None), "ordered", False) is True:  # of pandas
            levels = words_of(_whole_as_such(native.cat.categories.tolist())).values
            levels = levels if len(levels) == len(native.cat.categories) > 1 else []
        return cls(name, "text", words_of(_whole_as_such(series.to_list())), tuple(levels), declared=True)

    @classmethod
    def _of_objects(cls, name: str, cells: Sequence[Any]) -> Cells:
        """Python objects: numbers where all are, else text."""
        kinds = {type(cell) for cell in cells}
        if kinds and kinds <= {int, float} and kinds != {bool}:
            return cls(name, "number", _finite(np.array(cells, dtype=np.float64)))
        if kinds == {bool}:
            return cls(name, "boolean", np.array(cells, dtype=np.float64))
        for kind in kinds:
            if issubclass(kind, dict | list | tuple | set):
                raise TypeError(f"argument must be a string or a number: column {name!r} holds a {kind.__name__}.")
        return cls(name, "text", words_of(cells))

    def __len__(self) -> int:
        return len(self.data.codes if self.held == "text" else self.data)

    def type(self) -> ColumnType:
        """What the column holds, judged by all of its cells."""
        if self.levels:
            return ColumnType("ordered", levels=self.levels)
        if self.held == "text":
            kind = type_of_words(self.data)
            return kind if kind.kind == "constant" or not self.declared else ColumnType("category")
        known = self.data[~self.missing()]
        if not len(known) or (len(known) == len(self.data) and np.all(known == known[0])):
            return ColumnType("constant")
        return ColumnType(self.held)

    def missing(self) -> np.ndarray:
        """Cells without a value."""
        if self.held == "text":
            return np.asarray(self.data.codes < 0)
        return np.asarray(np.isnat(self.data) if self.held == "date" else np.isnan(self.data))

    def evidence(self, kind: str) -> Evidence:
        """What text shows of the way in which numbers or dates are written."""
        return evidence_of(self.data, kind)

    def numbers(self, decimal: str = "") -> tuple[np.ndarray, np.ndarray]:
        """Values as float64, NaN where there is none; and which cells hold something that is no number."""
        if self.held == "date":
            return self.data.astype(np.float64), ~np.isnat(self.data)
        if self.held != "text":
            return self.data, np.zeros(len(self.data), dtype=bool)
        sign = self.way or decimal or self.evidence("number").way or "."
        return self._read(numbers(self.data.values, sign), np.nan, np.isnan)

    def booleans(self) -> tuple[np.ndarray, np.ndarray]:
        """1.0 for true and 0.0 for false, NaN where there is no value; and which cells hold something else."""
        if self.held == "text":
            known = np.array([_boolean(value) for value in self.data.values], dtype=np.float64)
            return self._read(known, np.nan, np.isnan)
        values, _ = self.numbers()
        strange = ~np.isnan(values) & ~np.isin(values, (0.0, 1.0))
        return np.where(strange, np.nan, values), strange

    def dates(self, order: str = "ymd") -> tuple[np.ndarray, np.ndarray]:
        """Values as datetime64[us], NaT where there is none; and which cells hold something that is no date."""
        if self.held == "text":
            return self._read(dates(self.data.values, self.way or order), np.datetime64("NaT"), np.isnat)
        if self.held == "date":
            return self.data, np.zeros(len(self.data), dtype=bool)
        return np.full(len(self.data), "NaT", dtype=_EPOCH), ~np.isnan(self.data)

    def words(self) -> Words:
        """Values as text."""
        if self.held == "text":
            return self.data  # type: ignore[no-any-return]
        if self.held == "date":
            return words_of([str(when) for when in self.data.tolist()])
        if self.held == "boolean":
            return words_of(np.where(np.isnan(self.data), "", np.where(self.data == 1.0, "True", "False")).tolist())
        distinct, codes = np.unique(self.data, return_inverse=True)
        known = ~np.isnan(distinct)
        values = [str(int(one)) if one == round(one) else repr(one) for one in distinct[known].tolist()]
        return Words(np.where(known[codes], codes, -1).astype(np.int64), values, [])

    def _read(self, by_value: np.ndarray, none: Any, unknown: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray]:
        strange: np.ndarray = unknown(by_value)
        return self.data.spread(by_value, none), self.data.spread(strange, False)


def _boolean(value: str) -> float:
    found = booleans([value])
    if found is None:
        return {"0": 0.0, "1": 1.0}.get(value, np.nan)
    return float(found[0])


def _whole_as_such(cells: Sequence[Any]) -> list[Any]:
    """Whole numbers that are held as floats, because values are missing, as they are written without."""
    return [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]


def _finite(column: np.ndarray) -> np.ndarray:
    """Infinite numbers are missing values."""
    return np.where(np.isinf(column), np.nan, column)


def _as_floats(series: nw.Series[Any]) -> np.ndarray:
    """Numbers or booleans as float64; NaN for nulls."""
    plain = series.to_numpy()
    if plain.dtype.kind in "biuf":
        return plain.astype(np.float64)
    return np.array([np.nan if cell is None or cell != cell else float(cell) for cell in series.to_list()])


@dataclass(frozen=True)
class InputColumns:
    """The columns of a data frame or an array, read one at a time.

    Parameters
    ----------
    names : tuple of str
        x0, x1, ... where the input has none.
    named : bool
        Whether the names are the input's own.
    n_rows : int
    read : function from the place of a column to its Cells.
    """

    names: tuple[str, ...]
    named: bool
    n_rows: int
    read: Callable[[int], Cells]

    @classmethod
    def of(cls, X: Any) -> InputColumns:
        """Columns of a pandas, polars or Arrow frame, of another that narwhals knows, or of a 2-D array."""
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
        named = all(isinstance(name, str) for name in frame.columns)
        if not named and any(isinstance(name, str) for name in frame.columns):
            raise TypeError(
                "Feature names are only supported if all input features have string names, but your input has "
                "both text and other names: convert them all to strings."
            )
        if not named:
            names = [f"x{place}" for place in range(len(names))]
        _check_size(frame.shape)
        return cls(tuple(names), named, frame.shape[0], lambda place: Cells.of_series(frame[:, place], names[place]))

    def without(self, names: set[str | None]) -> InputColumns:
        """The columns but those of these names, where they have names of their own.

        Examples
        --------
        >>> import pandas as pd
        >>> InputColumns.of(pd.DataFrame({"a": [1], "b": [2]})).without({"a"}).names
        ('b',)
        """
        places = [place for place, name in enumerate(self.names) if not self.named or name not in names]
        if not places:
            raise DSNAError("No column is left beside the target and those dropped: add columns, or drop fewer.")
        chosen = tuple(self.names[place] for place in places)
        return InputColumns(chosen, self.named, self.n_rows, lambda place: self.read(places[place]))

    def written(self, cells: Cells, kind: ColumnType, notation: Notation, types: Mapping[str, ColumnType]) -> Cells:
        """A column of text with the way in which it is written; where its cells do not show it, others are asked.

        Parameters
        ----------
        cells : the column.
        kind : its type, whose way holds for dates.
        notation : how the columns are written, as far as was seen.
        types : types of columns, as far as they are known.
        """
        name, asked = cells.name, kind.kind == "number" or notation.has_order(cells.name, kind)
        if cells.held != "text" or not asked:
            return cells
        way = notation.way(name, cells.evidence(kind.kind))
        if way is None:
            for other in map(self.read, range(len(self.names))):
                known = other.held == "text" and other.name != name and (types.get(other.name) or other.type())
                if known and known.kind == "number":
                    notation.way(other.name, other.evidence("number"))
            way = notation.helped(name, cells.evidence(kind.kind))
        return replace(cells, way=way)

    def places(self, names: Sequence[str] | None, number: int, owner: str, warn: Callable[[str], None]) -> list[int]:
        """Where the columns of training stand: by their names, or in their order where one of both has no names.

        Parameters
        ----------
        names : of the columns of training, if they had any.
        number : of the columns of training.
        owner : what messages call what was fitted to them.
        warn : called with what should not pass unseen.
        """
        if names is None or not self.named:
            if len(self.names) != number:
                raise DSNAError(
                    f"X has {len(self.names)} features, but {owner} is expecting {number} features as input: pass the "
                    "same columns in the same order, or a data frame with their names."
                )
            if names is not None:
                warn(f"X does not have valid feature names, but {owner} was fitted with feature names")
            elif self.named:
                warn(f"X has feature names, but {owner} was fitted without feature names")
            return list(range(number))
        place = {name: at for at, name in enumerate(self.names)}
        lacking = [name for name in names if name not in place]
        if lacking:
            raise DSNAError(
                f"X lacks the column {few(lacking)}, which training had; it has {few(self.names)}: add it, or correct "
                "its name. (Feature names should match those that were passed during fit.)"
            )
        extra = [name for name in self.names if name not in set(names)]
        if extra:
            warn(f"there are the columns {few(extra)}, which training had not: ignored")
        return [place[name] for name in names]

    @classmethod
    def _of_array(cls, X: Any) -> InputColumns:
        array = check_array(X, dtype=None, ensure_all_finite=False)
        names = tuple(f"x{place}" for place in range(array.shape[1]))
        return cls(names, False, len(array), lambda place: Cells.of_array(names[place], array[:, place]))


def _check_size(shape: tuple[int, int]) -> None:
    for number, what in zip(shape, ("sample", "feature"), strict=True):
        if not number:
            raise DSNAError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")
