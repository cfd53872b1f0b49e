"""What out-of-bag choices minimise: absolute or squared errors."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, root_mean_squared_error

from dsna import CostSensitiveForestRegressor, DSNAError, DSNARegressor
from dsna.prediction.rule import RuleEvaluator


def test_errors_are_those_of_scikit_learn():
    rng = np.random.RandomState(0)
    truth, said, weight = rng.normal(size=(50, 1)), rng.normal(size=(50, 1)), rng.rand(50)
    evaluator = RuleEvaluator(truth, weight, np.ones(50), np.ones(1), truth, np.arange(50))
    assert evaluator.error(said, 0.0) == pytest.approx(mean_absolute_error(truth, said, sample_weight=weight))
    squared = evaluator._replace(squared=True)
    assert squared.error(said, 0.0) == pytest.approx(root_mean_squared_error(truth, said, sample_weight=weight))
    np.testing.assert_allclose(evaluator.overall_errors(said), squared.overall_errors(said))
    np.testing.assert_allclose(evaluator.overall_errors(said), [evaluator.error(said, 0.0), squared.error(said, 0.0)])


def skewed(n, seed):
    """Targets whose mean, given the features, lies well above their median."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 3.0 * rng.exponential(1.0, n)


def test_squared_errors_ask_for_means_and_absolute_ones_for_trimmed_means():
    (X, y), (fresh, truth) = skewed(800, 0), skewed(4000, 1)
    found = {
        criterion: DSNARegressor(
            CostSensitiveForestRegressor(30), criterion=criterion, balance=0.0, trend=None, random_state=0
        ).fit(X, y)
        for criterion in ("absolute_error", "squared_error")
    }
    assert {name: model.decision_ for name, model in found.items()} == {
        "absolute_error": "trimmed",
        "squared_error": "mean",
    }
    by = {name: model.predict(fresh) for name, model in found.items()}
    assert mean_absolute_error(truth, by["absolute_error"]) < mean_absolute_error(truth, by["squared_error"])
    assert root_mean_squared_error(truth, by["squared_error"]) < root_mean_squared_error(truth, by["absolute_error"])
    assert found["squared_error"].oob_score_ > found["absolute_error"].oob_score_


def test_a_fitted_model_does_not_follow_another_criterion():
    X, y = skewed(100, 0)
    model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(X, y)
    with pytest.raises(DSNAError, match="criterion was changed after fit"):
        model.set_params(criterion="squared_error").predict(X)
