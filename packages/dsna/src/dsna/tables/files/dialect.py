"""How a text file is written: encoding, separator, lines above the header. Each guess can be overruled."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass, field
from typing import IO

from ..._utils.errors import DSNAError, setting
from .source import TableError, all_problems

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WESTERN = "cp1252"
_FOREIGN_SHARE = 0.3  # of letters that are not ASCII, from which on an 8-bit encoding cannot be told
_LEAST_LETTERS = 5
_SAMPLE = 1 << 20  # bytes whose lines show the separator
_SAMPLE_ROWS = 200
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Parameters
    ----------
    encoding : str
    separator : str
    skip : int
        Lines above the header: titles that the user leaves out, and one that only names the separator, as spreadsheets
        write it ("sep=;").
    notes : list of str
        What was guessed.
    """

    encoding: str
    separator: str
    skip: int = 0
    notes: list[str] = field(default_factory=list)


def find_dialect(head: bytes, name: str, encoding: str | None, separator: str | None, skip_lines: int = 0) -> Dialect:
    r"""How a file is written, from its first bytes, as far as it is not given.

    Parameters
    ----------
    head : bytes
        The beginning of the file, a MB or so.
    name : str
        Of the file, for messages; one with ``.tsv`` is read with tabs.
    encoding, separator : str or None
        As the user says.
    skip_lines : int
        Lines above the header that are left out.

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
        left_out = "line 1 is" if skip_lines == 1 else f"lines 1 to {skip_lines} are"
        notes.append(f"{left_out} left out ({setting('skip-lines', skip_lines)})")
    lines = io.StringIO(head.decode(encoding, errors="ignore"), newline="")
    for _ in range(skip_lines):
        lines.readline()
    skip, begin = skip_lines, lines.tell()
    first = lines.readline().strip().strip('"')
    if first.lower().startswith("sep=") and len(first) == 5:
        separator, skip = separator or first[4], skip + 1
        notes.append(f"line {skip} names the separator, {first[4]!r}")
    else:
        lines.seek(begin)
    text = lines.read()
    if separator is None:
        separator = _find_separator(text, name)
        if separator != ",":
            notes.append(f"cells are separated by {SEPARATORS[separator]} ({setting('separator', separator)})")
    elif len(separator) != 1 or separator in '"\r\n':
        raise DSNAError(f"{setting('separator', separator)} must be one character, such as ',' ';' or a tab.")
    return Dialect(encoding, separator, skip, notes)


def check_encoding(encoding: str) -> None:
    """Refuse names of encodings that Python does not know."""
    try:
        known = codecs.lookup(encoding)._is_text_encoding
    except LookupError:
        known = False
    if not known:
        raise DSNAError(
            f"{setting('encoding', encoding)} is unknown: use one such as utf-8, cp1252, latin-1 or utf-16."
        )


def find_encoding(content: bytes, name: str) -> tuple[str, str]:
    """Encoding of a text, and what to note of it; one that cannot be told is refused.

    A mark at the beginning decides, then whether the bytes are UTF-8. Of the encodings of one byte a letter, only that
    of Western Europe is taken for granted, and only where most letters are ASCII.
    """
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return encoding, f"the text begins with a byte-order mark: {encoding.removesuffix('-sig').upper()}"
    if b"\0" in content:
        wide = _without_mark(content)
        if wide:
            return wide, f"every second byte is zero: {wide.upper()} ({setting('encoding', wide)})"
        line = content[: content.index(b"\0")].count(b"\n") + 1
        raise all_problems(name, [f"line {line} holds NUL bytes, so this is no text: save it as CSV in UTF-8"])
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content)  # which may end within a letter
        return "utf-8", ""
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        byte = f"line {line} holds the byte 0x{content[error.start]:02x}, which is not UTF-8"
    foreign = sum(content.count(bytes([code])) for code in range(0x80, 0x100))
    letters = foreign + sum(
        content.count(bytes([code])) for code in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    )
    try:
        content.decode(_WESTERN)
        western = foreign <= max(_FOREIGN_SHARE * letters, 1)
    except UnicodeDecodeError:
        western = False
    if not western:
        raise all_problems(
            name, [f"{byte}, and the encoding cannot be told: save it as UTF-8, or name it with encoding (--encoding)"]
        )
    return _WESTERN, f"{byte}: read as Windows-1252, the encoding of Western Europe ({setting('encoding', _WESTERN)})"


def _without_mark(content: bytes) -> str:
    """UTF-16 without a mark: zeros at nearly every second byte, and only there."""
    sample = content[: _SAMPLE - _SAMPLE % 2]
    zeros = (sample[0::2].count(0), sample[1::2].count(0))
    half = len(sample) // 2
    if half and max(zeros) > 0.8 * half and min(zeros) == 0:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return ""


def check_content(stream: IO[bytes], name: str, encoding: str | None) -> tuple[bytes, str, str]:
    """Read a text file to its end: its first bytes, its encoding, and what to note of that.

    Bytes that are no letters, NULs among them, are refused with their line.
    """
    head = stream.read(_SAMPLE)
    if encoding is not None:
        check_encoding(encoding)
        found, note = encoding, ""
    else:
        found, note = find_encoding(head, name)
    decoder = codecs.getincrementaldecoder(found)()
    line = 1
    block = head
    try:
        while block:
            text = decoder.decode(block)
            if "\0" in text:
                line += text[: text.index("\0")].count("\n")
                raise all_problems(name, [f"line {line} holds NUL bytes, so this is no text: save it as CSV in UTF-8"])
            line += text.count("\n")
            block = stream.read(_BLOCK)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        if encoding is None and found == "utf-8":
            # The first letters were ASCII: look again at a part that has others.
            start = max(error.start - _SAMPLE // 2, 0)
            found, note = find_encoding(block[start:], name)
            return _rest(stream, name, head, found, note)
        raise undecodable(name, error, found, line) from error
    return head, found, note


def _rest(stream: IO[bytes], name: str, head: bytes, encoding: str, note: str) -> tuple[bytes, str, str]:
    """The remaining bytes in an encoding that was found late; the lines of its note are not those of the file."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := stream.read(_BLOCK):
            decoder.decode(block)
    except UnicodeDecodeError as error:
        raise undecodable(name, error, encoding, 0) from error
    return head, encoding, note[note.index(": ") + 2 :]


def undecodable(name: str, error: UnicodeDecodeError, encoding: str, line: int) -> TableError:
    """The error for bytes that an encoding does not have; ``line`` is that of the block's beginning, 0 if unknown."""
    byte = f"the byte 0x{error.object[error.start]:02x}, which is not {encoding.upper()}"
    where = f"line {line + error.object[: error.start].count(10)} holds {byte}" if line else f"the file holds {byte}"
    return all_problems(name, [f"{where}: save it as UTF-8, or name its encoding (--encoding)"])


def _find_separator(text: str, name: str) -> str:
    """The separator under which the first lines have the same number of fields, more than one.

    Where several do, it is not the comma, which also stands in numbers.
    """
    lines = text.splitlines(keepends=True)
    if len(lines) > 1 and not text.endswith(("\n", "\r")):
        lines = lines[:-1]  # cut off
    sample = "".join(lines[: 2 * _SAMPLE_ROWS])
    tabbed = name.lower().removesuffix(".gz").removesuffix(".zst").endswith((".tsv", ".tab"))
    best, most = "\t" if tabbed else ",", (False, 0.5, tabbed, 1)
    for sign in SEPARATORS:
        widths = _widths(sample, sign)
        usual = max(set(widths), key=lambda width, widths=widths: (widths.count(width), width), default=0)  # type: ignore[misc]
        if usual > 1:
            score = (widths[0] == usual, widths.count(usual) / len(widths), sign != ",", usual)
            if score > most:
                best, most = sign, score
    return best


def _widths(sample: str, sign: str) -> list[int]:
    """Fields of the first rows, under a separator."""
    widths = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=sign):
            if row:
                widths.append(len(row))
            if len(widths) == _SAMPLE_ROWS:
                break
    except csv.Error:  # told when the file is read
        pass
    return widths
