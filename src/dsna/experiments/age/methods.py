"""Who competes on faces; methods that share a fitted model are answered by one fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ...presets import AFFINE_HULL, FACES, PAPER
from ..sweeps import settings

#: Values of the sweeps, each parameter on its own.
SWEPT: dict[str, tuple[int, ...]] = {
    "n_estimators": (2, 5, 10, 20),
    "max_depth": (2, 4, 6, 10, 20),
    "min_samples_leaf": (1, 2, 5, 10, 20),
}
#: The values of our setting among them; leaves hold at least 2 rows by default.
CHOSEN = {"n_estimators": FACES["n_estimators"], "max_depth": 20, "min_samples_leaf": 2}
FULL = "CS-RF+DSNA"
BALANCED = "CS-RF+DSNA, balanced"
GAP_FULL = f"{FULL}, mean"
OURS = ("CS-RF", "CS-RF+AH", "DSNA, paper's form", FULL, BALANCED, GAP_FULL)
QUICK_TREES = 5

Answers = dict[str, np.ndarray]


@dataclass(frozen=True)
class Family:
    """Methods that one fitted model answers.

    Parameters
    ----------
    names : tuple of str
    make : callable
        From a seed to an estimator.
    answer : callable
        From the fitted estimator and rows to the labels that each method predicts.

    Examples
    --------
    >>> import numpy as np
    >>> family = family_of("RF")
    >>> family.names, family.make(3).random_state
    (('RF',), 3)
    """

    names: tuple[str, ...]
    make: Callable[[int], Any]
    answer: Callable[[Any, np.ndarray], Answers]


def single(name: str, make: Callable[[int], Any]) -> Family:
    """A method that shares its fit with no other.

    Examples
    --------
    >>> single("RF", random_forest).names
    ('RF',)
    """
    return Family((name,), make, lambda model, X: {name: model.predict(X)})


def random_forest(seed: int) -> Any:
    """The forest to compare with.

    Examples
    --------
    >>> random_forest(3).random_state
    3
    """
    from sklearn.ensemble import RandomForestRegressor

    # A third of the features is Breiman's advice for labels; on faces it is as good as all of them, and faster.
    return RandomForestRegressor(100, max_features=1 / 3, random_state=seed)


def _resampled(sampler: str) -> Callable[[int], Any]:
    def make(seed: int) -> Any:
        from ... import baselines

        return baselines.Resampled(random_forest(seed), getattr(baselines, sampler), random_state=seed)

    return make


def _machine(module: str, name: str, seeded: bool = False, **how: Any) -> Callable[[int], Any]:
    """Maker of a kernel machine; what FittingWidth takes goes there, the rest to the machine."""
    fitting = {key: how.pop(key) for key in ("widths", "grid", "centred") if key in how}

    def make(seed: int) -> Any:
        from .kernel_machines import FittingWidth

        values = how | ({"random_state": seed} if seeded else {})
        return FittingWidth(getattr(import_module(module), name)(**values), **fitting)

    return make


def _boosted(seed: int) -> Any:
    return import_module("lightgbm").LGBMRegressor(random_state=seed, n_jobs=1, verbosity=-1)


def _dsna(**params: Any) -> Callable[[int], Any]:
    def make(seed: int) -> Any:
        from ...regression import DSNARegressor

        return DSNARegressor(**params, random_state=seed)

    return make


def forest_mean(model: Any, X: np.ndarray) -> np.ndarray:
    """What the forest inside a fitted DSNARegressor predicts on its own: the mean of its leaves.

    Parameters
    ----------
    model : DSNARegressor, fitted
    X : array of shape (n, n_features)

    Returns
    -------
    array of shape (n,) or (n, n_outputs)

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import DSNARegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = DSNARegressor(n_estimators=5, random_state=0).fit(X, X[:, 0])
    >>> forest_mean(model, X[:3]).shape
    (3,)
    """
    near, _ = model._answer(np.asarray(X, dtype=np.float64))
    return near.vote[:, 0] if model.n_outputs_ == 1 else near.vote


def as_affine_hull(model: Any) -> Any:
    """The affine-hull baseline on the forest of a fitted DSNARegressor: labels have no say, their weighted mean counts.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import DSNARegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = DSNARegressor(n_estimators=5, random_state=0).fit(X, X[:, 0])
    >>> hull = as_affine_hull(model)
    >>> hull.lam_, model.lam_, hull.predict(X[:3]).shape
    (0.0, 0.003, (3,))
    """
    hull = copy(model).set_params(**AFFINE_HULL, balance=0.0)
    for name in ("lam", "gamma", "n_clusters", "blend"):
        setattr(hull, f"{name}_", AFFINE_HULL[name])
    hull.decision_ = "mean"
    hull._set_grid()
    return hull


def _ours(model: Any, X: np.ndarray) -> Answers:
    """All that one fit with the default balance answers; balance changes nothing else of it."""
    return {
        "CS-RF": forest_mean(model, X),
        "CS-RF+AH": as_affine_hull(model).predict(X),
        FULL: copy(model).set_params(balance=0.0).predict(X),
        BALANCED: model.predict(X),
    }


_RIDGE: dict[str, Any] = {
    "kernel": "rbf",
    "centred": True,
    "widths": (0.2, 0.4, 0.8, 1.6),
    "grid": {"alpha": [0.01, 0.03, 0.1]},
}
_SVR: dict[str, Any] = {"epsilon": 1.0, "widths": (0.2, 0.4, 0.8), "grid": {"C": [30.0, 100.0]}}
#: Beside ours.
PEERS: tuple[Family, ...] = (
    single("RF", random_forest),
    single("RF+SMOTE", _resampled("smote")),
    single("RF+SMOGN", _resampled("smogn")),
    single("RED-SVM", _machine("dsna.baselines", "REDSVM", seeded=True, C=10.0, widths=(0.2,))),
    single("OHRank", _machine("dsna.baselines", "OHRank", C=30.0)),
    single("SVR", _machine("sklearn.svm", "SVR", **_SVR)),
    single("kernel ridge", _machine("sklearn.kernel_ridge", "KernelRidge", **_RIDGE)),
    single("LightGBM", _boosted),
)
#: All methods of the tables.
FAMILIES: tuple[Family, ...] = (
    *PEERS,
    single("DSNA, paper's form", _dsna(**{**PAPER, "scaling": FACES["scaling"]})),
    Family(("CS-RF", "CS-RF+AH", FULL, BALANCED), _dsna(**FACES), _ours),
)
_GAP = Family(
    ("CS-RF, mean", GAP_FULL),
    _dsna(**FACES, decision="mean", balance=0.0),
    lambda model, X: {"CS-RF, mean": forest_mean(model, X), GAP_FULL: model.predict(X)},
)
#: Methods of the extrapolation experiment.
GAP_METHODS = ("RF", "kernel ridge", *_GAP.names)
_SWEEP = tuple(
    single(f"{FULL}, {name}", _dsna(**{**FACES, "balance": 0.0, **params})) for name, params in settings(SWEPT)
)
SWEEP_METHODS = tuple(family.names[0] for family in _SWEEP)
TABLE_METHODS = tuple(name for family in FAMILIES for name in family.names)
#: The kernel machine of each threshold is too slow for thousands of rows, and the paper compares with it on FG-NET.
LARGE_METHODS = tuple(name for name in TABLE_METHODS if name not in ("OHRank", "RF+SMOTE"))
_BY_NAME = {name: family for family in (*FAMILIES, _GAP, *_SWEEP) for name in family.names}


def family_of(method: str) -> Family:
    """The family that answers a method.

    Examples
    --------
    >>> family_of("CS-RF+AH").names
    ('CS-RF', 'CS-RF+AH', 'CS-RF+DSNA', 'CS-RF+DSNA, balanced')
    """
    return _BY_NAME[method]


def families_of(methods: Iterable[str]) -> list[Family]:
    """The families that answer methods, each once, in the order of the methods.

    Examples
    --------
    >>> len(families_of(["CS-RF", "RF", "CS-RF+DSNA"]))
    2
    """
    return list({family.names: family for family in map(family_of, methods)}.values())


def with_trees(model: Any, trees: int) -> Any:
    """An estimator whose forests have at most as many trees.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> with_trees(RandomForestRegressor(100), 5).n_estimators
    5
    """
    counts = {name: value for name, value in model.get_params().items() if name.split("__")[-1] == "n_estimators"}
    return model.set_params(**{name: min(value, trees) for name, value in counts.items()})
