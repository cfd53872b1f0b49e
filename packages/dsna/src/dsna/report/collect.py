"""Everything that a report shows, gathered from a fitted model and the table it was fitted on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.errors import DSNAError
from ..inspection.figures import FEWEST
from .answers import Answered, answered
from .cases import judged, picked_cases, why_section
from .classes import class_decide, class_quality
from .data import About, DataSection, ReportData, Score
from .ranges import range_decide, range_quality
from .suspects import deciders, doubtful, look_at_rows, suspect_section
from .table import class_bars, summarize_columns, target_bars
from .text import EXACT, clean, percent, rounded

_CASES, _FEWEST_CASES, _CASE_CELLS = 400, 40, 50_000


def collect(
    model: Any,
    X: Any,
    y: Any,
    *,
    scores: Iterable[Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
    groups: Any = None,
    about: About | None = None,
) -> ReportData:
    """Gather what a report shows; all answers to training rows are out of bag, and weighted by what they stand for.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor (one output), or Pipeline that ends in one
    X : data frame or array of shape (n, n_columns)
        The rows given to ``fit``, in their order; of a pipeline, as they went into its first step.
    y : array of shape (n,)
        Their classes or targets.
    scores : list of mappings, optional
        Scores of this model and of others, made elsewhere: ``method``, ``metric``, ``mean``, ``low``,
        ``high``.
    notes : sequence of str
        What was done to the data, a sentence each.
    groups : array of shape (n,), optional
        Rows of one group are not independent; ranges of figures take that into account.
    about : About, optional
        Title, names of files, identifiers of rows, number of cases.

    Returns
    -------
    ReportData

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.report import collect
    >>> X, y = load_wine(return_X_y=True)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    >>> data = collect(model, X, y)
    >>> data.classes, data.n_cases
    (('0', '1', '2'), 178)
    """
    about = About() if about is None else about
    table_of_scores = _checked_scores(scores)
    at = answered(model, X, y, groups, about.id)
    names = tuple(clean(name, 60) for name in at.model.classes_) if at.is_classification else ()
    how = judged(at)
    looked = look_at_rows(model, X) if about.looked is None else about.looked
    doubts = doubtful(at, how)
    some = picked_cases(at, how, _usual_cases(len(at.table.names)) if about.cases is None else max(1, about.cases))
    further = np.array([row for row, *_ in deciders(at, doubts)], dtype=np.int64)
    why = why_section(at, how, some, further)
    shown = np.array(why.rows.number)
    quality = class_quality(at, names) if names else range_quality(at)
    return ReportData(
        task="classification" if at.is_classification else "regression",
        title=clean(about.title),
        model_file=clean(about.model_file),
        data_file=clean(about.data_file),
        classes=names,
        n_cases=len(at.rows),
        fewest=FEWEST,
        data=_data_section(at, names, tuple(clean(note) for note in notes), about),
        quality=replace(quality, scores=table_of_scores, scores_from=clean(about.scores_from)),
        decide=class_decide(at, groups is not None) if names else range_decide(at),
        why=why,
        suspects=suspect_section(at, how, looked, some, shown, names),
    )


def _usual_cases(n_columns: int) -> int:
    """How many cases are explained on the page, each with up to six rows beside it."""
    return min(_CASES, max(_FEWEST_CASES, _CASE_CELLS // max(n_columns, 1)))


def _checked_scores(scores: Iterable[Mapping[str, Any]] | None) -> tuple[Score, ...]:
    wanted = ("method", "metric", "mean", "low", "high")
    found = []
    for score in scores or ():
        lacking = [name for name in wanted if name not in score]
        if lacking:
            raise DSNAError(f"A score lacks {', '.join(lacking)}: give {', '.join(wanted)} for each.")
        if np.isfinite([score["mean"], score["low"], score["high"]]).all():
            numbers = {name: rounded(score[name], EXACT) for name in wanted[2:]}
            found.append(Score(method=clean(score["method"], 60), metric=clean(score["metric"], 60), **numbers))
    return tuple(found)


def _data_section(at: Answered, names: tuple[str, ...], notes: tuple[str, ...], about: About) -> DataSection:
    target = clean(about.target, 120)
    if names:
        counts = np.bincount(at.label, minlength=len(names))
        marked = np.array([bool(at.rare[at.label == c].any()) for c in range(len(names))])
        bars = class_bars(names, counts, marked)
        said = ", ".join(f"{names[c]} ({counts[c]:,} of {len(at.label):,} rows)" for c in np.flatnonzero(marked))
        rare = f"Rare: {said}."
    else:
        bars = target_bars(at.label, at.rare)
        share = float(at.rare.mean())
        rare = f"Rare: the {percent(share)} of rows whose target has the fewest others around it."
    return DataSection(
        n_rows=len(at.label),
        target=target,
        columns=summarize_columns(at.table),
        distribution=bars,
        rare=rare,
        notes=notes,
        left_out=tuple((clean(name, 120), clean(reason)) for name, reason in about.left_out),
    )
