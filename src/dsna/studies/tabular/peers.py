"""What people use on imbalanced tables, each as a function from a seed to an untuned estimator on one thread.

Methods that compare distances or penalise coefficients are put behind a standardisation, in a pipeline that is
fitted on training rows only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Maker = Callable[[int], Any]


def _standardised(estimator: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), estimator)


def _of(module: str, name: str, seeded: bool = True, scaled: bool = False, **params: Any) -> Maker:
    """Maker of an estimator, imported only when it is made."""

    def make(seed: int) -> Any:
        from importlib import import_module

        values = params | ({"random_state": seed} if seeded else {})
        estimator = getattr(import_module(module), name)(**values)
        return _standardised(estimator) if scaled else estimator

    return make


def _resampled(forest: Maker, sampler: str) -> Maker:
    def make(seed: int) -> Any:
        from .. import baselines

        return baselines.Resampled(forest(seed), getattr(baselines, sampler), random_state=seed)

    return make


def _inside(wrapper: str, inner: Maker) -> Maker:
    """Maker of an estimator inside one of `dsna.studies.baselines`."""

    def make(seed: int) -> Any:
        from .. import baselines

        return getattr(baselines, wrapper)(inner(seed))

    return make


def _svr(seed: int) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    return TransformedTargetRegressor(_standardised(SVR()), transformer=StandardScaler())


_ENSEMBLE, _IMBALANCED = "sklearn.ensemble", "imblearn.ensemble"
_BALANCED: dict[str, Any] = {"class_weight": "balanced"}
_LIGHT: dict[str, Any] = {"n_jobs": 1, "verbosity": -1}
_forest_of_classes = _of(_ENSEMBLE, "RandomForestClassifier")
_forest_of_targets = _of(_ENSEMBLE, "RandomForestRegressor")
_boosted_targets = _of("lightgbm", "LGBMRegressor", **_LIGHT)

PEERS: dict[str, dict[str, Maker]] = {
    "classification": {
        "RF": _forest_of_classes,
        "RF/priors": _of("dsna.studies.baselines", "PriorCorrectedForest"),
        "WRF": _of(_ENSEMBLE, "RandomForestClassifier", **_BALANCED),
        "SMOTE+RF": _resampled(_forest_of_classes, "smote"),
        "BalancedRF": _of(_IMBALANCED, "BalancedRandomForestClassifier"),
        "BalancedBagging": _of(_IMBALANCED, "BalancedBaggingClassifier"),
        "EasyEnsemble": _of(_IMBALANCED, "EasyEnsembleClassifier"),
        "RUSBoost": _inside("Restarted", _of(_IMBALANCED, "RUSBoostClassifier")),
        "HistGB": _of(_ENSEMBLE, "HistGradientBoostingClassifier", **_BALANCED),
        "LightGBM": _of("lightgbm", "LGBMClassifier", **_BALANCED, **_LIGHT),
        "Logistic": _of("sklearn.linear_model", "LogisticRegression", scaled=True, max_iter=2000, **_BALANCED),
        "LinearSVC": _of("sklearn.svm", "LinearSVC", scaled=True, max_iter=5000, **_BALANCED),
        "SVC-RBF": _of("sklearn.svm", "SVC", scaled=True, **_BALANCED),
        "kNN": _of("sklearn.neighbors", "KNeighborsClassifier", seeded=False, scaled=True),
    },
    "regression": {
        "RF": _forest_of_targets,
        "ExtraTrees": _of(_ENSEMBLE, "ExtraTreesRegressor"),
        "HistGB": _of(_ENSEMBLE, "HistGradientBoostingRegressor"),
        "LightGBM": _boosted_targets,
        "SVR": _svr,
        "kNN": _of("sklearn.neighbors", "KNeighborsRegressor", seeded=False, scaled=True),
        "RF-density": _inside("DensityWeighted", _forest_of_targets),
        "LightGBM-density": _inside("DensityWeighted", _boosted_targets),
        "Oversampling+RF": _resampled(_forest_of_targets, "oversample_rare"),
        "SMOGN+RF": _resampled(_forest_of_targets, "smogn"),
    },
}
