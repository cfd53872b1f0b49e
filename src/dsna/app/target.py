"""The target of a table: classes or numbers, which of its rows have one, and how rare the rare is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity
from ..inspection.comparison import said
from ..tables import guess_task
from ..tables.kept_rows import KeptColumn

RARE_SHARE = 0.1  # of the rows, whose targets count as rare
_SHOWN = 6  # classes that are listed


@dataclass(frozen=True, eq=False)
class Target:
    """The target of some rows.

    Parameters
    ----------
    name : of the column.
    task : {"classification", "regression"}
    values : (n,) classes or targets.
    rows : (n,) which rows of the table have one.
    notes : what was mended.
    """

    name: str
    task: str
    values: np.ndarray
    rows: np.ndarray
    notes: list[str]


def read_target(frame: Any, name: str, task: str | None = None, *, several: bool = True) -> Target:
    """The target column of a polars frame; rows without a target are left out, with a note.

    Parameters
    ----------
    frame : polars.DataFrame
    name : of the column.
    task : {"classification", "regression"} or None, which guesses it from the values.
    several : whether a single class or value is refused, as there is nothing to learn.

    Examples
    --------
    >>> import polars
    >>> target = read_target(polars.DataFrame({"x": [1, 2, 3], "y": ["a", None, "b"]}), "y")
    >>> target.task, target.values.tolist(), target.notes
    ('classification', ['a', 'b'], ["1 row without a value in the target column 'y' is left out"])
    """
    if name not in frame.columns:
        known = ", ".join(frame.columns[:10]) + (", ..." if frame.width > 10 else "")
        raise DSNAError(f"there is no target column {name!r}. Remedy: name one of {known} with --target.")
    import narwhals as nw

    column = KeptColumn.of(nw.from_native(frame[name], series_only=True))
    rows = np.flatnonzero(column.known)
    if not len(rows):
        raise DSNAError(f"the target column {name!r} is empty. Remedy: name another with --target.")
    values = column.cells()[rows]
    if column.kind not in ("text",) and values.dtype == object:
        values = np.array(values.tolist())
    found = task or ("classification" if column.kind in ("truth", "text") else guess_task(values))
    if found == "regression":
        if column.kind not in ("number", "whole"):
            raise DSNAError(
                f"the target column {name!r} holds {_WORDS[column.kind]}, not numbers. Remedy: --task classification, or "
                f"--types {name}=number."
            )
        values = values.astype(np.float64)
    elif values.dtype.kind == "f" and np.all(values == np.round(values)):
        values = values.astype(np.int64)
    elif values.dtype.kind == "M":
        values = values.astype(str).astype(object)
    if several and len(np.unique(values)) < 2:
        what = "one class" if found == "classification" else "one value"
        raise DSNAError(
            f"the target column {name!r} holds {what} only ({said(values[0])}), and there is nothing to learn. Remedy: "
            "name another column with --target, or add rows of other classes."
        )
    gone = frame.height - len(rows)
    rows_gone = "1 row" if gone == 1 else f"{gone} rows"
    notes = [f"{rows_gone} without a value in the target column {name!r} {'is' if gone == 1 else 'are'} left out"]
    return Target(name, found, values, rows, notes * bool(gone))


_WORDS = {"truth": "true and false", "text": "text", "date": "dates", "time": "dates"}


def rare_targets(targets: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Which targets are as rare as the rarest tenth of the training targets, by their density.

    Examples
    --------
    >>> import numpy as np
    >>> rare_targets(np.array([1.0, 9.0]), np.r_[np.ones(50), 2 * np.ones(45), 9 * np.ones(5)]).tolist()
    [False, True]
    """
    density = TargetDensity(training)
    cut = np.quantile(density.evaluate(training), RARE_SHARE, method="lower")
    return np.asarray(density.evaluate(targets) <= cut * (1.0 + 1e-9))


def rarity_lines(target: Target) -> list[str]:
    """How rare the rare is, in words.

    Examples
    --------
    >>> import numpy as np
    >>> target = Target("fraud", "classification", np.repeat(["no", "yes"], [95, 5]), np.arange(100), [])
    >>> rarity_lines(target)
    ['fraud: 5 of 100 rows are yes (5%, one in 20); no 95']
    """
    y, n = target.values, len(target.values)
    if target.task == "classification":
        names, counts = np.unique(y, return_counts=True)
        order = np.argsort(counts, kind="stable")
        rare, few = said(names[order[0]]), int(counts[order[0]])
        others = [f"{said(names[k])} {counts[k]}" for k in order[1:_SHOWN]]
        others += [f"{len(order) - _SHOWN} more classes"] if len(order) > _SHOWN else []
        share = f"{few / n:.2g}" if few / n < 0.001 else f"{100 * few / n:.2g}%"
        return [f"{target.name}: {few} of {n} rows are {rare} ({share}, one in {n / few:.0f}); {', '.join(others)}"]
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75])
    rare = rare_targets(y, y)
    below, above = y[rare & (y < middle)], y[rare & (y > middle)]
    ends = [f"{len(below)} up to {said(float(below.max()))}"] if len(below) else []
    ends += [f"{len(above)} from {said(float(above.min()))} on"] if len(above) else []
    first = (
        f"{target.name}: from {said(float(y.min()))} to {said(float(y.max()))}, half of the rows between "
        f"{said(float(low))} and {said(float(high))}"
    )
    return [first, f"rare targets, by their density: {int(rare.sum())} of {n} rows, {' and '.join(ends)}"]
