"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

import typer

LARGEST_SEED = 2**32 - 1  # that numpy and scikit-learn take
RESUMED = "What is finished is in {}; the same command goes on from there."


def folder(text: str) -> Any:
    """An option that takes a folder."""
    return typer.Option(metavar="DIR", help=text)


def flag(name: str, text: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=text)


class Scales(StrEnum):
    """Sizes at which a photo is processed."""

    single = "single"
    two = "two"
    multi = "multi"


Names = Annotated[list[str] | None, typer.Option(help="Methods: RF,CS-RF+DSNA or repeated; all if not named.")]
Processes = Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")]
Redo = Annotated[bool, flag("--redo", "Run again what --out holds already.")]


def names(values: Iterable[str] | None) -> tuple[str, ...]:
    """Names from options that were repeated, or that hold several with commas between.

    Examples
    --------
    >>> names(["RF, CS-RF", "kNN"])
    ('RF', 'CS-RF', 'kNN')
    """
    return tuple(name.strip() for value in values or () for name in value.split(",") if name.strip())
