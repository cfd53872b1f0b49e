"""Rows sent by a client: form values, JSON objects, or the text of a file."""

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
from .fields import Field, parse_boolean
from .limits import Limits, Refused

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(T.*)?")
_MAX_EXACT = 2.0**53
_EXTRA_COLUMNS = 2_000  # that a file may have besides those of the model
_TYPE_NAMES = {"number": "a number", "date": "a date", "boolean": "yes or no"}


class TypedRows(NamedTuple):
    """Rows as typed columns, with notes and the unreadable cells by column."""

    frame: Any  # of polars
    notes: list[str]
    unreadable: Mapping[str, Unreadable] = MappingProxyType({})


def parse_form(fields: Sequence[Field], values: Mapping[str, str]) -> TypedRows:
    """Parse one row from form values by field key; an empty value is missing.

    Examples
    --------
    >>> field = Field(key="c0", name="size", kind="number", type=ColumnType("number"))
    >>> parse_form([field], {"c0": "1,5"}).frame["size"].to_list()
    [1.5]
    """
    # Browsers end lines with CR LF, files with LF.
    cells = {field.name: [values.get(field.key, "").replace("\r\n", "\n")] for field in fields}
    return _typed(fields, cells, location="", points=True)


def parse_objects(fields: Sequence[Field], objects: Sequence[Any], limits: Limits) -> TypedRows:
    """Parse rows from JSON objects by column name; null is missing.

    Examples
    --------
    >>> field = Field(key="c0", name="size", kind="number", type=ColumnType("number"))
    >>> parse_objects([field], [{"size": 2, "x": 1}], Limits()).notes
    ["the rows have the column 'x', which training had not: ignored"]
    """
    if not objects:
        raise Refused("rows is empty. Remedy: send one object for each row.")
    if len(objects) > limits.rows:
        raise limits.too_many("rows holds")
    columns: dict[str, list[str]] = {field.name: [] for field in fields}
    optional = {field.name for field in fields if not field.used}
    numeric = {field.name for field in fields if field.kind == "number"}
    unknown_columns: dict[str, None] = {}
    for number, record in enumerate(objects, 1):
        if not isinstance(record, dict):
            raise Refused(f"row {number} is not an object. Remedy: send an object with a value for each column.")
        missing = [name for name in columns if name not in record and name not in optional]
        if missing:
            raise Refused(
                f"row {number} lacks the column {few(missing)}. Remedy: send null where there is no value, or correct "
                "the name."
            )
        for name, cells in columns.items():
            cells.append(_text(record.get(name), name, number, name in numeric))
        unknown_columns.update(dict.fromkeys(name for name in record if name not in columns))
    rows = _typed(fields, columns, location="row {}, ", points=False)
    if unknown_columns:
        rows.notes.append(f"the rows have the column {few(list(unknown_columns))}, which training had not: ignored")
    return rows


def parse_file(fields: Sequence[Field], content: bytes, limits: Limits, *, tabs: bool = False) -> list[TypedRows]:
    r"""Read a CSV or TSV file in chunks, as ``dsna predict`` does.

    Examples
    --------
    >>> field = Field(key="c0", name="size", kind="number", type=ColumnType("number"))
    >>> parse_file([field], b"size;x\n1,5;a\n", Limits())[0].frame["size"].to_list()
    [1.5]
    """
    name = "table.tsv" if tabs else "table.csv"
    if not content:
        raise Refused("the file is missing or empty. Remedy: choose a CSV file.")
    if not is_plain_text(content):
        raise Refused(
            "the file is compressed, or Parquet or Arrow. Remedy: send plain CSV, or use `dsna predict`.", 415
        )
    types = {field.name: field.type.spec for field in fields}
    options = ReadOptions(model_types=types, skip_lines=0, named=(), most_columns=len(fields) + _EXTRA_COLUMNS)
    tables: list[TypedRows] = []
    n_read = 0
    for chunk in read_chunks(Source(name, io.BytesIO(content)), options):
        n_read += chunk.frame.height
        if n_read > limits.rows:
            raise limits.too_many("the file has")
        if not tables:
            _check_columns(fields, chunk.frame.columns)
        tables.append(TypedRows(chunk.frame, chunk.notes, chunk.unreadable))
    return tables


def _check_columns(fields: Sequence[Field], columns: Sequence[str]) -> None:
    """Raise an error if the file lacks a column used in training."""
    missing = [field.name for field in fields if field.name not in columns]
    if missing:
        raise Refused(
            f"the file lacks the column {few(missing)}; it has {few(columns)}. Remedy: add it, with empty cells where "
            "there is no value, or correct its name."
        )


def _text(cell: Any, name: str, row: int, is_numeric: bool) -> str:
    """Convert a JSON cell to the text that a file would hold; numbers in an unambiguous notation."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell.encode("utf-8", "replace").decode()  # replaces lone surrogates
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        try:
            value = float(cell)
        except OverflowError:
            value = math.inf
        if math.isfinite(value):
            if value == int(value) and abs(value) < _MAX_EXACT:
                return str(int(value))
            return f"{value!r}0" if is_numeric and "e" not in repr(value) else repr(value)
        raise Refused(
            f"row {row}, column {short(name)}: the number is not finite. Remedy: send null where it is missing."
        )
    kind = "a list" if isinstance(cell, list) else "an object"
    raise Refused(
        f"row {row}, column {short(name)}: each value must be a number, a string, true, false or null; got {kind}. "
        "Remedy: send one of these."
    )


def _typed(fields: Sequence[Field], columns: Mapping[str, list[str]], location: str, points: bool) -> TypedRows:
    """Convert text to typed columns; raise an error for cells that are not of their column's type.

    Parameters
    ----------
    fields, columns : the columns of the model, and their cells.
    location : format string that names a row in messages.
    points : whether a point is always the decimal sign, as in browsers.
    """
    pl = import_extra("polars", "serve")
    columns = {field.name: _with_training_words(field, columns[field.name]) for field in fields}
    types = {field.name: _type(field, columns[field.name]) for field in fields}
    typed, notes = [], []
    for field in fields:
        name, kind = field.name, types[field.name]
        # Column by column, as the notation of JSON numbers says nothing about text columns.
        learned = {name: kind.written(kind.way or ".")}
        typing = Typing({}, learned, Notation(points=points, learned=learned, options=()))
        column, _, remarks = typed_frame(pl.DataFrame([pl.Series(name, columns[name], dtype=pl.String)]), typing)
        typed.append(column)
        notes += [note for note in remarks.lines() if "holds no value" not in note]
        read = column[name].to_list()
        for row, (cell, value) in enumerate(zip(columns[field.name], read, strict=True), 1):
            text = cell.strip()
            if text not in MISSING and not _fits(kind, text, value):
                raise Refused(
                    f"{location.format(row)}column {short(field.name)}: {short(text)} is not {_wanted(kind)}. "
                    "Remedy: correct it, or leave it empty."
                )
    return TypedRows(pl.concat(typed, how="horizontal"), notes)


def _with_training_words(field: Field, cells: list[str]) -> list[str]:
    """Replace booleans by the words of training; other cells stay unchanged."""
    if field.type.kind != "boolean":
        return cells
    true, false = (word for word, _ in field.choices)
    values = [(cell, parse_boolean(cell.strip())) for cell in cells]
    return [cell if value is None else true if value else false for cell, value in values]


def _type(field: Field, cells: Sequence[str]) -> ColumnType:
    """The column type of training; dates may also be in ISO format, as in forms and JSON."""
    kind = field.type
    if kind.kind == "date" and all(_ISO.fullmatch(cell.strip()) for cell in cells if cell.strip() not in MISSING):
        return ColumnType("date")
    return kind


def _fits(kind: ColumnType, cell: str, value: Any) -> bool:
    """Whether a non-empty cell has its column's type; ``value`` is the parsed cell."""
    if kind.kind == "ordered":
        return cell in kind.levels
    if kind.kind == "boolean":
        return parse_boolean(cell) is not None
    return kind.kind not in ("number", "date") or value is not None


def _wanted(kind: ColumnType) -> str:
    """Describe the expected content of a cell."""
    return f"one of {few(kind.levels)}" if kind.kind == "ordered" else _TYPE_NAMES[kind.kind]
