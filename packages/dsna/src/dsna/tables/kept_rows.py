"""Training rows in their original values: typed columns of plain arrays, which a model file can store."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import narwhals as nw
import numpy as np

from .._utils.errors import DSNAError
from .._utils.invariants import Array, Checked, Choice, Number, Parts, require

#: dtype of the values of each kind of column; text is stored as indices into its words.
_DTYPES = {"number": "float64", "whole": "int64", "truth": "bool", "date": "int64", "time": "int64", "text": "int32"}
_LAST_NUMBER = 2**53
_UNITS = {"date": "D", "time": "us"}


class KeptColumn(Checked):
    """One column of kept rows.

    Parameters
    ----------
    kind : {"number", "whole", "truth", "date", "time", "text"}
    values : (n,) numbers, booleans, days or microseconds since 1970, or indices into ``words``.
    known : (n,) bool, False where the value is missing.
    words : (w,) the distinct texts; empty for other kinds.
    """

    FIELDS = {
        "kind": Choice(tuple(_DTYPES)),
        "values": Array("float64 int64 bool int32", "rows"),
        "known": Array("bool", "rows"),
        "words": Array("object", "words"),
    }

    def __init__(self, kind: str, values: np.ndarray, known: np.ndarray, words: np.ndarray | None = None) -> None:
        self.kind = kind
        self.values = values
        self.known = known
        self.words = np.empty(0, dtype=object) if words is None else words
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        dtype_fits = self.values.dtype == np.dtype(_DTYPES[self.kind])
        require(dtype_fits, f"KeptColumn.values has dtype {self.values.dtype}, not that of kind {self.kind!r}")
        if self.kind == "text":
            codes = self.values[self.known]
            in_range = codes.min(initial=0) >= 0 and codes.max(initial=-1) < sizes["words"]
            require(in_range, "KeptColumn.values holds indices outside words")
        else:
            require(not sizes["words"], "KeptColumn.words is for text only")
        if self.kind in _UNITS:
            in_range = np.abs(self.values[self.known].astype(np.float64)).max(initial=0.0) <= _LATEST[self.kind]
            require(in_range, "KeptColumn.values holds dates outside the years 1 to 9999")

    @classmethod
    def of(cls, column: Any) -> KeptColumn:
        """Convert a narwhals series."""
        is_known = ~column.is_null().to_numpy().astype(bool)
        kind = _kind(column.dtype)
        if kind == "text":
            return cls._of_text(column.to_list(), is_known)
        if kind in _UNITS:
            column = column.dt.replace_time_zone(None) if getattr(column.dtype, "time_zone", None) else column
            values = np.zeros(len(is_known), dtype=np.int64)
            values[is_known] = np.array(column.drop_nulls().to_list(), dtype=f"datetime64[{_UNITS[kind]}]").astype(int)
            return cls(kind, values, is_known)
        fill = False if kind == "truth" else 0
        values = column.fill_null(fill).to_numpy().astype(_DTYPES[kind])
        if kind == "number":
            is_known &= np.isfinite(values)
            values = np.where(is_known, values, 0.0)
        return cls(kind, values, is_known)

    @classmethod
    def of_array(cls, column: np.ndarray) -> KeptColumn:
        """Convert a column of an array to numbers or text.

        Examples
        --------
        >>> import numpy as np
        >>> KeptColumn.of_array(np.array(["a", None], dtype=object)).cells().tolist()
        ['a', None]
        """
        if column.dtype.kind in "biuf":
            values = column.astype(np.float64)
            is_finite = np.isfinite(values)
            return cls("number", np.where(is_finite, values, 0.0), is_finite)
        cells = column.tolist()
        return cls._of_text(cells, np.array([cell is not None and cell == cell for cell in cells]))

    @classmethod
    def _of_text(cls, values: list[Any], is_known: np.ndarray) -> KeptColumn:
        code_of_word: dict[str, int] = {}
        codes = np.zeros(len(values), dtype=np.int32)
        for row in np.flatnonzero(is_known):
            codes[row] = code_of_word.setdefault(str(values[row]), len(code_of_word))
        words = np.empty(len(code_of_word), dtype=object)
        words[:] = list(code_of_word)
        return cls("text", codes, is_known, words)

    def cells(self) -> np.ndarray:
        """Return the (n,) values as a numpy array; missing ones are NaN, NaT or None, depending on the kind.

        Examples
        --------
        >>> import numpy as np
        >>> KeptColumn("whole", np.array([3, 0]), np.array([True, False])).cells().tolist()
        [3, None]
        """
        if self.kind == "number":
            return np.where(self.known, self.values, np.nan)
        if self.kind in _UNITS:
            dates = self.values.astype(f"datetime64[{_UNITS[self.kind]}]")
            return np.where(self.known, dates, np.datetime64("NaT"))
        if self.kind != "text" and self.known.all():
            return self.values
        cells = np.full(len(self.values), None, dtype=object)
        known_values = self.values[self.known]
        cells[self.known] = self.words[known_values] if self.kind == "text" else known_values.tolist()
        return cells

    def concatenated(self, other: KeptColumn) -> KeptColumn:
        """Append the rows of another column; columns of different kinds become numbers if they can, otherwise text."""
        first, second = self, other
        if {first.kind, second.kind} == {"number", "whole"}:
            first, second = first._as_number(), second._as_number()
        is_known = np.concatenate([first.known, second.known])
        if first.kind == second.kind != "text":
            return KeptColumn(first.kind, np.concatenate([first.values, second.values]), is_known)
        return KeptColumn._of_text([*first.cells().tolist(), *second.cells().tolist()], is_known)

    def _as_number(self) -> KeptColumn:
        return KeptColumn("number", self.values.astype(np.float64), self.known)


#: Largest absolute values of the years 1 to 9999, which Python and polars support.
_LATEST = {"date": 3.0e6, "time": 2.6e17}


class KeptRows(Checked):
    """Rows of a table, stored by column.

    Parameters
    ----------
    names : (c,) names of the columns.
    parts : the c columns.
    number : (n,) number of each row in its original file or frame, starting at 1.
    id : index of the column that identifies the rows; None if row numbers do.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables.kept_rows import KeptRows
    >>> rows = KeptRows.of(polars.DataFrame({"name": ["Ann", None], "age": [41, 37]})).identified_by("name")
    >>> rows.identifiers().tolist(), rows.column("age").tolist()
    (['Ann', None], [41, 37])
    """

    FIELDS = {
        "names": Array("object", "columns"),
        "parts": Parts("KeptColumn", "columns"),
        "number": Array("int64", "rows", 1, _LAST_NUMBER),
        "id": Number(0, whole=True, none=True),
    }

    def __init__(self, names: np.ndarray, parts: list[KeptColumn], number: np.ndarray, id: int | None = None) -> None:
        self.names = names
        self.parts = parts
        self.number = number
        self.id = id
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        for name, column in zip(self.names, self.parts, strict=True):
            require(len(column.values) == sizes["rows"], f"KeptRows: column {name!r} has a different number of rows")
        require(len(set(self.names)) == sizes["columns"], "KeptRows: two columns have the same name")
        require(self.id is None or self.id < sizes["columns"], "KeptRows.id is not the index of a column")

    @classmethod
    def of(cls, frame: Any, *, without: str | None = None) -> KeptRows:
        """Keep the rows of a pandas, polars or Arrow frame or of an array, without the column ``without``."""
        if not hasattr(frame, "columns") and not hasattr(frame, "__dataframe__"):
            array = np.asarray(frame)
            names = np.array([f"x{j}" for j in range(array.shape[1])], dtype=object)
            return cls(names, [KeptColumn.of_array(column) for column in array.T], np.arange(1, len(array) + 1))
        table = nw.from_native(frame, eager_only=True)
        indices = [j for j, name in enumerate(table.columns) if name != without]
        names = np.empty(len(indices), dtype=object)
        names[:] = [str(table.columns[j]) for j in indices]
        return cls(names, [KeptColumn.of(table[:, j]) for j in indices], np.arange(1, len(table) + 1))

    def identified_by(self, name: str | None) -> KeptRows:
        """Identify the rows by the values of a column, or by their numbers if there is no such column."""
        matches = np.flatnonzero(self.names == name)
        return KeptRows(self.names, self.parts, self.number, int(matches[0]) if len(matches) else None)

    def numbered(self, number: np.ndarray) -> KeptRows:
        """Replace the row numbers, which start at 1."""
        return KeptRows(self.names, self.parts, np.asarray(number, dtype=np.int64), self.id)

    def only(self, rows: np.ndarray) -> KeptRows:
        """Select rows by their indices."""
        columns = [
            KeptColumn(column.kind, column.values[rows], column.known[rows], column.words) for column in self.parts
        ]
        return KeptRows(self.names, columns, self.number[rows], self.id)

    def __len__(self) -> int:
        return len(self.number)

    def column(self, name: Hashable) -> np.ndarray:
        """Return the values of a column; see :meth:`KeptColumn.cells`."""
        return self.parts[int(np.flatnonzero(self.names == name)[0])].cells()

    def identifiers(self) -> np.ndarray:
        """Return the (n,) identifiers of the rows."""
        return np.asarray(self.number if self.id is None else self.parts[self.id].cells())

    @property
    def id_name(self) -> str:
        """Name of the column that identifies the rows; "row in file" if row numbers do."""
        return "row in file" if self.id is None else str(self.names[self.id])

    def data(self) -> dict[str, np.ndarray]:
        """Return the values by column name, from which any library can build a data frame."""
        return {str(name): column.cells() for name, column in zip(self.names, self.parts, strict=True)}

    def extended(self, frame: Any) -> KeptRows:
        """Append the rows of a frame and continue the row numbers.

        Columns that the frame lacks are missing in its rows; its additional columns are ignored.
        """
        table = nw.from_native(frame, eager_only=True)
        n_new, columns = len(table), []
        for name, column in zip(self.names, self.parts, strict=True):
            if name in table.columns:
                new = KeptColumn.of(table[name])
            else:
                words = column.words if column.kind == "text" else None
                new = KeptColumn(column.kind, np.zeros(n_new, column.values.dtype), np.zeros(n_new, dtype=bool), words)
            columns.append(column.concatenated(new))
        last = int(self.number.max(initial=0))
        if last + n_new > _LAST_NUMBER:
            raise DSNAError(f"no numbers are left for {n_new} more rows after row {last} of the model. Train again.")
        new_numbers = np.arange(1, n_new + 1) + last
        return KeptRows(self.names, columns, np.concatenate([self.number, new_numbers]), self.id)

    def knows(self, frame: Any) -> np.ndarray:
        """Tell which rows of a frame equal exactly one of these rows in the columns that both have.

        A row that equals several of these rows has common values, and need not be one of them.

        Examples
        --------
        >>> import polars
        >>> rows = KeptRows.of(polars.DataFrame({"age": [41, 37, 37]}))
        >>> rows.knows(polars.DataFrame({"age": [41, 37, 40]})).tolist()
        [True, False, False]
        """
        all_rows = self.extended(frame)
        frame_columns = set(nw.from_native(frame, eager_only=True).columns)
        column_codes = [
            np.where(column.known, np.unique(column.values, return_inverse=True)[1], -1)
            for name, column in zip(all_rows.names, all_rows.parts, strict=True)
            if name in frame_columns
        ]
        n = len(self)
        if not column_codes:
            return np.zeros(len(all_rows) - n, dtype=bool)
        row_codes = np.unique(np.column_stack(column_codes), axis=0, return_inverse=True)[1].ravel()
        n_equal = np.bincount(row_codes[:n], minlength=row_codes.max() + 1)
        return np.asarray(n_equal[row_codes[n:]] == 1)


def _kind(dtype: Any) -> str:
    """Return the kind of column in which values of a narwhals dtype are kept."""
    if dtype == nw.Boolean:
        return "truth"
    if dtype.is_integer() and dtype not in (nw.UInt64, nw.Int128, nw.UInt128):
        return "whole"
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Date:
        return "date"
    return "time" if dtype == nw.Datetime else "text"
