"""A CSV file as columns of cells: all that is wrong with it is found in one reading and named with its line."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.atomic import reading_problem

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 100  # values of a text column, each of which becomes a column
_SHOWN = 3  # cells or lines that a message names
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_ENCODING = "utf-8-sig"
_WIDE_ENCODINGS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # UTF-32 begins as UTF-16 does
_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T\s].*)?")
_DECORATED = re.compile(r"[,$€£%\s_']")
_UNKNOWN = "?"  # the UCI collection's sign for a missing value


@dataclass
class Columns:
    """The cells of a file, as far as it could be read.

    Parameters
    ----------
    frame : data frame or None
        None where the lines make no table.
    lines : array of int
        Line of the file in which each row begins.
    problems : list of str
        What is wrong, and what to do; a file is fit for use where this is empty.
    """

    frame: pd.DataFrame | None = None
    lines: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    problems: list[str] = field(default_factory=list)

    def cells(self, name: str, wrong: Any) -> str:
        """Lines and content of the cells of a column that a mask marks, the first few of them."""
        assert self.frame is not None
        rows = np.flatnonzero(np.asarray(wrong))
        said = [f"line {self.lines[row]} ({_short(self.frame[name].iloc[row])})" for row in rows[:_SHOWN]]
        return _listed(said, len(rows))


def read_columns(path: Path) -> Columns:
    r"""Read a CSV file: commas between cells, names in the first line, UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("a,b,a\n1,2,3\n4,5\n")
    ...     for problem in read_columns(path).problems:
    ...         print(problem)
    the name 'a' stands over columns 1 and 3: give each a name of its own
    3 fields are expected, as in line 1, but line 3 has 2: fill in what is missing, or put text with commas in quotes
    """
    unreadable = reading_problem(path)
    if unreadable:
        return Columns(problems=["{}. Remedy: {}".format(*unreadable)])
    content = path.read_bytes()
    problem = _wrong_encoding(content)
    return Columns(problems=[problem]) if problem else _parsed(content)


def _wrong_encoding(content: bytes) -> str | None:
    """What is wrong with the encoding of a file."""
    if content.startswith(_WIDE_ENCODINGS):
        return "the text is encoded as UTF-16: save it as UTF-8 (in a spreadsheet: 'CSV UTF-8')"
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        return f"line {line} holds NUL bytes, so this is no UTF-8 text: save it as CSV in UTF-8"
    try:
        content.decode(_ENCODING)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = f"0x{content[error.start]:02x}"
        return f"line {line} holds the byte {byte}, which is not UTF-8; is the text Latin-1? Save it as UTF-8"
    return None


def _reader(content: bytes) -> Any:
    """Rows of cells, read as they are asked for."""
    return csv.reader(io.TextIOWrapper(io.BytesIO(content), encoding=_ENCODING, newline=""), strict=True)


def _parsed(content: bytes) -> Columns:
    """Lines as rows of cells; where some are ragged, the others are still looked into."""
    import pandas as pd

    found = Columns()
    reader = _reader(content)
    lines: list[int] = []
    ragged: list[tuple[int, int]] = []
    header: list[str] = []
    begin = at = 0  # lines: where the last row ended, where the header stands
    try:
        for row in reader:
            begin, last = reader.line_num, begin + 1
            if not row:
                continue
            if not header:
                header, at = row, last
                found.problems += _wrong_names(header, last)
                if _stops(header):
                    return found
            elif len(row) == len(header):
                lines.append(last)
            else:
                ragged.append((last, len(row)))
    except csv.Error as error:
        found.problems.append(_broken(str(error), begin + 1))
        return found
    if not header:
        found.problems.append("the file is empty: write a header with column names, and rows")
        return found
    if ragged:
        found.problems.append(_wrong_widths(header, at, ragged))
        content = _without(content, {line for line, _ in ragged})
    if len(header) == 1 and not ragged:
        found.problems.append(
            f"there is one column only ({_short(header[0])}): at least one is needed beside the label, and commas "
            "between them"
        )
    elif not lines and not ragged:
        found.problems.append("there is a header and no row below it: add rows")
    if lines and len(set(header)) == len(header) > 1:
        found.frame = pd.read_csv(
            io.BytesIO(content), header=0, names=header, index_col=False, low_memory=False, encoding=_ENCODING
        )
        found.lines = np.array(lines, dtype=np.int64)
    return found


def _without(content: bytes, left_out: set[int]) -> bytes:
    """The table without the rows that begin in these lines."""
    reader = _reader(content)
    kept = io.StringIO()
    writer = csv.writer(kept)
    begin = 0
    for row in reader:
        begin, line = reader.line_num, begin + 1
        if row and line not in left_out:
            writer.writerow(row)
    return kept.getvalue().encode()


def _stops(header: Sequence[str]) -> bool:
    """Whether the first line shows that the others need not be read: cells are not separated by commas."""
    return len(header) == 1 and any(sign in header[0] for sign in _SEPARATORS)


def _wrong_names(header: Sequence[str], line: int) -> list[str]:
    """What is wrong with the first line."""
    if _stops(header):
        sign = max(_SEPARATORS, key=header[0].count)
        return [
            f"the names in line {line} are separated by {_SEPARATORS[sign]}: commas are needed; in Python, "
            f"pandas.read_csv(file, sep={sign!r}).to_csv(file, index=False) writes them"
        ]
    problems = []
    if all(_is_number(name) for name in header):
        problems.append(f"line {line} holds numbers only: a header with column names is needed above the rows")
        return problems
    unnamed = [str(place) for place, name in enumerate(header, 1) if not name.strip()]
    if unnamed:
        problems.append(
            f"{_plural('column', unnamed)} of {len(header)} {'have' if len(unnamed) > 1 else 'has'} no name in line "
            f"{line}: name or drop them (row numbers that pandas wrote are left out by to_csv(index=False))"
        )
    places: dict[str, list[str]] = {}
    for place, name in enumerate(header, 1):
        places.setdefault(name, []).append(str(place))
    problems += [
        f"the name {_short(name)} stands over {_plural('column', there)}: give each a name of its own"
        for name, there in places.items()
        if len(there) > 1 and name.strip()
    ]
    return problems


def _wrong_widths(header: Sequence[str], at: int, ragged: list[tuple[int, int]]) -> str:
    """What to say of lines that have more or fewer fields than the header."""
    if len(header) == 1 or header[0].lstrip().startswith(("#", "%", "@")):
        line, width = ragged[0]
        return (
            f"line {at} ({_short(header[0])}) is no header, as line {line} has {width} fields: remove comments and "
            "titles above the column names"
        )
    said = [f"line {line} has {width}" for line, width in ragged[:_SHOWN]]
    return (
        f"{len(header)} fields are expected, as in line {at}, but {_listed(said, len(ragged))}: fill in what is "
        "missing, or put text with commas in quotes"
    )


def _broken(error: str, line: int) -> str:
    """What to say where the reader gave up in a row that begins in a line."""
    if "end of data" in error:
        return f"a quote that opens in line {line} never closes: close or remove it"
    if "field limit" in error:
        return f"a cell in line {line} has over {csv.field_size_limit()} characters: shorten it; is a quote left open?"
    return f"line {line} cannot be read ({error}): check its quotes"


def wrong_cells(found: Columns, label: str) -> list[str]:
    """What is wrong with the cells: no value, infinity, text among numbers, dates, too many different texts.

    Parameters
    ----------
    found : Columns
        With a frame.
    label : str
        Name of the label column, whose text is classes.

    Returns
    -------
    list of str
    """
    import pandas as pd

    assert found.frame is not None
    problems = []
    numbers = found.frame.select_dtypes(["number", "bool"])
    finite = np.isfinite(numbers.to_numpy(dtype=np.float64)).all(axis=0)
    for name in found.frame.columns.drop(numbers.columns[finite]):
        column = found.frame[name]
        missing = column.isna()
        if missing.any():
            lines = [f"line {line}" for line in found.lines[missing.to_numpy()][:_SHOWN]]
            where = _listed(lines, int(missing.sum()))
            problems.append(f"missing values in {_short(name)}, {where}: impute them or drop these rows first")
        if pd.api.types.is_numeric_dtype(column):
            infinite = np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
            problems += [_infinite(found, name, infinite)] if infinite.any() else []
        elif not missing.all():
            problem = _wrong_text(found, name, column, missing, is_label=name == label)
            problems += [problem] if problem else []
    return problems


def _wrong_text(found: Columns, name: str, column: Any, missing: Any, is_label: bool) -> str | None:
    """What is wrong with a column that is not all numbers."""
    text = column.astype(str)
    number = text.map(_is_number) & ~missing
    other = ~number & ~missing
    title = f"{'the label' if is_label else 'column'} {_short(name)}"
    if not other.any():
        # pandas 2 leaves numbers beyond the largest one as text.
        infinite = np.isinf(text.where(number, "nan").astype(np.float64).to_numpy())
        if infinite.any():
            return _infinite(found, name, infinite)
        return (
            f"{title} holds whole numbers too long to be kept exactly, {found.cells(name, number)}: drop it if it "
            "numbers the rows, or round it"
        )
    if number.sum() > (other & (text != _UNKNOWN)).sum():
        return (
            f"{title} holds numbers, but for {found.cells(name, other)}: replace these cells or drop their rows; if "
            "its numbers are names of kinds, write them as text, such as k1"
        )
    if text[other].map(lambda cell: bool(_DATE.fullmatch(cell))).all():
        return (
            f"{title} holds dates, such as {found.cells(name, other)}: replace them by numbers, such as days since the "
            "first, or drop the column"
        )
    if not is_label and text[other].map(lambda cell: _is_number(_DECORATED.sub("", cell))).all():
        return f"{title} holds numbers with commas or signs, such as {found.cells(name, other)}: write them as 1234.5"
    if column.nunique() > MAX_LEVELS:
        remedy = "is it the label? Name another with --target" if is_label else "drop it"
        return f"{title} is text with over {MAX_LEVELS} values ({column.nunique()}): {remedy}"
    return None


def _infinite(found: Columns, name: str, which: np.ndarray) -> str:
    return f"infinite values in {_short(name)}, {found.cells(name, which)}: replace them or drop these rows"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # which Python allows in numbers, and nobody else does


def _short(cell: object) -> str:
    """A name or a cell, quoted, of a length that fits into a message."""
    text = str(cell)
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def _listed(first: Sequence[str], total: int) -> str:
    more = total - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")


def _plural(word: str, names: Iterable[str]) -> str:
    listed = list(names)
    if len(listed) == 1:
        return f"{word} {listed[0]}"
    shown = listed if len(listed) <= 2 * _SHOWN else [*listed[:_SHOWN], f"{len(listed) - _SHOWN} more"]
    return f"{word}s {', '.join(shown[:-1])} and {shown[-1]}"
