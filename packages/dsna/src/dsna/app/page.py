"""Report pages of trained pipelines: rows, scores and notes for :mod:`dsna.report`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._utils.errors import DSNAError
from .._utils.optional import import_extra
from ..report.suspects import LookedAt, look_at_rows
from ..report.text import clean
from .predict import is_classification, row_numbers
from .scores import Scores
from .train import Trained


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Content of a report page beyond the model itself.

    Parameters
    ----------
    model_file, data_file : names of files, for the commands that the page prints.
    notes : notes on reading the table.
    left_out : unused columns and the reason for each.
    scores : scores of dsna and other methods, or None.
    scores_from : a sentence that says on which rows the scores were computed.
    groups : (n,) group of each row, or None.
    suspects : rows with doubtful labels, if already computed.
    """

    model_file: str = "model.dsna"
    data_file: str = "data.csv"
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    scores: Scores | None = None
    scores_from: str = (
        "All methods answered the same rows out of bag, those behind the figures at the top of this page."
    )
    groups: np.ndarray | None = None
    suspects: Suspects | None = None


def write_training_page(path: str | os.PathLike[str], trained: Trained, options: PageOptions) -> None:
    """Write the page of a model that was just trained."""
    rows = trained.rows
    frame = rows.frame.drop(rows.target.name)
    _write(path, trained.model, frame, rows.target.values, rows.id, options)


class Suspects(NamedTuple):
    """Rows whose neighbours disagree with their class or target.

    Attributes
    ----------
    looked : the inspected rows with their results.
    worst : the most doubtful rows, worst first: row, id (None if rows have no names), label and neighbours' opinion.
    """

    looked: LookedAt
    worst: list[dict[str, Any]]

    @property
    def number(self) -> int:
        """Number of doubtful rows."""
        return len(self.looked.worst)

    def lines(self) -> list[str]:
        """Format the suspects for a terminal."""
        compared = f"The labels of {self.looked.scope} were compared with the rows around them"
        if not self.worst:
            return [f"{compared}: none clearly contradicts them."]
        worst_note = "" if len(self.worst) == self.number else f"; the worst {len(self.worst)} are"
        return [
            f"{compared}: {self.number:,} hardly fit{worst_note}:",
            *(
                f"  row {suspect['row']}{'' if suspect['id'] is None else ' (' + suspect['id'] + ')'}: "
                f"{suspect['label']}, neighbours say {suspect['neighbours_say']}"
                for suspect in self.worst
            ),
            "(found by trees and rows of other folds; some labels may be wrong, others are rare but right)",
        ]


def suspects(trained: Trained, n_rows: int = 10) -> Suspects:
    """Training rows whose labels contradict their neighbours, numbered as in the user's file."""
    rows, estimator = trained.rows, trained.model.steps[-1][1]
    inspected = look_at_rows(trained.model, rows.frame.drop(rows.target.name))
    names = [clean(name, 60) for name in estimator.classes_] if is_classification(trained.model) else []
    worst = []
    for position in inspected.worst[:n_rows].tolist():
        row, label = int(inspected.rows[position]), inspected.label[position]
        worst.append(
            {
                "row": int(rows.target.rows[row]) + 1,
                "id": None if rows.id is None else clean(rows.frame[rows.id][row], 60),
                "label": names[int(label)] if names else f"{label:.4g}",
                "neighbours_say": inspected.says(position, names),
            }
        )
    return Suspects(inspected, worst)


def write_model_page(path: str | os.PathLike[str], model: Pipeline, options: PageOptions) -> None:
    """Write the page of a loaded model, from the training rows that it holds."""
    encoder, estimator = (step for _, step in model.steps)
    rows = encoder.rows_
    if rows is None:
        raise DSNAError(
            "the model does not hold its training rows, which the page shows. Remedy: train without --no-rows, or with "
            "--report."
        )
    frame = import_extra("polars", "app").DataFrame(rows.data())
    n = len(rows)
    y = estimator.classes_[estimator._code[:n]] if is_classification(model) else estimator._index.label[:n, 0]
    _write(path, model, frame, y, None if rows.id is None else rows.id_name, options)


def _write(
    path: str | os.PathLike[str], model: Pipeline, frame: Any, y: np.ndarray, id: str | None, options: PageOptions
) -> None:
    from ..report import About, collect, write_report

    target = model.steps[0][1].target or "target"
    numbers = row_numbers(model.steps[0][1], np.arange(frame.height)).tolist()
    metadata = About(
        title=f"Predicting {target}",
        target=target,
        model_file=options.model_file,
        data_file=options.data_file,
        id=[f"row {number}" for number in numbers] if id is None else id,
        left_out=tuple(options.left_out.items()),
        scores_from=options.scores_from,
        looked=None if options.suspects is None else options.suspects.looked,
    )
    scores = [] if options.scores is None else score_rows(options.scores)
    data = collect(model, frame, y, scores=scores, notes=options.notes, groups=options.groups, about=metadata)
    write_report(path, data)


def score_rows(scores: Scores) -> list[dict[str, Any]]:
    """Convert scores for the report: mean and 95 % range of each metric for each method.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.app.scores import class_scores
    >>> from dsna.inspection.figures import Cases
    >>> truth = np.repeat(["a", "b"], 50)
    >>> first = score_rows(class_scores(truth, {"dsna": truth}, Cases.of(100)))[0]
    >>> first["method"], first["metric"], round(first["mean"], 6), bool(first["low"] < 1.0)
    ('dsna', 'balanced accuracy', 1.0, True)
    """
    return [
        {
            "method": method,
            "metric": metric,
            "mean": figure.value,
            "low": figure.low,
            "high": figure.high,
        }
        for method, figures in scores.overall.items()
        for metric, figure in figures.items()
    ]
