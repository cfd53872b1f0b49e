"""Trends: cross-fits see what they may see, kinds continue as they should."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from dsna.trend.thresholds import Thresholds
from dsna.trend.trend import KINDS, TrendRows, _CrossFitRidge, clip_bounds, cross_fit, fade_factor, fit_trend


def rows(n=300, d=4, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    target = np.round(X @ np.arange(1.0, d + 1) + noise * rng.normal(size=n), 1)[:, None]
    return TrendRows(X, target, rng.uniform(0.5, 2.0, n), np.arange(n) % 5)


def fits(some, kind):
    thresholds = Thresholds(some.target) if kind == "ordinal" else None
    width = None if kind == "linear" else 0.3
    return _CrossFitRidge(some, width, np.arange(100), kind, thresholds, np.array([[-99.0], [99.0]]))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ordinal"])
def test_values_without_the_own_fold_are_those_of_a_refit(kind):
    some = rows()
    fitted = fits(some, kind)
    own = fitted.out_of_fold(0.1)
    for fold in range(5):
        kept = some.fold != fold
        peer = Ridge(alpha=0.1).fit(fitted.F[kept], some.target[kept], sample_weight=some.weight[kept])
        np.testing.assert_allclose(own[~kept], peer.predict(fitted.F[~kept]).reshape(-1, 1), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_targets_of_a_fold_do_not_reach_what_is_learned_without_it(kind):
    some = rows()
    other = some.target.copy()
    other[some.fold == 2] = other[some.fold == 2][::-1]
    both = fits(some, kind), fits(some._replace(target=other), kind)
    (before, before_outside), (after, after_outside) = (cross_fit(some.fold, one.fitter(0.1)) for one in both)
    np.testing.assert_array_equal(before, both[0].out_of_fold(0.1))
    held_out = some.fold == 2
    np.testing.assert_allclose(after[held_out], before[held_out], atol=1e-9)
    np.testing.assert_allclose(after_outside[2], before_outside[2], atol=1e-9)
    # Rows of other folds, learned without their own fold alone, do feel it.
    assert np.abs(after - before)[~held_out].max() > 1e-3
    # Nor does a row's own fold reach its value where another fold is left out as well.
    np.testing.assert_allclose(after_outside[:, held_out], before_outside[:, held_out], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_trends_fit(kind):
    some = rows(600)
    found = fit_trend(kind, some, np.random.RandomState(0))
    assert np.abs(found.out_of_fold - some.target).mean() < 0.25 * some.target.std()
    assert found.trend.extrapolation(some.X).max() < 1e-6
    fade = fade_factor(found.out_of_fold, found.trend.ends)
    if kind in ("linear", "joint"):
        assert np.all(fade == 1.0)
    else:
        assert 0.75 < (fade == 1.0).mean() < 0.85
        assert 0.02 < (fade == 0.0).mean() < 0.06


def test_linear_columns_continue_and_thresholds_do_not():
    some = rows(600)
    seen = some.target[:, 0] < np.quantile(some.target, 0.8)
    errors = {}
    for kind in KINDS:
        trend = fit_trend(kind, some.subset(seen), np.random.RandomState(0)).trend
        answer = trend.predict(some.X[~seen])
        errors[kind] = np.abs(answer - some.target[~seen]).mean() / some.target.std()
        assert answer.max() <= clip_bounds(some.target[seen])[1, 0]
        past = trend.extrapolation(some.X[~seen])[:, 0] > 0
        assert past.mean() > 0.5 if kind in ("linear", "joint") else not past.all()
    assert max(errors["linear"], errors["joint"]) < 0.1
    assert errors["kernel"] > errors["linear"]
    assert errors["ordinal"] > 0.3


def test_error_past_the_targets_is_known_from_the_outermost():
    some = rows(600)
    beyond = {kind: fit_trend(kind, some, np.random.RandomState(0)).tail_error for kind in KINDS}
    assert min(beyond, key=beyond.get) in ("linear", "joint")
    assert beyond["linear"] < 0.5 * beyond["ordinal"]


def test_several_outputs_have_a_trend_each():
    some = rows()
    both = some._replace(target=np.hstack([some.target, -2.0 * some.target]))
    for kind in KINDS:
        found = fit_trend(kind, both, np.random.RandomState(0))
        assert found.out_of_two_folds.shape == (5, 300, 2)
        np.testing.assert_allclose(
            found.out_of_fold[:, 1], -2.0 * found.out_of_fold[:, 0], atol=0.5 if kind == "ordinal" else 1e-6
        )


@pytest.mark.parametrize(
    "change", [{"target": np.ones((300, 1))}, {"fold": np.zeros(300, dtype=int)}, {"weight": np.zeros(300)}]
)
def test_too_little_for_a_trend(change):
    assert rows().can_cross_fit
    assert not rows()._replace(**change).can_cross_fit
    assert not rows(40).can_cross_fit
