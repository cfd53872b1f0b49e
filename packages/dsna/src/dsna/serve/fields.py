"""Form fields for the columns that a model was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inspection.comparison import said
from ..tables import ColumnType, TableEncoder
from ..tables.encoders.dates import DateEncoder
from ..tables.encoders.words import CategoryEncoder
from ..tables.words import booleans

ANOTHER = "(another)"  # stands for categories not seen in training
_MAX_CHOICES = 30  # of a menu; with more, names are typed, with suggestions
_MAX_SUGGESTIONS = 500
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, kw_only=True)
class Field:
    """A form field for a column.

    Parameters
    ----------
    key : name of the field in the form, independent of the column's name.
    name : name of the column.
    kind : {"number", "menu", "suggestions", "date", "time", "text", "identifier", "constant"}
    type : type of the column.
    choices : values and their labels in the form.
    hint : range or number of categories in training.
    typical : a typical value.

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


def form_fields(encoder: TableEncoder) -> tuple[Field, ...]:
    """Form fields for the columns of a fitted encoder.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"size": [1.5, 2.0, 4.0], "town": ["Oslo", "Rome", "Oslo"]})
    >>> [(field.kind, field.hint, field.typical) for field in form_fields(TableEncoder().fit(frame))]
    [('number', '1.5 to 4', '2'), ('menu', '2 categories', 'Oslo')]
    """
    filling = encoder._filling
    ranges = iter(zip(filling.low, filling.middle, filling.high, strict=True))
    fields = []
    for index, (name, column) in enumerate(zip(encoder.types_, encoder._columns, strict=True)):
        column_type = ColumnType.of(encoder.types_[name], name)
        low, middle, high = next(ranges) if column.filled else (np.nan, np.nan, np.nan)
        settings: dict[str, Any] = {}
        if column_type.kind == "number":
            settings = {"kind": "number", "hint": f"{said(low)} to {said(high)}", "typical": said(middle)}
        elif column_type.kind == "boolean":
            true, false = _boolean_words(encoder, name)
            settings = {
                "kind": "menu",
                "choices": ((true, "yes"), (false, "no")),
                "typical": true if middle > 0.5 else false,
            }
        elif column_type.kind == "ordered":
            levels = column_type.levels
            settings = {
                "kind": "menu",
                "choices": tuple((level, level) for level in levels),
                "hint": f"{levels[0]} to {levels[-1]}",
            }
            settings["typical"] = levels[min(int(middle), len(levels) - 1)]
        elif isinstance(column, DateEncoder):
            has_time = "hour" in column.parts or column.newest % _DAY != 0
            settings = {"kind": "time" if has_time else "date", "hint": f"up to {_date(column.newest)}"}
            settings["typical"] = _date(column.fill, has_time)
        elif isinstance(column, CategoryEncoder):
            settings = _category([str(category) for category in column.known])
        else:
            settings = {"kind": column_type.kind}
        fields.append(Field(key=f"c{index}", name=name, type=column_type, **settings))
    return tuple(fields)


def _category(categories: list[str]) -> dict[str, Any]:
    """Settings of a menu, or of suggestions if there are many categories; the typical one is the most frequent."""
    settings: dict[str, Any] = {"typical": categories[0] if categories else "", "hint": f"{len(categories)} categories"}
    if len(categories) > _MAX_CHOICES:
        return settings | {
            "kind": "suggestions",
            "choices": tuple((category, category) for category in categories[:_MAX_SUGGESTIONS]),
        }
    another = () if ANOTHER in categories else ((ANOTHER, "another, not seen in training"),)
    return settings | {
        "kind": "menu",
        "choices": (*((category, category) for category in sorted(categories)), *another),
    }


def parse_boolean(cell: str) -> bool | None:
    """Parse a boolean; None if the text is not one.

    Examples
    --------
    >>> parse_boolean("Yes"), parse_boolean("0"), parse_boolean("perhaps")
    (True, False, None)
    """
    values = booleans([cell])
    if values is None:
        return {"0": False, "1": True}.get(cell)
    return bool(values[0])


def _boolean_words(encoder: TableEncoder, name: str) -> tuple[str, str]:
    """Words for true and false in the stored training rows; "true" and "false" by default."""
    words_by_value = {True: "true", False: "false"}
    training_rows = encoder.rows_
    if training_rows is not None and name in training_rows.names:
        training_words = training_rows.parts[int(np.flatnonzero(training_rows.names == name)[0])].words
        words_by_value |= {
            value: word for word in reversed(training_words.tolist()) if (value := parse_boolean(word)) is not None
        }
    return words_by_value[True], words_by_value[False]


def _date(microseconds: float, with_time: bool = False) -> str:
    """Format a date for a form."""
    timestamp = np.array(int(microseconds), dtype="datetime64[us]")
    return str(timestamp.astype("datetime64[m]" if with_time else "datetime64[D]"))


def as_value(field: Field, cell: Any) -> str:
    """Format a cell of a typed table as the value of a form field.

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
        value = parse_boolean(str(cell).lower())
        return str(cell) if value is None else field.choices[0 if value else 1][0]
    if field.kind in ("date", "time") and hasattr(cell, "isoformat"):
        return str(cell.isoformat())[: 10 if field.kind == "date" else 23]
    return repr(cell) if isinstance(cell, float) else str(cell)
