"""Rows of a text file as frames of text, block by block; all that is wrong with its lines is found and named."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..._utils.errors import worded
from ..words import MISSING, dates, numbers
from .dialect import Dialect, undecodable
from .source import all_problems

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 3  # cells or lines that a message names
_MOST_RAGGED = 1000  # lines that are counted one by one


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
    names, header_line : names of the columns, and the line that they stand in.
    unnamed, repeated : places of columns without a name, and names that stand over several.
    """

    name: str
    dialect: Dialect
    has_header: bool = True
    most_columns: int | None = None
    names: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    header_line: int = 0
    unnamed: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    _ragged: list[tuple[int, int]] = field(default_factory=list)
    _n_ragged: int = 0

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
        reader = csv.reader(text, delimiter=self.dialect.separator, strict=True)
        cells: list[list[str]] = []
        lines: list[int] = []
        end, n_rows, width = 0, 0, 0
        try:
            for row in reader:
                end, line = reader.line_num, end + 1
                if len(row) != width or not width:
                    if (len(row) < 2 and not (row and row[0].strip())) or line <= self.dialect.skip:
                        continue
                    if not width:
                        width = len(row)
                        self._begin(row, line)
                        if self.has_header:
                            continue
                    else:
                        self._n_ragged += 1
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
        if self.has_header and (len(self.names) == 1 or first.startswith(("#", "%", "@"))):
            line, width = self._ragged[0]
            return (
                f"line {self.header_line} ({short(first)}) is no header, as line {line} has {width} fields: remove "
                "comments and titles above the column names"
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
