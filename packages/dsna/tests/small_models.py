"""What the tests of bad and unusual input share: small models and tables, and a look at all that a model says."""

from __future__ import annotations

import numpy as np
import pytest

from dsna import (
    Approximation,
    CostSensitiveForestClassifier,
    CostSensitiveForestRegressor,
    DSNAClassifier,
    DSNARegressor,
)

CLASSIFIERS = (CostSensitiveForestClassifier, DSNAClassifier)
REGRESSORS = (CostSensitiveForestRegressor, DSNARegressor)
KINDS = CLASSIFIERS + REGRESSORS

every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
each_classifier = pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
each_regressor = pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)


def build(kind, forest=None, **flat):
    """An estimator from flat parameters; those of its forest and of its approximation go into such objects."""
    if kind not in (DSNAClassifier, DSNARegressor):
        return kind(**flat)
    ours = kind().default_forest()
    own = {name: value for name, value in flat.items() if name in kind().get_params(deep=False)}
    of_forest = {name: flat[name] for name in flat if name not in own and name in ours.get_params()}
    of_approximation = {name: flat[name] for name in flat if name not in own and name not in of_forest}
    if forest is None and of_forest:
        forest = ours.set_params(**of_forest)
    approximation = Approximation(**of_approximation) if of_approximation else None
    return kind(forest, **{"approximation": approximation, **own})


def make(kind, **params):
    return build(kind, **{"n_estimators": 10, "random_state": 0, **params})


def table(kind, n=80, d=3):
    """Rows whose first column decides the label."""
    rng = np.random.RandomState(0)
    X = rng.randn(n, d)
    score = X[:, 0] + 0.1 * rng.randn(n)
    return X, (score > 0.3).astype(int) if kind in CLASSIFIERS else score


def answers(model, X):
    """Predictions, after a look at everything else that a model can say about the rows."""
    prediction = model.predict(X)
    assert len(prediction) == len(X)
    if hasattr(model, "predict_proba"):
        proba = model.predict_proba(X)
        assert np.all(np.isfinite(proba))
        assert np.all(proba >= 0.0)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        # Exactly equal classes may differ by a rounding here: any of the best will do.
        favoured = np.where(
            model.class_prior_ > 0, proba / np.maximum(model.class_prior_, 1e-300) ** model.balance, 0.0
        )
        chosen = favoured[np.arange(len(X)), np.searchsorted(model.classes_, prediction)]
        np.testing.assert_allclose(chosen, favoured.max(axis=1), rtol=1e-8)
    else:
        assert np.all(np.isfinite(prediction))
    if hasattr(model, "explain"):
        np.testing.assert_array_equal(model.explain(X).predict(), prediction)
    return prediction


def mistake(kind, model, X, y):
    """Share of wrong classes, or mean absolute error in units of the labels' spread."""
    found = answers(model, X)
    return np.mean(found != y) if kind in CLASSIFIERS else np.mean(np.abs(found - y)) / np.std(y)


def read_only(X):
    """A copy that cannot be written to."""
    X = X.copy()
    X.flags.writeable = False
    return X
