"""A query beside its neighbours, value by value, with what differs marked; as a data frame and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.errors import worded
from .._utils.optional import import_extra
from ..prediction.digits import DIGITS, MOST_DIGITS, rounded
from .columns import Columns, TrainingColumns, as_numbers, is_missing

#: Standard deviations of a column by which a number has to be off to be marked.
TOLERANCE = 0.5
_WIDEST = 18
_ROUNDING = 1e-12


def said(value: Any) -> str:
    """A cell, a class, or a target of one or several outputs, for a reader.

    Numbers that somebody wrote down stay as they are, others have six digits.

    Examples
    --------
    >>> import numpy as np
    >>> said(np.float64(52.0)), said(np.array([1.5, 2.0])), said(None), said(np.datetime64("2024-03-01T00:00"))
    ('52', '(1.5, 2)', 'missing', '2024-03-01')
    >>> said(1234567.89), said(1234567.89 / 3)
    ('1234567.89', '411523')
    """
    if np.ndim(value):
        parts = [said(part) for part in value]
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    if is_missing(value):
        return "missing"
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[s]")).removesuffix("T00:00:00")
    if not isinstance(value, float | np.floating):
        return str(value)
    written = f"{value:.{MOST_DIGITS}g}"
    return written if float(written) == float(value) else f"{value:.{DIGITS}g}"


def as_heading(text: str) -> str:
    """The text with a capital letter in front; names in it stay as they are.

    Examples
    --------
    >>> as_heading("query 3: predicted ILL")
    'Query 3: predicted ILL'
    """
    return text[:1].upper() + text[1:]


def distance(query: np.ndarray, neighbor: np.ndarray, spread: float) -> np.ndarray:
    """(k,) how far the values of neighbours are from the query's, in standard deviations.

    Anything but two numbers is 0 apart where it is equal, or where both are missing, and infinitely far otherwise; so
    are numbers in a column that is constant in the training rows.

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
    one, others = as_numbers(query), as_numbers(neighbor)
    if np.isnan(spread) or one is None or others is None:
        equal = [_equal(query[0], value) for value in neighbor]
        return np.where(equal, 0.0, np.inf)
    off = np.abs(others - one)
    same = (off <= _ROUNDING * np.maximum(np.abs(others), np.abs(one))) | (np.isnan(one) & np.isnan(others))
    far = np.where(np.isnan(off), np.inf, off) / spread if spread > 0 else np.full(len(off), np.inf)
    return np.where(same, 0.0, far)


def _equal(one: Any, other: Any) -> bool:
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    return bool(one == other) or str(one) == str(other)


def compare_features(
    query: Columns | None, train: TrainingColumns | None, rows: np.ndarray
) -> tuple[list[tuple[str, list[Any]]], np.ndarray]:
    """Name and values of each feature of one query and of training rows, and how far the latter are from the former.

    Without the rows' values there are no features to compare; rows that ``train`` does not reach differ in none.
    """
    if query is None or train is None or not train.columns.names:
        return [], np.zeros((0, len(rows)))
    values = train.at(rows).values
    columns = list(zip(map(str, query.names), query.values, values, train.spread, strict=True))
    away = np.array([distance(own, others, spread) for _, own, others, spread in columns])
    away[:, rows >= train.reach] = 0.0
    return [(name, _without_midnight([own[0], *others])) for name, own, others, _ in columns], away


def _without_midnight(cells: list[Any]) -> list[Any]:
    """The cells of a line, dates without their time where all are at midnight."""
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
    return {name: label} if label.ndim == 1 else {f"{name}_{a}": label[:, a] for a in range(label.shape[1])}


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """A query and some of its neighbours side by side; ``Explanation.compare`` and ``report`` show it.

    Parameters
    ----------
    columns : names of the query and the k neighbours.
    header : lines of k + 1 cells about these: identifiers, class or target, weight.
    features : the name of each feature and a line of k + 1 cells.
    away : (n_features, k) distance of the neighbours' values from the query's, in standard deviations.
    decimals : of targets, which texts give to computed ones; None: six significant digits.
    """

    columns: list[str]
    header: dict[str, list[Any]]
    features: list[tuple[str, list[Any]]]
    away: np.ndarray
    decimals: int | None = None

    def frame(self, tolerance: float) -> Any:
        """Data frame of all lines, with the number of neighbours that differ in a last column."""
        names = [name for name, _ in self.features]
        header = [f"neighbour {name}" if name in names else name for name in self.header]
        cells = [*self.header.values(), *(line for _, line in self.features)]
        pandas = import_extra("pandas", "report")
        frame = pandas.DataFrame(cells, index=[*header, *names], columns=self.columns, dtype=object)
        counts = [*[None] * len(header), *np.sum(self.away > tolerance, axis=1).tolist()]
        frame["differs"] = pandas.Series(counts, index=frame.index, dtype=object)
        return frame

    def text(self, tolerance: float, most: int) -> str:
        """The lines for a terminal; values that differ have an asterisk, and of many features most differing stay."""
        kept = np.sort(np.argsort(-np.sum(np.minimum(self.away, 10.0), axis=1), kind="stable")[:most])
        marks = np.concatenate([np.zeros((len(self.away), 1), dtype=bool), self.away > tolerance], axis=1)
        table = [["", *self.columns]]
        for name, cells in self.header.items():
            table.append([name, *(self._written(cell, name == "weight") for cell in cells)])
        for j in kept:
            name, cells = self.features[j]
            table.append([name, *(f"*{said(v)}" if mark else said(v) for v, mark in zip(cells, marks[j], strict=True))])
        table = [[_short(cell) for cell in line] for line in table]
        widths = [max(len(line[c]) for line in table) for c in range(len(table[0]))]
        lines = [_aligned(line, widths) for line in table]
        if len(kept):
            lines.insert(1 + len(self.header), "-" * len(lines[0]))
        if len(kept) < len(self.features):
            lines.append(f"... and {len(self.features) - len(kept)} features more, which differ less")
        if marks[kept].any():
            far = f"numbers: by over {tolerance:g} standard deviations of the column"
            lines.append(f"* differs from the first column of values ({far})")
        return "\n".join(line.rstrip() for line in lines)

    def _written(self, cell: Any, weight: bool) -> str:
        """A cell of the header, which may be empty."""
        if cell is None or weight:
            return "" if cell is None else f"{cell:.3g}"
        computed = self.decimals is not None and isinstance(cell, float | np.floating)
        return said(rounded(np.array(cell), self.decimals)[()] if computed else cell)


def _short(cell: str) -> str:
    return cell if len(cell) <= _WIDEST else f"{cell[: _WIDEST - 1]}…"


def _aligned(line: list[str], widths: list[int]) -> str:
    """Names to the left, values to the right."""
    return "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])


def values_unknown() -> str:
    """What to say, and how to mend it, where the values of training rows are not at hand."""
    return worded(
        "This model lacks the values of these rows: `dsna train` keeps them without --no-rows and --out-of-core.",
        "explain(X, train=frame) shows the values of these rows beside the query's.",
    )
