"""Forms that a client sends, in memory: nothing is written to disk, and no name of a client's file is used as one."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import parse_qsl

from .._utils.optional import import_extra
from .limits import Refused

_ENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
_CUT = "the upload was cut off before its end. Remedy: send it again."


@dataclass
class Form:
    """What a form holds.

    Parameters
    ----------
    values : texts by the names of their fields; of a name that comes twice, the first.
    files : contents of files by the names of their fields.
    names : what the client calls these files.
    """

    values: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def read_form(content_type: str, body: bytes, most: int) -> Form:
    """The form in a body; one that is damaged, cut off or has more than ``most`` fields is refused.

    Examples
    --------
    >>> read_form("application/x-www-form-urlencoded", b"c0=1%2C5&c1=", 10).values
    {'c0': '1,5', 'c1': ''}
    """
    kind = Message()
    kind["content-type"] = content_type
    if kind.get_content_type() == _MULTIPART:
        return _multipart(kind.get_param("boundary"), body, most)
    if kind.get_content_type() != _ENCODED:
        raise Refused(f"a form comes as {_ENCODED} or {_MULTIPART}. Remedy: send one of these.", 415)
    try:
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=most)
    except ValueError as error:
        raise _too_many(most) from error
    form = Form()
    for name, value in pairs:
        form.values.setdefault(name, value)
    return form


def _too_many(most: int) -> Refused:
    return Refused(f"the form has over {most} fields. Remedy: use the one on the page.", 413)


class _Collector:
    """Takes what the parser finds, part by part."""

    def __init__(self, most: int) -> None:
        self.form, self.ended, self._most, self._parts = Form(), False, most, 0
        self.begin()

    def begin(self) -> None:
        """A part begins."""
        self._header = [bytearray(), bytearray()]
        self._data, self._about = bytearray(), Message()

    def header(self, place: int, data: bytes, start: int, end: int) -> None:
        """More of the name (0) or the value (1) of a header."""
        self._header[place] += data[start:end]

    def header_end(self) -> None:
        """A header of a part is complete."""
        name, value = (bytes(one).decode("utf-8", "replace") for one in self._header)
        if name.lower() == "content-disposition":
            self._about["content-disposition"] = value.replace("\r", " ").replace("\n", " ")
        self._header = [bytearray(), bytearray()]

    def data(self, data: bytes, start: int, end: int) -> None:
        """More of the content of a part."""
        self._data += data[start:end]

    def part_end(self) -> None:
        """A part is complete."""
        self._parts += 1
        if self._parts > self._most:
            raise _too_many(self._most)
        name, file = (self._about.get_param(one, None, "content-disposition") for one in ("name", "filename"))
        if isinstance(name, str) and file is not None:
            self.form.files.setdefault(name, bytes(self._data))
            self.form.names.setdefault(name, file if isinstance(file, str) else "")
        elif isinstance(name, str):
            self.form.values.setdefault(name, self._data.decode("utf-8", "replace"))

    def end(self) -> None:
        """The form is complete."""
        self.ended = True


def _multipart(boundary: Any, body: bytes, most: int) -> Form:
    parser = import_extra("python_multipart.multipart", "serve")
    into = _Collector(most)
    callbacks = {
        "on_part_begin": into.begin,
        "on_header_field": lambda *found: into.header(0, *found),
        "on_header_value": lambda *found: into.header(1, *found),
        "on_header_end": into.header_end,
        "on_part_data": into.data,
        "on_part_end": into.part_end,
        "on_end": into.end,
    }
    try:
        reader = parser.MultipartParser(str(boundary or "").encode("latin-1"), callbacks)
        reader.write(body)
    except (parser.FormParserError, UnicodeEncodeError) as error:
        raise Refused("the upload is damaged. Remedy: send it again.", 400) from error
    if not into.ended:
        raise Refused(_CUT, 400)
    return into.form


def cut_off() -> Refused:
    """What is said of a body that ends before its announced length."""
    return Refused(_CUT, 400)
