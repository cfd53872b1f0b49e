"""The calibration map: its optimum against other solvers, and what it must keep on the way."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from dsna.prediction.calibration import _BIAS_PENALTY, _SLOPE_PENALTY, Calibration, _logarithms


def drawn(n, n_classes, seed=0, sharp=2.0):
    """Two opinions, classes drawn from a mixture of the two, and their shares."""
    rng = np.random.RandomState(seed)
    mass, vote = (rng.dirichlet(np.full(n_classes, 0.7), n) for _ in range(2))
    logits = sharp * (np.log(mass + 0.01) + 0.5 * np.log(vote + 0.01)) - 0.7 * np.arange(n_classes)
    proba = np.exp(logits - logits.max(axis=1, keepdims=True))
    code = (proba.cumsum(axis=1) / proba.sum(axis=1, keepdims=True) < rng.rand(n, 1)).sum(axis=1)
    return np.stack([mass, vote]), code, np.bincount(code, minlength=n_classes) / n


def penalised_loss(parameters, features, code, weight):
    """Written out row by row: -sum w log p + stiff |parameters - usual|^2."""
    slopes, bias = parameters[:2], parameters[2:]
    value = _SLOPE_PENALTY * np.sum((slopes - 0.5) ** 2) + _BIAS_PENALTY * np.sum(bias**2)
    for row in range(len(code)):
        scores = np.array([slopes @ features[:, row, c] + bias[c] for c in range(len(bias))])
        value -= weight[row] * (scores[code[row]] - np.logaddexp.reduce(scores))
    return value


@pytest.mark.parametrize("n_classes", [2, 4])
def test_optimum_of_few_rows_against_a_solver_without_gradients(n_classes):
    opinions, code, prior = drawn(60, n_classes, sharp=0.7)
    weight = 0.5 + np.random.RandomState(1).rand(60)
    fitted = Calibration.fit(opinions, code, weight, prior)
    features = _logarithms(opinions, prior)
    # The weights say as much as so many equal rows.
    rows = weight * weight.sum() / np.sum(weight**2)
    found = np.r_[fitted.slopes, fitted.bias]
    start = np.r_[0.5, 0.5, np.zeros(n_classes)]
    best = minimize(penalised_loss, start, args=(features, code, rows), method="BFGS", options={"gtol": 1e-6})
    assert penalised_loss(found, features, code, rows) <= best.fun + 1e-5
    assert np.all(best.x[:2] > 0), "the bound of the slopes is not what is tested here"
    np.testing.assert_allclose(found, best.x, atol=5e-3)


def test_optimum_of_many_rows_is_logistic_regression():
    opinions, code, prior = drawn(40_000, 2)
    fitted = Calibration.fit(opinions, code, np.ones(len(code)), prior)
    features = np.diff(_logarithms(opinions, prior), axis=2)[:, :, 0].T
    free = LogisticRegression(C=1e8, tol=1e-8).fit(features, code)
    np.testing.assert_allclose(fitted.slopes, free.coef_[0], rtol=0.01)
    np.testing.assert_allclose(np.diff(fitted.bias), free.intercept_, atol=0.02)


def test_few_rows_stay_near_equal_opinions():
    opinions, code, prior = drawn(6, 2)
    fitted = Calibration.fit(opinions, code, np.ones(6), prior)
    assert np.all(np.abs(fitted.slopes - 0.5) < 0.5)
    assert np.all(np.abs(fitted.bias) < 1.0)


@pytest.mark.parametrize("blend", [0.0, 0.25, 1.0])
def test_a_given_blend_fixes_the_ratio_of_the_slopes(blend):
    opinions, code, prior = drawn(500, 3)
    slopes = Calibration.fit(opinions, code, np.ones(500), prior, blend).slopes
    np.testing.assert_allclose(slopes[1] * (1 - blend), slopes[0] * blend, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_probabilities_sum_to_one_and_stay_inside(n_classes):
    opinions, code, prior = drawn(300, n_classes)
    # An opinion may rule classes out, or be missing altogether.
    opinions[0, :20] = np.eye(n_classes)[np.arange(20) % n_classes]
    opinions[0, 20:30] = 0.0
    proba = Calibration.fit(opinions, code, np.ones(300), prior).probabilities(opinions)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.all((proba > 0) & (proba < 1))


def test_more_mass_never_lowers_a_probability():
    opinions, code, prior = drawn(1000, 3)
    fitted = Calibration.fit(opinions, code, np.ones(1000), prior)
    for c in range(3):
        share = np.linspace(0.0, 1.0, 101)[:, None]
        others = np.delete(np.eye(3), c, axis=0).mean(axis=0)
        moving, still = share * np.eye(3)[c] + (1 - share) * others, np.full((101, 3), 1 / 3)
        for pair in ((moving, still), (still, moving)):
            assert np.all(np.diff(fitted.probabilities(np.stack(pair))[:, c]) >= 0)


def test_opinions_that_mislead_are_not_turned_round():
    opinions, code, prior = drawn(2000, 2)
    fitted = Calibration.fit(1.0 - opinions, code, np.ones(2000), prior)
    assert np.all(fitted.slopes >= 0)


@pytest.mark.parametrize("blend", [None, 0.25])
def test_a_third_opinion_counts_as_much_as_it_knows(blend):
    opinions, code, prior = drawn(3000, 3)
    truth = 0.6 * np.eye(3)[code] + 0.4 * np.random.RandomState(1).dirichlet(np.ones(3), 3000)
    noise = np.random.RandomState(2).dirichlet(np.ones(3), 3000)
    how = {"code": code, "weight": np.ones(3000), "prior": prior, "blend": blend}
    knows, guesses = (Calibration.fit(np.concatenate([opinions, third[None]]), **how) for third in (truth, noise))
    assert knows.slopes[2] > 1.0
    assert guesses.slopes[2] < 0.1
    if blend is not None:
        np.testing.assert_allclose(3 * knows.slopes[1], knows.slopes[0], atol=1e-12)


def test_terms_add_up_to_the_probabilities():
    opinions, code, prior = drawn(300, 3)
    fitted = Calibration.fit(opinions, code, np.ones(300), prior)
    odds = np.exp(fitted.terms(opinions).sum(axis=0))
    np.testing.assert_allclose(fitted.probabilities(opinions), odds / odds.sum(axis=1, keepdims=True))


def test_probabilities_are_those_of_the_population():
    opinions, code, prior = drawn(20_000, 3)
    fitted = Calibration.fit(opinions, code, np.ones(20_000), prior)
    # At the optimum the mean probability of a class is its share, up to the weak penalty.
    np.testing.assert_allclose(fitted.probabilities(opinions).mean(axis=0), prior, atol=2e-3)


def test_a_weight_of_two_counts_as_two_rows():
    opinions, code, prior = drawn(4000, 2)
    times = 1 + np.arange(4000) % 2
    again = np.repeat(np.arange(4000), times)
    prior = np.bincount(code, weights=times) / times.sum()
    weighted = Calibration.fit(opinions, code, times.astype(float), prior)
    repeated = Calibration.fit(opinions[:, again], code[again], np.ones(len(again)), prior)
    # Only the penalty sees a difference: unequal weights say a little less than as many equal rows.
    np.testing.assert_allclose(weighted.slopes, repeated.slopes, rtol=0.02)


def test_before_fitting_the_opinions_are_averaged():
    opinions, _, prior = drawn(50, 2)
    proba = Calibration(prior).probabilities(opinions)
    odds = np.sqrt(np.prod([p[:, 1] / p[:, 0] for p in np.exp(_logarithms(opinions, prior))], axis=0))
    np.testing.assert_allclose(proba[:, 1] / proba[:, 0], odds)
