"""How much out-of-bag estimates gain from densities that all rows have a part in.

The costs of a forest and the weights of a trend follow from one density, of all rows: one for each fit that leaves out
folds would end the sharing of sums. So the density of a row that is held out has a small part in what it is predicted
from. Here everything else is kept, and the density is that of the other folds alone: a gain from the leak would show as
an error that is larger without it.
"""

import numpy as np
import pytest

from dsna import CostSensitiveForestRegressor
from dsna.forest.density import TargetDensity
from dsna.trend.trend import TrendRows, fit_trend

pytestmark = pytest.mark.slow

SEEDS = range(12)
N = 200


def skewed(seed, permuted):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(N, 5))
    y = np.exp(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=N))
    return X, rng.permutation(y) if permuted else y


def by_forest(X, y, density):
    forest = CostSensitiveForestRegressor(20, target_density=density.evaluate, oob_score=True, random_state=0).fit(X, y)
    return forest.oob_prediction_, forest.fold_


def by_trend(X, y, density):
    fold = np.random.RandomState(0).permutation(N) % 5
    rows = TrendRows(X, y[:, None], density.evaluate(y) ** -0.5, fold)
    return fit_trend("kernel", rows, np.random.RandomState(0)).out_of_fold[:, 0], fold


def with_and_without(predict, X, y):
    """Held-out predictions by the density of all rows, and by that of the other folds."""
    leaky, fold = predict(X, y, TargetDensity(y, "kernel"))
    clean = np.empty(N)
    for b in range(5):
        clean[fold == b] = predict(X, y, TargetDensity(y[fold != b], "kernel"))[0][fold == b]
    return leaky, clean


@pytest.mark.parametrize("predict", [by_forest, by_trend])
@pytest.mark.parametrize("permuted", [False, True])
def test_the_leak_is_less_than_two_percent_of_the_error(predict, permuted):
    gains = []
    for seed in SEEDS:
        X, y = skewed(seed, permuted)
        leaky, clean = (np.abs(one - y) for one in with_and_without(predict, X, y))
        rare = y > np.quantile(y, 0.9)
        gains.append([1 - leaky.mean() / clean.mean(), 1 - leaky[rare].mean() / clean[rare].mean()])
    mean, noise = np.mean(gains, axis=0), np.std(gains, axis=0) / np.sqrt(len(gains))
    print(f"{predict.__name__}, permuted {permuted}: gain, all and rare, {mean.round(4)} +- {noise.round(4)}")
    assert np.all(mean < 0.02 + 3 * noise)
    assert np.all(np.abs(mean) < 0.05)
