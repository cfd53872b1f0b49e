"""Atomic writing of files, and messages for files that cannot be read or written."""

from .._utils.atomic import (
    FileError,
    check_outputs,
    check_readable,
    check_results_folder,
    explained,
    make_folder,
    reading_problem,
    write_atomically,
)

__all__ = [
    "FileError",
    "check_outputs",
    "check_readable",
    "check_results_folder",
    "explained",
    "make_folder",
    "reading_problem",
    "write_atomically",
]
