"""Files that users name: checked before they are opened, written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import DSNAError

MODEL_HEADER = "header.json"  # the first entry of a model file
_ENTRY_NAME = 30  # where its name stands
_LONGEST_NAME = 255  # bytes, on the file systems in use
_OTHER_NAME = "choose another name or folder"
_REASONS = {
    errno.ENOENT: ("there is no such file or folder", "check the name and the folder"),
    errno.ELOOP: ("a link that leads back to itself", "remove the link, or name the file itself"),
    errno.ENAMETOOLONG: ("the name is too long", f"use fewer than {_LONGEST_NAME} characters"),
    errno.ENOTDIR: ("a file stands where this path needs a folder", _OTHER_NAME),
    errno.EISDIR: ("a folder, not a file", "name a file"),
    errno.EEXIST: ("a file stands where a folder is needed", _OTHER_NAME),
    errno.EACCES: ("may not be read or written", "change its permissions, or choose another place"),
    errno.EPERM: ("may not be read or written", "change its permissions, or choose another place"),
    errno.EROFS: ("on a disk that cannot be written to", "choose a place on another disk"),
    errno.ENOSPC: ("the disk is full", "make room, or choose a place on another disk"),
    errno.EDQUOT: ("your share of the disk is full", "make room, or choose a place on another disk"),
}
Problem = tuple[str, str]  # problem and remedy


class FileError(DSNAError):
    """A file or folder that cannot be read or written; the message names it, the problem and the remedy.

    Examples
    --------
    >>> from dsna._utils.atomic import FileError, check_readable
    >>> try:
    ...     check_readable(".")
    ... except FileError as error:
    ...     print(error)
    .: a folder, not a file. Remedy: name the files in it.
    """


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder that has to be there and is not.

    Examples
    --------
    >>> from dsna import DSNAError
    >>> issubclass(MissingFileError, DSNAError) and issubclass(MissingFileError, FileNotFoundError)
    True
    """


class FolderNamedError(FileError, IsADirectoryError):
    """A folder where a file is to be written.

    Examples
    --------
    >>> from dsna import DSNAError
    >>> issubclass(FolderNamedError, DSNAError) and issubclass(FolderNamedError, IsADirectoryError)
    True
    """


def explained(error: OSError) -> str:
    """Why the operating system refused, as a sentence with a remedy.

    Examples
    --------
    >>> import errno
    >>> explained(OSError(errno.ENOSPC, "No space left on device", "maps/a.png"))
    'maps/a.png: the disk is full. Remedy: make room, or choose a place on another disk.'
    """
    if error.errno is None:  # raised by Python code, with a message of its own
        return str(error)
    place = "" if error.filename is None else f"{_shown(error.filename)}: "
    return place + "{}. Remedy: {}.".format(*_reason(error))


def _reason(error: OSError) -> Problem:
    said = (error.strerror or str(error)).lower()
    return _REASONS.get(error.errno or 0, (said, "check the name, the folder and the disk"))


def _shown(path: str | bytes | os.PathLike[str] | int) -> str:
    """A name short enough for a message."""
    name = str(path) if isinstance(path, int) else os.fsdecode(path)
    return name if len(name) <= 200 else f"{name[:90]}...{name[-90:]}"


def _look_up(path: str | os.PathLike[str]) -> tuple[int | None, Problem | None]:
    """Mode of what is at a path, None where nothing is, and what is wrong where that cannot be found out."""
    try:
        return os.stat(path).st_mode, None
    except FileNotFoundError:
        return None, None
    except OSError as error:
        return None, _reason(error)
    except ValueError:
        return None, ("not a name that a file or folder can have", _OTHER_NAME)


def reading_problem(path: str | os.PathLike[str]) -> Problem | None:
    """What is wrong, and what to do, where ``path`` is no regular file that may be read; it is not opened.

    Examples
    --------
    >>> reading_problem("nowhere.csv")
    ('there is no such file', 'check the name and the folder')
    """
    mode, problem = _look_up(path)
    if problem:
        return problem
    if mode is None:
        if os.path.islink(path):
            return "a link to a file that is not there", "mend the link, or name the file itself"
        return "there is no such file", "check the name and the folder"
    if stat.S_ISDIR(mode):
        return "a folder, not a file", "name the files in it"
    if not stat.S_ISREG(mode):
        return "a device or a pipe, not a file", "copy its content into a file, and name that"
    if not os.access(path, os.R_OK):
        return "may not be read", "change its permissions"
    return None


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as those that ``dsna.save`` writes.

    Examples
    --------
    >>> is_model_file(os.__file__)
    False
    """
    if reading_problem(path):
        return False
    with open(path, "rb") as stream:
        return starts_model(stream.read(64))


def starts_model(start: bytes) -> bool:
    """Whether these are the first bytes of a model file: a zip file whose first entry is the header."""
    name = MODEL_HEADER.encode()
    return start.startswith(b"PK\x03\x04") and start[_ENTRY_NAME : _ENTRY_NAME + len(name)] == name


def check_readable(path: str | os.PathLike[str]) -> None:
    """Refuse what is no regular file that may be read.

    Examples
    --------
    >>> check_readable("nowhere.csv")
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: nowhere.csv: there is no such file. Remedy: check the name and the folder.
    """
    _refuse([(path, reading_problem(path))])


def check_outputs(
    *, files: Iterable[str | os.PathLike[str] | None] = (), folders: Iterable[str | os.PathLike[str] | None] = ()
) -> None:
    """Refuse, before any work is done, places that results cannot be written to.

    A file is made in their folders and removed again: permissions do not tell of all that a file system refuses.

    Parameters
    ----------
    files : iterable of paths or None
        Files to write or to append to, in folders that are there.
    folders : iterable of paths or None
        Folders to write into, which are there or can be made.

    Examples
    --------
    >>> check_outputs(files=["."])
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: .: a folder, and a file is to be written. Remedy: name a file in it.
    """
    found = [(path, _writing_problem(Path(path))) for path in files if path is not None]
    found += [(path, _folder_problem(Path(path))) for path in folders if path is not None]
    _refuse(found)


def check_results_folder(folder: str | os.PathLike[str], *names: str) -> None:
    """Refuse a folder that results cannot be written into, or that holds something else under the names of its files.

    Examples
    --------
    >>> check_results_folder(os.__file__, "results.csv")
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: ...os.py: a file stands where a folder is needed. Remedy: name a folder.
    """
    files = [os.path.join(folder, name) for name in names]
    check_outputs(folders=[folder], files=[file for file in files if os.path.lexists(file)])


def _refuse(found: Iterable[tuple[str | os.PathLike[str], Problem | None]]) -> None:
    said = [f"{_shown(path)}: {problem[0]}. Remedy: {problem[1]}." for path, problem in found if problem]
    if said:
        raise FileError("\n".join(said))


def _writing_problem(path: Path) -> Problem | None:
    """Why no file can be written here."""
    mode, problem = _look_up(path)
    if problem:
        return problem
    if mode is None:
        folder = Path(os.path.realpath(path)).parent
        if not folder.exists():
            return f"there is no folder {_shown(folder)}", "make it first, or choose another"
        return _name_problem(path) or _folder_problem(folder)
    if stat.S_ISDIR(mode):
        return "a folder, and a file is to be written", "name a file in it"
    if not stat.S_ISREG(mode):
        return "a device or a pipe, not a file", "name a file that is to be written"
    if not os.access(path, os.W_OK):
        return "a file that may not be written to", "change its permissions, or choose another name"
    return _folder_problem(Path(os.path.realpath(path)).parent)


def _folder_problem(path: Path) -> Problem | None:
    """Why no files can be written into this folder, which may not be there yet."""
    for place in (path, *path.parents):
        mode, problem = _look_up(place)
        if problem:
            return problem
        if mode is None:
            if os.path.islink(place):
                return "a link to a folder that is not there", "mend the link, or choose another folder"
            continue
        if not stat.S_ISDIR(mode):
            what = "a file" if stat.S_ISREG(mode) else "a device or a pipe"
            return f"{what} stands where a folder is needed", "name a folder"
        if not os.access(place, os.W_OK | os.X_OK):
            return "in a folder that may not be written to", "change its permissions, or choose another"
        refused = _refused_file(place)
        if refused:
            return refused
        break
    return _name_problem(path)


def _refused_file(folder: Path) -> Problem | None:
    """Why a folder takes no new file, though its permissions say so; one is made and removed."""
    part = _part_of(folder)
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.unlink(part)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            return _reason(error)
        return "in a folder that takes no files", "choose another folder"
    return None


def _part_of(folder: str | os.PathLike[str]) -> str:
    """A new name in a folder, of a file that is not complete."""
    return os.path.join(folder, f".dsna-{secrets.token_hex(8)}.part")


def _name_problem(path: Path) -> Problem | None:
    """Names are looked up from the left: one that is too long is found only after those before it."""
    return _REASONS[errno.ENAMETOOLONG] if any(len(os.fsencode(part)) > _LONGEST_NAME for part in path.parts) else None


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where it is not there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     make_folder(Path(file.name) / "age")
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: ...age: a file stands where this path needs a folder. Remedy: ...
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        error.filename = str(path)
        raise FileError(explained(error)) from error


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream to a file beside ``path``, which is moved there when it is complete and on disk.

    Readers see the old file or the new one, never a part; a failure leaves the old one as it was.  The new file has the
    permissions of the old one, else those that the umask grants; a link stays a link.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "a.txt") as stream:
    ...         _ = stream.write(b"whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['a.txt']
    """
    target = os.path.realpath(path)
    part = _part_of(os.path.dirname(target))
    try:
        # Created by open, not tempfile, for the permissions.
        with open(part, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if os.path.exists(target):
            os.chmod(part, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(part, target)
    except BaseException as error:
        if os.path.exists(part):
            os.unlink(part)
        # One without a number has a message of its own, which a name would hide.
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, part):
            error.filename = os.fspath(path)  # the name that the user knows
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write these bytes as a :func:`whole_file`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a.txt", b"whole")
    ...     (Path(folder) / "a.txt").read_bytes()
    b'whole'
    """
    with whole_file(path) as stream:
        stream.write(content)
