"""Forms that a client sends, in memory: nothing is written to disk, and no name of a client's file is used as one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from .limits import Refused

_URLENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
_DISPOSITION = "content-disposition"
_CUT = "the upload was cut off before its end. Remedy: send it again."
_LONGEST_BOUNDARY = 70  # letters, by RFC 2046
_LONGEST_TYPE = 300  # letters of a header Content-Type
_LONGEST_HEAD = 4_000  # bytes of the headers of a part
#: One parameter of a header: name, then the value in quotes or without.
_PARAMETER = re.compile(r';[ \t]*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))')


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
    r"""The form in a body; one that is damaged, cut off or has more than ``most`` fields is refused.

    Examples
    --------
    >>> read_form("application/x-www-form-urlencoded", b"c0=1%2C5&c1=", 10).values
    {'c0': '1,5', 'c1': ''}
    >>> body = b'--x\r\nContent-Disposition: form-data; name="c0"\r\n\r\n1,5\r\n--x--\r\n'
    >>> read_form("multipart/form-data; boundary=x", body, 10).values
    {'c0': '1,5'}
    """
    kind = _media_type(content_type)
    if kind == _MULTIPART:
        return _multipart(_parameters(content_type[:_LONGEST_TYPE]).get("boundary", ""), body, most)
    if kind != _URLENCODED:
        raise Refused(f"a form comes as {_URLENCODED} or {_MULTIPART}. Remedy: send one of these.", 415)
    try:
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=most)
    except ValueError as error:
        raise _too_many(most) from error
    form = Form()
    for name, value in pairs:
        form.values.setdefault(name, value)
    return form


def check_urlencoded(content_type: str) -> None:
    """Refuse any other form than a plain one, before its body is read.

    Examples
    --------
    >>> check_urlencoded("application/x-www-form-urlencoded; charset=utf-8")
    """
    if _media_type(content_type) != _URLENCODED:
        raise Refused(f"this address takes {_URLENCODED} alone. Remedy: send the form so.", 415)


def cut_off() -> Refused:
    """What is said of a body that ends before its announced length."""
    return Refused(_CUT, 400)


def _media_type(content_type: str) -> str:
    return content_type[:_LONGEST_TYPE].partition(";")[0].strip().lower()


def _parameters(header: str) -> dict[str, str]:
    """The parameters of a header, by their names in small letters; of a name that comes twice, the first."""
    parameters: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(header):
        parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or bare)
    return parameters


def _too_many(most: int) -> Refused:
    return Refused(f"the form has over {most} fields. Remedy: use the one on the page.", 413)


def _damaged() -> Refused:
    return Refused("the upload is damaged. Remedy: send it again.", 400)


def _multipart(boundary: str, body: bytes, most: int) -> Form:
    """The parts between boundaries; the time this takes grows with the bytes of the body, whatever they are."""
    if not boundary.isascii() or not 0 < len(boundary) <= _LONGEST_BOUNDARY:
        raise _damaged()
    delimiter = b"\r\n--" + boundary.encode()
    _, *parts = (b"\r\n" + body).split(delimiter, most + 2)
    form = Form()
    for number, part in enumerate(parts):
        if part.startswith(b"--"):
            return form
        if number >= most:
            raise _too_many(most)
        if number == len(parts) - 1:
            break
        _add_part(form, part)
    raise cut_off()


def _add_part(form: Form, part: bytes) -> None:
    """Add one part: its headers, an empty line, its content."""
    end = part.find(b"\r\n\r\n", 0, _LONGEST_HEAD)
    if end < 0 or not part.startswith(b"\r\n"):
        raise _damaged()
    head, content = part[:end].decode("utf-8", "replace"), part[end + 4 :]
    headers = [line.partition(":") for line in head.split("\r\n")]
    about = next((_parameters(text) for name, _, text in headers if name.strip().lower() == _DISPOSITION), {})
    if "name" not in about:
        raise _damaged()
    if "filename" in about:
        form.files.setdefault(about["name"], content)
        form.names.setdefault(about["name"], about["filename"])
    else:
        form.values.setdefault(about["name"], content.decode("utf-8", "replace"))
