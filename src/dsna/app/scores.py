"""Scores of predictions for rows of known targets: overall and on the rare part, with how sure they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..inspection.comparison import said

_RESAMPLES = 200
_RANGES = 6
_FEW = 10  # cases below which a figure says nothing


class Figure(NamedTuple):
    """A score, its standard error over resampled rows, and the number of cases that it rests on."""

    value: float
    error: float
    cases: int

    def __str__(self) -> str:
        if self.cases < 1 or np.isnan(self.value):
            return "-"
        return f"{_short(self.value)} +- {_short(self.error)}"


def _short(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1.0 else f"{value:.3g}" if abs(value) < 1000.0 else f"{value:.0f}"


@dataclass(frozen=True)
class Scores:
    """Scores of several methods on the same rows.

    Parameters
    ----------
    task : {"classification", "regression"}
    rare : what the rare part is, in words.
    overall : figures by measure, by method.
    parts : figures of each class (recall) or range of targets (mean absolute error), by method.
    measure : what ``parts`` holds.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.repeat(["a", "b"], [90, 10])
    >>> scores = class_scores(truth, {"always a": np.repeat("a", 100)}, np.ones(100))
    >>> scores.rare, scores.overall["always a"]["balanced accuracy"].value
    ('b', 0.5)
    >>> scores.parts["always a"]["b"].cases
    10
    """

    task: str
    rare: str
    overall: dict[str, dict[str, Figure]]
    parts: dict[str, dict[str, Figure]]
    measure: str

    def text(self) -> str:
        """Two tables for a terminal: overall figures, and those of each class or range."""
        overall = _table(self.overall, str)
        header = ["" if self.task == "classification" else "target", "cases", *self.parts]
        lines = [header]
        for part in next(iter(self.parts.values())):
            figures = [found[part] for found in self.parts.values()]
            few = figures[0].cases < _FEW
            cells = [f"{figure}" if not few else f"({_short(figure.value)})" for figure in figures]
            lines.append([_cut(part), str(figures[0].cases), *cells])
        few = any(figure.cases < _FEW for figure in next(iter(self.parts.values())).values())
        note = [f"(in brackets: fewer than {_FEW} cases, too few to say)"] if few else []
        return "\n".join([overall, "", f"{self.measure}:", aligned(lines), *note])

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""

        def plain(figures: dict[str, dict[str, Figure]]) -> dict[str, Any]:
            return {
                method: {name: as_plain(figure) for name, figure in found.items()} for method, found in figures.items()
            }

        return {"rare": self.rare, "overall": plain(self.overall), self.measure: plain(self.parts)}


def as_plain(figure: Figure) -> dict[str, Any]:
    """A figure as JSON holds it."""
    number = {"value": figure.value, "error": figure.error}
    return {**{name: None if np.isnan(one) else float(one) for name, one in number.items()}, "cases": figure.cases}


def class_scores(truth: np.ndarray, answers: dict[str, np.ndarray], weight: np.ndarray, rare: Any = None) -> Scores:
    """Accuracy, balanced accuracy, recall and precision of the rarest class, and recall of each class.

    Parameters
    ----------
    truth : (n,) classes.
    answers : (n,) predicted classes, by method.
    weight : (n,) how many rows each stands for.
    rare : the class that counts as rare; None: the rarest of ``truth``.
    """
    classes = np.unique(truth)
    totals = np.array([weight[truth == one].sum() for one in classes])
    rare = classes[int(np.argmin(totals))] if rare is None else rare
    measures: dict[str, Callable[..., float]] = {
        "balanced accuracy": lambda t, s, w: float(np.nanmean([_share(t == s, w * (t == one)) for one in classes])),
        f"recall of {said(rare)}": lambda t, s, w: _share(t == s, w * (t == rare)),
        f"precision of {said(rare)}": lambda t, s, w: _share(t == s, w * (s == rare)),
        "accuracy": lambda t, s, w: _share(t == s, w),
    }
    behind = {f"recall of {said(rare)}": truth == rare}
    overall, parts = {}, {}
    for method, found in answers.items():
        here = {**behind, f"precision of {said(rare)}": found == rare}
        overall[method] = {
            name: _figure(one, truth, found, weight, here.get(name)) for name, one in measures.items()
        }
        parts[method] = {
            said(one): _figure(_right, truth, found, weight * (truth == one), truth == one) for one in classes
        }
    return Scores("classification", said(rare), overall, parts, "recall by class")


def target_scores(
    truth: np.ndarray, answers: dict[str, np.ndarray], weight: np.ndarray, rare: np.ndarray, edges: np.ndarray
) -> Scores:
    """Mean absolute error overall and on rare targets, R2, and the error in each range of targets.

    Parameters
    ----------
    truth : (n,) targets.
    answers : (n,) predicted targets, by method.
    weight : (n,) how many rows each stands for.
    rare : (n,) which rows have rare targets.
    edges : between the ranges, see :func:`range_edges`.
    """
    place = np.clip(np.searchsorted(edges, truth, side="right") - 1, 0, len(edges) - 2)
    names = [f"{said(float(low))} to {said(float(high))}" for low, high in zip(edges[:-1], edges[1:], strict=True)]
    overall, parts = {}, {}
    for method, found in answers.items():
        overall[method] = {
            "mean absolute error": _figure(_absolute, truth, found, weight),
            "of rare targets": _figure(_absolute, truth, found, weight * rare, rare),
            "R2": _figure(_explained, truth, found, weight),
        }
        parts[method] = {
            name: _figure(_absolute, truth, found, weight * (place == at), place == at)
            for at, name in enumerate(names)
            if np.any(place == at)
        }
    return Scores("regression", "the rarest tenth of the targets", overall, parts, "mean absolute error by range")


def range_edges(targets: np.ndarray) -> np.ndarray:
    """Edges of ranges of equal width that hold all targets.

    Examples
    --------
    >>> import numpy as np
    >>> range_edges(np.array([0.0, 3.0, 12.0])).tolist()
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    """
    low, high = float(np.min(targets)), float(np.max(targets))
    return np.linspace(low, high if high > low else low + 1.0, _RANGES + 1)


def _right(truth: np.ndarray, found: np.ndarray, weight: np.ndarray) -> float:
    return _share(truth == found, weight)


def _absolute(truth: np.ndarray, found: np.ndarray, weight: np.ndarray) -> float:
    return _share(np.abs(truth - found), weight)


def _explained(truth: np.ndarray, found: np.ndarray, weight: np.ndarray) -> float:
    mean = _share(truth, weight)
    spread = _share((truth - mean) ** 2, weight)
    return 1.0 - _share((truth - found) ** 2, weight) / spread if spread > 0 else np.nan


def _share(values: np.ndarray, weight: np.ndarray) -> float:
    total = weight.sum()
    return float(weight @ values / total) if total > 0 else np.nan


def _figure(
    measure: Callable[..., float],
    truth: np.ndarray,
    found: np.ndarray,
    weight: np.ndarray,
    behind: np.ndarray | None = None,
) -> Figure:
    """A measure with its standard error over rows that are drawn anew."""
    some = slice(None) if behind is None else np.flatnonzero(behind | (weight > 0))
    t, s, w = truth[some], found[some], weight[some]
    cases = len(truth) if behind is None else int(np.sum(behind))
    if not len(t):
        return Figure(np.nan, np.nan, cases)
    rng = np.random.RandomState(0)
    again = np.array([measure(t, s, w * rng.poisson(1.0, len(t))) for _ in range(_RESAMPLES)])
    spread = float(np.std(again[~np.isnan(again)])) if np.any(~np.isnan(again)) else np.nan
    return Figure(measure(t, s, w), spread, cases)


def _table(figures: dict[str, dict[str, Figure]], shown: Callable[[Figure], str]) -> str:
    names = list(next(iter(figures.values())))
    return aligned([["", *map(_cut, names)], *([m, *map(shown, found.values())] for m, found in figures.items())])


def _cut(text: str, most: int = 40) -> str:
    """A name that does not break the table; one line, not too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Cells in columns: the first on the left, the others on the right.

    Examples
    --------
    >>> print(aligned([["", "recall"], ["ours", "0.9"]]))
          recall
    ours     0.9
    """
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if c == 0 else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
