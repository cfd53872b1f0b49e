"""Rows of a text file as frames of text, block by block; all that is wrong with its lines is found and named."""

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

_SHOWN = 3  # cells or lines that a message names
_NAMED = 5  # columns that a message lists
_MOST_RAGGED = 1000  # lines that are counted one by one
_LOOKED_AT = 40  # rows among which names are looked for that titles stand above


@dataclass
class Block:
    """Some rows of a text file.

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
    """Reads blocks of rows; what is wrong is collected in ``problems``, what is guessed in ``notes``.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    dialect : Dialect
    has_header : bool
        Whether the first line holds names; else columns are named by their place.
    most_columns : int or None
        More columns are refused at once.
    find_titles : bool
        Whether a header is refused that a line further down looks more like.
    names, header_line : names of the columns, and the line that they stand in.
    unnamed, repeated : places of columns without a name, and names that stand over several.
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
    _names_below: int = 0  # line of another width than the header, that looks like the names

    def blocks(self, stream: IO[bytes], rows: int) -> Iterator[Block]:
        """Blocks of so many rows at most; ``problems`` is complete when the last was asked for."""
        text = io.TextIOWrapper(stream, encoding=self.dialect.encoding, newline="")
        try:
            yield from self._blocks(text, rows)
        except UnicodeDecodeError as error:
            raise undecodable(self.name, error, self.dialect.encoding, 0) from error
        finally:
            text.detach()

    def _blocks(self, text: io.TextIOWrapper, rows: int) -> Iterator[Block]:
        skip = self.dialect.skip
        if not all(text.readline() for _ in range(skip)):
            self.problems.append(f"there are fewer than {skip} lines: leave out fewer than {_skip_lines(skip)}")
        reader = csv.reader(text, delimiter=self.dialect.separator, strict=True)
        cells: list[list[str]] = []
        lines: list[int] = []
        end, n_rows, width = skip, 0, 0
        try:
            for row in reader:
                end, line = skip + reader.line_num, end + 1
                if len(row) != width or not width:
                    if len(row) < 2 and not (row and row[0].strip()):
                        continue
                    if not width:
                        width = len(row)
                        self._begin(row, line)
                        if self.has_header:
                            continue
                    else:
                        self._n_ragged += 1
                        if self._n_ragged == 1 and line < self.header_line + _LOOKED_AT and _are_names(row):
                            self._names_below = line
                        if len(self._ragged) < _MOST_RAGGED:
                            self._ragged.append((line, len(row)))
                        continue
                cells.append(row)
                lines.append(line)
                if len(cells) == rows:
                    n_rows += rows
                    yield self._block(cells, lines)
                    cells, lines = [], []
        except csv.Error as error:
            self.problems.append(_broken(str(error), end + 1))
        if cells:
            n_rows += len(cells)
            yield self._block(cells, lines)
        self._finish(n_rows)

    def _block(self, cells: list[list[str]], lines: list[int]) -> Block:
        import polars as pl

        self._look_for_titles(cells, lines)
        columns = zip(self.names, zip(*cells, strict=True), strict=True)
        frame = pl.DataFrame([pl.Series(name, column, dtype=pl.String) for name, column in columns])
        return Block(frame, np.array(lines, dtype=np.int64))

    def _begin(self, row: list[str], line: int) -> None:
        """Take the first row for the header, or name the columns."""
        self.header_line = line
        if self.most_columns is not None and len(row) > self.most_columns:
            raise all_problems(
                self.name, [f"line {line} has {len(row)} columns, over {self.most_columns}: leave out some"]
            )
        if not self.has_header:
            self.names = [f"column {place}" for place in range(1, len(row) + 1)]
            self.notes.append(f"there is no header: columns are called {self.names[0]!r} to {self.names[-1]!r}")
            return
        names = [name.strip() for name in row]
        if all(_is_data(name) for name in names):
            self.problems.append(
                f"line {line} holds data, not names ({', '.join(map(short, names[:_SHOWN]))}): write a header with "
                f"column names above the rows, or say that there is none with {worded('--no-header', 'header=False')}"
            )
        places: dict[str, list[str]] = {}
        for place, name in enumerate(names, 1):
            places.setdefault(name, []).append(str(place))
        for name, there in places.items():
            if len(there) > 1 and name:
                self.repeated.append(name)
                self.problems.append(
                    f"the name {short(name)} stands over {plural('column', there)} in line {line}: give each a name of "
                    "its own"
                )
        self.unnamed = unnamed = places.get("", [])
        if unnamed:
            taken = set(names)
            for place in map(int, unnamed):
                name = f"column {place}"
                while name in taken:
                    name += "'"
                names[place - 1] = name
                taken.add(name)
            called = ", ".join(short(names[int(place) - 1]) for place in unnamed[:_SHOWN])
            self.notes.append(f"{plural('column', unnamed)} without a name in line {line}: called {called}")
        # Names that stand twice are told; the columns are still looked into.
        seen: dict[str, int] = {}
        for place, name in enumerate(names):
            seen[name] = seen.get(name, 0) + 1
            names[place] = name if seen[name] == 1 else f"{name} ({seen[name]})"
        self.names = names

    def _look_for_titles(self, cells: list[list[str]], lines: list[int]) -> None:
        """Refuse a header that lacks names where a row below has more of them, above rows that are of another kind."""
        if not (self.unnamed and self.find_titles and self.has_header and lines[0] < self.header_line + _LOOKED_AT):
            return
        rows = [[cell.strip() for cell in row] for row in cells[:_LOOKED_AT]]
        for place, row in enumerate(rows[:-1]):
            named = [column for column, cell in enumerate(row) if cell]
            if len(row) - len(named) >= len(self.unnamed) or not _are_names([row[column] for column in named]):
                continue
            if any(_are_values([below[column] for below in rows[place + 1 :]]) for column in named):
                self.problems.append(
                    f"line {self.header_line} names some columns only, and line {lines[place]} looks like the names "
                    f"({', '.join(short(row[column]) for column in named[:_SHOWN])}): leave out the titles above it "
                    f"with {_skip_lines(lines[place] - 1)}, or say that there are none with {_skip_lines(0)}"
                )
                return

    def _finish(self, n_rows: int) -> None:
        """What is wrong with the lines as a whole."""
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
        """What to say of lines that have more or fewer fields than the header."""
        first = self.names[0]
        below = self._names_below
        below = below if self.find_titles and self._n_ragged > below - self.header_line else 0
        if self.has_header and (below or len(self.names) == 1 or first.startswith(("#", "%", "@"))):
            line, width = self._ragged[0]
            names = (
                f" (line {below} looks like these), or leave them out with {_skip_lines(below - 1)}" if below else ""
            )
            return (
                f"line {self.header_line} ({short(first)}) is no header, as line {line} has {width} fields: remove "
                f"comments and titles above the column names{names}"
            )
        said = [f"line {line} has {width}" for line, width in self._ragged[:_SHOWN]]
        return (
            f"{len(self.names)} fields are expected, as in line {self.header_line}, but "
            f"{listed(said, self._n_ragged)}: fill in what is missing, or put text that holds the separator in quotes"
        )

    def refuse_early(self) -> None:
        """Raise where anything was wrong up to here."""
        if self._ragged and len(self.problems) == 0:
            self.problems.append(self._wrong_widths())
        self.refuse()

    def refuse(self) -> None:
        """Raise where anything was wrong; called after the last block."""
        if self.problems:
            raise all_problems(self.name, self.problems)


def _skip_lines(number: int | str) -> str:
    """The option that leaves out lines."""
    return setting("skip-lines", number)


def _are_names(row: list[str]) -> bool:
    """Whether all cells could be names of columns, and are different."""
    names = [cell.strip() for cell in row]
    return len(set(names)) == len(names) > 1 and not any(_is_data(name) for name in names)


def _are_values(cells: list[str]) -> bool:
    """Whether most cells of a column, of those that are not empty, are values and no names."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and 2 * sum(_is_data(cell) for cell in filled) > len(filled)


def _is_data(name: str) -> bool:
    """Whether a name looks like a value: a number, a date or none."""
    return name in MISSING or not np.isnan(numbers([name])[0]) or not np.isnat(dates([name])[0])


def _broken(error: str, line: int) -> str:
    """What to say where the reader gave up in a row that begins in a line."""
    if "end of data" in error:
        return f"a quote that opens in line {line} never closes: close or remove it"
    if "field limit" in error or "field larger" in error:
        return f"a cell in line {line} has over {csv.field_size_limit()} characters: shorten it; is a quote left open?"
    return f"line {line} cannot be read ({error}): check its quotes"


def short(cell: Any) -> str:
    """A name or a cell, quoted, of a length that fits into a message."""
    text = str(cell)
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are.

    Examples
    --------
    >>> few(["a", "b"])
    "'a', 'b'"
    """
    return listed([short(name) for name in names[:_NAMED]], len(names))


def listed(first: Sequence[str], total: int) -> str:
    """The first of some things, and how many more there are."""
    more = total - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")


def plural(word: str, names: Sequence[str]) -> str:
    """A word with the names of one or several things."""
    if len(names) == 1:
        return f"{word} {names[0]}"
    shown = list(names) if len(names) <= 2 * _SHOWN else [*names[:_SHOWN], f"{len(names) - _SHOWN} more"]
    return f"{word}s {', '.join(shown[:-1])} and {shown[-1]}"
