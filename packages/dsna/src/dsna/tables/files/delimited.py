"""Reading text files in blocks of rows, and finding all problems of their lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..._utils.errors import setting, worded
from ..words import MISSING, dates, numbers
from .dialect import Dialect, undecodable
from .source import all_problems

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 3  # cells or lines shown in a message
_SHOWN_COLUMNS = 5
_MAX_RAGGED = 1000  # lines that are stored
_HEADER_ROWS = 40  # rows that are searched for column names below titles


@dataclass
class TextBlock:
    """A block of rows of a text file.

    Parameters
    ----------
    frame : polars.DataFrame
        All cells are text.
    lines : (n,) int64
        Line of the file in which each row begins.
    """

    frame: pl.DataFrame
    lines: np.ndarray


@dataclass
class DelimitedReader:
    """Reader of blocks of rows, which collects ``problems``, and guesses in ``notes``.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    dialect : Dialect
    has_header : bool
        Whether the first line holds column names; otherwise columns are numbered.
    most_columns : int or None
        Maximum number of columns.
    find_titles : bool
        Whether to refuse a header if a later line looks more like column names.

    Attributes
    ----------
    names, header_line : names of the columns, and their line
    unnamed, repeated : numbers of columns without a name, and names of several columns
    """

    name: str
    dialect: Dialect
    has_header: bool = True
    most_columns: int | None = None
    find_titles: bool = True
    names: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    header_line: int = 0
    unnamed: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    _ragged: list[tuple[int, int]] = field(default_factory=list)
    _n_ragged: int = 0
    _names_line: int = 0  # of another width than the header, that looks like column names

    def blocks(self, stream: IO[bytes], rows: int) -> Iterator[TextBlock]:
        """Read blocks of at most ``rows`` rows; ``problems`` is complete after the last block."""
        text = io.TextIOWrapper(stream, encoding=self.dialect.encoding, newline="")
        try:
            yield from self._blocks(text, rows)
        except UnicodeDecodeError as error:
            raise undecodable(self.name, error, self.dialect.encoding, 0) from error
        finally:
            text.detach()

    def _blocks(self, text: io.TextIOWrapper, rows: int) -> Iterator[TextBlock]:
        skip = self.dialect.skip
        if not all(text.readline() for _ in range(skip)):
            self.problems.append(f"there are fewer than {skip} lines: leave out fewer than {_skip_lines(skip)}")
        reader = csv.reader(text, delimiter=self.dialect.separator, strict=True)
        cells: list[list[str]] = []
        lines: list[int] = []
        last_line, n_rows, width = skip, 0, 0
        try:
            for row in reader:
                last_line, line = skip + reader.line_num, last_line + 1
                if len(row) != width or not width:
                    if len(row) < 2 and not (row and row[0].strip()):
                        continue
                    if not width:
                        width = len(row)
                        self._read_header(row, line)
                        if self.has_header:
                            continue
                    else:
                        self._n_ragged += 1
                        if self._n_ragged == 1 and line < self.header_line + _HEADER_ROWS and _are_names(row):
                            self._names_line = line
                        if len(self._ragged) < _MAX_RAGGED:
                            self._ragged.append((line, len(row)))
                        continue
                cells.append(row)
                lines.append(line)
                if len(cells) == rows:
                    n_rows += rows
                    yield self._block(cells, lines)
                    cells, lines = [], []
        except csv.Error as error:
            self.problems.append(_csv_problem(str(error), last_line + 1))
        if cells:
            n_rows += len(cells)
            yield self._block(cells, lines)
        self._check_file(n_rows)

    def _block(self, cells: list[list[str]], lines: list[int]) -> TextBlock:
        import polars as pl

        self._check_titles(cells, lines)
        columns = zip(self.names, zip(*cells, strict=True), strict=True)
        frame = pl.DataFrame([pl.Series(name, column, dtype=pl.String) for name, column in columns])
        return TextBlock(frame, np.array(lines, dtype=np.int64))

    def _read_header(self, row: list[str], line: int) -> None:
        """Read column names from the first row, or number the columns."""
        self.header_line = line
        if self.most_columns is not None and len(row) > self.most_columns:
            raise all_problems(
                self.name, [f"line {line} has {len(row)} columns, over {self.most_columns}: leave out some"]
            )
        if not self.has_header:
            self.names = [f"column {number}" for number in range(1, len(row) + 1)]
            self.notes.append(f"there is no header: columns are called {self.names[0]!r} to {self.names[-1]!r}")
            return
        names = [name.strip() for name in row]
        if all(_is_data(name) for name in names):
            self.problems.append(
                f"line {line} holds data, not names ({', '.join(map(short, names[:_SHOWN]))}): write a header with "
                f"column names above the rows, or say that there is none with {worded('--no-header', 'header=False')}"
            )
        columns_of_name: dict[str, list[str]] = {}
        for number, name in enumerate(names, 1):
            columns_of_name.setdefault(name, []).append(str(number))
        for name, columns in columns_of_name.items():
            if len(columns) > 1 and name:
                self.repeated.append(name)
                self.problems.append(
                    f"the name {short(name)} is used for {plural('column', columns)} in line {line}: give each "
                    "column its own name"
                )
        self.unnamed = columns_of_name.get("", [])
        if self.unnamed:
            used_names = set(names)
            for number in map(int, self.unnamed):
                name = f"column {number}"
                while name in used_names:
                    name += "'"
                names[number - 1] = name
                used_names.add(name)
            new_names = ", ".join(short(names[int(number) - 1]) for number in self.unnamed[:_SHOWN])
            self.notes.append(f"{plural('column', self.unnamed)} without a name in line {line}: called {new_names}")
        # Repeated names are problems, but reading goes on to find problems of the rows.
        counts: dict[str, int] = {}
        for j, name in enumerate(names):
            counts[name] = counts.get(name, 0) + 1
            names[j] = name if counts[name] == 1 else f"{name} ({counts[name]})"
        self.names = names

    def _check_titles(self, cells: list[list[str]], lines: list[int]) -> None:
        """Refuse a header with unnamed columns if a later row has more names, above rows of values."""
        if not (self.unnamed and self.find_titles and self.has_header and lines[0] < self.header_line + _HEADER_ROWS):
            return
        rows = [[cell.strip() for cell in row] for row in cells[:_HEADER_ROWS]]
        for i, row in enumerate(rows[:-1]):
            filled = [j for j, cell in enumerate(row) if cell]
            if len(row) - len(filled) >= len(self.unnamed) or not _are_names([row[j] for j in filled]):
                continue
            if any(_are_values([later_row[j] for later_row in rows[i + 1 :]]) for j in filled):
                self.problems.append(
                    f"line {self.header_line} names some columns only, and line {lines[i]} looks like the names "
                    f"({', '.join(short(row[j]) for j in filled[:_SHOWN])}): leave out the titles above it "
                    f"with {_skip_lines(lines[i] - 1)}, or say that there are none with {_skip_lines(0)}"
                )
                return

    def _check_file(self, n_rows: int) -> None:
        """Add the problems of the file as a whole."""
        if self._ragged:
            self.problems.append(self._wrong_widths())
        if not self.names:
            if not self.problems:
                self.problems.append("the file is empty: write a header with column names, and rows")
        elif len(self.names) == 1 and not self._ragged:
            self.problems.append(
                f"there is one column only ({short(self.names[0])}): at least one is needed beside the target; name "
                "the separator with --separator if cells are not separated by commas, semicolons, tabs or bars"
            )
        elif not n_rows and not self._ragged and not self.problems:
            self.problems.append("there is a header and no row below it: add rows")

    def _wrong_widths(self) -> str:
        """Return the problem of lines with more or fewer fields than the header."""
        first = self.names[0]
        names_line = self._names_line
        if not self.find_titles or self._n_ragged <= names_line - self.header_line:
            names_line = 0
        if self.has_header and (names_line or len(self.names) == 1 or first.startswith(("#", "%", "@"))):
            line, width = self._ragged[0]
            hint = ""
            if names_line:
                hint = f" (line {names_line} looks like these), or leave them out with {_skip_lines(names_line - 1)}"
            return (
                f"line {self.header_line} ({short(first)}) is not a header, as line {line} has {width} fields: remove "
                f"comments and titles above the column names{hint}"
            )
        widths = listed([f"line {line} has {width}" for line, width in self._ragged[:_SHOWN]], self._n_ragged)
        return (
            f"{len(self.names)} fields are expected, as in line {self.header_line}, but {widths}: fill in what is "
            "missing, or put text that holds the separator in quotes"
        )

    def refuse_early(self) -> None:
        """Raise an error if there are problems so far."""
        if self._ragged and len(self.problems) == 0:
            self.problems.append(self._wrong_widths())
        self.refuse()

    def refuse(self) -> None:
        """Raise an error if there are problems, after the last block."""
        if self.problems:
            raise all_problems(self.name, self.problems)


def _skip_lines(number: int | str) -> str:
    """Return the option that leaves out lines."""
    return setting("skip-lines", number)


def _are_names(row: list[str]) -> bool:
    """Return whether all cells could be column names, and are distinct."""
    names = [cell.strip() for cell in row]
    return len(set(names)) == len(names) > 1 and not any(_is_data(name) for name in names)


def _are_values(cells: list[str]) -> bool:
    """Return whether most cells of a column that are not empty look like values."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and 2 * sum(_is_data(cell) for cell in filled) > len(filled)


def _is_data(name: str) -> bool:
    """Return whether a name looks like a value: a number, a date or a missing value."""
    return name in MISSING or not np.isnan(numbers([name])[0]) or not np.isnat(dates([name])[0])


def _csv_problem(error: str, line: int) -> str:
    """Return the problem for an error of the csv module in a row that begins in a line."""
    if "end of data" in error:
        return f"a quote that opens in line {line} never closes: close or remove it"
    if "field limit" in error or "field larger" in error:
        return f"a cell in line {line} has over {csv.field_size_limit()} characters: shorten it; is a quote left open?"
    return f"line {line} cannot be read ({error}): check its quotes"


def short(cell: Any) -> str:
    """Quote and truncate a name or a cell for a message."""
    text = str(cell)
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def few(names: Sequence[str]) -> str:
    """List the first names in a message, with the number of others.

    Examples
    --------
    >>> few(["a", "b"])
    "'a', 'b'"
    """
    return listed([short(name) for name in names[:_SHOWN_COLUMNS]], len(names))


def listed(first: Sequence[str], total: int) -> str:
    """List the first of ``total`` items in a message, with the number of others."""
    n_others = total - len(first)
    return ", ".join(first) + (f" and {n_others} more" if n_others else "")


def plural(word: str, names: Sequence[str]) -> str:
    """Write a word before one name, or its plural before several names."""
    if len(names) == 1:
        return f"{word} {names[0]}"
    shown = list(names) if len(names) <= 2 * _SHOWN else [*names[:_SHOWN], f"{len(names) - _SHOWN} more"]
    return f"{word}s {', '.join(shown[:-1])} and {shown[-1]}"
