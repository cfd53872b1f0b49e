"""Work in tasks of Ray: partitions and shards stay in its object store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._utils.errors import DSNAError
from ..._utils.optional import import_extra
from ..blocks import Roles
from ..tables import Opened, column_name, target_name
from .local import joined, on_worker

_RETRIES = 3
_BLOCK = 32_000_000  # bytes of a block of rows, about; a worker needs some four times as many for it
_GONE = (
    "Ray went away, or lost workers faster than it could repeat their work ({}). Start it again, with more memory for "
    "each worker, and repeat the call."
)


class RayEngine:
    """The engine of a Ray that is running.

    Tasks of a lost worker are run again, and objects that it held are made again, so results do not depend on it.
    """

    name = "Ray"

    def __init__(self) -> None:
        self._run: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_run": None}

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """An object reference."""
        with _ray_errors() as ray:
            if self._run is None:
                self._run = ray.remote(max_retries=_RETRIES)(on_worker)
            return self._run.remote(function, *arguments)

    def gather(self, handles: Iterable[Any]) -> list[Any]:
        """Objects of references."""
        with _ray_errors() as ray:
            return list(ray.get(list(handles)))

    def broadcast(self, value: Any) -> Any:
        """A reference to a value that many tasks use."""
        with _ray_errors() as ray:
            return ray.put(value)

    def release(self, handles: Iterable[Any]) -> None:
        """Ray forgets what nobody refers to."""

    def abandon(self) -> None:
        """Ray forgets what nobody refers to."""


@contextmanager
def _ray_errors() -> Iterator[Any]:
    """Ray, if it is running; says in one sentence that it is gone, and what our own code said on a worker."""
    import ray

    if not ray.is_initialized():  # else it would be started anew, without what it held
        raise DSNAError(_GONE.format("it is not running"))
    try:
        yield ray
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, DSNAError):
            raise DSNAError(str(error.cause)) from None
        raise
    except (ray.exceptions.RayError, ConnectionError) as error:
        raise DSNAError(_GONE.format(error)) from error
    except SystemExit as error:  # what ray.get raises where another thread shuts Ray down
        if error.code:
            raise
        raise DSNAError(_GONE.format("it was shut down")) from error


def open_ray(X: Any, y: Any, weight: Any, groups: Any, key: Any) -> Opened:
    """A ray Dataset; target, weights and groups are columns of it."""
    import_extra("ray", "ray")
    if not hasattr(X, "materialize"):
        raise DSNAError(f"X is a {type(X).__name__}: a ray Dataset is needed.")
    roles = Roles(
        target_name(y),
        column_name(weight, "sample_weight"),
        column_name(groups, "groups"),
        column_name(key, "key"),
    )
    engine = RayEngine()
    with _ray_errors():
        parts = _in_small_blocks(X).to_numpy_refs()
    return Opened(engine, parts, roles, lambda batches: _collected(engine, batches))


def _in_small_blocks(dataset: Any) -> Any:
    """A materialized Dataset, in the same order, of blocks that are read or else cut so small that workers stay small.

    Ray Data reads blocks of up to 128 MB, and a table that is in memory already is often one block.
    """
    context, largest = dataset.context, dataset.context.target_max_block_size
    context.target_max_block_size = min(_BLOCK, largest or _BLOCK)
    try:
        read = dataset.materialize()
    finally:
        context.target_max_block_size = largest
    n = -(-(read.size_bytes() or 0) // _BLOCK)
    return read if n <= 2 * read.num_blocks() else read.repartition(n).materialize()


def _collected(engine: RayEngine, batches: list[list[Any]]) -> Any:
    """A ray Dataset of what the batches of all partitions hold, in a column ``data``."""
    import ray.data

    parts = [engine.submit(joined, *one) for one in batches]
    engine.gather([engine.submit(_rows, one) for one in parts])
    with _ray_errors():
        return ray.data.from_numpy_refs(parts)


def _rows(array: Any) -> int:
    return len(array)
