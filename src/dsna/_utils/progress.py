"""Progress of long work on a terminal: a bar where tqdm is installed, a line now and then where it is not."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
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


def _with_lines(items: Iterable[_Item], total: int, unit: str) -> Iterator[_Item]:
    said = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        if time.monotonic() - said >= _SECONDS:
            said = time.monotonic()
            print(f"dsna: {done} of {total} {unit}", file=sys.stderr, flush=True)
