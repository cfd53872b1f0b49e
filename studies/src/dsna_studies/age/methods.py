"""The methods compared on faces; methods that share a fitted model are evaluated on one fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from dsna.presets import faces, paper

from ..pictures.shared_fits import FULL, Answers, SharedFit, as_affine_hull, random_forest, single, unique_fits
from ..pictures.sweeps import settings

#: Values of the sweeps, which vary one parameter at a time.
SWEPT: dict[str, tuple[int, ...]] = {
    "n_estimators": (2, 5, 10, 20),
    "max_depth": (2, 4, 6, 10, 20),
    "min_samples_leaf": (1, 2, 5, 10, 20),
}
#: The values of our setting; leaves hold at least 2 rows by default.
CHOSEN = {"n_estimators": faces()["forest"].n_estimators, "max_depth": 20, "min_samples_leaf": 2}
BALANCED = "CS-RF+DSNA (balanced)"
GAP_FULL, GAP_OPEN = f"{FULL} (mean)", f"{FULL} (open)"
OURS = ("CS-RF", "CS-RF+AH", "DSNA (paper's form)", FULL, BALANCED, GAP_FULL, GAP_OPEN)


def _resampled(sampler: str) -> Callable[[int], Any]:
    def make_estimator(seed: int) -> Any:
        from .. import baselines

        return baselines.Resampled(random_forest(seed), getattr(baselines, sampler), random_state=seed)

    return make_estimator


def _machine(module: str, name: str, seeded: bool = False, **parameters: Any) -> Callable[[int], Any]:
    """Factory of a kernel machine; parameters of FittingWidth are passed to it, the others to the machine."""
    fitting_parameters = {key: parameters.pop(key) for key in ("widths", "grid", "centre") if key in parameters}

    def make_estimator(seed: int) -> Any:
        from ..baselines.kernel_machines import FittingWidth

        values = parameters | ({"random_state": seed} if seeded else {})
        return FittingWidth(getattr(import_module(module), name)(**values), **fitting_parameters)

    return make_estimator


def _boosted(seed: int) -> Any:
    return import_module("lightgbm").LGBMRegressor(random_state=seed, n_jobs=1, verbosity=-1)


def _dsna(preset: Callable[[], dict[str, Any]] = faces, **changes: Any) -> Callable[[int], Any]:
    """Factory of our estimator: a preset with changed parameters."""

    def make_estimator(seed: int) -> Any:
        from dsna import DSNARegressor

        return DSNARegressor(**preset(), random_state=seed).set_params(**changes)

    return make_estimator


def _shared_answers(model: Any, X: np.ndarray) -> Answers:
    """Predictions of all methods that share the fit with the default balance."""
    return {
        "CS-RF": model.predict_forest(X),
        "CS-RF+AH": as_affine_hull(model).predict(X),
        FULL: model.with_settings(balance=0.0).predict(X),
        BALANCED: model.predict(X),
    }


def _open_answers(model: Any, X: np.ndarray) -> Answers:
    """Predictions that may lie beyond the ages in training."""
    mean = model.with_settings(decision="mean")
    return {"CS-RF (mean)": model.predict_forest(X), GAP_FULL: mean.predict(X), GAP_OPEN: model.predict(X)}


_RIDGE: dict[str, Any] = {
    "kernel": "rbf",
    "centre": True,
    "widths": (0.2, 0.4, 0.8, 1.6),
    "grid": {"alpha": [0.01, 0.03, 0.1]},
}
_SVR: dict[str, Any] = {"epsilon": 1.0, "widths": (0.2, 0.4, 0.8), "grid": {"C": [30.0, 100.0]}}
#: Methods of others.
PEERS: tuple[SharedFit, ...] = (
    single("RF", random_forest),
    single("RF+SMOTE", _resampled("smote")),
    single("RF+SMOGN", _resampled("smogn")),
    single("RED-SVM", _machine("dsna_studies.baselines", "REDSVM", seeded=True, C=10.0, widths=(0.2,))),
    single("OHRank", _machine("dsna_studies.baselines", "OHRank", C=30.0)),
    single("SVR", _machine("sklearn.svm", "SVR", **_SVR)),
    single("kernel ridge", _machine("sklearn.kernel_ridge", "KernelRidge", **_RIDGE)),
    single("LightGBM", _boosted),
)
#: The paper's own form.  Parameters that the paper cross-validated were chosen once, out of bag, on the training
#: persons of the first split of FG-NET: all features, two clusters, the rest as in the preset.  Choosing them in each
#: split takes 40 s.
_PAPERS: dict[str, Any] = {
    "scaling": "global",
    "forest__max_features": None,
    "approximation__n_clusters": 2,
    "tune": None,
}
#: All methods of the tables.
_TABLE: tuple[SharedFit, ...] = (
    *PEERS,
    single("DSNA (paper's form)", _dsna(partial(paper, "regression"), **_PAPERS)),
    SharedFit(("CS-RF", "CS-RF+AH", FULL, BALANCED), _dsna(), _shared_answers),
)
_GAP = SharedFit(("CS-RF (mean)", GAP_FULL, GAP_OPEN), _dsna(decision="open", balance=0.0), _open_answers)
#: Methods of the extrapolation experiment.
GAP_METHODS = ("RF", "kernel ridge", *_GAP.names)
_SWEEP = tuple(single(f"{FULL} ({name})", _dsna(balance=0.0, **params)) for name, params in settings(SWEPT))
SWEEP_METHODS = tuple(fit.names[0] for fit in _SWEEP)
TABLE_METHODS = tuple(name for fit in _TABLE for name in fit.names)
#: Without OHRank, which stores the kernel of all pairs of rows and has a machine for each threshold.
LARGE_METHODS = tuple(name for name in TABLE_METHODS if name != "OHRank")
_BY_NAME = {name: fit for fit in (*_TABLE, _GAP, *_SWEEP) for name in fit.names}


def fits_of(methods: Iterable[str]) -> list[SharedFit]:
    """List the distinct fits that methods need, in the order of the methods.

    Examples
    --------
    >>> [fit.names for fit in fits_of(["CS-RF+AH", "RF", "CS-RF+DSNA"])]
    [('CS-RF', 'CS-RF+AH', 'CS-RF+DSNA', 'CS-RF+DSNA (balanced)'), ('RF',)]
    """
    return unique_fits(map(_BY_NAME.__getitem__, methods))
