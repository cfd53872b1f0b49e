"""Columns that an option names or a model needs, and rows that a model holds already."""

from __future__ import annotations

from typing import Any

from .._utils.errors import DSNAError
from ..tables import FileTable, TableError
from ..tables.files.delimited import listed, short
from ..tables.target import suggested

_SHOWN = 5  # columns that a message lists
_MANY = 0.5  # of the rows, which a model should not know


def check_option(option: str, name: str, names: list[str]) -> None:
    """Refuse the name of a column that is not there.

    Examples
    --------
    >>> check_option("--drop", "naem", ["name", "age"])
    Traceback (most recent call last):
    dsna._utils.errors.DSNAError: --drop naem: there is no such column (did you mean 'name'?). Remedy: name one of ...
    """
    if name not in names:
        meant, shown = suggested(name, names)
        raise DSNAError(f"{option} {name}: there is no such column{meant}. Remedy: name one of {shown}.")


def check_new_rows(encoder: Any, table: FileTable) -> None:
    """Refuse rows that lack a column of training, by the name of their file.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": [1.0, 2.0], "age": [3.0, 7.0]})
    >>> check_new_rows(
    ...     TableEncoder().fit(frame), FileTable(name="new.csv", frame=frame.drop("age"), types={}, notes=[])
    ... )
    Traceback (most recent call last):
    dsna.tables.files.source.TableError: new.csv: lacks 'age', which the model was trained with; there are ...
    """
    there = table.frame.columns
    lacking = [name for name in encoder.feature_names_in_ if name not in there]
    if lacking:
        needed = listed([short(name) for name in lacking[:_SHOWN]], len(lacking))
        spare = [name for name in there if name not in encoder.feature_names_in_]
        meant = suggested(lacking[0], spare)[0] if len(lacking) == 1 else ""
        shown = suggested(lacking[0], there)[1]
        raise TableError(
            f"{table.name}: lacks {needed}{meant}, which the model was trained with; there are {shown}. Remedy: add "
            "what is lacking, with empty cells where there is no value, or correct its name."
        )


def known_rows(encoder: Any, frame: Any) -> str:
    """What to say of rows most of which a model holds already; empty where they are new, or where it holds none.

    Examples
    --------
    >>> import polars
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": [1.0, 2.0, 5.0], "age": [3.0, 7.0, 7.0]})
    >>> known_rows(TableEncoder(keep_rows=True).fit(frame), frame[1:])
    '2 of 2 rows equal rows that the model holds'
    """
    if encoder.rows_ is None or not len(frame):
        return ""
    known = int(encoder.rows_.knows(frame).sum())
    return f"{known} of {len(frame)} rows equal rows that the model holds" if known > _MANY * len(frame) else ""
