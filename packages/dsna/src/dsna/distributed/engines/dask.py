"""Work on the workers of a Dask cluster: partitions and shards stay in their memory."""

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
from ..tables import Opened, column_name, target_name
from .local import joined, on_worker

WITHOUT_WORKERS = 300.0  # seconds that a cluster may have no worker
_LOOK = 10.0  # seconds between two looks
_ROLE = "dsna {}"  # columns that are added to a frame
_KEPT = 16  # answers that a client keeps
_CUT_APART = "X, y, sample_weight and groups have different numbers of chunks or partitions: rechunk them alike."


class DaskEngine:
    """The engine of a Dask client.

    What a lost worker held is made again by others, so results do not depend on it.

    Parameters
    ----------
    client : distributed.Client
    """

    name = "Dask"

    def __init__(self, client: Any):
        self.client = client

    def __getstate__(self) -> dict[str, Any]:
        return {"client": None}  # a worker has no need of it

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A future."""
        with cluster_errors(self.client):
            return self.client.submit(on_worker, function, *arguments, pure=False)

    def gather(self, handles: Iterable[Any]) -> list[Any]:
        """Results of futures."""
        futures = list(handles)
        with cluster_errors(self.client):
            self._wait(futures)
            return list(self.client.gather(futures))

    def _wait(self, futures: list[Any]) -> None:
        """Wait for futures, however long workers take; without any worker, only as long as one may take to start."""
        wait: Any = import_extra("distributed", "dask").wait
        alone_since: float | None = None
        while futures:
            try:
                wait(futures, timeout=_LOOK)
                return
            except TimeoutError:
                if self.client.scheduler_info()["workers"]:
                    alone_since = None
                    continue
            alone_since = time.monotonic() if alone_since is None else alone_since
            if time.monotonic() - alone_since > WITHOUT_WORKERS:
                raise TimeoutError(f"it has had no worker for {WITHOUT_WORKERS} s")

    def broadcast(self, value: Any) -> Any:
        """A future of a value that workers take from each other."""
        # Not scattered: what the last worker that holds it takes with it could not be made again.
        with cluster_errors(self.client), catch_warnings():
            simplefilter("ignore", UserWarning)  # of large graphs
            return self.client.submit(_same, value, pure=False)

    def release(self, handles: Iterable[Any]) -> None:
        """Dask forgets what nobody refers to."""

    def abandon(self) -> None:
        """Dask forgets what nobody refers to."""


def _same(value: Any) -> Any:
    return value


@contextmanager
def cluster_errors(client: Any) -> Iterator[None]:
    """Say in one sentence that the cluster of a client is gone."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    gone: tuple[type[BaseException], ...] = (CancelledError, CommClosedError, TimeoutError, KilledWorker)
    try:
        yield
    except Exception as error:
        if isinstance(error, DSNAError) or not (isinstance(error, gone) or client.status == "closed"):
            raise
        why = next(iter(str(error).splitlines()), type(error).__name__).strip(" :")
        raise DSNAError(
            f"The Dask cluster went away, or lost workers faster than it could repeat their work ({why}): start it "
            "again, with more memory for each worker, and fit again or load a saved model."
        ) from error


def open_dask(X: Any, y: Any, weight: Any, groups: Any, key: Any) -> Opened:
    """A dask DataFrame or Array, with columns or collections beside it, on the current client."""
    distributed = import_extra("distributed", "dask")
    try:
        client = distributed.get_client()
    except ValueError:
        raise DSNAError("There is no Dask client: start one, client = distributed.Client(...), before.") from None
    engine = DaskEngine(client)
    given = {"y": y, "sample_weight": weight, "groups": groups}
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        names = {}
        for name, one in given.items():
            if one is not None and not isinstance(one, str | list | tuple):
                _check_column(name, one, X)
                X, one = X.assign(**{_ROLE.format(name): one}), _ROLE.format(name)
            names[name] = one
        roles = Roles(target_name(names["y"]), names["sample_weight"], names["groups"], column_name(key, "key"))
        with cluster_errors(client):
            parts = client.compute(list(X.to_delayed()))
    elif hasattr(X, "to_delayed") and hasattr(X, "rechunk"):
        roles = Roles(key=column_name(key, "key"))
        if any(isinstance(one, str | list | tuple) for one in given.values()):
            raise DSNAError("An Array has no named columns: pass y, sample_weight and groups as Arrays.")
        for name, one in given.items():
            if one is not None and not (hasattr(one, "to_delayed") and hasattr(one, "rechunk")):
                raise _of_another_kind(name, one, "a dask Array")
        columns = [one.rechunk({1: -1}) if getattr(one, "ndim", 1) == 2 else one for one in (X, *given.values())]
        with cluster_errors(client):
            pieces = [None if one is None else client.compute(list(one.to_delayed().ravel())) for one in columns]
        if any(one is not None and len(one) != len(pieces[0] or ()) for one in pieces):
            raise DSNAError(_CUT_APART)
        rows = zip(*(one if one is not None else [None] * len(pieces[0] or ()) for one in pieces), strict=True)
        parts = [engine.submit(_tuple, *row) for row in rows]
    else:
        raise DSNAError(f"X is a {type(X).__name__}: a dask DataFrame or Array is needed.")
    return Opened(engine, parts, roles, lambda batches: _collected(engine, batches))


def _check_column(name: str, given: Any, X: Any) -> None:
    """Refuse what is no column of dask beside a frame: pandas would be aligned by an index that dask does not show."""
    if not hasattr(given, "to_delayed") or given.ndim != 1:
        raise _of_another_kind(name, given, "a column name, or a dask Series or Array")
    aligned = X.known_divisions and getattr(given, "known_divisions", False)
    if given.npartitions != X.npartitions and not aligned:
        raise DSNAError(_CUT_APART)


def _of_another_kind(name: str, given: Any, wanted: str) -> DSNAError:
    library, kind = type(given).__module__.partition(".")[0], type(given).__name__
    dimensions = f" of {given.ndim} dimensions" if library == "dask" and given.ndim != 1 else ""
    return DSNAError(f"{name} must be {wanted} cut like X; this is {library}.{kind}{dimensions}.")


def _tuple(*arrays: Any) -> tuple[Any, ...]:
    return arrays


def _collected(engine: DaskEngine, batches: list[list[Any]]) -> Any:
    """A dask Array of what the batches of all partitions hold, one chunk for each partition."""
    da: Any = import_extra("dask.array", "dask")
    delayed: Any = import_extra("dask", "dask").delayed
    parts = [engine.submit(joined, *one) for one in batches]
    about = engine.gather([engine.submit(_shape, one) for one in parts])
    dtype = np.result_type(*(dtype for _, dtype in about))
    chunks = [da.from_delayed(delayed(one), shape, dtype) for one, (shape, _) in zip(parts, about, strict=True)]
    # A frame that an array of futures is assigned to forgets them (dask 2026.8): its partitions could not be made.
    kept = vars(engine.client).setdefault("_dsna_answers", deque(maxlen=_KEPT))
    kept.append(parts)
    return da.concatenate(chunks)


def _shape(array: Any) -> tuple[tuple[int, ...], Any]:
    return array.shape, array.dtype
