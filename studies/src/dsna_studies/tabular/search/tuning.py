"""Random search for a method: settings drawn with a seed, scored on inner folds of the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, ParameterSampler, StratifiedKFold
from sklearn.pipeline import Pipeline

from dsna import Approximation

from ...baselines.wrapping import Wrapped
from .spaces import Space

SETTINGS = 30
INNER_FOLDS = 3
#: Scores by which settings are chosen.
SCORING = {"classification": "balanced_accuracy", "regression": "neg_mean_absolute_error"}
_STRATA = 10


def make_search(model: Any, space: Space, task: str, settings: int, seed: int) -> Any:
    """Return a model that chooses among settings when it is fitted.

    The first setting is the unchanged model; the others are drawn.  A setting that fails on a fold is not chosen.

    Parameters
    ----------
    model : estimator, as the benchmark makes it
    space : dict
        Parameters of the estimator inside pipelines and wrappers; see :mod:`.spaces`.
    task : {"classification", "regression"}
    settings : int
        Number of settings, including the first.
    seed : int
        Seed of the settings and of the inner folds.

    Returns
    -------
    GridSearchCV

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_search(Ridge(), {"alpha": loguniform(0.01, 100.0)}, "regression", 5, seed=0).fit(X, y)
    >>> len(model.cv_results_["params"]), model.cv_results_["params"][0]
    (5, {})
    """
    model = _with_explicit_stages(model)
    prefix = _prefix(model)
    drawn_settings = ParameterSampler(space, settings - 1, random_state=seed) if settings > 1 else []
    grid: list[dict[str, Any]] = [{}]
    grid += [{f"{prefix}{name}": [value] for name, value in setting.items()} for setting in drawn_settings]
    return GridSearchCV(model, grid, scoring=SCORING[task], cv=_InnerFolds(task, seed))


def _with_explicit_stages(model: Any) -> Any:
    """Return the model with explicit forest and approximation, whose parameters can be set."""
    model = clone(model)
    if getattr(model, "forest", False) is None:
        model.set_params(forest=model.default_forest())
    if getattr(model, "approximation", False) is None:
        model.set_params(approximation=Approximation())
    return model


def _prefix(model: Any) -> str:
    """Return the prefix of the parameters of the innermost estimator, ending in two underscores."""
    if isinstance(model, Wrapped):
        return "estimator__" + _prefix(model.estimator)
    if isinstance(model, TransformedTargetRegressor):
        return "regressor__" + _prefix(model.regressor)
    if isinstance(model, Pipeline):
        name, final_step = model.steps[-1]
        return f"{name}__" + _prefix(final_step)
    return ""


class _InnerFolds:
    """Inner folds, stratified by class or by ranges of the target."""

    def __init__(self, task: str, seed: int):
        self.task = task
        self.seed = seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return INNER_FOLDS

    def split(self, X: Any, y: Any, groups: Any = None) -> Any:
        splitter = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.seed)
        return splitter.split(X, y if self.task == "classification" else _ranges(y))


def _ranges(y: np.ndarray) -> np.ndarray:
    """Divide the targets into ranges with about equal numbers of rows, at least three each."""
    count = int(np.clip(len(y) // INNER_FOLDS, 1, _STRATA))
    return np.asarray(np.argsort(np.argsort(y, kind="stable"), kind="stable") * count // len(y))
