"""DSNARegressor with a trend: what it promises, and that everything else still holds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import dsna
from dsna import CostSensitiveForestRegressor, DSNAError, DSNARegressor, presets
from dsna.trend.trend import KINDS, fade_factor


def table(n, seed, outputs=1, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X @ np.array([2.0, -1.0, 0.5]) + noise * rng.normal(size=n)
    return X, y if outputs == 1 else np.c_[y, 3.0 - y]


def model(**how):
    return DSNARegressor(CostSensitiveForestRegressor(20), **{"random_state": 0, **how})


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("trend", ["auto", *KINDS])
def test_explanations_show_what_is_carried_and_give_the_prediction(trend, outputs):
    X, y = table(300, 0, outputs)
    fitted = model(trend=trend).fit(X, y)
    assert fitted.trend_ in KINDS
    assert fitted.trend_offset_ > 0 or fitted.trend_pull_ > 0
    fresh = table(20, 1)[0]
    why = fitted.explain(fresh)
    np.testing.assert_array_equal(why.predict(), fitted.predict(fresh))
    np.testing.assert_array_equal(why[3].predict(), fitted.predict(fresh[3:4]))
    here = fitted._trend.predict(fitted._index.scaling.transform(fresh))[:, None]
    pull = fitted.trend_pull_ * (1.0 - fitted.balance_) * fade_factor(here, fitted._trend.ends)
    moved = why.label + fitted.trend_offset_ * (here - fitted._row_trend[why.rows])
    np.testing.assert_allclose(why.carried, pull * here + (1.0 - pull) * moved, atol=1e-12)
    names = ["carried"] if outputs == 1 else ["carried_0", "carried_1"]
    assert set(names) <= set(why.frame().columns)


def test_without_a_trend_targets_are_taken_as_they_are():
    X, y = table(200, 0)
    fitted = model(trend=None).fit(X, y)
    assert (fitted.trend_, fitted.trend_offset_, fitted.trend_pull_) == (None, 0.0, 0.0)
    assert fitted.explain(X[:2]).carried is None
    assert not fitted.is_extrapolated(1e6 * X).any()


def test_noise_is_not_learned():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    found = []
    for seed in range(4):
        fitted = model(random_state=seed).fit(X, rng.permutation(y))
        found.append(np.corrcoef(fitted.oob_prediction_, fitted._index.label[fitted.oob_rows_, 0])[0, 1])
        assert fitted.oob_score_ < 0.02
    # Were rows of a neighbour's fold seen, out-of-bag answers would lean away from the truth.
    assert abs(np.mean(found)) < 0.1


def test_predictions_continue_past_the_targets_seen():
    X, y = table(800, 0)
    seen = y < np.quantile(y, 0.8)
    errors, held, widths = {}, {}, {}
    for trend in ("auto", None):
        fitted = model(trend=trend, balance=0.0).fit(X[seen], y[seen])
        errors[trend] = np.abs(fitted.predict(X[~seen]) - y[~seen]).mean() / y.std()
        low, high = fitted.predict_interval(X).T
        held[trend] = np.mean((low <= y) & (y <= high), where=~seen)
        widths[trend] = np.mean(high - low, where=~seen) / np.mean(high - low, where=seen)
    assert errors["auto"] < 0.3 * errors[None]
    assert held["auto"] > 0.8 > held[None]
    assert widths["auto"] < 3.0
    fitted = model(balance=0.0).fit(X[seen], y[seen])
    assert not fitted.is_extrapolated(X[seen]).any()
    assert fitted.is_extrapolated(X[~seen]).mean() > 0.3
    assert fitted.predict(X[~seen]).max() > y[seen].max()
    why = fitted.explain(X)
    np.testing.assert_array_equal(why.extrapolated, fitted.is_extrapolated(X))
    far = int(np.flatnonzero(why.extrapolated)[0])
    assert "extrapolated: outside the training rows" in why.report(far)
    assert "extrapolated" not in why.report(int(np.flatnonzero(~why.extrapolated)[0]))


def test_intervals_inside_cover_as_asked():
    (X, y), (fresh, truth) = table(600, 0), table(2000, 1)
    fitted = DSNARegressor(CostSensitiveForestRegressor(50), random_state=0).fit(X, y)
    assert fitted.trend_ is not None
    low, high = fitted.predict_interval(fresh).T
    assert abs(np.mean((low <= truth) & (truth <= high)) - 0.9) < 0.05


@pytest.mark.parametrize("trend", KINDS)
def test_saved_models_come_back(trend, tmp_path):
    X, y = table(200, 0)
    fitted = model(trend=trend).fit(X, y)
    dsna.save(fitted, tmp_path / "model.dsna")
    again = dsna.load(tmp_path / "model.dsna")
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.is_extrapolated(3 * X), fitted.is_extrapolated(3 * X))
    assert again.trend_ == trend


def test_added_rows_are_carried_too():
    X, y = table(300, 0)
    fitted = model().fit(X, y)
    before = fitted._row_trend
    new, target = table(50, 2)
    fitted.add_samples(new, target)
    assert len(fitted._row_trend) == 350
    np.testing.assert_array_equal(fitted._row_trend[:300], before)
    assert np.abs(fitted._row_trend[300:, 0] - target).mean() < 0.5
    np.testing.assert_array_equal(fitted.explain(new).predict(), fitted.predict(new))


def test_weights_and_groups():
    X, y = table(300, 0)
    groups = np.arange(300) // 6
    fitted = model().fit(X, y, groups=groups)
    assert fitted.trend_ is not None
    heavy = np.where(np.arange(300) < 150, 1.0, 0.0)
    some = model().fit(X, np.where(heavy > 0, y, 1e3), sample_weight=heavy)
    assert some.trend_ is not None
    assert np.abs(some.predict(X) - y).mean() < 0.5


def test_a_fitted_model_does_not_follow_another_trend():
    X, y = table(200, 0)
    fitted = model().fit(X, y)
    with pytest.raises(DSNAError, match="trend was changed after fit"):
        fitted.set_params(trend=None).predict(X)


def test_the_paper_has_no_trend():
    assert clone(DSNARegressor(**presets.paper("regression"))).trend is None


def test_any_regressor_is_a_trend(tmp_path):
    X, y = table(300, 0)
    seen = y < np.quantile(y, 0.8)
    fitted = model(trend=Ridge(), balance=0.0).fit(X[seen], y[seen])
    assert fitted.trend_ == "Ridge"
    same = model(trend="linear", balance=0.0).fit(X[seen], y[seen])
    error, expected = (np.abs(one.predict(X[~seen]) - y[~seen]).mean() for one in (fitted, same))
    assert error == pytest.approx(expected, rel=0.2)
    np.testing.assert_array_equal(fitted.explain(X).predict(), fitted.predict(X))
    assert fitted.is_extrapolated(X[~seen]).any()
    with pytest.raises(TypeError, match="trend is a Ridge, which a dsna model file cannot hold"):
        dsna.save(fitted, tmp_path / "model.dsna")
    assert not list(tmp_path.iterdir())


def test_several_outputs_by_any_regressor():
    X, y = table(200, 0, outputs=2)
    fitted = model(trend=KNeighborsRegressor()).fit(X, y)
    assert fitted.predict(X).shape == (200, 2)


class OneValue(Ridge):
    def predict(self, X):
        return np.full(len(X), np.nan)


def test_a_regressor_that_predicts_nonsense_is_reported():
    X, y = table(100, 0)
    with pytest.raises(DSNAError, match=r"trend=OneValue.*not finite"):
        model(trend=OneValue()).fit(X, y)
