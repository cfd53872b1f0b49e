"""Training rows as their owner knows them: typed columns of plain arrays, which a model file can hold."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import narwhals as nw
import numpy as np

from .._utils.errors import DSNAError
from .._utils.invariants import Array, Checked, Choice, Number, Parts, require

#: dtype of the values of each kind of column; of text, numbers of its words.
_DTYPES = {"number": "float64", "whole": "int64", "truth": "bool", "date": "int64", "time": "int64", "text": "int32"}
_LAST_NUMBER = 2**53
_UNITS = {"date": "D", "time": "us"}


class KeptColumn(Checked):
    """One column.

    Parameters
    ----------
    kind : {"number", "whole", "truth", "date", "time", "text"}
    values : (n,) numbers, True and False, days or microseconds since 1970, or places in ``words``.
    known : (n,) whether there is a value.
    words : (w,) the texts that occur, each once; of other kinds, none.
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
        right = self.values.dtype == np.dtype(_DTYPES[self.kind])
        require(right, f"KeptColumn.values has dtype {self.values.dtype}, not that of a {self.kind}")
        if self.kind == "text":
            places = self.values[self.known]
            inside = places.min(initial=0) >= 0 and places.max(initial=-1) < sizes["words"]
            require(inside, "KeptColumn.values holds places of no words")
        else:
            require(not sizes["words"], "KeptColumn.words belongs to text")
        if self.kind in _UNITS:
            fits = np.abs(self.values[self.known].astype(np.float64)).max(initial=0.0) <= _LATEST[self.kind]
            require(fits, "KeptColumn.values holds dates that are none")

    @classmethod
    def of(cls, column: Any) -> KeptColumn:
        """A column of a data frame, as a series of narwhals."""
        known = ~column.is_null().to_numpy().astype(bool)
        kind = _kind(column.dtype)
        if kind == "text":
            return cls._of_text(column.to_list(), known)
        if kind in _UNITS:
            column = column.dt.replace_time_zone(None) if getattr(column.dtype, "time_zone", None) else column
            values = np.zeros(len(known), dtype=np.int64)
            values[known] = np.array(column.drop_nulls().to_list(), dtype=f"datetime64[{_UNITS[kind]}]").astype(int)
            return cls(kind, values, known)
        fill = False if kind == "truth" else 0
        values = column.fill_null(fill).to_numpy().astype(_DTYPES[kind])
        if kind == "number":
            known &= np.isfinite(values)
            values = np.where(known, values, 0.0)
        return cls(kind, values, known)

    @classmethod
    def of_array(cls, column: np.ndarray) -> KeptColumn:
        """A column of an array: numbers, or text.

        Examples
        --------
        >>> import numpy as np
        >>> KeptColumn.of_array(np.array(["a", None], dtype=object)).cells().tolist()
        ['a', None]
        """
        if column.dtype.kind in "biuf":
            values = column.astype(np.float64)
            known = np.isfinite(values)
            return cls("number", np.where(known, values, 0.0), known)
        cells = column.tolist()
        return cls._of_text(cells, np.array([cell is not None and cell == cell for cell in cells]))

    @classmethod
    def _of_text(cls, values: list[Any], known: np.ndarray) -> KeptColumn:
        places: dict[str, int] = {}
        found = np.zeros(len(values), dtype=np.int32)
        for i in np.flatnonzero(known):
            found[i] = places.setdefault(str(values[i]), len(places))
        words = np.empty(len(places), dtype=object)
        words[:] = list(places)
        return cls("text", found, known, words)

    def cells(self) -> np.ndarray:
        """(n,) the values as numpy holds them; what is missing is NaN, NaT or, among the other kinds, None.

        Examples
        --------
        >>> import numpy as np
        >>> KeptColumn("whole", np.array([3, 0]), np.array([True, False])).cells().tolist()
        [3, None]
        """
        if self.kind == "number":
            return np.where(self.known, self.values, np.nan)
        if self.kind in _UNITS:
            cells = self.values.astype(f"datetime64[{_UNITS[self.kind]}]")
            return np.where(self.known, cells, np.datetime64("NaT"))
        if self.kind != "text" and self.known.all():
            return self.values
        cells = np.full(len(self.values), None, dtype=object)
        some = self.values[self.known]
        cells[self.known] = self.words[some] if self.kind == "text" else some.tolist()
        return cells

    def joined(self, other: KeptColumn) -> KeptColumn:
        """The column with the rows of another below it; kinds that differ become text, or numbers."""
        one, two = self, other
        if {one.kind, two.kind} == {"number", "whole"}:
            one, two = one._as_number(), two._as_number()
        known = np.concatenate([one.known, two.known])
        if one.kind == two.kind != "text":
            return KeptColumn(one.kind, np.concatenate([one.values, two.values]), known)
        return KeptColumn._of_text([*one.cells().tolist(), *two.cells().tolist()], known)

    def _as_number(self) -> KeptColumn:
        return KeptColumn("number", self.values.astype(np.float64), self.known)


#: Years 1 to 9999, which Python and polars have.
_LATEST = {"date": 3.0e6, "time": 2.6e17}


class KeptRows(Checked):
    """Rows of a table, column by column.

    Parameters
    ----------
    names : (c,) names of the columns.
    parts : the c columns.
    number : (n,) number of each row in the file or frame that it came from, from 1 on.
    id : number of the column that says what the rows are called; None: their numbers do.

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
        for name, part in zip(self.names, self.parts, strict=True):
            require(len(part.values) == sizes["rows"], f"KeptRows: the column {name!r} has another number of rows")
        require(len(set(self.names)) == sizes["columns"], "KeptRows: two columns have one name")
        require(self.id is None or self.id < sizes["columns"], "KeptRows.id is no column")

    @classmethod
    def of(cls, frame: Any, *, without: str | None = None) -> KeptRows:
        """Rows of a pandas, polars or Arrow frame or of an array; ``without`` names a column that is not kept."""
        if not hasattr(frame, "columns") and not hasattr(frame, "__dataframe__"):
            array = np.asarray(frame)
            names = np.array([f"x{j}" for j in range(array.shape[1])], dtype=object)
            return cls(names, [KeptColumn.of_array(column) for column in array.T], np.arange(1, len(array) + 1))
        table = nw.from_native(frame, eager_only=True)
        kept = [place for place, name in enumerate(table.columns) if name != without]
        names = np.empty(len(kept), dtype=object)
        names[:] = [str(table.columns[place]) for place in kept]
        return cls(names, [KeptColumn.of(table[:, place]) for place in kept], np.arange(1, len(table) + 1))

    def identified_by(self, name: str | None) -> KeptRows:
        """The same rows, called by the values of a column; by their numbers, where there is no such column."""
        found = np.flatnonzero(self.names == name)
        return KeptRows(self.names, self.parts, self.number, int(found[0]) if len(found) else None)

    def numbered(self, number: np.ndarray) -> KeptRows:
        """The same rows with the numbers that they have where they came from, from 1 on."""
        return KeptRows(self.names, self.parts, np.asarray(number, dtype=np.int64), self.id)

    def only(self, rows: np.ndarray) -> KeptRows:
        """Some of the rows, given by their places."""
        parts = [KeptColumn(part.kind, part.values[rows], part.known[rows], part.words) for part in self.parts]
        return KeptRows(self.names, parts, self.number[rows], self.id)

    def __len__(self) -> int:
        return len(self.number)

    def column(self, name: Hashable) -> np.ndarray:
        """Values of the column of this name, as :meth:`KeptColumn.cells` gives them."""
        return self.parts[int(np.flatnonzero(self.names == name)[0])].cells()

    def identifiers(self) -> np.ndarray:
        """(n,) what the rows are called."""
        return np.asarray(self.number if self.id is None else self.parts[self.id].cells())

    @property
    def id_name(self) -> str:
        """Name of the column that says what rows are called; "row in file" where numbers do."""
        return "row in file" if self.id is None else str(self.names[self.id])

    def data(self) -> dict[str, np.ndarray]:
        """The values by column, of which any library makes a data frame."""
        return {str(name): part.cells() for name, part in zip(self.names, self.parts, strict=True)}

    def extended(self, frame: Any) -> KeptRows:
        """These rows and, below them, those of a frame; columns that it lacks are missing there, others are left out.

        Numbers continue those of these rows.
        """
        table = nw.from_native(frame, eager_only=True)
        n, parts = len(table), []
        for name, part in zip(self.names, self.parts, strict=True):
            nothing = np.zeros(n, dtype=bool)
            new = KeptColumn.of(table[name]) if name in table.columns else None
            words = part.words if part.kind == "text" else None
            parts.append(part.joined(new or KeptColumn(part.kind, np.zeros(n, part.values.dtype), nothing, words)))
        last = int(self.number.max(initial=0))
        if last + n > _LAST_NUMBER:
            raise DSNAError(f"no numbers are left for {n} more rows after row {last} of the model. Train again.")
        number = np.arange(1, n + 1) + last
        return KeptRows(self.names, parts, np.concatenate([self.number, number]), self.id)

    def knows(self, frame: Any) -> np.ndarray:
        """(n,) whether a row of a frame equals one of these rows, and only one, in the columns that both have.

        Values that many of these rows share are no sign that a row is one of them.

        Examples
        --------
        >>> import polars
        >>> rows = KeptRows.of(polars.DataFrame({"age": [41, 37, 37]}))
        >>> rows.knows(polars.DataFrame({"age": [41, 37, 40]})).tolist()
        [True, False, False]
        """
        both = self.extended(frame)
        there = set(nw.from_native(frame, eager_only=True).columns)
        codes = [
            np.where(part.known, np.unique(part.values, return_inverse=True)[1], -1)
            for name, part in zip(both.names, both.parts, strict=True)
            if name in there
        ]
        n = len(self)
        if not codes:
            return np.zeros(len(both) - n, dtype=bool)
        row = np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel()
        return np.asarray(np.bincount(row[:n], minlength=row.max() + 1)[row[n:]] == 1)


def _kind(dtype: Any) -> str:
    """Kind of column that values of a data frame's type are kept as."""
    if dtype == nw.Boolean:
        return "truth"
    if dtype.is_integer() and dtype not in (nw.UInt64, nw.Int128, nw.UInt128):
        return "whole"
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Date:
        return "date"
    return "time" if dtype == nw.Datetime else "text"
