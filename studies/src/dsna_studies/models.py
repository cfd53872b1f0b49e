"""Preparation of estimators for a study: fewer trees, loaded kernels, rows of a group held out together."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import clone


def with_trees(model: Any, max_trees: int) -> Any:
    """Limit the number of trees of an estimator's forests.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> with_trees(RandomForestRegressor(100), 5).n_estimators
    5
    """
    if getattr(model, "forest", False) is None:
        model.set_params(forest=model.default_forest())
    counts = {name: value for name, value in model.get_params().items() if name.split("__")[-1] == "n_estimators"}
    return model.set_params(**{name: min(value, max_trees) for name, value in counts.items()})


def warm_up(model: Any, columns: int, regression: bool) -> None:
    """Load the compiled kernels of one of our estimators into this process, so that measured times exclude it.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> warm_up(Ridge(), 3, regression=True)  # not one of ours: nothing to do
    """
    if not (
        type(model).__module__.startswith("dsna.") and {"forest", "n_estimators"} & {*model.get_params(deep=False)}
    ):
        return
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, columns))
    y = X[:, 0] if regression else np.arange(60) % 2
    with_trees(clone(model), 2).fit(X, y).predict(X[:2])


def fit_apart(model: Any, X: np.ndarray, y: np.ndarray, groups: np.ndarray | None) -> Any:
    """Fit a model, with rows of a group held out together if the model supports it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> fit_apart(Ridge(), np.eye(3), np.arange(3), groups=np.zeros(3)).coef_.shape  # Ridge ignores groups
    (3,)
    """
    if groups is None or "groups" not in inspect.signature(model.fit).parameters:
        return model.fit(X, y)
    return model.fit(X, y, groups=groups)
