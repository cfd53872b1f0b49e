"""Optional dependencies, imported on demand, and plugins of other packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any


def import_extra(name: str, extra: str, package: str = "dsna") -> Any:
    """Import the module ``name``, which the extra ``extra`` of a package installs."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        missing = name.split(".")[0]
        raise ModuleNotFoundError(
            f"This needs {missing}: run `pip install {package}[{extra}]`.", name=missing
        ) from error


def install_command(*extras: str, package: str = "dsna") -> str:
    """Return the command that installs a package with optional dependencies.

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
    """Return the entry points of a group, such as ``dsna.commands``, by name.

    Examples
    --------
    >>> plugins("dsna.nothing")
    {}
    """
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=lambda entry: entry.value)}
