"""Modules that only some users need, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(name: str, extra: str) -> Any:
    """Import the module ``name``, which the optional dependencies ``extra`` install."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.split(".")[0]
        raise ModuleNotFoundError(f"This needs {package}: run `pip install dsna[{extra}]`.", name=package) from error


def install_command(*extras: str) -> str:
    """The command that installs this package with optional dependencies.

    Examples
    --------
    >>> install_command("cli", "report")
    "pip install 'dsna[cli,report]'"
    """
    return f"pip install 'dsna[{','.join(extras)}]'"
