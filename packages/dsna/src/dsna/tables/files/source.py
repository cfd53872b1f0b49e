"""Files of tables as streams of bytes: where they come from, how they are packed, and which format they have."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

from ..._utils.atomic import reading_problem, starts_model
from ..._utils.errors import DSNAError
from ..._utils.optional import import_extra

EXTRA = "app"  # the optional dependencies that reading takes
STANDARD_INPUT = "-"
FORMATS = ("csv", "parquet", "arrow", "arrow stream")
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream"}
_STRANGERS = {
    b"PK\x03\x04": ("a ZIP archive, as spreadsheets (.xlsx) are", "save it as CSV in UTF-8, or unpack it"),
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet (.xls)", "save it as CSV in UTF-8"),
    b"BZh": ("packed with bzip2", "unpack it, or pack it as .gz or .zst"),
    b"\xfd7zXZ": ("packed with xz", "unpack it, or pack it as .gz or .zst"),
    b"%PDF": ("a PDF", "export the table as CSV"),
    b"SQLite format 3": ("an SQLite database", "export the table as CSV"),
    b"FEA1": ("a Feather file of the first version", "write it anew: the current version is Arrow's own format"),
    b"\x89HDF": ("an HDF5 file", "export the table as CSV or Parquet"),
    b"\x93NUMPY": ("a numpy array", "write it as CSV, with a name for each column"),
    b"\x80\x04\x95": ("a Python pickle, which is never opened", "write the table as CSV or Parquet"),
}
_PIECE = 4096  # packed bytes at a time: what they unpack to stays within memory
_HEAD, _START = 16, 64  # bytes that show the format, and a model
_MOST_PROBLEMS = 20


class TableError(DSNAError):
    """A folder or a file that cannot be used as a table; the message says why and what to do.

    Examples
    --------
    >>> from dsna.tables import TableError, read_file
    >>> try:
    ...     read_file("no/such/table.csv")
    ... except TableError as error:
    ...     print(error)
    no/such/table.csv: there is no such file. Remedy: check the name and the folder.
    """


def all_problems(name: str | os.PathLike[str], problems: Sequence[str]) -> TableError:
    """All problems of a file, on a line each where there are several, the first twenty of them.

    Examples
    --------
    >>> print(all_problems("a.csv", ["the file is empty"]))
    a.csv: the file is empty.
    """
    shown = list(problems[:_MOST_PROBLEMS])
    if len(problems) > len(shown):
        shown.append(f"and {len(problems) - len(shown)} more problems")
    between = "\n  - "
    if len(shown) > 1:
        return TableError(f"{name}:{between}{between.join(shown)}")
    return TableError(f"{name}: {shown[0]}{'' if shown[0].endswith('?') else '.'}")


class _Unpacked(io.RawIOBase):
    """The content of a packed stream; one that is cut off or damaged is refused."""

    def __init__(self, packed: IO[bytes], packing: str, name: str) -> None:
        self._packed, self._packing, self._name = packed, packing, name
        self._decoder = self._new_decoder()
        self._begun = False
        self._ready = memoryview(b"")

    def _new_decoder(self) -> Any:
        if self._packing == "gzip":
            return zlib.decompressobj(wbits=31)
        return import_extra("zstandard", EXTRA).ZstdDecompressor().decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            piece = self._packed.read(_PIECE)
            if not piece:
                if self._begun and not self._decoder.eof:
                    raise self._damaged("ends too early: it was cut off")
                return 0
            self._ready = memoryview(self._unpack(piece))
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n

    def _unpack(self, piece: bytes) -> bytes:
        """What a piece holds, which may end one packed part and begin another."""
        found = []
        while piece:
            if self._decoder.eof:
                piece = piece.lstrip(b"\0")  # padding
                if not piece:
                    break
                self._decoder = self._new_decoder()
            self._begun = True
            try:
                found.append(self._decoder.decompress(piece))
            except Exception as error:  # zlib.error or zstandard.ZstdError, which is imported only where it is needed
                raise self._damaged(f"is damaged ({error})") from error
            piece = self._decoder.unused_data if self._decoder.eof else b""
        return b"".join(found)

    def _damaged(self, how: str) -> TableError:
        return all_problems(self._name, [f"the {self._packing} file {how}. Copy or download it again"])


@dataclass(frozen=True)
class Source:
    """A file that can be read from the start as often as needed, or standard input, which can be read once.

    Parameters
    ----------
    name : str
        What messages call it.
    stream : bytes to read from, of standard input; else None.

    Examples
    --------
    >>> import tempfile
    >>> from dsna.tables.files.source import Source
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     _ = file.write(b"a,b"), file.flush()
    ...     with Source(file.name).opened() as stream:
    ...         print(stream.read())
    b'a,b'
    """

    name: str
    stream: IO[bytes] | None = None

    @contextmanager
    def opened(self) -> Iterator[io.BufferedReader]:
        """The content, unpacked."""
        if self.stream is None:
            problem = reading_problem(self.name)
            if problem:
                raise TableError("{}: {}. Remedy: {}.".format(self.name, *problem))
            with open(self.name, "rb") as file:
                yield self._unpacked(file)
        else:
            if self.stream.seekable():
                self.stream.seek(0)
            yield self._unpacked(self.stream)

    def _unpacked(self, file: IO[bytes]) -> io.BufferedReader:
        buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, file))
        head = buffered.peek(_HEAD)[:_HEAD]
        if starts_model(buffered.peek(_START)[:_START]):
            raise all_problems(self.name, ["this is a dsna model, not a table: name a table in its place"])
        for magic, (what, remedy) in _STRANGERS.items():
            if head.startswith(magic):
                raise all_problems(self.name, [f"this is {what}: {remedy}"])
        packing = next((name for magic, name in _PACKED.items() if head.startswith(magic)), None)
        if packing is None:
            if self.name.endswith((".gz", ".zst")) and head:
                raise all_problems(self.name, ["this is no packed file, as its ending says: correct its name"])
            return buffered
        return io.BufferedReader(_Unpacked(buffered, packing, self.name), buffer_size=1 << 16)

    @contextmanager
    def kept(self) -> Iterator[Source]:
        """A source that can be read several times: standard input goes to a temporary file first."""
        if self.stream is None or self.stream.seekable():
            yield self
            return
        with tempfile.TemporaryFile() as file:
            while piece := self.stream.read(1 << 20):
                file.write(piece)
            yield Source(self.name, io.BufferedReader(file))

    def format(self) -> str:
        """One of ``FORMATS``, by the first bytes."""
        with self.opened() as stream:
            return format_of(stream)


def format_of(stream: io.BufferedReader) -> str:
    """One of ``FORMATS``, by the first bytes, which stay to be read."""
    head = stream.peek(_HEAD)[:_HEAD]
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "csv")


def is_packed(stream: io.BufferedReader) -> bool:
    """Whether a stream of a :class:`Source` is unpacked while it is read."""
    return isinstance(stream.raw, _Unpacked)


def is_plain_text(content: bytes) -> bool:
    """Whether content is neither packed nor of a format that packs what it holds.

    Examples
    --------
    >>> is_plain_text(b"a,b"), is_plain_text(b"PAR1"), is_plain_text(bytes([31, 139, 8]))
    (True, False, False)
    """
    return not content.startswith((*_PACKED, *_MAGIC))


def source_of(path: str | os.PathLike[str] | Source) -> Source:
    """A file by its path; ``-`` is standard input. Refused without polars, which all of its readers take."""
    import_extra("polars", EXTRA)
    if isinstance(path, Source):
        return path
    name = os.fspath(path)
    return Source("standard input", sys.stdin.buffer) if name == STANDARD_INPUT else Source(name)
