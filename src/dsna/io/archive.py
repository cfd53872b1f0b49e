"""Reading model files: a zip file of ``header.json`` and arrays.

A file may come from anybody. Nothing is unpacked, no entry is read before its size is known to fit the file, and
whatever numpy or json would accept but ``dsna.save`` never writes is refused.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import zipfile
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from .._utils.errors import DSNAError

HEADER = "header.json"
ARRAY_KINDS = "biufcmMUS"
AGAIN = "Copy it again from its source, or save the model again."
_ARRAY_HEADER = re.compile(
    rf"\{{'descr': '([<>|][{ARRAY_KINDS}]\d+(?:\[\w+\])?)', 'fortran_order': (?:True|False), 'shape': "
    r"\(([\d, ]*)\), \} *\n"
)
_LONGEST_AXIS = 2**40
_LAST_CHARACTER = 0x10FFFF
# References to arrays may add up to this many times the file: a small file must not keep the reader busy for long.
_REFERRED, _SLACK = 4, 2**20


class ModelFileError(DSNAError):
    """A file that ``dsna.load`` does not read: foreign, truncated, damaged, forged or written by a newer dsna."""


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading; a folder, device or pipe is refused unopened."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFileError(f"{os.fspath(path)}: not a regular file but a folder, device or pipe. Check the path.")
    return open(path, "rb")


def entry_name(number: int) -> str:
    """Name of the entry that holds an array."""
    return f"arrays/{number}.npy"


class Archive:
    """The entries of a model file.

    Parameters
    ----------
    stream : the file, open for reading and not empty.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(stream)
        self._size = os.fstat(stream.fileno()).st_size
        self._arrays: dict[int, np.ndarray] = {}
        self._referred = 0
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if HEADER not in names:
            raise ModelFileError(f"a zip file but no dsna model: it has no {HEADER}. Check the path.")
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ModelFileError("repacked with compression. Use the file as saved, or repack it by zip -0.")
        declared = sum(max(entry.file_size, entry.compress_size) for entry in entries)
        if declared > self._size or min(entry.header_offset for entry in entries) < 0:
            raise ModelFileError(f"{declared} bytes of content in a file of {self._size}: damaged. {AGAIN}")
        if len(set(names)) < len(names):
            raise ModelFileError(f"two entries have one name: damaged. {AGAIN}")

    def header(self) -> Any:
        """The header; repeated keys and numbers that are not finite are refused."""
        return json.loads(
            self._zip.read(HEADER), object_pairs_hook=_distinct, parse_constant=_refused, parse_float=_finite
        )

    def array(self, number: int) -> np.ndarray:
        """An array in C order; asked for again, it is the same one."""
        if type(number) is not int:
            raise ValueError(f"{number!r} is no number of an array")
        if number not in self._arrays:
            self._arrays[number] = self._read(self._zip.getinfo(entry_name(number)))
        self._referred += self._arrays[number].nbytes
        if self._referred > _REFERRED * self._size + _SLACK:
            raise ValueError("arrays are referred to again and again")
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
            raise ValueError(f"{entry.filename} is not as large as its shape {shape} of {dtype} asks")
        with self._zip.open(entry) as stream:
            array = npy.read_array(stream, allow_pickle=False)
            stream.read(1)  # the checksum is compared at the end only
        array = array if array.flags.c_contiguous else array.copy(order="C")
        if dtype.kind == "b" and np.any(array.view(np.uint8) > 1):
            raise ValueError(f"{entry.filename} holds bytes that are neither False nor True")
        if dtype.kind == "U":
            characters = np.dtype("u4").newbyteorder(dtype.byteorder)
            if np.any(array.reshape(-1).view(characters) > _LAST_CHARACTER):
                raise ValueError(f"{entry.filename} holds numbers that are no characters")
        return array


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key of the header occurs twice")
    return found


def _refused(constant: str) -> Any:
    raise ValueError(f"the header holds {constant}")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the header holds {text}")
    return number
