"""The stages from a random forest to our default, each expressed by public parameters.

Rows of the table and their parameters (each row keeps those of the rows above):

1. RF: scikit-learn's RandomForest.
2. CS-RF: our forest alone; for classes at balance 0, like all rows before the balance.
3. + neighbourhood mean: DSNA with equal coefficients, as a prior that is equal (``proximity_weights=False``,
   ``bandwidth=1e6``, ``radius=None``) and cannot be left (``gamma=1e3``, ``lam=0``).  No forest vote (``blend=0``), no
   balance, no label feedback, no trend, one cluster, Euclidean space.
4. + sparse coefficients: ``lam``, ``gamma``, ``bandwidth`` and ``radius`` at their defaults.  The stage has its
   own row because the metric, the next stage, has no effect on a mean with equal weights.
5. + metric: ``metric="forest"``.
6. + proximity weights: ``proximity_weights=True``.
7. + clusters: ``n_clusters=3``.
8. + label feedback: ``max_iter=10``.
9. + forest's vote: ``blend="auto"`` and, in regression, ``decision="auto"``; a stage of our default, not of the paper.
10. + trend: ``trend`` at its default; a stage of our default, not of the paper.
11. + balance: ``balance`` at its default.
12. default: what ``DSNAClassifier()`` or ``DSNARegressor()`` does, without the stages that are off by default.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dsna import Approximation

from .peers import Maker

_MEAN: dict[str, Any] = {
    "metric": "euclidean",
    "approximation__proximity_weights": False,
    "approximation__lam": 0.0,
    "approximation__gamma": 1e3,
    "approximation__bandwidth": 1e6,
    "approximation__radius": None,
    "approximation__max_iter": 0,
    "blend": 0.0,
    "balance": 0.0,
    "trend": None,
}
_SPARSE = ("lam", "gamma", "bandwidth", "radius")


def ablation(task: str) -> dict[str, Maker]:
    """Return the stages from our forest on (2 to 11), in order.

    Parameters
    ----------
    task : {"classification", "regression"}

    Returns
    -------
    dict from names to functions of a seed that make an estimator

    Examples
    --------
    >>> stages = ablation("regression")
    >>> list(stages)[:2]
    ['CS-RF alone', '+ neighbourhood mean']
    >>> stages["+ metric"](0).metric
    'forest'
    """
    import dsna

    estimator: Any = dsna.DSNAClassifier
    forest: Any = partial(dsna.CostSensitiveForestClassifier, balance=0.0)
    if task == "regression":
        estimator, forest = dsna.DSNARegressor, dsna.CostSensitiveForestRegressor
    changes: dict[str, dict[str, Any]] = {
        "+ neighbourhood mean": _MEAN | ({} if task == "classification" else {"decision": "mean"}),
        "+ sparse coefficients": {f"approximation__{name}": getattr(Approximation(), name) for name in _SPARSE},
        "+ metric": {"metric": "forest"},
        "+ proximity weights": {"approximation__proximity_weights": True},
        "+ clusters": {"approximation__n_clusters": 3},
        "+ label feedback": {"approximation__max_iter": 10},
        "+ forest's vote": {"blend": "auto", "decision": estimator().decision},
        "+ trend": {"trend": estimator().trend},
        "+ balance": {"balance": estimator().balance},
    }
    stages: dict[str, Maker] = {"CS-RF alone": lambda seed: forest(random_state=seed)}
    params: dict[str, Any] = {}
    for name, change in changes.items():
        params = params | change
        stages[name] = partial(_stage, estimator, params)
    return stages


def _stage(estimator: Any, params: dict[str, Any], seed: int) -> Any:
    return estimator(approximation=Approximation(), random_state=seed).set_params(**params)
