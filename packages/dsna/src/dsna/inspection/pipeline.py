"""Explanations of models that are steps of a pipeline, in the words of the pipeline's own input."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError, warn_caller
from ..tables.kept_rows import KeptRows
from .explanation import Explanation


def explain(model: Any, X: Any, *, train: Any = None, id: Any = None) -> Explanation:
    """Which training rows made each prediction of a model, a pipeline or a search over these.

    Of a pipeline, ``X`` is transformed by the steps before the last, which explains it; names and values are those of
    ``X`` and ``train`` as they went into the pipeline, not the encoded ones. Where the pipeline begins with a
    :class:`dsna.tables.TableEncoder` that keeps its rows, as models of ``dsna train`` do, these are shown.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor, Pipeline that ends in one, or search with such a best estimator.
    X : data frame or array of shape (n, n_columns)
        The rows to explain.
    train : data frame or array, optional
        The rows given to ``fit``, in their order, to show their values; it may hold further columns.
    id : name of a column of ``train``, or array with one identifier for each training row, optional
        What the training rows are called.

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
        where = "The last step of the pipeline" if isinstance(model, Pipeline) else "The model"
        raise DSNAError(
            f"{where} is a {type(last).__name__}, whose predictions do not come from training rows: use DSNAClassifier "
            "or DSNARegressor there."
        )
    check_is_fitted(last, msg="The %(name)s is not fitted yet: call fit of the model or pipeline before explain.")
    if not steps:
        explained: Explanation = last.explain(X, train=train, id=id)
        return explained
    resamplers = [name for name, step in steps if hasattr(step, "fit_resample")]
    if resamplers and (train is not None or id is not None):
        raise DSNAError(
            f"The step {resamplers[0]!r} changes the rows, so that neighbours are not rows of train: call explain "
            f"without train and id, or leave the step out and set balance of {type(last).__name__}."
        )
    if train is None and id is None:
        train = getattr(steps[0][1], "rows_", None)
    names = getattr(model, "feature_names_in_", None)
    plain: Explanation = last.explain(transformed(steps, X))
    why = plain.beside(X, train, id, names if hasattr(X, "columns") else None)
    if train is not None and not isinstance(train, KeptRows) and not _same_rows(model, train, why):
        warn_caller(
            "Rows of train, transformed by the pipeline, are not those that its last step was fitted on: check that "
            "they are the rows given to fit, in their order. Steps that encode training rows otherwise than new ones, "
            "such as TargetEncoder, have the same effect."
        )
    return why


def split_pipeline(model: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Steps before the last, and the last; a bare estimator has no others.

    Examples
    --------
    >>> split_pipeline("model")
    ([], 'model')
    """
    return (model.steps[:-1], model.steps[-1][1]) if isinstance(model, Pipeline) else ([], model)


def transformed(steps: list[tuple[str, Any]], X: Any) -> Any:
    """Rows as the last step sees them; steps that only resample, or pass through, leave new rows alone.

    Examples
    --------
    >>> transformed([("nothing", "passthrough")], [[1.0]])
    [[1.0]]
    """
    for _, step in steps:
        X = step.transform(X) if hasattr(step, "transform") else X
    return X


def _same_rows(pipeline: Pipeline, train: Any, why: Explanation) -> bool:
    """Whether rows of ``train`` become those that the last step was fitted on, as far as an explanation names them."""
    assert why.train is not None
    rows = why.train.rows[why.train.rows < why.train.reach]
    if hasattr(train, "column_names"):  # of Arrow
        some = train.select([*getattr(pipeline, "feature_names_in_", train.column_names)]).take(rows)
        return _holds(pipeline, some, rows)
    if hasattr(train, "columns"):
        train = train[[*getattr(pipeline, "feature_names_in_", train.columns)]]
    elif not hasattr(train, "shape"):
        train = np.array(train, dtype=object)
    some = train.iloc[rows] if hasattr(train, "iloc") else train[rows]
    return _holds(pipeline, some, rows)


def _holds(pipeline: Pipeline, some: Any, rows: np.ndarray) -> bool:
    """Whether the last step was fitted on these rows, under these numbers."""
    steps, last = split_pipeline(pipeline)
    return bool(np.all(last.holds_rows(transformed(steps, some), rows)))
