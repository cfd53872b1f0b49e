"""Reading files in chunks of rows with constant memory, for predictions on tables larger than memory."""

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

_HEAD = 1 << 18  # bytes from which encoding and separator are guessed
_CHUNKS_PER_SLICE = 10  # that are decoded at once in binary formats


def read_chunks(
    path: str | os.PathLike[str] | Source, options: ReadOptions | None = None, *, rows: int = 20_000
) -> Iterator[FileTable]:
    r"""Read a file as a sequence of tables with a limited number of rows.

    Only the notation of numbers and dates is inferred from the chunks. Columns whose types are in ``options.types`` or
    ``options.model_types`` are converted; others stay text. The notation of earlier chunks applies to later ones, and
    a chunk that contradicts it is refused. Compressed files and standard input are decoded as they are read. A line
    that cannot be read is refused when its chunk is reached.

    Parameters
    ----------
    path : path
        ``-`` is standard input; a Source is accepted, too.
    options : ReadOptions, optional
        ``model_types`` should be those of training (``TableEncoder.types_``); absent columns are ignored.
    rows : int, default=20000
        Maximum number of rows of a chunk.

    Yields
    ------
    FileTable
        ``notes`` holds the new notes of each chunk.

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
    """Read a text file in chunks."""
    head = stream.read(_HEAD)
    dialect = find_dialect(head, source.name, options.encoding, options.separator, options.skip_lines or 0)
    reader = options.reader(source.name, dialect)
    typing, notes = None, dialect.notes
    for block in reader.blocks(io.BufferedReader(_RestartedStream(head, stream), 1 << 16), rows):
        reader.refuse_early()
        if typing is None:
            notes = notes + reader.notes
            typing = options.typing(reader.names, dialect.separator, only_known=True)
        table = FileTable(name=source.name, frame=block.frame, types={}, notes=notes, lines=block.lines)
        yield table.typed(typing)
        notes = []
    reader.refuse()


class _RestartedStream(io.RawIOBase):
    """A stream, restarted from its beginning, which was already read."""

    def __init__(self, head: bytes, stream: io.BufferedReader) -> None:
        self._head, self._stream = memoryview(head), stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            return self._stream.readinto(buffer)
        n = min(len(buffer), len(self._head))
        buffer[:n] = self._head[:n]
        self._head = self._head[n:]
        return n


def _typed_chunks(
    source: Source, stream: io.BufferedReader, form: str, options: ReadOptions, rows: int
) -> Iterator[FileTable]:
    """Read a Parquet or Arrow file in chunks."""
    import polars as pl

    with _on_disk(source, stream) as path:
        try:
            if form == "arrow stream":
                slices = iter([pl.read_ipc_stream(path)])
            else:
                lazy = pl.scan_parquet(path) if form == "parquet" else pl.scan_ipc(path)
                slices = _slices(lazy, _CHUNKS_PER_SLICE * rows)
            typing, start = None, 0
            for frame in slices:
                if typing is None:
                    typing = options.typing(frame.columns, only_known=True)
                for chunk in frame.iter_slices(rows):
                    yield FileTable(name=source.name, frame=chunk, types={}, notes=[], first=start).typed(typing)
                    start += chunk.height
        except (pl.exceptions.PolarsError, OSError) as error:
            raise unreadable(source.name, form, error) from error
    if not start:
        raise all_problems(source.name, ["there are no rows: add some"])


def _slices(lazy: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    start = 0
    while (frame := lazy.slice(start, rows).collect()).height:
        yield frame
        start += rows


@contextmanager
def _on_disk(source: Source, stream: io.BufferedReader) -> Iterator[str]:
    """Yield the path of the uncompressed file: the file itself or a temporary copy."""
    if source.stream is None and not is_packed(stream):
        yield source.name
        return
    with tempfile.NamedTemporaryFile(suffix=".dsna") as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
        copy.flush()
        yield copy.name
