import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dsna_studies.baselines import KMeansForestRegressor


@parametrize_with_checks([KMeansForestRegressor(n_estimators=5, min_samples_leaf=2, random_state=0)])
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_two_angles_are_learned_from_oblique_features():
    rng = np.random.default_rng(0)
    y = np.stack([rng.choice([-60.0, 0.0, 60.0], 400), rng.choice([-90.0, 0.0, 90.0], 400)], axis=1)
    X = y @ rng.normal(size=(2, 6)) / 60 + rng.normal(0, 0.2, (400, 6))
    said = KMeansForestRegressor(random_state=0).fit(X[:300], y[:300]).predict(X[300:])
    assert np.abs(said - y[300:]).mean() < 0.2 * np.abs(y[300:]).mean()


@pytest.mark.parametrize("name, value", [("n_estimators", 0), ("min_samples_leaf", 0), ("penalty", 0.0)])
def test_impossible_parameters_are_reported(name, value):
    with pytest.raises(ValueError, match=f"{name}={value} must be"):
        KMeansForestRegressor(**{name: value}).fit([[0.0], [1.0]], [0.0, 1.0])
