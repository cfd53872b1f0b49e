"""How a command ends where input, an installed package or the user's patience is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer


@contextmanager
def told(command: str, remedy: str, stopped: str) -> Iterator[None]:
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
    >>> from dsna.datasets import TableError
    >>> from dsna.telling import told
    >>> try:
    ...     with contextlib.redirect_stderr(io.StringIO()) as said, told("benchmark", "pip install it", ""):
    ...         raise TableError("the table has no rows")
    ... except typer.Exit as end:
    ...     print(end.exit_code, said.getvalue().strip())
    2 dsna benchmark: the table has no rows
    """
    try:
        yield
    except ModuleNotFoundError as error:
        _stop(command, f"this needs {error.name}, which is not installed. Remedy: {remedy}")
    except ImportError as error:
        _stop(command, f"{error} Remedy: {remedy}")
    except ValueError as error:
        if not type(error).__module__.startswith("dsna."):
            raise
        _stop(command, str(error))
    except KeyboardInterrupt:
        typer.echo(f"\nStopped. {stopped}", err=True)
        raise typer.Exit(130) from None


def _stop(command: str, message: str) -> NoReturn:
    typer.echo(f"dsna {command}: {message}", err=True)
    raise typer.Exit(2)
