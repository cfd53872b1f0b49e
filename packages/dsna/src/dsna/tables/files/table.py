"""Reading whole files as typed tables, with a note for each guess."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from ..._utils.errors import DSNAError, setting
from ..cells import Unreadable
from ..column_types import ColumnType, TypeSpec, check_types
from ..notation import Notation
from ..words import MISSING
from .delimited import DelimitedReader, TextBlock
from .dialect import Dialect, check_content, find_dialect
from .source import Source, TableError, all_problems, source_of
from .typed import Typing, typed_frame

if TYPE_CHECKING:
    import polars as pl

_BLOCK_ROWS = 20_000
_DECIMALS = (None, ".", ",")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading a file; None means to guess.

    Parameters
    ----------
    separator : str, optional
        Character between cells.
    decimal : {".", ","}, optional
        Decimal sign of ambiguous numbers, such as 1.243.
    encoding : str, optional
        Encoding, such as "utf-8" or "cp1252".
    header : bool, default=True
        Whether the first line holds column names.
    skip_lines : int, optional
        Number of lines to skip above the column names, such as titles. None refuses files in which a later line looks
        like the column names; 0 always takes the first line.
    types : dict, optional
        Types of some columns: "number" ("number:point", "number:comma"), "boolean", "category", "date" ("date:dmy",
        "date:mdy"), "text", "identifier", or the levels of ordered text, the lowest first.
    model_types : dict, optional
        Types of the training columns of a model (``TableEncoder.types_``). Their decimal signs and date orders apply
        unless the file shows others.
    missing : tuple of str, optional
        Spellings of missing values, instead of the default ones.
    most_columns : int, optional
        Maximum number of columns of a text file; the header is checked before rows are read.
    named : tuple of str
        Options that messages may suggest, of "decimal" and "types".

    Examples
    --------
    >>> from dsna.tables import ReadOptions
    >>> ReadOptions(separator=";", types={"size": ["S", "M", "L"]}).separator
    ';'
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True
    skip_lines: int | None = None
    types: Mapping[str, TypeSpec] = field(default_factory=dict)
    model_types: Mapping[str, TypeSpec] = field(default_factory=dict)
    missing: tuple[str, ...] | None = None
    most_columns: int | None = None
    named: tuple[str, ...] = ("decimal", "types")

    def __post_init__(self) -> None:
        if self.decimal not in _DECIMALS:
            raise DSNAError(f"{setting('decimal', self.decimal)} must be '.' or ','.")
        if self.skip_lines is not None and self.skip_lines < 0:
            raise DSNAError(f"{setting('skip-lines', self.skip_lines)} must be a number of lines, 0 or more.")

    def reader(self, name: str, dialect: Dialect) -> DelimitedReader:
        """Return a reader of text files in a dialect."""
        return DelimitedReader(name, dialect, self.header, self.most_columns, self.skip_lines is None)

    def spellings(self) -> frozenset[str]:
        """Return the spellings of missing values, always including the empty string."""
        return MISSING if self.missing is None else frozenset({"", *self.missing})

    def typing(self, names: Sequence[str], separator: str = "", *, only_known: bool = False) -> Typing:
        """Return the settings for the conversion of columns with these names, in a file with this separator."""
        types = {name: ColumnType.of(spec, name) for name, spec in self.types.items() if name in names}
        learned = {name: ColumnType.of(spec, name) for name, spec in self.model_types.items() if name in names}
        notation = Notation(decimal=self.decimal, points=separator == ",", learned=learned, options=self.named)
        return Typing(types, learned, notation, self.spellings(), only_known=only_known)


@dataclass(frozen=True, eq=False, kw_only=True)
class FileTable:
    """A table read from a file.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    frame : polars.DataFrame
        Numbers, dates, booleans and text; missing values are null.
    types : dict of ColumnType by column
    notes : list of str
        A line for each guess and repair.
    lines : array of int or None
        Line of the file in which each row begins; None for binary files.
    first : int
        Index of the first row in the file, starting at 0.
    unreadable : dict of Unreadable by column
        Unreadable cells of columns of numbers and dates.

    Examples
    --------
    >>> import polars as pl
    >>> from dsna.tables import FileTable
    >>> FileTable(name="t", frame=pl.DataFrame({"a": [1]}), types={}, notes=[]).place(0)
    'row 1'
    """

    name: str
    frame: pl.DataFrame
    types: dict[str, ColumnType]
    notes: list[str]
    lines: np.ndarray | None = None
    first: int = 0
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

    def place(self, row: int) -> str:
        """Return the name of a row in messages: its line in the file, or its number, starting at 1."""
        return f"row {self.first + row + 1}" if self.lines is None else f"line {self.lines[row]}"

    def typed(self, typing: Typing) -> FileTable:
        """Convert columns of text; ``typing`` keeps the notation learned from the file."""
        try:
            frame, types, remarks = typed_frame(self.frame, replace(typing, row_name=self.place))
        except DSNAError as error:
            raise TableError(f"{self.name}: {error}") from error
        notes = self.notes + remarks.lines()
        return replace(self, frame=frame, types=types, notes=notes, unreadable=remarks.unreadable)


def read_file(path: str | os.PathLike[str], options: ReadOptions | None = None) -> FileTable:
    r"""Read a CSV, TSV, Parquet or Arrow file, which may be compressed (``.gz``, ``.zst``).

    Encoding, separator and decimal sign are recognised, and the type of each column is inferred from all of its cells.
    No row is dropped. All problems of a file are reported at once, with their lines.

    Parameters
    ----------
    path : path
        ``-`` is standard input.
    options : ReadOptions, optional
        Options that override guesses.

    Returns
    -------
    FileTable

    Raises
    ------
    TableError
        If the file is empty or ragged, has only one column or repeated names, or its encoding cannot be guessed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dsna.tables import read_file
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "flats.csv"
    ...     _ = path.write_text("size;street;rent\n31,5;main;?\n45;side;610\n52,5;side;700\n")
    ...     table = read_file(path)
    >>> [(name, kind.kind) for name, kind in table.types.items()]
    [('size', 'number'), ('street', 'category'), ('rent', 'number')]
    >>> print(*table.notes, sep="\n")
    cells are separated by semicolons (separator=';')
    numbers have a decimal comma in column 'size' (decimal=',')
    '?' in column 'rent': taken for missing values
    >>> table.frame["size"].to_list()
    [31.5, 45.0, 52.5]
    """
    options = options or ReadOptions()
    with source_of(path).rereadable() as source:
        form = source.format()
        if form == "csv":
            return _read_delimited(source, options)
        check_has_lines(source.name, form, options)
        with source.opened() as stream:
            frame = _read_binary(stream, form, source.name)
        return typed_table(source.name, frame, None, [], options)


class TextFile(NamedTuple):
    """A text file that was read: its reader, with names and problems, all rows, and notes."""

    reader: DelimitedReader
    blocks: list[TextBlock]
    notes: list[str]


def read_text(source: Source, options: ReadOptions) -> TextFile:
    """Read a text file after checking its encoding; the caller has to check for problems of lines."""
    with source.opened() as stream:
        head, encoding, note = check_content(stream, source.name, options.encoding)
    dialect = find_dialect(head, source.name, encoding, options.separator, options.skip_lines or 0)
    reader = options.reader(source.name, dialect)
    with source.opened() as stream:
        blocks = list(reader.blocks(stream, _BLOCK_ROWS))
    return TextFile(reader, blocks, [note] * bool(note) + dialect.notes + reader.notes)


def _read_delimited(source: Source, options: ReadOptions) -> FileTable:
    """Read a text file and convert its columns."""
    import polars as pl

    text = read_text(source, options)
    text.reader.refuse()
    frame = pl.concat([block.frame for block in text.blocks])
    lines = np.concatenate([block.lines for block in text.blocks])
    return typed_table(source.name, frame, lines, text.notes, options, text.reader.dialect.separator)


def typed_table(
    name: str,
    frame: pl.DataFrame,
    lines: np.ndarray | None,
    notes: list[str],
    options: ReadOptions,
    separator: str = "",
) -> FileTable:
    """Check the shape of a table, and convert its columns of text."""
    problems = _wrong_shape(frame)
    if problems:
        raise all_problems(name, problems)
    try:
        check_types(options.types, frame.columns)
    except DSNAError as error:
        raise TableError(f"{name}: {error}") from error
    untyped = FileTable(name=name, frame=frame, types={}, notes=notes, lines=lines)
    return untyped.typed(options.typing(frame.columns, separator))


def check_has_lines(name: str, form: str, options: ReadOptions) -> None:
    """Refuse to skip lines of a binary file."""
    if options.skip_lines:
        raise all_problems(
            name,
            [f"the {form} file has no lines above its columns: leave {setting('skip-lines', options.skip_lines)} out"],
        )


def _wrong_shape(frame: pl.DataFrame) -> list[str]:
    """Return a problem if there are no rows or fewer than two columns."""
    if frame.width < 2:
        return [
            f"there is {'one column only' if frame.width else 'no column'}: at least one is needed beside the target"
        ]
    return [] if frame.height else ["there are columns and no rows: add rows"]


def _read_binary(stream: IO[bytes], form: str, name: str) -> pl.DataFrame:
    """Read a Parquet or Arrow file."""
    import polars as pl

    readers: dict[str, Callable[[IO[bytes]], pl.DataFrame]] = {
        "parquet": pl.read_parquet,
        "arrow": pl.read_ipc,
        "arrow stream": pl.read_ipc_stream,
    }
    content = io.BytesIO(stream.read())
    try:
        return readers[form](content)
    except Exception as error:  # polars raises errors of many types, including panics
        raise unreadable(name, form, error) from error


def unreadable(name: str, form: str, error: Exception) -> TableError:
    """Return the error for a binary file that polars cannot read."""
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return all_problems(name, [f"the {form} file is damaged or truncated ({reason}): write or copy it again"])
