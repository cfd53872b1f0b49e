"""Comparison of a query with its neighbours, value by value; as a data frame and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.errors import worded
from .._utils.optional import import_extra
from ..prediction.digits import DIGITS, MOST_DIGITS, rounded
from .columns import Columns, TrainingColumns, as_numbers, is_missing

#: Differences of numbers above this many standard deviations of the column are marked.
TOLERANCE = 0.5
_WIDEST = 18
_ROUNDING = 1e-12


def said(value: Any) -> str:
    """Format a cell, a class, or a target of one or several outputs for display.

    Numbers with few digits are written in full, others are rounded to six digits.

    Examples
    --------
    >>> import numpy as np
    >>> said(np.float64(52.0)), said(np.array([1.5, 2.0])), said(None), said(np.datetime64("2024-03-01T00:00"))
    ('52', '(1.5, 2)', 'missing', '2024-03-01')
    >>> said(1234567.89), said(1234567.89 / 3)
    ('1234567.89', '411523')
    """
    if np.ndim(value):
        texts = [said(item) for item in value]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
    if is_missing(value):
        return "missing"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[s]")).removesuffix("T00:00:00")
    if not isinstance(value, float | np.floating):
        return str(value)
    text = f"{value:.{MOST_DIGITS}g}"
    return text if float(text) == float(value) else f"{value:.{DIGITS}g}"


def as_heading(text: str) -> str:
    """Capitalize the first letter and leave the rest unchanged.

    Examples
    --------
    >>> as_heading("query 3: predicted ILL")
    'Query 3: predicted ILL'
    """
    return text[:1].upper() + text[1:]


def distance(query: np.ndarray, neighbor: np.ndarray, spread: float) -> np.ndarray:
    """(k,) distances of the neighbours' values from the query's, in standard deviations.

    Values other than numbers have distance 0 if they are equal or both missing, and infinite distance otherwise. The
    same holds for numbers in a column that is constant in the training rows.

    Parameters
    ----------
    query : (1,) and neighbor : (k,) values of one column.
    spread : standard deviation of the column, zero where it is constant, NaN where it does not hold numbers.

    Examples
    --------
    >>> import numpy as np
    >>> distance(np.array([41.0]), np.array([40.0, 52.0, np.nan]), 10.0)
    array([0.1, 1.1, inf])
    >>> distance(np.array(["red"]), np.array(["red", "blue"]), np.nan)
    array([ 0., inf])
    """
    reference, numbers = as_numbers(query), as_numbers(neighbor)
    if np.isnan(spread) or reference is None or numbers is None:
        equal = [_equal(query[0], value) for value in neighbor]
        return np.where(equal, 0.0, np.inf)
    gap = np.abs(numbers - reference)
    equal = (gap <= _ROUNDING * np.maximum(np.abs(numbers), np.abs(reference))) | (
        np.isnan(reference) & np.isnan(numbers)
    )
    scaled = np.where(np.isnan(gap), np.inf, gap) / spread if spread > 0 else np.full(len(gap), np.inf)
    return np.where(equal, 0.0, scaled)


def _equal(first: Any, second: Any) -> bool:
    if is_missing(first) or is_missing(second):
        return is_missing(first) and is_missing(second)
    return bool(first == second) or str(first) == str(second)


def compare_features(
    query: Columns | None, train: TrainingColumns | None, rows: np.ndarray
) -> tuple[list[tuple[str, list[Any]]], np.ndarray]:
    """Name and values of each feature of one query and of training rows, and distances between them.

    The result is empty if the values of the training rows are unknown. Rows after the end of ``train`` have distance 0.
    """
    if query is None or train is None or not train.columns.names:
        return [], np.zeros((0, len(rows)))
    values = train.at(rows).values
    columns = list(zip(map(str, query.names), query.values, values, train.spread, strict=True))
    distances = np.array([distance(value, neighbors, spread) for _, value, neighbors, spread in columns])
    distances[:, rows >= train.reach] = 0.0
    return [(name, _without_midnight([value[0], *neighbors])) for name, value, neighbors, _ in columns], distances


def _without_midnight(cells: list[Any]) -> list[Any]:
    """Cells of a line; dates lose their time if all of them are at midnight."""
    dates = [cell for cell in cells if isinstance(cell, np.datetime64)]
    if not all(np.isnat(date) or date == date.astype("datetime64[D]") for date in dates):
        return cells
    return [cell.astype("datetime64[D]") if isinstance(cell, np.datetime64) else cell for cell in cells]


def label_columns(name: str, label: np.ndarray) -> dict[str, np.ndarray]:
    """Columns for labels (r,) or (r, n_outputs).

    Examples
    --------
    >>> import numpy as np
    >>> [*label_columns("label", np.array([[1.0, 2.0]]))]
    ['label_0', 'label_1']
    """
    label = label[:, 0] if label.ndim == 2 and label.shape[1] == 1 else label
    return {name: label} if label.ndim == 1 else {f"{name}_{k}": label[:, k] for k in range(label.shape[1])}


@dataclass(frozen=True, eq=False)
class NeighborComparison:
    """A query and some of its neighbours side by side, as ``Explanation.compare`` and ``report`` show them.

    Parameters
    ----------
    columns : names of the query and the k neighbours.
    header : lines of k + 1 cells: identifiers, class or target, weight.
    features : name of each feature and a line of k + 1 cells.
    away : (n_features, k) distances of the neighbours' values from the query's, in standard deviations.
    decimals : decimal places of computed targets in texts; None: six significant digits.
    """

    columns: list[str]
    header: dict[str, list[Any]]
    features: list[tuple[str, list[Any]]]
    away: np.ndarray
    decimals: int | None = None

    def frame(self, tolerance: float) -> Any:
        """Data frame of all lines; the last column counts the neighbours that differ."""
        names = [name for name, _ in self.features]
        header = [f"neighbour {name}" if name in names else name for name in self.header]
        cells = [*self.header.values(), *(line for _, line in self.features)]
        pandas = import_extra("pandas", "report")
        frame = pandas.DataFrame(cells, index=[*header, *names], columns=self.columns, dtype=object)
        counts = [*[None] * len(header), *np.sum(self.away > tolerance, axis=1).tolist()]
        frame["differs"] = pandas.Series(counts, index=frame.index, dtype=object)
        return frame

    def text(self, tolerance: float, max_features: int) -> str:
        """Lines for a terminal; differing values have an asterisk, and the features that differ most are shown."""
        selected = np.sort(np.argsort(-np.sum(np.minimum(self.away, 10.0), axis=1), kind="stable")[:max_features])
        marks = np.concatenate([np.zeros((len(self.away), 1), dtype=bool), self.away > tolerance], axis=1)
        table = [["", *self.columns]]
        for name, cells in self.header.items():
            table.append([name, *(self._cell_text(cell, name == "weight") for cell in cells)])
        for j in selected:
            name, cells = self.features[j]
            table.append([name, *(f"*{said(v)}" if mark else said(v) for v, mark in zip(cells, marks[j], strict=True))])
        table = [[_short(cell) for cell in line] for line in table]
        widths = [max(len(line[c]) for line in table) for c in range(len(table[0]))]
        lines = [_aligned(line, widths) for line in table]
        if len(selected):
            lines.insert(1 + len(self.header), "-" * len(lines[0]))
        if len(selected) < len(self.features):
            lines.append(f"... and {len(self.features) - len(selected)} more features, which differ less")
        if marks[selected].any():
            limit = f"numbers: by over {tolerance:g} standard deviations of the column"
            lines.append(f"* differs from the first column of values ({limit})")
        return "\n".join(line.rstrip() for line in lines)

    def _cell_text(self, cell: Any, weight: bool) -> str:
        """Format a cell of the header, which may be empty."""
        if cell is None or weight:
            return "" if cell is None else f"{cell:.3g}"
        computed = self.decimals is not None and isinstance(cell, float | np.floating)
        return said(rounded(np.array(cell), self.decimals)[()] if computed else cell)


def _short(cell: str) -> str:
    return cell if len(cell) <= _WIDEST else f"{cell[: _WIDEST - 1]}…"


def _aligned(line: list[str], widths: list[int]) -> str:
    """Align names to the left and values to the right."""
    return "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])


def values_unknown() -> str:
    """Message for models whose training rows are unknown, with the remedy."""
    return worded(
        "This model lacks the values of these rows: `dsna train` keeps them without --no-rows and --out-of-core.",
        "explain(X, train=frame) shows the values of these rows beside the query's.",
    )
