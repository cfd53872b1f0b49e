"""The fields of a form, from the columns that a model was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inspection.comparison import said
from ..tables import ColumnType, TableEncoder
from ..tables.encoders.dates import DateEncoder
from ..tables.encoders.words import CategoryEncoder
from ..tables.words import booleans

ANOTHER = "(another)"  # a category that training had not
_MOST_CHOICES = 30  # of a menu; beyond, names are typed, with suggestions
_MOST_SUGGESTIONS = 500
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, kw_only=True)
class Field:
    """A column as a form asks for it.

    Parameters
    ----------
    key : name of the field in the form, which no name of a column can upset.
    name : of the column.
    kind : {"number", "menu", "suggestions", "date", "time", "text", "identifier", "constant"}
    type : what the column holds.
    choices : values and what the form calls them.
    hint : what training had there.
    typical : a value to begin with.

    Examples
    --------
    >>> Field(key="c0", name="age", kind="number", type=ColumnType("number")).used
    True
    """

    key: str
    name: str
    kind: str
    type: ColumnType
    choices: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    typical: str = ""

    @property
    def used(self) -> bool:
        """Whether answers can depend on the column."""
        return self.kind not in ("identifier", "constant")


def fields_of(encoder: TableEncoder) -> tuple[Field, ...]:
    """A field for each column of a fitted encoder.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"size": [1.5, 2.0, 4.0], "town": ["Oslo", "Rome", "Oslo"]})
    >>> [(field.kind, field.hint, field.typical) for field in fields_of(TableEncoder().fit(frame))]
    [('number', '1.5 to 4', '2'), ('menu', '2 categories', 'Oslo')]
    """
    filling = encoder._filling
    ranges = iter(zip(filling.low, filling.middle, filling.high, strict=True))
    found = []
    for place, (name, column) in enumerate(zip(encoder.types_, encoder._columns, strict=True)):
        kind = ColumnType.of(encoder.types_[name], name)
        low, middle, high = next(ranges) if column.filled else (np.nan, np.nan, np.nan)
        about: dict[str, Any] = {}
        if kind.kind == "number":
            about = {"kind": "number", "hint": f"{said(low)} to {said(high)}", "typical": said(middle)}
        elif kind.kind == "boolean":
            true, false = _words_of_truth(encoder, name)
            about = {
                "kind": "menu",
                "choices": ((true, "yes"), (false, "no")),
                "typical": true if middle > 0.5 else false,
            }
        elif kind.kind == "ordered":
            levels = kind.levels
            about = {
                "kind": "menu",
                "choices": tuple((one, one) for one in levels),
                "hint": f"{levels[0]} to {levels[-1]}",
            }
            about["typical"] = levels[min(int(middle), len(levels) - 1)]
        elif isinstance(column, DateEncoder):
            timed = "hour" in column.parts or column.newest % _DAY != 0
            about = {"kind": "time" if timed else "date", "hint": f"up to {_date(column.newest)}"}
            about["typical"] = _date(column.fill, timed)
        elif isinstance(column, CategoryEncoder):
            about = _category([str(one) for one in column.known])
        else:
            about = {"kind": kind.kind}
        found.append(Field(key=f"c{place}", name=name, type=kind, **about))
    return tuple(found)


def _category(known: list[str]) -> dict[str, Any]:
    """A menu of few categories, or suggestions of many; the most frequent comes first."""
    about: dict[str, Any] = {"typical": known[0] if known else "", "hint": f"{len(known)} categories"}
    if len(known) > _MOST_CHOICES:
        return about | {"kind": "suggestions", "choices": tuple((one, one) for one in known[:_MOST_SUGGESTIONS])}
    another = () if ANOTHER in known else ((ANOTHER, "another, which training had not"),)
    return about | {"kind": "menu", "choices": (*((one, one) for one in sorted(known)), *another)}


def truth(cell: str) -> bool | None:
    """Whether a text says true or false; None where it says neither.

    Examples
    --------
    >>> truth("Yes"), truth("0"), truth("perhaps")
    (True, False, None)
    """
    found = booleans([cell])
    if found is None:
        return {"0": False, "1": True}.get(cell)
    return bool(found[0])


def _words_of_truth(encoder: TableEncoder, name: str) -> tuple[str, str]:
    """What the kept rows say for true and for false; "true" and "false" where they do not tell."""
    known = {True: "true", False: "false"}
    kept = encoder.rows_
    if kept is not None and name in kept.names:
        words = kept.parts[int(np.flatnonzero(kept.names == name)[0])].words
        known |= {said: word for word in reversed(words.tolist()) if (said := truth(word)) is not None}
    return known[True], known[False]


def _date(microseconds: float, with_time: bool = False) -> str:
    """A date as forms write it."""
    when = np.array(int(microseconds), dtype="datetime64[us]")
    return str(when.astype("datetime64[m]" if with_time else "datetime64[D]"))


def as_value(field: Field, cell: Any) -> str:
    """A cell of a typed table as the field of a form holds it.

    Examples
    --------
    >>> import datetime
    >>> field = Field(key="c0", name="since", kind="date", type=ColumnType("date"))
    >>> as_value(field, datetime.datetime(2024, 3, 1)), as_value(field, None)
    ('2024-03-01', '')
    """
    if cell is None:
        return ""
    if field.type.kind == "boolean" and field.choices:
        known = truth(str(cell).lower())
        return str(cell) if known is None else field.choices[0 if known else 1][0]
    if field.kind in ("date", "time") and hasattr(cell, "isoformat"):
        return str(cell.isoformat())[: 10 if field.kind == "date" else 23]
    return repr(cell) if isinstance(cell, float) else str(cell)
