"""Out-of-bag explanations of training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError
from .._utils.validation import check_rows
from .explanation import Explanation
from .pipeline import split_pipeline, transform_rows


def explain_out_of_bag(model: Any, X: Any, rows: Any = None, *, id: Any = None) -> Explanation:
    """Explain out-of-bag predictions of training rows by other training rows.

    ``model.explain(X)`` would find each training row as its own nearest neighbour. Here, neighbours are rows of other
    held-out folds, found by trees that were grown without the row's fold. In classification, the weights sum to the
    row of ``oob_decision_function_``. In regression, they give a prediction that is close but not equal to
    ``oob_prediction_``: distances are measured in the metric of all trees, because the metric of each fold is not
    stored.

    Parameters
    ----------
    model : fitted DSNAClassifier or DSNARegressor, or Pipeline that ends in one
    X : data frame or array of shape (n, n_columns)
        All rows given to ``fit``, in the same order.
    rows : array of row numbers, optional
        Rows among ``oob_rows_`` to explain; None for all of them.
    id : name of a column of ``X``, or array with one identifier for each training row, optional
        Identifiers of the training rows.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> from dsna.inspection import explain_out_of_bag
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DSNARegressor(CostSensitiveForestRegressor(20), random_state=0).fit(X, y)
    >>> why = explain_out_of_bag(model, X, [7])
    >>> 7 in why.rows
    False
    """
    last = split_pipeline(getattr(model, "best_estimator_", model))[1]
    if not hasattr(last, "_explain_oob"):
        raise DSNAError(
            f"{type(last).__name__} has no out-of-bag explanations: pass a DSNAClassifier, a DSNARegressor or a "
            "pipeline that ends in one."
        )
    check_is_fitted(last)
    numbers = last.oob_rows_ if rows is None else np.atleast_1d(np.asarray(rows))
    unknown = numbers[~np.isin(numbers, last.oob_rows_)]
    if len(unknown):
        raise DSNAError(f"Row {unknown[0]} has no out-of-bag prediction: pass numbers from oob_rows_ of the model.")
    values = training_values(model, X, numbers)
    if not np.all(last.holds_rows(values, numbers)):
        raise DSNAError(
            "Rows of X differ from those that the model was fitted on: pass the rows given to fit, in the same order. "
            "A step that encodes training rows differently from new rows, such as TargetEncoder, has the same effect."
        )
    names = getattr(model, "feature_names_in_", None)
    explanation: Explanation = last._explain_oob(values, numbers)
    return explanation.beside(select_rows(X, numbers), X, id, names if hasattr(X, "columns") else None)


def training_values(model: Any, X: Any, rows: np.ndarray) -> np.ndarray:
    """(n, n_features) training rows as inputs of the last step of a pipeline; ``X`` may have other columns too.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> X = np.arange(60.0)[:, None]
    >>> model = make_pipeline(StandardScaler(), DSNARegressor(CostSensitiveForestRegressor(5))).fit(X, X[:, 0])
    >>> training_values(model, X, np.array([0, 59])).round(2).tolist()
    [[-1.7], [1.7]]
    """
    steps, last = split_pipeline(getattr(model, "best_estimator_", model))
    names = getattr(model, "feature_names_in_", None)
    inputs = X[[*names]] if names is not None and hasattr(X, "columns") else X
    return check_rows(last, transform_rows(steps, select_rows(inputs, rows)), reset=False)


def select_rows(X: Any, rows: np.ndarray) -> Any:
    """Select rows of a data frame, array or list by number.

    Examples
    --------
    >>> import numpy as np
    >>> select_rows([[1, 2], [3, 4]], np.array([1]))
    array([[3, 4]], dtype=object)
    """
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return np.array(X, dtype=object)[rows]
