"""How a command speaks, and how it ends where input, a file, an installed package or patience is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from .._utils.atomic import explained


def say(text: str) -> None:
    """Print to stdout; names of files that are no text are shown as well as can be.

    Examples
    --------
    >>> say("Map: edges.png")
    Map: edges.png
    """
    typer.echo(text.encode(errors="surrogateescape").decode(errors="replace"))


@contextmanager
def exit_on_user_error(command: str, remedy: str, stopped: str) -> Iterator[None]:
    """End a command with a message on stderr and an exit code, not with a traceback, where it is not to blame.

    Parameters
    ----------
    command : str
        Its name.
    remedy : str
        What to do where a package is missing.
    stopped : str
        What to know after the command was interrupted.

    Examples
    --------
    >>> import contextlib, io, typer
    >>> from dsna.tables import TableError
    >>> from dsna.cli.errors import told
    >>> try:
    ...     with contextlib.redirect_stderr(io.StringIO()) as said, told("benchmark", "pip install it", ""):
    ...         raise TableError("the table has no rows")
    ... except typer.Exit as end:
    ...     print(end.exit_code, said.getvalue().strip())
    2 dsna benchmark: the table has no rows
    """
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\nStopped. {stopped}", err=True)
        raise typer.Exit(130) from None
    except BrokenPipeError:  # whoever read the output has left; typer ends quietly
        raise
    except Exception as error:
        said = _users_trouble(error, remedy)
        if said is None:
            raise
        _stop(command, said)


def _users_trouble(error: Exception, remedy: str) -> str | None:
    """What to tell of an error that a user can cause and mend; None where it is a bug."""
    if isinstance(error, ModuleNotFoundError):
        return f"this needs {error.name}, which is not installed. Remedy: {remedy}"
    if isinstance(error, ImportError):
        return f"{error} Remedy: {remedy}"
    if isinstance(error, OSError):
        return explained(error)
    if isinstance(error, MemoryError):
        return "not enough memory. Remedy: fewer --jobs, or fewer rows or smaller photos."
    if isinstance(error, ValueError) and type(error).__module__.startswith("dsna."):
        return str(error)
    return None


def _stop(command: str, message: str) -> NoReturn:
    typer.echo(f"dsna {command}: {message}", err=True)
    raise typer.Exit(2)
