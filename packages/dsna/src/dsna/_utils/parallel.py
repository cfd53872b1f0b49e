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


class _Lent:
    """The memory of a read-only array, said to be writable."""

    def __init__(self, array: np.ndarray):
        self.array = array  # so that the memory stays
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def writable(array: np.ndarray) -> np.ndarray:
    """The array as kernels take it, which read their arguments only: C-contiguous, aligned, plain and called writable.

    To numba, a read-only array has a type of its own. One that a process backend or a file has mapped is not copied:
    the result is a view of the same memory, and writing to it is an error that ends the process.
    """
    plain = np.require(array, requirements=["C", "A", "E"])
    return plain if plain.flags.writeable else np.asarray(_Lent(plain))


def in_parallel(
    function: Callable[..., Any], tasks: list[tuple[Any, ...]], n_jobs: int | None, unit: str = ""
) -> list[Any]:
    """``[function(*task) for task in tasks]`` on joblib's current backend, threads unless another is set.

    ``unit`` is what a task does, in the plural, where progress is to be shown.
    """
    with one_blas_thread():
        if len(tasks) == 1:
            # No pool for a single task: ray and loky would start processes for it.
            return [function(*tasks[0])]
        calls = (delayed(_limited)(function, *task) for task in tasks)
        return list(tracked(_pool(n_jobs, bool(unit))(calls), len(tasks), unit))


def _pool(n_jobs: int | None, one_by_one: bool) -> Parallel:
    """A pool of joblib; results come one by one where that is asked for and the backend can."""
    if one_by_one:
        with suppress(ValueError):
            return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    return Parallel(n_jobs=n_jobs, prefer="threads")


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; finding them takes longer than most tasks."""
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS works on one thread: sums come out the same whatever their number was.

    The number of threads belongs to the whole process, so whoever starts threads enters this context, not the threads:
    the first one to leave would reset the number for the others.
    """
    context: AbstractContextManager[Any] = _blas().limit(limits=1)
    return context


def bounded_threads(n_jobs: int | None) -> AbstractContextManager[Any]:
    """A context in which libraries with threads of their own, such as gradient boosting, use as many as jobs."""
    context: AbstractContextManager[Any] = threadpool_limits(effective_n_jobs(n_jobs))
    return context


def _limited(function: Callable[..., Any], *task: Any) -> Any:
    """One task, maybe in a process of its own."""
    with one_blas_thread():
        return function(*task)


def chunks(n: int, size: int = _CHUNK) -> Iterator[slice]:
    """Slices of at most ``size`` rows that cover ``range(n)``."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
