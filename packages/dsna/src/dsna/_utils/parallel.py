"""Work in parallel chunks, with BLAS on one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import cache
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_limits

from .progress import tracked

_CHUNK = 1024


class _WritableView:
    """The memory of a read-only array, declared writable."""

    def __init__(self, array: np.ndarray):
        self.array = array  # keeps the memory alive
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def writable(array: np.ndarray) -> np.ndarray:
    """Return the array in the form that kernels take: C-contiguous, aligned, a plain ndarray and declared writable.

    Numba gives read-only arrays another type. An array mapped by a process backend or from a file is not copied: the
    result is a view of the same memory, and writing to it would end the process. Kernels only read their arguments.
    """
    plain = np.require(array, requirements=["C", "A", "E"])
    return plain if plain.flags.writeable else np.asarray(_WritableView(plain))


def in_parallel(
    function: Callable[..., Any], tasks: list[tuple[Any, ...]], n_jobs: int | None, unit: str = ""
) -> list[Any]:
    """``[function(*task) for task in tasks]`` on joblib's current backend, threads unless another is set.

    ``unit`` names the tasks in the plural, such as "trees", to show progress.
    """
    with one_blas_thread():
        if len(tasks) == 1:
            # No pool for a single task: ray and loky would start processes for it.
            return [function(*tasks[0])]
        calls = (delayed(_limited)(function, *task) for task in tasks)
        return list(tracked(_pool(n_jobs, bool(unit))(calls), len(tasks), unit))


def _pool(n_jobs: int | None, one_by_one: bool) -> Parallel:
    """Return a pool of joblib; its results come one by one if ``one_by_one`` and the backend supports it."""
    if one_by_one:
        with suppress(ValueError):
            return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    return Parallel(n_jobs=n_jobs, prefer="threads")


@cache
def _blas() -> ThreadpoolController:
    """Return the BLAS libraries of this process, cached because finding them takes longer than most tasks."""
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread, so that sums do not depend on the number of threads.

    The number of threads belongs to the whole process, so whoever starts threads enters this context, not the threads:
    the first one to leave would reset the number for the others.
    """
    context: AbstractContextManager[Any] = _blas().limit(limits=1)
    return context


def bounded_threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """Return a context in which libraries with their own threads, such as gradient boosting, use ``n_jobs`` threads."""
    context: AbstractContextManager[Any] = threadpool_limits(effective_n_jobs(n_jobs))
    return context


def _limited(function: Callable[..., Any], *task: Any) -> Any:
    """Run a task, possibly in another process, with BLAS on one thread."""
    with one_blas_thread():
        return function(*task)


def chunks(n: int, size: int = _CHUNK) -> Iterator[slice]:
    """Yield slices of at most ``size`` rows that cover ``range(n)``."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
