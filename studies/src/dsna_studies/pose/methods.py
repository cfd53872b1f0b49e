"""The methods compared on heads; methods that share a fitted model are evaluated on one fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone

from dsna import DSNARegressor
from dsna.presets import faces, paper

from ..baselines import REDSVM, KernelPLS, KMeansForestRegressor, Resampled, smote
from ..baselines.kernel_machines import FittingWidth
from ..models import fit_apart
from ..pictures.shared_fits import FULL, Answers, SharedFit, as_affine_hull, random_forest, single, unique_fits
from ..pictures.sweeps import settings

#: Our setting on heads, chosen on other folds than those of the tables.  Large leaves, and trees made different by
#: bootstrap samples, give some 250 neighbours, few of which receive a weight.
POSE: dict[str, Any] = {
    "forest__n_estimators": 60,
    "forest__min_samples_leaf": 20,
    "forest__bootstrap": True,
    "target_density": "per-output",
    "max_neighbors": 300,
    "approximation__n_clusters": 1,
    "approximation__lam": 0.001,
    "approximation__gamma": 0.003,
    "blend": 0.0,
    "decision": "grid",
    "balance": 0.0,
}
#: Balance of the method that gives rare pitch angles more weight.
_BALANCE = 0.6
#: Values of the sweeps, which vary one parameter at a time, and the defaults of those that POSE does not set.
SWEPT: dict[str, tuple[int, ...]] = {
    "n_estimators": (5, 10, 20, 30, 60),
    "max_depth": (2, 4, 6, 10, 20),
    "min_samples_leaf": (2, 5, 10, 20, 40),
}
CHOSEN = {"max_depth": 20} | {name: POSE[f"forest__{name}"] for name in ("n_estimators", "min_samples_leaf")}
BALANCED = f"{FULL} (balanced)"
SINGLE = f"{FULL} (angle by angle)"
SINGLE_BALANCED = f"{FULL} (angle by angle; balanced)"
KERNEL_PLS = "kernel PLS"
PAPERS_FORM = "DSNA (paper's form)"
OURS = (PAPERS_FORM, "CS-RF", "CS-RF+AH", FULL, BALANCED, SINGLE, SINGLE_BALANCED)


class AngleByAngle(RegressorMixin, MetaEstimatorMixin, BaseEstimator):
    """A separate model for each output.

    Parameters
    ----------
    estimator : regressor

    Attributes
    ----------
    estimators_ : list of fitted regressors

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> X = np.arange(12.0)[:, None]
    >>> AngleByAngle(Ridge()).fit(X, np.hstack([X, -X])).predict(X[:2]).shape
    (2, 2)
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit a copy of the estimator on each column of the labels."""
        self.estimators_ = [fit_apart(clone(self.estimator), X, column, groups) for column in np.asarray(y).T]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """(n, n_outputs) labels."""
        return np.column_stack([model.predict(X) for model in self.estimators_])


def _ridge(seed: int) -> Any:
    from sklearn.kernel_ridge import KernelRidge

    grid = {"alpha": [0.003, 0.01, 0.03, 0.1]}
    return FittingWidth(KernelRidge(kernel="rbf"), (0.5, 1.0, 2.0), grid, centre=True)


def _kernel_pls(seed: int) -> Any:
    return FittingWidth(KernelPLS(), (0.5, 1.0, 2.0), {"n_components": [10, 20, 40, 80]})


def _shared_answers(model: Any, X: np.ndarray) -> Answers:
    """Predictions of all methods that share one fit."""
    return {
        "CS-RF": model.predict_forest(X),
        "CS-RF+AH": as_affine_hull(model).predict(X),
        FULL: model.predict(X),
        BALANCED: model.with_settings(balance=_BALANCE).predict(X),
    }


def _single_angle_answers(model: Any, X: np.ndarray) -> Answers:
    """Predictions without balance, and with the default balance that the fit of each angle has chosen."""
    plain = copy(model)
    plain.estimators_ = [estimator.with_settings(balance=0.0) for estimator in model.estimators_]
    return {SINGLE: plain.predict(X), SINGLE_BALANCED: model.predict(X)}


def _open_answers(model: Any, X: np.ndarray) -> Answers:
    """Predictions that may lie beyond the poses in training."""
    mean = model.with_settings(decision="mean")
    return {
        "CS-RF (mean)": model.predict_forest(X),
        f"{FULL} (mean)": mean.predict(X),
        f"{FULL} (open)": model.predict(X),
    }


def _ours(**params: Any) -> Callable[[int], Any]:
    return lambda seed: DSNARegressor(**faces(), random_state=seed).set_params(**{**POSE, **params})


def _papers_form(seed: int) -> Any:
    return DSNARegressor(**paper("regression"), scaling="global", random_state=seed)


_single_angle = _ours(target_density="auto", balance="auto")
_TABLE = (
    single("RF", random_forest),
    single("RF+SMOTE", lambda seed: AngleByAngle(Resampled(random_forest(seed), smote, random_state=seed))),
    single("RED-SVM", lambda seed: AngleByAngle(FittingWidth(REDSVM(random_state=seed), (1.0,)))),
    single("kernel ridge", _ridge),
    single(KERNEL_PLS, _kernel_pls),
    single("KRF (two means)", lambda seed: KMeansForestRegressor(random_state=seed)),
    single(PAPERS_FORM, _papers_form),
    SharedFit(("CS-RF", "CS-RF+AH", FULL, BALANCED), _ours(), _shared_answers),
    SharedFit((SINGLE, SINGLE_BALANCED), lambda seed: AngleByAngle(_single_angle(seed)), _single_angle_answers),
)
_GAP = SharedFit(("CS-RF (mean)", f"{FULL} (mean)", f"{FULL} (open)"), _ours(decision="open"), _open_answers)
_SWEEPS = tuple(single(f"{FULL} ({name})", _ours(**params)) for name, params in settings(SWEPT))
TABLE_METHODS = tuple(name for fit in _TABLE for name in fit.names)
#: Out-of-bag tuning makes the paper's form by far the slowest, so it runs last.
FAST_METHODS = tuple(name for name in TABLE_METHODS if name != PAPERS_FORM)
#: Methods of the experiment with pictures removed, and of the one with gaps.
REMOVAL_METHODS = ("RF", "kernel ridge", "KRF (two means)", "CS-RF", "CS-RF+AH", FULL, BALANCED)
GAP_METHODS = ("RF", "kernel ridge", *_GAP.names)
SWEEP_METHODS = tuple(fit.names[0] for fit in _SWEEPS)
_BY_NAME = {name: fit for fit in (*_TABLE, _GAP, *_SWEEPS) for name in fit.names}


def fits_of(methods: Iterable[str]) -> list[SharedFit]:
    """List the distinct fits that methods need, in the order of the methods.

    Examples
    --------
    >>> [fit.names for fit in fits_of(["CS-RF", "RF", "CS-RF+DSNA"])]
    [('CS-RF', 'CS-RF+AH', 'CS-RF+DSNA', 'CS-RF+DSNA (balanced)'), ('RF',)]
    """
    return unique_fits(map(_BY_NAME.__getitem__, methods))
