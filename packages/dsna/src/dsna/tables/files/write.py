"""Tables as files: text that is safe to open in a spreadsheet, also compressed, Parquet and Arrow."""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ..._utils.atomic import FileError, whole_file
from ..._utils.optional import import_extra
from ..words import is_plain_number
from .source import EXTRA, STANDARD_INPUT

if TYPE_CHECKING:
    import polars as pl

STANDARD_OUTPUT = STANDARD_INPUT  # both are -
_SEPARATORS = {"": ",", ".csv": ",", ".txt": ",", ".tsv": "\t"}
_SINKS = {".parquet": "sink_parquet", ".arrow": "sink_ipc"}  # methods of polars' lazy frames
_PACKINGS = (".gz", ".zst")
_PART_ROWS = 100_000  # of a Parquet or Arrow file, in memory at once
_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")  # as polars words it
_FORMULA = r"^[=+\-@\t\r]"
_SIGNS = ("=", "+", "-", "@", "\t", "\r")


class CsvWriter:
    """Writes frames one after another as one CSV file in UTF-8.

    A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula. Text and names that do get
    an apostrophe before them, which tells it to show them as they are; numbers never do.

    Parameters
    ----------
    stream : binary stream
    raw : bool, default=False
        Whether text is written as it is.
    separator : str, default=","
        Between cells.

    Examples
    --------
    >>> import io
    >>> import polars as pl
    >>> from dsna.tables import CsvWriter
    >>> stream = io.BytesIO()
    >>> CsvWriter(stream).write(pl.DataFrame({"=a": ["=1+1", "-2", "b"], "c": [-1, 2, 3]}))
    >>> print(stream.getvalue().decode())
    '=a,c
    '=1+1,-1
    -2,2
    b,3
    """

    def __init__(self, stream: IO[bytes], *, raw: bool = False, separator: str = ",") -> None:
        self._stream, self._raw, self._separator, self._begun = stream, raw, separator, False

    def write(self, frame: pl.DataFrame) -> None:
        """Write the rows of a frame, under a header if they are the first."""
        shown = frame if self._raw else _safe(frame)
        # As bytes: an error of the stream, such as a full disk, loses its number on the way through polars.
        text = shown.write_csv(include_header=not self._begun, separator=self._separator)
        self._stream.write(text.encode())
        self._begun = True


class TableFormat(NamedTuple):
    """How a file of a table is written, by its name.

    Attributes
    ----------
    separator : between the cells of text; None of other formats.
    packing : ".gz", ".zst" or nothing.
    sink : method of polars' lazy frames that writes the file; None of text.
    """

    separator: str | None
    packing: str = ""
    sink: str | None = None


def table_format(path: str | os.PathLike[str]) -> TableFormat:
    r"""The format that the name of a file stands for; names that stand for none are refused.

    Parameters
    ----------
    path : path
        ``-`` is standard output.

    Examples
    --------
    >>> table_format("answers.tsv.gz")
    TableFormat(separator='\t', packing='.gz', sink=None)
    >>> table_format("answers.xlsx")
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: answers.xlsx: tables are not written as .xlsx. Remedy: choose a name in .csv, ...
    """
    name = "" if os.fspath(path) == STANDARD_OUTPUT else Path(path).name.lower()
    stem, packing = next(((name.removesuffix(end), end) for end in _PACKINGS if name.endswith(end)), (name, ""))
    ending = Path(stem).suffix.rstrip(".")
    if packing == ".zst":
        import_extra("zstandard", EXTRA)
    if ending in _SEPARATORS:
        return TableFormat(_SEPARATORS[ending], packing)
    if ending in _SINKS and packing:
        raise FileError(f"{path}: {ending} files are compressed within. Remedy: leave {packing} out of the name.")
    if ending in _SINKS:
        return TableFormat(None, sink=_SINKS[ending])
    raise FileError(
        f"{path}: tables are not written as {ending}. Remedy: choose a name in .csv, which spreadsheets open, .tsv, "
        ".txt, .parquet or .arrow, or without such an ending; .csv.gz and .csv.zst are compressed."
    )


@contextmanager
def table_writer(path: str | os.PathLike[str], *, raw: bool = False) -> Iterator[CsvWriter | ColumnWriter]:
    """Write frames one after another as one file, in memory that does not grow with it; it is there when it is whole.

    Parameters
    ----------
    path : path
        Its ending says the format, see :func:`table_format`; ``-`` is standard output.
    raw : bool, default=False
        Whether text is written as it is, also where a spreadsheet would take it for a formula; Parquet and Arrow files
        always hold it so.

    Yields
    ------
    CsvWriter or ColumnWriter

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with table_writer(Path(folder) / "a.parquet") as writer:
    ...         writer.write(pl.DataFrame({"a": [1]}))
    ...         writer.write(pl.DataFrame({"a": [2]}))
    ...     pl.read_parquet(Path(folder) / "a.parquet")["a"].to_list()
    [1, 2]
    """
    form = table_format(path)
    if os.fspath(path) == STANDARD_OUTPUT:
        yield CsvWriter(sys.stdout.buffer, raw=raw)
        sys.stdout.buffer.flush()
    elif form.separator is not None:
        with whole_file(path) as stream, _packed(stream, form.packing) as content:
            yield CsvWriter(content, raw=raw, separator=form.separator)
    else:
        assert form.sink is not None
        with whole_file(path) as stream, TemporaryDirectory(prefix=".dsna-", dir=Path(stream.name).parent) as folder:
            writer = ColumnWriter(Path(folder))
            yield writer
            writer.finish(stream.name, form.sink)


@contextmanager
def _packed(stream: IO[bytes], packing: str) -> Iterator[IO[bytes]]:
    """A stream whose content goes into another one, compressed where that is wanted."""
    if packing == ".gz":
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as content:
            yield content  # type: ignore[misc]  # a stream of bytes in all but its declared type
    elif packing == ".zst":
        with import_extra("zstandard", EXTRA).ZstdCompressor().stream_writer(stream, closefd=False) as content:
            yield content
    else:
        yield stream


class ColumnWriter:
    """Writes frames one after another as one Parquet or Arrow file, by way of parts in a folder.

    The schema of such a file holds for all of its rows, and is known when all are there: a column may be empty, or hold
    whole numbers only, until late.

    Parameters
    ----------
    folder : Path
        For the parts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = ColumnWriter(Path(folder))
    ...     for column in ([None], [1], [0.5]):
    ...         writer.write(pl.DataFrame({"a": column}))
    ...     writer.finish(str(Path(folder) / "a.parquet"), "sink_parquet")
    ...     pl.read_parquet(Path(folder) / "a.parquet")["a"].to_list()
    [None, 1.0, 0.5]
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[pl.DataFrame] = []
        self._parts: list[Path] = []

    def write(self, frame: pl.DataFrame) -> None:
        """Add the rows of a frame."""
        import polars as pl

        self._held.append(frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)))
        if sum(part.height for part in self._held) >= _PART_ROWS:
            self._set_aside()

    def finish(self, path: str, sink: str) -> None:
        """Write the file, by a method of polars' lazy frames."""
        import polars as pl

        if self._held:
            self._set_aside()
        every = pl.concat([pl.scan_parquet(part) for part in self._parts], how="diagonal_relaxed")
        with _numbered_errors():
            getattr(every, sink)(path)

    def _set_aside(self) -> None:
        import polars as pl

        self._parts.append(self._folder / f"{len(self._parts)}.parquet")
        with _numbered_errors():
            pl.concat(self._held, how="diagonal_relaxed").write_parquet(self._parts[-1])
        self._held = []


@contextmanager
def _numbered_errors() -> Iterator[None]:
    """Give errors of the system, such as a full disk, the number back that they lose on the way through polars."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        number: Any = _SYSTEM_ERROR.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


def _safe(frame: pl.DataFrame) -> pl.DataFrame:
    """Text and names that no spreadsheet takes for a formula."""
    import polars as pl

    columns = []
    for series in frame.iter_columns():
        text = series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum) else series
        if text.dtype == pl.String and text.str.contains(_FORMULA).any():
            text = pl.Series(
                text.name, [None if cell is None else safe_cell(cell) for cell in text.to_list()], dtype=pl.String
            )
        columns.append(text.alias(safe_cell(series.name)))
    return pl.DataFrame(columns)


def safe_cell(cell: str) -> str:
    """A text with an apostrophe before it, where a spreadsheet would take it for a formula.

    Examples
    --------
    >>> safe_cell("=HYPERLINK(...)"), safe_cell("-1.5"), safe_cell("a=b")
    ("'=HYPERLINK(...)", '-1.5', 'a=b')
    """
    return f"'{cell}" if cell.startswith(_SIGNS) and not is_plain_number(cell) else cell
