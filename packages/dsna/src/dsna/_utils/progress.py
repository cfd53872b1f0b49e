"""Progress of long work on a terminal: a bar if tqdm is installed, otherwise a line from time to time."""

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
    """Yield the items and show their number so far on stderr; show nothing if stderr is not a terminal.

    Parameters
    ----------
    items : iterable
    total : int
        Number of items.
    unit : str
        Name of the items in the plural, such as "trees"; nothing is shown if it is empty.

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
def parts_shown(enabled: bool) -> Iterator[None]:
    """A context in which :func:`tracked_parts` shows progress, if ``enabled``: for an item that takes minutes."""
    token = _PARTS.set(enabled)
    try:
        yield
    finally:
        _PARTS.reset(token)


def tracked_parts(items: Iterable[_Item], total: int, unit: str) -> Iterator[_Item]:
    """Like :func:`tracked`, for the parts of an item that is usually quick; shown only within :func:`parts_shown`.

    Examples
    --------
    >>> list(tracked_parts("abc", 3, "letters"))
    ['a', 'b', 'c']
    """
    return tracked(items, total, unit if _PARTS.get() and total > 1 else "")


def _with_lines(items: Iterable[_Item], total: int, unit: str) -> Iterator[_Item]:
    last_line_time = time.monotonic()
    for n_done, item in enumerate(items, start=1):
        yield item
        if time.monotonic() - last_line_time >= _SECONDS:
            last_line_time = time.monotonic()
            print(f"dsna: {n_done} of {total} {unit}", file=sys.stderr, flush=True)
