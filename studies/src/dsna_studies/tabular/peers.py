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


def _maker(module: str, name: str, seeded: bool = True, scaled: bool = False, **params: Any) -> Maker:
    """Return the maker of an estimator, whose module is imported only when it is made."""

    def make(seed: int) -> Any:
        from importlib import import_module

        values = params | ({"random_state": seed} if seeded else {})
        estimator = getattr(import_module(module), name)(**values)
        return _standardised(estimator) if scaled else estimator

    return make


def _resampled_maker(forest: Maker, sampler: str) -> Maker:
    def make(seed: int) -> Any:
        from .. import baselines

        return baselines.Resampled(forest(seed), getattr(baselines, sampler), random_state=seed)

    return make


def _wrapped_maker(wrapper: str, inner: Maker, seeded: bool = False, **params: Any) -> Maker:
    """Return the maker of an estimator inside a wrapper of `dsna_studies.baselines`."""

    def make(seed: int) -> Any:
        from .. import baselines

        values = params | ({"random_state": seed} if seeded else {})
        return getattr(baselines, wrapper)(inner(seed), **values)

    return make


def _decision_variants(name: str, inner: Maker) -> dict[str, Maker]:
    """Return variants of a classifier that share a fit, by name: plain, priors divided out, thresholds tuned."""
    return {
        name: inner,
        f"{name}/priors": _wrapped_maker("PriorsDivided", inner),
        f"{name}/thresholds": _wrapped_maker("TunedThresholds", inner, seeded=True),
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
_forest_of_classes = _maker(_ENSEMBLE, "RandomForestClassifier")
_forest_of_targets = _maker(_ENSEMBLE, "RandomForestRegressor")
_cat_of_classes = _maker("catboost", "CatBoostClassifier", **_CAT)
_extreme_of_classes = _maker("xgboost", "XGBClassifier", **_EXTREME)
_additive_of_classes = _maker("interpret.glassbox", "ExplainableBoostingClassifier", **_ADDITIVE)
_boosted_targets = {
    "CatBoost": _maker("catboost", "CatBoostRegressor", **_CAT),
    "XGBoost": _maker("xgboost", "XGBRegressor", **_EXTREME),
    "LightGBM": _maker("lightgbm", "LGBMRegressor", **_LIGHT),
}

PEERS: dict[str, dict[str, Maker]] = {
    "classification": {
        **_decision_variants("RF", _forest_of_classes),
        "WRF": _maker(_ENSEMBLE, "RandomForestClassifier", **_BALANCED),
        "SMOTE+RF": _resampled_maker(_forest_of_classes, "smote"),
        "BalancedRF": _maker(_IMBALANCED, "BalancedRandomForestClassifier"),
        "BalancedBagging": _maker(_IMBALANCED, "BalancedBaggingClassifier"),
        "EasyEnsemble": _maker(_IMBALANCED, "EasyEnsembleClassifier"),
        "RUSBoost": _wrapped_maker("Restarted", _maker(_IMBALANCED, "RUSBoostClassifier")),
        "HistGB": _maker(_ENSEMBLE, "HistGradientBoostingClassifier", **_BALANCED),
        **_decision_variants("CatBoost", _wrapped_maker("Coded", _cat_of_classes)),
        "CatBoost/weights": _wrapped_maker("Coded", _maker("catboost", "CatBoostClassifier", **_CAT, **_CAT_BALANCED)),
        **_decision_variants("XGBoost", _wrapped_maker("Coded", _extreme_of_classes)),
        "XGBoost/weights": _wrapped_maker("Coded", _extreme_of_classes, **_BALANCED),
        **_decision_variants("LightGBM", _maker("lightgbm", "LGBMClassifier", **_LIGHT)),
        "LightGBM/weights": _maker("lightgbm", "LGBMClassifier", **_BALANCED, **_LIGHT),
        **_decision_variants("EBM", _additive_of_classes),
        "Logistic": _maker("sklearn.linear_model", "LogisticRegression", scaled=True, max_iter=2000, **_BALANCED),
        "LinearSVC": _maker("sklearn.svm", "LinearSVC", scaled=True, max_iter=5000, **_BALANCED),
        "SVC-RBF": _maker("sklearn.svm", "SVC", scaled=True, **_BALANCED),
        "kNN": _maker("sklearn.neighbors", "KNeighborsClassifier", seeded=False, scaled=True),
    },
    "regression": {
        "RF": _forest_of_targets,
        "ExtraTrees": _maker(_ENSEMBLE, "ExtraTreesRegressor"),
        "HistGB": _maker(_ENSEMBLE, "HistGradientBoostingRegressor"),
        **_boosted_targets,
        "EBM": _maker("interpret.glassbox", "ExplainableBoostingRegressor", **_ADDITIVE),
        "SVR": _svr,
        "kNN": _maker("sklearn.neighbors", "KNeighborsRegressor", seeded=False, scaled=True),
        "RF-density": _wrapped_maker("DensityWeighted", _forest_of_targets),
        **{f"{name}-density": _wrapped_maker("DensityWeighted", make) for name, make in _boosted_targets.items()},
        "Oversampling+RF": _resampled_maker(_forest_of_targets, "oversample_rare"),
        "SMOGN+RF": _resampled_maker(_forest_of_targets, "smogn"),
        "QuantileForest": _wrapped_maker(
            "QuantileIntervals", _maker("quantile_forest", "RandomForestQuantileRegressor")
        ),
        "RF+crepes": _wrapped_maker("ConformalForest", _maker(_ENSEMBLE, "RandomForestRegressor", oob_score=True)),
    },
}
