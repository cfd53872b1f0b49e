"""Scores of several methods on the same rows: overall, on rare cases, and by class or target range."""

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

_N_RANGES = 6
_MAX_WIDTH = 40  # characters of a name in a table


@dataclass(frozen=True)
class Scores:
    """Scores of several methods on the same rows.

    Parameters
    ----------
    task : {"classification", "regression"}
    rare : description of the rare cases.
    overall : figures by measure, by method.
    parts : figures of each class (recall) or target range (mean absolute error), by method.
    measure : name of the measure in ``parts``.

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
        """Format two tables for a terminal: figures with 95 % ranges, overall and by class or target range."""
        names = [_shorten(name) for name in next(iter(self.overall.values()))]
        overall = [
            ["", *names],
            *([method, *map(format_figure, figures.values())] for method, figures in self.overall.items()),
        ]
        group_rows = [["", "cases", *self.parts]]
        first_figures = next(iter(self.parts.values()))
        for group, figure in first_figures.items():
            group_rows.append(
                [
                    _shorten(group),
                    str(figure.cases),
                    *(format_figure(figures[group]) for figures in self.parts.values()),
                ]
            )
        any_hidden = any(figure.few for figure in first_figures.values())
        note = [f"-: fewer than {FEWEST} cases, too few to say"] if any_hidden else []
        return "\n".join([align_columns(overall), "", f"{self.measure}:", align_columns(group_rows), *note])

    def beside_apart(self, apart: Scores) -> str:
        """Compare the first score with the one for equal rows in different folds; empty if they are the same."""
        method, figures = next(iter(apart.overall.items()))
        name, figure = next(iter(figures.items()))
        grouped, ungrouped = written(self.overall[method][name].value), written(figure.value)
        if grouped == ungrouped:
            return ""
        return (
            f"With equal rows held out together, as above, the {name} of {method} is {grouped}; with equal rows in "
            f"different folds it would be {ungrouped}, because rows would be predicted from their copies."
        )

    def as_json(self) -> dict[str, Any]:
        """Convert to plain values for JSON."""

        def plain(figures: dict[str, dict[str, Figure]]) -> dict[str, Any]:
            return {
                method: {name: as_plain(figure) for name, figure in by_name.items()}
                for method, by_name in figures.items()
            }

        return {
            "rare": self.rare,
            "overall": plain(self.overall),
            "parts": plain(self.parts),
            "of_parts": self.measure,
        }


def as_plain(figure: Figure) -> dict[str, Any]:
    """Convert a figure to plain values for JSON; numbers that are not finite become None.

    Examples
    --------
    >>> as_plain(Figure(0.5, float("nan"), float("nan"), 3))
    {'value': 0.5, 'low': None, 'high': None, 'cases': 3}
    """
    numbers = zip(("value", "low", "high"), figure[:3], strict=True)
    return {**{name: float(value) if np.isfinite(value) else None for name, value in numbers}, "cases": figure.cases}


def format_figure(figure: Figure) -> str:
    """Format a figure and its range for a terminal; "-" if there are too few cases.

    Examples
    --------
    >>> format_figure(Figure(0.5, 0.4, 0.6, 90)), format_figure(Figure(0.5, 0.4, 0.6, 9))
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
    rare : the rare class; None: the rarest of ``truth``.
    """
    classes, code = np.unique(truth, return_inverse=True)
    total = np.bincount(code, weights=cases.weight)
    rare = classes[int(np.argmin(np.where(total > 0, total, np.inf)))] if rare is None else rare
    name = said(rare)
    overall, by_group = {}, {}
    for method, predictions in answers.items():
        by_class = {
            said(figures.name): figures for figures in class_figures(truth, predictions, [*classes, rare], cases)
        }
        is_correct = truth == predictions
        overall[method] = {
            "balanced accuracy": balanced_accuracy(code, is_correct, cases),
            f"recall of {name}": by_class[name].recall,
            f"precision of {name}": by_class[name].precision,
            "accuracy": cases.share(is_correct),
        }
        by_group[method] = {said(label): by_class[said(label)].recall for label in classes}
    return Scores("classification", name, overall, by_group, "recall by class")


def target_scores(
    truth: np.ndarray, answers: dict[str, np.ndarray], cases: Cases, rare: np.ndarray, training: np.ndarray
) -> Scores:
    """Mean absolute error overall and on rare targets, R2, and the error in each target range.

    Parameters
    ----------
    truth : (n,) targets.
    answers : (n,) predicted targets, by method.
    cases : weights and groups of the rows.
    rare : (n,) mask of rows with rare targets.
    training : (N,) training targets, which the ranges span.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.arange(100.0)
    >>> scores = target_scores(truth, {"dsna": truth + 1.0}, Cases.of(100), truth > 90, truth)
    >>> round(scores.overall["dsna"]["of rare targets"].value, 6), len(scores.parts["dsna"])
    (1.0, 6)
    """
    edges = range_edges(training, _N_RANGES)
    overall, by_group = {}, {}
    for method, predictions in answers.items():
        errors = np.abs(truth - predictions)
        overall[method] = {
            "mean absolute error": cases.mean(errors),
            "of rare targets": cases.part(rare).mean(errors[rare]),
            "R2": explained_variance(truth, predictions, cases),
        }
        by_group[method] = {
            f"{said(range_figure.low)} to {said(range_figure.high)}": range_figure.error
            for range_figure in range_figures(truth, predictions, edges, cases)
        }
    return Scores("regression", "the rarest tenth of the targets", overall, by_group, "mean absolute error by range")


def _shorten(text: str) -> str:
    """Shorten a name to one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_WIDTH else f"{line[: _MAX_WIDTH - 3]}..."


def align_columns(lines: Sequence[Sequence[str]]) -> str:
    """Align cells in columns: the first to the left, the others to the right.

    Examples
    --------
    >>> print(align_columns([["", "recall"], ["ours", "0.9"]]))
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
