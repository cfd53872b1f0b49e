"""Search spaces of the random search: parameters of the estimator inside pipelines and wrappers.

Ranges follow the guides of the libraries and public comparisons of tuned methods, around the defaults; where more
iterations only cost time, their number is bounded.  Methods whose names differ only after a slash share a space:
`CatBoost`, `CatBoost/priors` and `CatBoost/thresholds` draw the same settings.
"""

from __future__ import annotations

from typing import Any

from scipy.stats import loguniform, randint, uniform

#: Lists of values or distributions of scipy, by parameter.
Space = dict[str, Any]

_TREES: Space = {
    "max_features": uniform(0.1, 0.9),
    "min_samples_leaf": [1, 2, 3, 5, 10],
    "max_depth": [None, 5, 10, 20],
}
_LINEAR: Space = {"C": loguniform(1e-3, 1e3)}
_KERNEL: Space = {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-3, 1e1)}
_NEAREST: Space = {"n_neighbors": randint(1, 31), "weights": ["uniform", "distance"], "p": [1, 2]}
_HIST: Space = {
    "learning_rate": loguniform(0.02, 0.3),
    "max_leaf_nodes": [7, 15, 31, 63],
    "min_samples_leaf": [5, 10, 20, 40],
    "l2_regularization": loguniform(1e-3, 10.0),
    "max_iter": [50, 100, 200],
}
_LIGHT: Space = {
    "learning_rate": loguniform(0.02, 0.3),
    "num_leaves": [7, 15, 31, 63],
    "min_child_samples": [3, 5, 10, 20, 40],
    "reg_lambda": loguniform(1e-3, 10.0),
    "colsample_bytree": uniform(0.4, 0.6),
    "n_estimators": [50, 100, 200, 400],
}
_EXTREME: Space = {
    "learning_rate": loguniform(0.02, 0.5),
    "max_depth": randint(2, 9),
    "min_child_weight": loguniform(0.3, 10.0),
    "reg_lambda": loguniform(0.1, 10.0),
    "subsample": uniform(0.5, 0.5),
    "colsample_bytree": uniform(0.4, 0.6),
    "n_estimators": [50, 100, 200, 400],
}
_CAT: Space = {
    "learning_rate": loguniform(0.02, 0.3),
    "depth": randint(3, 9),
    "l2_leaf_reg": loguniform(1.0, 30.0),
    "random_strength": loguniform(0.3, 10.0),
    "iterations": [100, 200, 400],
}
_ADDITIVE: Space = {
    "learning_rate": loguniform(0.005, 0.1),
    "max_leaves": [2, 3, 4],
    "min_samples_leaf": [2, 4, 8],
    "interactions": [0, 5],
}
_COST_SENSITIVE: Space = {
    "max_features": ["auto", "sqrt", 0.3, 0.5, None],
    "min_samples_leaf": ["auto", 1, 2, 3, 5],
    "C": loguniform(0.3, 100.0),
}
_OURS: Space = {f"forest__{name}": values for name, values in _COST_SENSITIVE.items()} | {
    "approximation__lam": [0.0, 0.001, 0.003, 0.01, 0.03],
    "approximation__gamma": loguniform(0.01, 1.0),
    "approximation__bandwidth": loguniform(0.1, 1.2),
    "max_neighbors": [30, 60, 100, 200],
}

#: Spaces by task and by the name of the method before a slash.
SPACES: dict[str, dict[str, Space]] = {
    "classification": {
        **dict.fromkeys(("RF", "WRF", "SMOTE+RF", "BalancedRF"), _TREES),
        "BalancedBagging": {"n_estimators": [10, 30, 100], "max_samples": uniform(0.3, 0.7)},
        "EasyEnsemble": {"n_estimators": randint(4, 21)},
        "RUSBoost": {"n_estimators": [20, 50, 100, 200], "learning_rate": loguniform(0.05, 2.0)},
        "HistGB": _HIST,
        "CatBoost": _CAT,
        "XGBoost": _EXTREME,
        "LightGBM": _LIGHT,
        "EBM": _ADDITIVE,
        **dict.fromkeys(("Logistic", "LinearSVC"), _LINEAR),
        "SVC-RBF": _KERNEL,
        "kNN": _NEAREST,
        "CS-RF": _COST_SENSITIVE,
        **dict.fromkeys(("CS-RF+AH", "DSNA-paper", "DSNA-balance-0", "CS-RF+DSNA"), _OURS),
    },
    "regression": {
        **dict.fromkeys(("RF", "ExtraTrees", "RF-density", "Oversampling+RF", "SMOGN+RF"), _TREES),
        **dict.fromkeys(("QuantileForest", "RF+crepes"), _TREES),
        "HistGB": _HIST,
        **dict.fromkeys(("CatBoost", "CatBoost-density"), _CAT),
        **dict.fromkeys(("XGBoost", "XGBoost-density"), _EXTREME),
        **dict.fromkeys(("LightGBM", "LightGBM-density"), _LIGHT),
        "EBM": _ADDITIVE,
        "SVR": _KERNEL | {"epsilon": loguniform(0.01, 0.5)},
        "kNN": _NEAREST,
        "CS-RF": _COST_SENSITIVE,
        **dict.fromkeys(("CS-RF+AH", "DSNA-paper", "DSNA-balance-0", "DSNA-balance-1", "CS-RF+DSNA"), _OURS),
    },
}


def space_of(task: str, method: str) -> Space:
    """Return the search space of a method.

    Examples
    --------
    >>> space_of("classification", "Logistic").keys(), len(space_of("classification", "CatBoost/priors"))
    (dict_keys(['C']), 5)
    """
    return SPACES[task][method.partition("/")[0]]
