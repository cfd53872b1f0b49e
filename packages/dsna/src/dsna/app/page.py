"""The report of a trained pipeline: its rows, its scores and what was noted, for :mod:`dsna.report`."""

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
    """What a page says beside what it finds.

    Parameters
    ----------
    model_file, data_file : names of files, for the commands that the page prints.
    notes : what was read and mended.
    left_out : columns that are not used, and why.
    scores : of this method and others, or None.
    scores_from : a sentence that says on which rows the scores were made.
    groups : (n,) which rows belong together, or None.
    suspects : rows whose labels hardly fit, where they are known already.
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
    looked : the rows that were looked at, and what is said of them.
    worst : the most doubtful, worst first: row, id (None where rows have no names), label and what neighbours say.
    """

    looked: LookedAt
    worst: list[dict[str, Any]]

    @property
    def number(self) -> int:
        """How many rows are doubtful."""
        return len(self.looked.worst)

    def lines(self) -> list[str]:
        """The same for a terminal."""
        compared = f"The labels of {self.looked.scope} were compared with the rows around them"
        if not self.worst:
            return [f"{compared}: none clearly contradicts them."]
        which = "" if len(self.worst) == self.number else f"; the worst {len(self.worst)} are"
        return [
            f"{compared}: {self.number:,} hardly fit{which}:",
            *(
                f"  row {one['row']}{'' if one['id'] is None else ' (' + one['id'] + ')'}: {one['label']}, "
                f"neighbours say {one['neighbours_say']}"
                for one in self.worst
            ),
            "(found by trees and rows of other folds; some labels may be wrong, others are rare but right)",
        ]


def suspects(trained: Trained, most: int = 10) -> Suspects:
    """The rows of a trained model, as users know them, whose labels hardly fit the rows around them."""
    rows, last = trained.rows, trained.model.steps[-1][1]
    looked = look_at_rows(trained.model, rows.frame.drop(rows.target.name))
    names = [clean(name, 60) for name in last.classes_] if is_classification(trained.model) else []
    worst = []
    for place in looked.worst[:most].tolist():
        row, label = int(looked.rows[place]), looked.label[place]
        worst.append(
            {
                "row": int(rows.target.rows[row]) + 1,
                "id": None if rows.id is None else clean(rows.frame[rows.id][row], 60),
                "label": names[int(label)] if names else f"{label:.4g}",
                "neighbours_say": looked.says(place, names),
            }
        )
    return Suspects(looked, worst)


def write_model_page(path: str | os.PathLike[str], model: Pipeline, options: PageOptions) -> None:
    """Write the page of a loaded model, of the training rows that it holds."""
    encoder, last = (step for _, step in model.steps)
    rows = encoder.rows_
    if rows is None:
        raise DSNAError(
            "the model does not hold its training rows, which the page shows. Remedy: train without --no-rows, or with "
            "--report."
        )
    frame = import_extra("polars", "app").DataFrame(rows.data())
    n = len(rows)
    y = last.classes_[last._code[:n]] if is_classification(model) else last._index.label[:n, 0]
    _write(path, model, frame, y, None if rows.id is None else rows.id_name, options)


def _write(
    path: str | os.PathLike[str], model: Pipeline, frame: Any, y: np.ndarray, id: str | None, options: PageOptions
) -> None:
    from ..report import About, collect, write_report

    target = model.steps[0][1].target or "target"
    numbers = row_numbers(model.steps[0][1], np.arange(frame.height)).tolist()
    about = About(
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
    data = collect(model, frame, y, scores=scores, notes=options.notes, groups=options.groups, about=about)
    write_report(path, data)


def score_rows(scores: Scores) -> list[dict[str, Any]]:
    """Scores as the report takes them: a mean and a range of 95 % for each method and metric.

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
        for method, found in scores.overall.items()
        for metric, figure in found.items()
    ]
