"""Workers that die once in the middle of their work, or that are slow."""

from __future__ import annotations

import os
import time
from functools import partial


def _dying(function, marker, *arguments):
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return function(*arguments)
    os._exit(1)


def dies_once(function, marker):
    """The function, on a worker that dies when it is called for the first time."""
    return partial(_dying, function, str(marker))


def _late(function, seconds, data, number, *arguments):
    if number == 1:
        time.sleep(seconds)
    return function(data, number, *arguments)


def straggles(function, seconds):
    """The function of a partition and its number, which takes long for one of them."""
    return partial(_late, function, seconds)


def _slow(function, seconds, worker, *arguments):
    from distributed import get_worker

    if worker is None or get_worker().name == worker:
        time.sleep(seconds)
    return function(*arguments)


def slow_on_dask(function, seconds, worker=None):
    """The function, which takes longer on one worker of Dask, or on all."""
    return partial(_slow, function, seconds, worker)
