"""The engine of one machine: partitions one after another in this process, and shards in memory or in a folder."""

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
    """The engine of one machine, which calls submitted functions at once.

    Parameters
    ----------
    folder : folder or None
        Folder for the shards during a fit, which are read as mapped files; None: in memory.

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
        """Call a function, and write the shards that it returns to the folder."""
        return self._stored(call_with_shards(function, *arguments))

    def _stored(self, result: Any) -> Any:
        if isinstance(result, tuple) and type(result) is tuple:
            return tuple(self._stored(item) for item in result)
        if self.folder is None or not isinstance(result, Shard):
            return result
        path = self.folder / f"shard-{secrets.token_hex(8)}.bin"
        self._written.append(path)
        return store_shard(result, path)

    def gather(self, handles: Iterable[Any]) -> list[Any]:
        """Return results, which are their own handles."""
        return list(handles)

    def broadcast(self, value: Any) -> Any:
        """Return the value, which is its own handle."""
        return value

    def release(self, handles: Iterable[Any]) -> None:
        """Delete results that are no longer needed."""
        for result in handles:
            if isinstance(result, StoredShard):
                _remove(result.path)

    def abandon(self) -> None:
        """Delete all results after a failure."""
        for path in self._written:
            _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):  # some systems do not remove mapped files; they are removed with the folder
        path.unlink()


def call_with_shards(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with shards in place of their files."""
    return function(*(open_shard(argument) for argument in arguments))


def on_worker(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function on a worker, after Arrow has released the memory that it used to read files."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    return call_with_shards(function, *arguments)


def concatenated(*batches: np.ndarray) -> np.ndarray:
    """Concatenate batches of answers."""
    return np.concatenate(batches)


def open_shard(argument: Any) -> Any:
    """Open a stored shard; return any other argument unchanged."""
    return argument.open() if isinstance(argument, StoredShard) else argument
