"""A file in chunks of rows, in memory that does not grow with it: for predictions on more rows than fit."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .dialect import find_dialect
from .source import Source, all_problems, format_of, is_packed, source_of
from .table import FileTable, ReadOptions, check_has_lines, unreadable

if TYPE_CHECKING:
    import polars as pl

_HEAD = 1 << 18  # bytes that show encoding and separator
_SLICE = 10  # chunks that are decoded at once, of formats that are not read line by line


def read_chunks(
    path: str | os.PathLike[str] | Source, options: ReadOptions | None = None, *, rows: int = 20_000
) -> Iterator[FileTable]:
    r"""Read a file as tables of so many rows at most, one after another.

    Nothing is inferred from a chunk but how numbers and dates are written: columns whose type ``options.types`` or
    ``options.model_types`` names are converted, others stay text. What the chunks so far show holds for those that
    follow; one that contradicts them is refused. Packed files and standard input are decoded as they are read. A line
    that cannot be read is refused when its chunk is reached.

    Parameters
    ----------
    path : path
        ``-`` is standard input; a Source that holds a stream will do, too.
    options : ReadOptions, optional
        ``model_types`` are best those of training (``TableEncoder.types_``); columns that are not there are ignored.
    rows : int, default=20000
        Most rows of a chunk.

    Yields
    ------
    FileTable
        ``notes`` holds what is new in each chunk.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dsna.tables import ReadOptions, read_chunks
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("a,b\n1,x\n2,y\n3,z\n")
    ...     for chunk in read_chunks(path, ReadOptions(types={"a": "number"}), rows=2):
    ...         print(chunk.frame["a"].to_list(), chunk.lines.tolist())
    [1, 2] [2, 3]
    [3] [4]
    """
    options = options or ReadOptions()
    source = source_of(path)
    with source.opened() as stream:
        form = format_of(stream)
        if form == "csv":
            yield from _text_chunks(source, stream, options, rows)
        else:
            check_has_lines(source.name, form, options)
            yield from _typed_chunks(source, stream, form, options, rows)


def _text_chunks(source: Source, stream: io.BufferedReader, options: ReadOptions, rows: int) -> Iterator[FileTable]:
    """Chunks of a text file."""
    head = stream.read(_HEAD)
    dialect = find_dialect(head, source.name, options.encoding, options.separator, options.skip_lines or 0)
    reader = options.reader(source.name, dialect)
    typing, notes = None, dialect.notes
    for block in reader.blocks(io.BufferedReader(_Rejoined(head, stream), 1 << 16), rows):
        reader.refuse_early()
        if typing is None:
            notes = notes + reader.notes
            typing = options.typing(reader.names, dialect.separator, only_known=True)
        table = FileTable(name=source.name, frame=block.frame, types={}, notes=notes, lines=block.lines)
        yield table.typed(typing)
        notes = []
    reader.refuse()


class _Rejoined(io.RawIOBase):
    """A stream whose beginning was looked at, from the start."""

    def __init__(self, head: bytes, rest: io.BufferedReader) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            return self._rest.readinto(buffer)
        n = min(len(buffer), len(self._head))
        buffer[:n] = self._head[:n]
        self._head = self._head[n:]
        return n


def _typed_chunks(
    source: Source, stream: io.BufferedReader, form: str, options: ReadOptions, rows: int
) -> Iterator[FileTable]:
    """Chunks of a Parquet or Arrow file."""
    import polars as pl

    with _on_disk(source, stream) as path:
        try:
            if form == "arrow stream":
                slices = iter([pl.read_ipc_stream(path)])
            else:
                slices = _slices(pl.scan_parquet(path) if form == "parquet" else pl.scan_ipc(path), _SLICE * rows)
            typing, begin = None, 0
            for part in slices:
                if typing is None:
                    typing = options.typing(part.columns, only_known=True)
                for piece in part.iter_slices(rows):
                    yield FileTable(name=source.name, frame=piece, types={}, notes=[], first=begin).typed(typing)
                    begin += piece.height
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(source.name, form, error) from error
    if not begin:
        raise all_problems(source.name, ["there are no rows: add some"])


def _slices(lazy: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    begin = 0
    while (part := lazy.slice(begin, rows).collect()).height:
        yield part
        begin += rows


@contextmanager
def _on_disk(source: Source, stream: io.BufferedReader) -> Iterator[str]:
    """Path of the unpacked file: the file itself, or a temporary copy."""
    if source.stream is None and not is_packed(stream):
        yield source.name
        return
    with tempfile.NamedTemporaryFile(suffix=".dsna") as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
        copy.flush()
        yield copy.name
