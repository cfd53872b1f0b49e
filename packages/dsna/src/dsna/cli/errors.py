"""Messages of the commands; errors that a user can mend become one sentence and an exit code."""

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
    """End a command with one sentence on stderr, not with a traceback, where its user can mend what is wrong.

    Messages within name options as they are typed.

    Exit code 2 for a :class:`dsna.DSNAError`, an ``OSError``, a missing package or too little memory; 128 and its
    number for a signal that stops the command, 130 for Ctrl-C.
    Any other exception is a bug, and passes through.

    Parameters
    ----------
    command : str
        Its name.
    remedy : str
        What to do where a package is missing.
    stopped : str
        What to know after the command was interrupted, unless the KeyboardInterrupt says it.
    program : str, default="dsna"
        Name of the program whose command it is.

    Examples
    --------
    >>> import contextlib, io, typer
    >>> from dsna.tables import TableError
    >>> from dsna.cli.errors import exit_on_user_error
    >>> try:
    ...     with contextlib.redirect_stderr(io.StringIO()) as said, exit_on_user_error("train", "", ""):
    ...         raise TableError("the table has no rows")
    ... except typer.Exit as end:
    ...     print(end.exit_code, said.getvalue().strip())
    2 dsna train: the table has no rows
    """
    try:
        with on_command_line():
            yield
    except KeyboardInterrupt as end:
        typer.echo(f"\nStopped. {str(end) or stopped}", err=True)
        raise typer.Exit(exit_code()) from None
    except BrokenPipeError:  # whoever read the output has left; typer ends quietly
        raise
    except Exception as error:
        message = _message(error, remedy)
        if message is None:
            raise
        typer.echo(f"{program} {command}: {message}", err=True)
        raise typer.Exit(2) from None


def _message(error: Exception, remedy: str) -> str | None:
    """What to say of an error that the user can mend; None of a bug."""
    if isinstance(error, ImportError):
        if (error.name or "").partition(".")[0] == "dsna":  # a module of ours that is not there is a bug
            return None
        needed = isinstance(error, ModuleNotFoundError)
        problem = f"this needs {error.name}, which is not installed." if needed else str(error)
        return f"{problem} Remedy: {remedy}"
    if isinstance(error, OSError):
        return explained(error)
    if isinstance(error, MemoryError):
        return "not enough memory. Remedy: fewer --jobs, or fewer rows or smaller photos."
    if isinstance(error, DSNAError):
        return str(error)
    return None
