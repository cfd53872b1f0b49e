"""What users pass as a table: a dask or ray collection, partitions, or plain rows; and the engine that goes with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.atomic import make_folder
from .._utils.errors import DSNAError
from .blocks import Roles
from .engines.local import LocalEngine


@dataclass(frozen=True, eq=False)
class Opened:
    """A table, ready for the passes.

    Parameters
    ----------
    engine : where the work is done.
    partitions : handles.
    roles : the columns of a frame.
    result : makes what users get of the handles of the answers of each partition.
    """

    engine: Any
    partitions: Sequence[Any]
    roles: Roles
    result: Callable[[list[list[Any]]], Any]


def open_table(
    X: Any, y: Any, weight: Any, groups: Any, key: Any, store: str | os.PathLike[str] | None, engine: Any = None
) -> Opened:
    """A table of any kind; ``engine`` is that of a model, which plain rows are asked on."""
    library = type(X).__module__.partition(".")[0]
    if library in ("dask", "dask_expr"):
        from .engines.dask import open_dask

        return open_dask(X, y, weight, groups, key)
    if library == "ray":
        from .engines.ray import open_ray

        return open_ray(X, y, weight, groups, key)
    if engine is not None:
        return Opened(engine, [X], Roles(), lambda batches: np.concatenate(engine.gather(batches[0])))
    if not isinstance(X, list | tuple) or not len(X) or isinstance(X[0], int | float):
        raise DSNAError(
            "X must be a dask DataFrame or Array, a ray Dataset, or a list of partitions; for a table in memory, use "
            "the ordinary estimators."
        )
    roles = Roles(
        target_name(y),
        column_name(weight, "sample_weight"),
        column_name(groups, "groups"),
        column_name(key, "key"),
    )
    folder = None if store is None else Path(store)
    if folder is not None:
        make_folder(folder)
    local = LocalEngine(folder)
    return Opened(local, X, roles, lambda batches: np.concatenate([part for one in batches for part in one]))


def target_name(given: Any) -> str | tuple[str, ...] | None:
    """The name of the target, the names of several outputs, or None; anything else is refused."""
    if isinstance(given, list | tuple) and given and all(isinstance(one, str) for one in given):
        return given[0] if len(given) == 1 else tuple(given)
    return column_name(given, "y")


def column_name(given: Any, name: str) -> str | None:
    """The name of a column, or None; anything else is refused."""
    if given is None or isinstance(given, str):
        return given
    raise DSNAError(f"{name} must be the name of a column here, or be part of the partitions: (X, y, ...).")
