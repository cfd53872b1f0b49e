"""Summaries of the user's table: contents of columns, distribution of the target, and the rows shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..inspection.columns import Columns, as_numbers, is_missing
from .data import Bar, ColumnSummary, ShownRows
from .text import all_rounded, clean, finite_or_none, percent, rounded

_BINS = 10
_NAMED_VALUES = 3
_LONGEST_NAME = 120


def column_names(table: Columns) -> tuple[str, ...]:
    """Names of the columns for display.

    Examples
    --------
    >>> column_names(Columns.read([[1, 2]]))
    ('x0', 'x1')
    """
    return tuple(clean(name, _LONGEST_NAME) for name in table.names)


def kind_of(values: np.ndarray) -> str:
    """Kind of a column: number, date, yes/no, text or empty.

    Examples
    --------
    >>> import numpy as np
    >>> kind_of(np.array([1.0, 2.0])), kind_of(np.array([True])), kind_of(np.array(["a"])), kind_of(np.array([None]))
    ('number', 'yes/no', 'text', 'empty')
    """
    if values.dtype.kind in "mM":
        return "date"
    if values.dtype.kind == "b":
        return "yes/no"
    if as_numbers(values) is not None:
        return "number"
    present = [value for value in values.tolist() if not is_missing(value)]
    if not present:
        return "empty"
    return "yes/no" if all(isinstance(value, bool) for value in present) else "text"


def summarize_columns(table: Columns) -> tuple[ColumnSummary, ...]:
    """Summaries of all columns.

    Examples
    --------
    >>> summarize_columns(Columns.read([[1.0], [2.0], [6.0]]))[0].summary
    '1 to 6, median 2'
    """
    return tuple(_summary(name, values) for name, values in zip(column_names(table), table.values, strict=True))


def _summary(name: str, values: np.ndarray) -> ColumnSummary:
    kind = kind_of(values)
    numbers = as_numbers(values) if kind in ("number", "date") else None
    if numbers is not None:
        present = numbers[np.isfinite(numbers)]
        missing, distinct = int(np.sum(np.isnan(numbers))), len(np.unique(present))
        counts: tuple[int, ...] = (0,)
        summary = "no values"
        if len(present):
            counts = (
                tuple(int(n) for n in np.histogram(present, bins=_BINS)[0]) if np.ptp(present) > 0 else (len(present),)
            )
            order = np.argsort(numbers, kind="stable")[: len(numbers) - int(np.sum(~np.isfinite(numbers)))]
            low, median, high = (clean(values[order[k]]) for k in (0, (len(order) - 1) // 2, -1))
            summary = f"{low} to {high}, median {median}"
    else:
        texts = [None if is_missing(value) else str(value) for value in values.tolist()]
        present_texts = np.array([text for text in texts if text is not None], dtype=object)
        names, sizes = np.unique(present_texts, return_counts=True)
        order = np.argsort(-sizes, kind="stable")
        missing, distinct = len(texts) - int(sizes.sum()), len(names)
        counts = tuple(int(n) for n in sizes[order[:_BINS]])
        common = ", ".join(f"{clean(names[k], 30)} ({percent(sizes[k] / len(texts))})" for k in order[:_NAMED_VALUES])
        summary = common or "no values"
    return ColumnSummary(name=name, kind=kind, missing=missing, distinct=distinct, summary=summary, counts=counts)


def class_bars(names: Sequence[str], counts: np.ndarray, rare: np.ndarray) -> tuple[Bar, ...]:
    """Bars of the classes, with the rare ones marked.

    Examples
    --------
    >>> import numpy as np
    >>> class_bars(["no", "yes"], np.array([9, 1]), np.array([False, True]))[1]
    Bar(name='yes', rows=1, rare=1.0)
    """
    return tuple(
        Bar(name=name, rows=rounded(n, 9), rare=float(mark)) for name, n, mark in zip(names, counts, rare, strict=True)
    )


def target_bars(y: np.ndarray, rare: np.ndarray, bins: int = 30) -> tuple[Bar, ...]:
    """Bins of a histogram of the target, each with its share of rare rows.

    Examples
    --------
    >>> import numpy as np
    >>> [bar.rows for bar in target_bars(np.array([0.0, 0.0, 1.0]), np.array([False, False, True]), 2)]
    [2, 1]
    """
    counts, edges = np.histogram(y, bins=bins)
    rare_counts = np.histogram(y[rare], bins=edges)[0]
    return tuple(
        Bar(name=f"{edges[b]:.4g} to {edges[b + 1]:.4g}", rows=int(n), rare=float(rare_counts[b] / n) if n else 0.0)
        for b, n in enumerate(counts)
    )


def shown_rows(table: Columns, rows: np.ndarray, label: np.ndarray) -> ShownRows:
    """Training rows with the user's columns."""
    kinds = tuple(kind_of(values) for values in table.values)
    spread, cells = [], []
    for values, kind in zip(table.values, kinds, strict=True):
        numbers = as_numbers(values) if kind in ("number", "date") else None
        finite = numbers[np.isfinite(numbers)] if numbers is not None else np.empty(0)
        scale = 1e-3 if kind == "date" else 1.0  # the page compares dates in milliseconds
        spread.append(finite_or_none(scale * np.std(finite)) if len(finite) else None)
        column = values[rows].tolist() if kind != "date" else list(values[rows])
        cells.append([_cell(value, kind) for value in column])
    names = table.id[rows].tolist() if table.id is not None else []
    return ShownRows(
        names=column_names(table),
        kinds=kinds,
        spread=tuple(spread),
        number=tuple(int(row) for row in rows),
        id=tuple(clean(name, _LONGEST_NAME) for name in names) or tuple(f"row {row}" for row in rows),
        label=all_rounded(label[rows], 6),
        cells=tuple(zip(*cells, strict=True)) if cells else tuple(() for _ in rows),
    )


def _cell(value: Any, kind: str) -> Any:
    """Convert a cell for JSON, to a number, a string or None."""
    if is_missing(value):
        return None
    if kind == "number" and np.isfinite(value):
        return rounded(value, 6)
    return clean(value)
