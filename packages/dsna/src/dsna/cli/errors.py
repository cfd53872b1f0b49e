"""Output of the commands; errors that a user can fix become one sentence and an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from .._utils.atomic import explained
from .._utils.errors import DSNAError, on_command_line
from .interrupts import exit_code


def say(text: str) -> None:
    """Print to stdout; undecodable bytes in file names are replaced.

    Examples
    --------
    >>> say("Map: edges.png")
    Map: edges.png
    """
    typer.echo(text.encode(errors="surrogateescape").decode(errors="replace"))


@contextmanager
def exit_on_user_error(command: str, remedy: str, stopped: str, program: str = "dsna") -> Iterator[None]:
    """End a command with one sentence on stderr instead of a traceback if the user can fix the error.

    Error messages inside name options as on the command line.

    The exit code is 2 for a :class:`dsna.DSNAError`, an ``OSError``, a missing package or too little memory, and 128
    plus the signal's number for a signal, such as 130 for Ctrl-C. Any other exception is a bug and propagates.

    Parameters
    ----------
    command : str
        Name of the command.
    remedy : str
        What to do if a package is missing.
    stopped : str
        Message after an interruption, unless the KeyboardInterrupt has its own.
    program : str, default="dsna"
        Name of the program.

    Examples
    --------
    >>> import contextlib, io, typer
    >>> from dsna.tables import TableError
    >>> from dsna.cli.errors import exit_on_user_error
    >>> try:
    ...     with contextlib.redirect_stderr(io.StringIO()) as stderr, exit_on_user_error("train", "", ""):
    ...         raise TableError("the table has no rows")
    ... except typer.Exit as end:
    ...     print(end.exit_code, stderr.getvalue().strip())
    2 dsna train: the table has no rows
    """
    try:
        with on_command_line():
            yield
    except KeyboardInterrupt as end:
        typer.echo(f"\nStopped. {str(end) or stopped}", err=True)
        raise typer.Exit(exit_code()) from None
    except BrokenPipeError:  # the reader of the output has closed it; typer exits silently
        raise
    except Exception as error:
        message = _message(error, remedy)
        if message is None:
            raise
        typer.echo(f"{program} {command}: {message}", err=True)
        raise typer.Exit(2) from None


def _message(error: Exception, remedy: str) -> str | None:
    """Message for an error that the user can fix; None for a bug."""
    if isinstance(error, ImportError):
        if (error.name or "").partition(".")[0] == "dsna":  # a missing module of this package is a bug
            return None
        not_found = isinstance(error, ModuleNotFoundError)
        problem = f"this needs {error.name}, which is not installed." if not_found else str(error)
        return f"{problem} Remedy: {remedy}"
    if isinstance(error, OSError):
        return explained(error)
    if isinstance(error, MemoryError):
        return "not enough memory. Remedy: fewer --jobs, or fewer rows or smaller photos."
    if isinstance(error, DSNAError):
        return str(error)
    return None
