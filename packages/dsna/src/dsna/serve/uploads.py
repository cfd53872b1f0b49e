"""Parsing of submitted forms in memory: nothing is written to disk, and clients' file names are not used as paths."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from .limits import Refused

_URLENCODED = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
_DISPOSITION = "content-disposition"
_CUT_OFF = "the upload was cut off. Remedy: send it again."
_MAX_BOUNDARY_LENGTH = 70  # characters, by RFC 2046
_MAX_TYPE_LENGTH = 300  # characters of a Content-Type header
_MAX_HEADERS_LENGTH = 4_000  # bytes of the headers of a section
#: One parameter of a header: name, then quoted or unquoted value.
_PARAMETER = re.compile(r';[ \t]*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))')


@dataclass
class Form:
    """Content of a submitted form.

    Parameters
    ----------
    values : values by field name; the first one if a name is repeated.
    files : contents of files by field name.
    names : the client's names of these files.
    """

    values: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def read_form(content_type: str, body: bytes, max_fields: int) -> Form:
    r"""Parse the form in a body; raise Refused if it is damaged, cut off or has over ``max_fields`` fields.

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
        return _multipart(_parameters(content_type[:_MAX_TYPE_LENGTH]).get("boundary", ""), body, max_fields)
    if kind != _URLENCODED:
        raise Refused(f"a form must be {_URLENCODED} or {_MULTIPART}. Remedy: send one of these.", 415)
    try:
        pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=max_fields)
    except ValueError as error:
        raise _too_many(max_fields) from error
    form = Form()
    for name, value in pairs:
        form.values.setdefault(name, value)
    return form


def check_urlencoded(content_type: str) -> None:
    """Raise Refused unless the content type is urlencoded.

    Examples
    --------
    >>> check_urlencoded("application/x-www-form-urlencoded; charset=utf-8")
    """
    if _media_type(content_type) != _URLENCODED:
        raise Refused(f"this address accepts {_URLENCODED} only. Remedy: send the form in this format.", 415)


def cut_off() -> Refused:
    """Error for a body that ends before its announced length."""
    return Refused(_CUT_OFF, 400)


def _media_type(content_type: str) -> str:
    return content_type[:_MAX_TYPE_LENGTH].partition(";")[0].strip().lower()


def _parameters(header: str) -> dict[str, str]:
    """Parameters of a header by lower-case name; the first one if a name is repeated."""
    parameters: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(header):
        parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or bare)
    return parameters


def _too_many(max_fields: int) -> Refused:
    return Refused(f"the form has over {max_fields} fields. Remedy: use the one on the page.", 413)


def _damaged() -> Refused:
    return Refused("the upload is damaged. Remedy: send it again.", 400)


def _multipart(boundary: str, body: bytes, max_fields: int) -> Form:
    """Parse the sections between boundaries, in time linear in the size of the body."""
    if not boundary.isascii() or not 0 < len(boundary) <= _MAX_BOUNDARY_LENGTH:
        raise _damaged()
    delimiter = b"\r\n--" + boundary.encode()
    _, *sections = (b"\r\n" + body).split(delimiter, max_fields + 2)
    form = Form()
    for number, section in enumerate(sections):
        if section.startswith(b"--"):
            return form
        if number >= max_fields:
            raise _too_many(max_fields)
        if number == len(sections) - 1:
            break
        _add_part(form, section)
    raise cut_off()


def _add_part(form: Form, section: bytes) -> None:
    """Add a section: its headers, an empty line, its content."""
    end = section.find(b"\r\n\r\n", 0, _MAX_HEADERS_LENGTH)
    if end < 0 or not section.startswith(b"\r\n"):
        raise _damaged()
    head, content = section[:end].decode("utf-8", "replace"), section[end + 4 :]
    headers = [line.partition(":") for line in head.split("\r\n")]
    disposition = next((_parameters(text) for name, _, text in headers if name.strip().lower() == _DISPOSITION), {})
    if "name" not in disposition:
        raise _damaged()
    if "filename" in disposition:
        form.files.setdefault(disposition["name"], content)
        form.names.setdefault(disposition["name"], disposition["filename"])
    else:
        form.values.setdefault(disposition["name"], content.decode("utf-8", "replace"))
