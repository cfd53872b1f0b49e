"""Named sets of parameters for ``DSNAClassifier`` and ``DSNARegressor``.

Examples
--------
>>> from dsna import FACES, PAPER, DSNARegressor
>>> DSNARegressor(**FACES).max_features is None, DSNARegressor(**PAPER).n_estimators
(True, 20)
"""

from __future__ import annotations

from typing import Any

#: The paper's own form of every step (Huang, Loy and Tang), where it says what that is; what it cross-validated is
#: tuned out of bag.
PAPER: dict[str, Any] = {
    "n_estimators": 20,
    "max_depth": 10,
    "min_samples_leaf": 5,
    "max_features": "sqrt",
    "cost": "paper",
    "threshold": "sign",
    "split_groups": "features",
    "bootstrap": True,
    "metric": "euclidean",
    "metric_rounds": 0,
    "max_neighbors": None,
    "proximity_weights": False,
    "n_clusters": 3,
    "selection": "best",
    "hull_energy": 1.0,
    "lam": 0.01,
    "gamma": 1.0,
    "sum_to_one": False,
    "max_iter": 10,
    "blend": 0.0,
    "balance": 0.0,
    "decision": "paper",
    "tune": "oob",
}

#: The affine-hull baseline of the paper's Table 1: one hull over the whole neighbourhood, labels have no say.
AFFINE_HULL: dict[str, Any] = {
    "n_clusters": 1,
    "lam": 0.0,
    "gamma": 0.0,
    "proximity_weights": False,
    "max_iter": 0,
    "blend": 0.0,
}

#: For faces and heads as principal components (of appearance models or HOG): their relative scale carries meaning,
#: every one of them says a little, and a second forest in the metric of the first is worth its time.  Where all
#: features are looked at and no rows drawn, a tree is settled by the two of five blocks it omits: there are only ten.
FACES: dict[str, Any] = {
    "n_estimators": 10,
    "scaling": "global",
    "max_features": None,
    "metric_rounds": 2,
    "n_clusters": 2,
    "temperature": 0.02,
}
