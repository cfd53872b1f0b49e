"""Tables of the benchmark as columns of cells: all that keeps one from being numbers is named with its line."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .files.delimited import listed, plural, short
from .files.source import source_of
from .files.table import ReadOptions, read_text

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 100  # values of a text column, each of which becomes a column
_SHOWN = 3  # cells or lines that a message names
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
        said = [f"line {self.lines[row]} ({short(self.frame[name].iloc[row])})" for row in rows[:_SHOWN]]
        return listed(said, len(rows))


def read_columns(path: Path) -> Columns:
    r"""Read a text file whose first line holds names; encoding and separator are recognised.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("a,b,a\n1,2,3\n4,5\n")
    ...     for problem in read_columns(path).problems:
    ...         print(problem)
    the name 'a' stands over columns 1 and 3 in line 1: give each a name of its own
    3 fields are expected, as in line 1, but line 3 has 2: fill in what is missing, or put text that holds the separator
    in quotes
    """
    import pandas as pd

    text = read_text(source_of(path), ReadOptions(skip_lines=0))
    reader = text.reader
    found = Columns(problems=list(reader.problems))
    if reader.unnamed:
        found.problems.append(
            f"{plural('column', reader.unnamed)} of {len(reader.names)} without a name in line {reader.header_line}: "
            "name or drop them (row numbers that pandas wrote are left out by to_csv(index=False))"
        )
    if text.blocks and len(reader.names) > 1 and not reader.repeated:
        content = io.BytesIO()
        for block in text.blocks:
            block.frame.write_csv(content, include_header=block is text.blocks[0])
        content.seek(0)
        found.frame = pd.read_csv(content, index_col=False, low_memory=False)
        found.lines = np.concatenate([block.lines for block in text.blocks])
    return found


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
            where = listed(lines, int(missing.sum()))
            problems.append(f"missing values in {short(name)}, {where}: impute them or drop these rows first")
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
    title = f"{'the label' if is_label else 'column'} {short(name)}"
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
    return f"infinite values in {short(name)}, {found.cells(name, which)}: replace them or drop these rows"


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # which Python allows in numbers, and nobody else does
