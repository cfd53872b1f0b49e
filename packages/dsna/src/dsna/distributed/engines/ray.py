"""The engine of Ray: partitions and shards stay in its object store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._utils.errors import DSNAError
from ..._utils.optional import import_extra
from ..blocks import Roles
from ..tables import OpenedTable, column_name, target_name
from .local import concatenated, on_worker

_RETRIES = 3
_BLOCK = 32_000_000  # approximate bytes of a block of rows; a worker needs about four times as much memory
_GONE = (
    "Ray went away, or lost workers faster than it could repeat their work ({}). Start it again, with more memory for "
    "each worker, and repeat the call."
)


class RayEngine:
    """The engine of a running Ray.

    Ray runs the tasks of a lost worker again and rebuilds its objects, so results do not depend on lost workers.
    """

    name = "Ray"

    def __init__(self) -> None:
        self._run: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_run": None}

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a task; return an object reference."""
        with _ray_errors() as ray:
            if self._run is None:
                self._run = ray.remote(max_retries=_RETRIES)(on_worker)
            return self._run.remote(function, *arguments)

    def gather(self, handles: Iterable[Any]) -> list[Any]:
        """Return the objects of references."""
        with _ray_errors() as ray:
            return list(ray.get(list(handles)))

    def broadcast(self, value: Any) -> Any:
        """Return a reference to a value that many tasks use."""
        with _ray_errors() as ray:
            return ray.put(value)

    def release(self, handles: Iterable[Any]) -> None:
        """Do nothing: Ray deletes objects without references."""

    def abandon(self) -> None:
        """Do nothing: Ray deletes objects without references."""


@contextmanager
def _ray_errors() -> Iterator[Any]:
    """Yield Ray; report a Ray that is gone in one sentence, and raise our own errors of workers again."""
    import ray

    if not ray.is_initialized():  # otherwise a call would start it again, without its objects
        raise DSNAError(_GONE.format("it is not running"))
    try:
        yield ray
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, DSNAError):
            raise DSNAError(str(error.cause)) from None
        raise
    except (ray.exceptions.RayError, ConnectionError) as error:
        raise DSNAError(_GONE.format(error)) from error
    except SystemExit as error:  # raised by ray.get if another thread shuts Ray down
        if error.code:
            raise
        raise DSNAError(_GONE.format("it was shut down")) from error


def open_ray(X: Any, y: Any, weight: Any, groups: Any, key: Any) -> OpenedTable:
    """Open a ray Dataset; target, weights and groups are columns of it."""
    import_extra("ray", "ray")
    if not hasattr(X, "materialize"):
        raise DSNAError(f"X is a {type(X).__name__}; it must be a ray Dataset.")
    roles = Roles(
        target_name(y),
        column_name(weight, "sample_weight"),
        column_name(groups, "groups"),
        column_name(key, "key"),
    )
    engine = RayEngine()
    with _ray_errors():
        partitions = _in_small_blocks(X).to_numpy_refs()
    return OpenedTable(engine, partitions, roles, lambda batches: _collected(engine, batches))


def _in_small_blocks(dataset: Any) -> Any:
    """Materialize a Dataset in small blocks, in the same order, to limit the memory of workers.

    Ray Data reads blocks of up to 128 MB, and a table in memory is often one block.
    """
    context, largest = dataset.context, dataset.context.target_max_block_size
    context.target_max_block_size = min(_BLOCK, largest or _BLOCK)
    try:
        materialized = dataset.materialize()
    finally:
        context.target_max_block_size = largest
    n_blocks = -(-(materialized.size_bytes() or 0) // _BLOCK)
    if n_blocks <= 2 * materialized.num_blocks():
        return materialized
    return materialized.repartition(n_blocks).materialize()


def _collected(engine: RayEngine, batches: list[list[Any]]) -> Any:
    """Collect the batches of all partitions in a ray Dataset with a column ``data``."""
    import ray.data

    answers = [engine.submit(concatenated, *partition_batches) for partition_batches in batches]
    engine.gather([engine.submit(len, answer) for answer in answers])
    with _ray_errors():
        return ray.data.from_numpy_refs(answers)
