"""Options that several commands share, and parsing of their values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer

LARGEST_SEED = 2**32 - 1  # accepted by numpy and scikit-learn


def folder(text: str) -> Any:
    """An option that takes a folder."""
    return typer.Option(metavar="DIR", help=text)


def flag(name: str, text: str) -> Any:
    """An option without a value."""
    return typer.Option(name, help=text)


def names(values: Iterable[str] | None) -> tuple[str, ...]:
    """Names from an option that is repeated or holds several names separated by commas.

    Examples
    --------
    >>> names(["RF, CS-RF", "kNN"])
    ('RF', 'CS-RF', 'kNN')
    """
    return tuple(name.strip() for value in values or () for name in value.split(",") if name.strip())
