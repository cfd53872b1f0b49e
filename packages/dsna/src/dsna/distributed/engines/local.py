"""Work in this process, one partition after another; shards on disk where a folder is given."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays_file import StoredShard, store_shard
from ..shards import Shard


class LocalEngine:
    """The engine of one machine: what is submitted is done at once.

    Parameters
    ----------
    folder : folder or None
        Where shards are kept while a model is made, to be read as mapped files; None: in memory.

    Examples
    --------
    >>> LocalEngine().submit(max, 1, 2)
    2
    """

    name = "one machine"

    def __init__(self, folder: Path | None = None):
        self.folder = folder
        self._written: list[Path] = []

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; shards that it returns are put into the folder."""
        return self._kept(with_opened(function, *arguments))

    def _kept(self, result: Any) -> Any:
        if isinstance(result, tuple) and type(result) is tuple:
            return tuple(self._kept(one) for one in result)
        if self.folder is None or not isinstance(result, Shard):
            return result
        path = self.folder / f"shard-{secrets.token_hex(8)}.bin"
        self._written.append(path)
        return store_shard(result, path)

    def gather(self, handles: Iterable[Any]) -> list[Any]:
        """Results."""
        return list(handles)

    def broadcast(self, value: Any) -> Any:
        """A value that all tasks use."""
        return value

    def release(self, handles: Iterable[Any]) -> None:
        """Forget results that are not needed any more."""
        for one in handles:
            if isinstance(one, StoredShard):
                _remove(one.path)

    def abandon(self) -> None:
        """Forget all results: the work that they were made for has failed."""
        for path in self._written:
            _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):  # where a mapped file cannot be removed, the folder is, later
        path.unlink()


def with_opened(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with shards in place of the files that hold them."""
    return function(*(opened(one) for one in arguments))


def on_worker(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process that reads files, too: Arrow first gives back the memory that it did this with."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    return with_opened(function, *arguments)


def joined(*parts: np.ndarray) -> np.ndarray:
    """Answers one after another."""
    return np.concatenate(parts)


def opened(argument: Any) -> Any:
    """A shard in place of the file that holds it; anything else as it is."""
    return argument.open() if isinstance(argument, StoredShard) else argument
