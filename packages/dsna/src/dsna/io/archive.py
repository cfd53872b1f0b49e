"""Writing, reading and mapping the zip file of ``header.json`` and arrays in which models are stored.

Files are not trusted. Nothing is unpacked to disk, no entry is read before its size is known to fit the file, and
content that numpy or json would accept but ``dsna.save`` never writes is refused. Compressed arrays may take
``MOST_INFLATED`` times the file: ``write`` ensures it, and ``Archive`` checks it before inflating; zipfile reads no
more of an entry than its declared size.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from .._utils.atomic import MODEL_HEADER, MissingFileError
from .._utils.errors import DSNAError

HEADER = MODEL_HEADER
ARRAY_KINDS = "biufcmMUS"
AGAIN = "Copy it again from its source, or save the model again."
_ARRAY_HEADER = re.compile(
    rf"\{{'descr': '([<>|][{ARRAY_KINDS}]\d+(?:\[\w+\])?)', 'fortran_order': (?:True|False), 'shape': "
    r"\(([\d, ]*)\), \} *\n"
)
_LONGEST_AXIS = 2**40
_LAST_CHARACTER = 0x10FFFF
# Memory that a file may need: a small file must neither exhaust it nor keep the reader busy for long.
MOST_INFLATED = 32  # times the file size, for compressed arrays
_REFERRED = 4  # times the size of the arrays, for references to them
_SLACK = 2**20
_ALIGNMENT = 64
_PADDING = 0xD935  # type of an extra field that only aligns the data after it
_EXTRA, _SIZES = 4, 20  # bytes of an empty extra field, and of the field for sizes above 4 GB
_LOCAL = struct.Struct("<26x2H")  # lengths of the name and of the extra fields, in the header before an entry


class ModelFileError(DSNAError):
    """A file that ``dsna.load`` cannot read: foreign, truncated, damaged, forged or written by a newer dsna."""


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading; refuse folders, devices and pipes without opening them."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise MissingFileError(f"{os.fspath(path)}: there is no such file; check the name and the folder.") from None
    if not stat.S_ISREG(mode):
        raise ModelFileError(f"{os.fspath(path)}: not a regular file but a folder, device or pipe. Check the path.")
    return open(path, "rb")


def entry_name(number: int) -> str:
    """Return the name of the entry of an array."""
    return f"arrays/{number}.npy"


def write(stream: IO[bytes], header: str, arrays: list[np.ndarray], compress: bool) -> None:
    """Write a model file. Uncompressed arrays are aligned to multiples of 64 bytes, so that they can be mapped."""
    entries = _write_once(stream, header, arrays, range(len(arrays)) if compress else ())
    if not _is_bounded(entries, stream.tell()):
        # Readers would take the file for a zip bomb, so arrays that compress too well are stored uncompressed.
        dense = [i for i, entry in enumerate(entries[1:]) if entry.file_size <= MOST_INFLATED * entry.compress_size]
        stream.seek(0)
        stream.truncate()
        _write_once(stream, header, arrays, dense)


def _write_once(
    stream: IO[bytes], header: str, arrays: list[np.ndarray], compressed: Collection[int]
) -> list[zipfile.ZipInfo]:
    # Entries carry no date, so that equal models give equal files.
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER), header)
        for i, array in enumerate(arrays):
            entry = zipfile.ZipInfo(entry_name(i))
            if i in compressed:
                entry.compress_type = zipfile.ZIP_DEFLATED
            else:
                start = stream.tell() + _LOCAL.size + len(entry.filename) + _SIZES + _EXTRA
                padding = -start % _ALIGNMENT
                entry.extra = struct.pack("<HH", _PADDING, padding) + bytes(padding)
            with archive.open(entry, "w", force_zip64=True) as entry_stream:
                npy.write_array(entry_stream, array, allow_pickle=False)
        return archive.infolist()


def _is_bounded(entries: list[zipfile.ZipInfo], size: int) -> bool:
    """Whether the entries of a file of this size stay within the memory that it may use."""
    return may_take(sum(entry.file_size for entry in entries), size)


def may_take(n_bytes: int, size: int) -> bool:
    """Whether a file of this size may use ``n_bytes`` of memory."""
    return n_bytes <= MOST_INFLATED * size + _SLACK


class Archive:
    """The entries of a model file.

    Parameters
    ----------
    stream : the file, open for reading and not empty.
    mapped : whether uncompressed arrays stay in the file, mapped and read-only.
    """

    def __init__(self, stream: IO[bytes], mapped: bool = False) -> None:
        self._zip = zipfile.ZipFile(stream)
        self._size = os.fstat(stream.fileno()).st_size
        self._map = mmap.mmap(stream.fileno(), self._size, access=mmap.ACCESS_READ) if mapped else None
        self._arrays: dict[int, np.ndarray] = {}
        self._referred = 0
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if HEADER not in names:
            raise ModelFileError(f"a zip file but no dsna model: it has no {HEADER}. Check the path.")
        if any(not _is_written_by_us(entry) for entry in entries):
            raise ModelFileError("repacked in another way. Use the file as saved, or repack it by zip -0.")
        declared = sum(_stored_size(entry) for entry in entries)
        if declared > self._size or not all(0 <= entry.header_offset < self._size for entry in entries):
            raise ModelFileError(f"its content does not lie within its {self._size} bytes: damaged. {AGAIN}")
        if not _is_bounded(entries, self._size):
            raise ModelFileError(
                f"its arrays would take over {MOST_INFLATED} times the memory that the file takes on disk, which dsna "
                "never writes. Use the file as saved."
            )
        self._inflated = sum(entry.file_size for entry in entries)
        if len(set(names)) < len(names):
            raise ModelFileError(f"two entries have one name: damaged. {AGAIN}")

    def allows(self, n_bytes: int) -> bool:
        """Whether the file may use ``n_bytes`` of memory."""
        return may_take(n_bytes, self._size)

    def header(self) -> Any:
        """Return the header; repeated keys and numbers that are not finite are refused."""
        return json.loads(
            self._zip.read(HEADER),
            object_pairs_hook=_distinct_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite_number,
        )

    def array(self, number: int) -> np.ndarray:
        """Return an array in C order; the same object on every call."""
        if type(number) is not int:
            raise ValueError(f"{number!r} is not the number of an array")
        if number not in self._arrays:
            self._arrays[number] = self._read(self._zip.getinfo(entry_name(number)))
        self._referred += self._arrays[number].nbytes
        if self._referred > _REFERRED * self._inflated + _SLACK:
            raise ValueError("arrays are referred to too often")
        return self._arrays[number]

    def _read(self, entry: zipfile.ZipInfo) -> np.ndarray:
        with self._zip.open(entry) as stream:
            version = npy.read_magic(stream)
            length = int.from_bytes(stream.read(2), "little")
            header = _ARRAY_HEADER.fullmatch(stream.read(length).decode("latin1"))
            if version != (1, 0) or header is None:
                raise ValueError(f"{entry.filename} does not have the header of an array that dsna saves")
            dtype = np.dtype(header[1])
            shape = [int(axis) for axis in re.findall(r"\d+", header[2])]
            expected = stream.tell() + math.prod(shape) * dtype.itemsize
        if not dtype.itemsize or expected != entry.file_size or max(shape, default=0) > _LONGEST_AXIS:
            raise ValueError(f"{entry.filename} does not have the size of its shape {shape} of {dtype}")
        is_mapped = self._map is not None and entry.compress_type == zipfile.ZIP_STORED
        array = self._mapped(entry, dtype, shape, "'fortran_order': True" in header[0]) if is_mapped else None
        if array is None or not array.flags.aligned:
            with self._zip.open(entry) as stream:
                array = npy.read_array(stream, allow_pickle=False)
                stream.read(1)  # zipfile compares the checksum only at the end
        array = array if array.flags.c_contiguous else array.copy(order="C")
        if dtype.kind == "b" and np.any(array.view(np.uint8) > 1):
            raise ValueError(f"{entry.filename} holds bytes that are neither False nor True")
        if dtype.kind == "U":
            characters = np.dtype("u4").newbyteorder(dtype.byteorder)
            if np.any(array.reshape(-1).view(characters) > _LAST_CHARACTER):
                raise ValueError(f"{entry.filename} holds numbers that are not characters")
        return array

    def _mapped(self, entry: zipfile.ZipInfo, dtype: np.dtype[Any], shape: list[int], fortran: bool) -> np.ndarray:
        """Map the array in the file; zipfile has compared the header before it with the directory."""
        assert self._map is not None
        name, extra = _LOCAL.unpack_from(self._map, entry.header_offset)
        start = entry.header_offset + _LOCAL.size + name + extra
        end = start + entry.file_size
        if zlib.crc32(memoryview(self._map)[start:end]) != entry.CRC:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {entry.filename!r}")
        first = end - math.prod(shape) * dtype.itemsize
        return np.ndarray(tuple(shape), dtype, self._map, first, order="F" if fortran else "C")


def _is_written_by_us(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is stored or deflated; the header must be stored."""
    stored = entry.compress_type == zipfile.ZIP_STORED
    return stored or (entry.compress_type == zipfile.ZIP_DEFLATED and entry.filename != HEADER)


def _stored_size(entry: zipfile.ZipInfo) -> int:
    """Return the least number of bytes that an entry takes in the file."""
    stored = entry.compress_type == zipfile.ZIP_STORED
    return max(entry.file_size, entry.compress_size) if stored else entry.compress_size


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; refuse repeated keys."""
    distinct = dict(pairs)
    if len(distinct) < len(pairs):
        raise ValueError("a key of the header occurs twice")
    return distinct


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"the header holds {constant}")


def _finite_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the header holds {text}")
    return number
