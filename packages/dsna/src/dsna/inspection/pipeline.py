"""Explanations of pipelines, with names and values of the pipeline's input."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError, warn_caller
from .columns import is_kept_rows
from .explanation import Explanation


def explain(model: Any, X: Any, *, train: Any = None, id: Any = None) -> Explanation:
    """Explain predictions of a model, a pipeline or a search over these by the training rows behind them.

    With a pipeline, the steps before the last one transform ``X``, and the last one explains it. Names and values are
    those of ``X`` and ``train`` before they are transformed. If the pipeline starts with a
    :class:`dsna.tables.TableEncoder` that keeps its rows, as models of ``dsna train`` do, these rows are shown.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor, Pipeline that ends in one, or search with such a best estimator.
    X : data frame or array of shape (n, n_columns)
        The rows to explain.
    train : data frame or array, optional
        The rows given to ``fit``, in the same order, to show their values. Additional columns are ignored.
    id : name of a column of ``train``, or array with one identifier for each training row, optional
        Identifiers of the training rows.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.inspection import explain
    >>> frame = pd.DataFrame({"colour": ["red", "blue", "green", "red"] * 20, "size": range(80)})
    >>> columns = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    >>> model = make_pipeline(columns, DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0))
    >>> model = model.fit(frame, frame["size"] > 60)
    >>> why = explain(model, frame[:1], train=frame, id=[f"ball {i}" for i in range(80)])
    >>> why.compare(largest=2).index.tolist()
    ['id', 'class', 'weight', 'colour', 'size']
    """
    model = getattr(model, "best_estimator_", model)
    steps, last = split_pipeline(model)
    if not hasattr(last, "explain"):
        subject = "The last step of the pipeline" if isinstance(model, Pipeline) else "The model"
        raise DSNAError(
            f"{subject} is a {type(last).__name__}, whose predictions do not come from training rows: use "
            "DSNAClassifier or DSNARegressor there."
        )
    check_is_fitted(last, msg="The %(name)s is not fitted yet: call fit of the model or pipeline before explain.")
    explanation: Explanation
    if not steps:
        explanation = last.explain(X, train=train, id=id)
        return explanation
    resamplers = [name for name, step in steps if hasattr(step, "fit_resample")]
    if resamplers and (train is not None or id is not None):
        raise DSNAError(
            f"The step {resamplers[0]!r} changes the rows, so that neighbours are not rows of train: call explain "
            f"without train and id, or leave the step out and set balance of {type(last).__name__}."
        )
    if train is None and id is None:
        train = getattr(steps[0][1], "rows_", None)
    names = getattr(model, "feature_names_in_", None)
    explanation = last.explain(transform_rows(steps, X))
    explanation = explanation.beside(X, train, id, names if hasattr(X, "columns") else None)
    if train is not None and not is_kept_rows(train) and not _same_rows(model, train, explanation):
        warn_caller(
            "Rows of train, transformed by the pipeline, differ from those that its last step was fitted on: check "
            "that they are the rows given to fit, in the same order. Steps that encode training rows differently from "
            "new rows, such as TargetEncoder, have the same effect."
        )
    return explanation


def split_pipeline(model: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Split a pipeline into the steps before the last, and the last; other estimators have no previous steps.

    Examples
    --------
    >>> split_pipeline("model")
    ([], 'model')
    """
    return (model.steps[:-1], model.steps[-1][1]) if isinstance(model, Pipeline) else ([], model)


def transform_rows(steps: list[tuple[str, Any]], X: Any) -> Any:
    """Transform rows by all given steps; steps that only resample or pass through are skipped.

    Examples
    --------
    >>> transform_rows([("nothing", "passthrough")], [[1.0]])
    [[1.0]]
    """
    for _, step in steps:
        X = step.transform(X) if hasattr(step, "transform") else X
    return X


def _same_rows(pipeline: Pipeline, train: Any, explanation: Explanation) -> bool:
    """Whether the rows of ``train`` in an explanation are, once transformed, those that the last step was fitted on."""
    assert explanation.train is not None
    rows = explanation.train.rows[explanation.train.rows < explanation.train.reach]
    if hasattr(train, "column_names"):  # an Arrow table
        inputs = train.select([*getattr(pipeline, "feature_names_in_", train.column_names)]).take(rows)
        return _holds(pipeline, inputs, rows)
    if hasattr(train, "columns"):
        train = train[[*getattr(pipeline, "feature_names_in_", train.columns)]]
    elif not hasattr(train, "shape"):
        train = np.array(train, dtype=object)
    inputs = train.iloc[rows] if hasattr(train, "iloc") else train[rows]
    return _holds(pipeline, inputs, rows)


def _holds(pipeline: Pipeline, inputs: Any, rows: np.ndarray) -> bool:
    """Whether the last step was fitted on these rows, with these numbers."""
    steps, last = split_pipeline(pipeline)
    return bool(np.all(last.holds_rows(transform_rows(steps, inputs), rows)))
