"""Presets of the DSNA estimators: functions that return new parameters.

>>> from dsna import DSNARegressor, presets
>>> model = DSNARegressor(**presets.paper("regression"), random_state=0)
>>> model.set_params(forest__n_estimators=50).forest.max_depth
10
"""

from __future__ import annotations

from typing import Any

from ._utils.errors import DSNAError
from .approximation import Approximation
from .forest import CostSensitiveForestClassifier, CostSensitiveForestRegressor


def paper(task: str) -> dict[str, Any]:
    """Return the settings of the published method; parameters that the paper cross-validates are tuned out of bag.

    Parameters
    ----------
    task : {"classification", "regression"}

    Returns
    -------
    dict
        Parameters of :class:`DSNAClassifier` or :class:`DSNARegressor`.

    Examples
    --------
    >>> from dsna import DSNAClassifier, presets
    >>> DSNAClassifier(**presets.paper("classification")).forest.n_estimators
    20
    """
    forest_class = _forest_class(task)
    class_parameters = {"split_groups": "features"} if task == "classification" else {}
    return {
        "trend": None,
        "forest": forest_class(
            20,
            max_depth=10,
            min_samples_leaf=5,
            max_features="sqrt",
            cost="paper",
            threshold="sign",
            bootstrap=True,
            **class_parameters,
        ),
        "approximation": Approximation(
            lam=0.01,
            gamma=1.0,
            sum_to_one=False,
            proximity_weights=False,
            n_clusters=3,
            selection="best",
            hull_energy=1.0,
            max_iter=10,
        ),
        "metric": "euclidean",
        "max_neighbors": None,
        "blend": 0.0,
        "balance": 0.0,
        "decision": "paper",
        "tune": "oob",
    }


def affine_hull() -> dict[str, Any]:
    """Return the affine-hull baseline of the paper's Table 1: one hull of the neighbourhood, without labels.

    Examples
    --------
    >>> from dsna import DSNARegressor, presets
    >>> DSNARegressor(**presets.affine_hull()).approximation.gamma
    0.0
    """
    return {
        "approximation": Approximation(lam=0.0, gamma=0.0, proximity_weights=False, max_iter=0),
        "blend": 0.0,
    }


def faces(task: str = "regression") -> dict[str, Any]:
    """Return settings for images of faces and heads given as principal components (of appearance models or HOG).

    The relative scale of such features carries meaning, each of them is slightly informative, and a second forest in
    the metric of the first improves the result. A tree that uses all features without a bootstrap is determined by
    the two of five folds that it leaves out, so there are only ten different trees.

    Parameters
    ----------
    task : {"classification", "regression"}, default="regression"

    Examples
    --------
    >>> from dsna import DSNARegressor, presets
    >>> DSNARegressor(**presets.faces()).scaling
    'global'
    """
    return {
        "forest": _forest_class(task)(10, max_features=None, metric_rounds=2),
        "approximation": Approximation(n_clusters=2, temperature=0.02),
        "scaling": "global",
    }


def _forest_class(task: str) -> Any:
    kinds = {"classification": CostSensitiveForestClassifier, "regression": CostSensitiveForestRegressor}
    if task not in kinds:
        raise DSNAError(f"task={task!r} is unknown: use 'classification' or 'regression'.")
    return kinds[task]
