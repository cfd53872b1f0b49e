"""Scores of several methods on the same rows of known target: overall, on the rare part, and by class or range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inspection.comparison import said
from ..inspection.figures import (
    FEWEST,
    Cases,
    Figure,
    balanced_accuracy,
    class_figures,
    explained_variance,
    range_edges,
    range_figures,
    written,
)

_RANGES = 6
_WIDEST = 40  # letters of a name in a table


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
    >>> scores = class_scores(truth, {"always a": np.repeat("a", 100)}, Cases.of(100))
    >>> scores.rare, round(scores.overall["always a"]["balanced accuracy"].value, 6)
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
        """Two tables for a terminal: overall figures with their 95 % ranges, and those of each class or range."""
        names = [_cut(name) for name in next(iter(self.overall.values()))]
        overall = [["", *names], *([method, *map(shown, found.values())] for method, found in self.overall.items())]
        parts = [["", "cases", *self.parts]]
        by_part = next(iter(self.parts.values()))
        for part, figure in by_part.items():
            parts.append([_cut(part), str(figure.cases), *(shown(found[part]) for found in self.parts.values())])
        few = any(figure.few for figure in by_part.values())
        note = [f"-: fewer than {FEWEST} cases, too few to say"] if few else []
        return "\n".join([aligned(overall), "", f"{self.measure}:", aligned(parts), *note])

    def beside_apart(self, apart: Scores) -> str:
        """How the first score differs from that of equal rows in different folds; empty where it does not."""
        method, figures = next(iter(apart.overall.items()))
        name, figure = next(iter(figures.items()))
        held, other = written(self.overall[method][name].value), written(figure.value)
        if held == other:
            return ""
        return (
            f"With equal rows held out together, as above, the {name} of {method} is {held}; with equal rows in "
            f"different folds it would be {other}, because rows would be predicted from their copies."
        )

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""

        def plain(figures: dict[str, dict[str, Figure]]) -> dict[str, Any]:
            return {
                method: {name: as_plain(figure) for name, figure in found.items()} for method, found in figures.items()
            }

        return {"rare": self.rare, "overall": plain(self.overall), "parts": plain(self.parts), "of_parts": self.measure}


def as_plain(figure: Figure) -> dict[str, Any]:
    """A figure as JSON holds it; None for what is not known.

    Examples
    --------
    >>> as_plain(Figure(0.5, float("nan"), float("nan"), 3))
    {'value': 0.5, 'low': None, 'high': None, 'cases': 3}
    """
    numbers = zip(("value", "low", "high"), figure[:3], strict=True)
    return {**{name: float(one) if np.isfinite(one) else None for name, one in numbers}, "cases": figure.cases}


def shown(figure: Figure) -> str:
    """A figure and its range for a terminal; "-" where there are too few cases.

    Examples
    --------
    >>> shown(Figure(0.5, 0.4, 0.6, 90)), shown(Figure(0.5, 0.4, 0.6, 9))
    ('0.500 (0.400 to 0.600)', '-')
    """
    return "-" if figure.few else f"{written(figure.value)} ({written(figure.low)} to {written(figure.high)})"


def class_scores(truth: np.ndarray, answers: dict[str, np.ndarray], cases: Cases, rare: Any = None) -> Scores:
    """Balanced accuracy, recall and precision of the rarest class, accuracy, and recall of each class.

    Parameters
    ----------
    truth : (n,) classes.
    answers : (n,) predicted classes, by method.
    cases : weights and groups of the rows.
    rare : the class that counts as rare; None: the rarest of ``truth``.
    """
    classes, code = np.unique(truth, return_inverse=True)
    total = np.bincount(code, weights=cases.weight)
    rare = classes[int(np.argmin(np.where(total > 0, total, np.inf)))] if rare is None else rare
    name = said(rare)
    overall, parts = {}, {}
    for method, found in answers.items():
        by_class = {said(one.name): one for one in class_figures(truth, found, [*classes, rare], cases)}
        right = truth == found
        overall[method] = {
            "balanced accuracy": balanced_accuracy(code, right, cases),
            f"recall of {name}": by_class[name].recall,
            f"precision of {name}": by_class[name].precision,
            "accuracy": cases.share(right),
        }
        parts[method] = {said(one): by_class[said(one)].recall for one in classes}
    return Scores("classification", name, overall, parts, "recall by class")


def target_scores(
    truth: np.ndarray, answers: dict[str, np.ndarray], cases: Cases, rare: np.ndarray, training: np.ndarray
) -> Scores:
    """Mean absolute error overall and on rare targets, R2, and the error in each range of targets.

    Parameters
    ----------
    truth : (n,) targets.
    answers : (n,) predicted targets, by method.
    cases : weights and groups of the rows.
    rare : (n,) which rows have rare targets.
    training : (N,) targets of training, which the ranges span.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.arange(100.0)
    >>> scores = target_scores(truth, {"dsna": truth + 1.0}, Cases.of(100), truth > 90, truth)
    >>> round(scores.overall["dsna"]["of rare targets"].value, 6), len(scores.parts["dsna"])
    (1.0, 6)
    """
    edges = range_edges(training, _RANGES)
    overall, parts = {}, {}
    for method, found in answers.items():
        off = np.abs(truth - found)
        overall[method] = {
            "mean absolute error": cases.mean(off),
            "of rare targets": cases.part(rare).mean(off[rare]),
            "R2": explained_variance(truth, found, cases),
        }
        parts[method] = {
            f"{said(one.low)} to {said(one.high)}": one.error for one in range_figures(truth, found, edges, cases)
        }
    return Scores("regression", "the rarest tenth of the targets", overall, parts, "mean absolute error by range")


def _cut(text: str) -> str:
    """A name that does not break the table: one line, not too long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDEST else f"{flat[: _WIDEST - 3]}..."


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
