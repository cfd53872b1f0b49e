"""What a client sends as rows of a table: values of a form, objects of JSON, the text of a file."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from .._utils.optional import import_extra
from ..tables import ColumnType, ReadOptions, read_chunks
from ..tables.cells import Unreadable
from ..tables.files.delimited import few, short
from ..tables.files.source import Source, is_plain_text
from ..tables.files.typed import Typing, typed_frame
from ..tables.notation import Notation
from ..tables.words import MISSING
from .fields import Field, truth
from .limits import Limits, Refused

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(T.*)?")
_EXACT = 2.0**53
_MORE_COLUMNS = 2_000  # that a file may have beside those of the model
_WHAT = {"number": "a number", "date": "a date", "boolean": "yes or no"}


class Rows(NamedTuple):
    """Rows as typed columns, what was noted of them, and the cells that could not be read, by column."""

    frame: Any  # of polars
    notes: list[str]
    unreadable: Mapping[str, Unreadable] = MappingProxyType({})


def rows_of_form(fields: Sequence[Field], values: Mapping[str, str]) -> Rows:
    """One row, from the values of a form by the keys of its fields; an empty value is missing.

    Examples
    --------
    >>> field = Field(key="c0", name="size", kind="number", type=ColumnType("number"))
    >>> rows_of_form([field], {"c0": "1,5"}).frame["size"].to_list()
    [1.5]
    """
    # Browsers end the lines of a text with two characters, files with one.
    cells = {field.name: [values.get(field.key, "").replace("\r\n", "\n")] for field in fields}
    return _typed(fields, cells, place="", points=True)


def rows_of_objects(fields: Sequence[Field], objects: Sequence[Any], limits: Limits) -> Rows:
    """Rows from objects of JSON, by the names of their columns; null is missing.

    Examples
    --------
    >>> field = Field(key="c0", name="size", kind="number", type=ColumnType("number"))
    >>> rows_of_objects([field], [{"size": 2, "x": 1}], Limits()).notes
    ["the rows have the column 'x', which training had not: ignored"]
    """
    if not objects:
        raise Refused("rows is empty. Remedy: send one object for each row.")
    if len(objects) > limits.rows:
        raise limits.too_many("rows holds")
    columns: dict[str, list[str]] = {field.name: [] for field in fields}
    optional = {field.name for field in fields if not field.used}
    numeric = {field.name for field in fields if field.kind == "number"}
    others: dict[str, None] = {}
    for number, one in enumerate(objects, 1):
        if not isinstance(one, dict):
            raise Refused(f"row {number} is no object. Remedy: send the values of a row by the names of their columns.")
        lacking = [name for name in columns if name not in one and name not in optional]
        if lacking:
            raise Refused(
                f"row {number} lacks the column {few(lacking)}. Remedy: send null where there is no value, or correct "
                "the name."
            )
        for name, cells in columns.items():
            cells.append(_text(one.get(name), name, number, name in numeric))
        others.update(dict.fromkeys(name for name in one if name not in columns))
    rows = _typed(fields, columns, place="row {}, ", points=False)
    if others:
        rows.notes.append(f"the rows have the column {few(list(others))}, which training had not: ignored")
    return rows


def rows_of_file(fields: Sequence[Field], content: bytes, limits: Limits, *, tabs: bool = False) -> list[Rows]:
    r"""The rows of a CSV or TSV file, read as ``dsna predict`` reads it, in parts.

    Examples
    --------
    >>> field = Field(key="c0", name="size", kind="number", type=ColumnType("number"))
    >>> rows_of_file([field], b"size;x\n1,5;a\n", Limits())[0].frame["size"].to_list()
    [1.5]
    """
    name = "table.tsv" if tabs else "table.csv"
    if not content:
        raise Refused("no file was sent, or an empty one. Remedy: choose a CSV file.")
    if not is_plain_text(content):
        raise Refused("the file is packed, or Parquet or Arrow. Remedy: send plain CSV, or use `dsna predict`.", 415)
    types = {field.name: field.type.spec for field in fields}
    options = ReadOptions(model_types=types, skip_lines=0, named=(), most_columns=len(fields) + _MORE_COLUMNS)
    found: list[Rows] = []
    seen = 0
    for chunk in read_chunks(Source(name, io.BytesIO(content)), options):
        seen += chunk.frame.height
        if seen > limits.rows:
            raise limits.too_many("the file has")
        if not found:
            _check_columns(fields, chunk.frame.columns)
        found.append(Rows(chunk.frame, chunk.notes, chunk.unreadable))
    return found


def _check_columns(fields: Sequence[Field], there: Sequence[str]) -> None:
    """Refuse a file without some column of training, by name."""
    lacking = [field.name for field in fields if field.name not in there]
    if lacking:
        raise Refused(
            f"the file lacks the column {few(lacking)}; it has {few(there)}. Remedy: add it, with empty cells where "
            "there is no value, or correct its name."
        )


def _text(cell: Any, name: str, row: int, is_numeric: bool) -> str:
    """A cell of JSON as a file would hold it; of a column of numbers, in a way that has one reading."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell.encode("utf-8", "replace").decode()  # which a lone surrogate is not
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        try:
            value = float(cell)
        except OverflowError:
            value = math.inf
        if math.isfinite(value):
            if value == int(value) and abs(value) < _EXACT:
                return str(int(value))
            return f"{value!r}0" if is_numeric and "e" not in repr(value) else repr(value)
        raise Refused(
            f"row {row}, column {short(name)}: the number is not finite. Remedy: send null where it is missing."
        )
    what = "a list" if isinstance(cell, list) else "an object"
    raise Refused(
        f"row {row}, column {short(name)}: {what} is no cell. Remedy: send a number, a text, true or false, or null."
    )


def _typed(fields: Sequence[Field], columns: Mapping[str, list[str]], place: str, points: bool) -> Rows:
    """Text as typed columns; cells that are not of their column's type are refused.

    Parameters
    ----------
    fields, columns : the columns of the model, and their cells.
    place : what messages call a row, before they name the column.
    points : whether points are decimal signs in any case, as browsers write them.
    """
    pl = import_extra("polars", "serve")
    columns = {field.name: _in_own_words(field, columns[field.name]) for field in fields}
    types = {field.name: _type(field, columns[field.name]) for field in fields}
    typed, notes = [], []
    for field in fields:
        name, kind = field.name, types[field.name]
        # Each column for itself: numbers of JSON say nothing of how text beside them is written.
        learned = {name: kind.written(kind.way or ".")}
        how = Typing({}, learned, Notation(points=points, learned=learned, options=()))
        column, _, remarks = typed_frame(pl.DataFrame([pl.Series(name, columns[name], dtype=pl.String)]), how)
        typed.append(column)
        notes += [note for note in remarks.lines() if "holds no value" not in note]
        read = column[name].to_list()
        for row, (cell, value) in enumerate(zip(columns[field.name], read, strict=True), 1):
            bare = cell.strip()
            if bare not in MISSING and not _fits(kind, bare, value):
                raise Refused(
                    f"{place.format(row)}column {short(field.name)}: {short(bare)} is not {_wanted(kind)}. "
                    "Remedy: correct it, or leave it empty."
                )
    return Rows(pl.concat(typed, how="horizontal"), notes)


def _in_own_words(field: Field, cells: list[str]) -> list[str]:
    """Cells that are true or false, in the words that training had for it; others as they are."""
    if field.type.kind != "boolean":
        return cells
    true, false = (own for own, _ in field.choices)
    found = [(cell, truth(cell.strip())) for cell in cells]
    return [cell if known is None else true if known else false for cell, known in found]


def _type(field: Field, cells: Sequence[str]) -> ColumnType:
    """The type of training; dates may also be written as forms and JSON do, year first."""
    kind = field.type
    if kind.kind == "date" and all(_ISO.fullmatch(cell.strip()) for cell in cells if cell.strip() not in MISSING):
        return ColumnType("date")
    return kind


def _fits(kind: ColumnType, cell: str, value: Any) -> bool:
    """Whether a cell that is there is of its column's type; ``value`` is what was read."""
    if kind.kind == "ordered":
        return cell in kind.levels
    if kind.kind == "boolean":
        return truth(cell) is not None
    return kind.kind not in ("number", "date") or value is not None


def _wanted(kind: ColumnType) -> str:
    """What a cell should have been."""
    return f"one of {few(kind.levels)}" if kind.kind == "ordered" else _WHAT[kind.kind]
