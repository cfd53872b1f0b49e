"""Table files as streams of bytes: opening, decompressing and recognising their format."""

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

EXTRA = "app"  # the optional dependencies needed for reading
STANDARD_INPUT = "-"
FORMATS = ("csv", "parquet", "arrow", "arrow stream")
_PACKINGS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream"}
_OTHER_FORMATS = {
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
_BLOCK = 4096  # compressed bytes read at once, few enough for their content to fit into memory
_HEAD, _MODEL_HEAD = 16, 64  # bytes by which formats and models are recognised
_MAX_PROBLEMS = 20


class TableError(DSNAError):
    """Error for a file or folder that cannot be used as a table, with the reason and a remedy.

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
    """Return an error with the first twenty problems of a file, each on its own line if there are several.

    Examples
    --------
    >>> print(all_problems("a.csv", ["the file is empty"]))
    a.csv: the file is empty.
    """
    lines = list(problems[:_MAX_PROBLEMS])
    if len(problems) > len(lines):
        lines.append(f"and {len(problems) - len(lines)} more problems")
    bullet = "\n  - "
    if len(lines) > 1:
        return TableError(f"{name}:{bullet}{bullet.join(lines)}")
    return TableError(f"{name}: {lines[0]}{'' if lines[0].endswith('?') else '.'}")


class _DecompressedStream(io.RawIOBase):
    """Content of a compressed stream; truncated and damaged streams are refused."""

    def __init__(self, compressed: IO[bytes], packing: str, name: str) -> None:
        self._compressed, self._packing, self._name = compressed, packing, name
        self._decoder = self._new_decoder()
        self._has_started = False
        self._content = memoryview(b"")

    def _new_decoder(self) -> Any:
        if self._packing == "gzip":
            return zlib.decompressobj(wbits=31)
        return import_extra("zstandard", EXTRA).ZstdDecompressor().decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._content:
            block = self._compressed.read(_BLOCK)
            if not block:
                if self._has_started and not self._decoder.eof:
                    raise self._damaged("ends too early: it was cut off")
                return 0
            self._content = memoryview(self._decompress(block))
        n_bytes = min(len(buffer), len(self._content))
        buffer[:n_bytes] = self._content[:n_bytes]
        self._content = self._content[n_bytes:]
        return n_bytes

    def _decompress(self, block: bytes) -> bytes:
        """Decompress a block, in which one compressed stream may end and another begin."""
        contents = []
        while block:
            if self._decoder.eof:
                block = block.lstrip(b"\0")  # padding
                if not block:
                    break
                self._decoder = self._new_decoder()
            self._has_started = True
            try:
                contents.append(self._decoder.decompress(block))
            except Exception as error:  # zlib.error, or zstandard.ZstdError, which may not be installed
                raise self._damaged(f"is damaged ({error})") from error
            block = self._decoder.unused_data if self._decoder.eof else b""
        return b"".join(contents)

    def _damaged(self, problem: str) -> TableError:
        return all_problems(self._name, [f"the {self._packing} file {problem}. Copy or download it again"])


@dataclass(frozen=True)
class Source:
    """A file, which can be read repeatedly, or standard input, which can be read once.

    Parameters
    ----------
    name : str
        Name of the file in messages.
    stream : binary stream of standard input; None for files

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
        """Yield the decompressed content."""
        if self.stream is None:
            problem = reading_problem(self.name)
            if problem:
                raise TableError("{}: {}. Remedy: {}.".format(self.name, *problem))
            with open(self.name, "rb") as file:
                yield self._decompressed(file)
        else:
            if self.stream.seekable():
                self.stream.seek(0)
            yield self._decompressed(self.stream)

    def _decompressed(self, file: IO[bytes]) -> io.BufferedReader:
        buffered = file if isinstance(file, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, file))
        head = buffered.peek(_HEAD)[:_HEAD]
        if starts_model(buffered.peek(_MODEL_HEAD)[:_MODEL_HEAD]):
            raise all_problems(self.name, ["this is a dsna model, not a table: name a table instead"])
        for magic, (description, remedy) in _OTHER_FORMATS.items():
            if head.startswith(magic):
                raise all_problems(self.name, [f"this is {description}: {remedy}"])
        packing = next((name for magic, name in _PACKINGS.items() if head.startswith(magic)), None)
        if packing is None:
            if self.name.endswith((".gz", ".zst")) and head:
                raise all_problems(self.name, ["this file is not compressed, as its ending says: correct its name"])
            return buffered
        return io.BufferedReader(_DecompressedStream(buffered, packing, self.name), buffer_size=1 << 16)

    @contextmanager
    def rereadable(self) -> Iterator[Source]:
        """Yield a source that can be read repeatedly: standard input is copied to a temporary file."""
        if self.stream is None or self.stream.seekable():
            yield self
            return
        with tempfile.TemporaryFile() as file:
            while block := self.stream.read(1 << 20):
                file.write(block)
            yield Source(self.name, io.BufferedReader(file))

    def format(self) -> str:
        """Recognise the format by the first bytes, one of ``FORMATS``."""
        with self.opened() as stream:
            return format_of(stream)


def format_of(stream: io.BufferedReader) -> str:
    """Recognise the format, one of ``FORMATS``, by the first bytes, without consuming them."""
    head = stream.peek(_HEAD)[:_HEAD]
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "csv")


def is_packed(stream: io.BufferedReader) -> bool:
    """Return whether a stream of a :class:`Source` is decompressed while it is read."""
    return isinstance(stream.raw, _DecompressedStream)


def is_plain_text(content: bytes) -> bool:
    """Return whether content is neither compressed nor in a binary format.

    Examples
    --------
    >>> is_plain_text(b"a,b"), is_plain_text(b"PAR1"), is_plain_text(bytes([31, 139, 8]))
    (True, False, False)
    """
    return not content.startswith((*_PACKINGS, *_MAGIC))


def source_of(path: str | os.PathLike[str] | Source) -> Source:
    """Return the source of a path; ``-`` is standard input. Polars, which all readers need, must be installed."""
    import_extra("polars", EXTRA)
    if isinstance(path, Source):
        return path
    name = os.fspath(path)
    return Source("standard input", sys.stdin.buffer) if name == STANDARD_INPUT else Source(name)
