"""The engine of a Dask cluster: partitions and shards stay in the memory of its workers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from ..._utils.errors import DSNAError
from ..._utils.optional import import_extra
from ..blocks import Roles
from ..tables import OpenedTable, column_name, target_name
from .local import concatenated, on_worker

WITHOUT_WORKERS = 300.0  # seconds that a cluster may have no worker
_POLL_SECONDS = 10.0  # between two looks at the workers
_ROLE = "dsna {}"  # names of columns that are added to a frame
_MAX_ANSWERS = 16  # answers that a client keeps
_DIFFERENT_CHUNKS = "X, y, sample_weight and groups have different numbers of chunks or partitions: rechunk them alike."


class DaskEngine:
    """The engine of a Dask client.

    Other workers rebuild the results of a lost worker, so results do not depend on lost workers.

    Parameters
    ----------
    client : distributed.Client
    """

    name = "Dask"

    def __init__(self, client: Any):
        self.client = client

    def __getstate__(self) -> dict[str, Any]:
        return {"client": None}  # workers do not need it

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a task; return a future."""
        with cluster_errors(self.client):
            return self.client.submit(on_worker, function, *arguments, pure=False)

    def gather(self, handles: Iterable[Any]) -> list[Any]:
        """Return the results of futures."""
        futures = list(handles)
        with cluster_errors(self.client):
            self._wait(futures)
            return list(self.client.gather(futures))

    def _wait(self, futures: list[Any]) -> None:
        """Wait for futures without limit while there are workers, and for ``WITHOUT_WORKERS`` seconds without any."""
        wait: Any = import_extra("distributed", "dask").wait
        no_worker_since: float | None = None
        while futures:
            try:
                wait(futures, timeout=_POLL_SECONDS)
                return
            except TimeoutError:
                if self.client.scheduler_info()["workers"]:
                    no_worker_since = None
                    continue
            no_worker_since = time.monotonic() if no_worker_since is None else no_worker_since
            if time.monotonic() - no_worker_since > WITHOUT_WORKERS:
                raise TimeoutError(f"it has had no worker for {WITHOUT_WORKERS} s")

    def broadcast(self, value: Any) -> Any:
        """Return a future of a value that workers copy from each other."""
        # A scattered value could not be rebuilt after the loss of the last worker that has it.
        with cluster_errors(self.client), catch_warnings():
            simplefilter("ignore", UserWarning)  # about large graphs
            return self.client.submit(_identity, value, pure=False)

    def release(self, handles: Iterable[Any]) -> None:
        """Do nothing: Dask deletes results without futures."""

    def abandon(self) -> None:
        """Do nothing: Dask deletes results without futures."""


def _identity(value: Any) -> Any:
    return value


@contextmanager
def cluster_errors(client: Any) -> Iterator[None]:
    """Report in one sentence that the cluster of a client is gone."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    lost_errors: tuple[type[BaseException], ...] = (CancelledError, CommClosedError, TimeoutError, KilledWorker)
    try:
        yield
    except Exception as error:
        if isinstance(error, DSNAError) or not (isinstance(error, lost_errors) or client.status == "closed"):
            raise
        reason = next(iter(str(error).splitlines()), type(error).__name__).strip(" :")
        raise DSNAError(
            f"The Dask cluster went away, or lost workers faster than it could repeat their work ({reason}): start it "
            "again, with more memory for each worker, and fit again or load a saved model."
        ) from error


def open_dask(X: Any, y: Any, weight: Any, groups: Any, key: Any) -> OpenedTable:
    """Open a dask DataFrame or Array, with columns or further collections, on the current client."""
    distributed = import_extra("distributed", "dask")
    try:
        client = distributed.get_client()
    except ValueError:
        raise DSNAError("There is no Dask client. Start one first: client = distributed.Client(...).") from None
    engine = DaskEngine(client)
    columns = {"y": y, "sample_weight": weight, "groups": groups}
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        names = {}
        for parameter, column in columns.items():
            if column is not None and not isinstance(column, str | list | tuple):
                _check_column(parameter, column, X)
                X, column = X.assign(**{_ROLE.format(parameter): column}), _ROLE.format(parameter)
            names[parameter] = column
        roles = Roles(target_name(names["y"]), names["sample_weight"], names["groups"], column_name(key, "key"))
        with cluster_errors(client):
            partitions = client.compute(list(X.to_delayed()))
    elif hasattr(X, "to_delayed") and hasattr(X, "rechunk"):
        roles = Roles(key=column_name(key, "key"))
        partitions = _array_partitions(engine, X, columns)
    else:
        raise DSNAError(f"X is a {type(X).__name__}; it must be a dask DataFrame or Array.")
    return OpenedTable(engine, partitions, roles, lambda batches: _collected(engine, batches))


def _array_partitions(engine: DaskEngine, X: Any, columns: dict[str, Any]) -> list[Any]:
    """Futures of partitions ``(X, y, sample_weight, groups)`` of Arrays."""
    if any(isinstance(column, str | list | tuple) for column in columns.values()):
        raise DSNAError("An Array has no named columns: pass y, sample_weight and groups as Arrays.")
    for parameter, column in columns.items():
        if column is not None and not (hasattr(column, "to_delayed") and hasattr(column, "rechunk")):
            raise _wrong_kind(parameter, column, "a dask Array")
    arrays = [array.rechunk({1: -1}) if getattr(array, "ndim", 1) == 2 else array for array in (X, *columns.values())]
    with cluster_errors(engine.client):
        chunks = [
            None if array is None else engine.client.compute(list(array.to_delayed().ravel())) for array in arrays
        ]
    n_chunks = len(chunks[0] or ())
    if any(futures is not None and len(futures) != n_chunks for futures in chunks):
        raise DSNAError(_DIFFERENT_CHUNKS)
    rows = zip(*(futures if futures is not None else [None] * n_chunks for futures in chunks), strict=True)
    return [engine.submit(_tuple, *row) for row in rows]


def _check_column(parameter: str, column: Any, X: Any) -> None:
    """Refuse anything but a dask column: a pandas column would be aligned by an index that dask does not show."""
    if not hasattr(column, "to_delayed") or column.ndim != 1:
        raise _wrong_kind(parameter, column, "a column name, or a dask Series or Array")
    is_aligned = X.known_divisions and getattr(column, "known_divisions", False)
    if column.npartitions != X.npartitions and not is_aligned:
        raise DSNAError(_DIFFERENT_CHUNKS)


def _wrong_kind(parameter: str, column: Any, required: str) -> DSNAError:
    library, kind = type(column).__module__.partition(".")[0], type(column).__name__
    dimensions = f" of {column.ndim} dimensions" if library == "dask" and column.ndim != 1 else ""
    return DSNAError(f"{parameter} must be {required} cut like X; this is {library}.{kind}{dimensions}.")


def _tuple(*arrays: Any) -> tuple[Any, ...]:
    return arrays


def _collected(engine: DaskEngine, batches: list[list[Any]]) -> Any:
    """Collect the batches of all partitions in a dask Array with one chunk for each partition."""
    da: Any = import_extra("dask.array", "dask")
    delayed: Any = import_extra("dask", "dask").delayed
    answers = [engine.submit(concatenated, *partition_batches) for partition_batches in batches]
    shapes, dtypes = zip(*engine.gather([engine.submit(_shape, answer) for answer in answers]), strict=True)
    dtype = np.result_type(*dtypes)
    chunks = [da.from_delayed(delayed(answer), shape, dtype) for answer, shape in zip(answers, shapes, strict=True)]
    # A frame drops the futures of an assigned array (dask 2026.8); without them its partitions cannot be computed.
    client_answers = vars(engine.client).setdefault("_dsna_answers", deque(maxlen=_MAX_ANSWERS))
    client_answers.append(answers)
    return da.concatenate(chunks)


def _shape(array: Any) -> tuple[tuple[int, ...], Any]:
    return array.shape, array.dtype
