"""Tables as users pass them (dask or ray collections, partitions or plain rows) and their engines."""

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
class OpenedTable:
    """A table, ready for the passes.

    Parameters
    ----------
    engine : runs the passes.
    partitions : handles of the partitions.
    roles : roles of the columns of a frame.
    result : makes the result for the user from the handles of the batches of answers of each partition.
    """

    engine: Any
    partitions: Sequence[Any]
    roles: Roles
    result: Callable[[list[list[Any]]], Any]


def open_table(
    X: Any, y: Any, weight: Any, groups: Any, key: Any, store: str | os.PathLike[str] | None, engine: Any = None
) -> OpenedTable:
    """Open a table of any kind; ``engine`` is that of a model, to which plain rows are queries."""
    library = type(X).__module__.partition(".")[0]
    if library in ("dask", "dask_expr"):
        from .engines.dask import open_dask

        return open_dask(X, y, weight, groups, key)
    if library == "ray":
        from .engines.ray import open_ray

        return open_ray(X, y, weight, groups, key)
    if engine is not None:
        return OpenedTable(engine, [X], Roles(), lambda partitions: np.concatenate(engine.gather(partitions[0])))
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
    return OpenedTable(
        local, X, roles, lambda partitions: np.concatenate([batch for batches in partitions for batch in batches])
    )


def target_name(target: Any) -> str | tuple[str, ...] | None:
    """Return the name of the target, the names of several outputs, or None; refuse anything else."""
    if isinstance(target, list | tuple) and target and all(isinstance(name, str) for name in target):
        return target[0] if len(target) == 1 else tuple(target)
    return column_name(target, "y")


def column_name(column: Any, parameter: str) -> str | None:
    """Return the name of a column, or None; refuse anything else."""
    if column is None or isinstance(column, str):
        return column
    raise DSNAError(f"{parameter} must be the name of a column here, or be part of the partitions: (X, y, ...).")
