"""Progress of long work on a terminal: a bar where tqdm is installed, a line now and then where it is not."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

_Item = TypeVar("_Item")
_SECONDS = 5.0  # between two lines


def tracked(items: Iterable[_Item], total: int, unit: str) -> Iterator[_Item]:
    """Pass items through, and show on stderr how many of them there have been; nothing if it is not a terminal.

    Parameters
    ----------
    items : iterable
    total : int
        How many there will be.
    unit : str
        What an item is, in the plural, such as "trees"; nothing is shown if it is empty.

    Examples
    --------
    >>> list(tracked("abc", 3, "letters"))
    ['a', 'b', 'c']
    """
    if not unit or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield from _with_lines(items, total, unit)
        return
    yield from tqdm(items, total=total, desc=unit, file=sys.stderr, leave=False)


_PARTS = ContextVar("whether parts of a single item are shown", default=False)


@contextmanager
def parts_shown(shown: bool) -> Iterator[None]:
    """A context in which :func:`tracked_parts` shows progress, if ``shown``: where one item takes minutes."""
    token = _PARTS.set(shown)
    try:
        yield
    finally:
        _PARTS.reset(token)


def tracked_parts(parts: Iterable[_Item], total: int, unit: str) -> Iterator[_Item]:
    """As :func:`tracked`, of the parts of an item that is usually quick; shown within :func:`parts_shown` alone.

    Examples
    --------
    >>> list(tracked_parts("abc", 3, "letters"))
    ['a', 'b', 'c']
    """
    return tracked(parts, total, unit if _PARTS.get() and total > 1 else "")


def _with_lines(items: Iterable[_Item], total: int, unit: str) -> Iterator[_Item]:
    said = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        if time.monotonic() - said >= _SECONDS:
            said = time.monotonic()
            print(f"dsna: {done} of {total} {unit}", file=sys.stderr, flush=True)
