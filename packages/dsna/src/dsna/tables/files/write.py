"""Writing tables as Parquet, Arrow or text that is safe to open in a spreadsheet, optionally compressed."""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, NamedTuple

from ..._utils.atomic import FileError, whole_file
from ..._utils.optional import import_extra
from ..words import is_plain_number
from .source import EXTRA, STANDARD_INPUT

if TYPE_CHECKING:
    import polars as pl

STANDARD_OUTPUT = STANDARD_INPUT  # both are "-"
_SEPARATORS = {"": ",", ".csv": ",", ".txt": ",", ".tsv": "\t"}
_SINKS = {".parquet": "sink_parquet", ".arrow": "sink_ipc"}  # methods of polars' lazy frames
_PACKINGS = (".gz", ".zst")
_PART_ROWS = 100_000  # of a Parquet or Arrow file that are in memory at once
_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")  # as in messages of polars
_FORMULA = r"^[=+\-@\t\r]"
_SIGNS = ("=", "+", "-", "@", "\t", "\r")


class CsvWriter:
    """Write successive frames to one CSV file in UTF-8.

    Spreadsheets interpret cells that begin with ``=``, ``+``, ``-`` or ``@`` as formulas. An apostrophe before such
    text and column names prevents this; numbers never get one.

    Parameters
    ----------
    stream : binary stream
    raw : bool, default=False
        Whether text is written unchanged.
    separator : str, default=","
        Character between cells.

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
        self._stream, self._raw, self._separator, self._has_header = stream, raw, separator, False

    def write(self, frame: pl.DataFrame) -> None:
        """Write the rows of a frame, with a header before the first ones."""
        safe_frame = frame if self._raw else _safe(frame)
        # Write bytes here, as errors of the stream, such as a full disk, lose their number in polars.
        text = safe_frame.write_csv(include_header=not self._has_header, separator=self._separator)
        self._stream.write(text.encode())
        self._has_header = True


class TableFormat(NamedTuple):
    """Format of a table file.

    Attributes
    ----------
    separator : character between cells of text; None for binary formats.
    packing : ".gz", ".zst" or "".
    sink : method of polars' lazy frames that writes a binary format; None for text.
    """

    separator: str | None
    packing: str = ""
    sink: str | None = None


def table_format(path: str | os.PathLike[str]) -> TableFormat:
    r"""Return the format that the ending of a file name stands for, and refuse unknown endings.

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
    packing = next((suffix for suffix in _PACKINGS if name.endswith(suffix)), "")
    ending = Path(name.removesuffix(packing)).suffix.rstrip(".")
    if packing == ".zst":
        import_extra("zstandard", EXTRA)
    if ending in _SEPARATORS:
        return TableFormat(_SEPARATORS[ending], packing)
    if ending in _SINKS and packing:
        raise FileError(f"{path}: {ending} files are compressed internally. Remedy: leave {packing} out of the name.")
    if ending in _SINKS:
        return TableFormat(None, sink=_SINKS[ending])
    raise FileError(
        f"{path}: tables are not written as {ending}. Remedy: choose a name in .csv, which spreadsheets open, .tsv, "
        ".txt, .parquet or .arrow, or without such an ending; .csv.gz and .csv.zst are compressed."
    )


@contextmanager
def table_writer(path: str | os.PathLike[str], *, raw: bool = False) -> Iterator[CsvWriter | ColumnWriter]:
    """Write successive frames to one file with constant memory; an incomplete file is never left behind.

    Parameters
    ----------
    path : path
        Its ending determines the format, see :func:`table_format`; ``-`` is standard output.
    raw : bool, default=False
        Whether text is written unchanged even if a spreadsheet would interpret it as a formula, as always in Parquet
        and Arrow files.

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
        with whole_file(path) as stream, _compressed(stream, form.packing) as content:
            yield CsvWriter(content, raw=raw, separator=form.separator)
    else:
        assert form.sink is not None
        with whole_file(path) as stream, TemporaryDirectory(prefix=".dsna-", dir=Path(stream.name).parent) as folder:
            writer = ColumnWriter(Path(folder))
            yield writer
            writer.finish(stream.name, form.sink)


@contextmanager
def _compressed(stream: IO[bytes], packing: str) -> Iterator[IO[bytes]]:
    """Yield a stream that compresses its content into another one, or this one without compression."""
    if packing == ".gz":
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as content:
            yield content  # type: ignore[misc]  # a stream of bytes in all but its declared type
    elif packing == ".zst":
        with import_extra("zstandard", EXTRA).ZstdCompressor().stream_writer(stream, closefd=False) as content:
            yield content
    else:
        yield stream


class ColumnWriter:
    """Write successive frames to one Parquet or Arrow file, by way of temporary parts.

    The schema of such a file is known only after its last row: until then, a column may be empty or hold only whole
    numbers.

    Parameters
    ----------
    folder : Path
        Folder of the parts.

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
        self._frames: list[pl.DataFrame] = []
        self._part_paths: list[Path] = []

    def write(self, frame: pl.DataFrame) -> None:
        """Add the rows of a frame."""
        import polars as pl

        self._frames.append(frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)))
        if sum(frame.height for frame in self._frames) >= _PART_ROWS:
            self._write_part()

    def finish(self, path: str, sink: str) -> None:
        """Write the file with a method of polars' lazy frames."""
        import polars as pl

        if self._frames:
            self._write_part()
        rows = pl.concat([pl.scan_parquet(path) for path in self._part_paths], how="diagonal_relaxed")
        with _numbered_errors():
            getattr(rows, sink)(path)

    def _write_part(self) -> None:
        import polars as pl

        self._part_paths.append(self._folder / f"{len(self._part_paths)}.parquet")
        with _numbered_errors():
            pl.concat(self._frames, how="diagonal_relaxed").write_parquet(self._part_paths[-1])
        self._frames = []


@contextmanager
def _numbered_errors() -> Iterator[None]:
    """Restore the error numbers that system errors, such as a full disk, lose in polars."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        match = _SYSTEM_ERROR.search(str(error))
        if match is None:
            raise
        number = int(match[1])
        raise OSError(number, os.strerror(number)) from error


def _safe(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame whose text and column names are safe in spreadsheets."""
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
    """Prefix text with an apostrophe if a spreadsheet would interpret it as a formula.

    Examples
    --------
    >>> safe_cell("=HYPERLINK(...)"), safe_cell("-1.5"), safe_cell("a=b")
    ("'=HYPERLINK(...)", '-1.5', 'a=b')
    """
    return f"'{cell}" if cell.startswith(_SIGNS) and not is_plain_number(cell) else cell
