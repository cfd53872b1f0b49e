"""Modules that only some users need, imported when they are needed; and what other packages add."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any


def import_extra(name: str, extra: str, package: str = "dsna") -> Any:
    """Import the module ``name``, which the optional dependencies ``extra`` of a package install."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = name.split(".")[0]
        raise ModuleNotFoundError(
            f"This needs {missing}: run `pip install {package}[{extra}]`.", name=missing
        ) from error


def install_command(*extras: str, package: str = "dsna") -> str:
    """The command that installs a package with optional dependencies.

    Examples
    --------
    >>> install_command("cli", "report")
    "pip install 'dsna[cli,report]'"
    >>> install_command(package="dsna-vision")
    'pip install dsna-vision'
    """
    return f"pip install '{package}[{','.join(extras)}]'" if extras else f"pip install {package}"


@cache
def plugins(group: str) -> dict[str, EntryPoint]:
    """Entry points of other packages by their names, such as the group ``dsna.commands``.

    Examples
    --------
    >>> plugins("dsna.nothing")
    {}
    """
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda entry: entry.value)}
