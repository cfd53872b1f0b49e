"""Files given by users: checked before they are opened, and written atomically."""

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
_ENTRY_NAME = 30  # offset of the name of the first entry of a zip file
_LONGEST_NAME = 255  # bytes, on the file systems in use
_OTHER_NAME = "choose another name or folder"
_REASONS = {
    errno.ENOENT: ("there is no such file or folder", "check the name and the folder"),
    errno.ELOOP: ("a link that points to itself", "remove the link, or name the file itself"),
    errno.ENAMETOOLONG: ("the name is too long", f"use fewer than {_LONGEST_NAME} characters"),
    errno.ENOTDIR: ("a file stands where this path needs a folder", _OTHER_NAME),
    errno.EISDIR: ("a folder, not a file", "name a file"),
    errno.EEXIST: ("a file stands where a folder is needed", _OTHER_NAME),
    errno.EACCES: ("may not be read or written", "change its permissions, or choose another folder"),
    errno.EPERM: ("may not be read or written", "change its permissions, or choose another folder"),
    errno.EROFS: ("on a disk that cannot be written to", "choose a folder on another disk"),
    errno.ENOSPC: ("the disk is full", "make room, or choose a folder on another disk"),
    errno.EDQUOT: ("your share of the disk is full", "make room, or choose a folder on another disk"),
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
    """A file or folder that is required but missing.

    Examples
    --------
    >>> from dsna import DSNAError
    >>> issubclass(MissingFileError, DSNAError) and issubclass(MissingFileError, FileNotFoundError)
    True
    """


class FolderNamedError(FileError, IsADirectoryError):
    """A folder given in place of a file to write.

    Examples
    --------
    >>> from dsna import DSNAError
    >>> issubclass(FolderNamedError, DSNAError) and issubclass(FolderNamedError, IsADirectoryError)
    True
    """


def explained(error: OSError) -> str:
    """Explain an error of the operating system in a sentence with a remedy.

    Examples
    --------
    >>> import errno
    >>> explained(OSError(errno.ENOSPC, "No space left on device", "maps/a.png"))
    'maps/a.png: the disk is full. Remedy: make room, or choose a folder on another disk.'
    """
    if error.errno is None:  # raised by Python code, with a message of its own
        return str(error)
    prefix = "" if error.filename is None else f"{_shortened(error.filename)}: "
    return prefix + "{}. Remedy: {}.".format(*_reason(error))


def _reason(error: OSError) -> Problem:
    system_message = (error.strerror or str(error)).lower()
    return _REASONS.get(error.errno or 0, (system_message, "check the name, the folder and the disk"))


def _shortened(path: str | bytes | os.PathLike[str] | int) -> str:
    """Shorten a path for a message."""
    name = str(path) if isinstance(path, int) else os.fsdecode(path)
    return name if len(name) <= 200 else f"{name[:90]}...{name[-90:]}"


def _mode_of(path: str | os.PathLike[str]) -> tuple[int | None, Problem | None]:
    """Return the mode of a path, None if it does not exist, and the problem if the mode cannot be read."""
    try:
        return os.stat(path).st_mode, None
    except FileNotFoundError:
        return None, None
    except OSError as error:
        return None, _reason(error)
    except ValueError:
        return None, ("not a name that a file or folder can have", _OTHER_NAME)


def reading_problem(path: str | os.PathLike[str]) -> Problem | None:
    """Return problem and remedy unless ``path`` is a readable regular file; it is not opened.

    Examples
    --------
    >>> reading_problem("nowhere.csv")
    ('there is no such file', 'check the name and the folder')
    """
    mode, problem = _mode_of(path)
    if problem:
        return problem
    if mode is None:
        if os.path.islink(path):
            return "a link to a file that is not there", "repair the link, or name the file itself"
        return "there is no such file", "check the name and the folder"
    if stat.S_ISDIR(mode):
        return "a folder, not a file", "name the files in it"
    if not stat.S_ISREG(mode):
        return "a device or a pipe, not a file", "copy its content into a file, and name that"
    if not os.access(path, os.R_OK):
        return "may not be read", "change its permissions"
    return None


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins like a model file of ``dsna.save``.

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
    """Raise a FileError unless ``path`` is a readable regular file.

    Examples
    --------
    >>> check_readable("nowhere.csv")
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: nowhere.csv: there is no such file. Remedy: check the name and the folder.
    """
    _raise_problems([(path, reading_problem(path))])


def check_outputs(
    *, files: Iterable[str | os.PathLike[str] | None] = (), folders: Iterable[str | os.PathLike[str] | None] = ()
) -> None:
    """Raise a FileError, before any work is done, if results cannot be written to these paths.

    A file is created in their folders and removed again, because permissions do not show everything that a
    file system refuses.

    Parameters
    ----------
    files : iterable of paths or None
        Files to write or to append to, in existing folders.
    folders : iterable of paths or None
        Folders to write into, which exist or can be created.

    Examples
    --------
    >>> check_outputs(files=["."])
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: .: a folder, but a file is needed. Remedy: name a file in it.
    """
    checked_paths = [(path, _writing_problem(Path(path))) for path in files if path is not None]
    checked_paths += [(path, _folder_problem(Path(path))) for path in folders if path is not None]
    _raise_problems(checked_paths)


def check_results_folder(folder: str | os.PathLike[str], *names: str) -> None:
    """Raise a FileError if result files of these names cannot be written into a folder.

    Examples
    --------
    >>> check_results_folder(os.__file__, "results.csv")
    Traceback (most recent call last):
    dsna._utils.atomic.FileError: ...os.py: a file stands where a folder is needed. Remedy: name a folder.
    """
    files = [os.path.join(folder, name) for name in names]
    check_outputs(folders=[folder], files=[file for file in files if os.path.lexists(file)])


def _raise_problems(checked_paths: Iterable[tuple[str | os.PathLike[str], Problem | None]]) -> None:
    messages = [
        f"{_shortened(path)}: {problem[0]}. Remedy: {problem[1]}." for path, problem in checked_paths if problem
    ]
    if messages:
        raise FileError("\n".join(messages))


def _writing_problem(path: Path) -> Problem | None:
    """Return problem and remedy if no file can be written at ``path``."""
    mode, problem = _mode_of(path)
    if problem:
        return problem
    if mode is None:
        folder = Path(os.path.realpath(path)).parent
        if not folder.exists():
            return f"there is no folder {_shortened(folder)}", "make it first, or choose another"
        return _name_problem(path) or _folder_problem(folder)
    if stat.S_ISDIR(mode):
        return "a folder, but a file is needed", "name a file in it"
    if not stat.S_ISREG(mode):
        return "a device or a pipe, not a file", "name a regular file"
    if not os.access(path, os.W_OK):
        return "a file that may not be written to", "change its permissions, or choose another name"
    return _folder_problem(Path(os.path.realpath(path)).parent)


def _folder_problem(path: Path) -> Problem | None:
    """Return problem and remedy if no files can be written into a folder, which may not exist yet."""
    for ancestor in (path, *path.parents):
        mode, problem = _mode_of(ancestor)
        if problem:
            return problem
        if mode is None:
            if os.path.islink(ancestor):
                return "a link to a folder that is not there", "repair the link, or choose another folder"
            continue
        if not stat.S_ISDIR(mode):
            file_type = "a file" if stat.S_ISREG(mode) else "a device or a pipe"
            return f"{file_type} stands where a folder is needed", "name a folder"
        if not os.access(ancestor, os.W_OK | os.X_OK):
            return "in a folder that may not be written to", "change its permissions, or choose another"
        problem_of_files = _probe_problem(ancestor)
        if problem_of_files:
            return problem_of_files
        break
    return _name_problem(path)


def _probe_problem(folder: Path) -> Problem | None:
    """Return problem and remedy if a folder takes no new file despite its permissions; one is created and removed."""
    temporary_path = _temporary_path(folder)
    try:
        os.close(os.open(temporary_path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.unlink(temporary_path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            return _reason(error)
        return "in a folder that accepts no files", "choose another folder"
    return None


def _temporary_path(folder: str | os.PathLike[str]) -> str:
    """Return a new path in a folder for an incomplete file."""
    return os.path.join(folder, f".dsna-{secrets.token_hex(8)}.part")


def _name_problem(path: Path) -> Problem | None:
    """Return problem and remedy if a name in a path is too long; ``stat`` reports only those below existing folders."""
    return _REASONS[errno.ENAMETOOLONG] if any(len(os.fsencode(name)) > _LONGEST_NAME for name in path.parts) else None


def make_folder(path: Path) -> None:
    """Create a folder and its parents unless they exist.

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
    """Open a stream to a file beside ``path``, which is moved there when it is complete and on disk.

    Readers see the old file or the new one, never an incomplete one; a failure leaves the old file unchanged.  The new
    file has the permissions of the old one, or else those of the umask; a link stays a link.

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
    temporary_path = _temporary_path(os.path.dirname(target))
    try:
        # Created with open, not tempfile, because of the permissions.
        with open(temporary_path, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if os.path.exists(target):
            os.chmod(temporary_path, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary_path, target)
    except BaseException as error:
        if os.path.exists(temporary_path):
            os.unlink(temporary_path)
        # An error without a number has its own message, which a file name would hide.
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, temporary_path):
            error.filename = os.fspath(path)  # the name that the user knows
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write bytes as a :func:`whole_file`.

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
