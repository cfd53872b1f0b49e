"""Common methods for imbalanced tables, each as a function from a seed to an untuned estimator on one thread.

Methods that use distances or penalise coefficients follow a standardisation, in a pipeline that is fitted on training
rows only.
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
    """Return the maker of an estimator, whose module is imported only when it is made."""

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


def _inside(wrapper: str, inner: Maker, seeded: bool = False, **params: Any) -> Maker:
    """Return the maker of an estimator inside a wrapper of `dsna_studies.baselines`."""

    def make(seed: int) -> Any:
        from .. import baselines

        values = params | ({"random_state": seed} if seeded else {})
        return getattr(baselines, wrapper)(inner(seed), **values)

    return make


def _decided(name: str, inner: Maker) -> dict[str, Maker]:
    """Return variants of a classifier that share a fit, by name: plain, priors divided out, thresholds tuned."""
    return {
        name: inner,
        f"{name}/priors": _inside("PriorsDivided", inner),
        f"{name}/thresholds": _inside("TunedThresholds", inner, seeded=True),
    }


def _svr(seed: int) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    return TransformedTargetRegressor(_standardised(SVR()), transformer=StandardScaler())


_ENSEMBLE, _IMBALANCED = "sklearn.ensemble", "imblearn.ensemble"
_BALANCED: dict[str, Any] = {"class_weight": "balanced"}
_LIGHT: dict[str, Any] = {"n_jobs": 1, "verbosity": -1}
_EXTREME: dict[str, Any] = {"n_jobs": 1, "verbosity": 0}
_CAT: dict[str, Any] = {"thread_count": 1, "verbose": 0, "allow_writing_files": False}
_CAT_BALANCED: dict[str, Any] = {"auto_class_weights": "Balanced"}
# The default, 14 bags with pairs of columns, takes a minute on 700 rows.
_ADDITIVE: dict[str, Any] = {"n_jobs": 1, "outer_bags": 4, "interactions": 0}
_forest_of_classes = _of(_ENSEMBLE, "RandomForestClassifier")
_forest_of_targets = _of(_ENSEMBLE, "RandomForestRegressor")
_cat_of_classes = _of("catboost", "CatBoostClassifier", **_CAT)
_extreme_of_classes = _of("xgboost", "XGBClassifier", **_EXTREME)
_additive_of_classes = _of("interpret.glassbox", "ExplainableBoostingClassifier", **_ADDITIVE)
_boosted_targets = {
    "CatBoost": _of("catboost", "CatBoostRegressor", **_CAT),
    "XGBoost": _of("xgboost", "XGBRegressor", **_EXTREME),
    "LightGBM": _of("lightgbm", "LGBMRegressor", **_LIGHT),
}

PEERS: dict[str, dict[str, Maker]] = {
    "classification": {
        **_decided("RF", _forest_of_classes),
        "WRF": _of(_ENSEMBLE, "RandomForestClassifier", **_BALANCED),
        "SMOTE+RF": _resampled(_forest_of_classes, "smote"),
        "BalancedRF": _of(_IMBALANCED, "BalancedRandomForestClassifier"),
        "BalancedBagging": _of(_IMBALANCED, "BalancedBaggingClassifier"),
        "EasyEnsemble": _of(_IMBALANCED, "EasyEnsembleClassifier"),
        "RUSBoost": _inside("Restarted", _of(_IMBALANCED, "RUSBoostClassifier")),
        "HistGB": _of(_ENSEMBLE, "HistGradientBoostingClassifier", **_BALANCED),
        **_decided("CatBoost", _inside("Coded", _cat_of_classes)),
        "CatBoost/weights": _inside("Coded", _of("catboost", "CatBoostClassifier", **_CAT, **_CAT_BALANCED)),
        **_decided("XGBoost", _inside("Coded", _extreme_of_classes)),
        "XGBoost/weights": _inside("Coded", _extreme_of_classes, **_BALANCED),
        **_decided("LightGBM", _of("lightgbm", "LGBMClassifier", **_LIGHT)),
        "LightGBM/weights": _of("lightgbm", "LGBMClassifier", **_BALANCED, **_LIGHT),
        **_decided("EBM", _additive_of_classes),
        "Logistic": _of("sklearn.linear_model", "LogisticRegression", scaled=True, max_iter=2000, **_BALANCED),
        "LinearSVC": _of("sklearn.svm", "LinearSVC", scaled=True, max_iter=5000, **_BALANCED),
        "SVC-RBF": _of("sklearn.svm", "SVC", scaled=True, **_BALANCED),
        "kNN": _of("sklearn.neighbors", "KNeighborsClassifier", seeded=False, scaled=True),
    },
    "regression": {
        "RF": _forest_of_targets,
        "ExtraTrees": _of(_ENSEMBLE, "ExtraTreesRegressor"),
        "HistGB": _of(_ENSEMBLE, "HistGradientBoostingRegressor"),
        **_boosted_targets,
        "EBM": _of("interpret.glassbox", "ExplainableBoostingRegressor", **_ADDITIVE),
        "SVR": _svr,
        "kNN": _of("sklearn.neighbors", "KNeighborsRegressor", seeded=False, scaled=True),
        "RF-density": _inside("DensityWeighted", _forest_of_targets),
        **{f"{name}-density": _inside("DensityWeighted", make) for name, make in _boosted_targets.items()},
        "Oversampling+RF": _resampled(_forest_of_targets, "oversample_rare"),
        "SMOGN+RF": _resampled(_forest_of_targets, "smogn"),
        "QuantileForest": _inside("QuantileIntervals", _of("quantile_forest", "RandomForestQuantileRegressor")),
        "RF+crepes": _inside("ConformalForest", _of(_ENSEMBLE, "RandomForestRegressor", oob_score=True)),
    },
}
