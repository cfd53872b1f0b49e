"""Data of a report, collected from a fitted model and its training table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._utils.errors import DSNAError
from ..inspection.figures import FEWEST
from .answers import OutOfBagAnswers, out_of_bag_answers
from .cases import score_cases, select_cases, why_section
from .classes import class_decide, class_quality
from .data import About, DataSection, ReportData, Score
from .ranges import range_decide, range_quality
from .suspects import deciders, doubtful_cases, look_at_rows, suspect_section
from .table import class_bars, summarize_columns, target_bars
from .text import EXACT, clean, percent, rounded

_MAX_CASES, _MIN_CASES, _CASE_CELLS = 400, 40, 50_000


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
    """Collect the data of a report from out-of-bag predictions, weighted by the rows that they represent.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor (one output), or Pipeline that ends in one
    X : data frame or array of shape (n, n_columns)
        The rows given to ``fit``, in the same order; for a pipeline, the inputs of its first step.
    y : array of shape (n,)
        Their classes or targets.
    scores : list of mappings, optional
        Scores of this model and of others, computed elsewhere: ``method``, ``metric``, ``mean``, ``low``, ``high``.
    notes : sequence of str
        Sentences about the preparation of the data.
    groups : array of shape (n,), optional
        Rows of one group are not independent; confidence intervals take that into account.
    about : About, optional
        Title, file names, identifiers of rows, number of cases.

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
    checked_scores = _checked_scores(scores)
    answers = out_of_bag_answers(model, X, y, groups, about.id)
    names = tuple(clean(name, 60) for name in answers.model.classes_) if answers.is_classification else ()
    case_scores = score_cases(answers)
    looked = look_at_rows(model, X) if about.looked is None else about.looked
    doubts = doubtful_cases(answers, case_scores)
    n_cases = _default_cases(len(answers.table.names)) if about.cases is None else max(1, about.cases)
    case_numbers = select_cases(answers, case_scores, n_cases)
    influential = np.array([row for row, *_ in deciders(answers, doubts)], dtype=np.int64)
    cases = why_section(answers, case_scores, case_numbers, influential)
    shown_rows = np.array(cases.rows.number)
    quality = class_quality(answers, names) if names else range_quality(answers)
    return ReportData(
        task="classification" if answers.is_classification else "regression",
        title=clean(about.title),
        model_file=clean(about.model_file),
        data_file=clean(about.data_file),
        classes=names,
        n_cases=len(answers.rows),
        fewest=FEWEST,
        data=_data_section(answers, names, tuple(clean(note) for note in notes), about),
        quality=replace(quality, scores=checked_scores, scores_from=clean(about.scores_from)),
        decide=class_decide(answers, groups is not None) if names else range_decide(answers),
        why=cases,
        suspects=suspect_section(answers, case_scores, looked, case_numbers, shown_rows, names),
    )


def _default_cases(n_columns: int) -> int:
    """Default number of cases on the page, each with up to six rows beside it."""
    return min(_MAX_CASES, max(_MIN_CASES, _CASE_CELLS // max(n_columns, 1)))


def _checked_scores(scores: Iterable[Mapping[str, Any]] | None) -> tuple[Score, ...]:
    fields = ("method", "metric", "mean", "low", "high")
    checked = []
    for score in scores or ():
        missing = [name for name in fields if name not in score]
        if missing:
            raise DSNAError(f"A score lacks {', '.join(missing)}: give {', '.join(fields)} for each.")
        if np.isfinite([score["mean"], score["low"], score["high"]]).all():
            numbers = {name: rounded(score[name], EXACT) for name in fields[2:]}
            checked.append(Score(method=clean(score["method"], 60), metric=clean(score["metric"], 60), **numbers))
    return tuple(checked)


def _data_section(
    answers: OutOfBagAnswers, names: tuple[str, ...], notes: tuple[str, ...], about: About
) -> DataSection:
    target = clean(about.target, 120)
    if names:
        counts = np.bincount(answers.label, minlength=len(names))
        is_rare = np.array([bool(answers.rare[answers.label == c].any()) for c in range(len(names))])
        bars = class_bars(names, counts, is_rare)
        n_rows = len(answers.label)
        rare_classes = [f"{names[c]} ({counts[c]:,} of {n_rows:,} rows)" for c in np.flatnonzero(is_rare)]
        rare = f"Rare: {', '.join(rare_classes)}."
    else:
        bars = target_bars(answers.label, answers.rare)
        share = float(answers.rare.mean())
        rare = f"Rare: the {percent(share)} of rows with the least common targets."
    return DataSection(
        n_rows=len(answers.label),
        target=target,
        columns=summarize_columns(answers.table),
        distribution=bars,
        rare=rare,
        notes=notes,
        left_out=tuple((clean(name, 120), clean(reason)) for name, reason in about.left_out),
    )
