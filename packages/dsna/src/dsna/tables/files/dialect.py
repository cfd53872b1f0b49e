"""Dialects of text files: encoding, separator and lines above the header."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from dataclasses import dataclass, field
from typing import IO

from ..._utils.errors import DSNAError, setting
from .source import TableError, all_problems

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WESTERN = "cp1252"
_MAX_FOREIGN_SHARE = 0.3  # of letters that are not ASCII, for an 8-bit encoding to be guessed
_SAMPLE = 1 << 20  # bytes from which encoding and separator are guessed
_SAMPLE_ROWS = 200
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Dialect:
    """Dialect of a text file.

    Parameters
    ----------
    encoding : str
    separator : str
    skip : int
        Number of lines above the header: titles that the user skips, and a line of spreadsheets that names the
        separator ("sep=;").
    notes : list of str
        A line for each guess.
    """

    encoding: str
    separator: str
    skip: int = 0
    notes: list[str] = field(default_factory=list)


def find_dialect(head: bytes, name: str, encoding: str | None, separator: str | None, skip_lines: int = 0) -> Dialect:
    r"""Guess the dialect of a file from its first bytes.

    Parameters
    ----------
    head : bytes
        The beginning of the file, about 1 MB.
    name : str
        Name of the file, for messages; the default separator of ``.tsv`` files is a tab.
    encoding, separator : str or None
        Set by the user; None means to guess.
    skip_lines : int
        Number of lines above the header that are left out.

    Examples
    --------
    >>> find_dialect(b"a;b\n1;2\n", "t.csv", None, None).notes
    ["cells are separated by semicolons (separator=';')"]
    """
    notes = []
    if encoding is None:
        encoding, note = find_encoding(head, name)
        notes += [note] if note else []
    else:
        check_encoding(encoding)
    if skip_lines:
        lines_are = "line 1 is" if skip_lines == 1 else f"lines 1 to {skip_lines} are"
        notes.append(f"{lines_are} left out ({setting('skip-lines', skip_lines)})")
    lines = io.StringIO(head.decode(encoding, errors="ignore"), newline="")
    for _ in range(skip_lines):
        lines.readline()
    skip, start = skip_lines, lines.tell()
    first_line = lines.readline().strip().strip('"')
    if first_line.lower().startswith("sep=") and len(first_line) == 5:
        separator, skip = separator or first_line[4], skip + 1
        notes.append(f"line {skip} names the separator, {first_line[4]!r}")
    else:
        lines.seek(start)
    text = lines.read()
    if separator is None:
        separator = _find_separator(text, name)
        if separator != ",":
            notes.append(f"cells are separated by {SEPARATORS[separator]} ({setting('separator', separator)})")
    elif len(separator) != 1 or separator in '"\r\n':
        raise DSNAError(f"{setting('separator', separator)} must be one character, such as ',' ';' or a tab.")
    return Dialect(encoding, separator, skip, notes)


def check_encoding(encoding: str) -> None:
    """Refuse unknown names of text encodings."""
    try:
        is_text_encoding = codecs.lookup(encoding)._is_text_encoding
    except LookupError:
        is_text_encoding = False
    if not is_text_encoding:
        raise DSNAError(
            f"{setting('encoding', encoding)} is unknown: use one such as utf-8, cp1252, latin-1 or utf-16."
        )


def find_encoding(content: bytes, name: str) -> tuple[str, str]:
    """Guess the encoding of a text, and return it with a note; refuse a text whose encoding cannot be guessed.

    A byte-order mark decides, otherwise UTF-8 is tried. The only 8-bit encoding that is guessed is that of Western
    Europe, and only if most letters are ASCII.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            return encoding, f"the text begins with a byte-order mark: {encoding.removesuffix('-sig').upper()}"
    if b"\0" in content:
        encoding = _find_utf16(content)
        if encoding:
            return encoding, f"every second byte is zero: {encoding.upper()} ({setting('encoding', encoding)})"
        line = content[: content.index(b"\0")].count(b"\n") + 1
        raise all_problems(name, [f"line {line} holds NUL bytes, so this is not a text file: save it as CSV in UTF-8"])
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content)  # incremental, as the sample may end within a letter
        return "utf-8", ""
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = f"line {line} holds the byte 0x{content[error.start]:02x}, which is not UTF-8"
    n_foreign = sum(content.count(bytes([code])) for code in range(0x80, 0x100))
    n_letters = n_foreign + sum(
        content.count(bytes([code])) for code in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    )
    try:
        content.decode(_WESTERN)
        is_western = n_foreign <= max(_MAX_FOREIGN_SHARE * n_letters, 1)
    except UnicodeDecodeError:
        is_western = False
    if not is_western:
        raise all_problems(
            name,
            [f"{byte}, and the encoding cannot be guessed: save it as UTF-8, or name it with encoding (--encoding)"],
        )
    return _WESTERN, f"{byte}: read as Windows-1252, the encoding of Western Europe ({setting('encoding', _WESTERN)})"


def _find_utf16(content: bytes) -> str:
    """Recognise UTF-16 without a byte-order mark: nearly every second byte is zero, and no other."""
    sample = content[: _SAMPLE - _SAMPLE % 2]
    zero_counts = (sample[0::2].count(0), sample[1::2].count(0))
    n_letters = len(sample) // 2
    if n_letters and max(zero_counts) > 0.8 * n_letters and min(zero_counts) == 0:
        return "utf-16-be" if zero_counts[0] > zero_counts[1] else "utf-16-le"
    return ""


def check_content(stream: IO[bytes], name: str, encoding: str | None) -> tuple[bytes, str, str]:
    """Check the encoding of a whole text file, and return its first bytes, its encoding and a note.

    Undecodable bytes and NUL bytes are refused with their line.
    """
    head = stream.read(_SAMPLE)
    if encoding is not None:
        check_encoding(encoding)
        text_encoding, note = encoding, ""
    else:
        text_encoding, note = find_encoding(head, name)
    decoder = codecs.getincrementaldecoder(text_encoding)()
    line = 1
    block = head
    try:
        while block:
            text = decoder.decode(block)
            if "\0" in text:
                line += text[: text.index("\0")].count("\n")
                raise all_problems(
                    name, [f"line {line} holds NUL bytes, so this is not a text file: save it as CSV in UTF-8"]
                )
            line += text.count("\n")
            block = stream.read(_BLOCK)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        if encoding is None and text_encoding == "utf-8":
            # The beginning was ASCII: guess again from the bytes around the first other letter.
            start = max(error.start - _SAMPLE // 2, 0)
            text_encoding, note = find_encoding(block[start:], name)
            return _check_remainder(stream, name, head, text_encoding, note)
        raise undecodable(name, error, text_encoding, line) from error
    return head, text_encoding, note


def _check_remainder(stream: IO[bytes], name: str, head: bytes, encoding: str, note: str) -> tuple[bytes, str, str]:
    """Check the remaining bytes, and remove the line from the note, as it is not that of the file."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := stream.read(_BLOCK):
            decoder.decode(block)
    except UnicodeDecodeError as error:
        raise undecodable(name, error, encoding, 0) from error
    return head, encoding, note[note.index(": ") + 2 :]


def undecodable(name: str, error: UnicodeDecodeError, encoding: str, line: int) -> TableError:
    """Return the error for undecodable bytes; ``line`` is the first line of the block, 0 if unknown."""
    byte = f"the byte 0x{error.object[error.start]:02x}, which is not {encoding.upper()}"
    location = f"line {line + error.object[: error.start].count(10)}" if line else "the file"
    return all_problems(name, [f"{location} holds {byte}: save it as UTF-8, or name its encoding (--encoding)"])


def _find_separator(text: str, name: str) -> str:
    """Guess the separator with which the first lines have the same number of fields, more than one.

    Other separators are preferred to the comma, which also occurs in numbers.
    """
    lines = text.splitlines(keepends=True)
    if len(lines) > 1 and not text.endswith(("\n", "\r")):
        lines = lines[:-1]  # may be incomplete
    sample = "".join(lines[: 2 * _SAMPLE_ROWS])
    is_tsv = name.lower().removesuffix(".gz").removesuffix(".zst").endswith((".tsv", ".tab"))
    best_separator, best_score = "\t" if is_tsv else ",", (False, 0.5, is_tsv, 1)
    for separator in SEPARATORS:
        widths = _widths(sample, separator)
        width, count = max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        if width > 1:
            score = (widths[0] == width, count / len(widths), separator != ",", width)
            if score > best_score:
                best_separator, best_score = separator, score
    return best_separator


def _widths(sample: str, separator: str) -> list[int]:
    """Count the fields of the first rows."""
    widths = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
            if row:
                widths.append(len(row))
            if len(widths) == _SAMPLE_ROWS:
                break
    except csv.Error:  # reported when the file is read
        pass
    return widths
