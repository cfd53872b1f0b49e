"""A file in chunks of rows, in memory that does not grow with it: for predictions on more rows than fit."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..column_types import ColumnType
from .delimited import DelimitedReader
from .dialect import find_dialect
from .source import Source, all_problems, format_of, is_packed, source_of
from .table import FileTable, ReadOptions, unreadable
from .typed import Typing, typed_frame

if TYPE_CHECKING:
    import polars as pl

_HEAD = 1 << 18  # bytes that show encoding and separator
_SLICE = 10  # chunks that are decoded at once, of formats that are not read line by line


def read_chunks(
    path: str | os.PathLike[str] | Source, options: ReadOptions | None = None, *, rows: int = 20_000
) -> Iterator[FileTable]:
    r"""Read a file as tables of so many rows at most, one after another.

    Nothing is inferred from a chunk but the decimal sign of numbers: columns whose type ``options.types`` names are
    converted, others stay text. Packed files and standard input are decoded as they are read. A line that cannot be
    read is refused when its chunk is reached.

    Parameters
    ----------
    path : path
        ``-`` is standard input; a Source that holds a stream will do, too.
    options : ReadOptions, optional
        ``types`` are best those of training (``TableEncoder.types_``); types of columns that are not there are ignored.
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
            yield from _typed_chunks(source, stream, form, options, rows)


def _text_chunks(source: Source, stream: io.BufferedReader, options: ReadOptions, rows: int) -> Iterator[FileTable]:
    """Chunks of a text file."""
    head = stream.read(_HEAD)
    dialect = find_dialect(head, source.name, options.encoding, options.separator)
    reader = DelimitedReader(source.name, dialect, options.header, options.most_columns)
    typing, notes = None, dialect.notes
    for block in reader.blocks(io.BufferedReader(_Rejoined(head, stream), 1 << 16), rows):
        reader.refuse_early()
        if typing is None:
            notes = notes + reader.notes
            typing = _typing(options, reader.names, dialect.separator)
        table = FileTable(name=source.name, frame=block.frame, types={}, notes=notes, lines=block.lines)
        yield _typed(table, typing)
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


def _typing(options: ReadOptions, names: list[str], separator: str) -> Typing:
    """How columns are converted; those without a type stay text."""
    given = {name: ColumnType.of(spec, name) for name, spec in options.types.items() if name in names}
    types = {name: given.get(name, ColumnType("text")) for name in names}
    return Typing(types, options.decimals(separator), options.spellings())


def _typed(table: FileTable, typing: Typing) -> FileTable:
    """A chunk with typed columns; the decimal sign that it shows holds for those that follow."""
    here = replace(typing, place=table.place)
    frame, types, remarks = typed_frame(table.frame, here)
    typing.types.update({name: kind for name, kind in types.items() if kind.kind == "number"})
    return replace(table, frame=frame, types=types, notes=table.notes + remarks.lines())


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
                    typing = _typing(options, part.columns, ".")
                for piece in part.iter_slices(rows):
                    yield _typed(FileTable(name=source.name, frame=piece, types={}, notes=[], first=begin), typing)
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
