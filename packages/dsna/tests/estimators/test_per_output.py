"""Targets whose outputs are rare or common each on its own: forest, DSNA, trend, added rows, model files."""

import numpy as np
import pytest

import dsna
from dsna import CostSensitiveForestRegressor, DSNARegressor
from dsna.forest.density import TargetDensity

RNG = np.random.RandomState(0)
PITCH = RNG.choice([-90.0, -30.0, 0.0, 30.0, 90.0], 300, p=[0.03, 0.3, 0.34, 0.3, 0.03])
POSES = np.c_[PITCH, np.where(np.abs(PITCH) == 90, 0.0, RNG.choice([-45.0, 0.0, 45.0], 300))]
X = POSES @ RNG.normal(size=(2, 6)) / 30 + RNG.normal(0, 0.4, (300, 6))
RARE = np.abs(PITCH) == 90


def model(**params):
    return DSNARegressor(CostSensitiveForestRegressor(10), random_state=0, **params)


@pytest.fixture(scope="module")
def fitted():
    return model(target_density="per-output").fit(X, POSES)


def test_a_forest_takes_costs_and_balance_from_the_rarest_output():
    def same(poses):
        return TargetDensity(poses, "per-output").evaluate(poses)

    forests = [CostSensitiveForestRegressor(5, balance=0.5, target_density=one) for one in ("per-output", same)]
    first, second = (one.set_params(random_state=0).fit(X, POSES).predict(X) for one in forests)
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(
        first, CostSensitiveForestRegressor(5, balance=0.5, random_state=0).fit(X, POSES).predict(X)
    )


def test_one_output_is_treated_as_by_default():
    both = [model(target_density=one).fit(X, PITCH).predict(X[:50]) for one in ("auto", "per-output")]
    np.testing.assert_array_equal(*both)


def test_balance_favours_rows_of_which_any_output_is_rare(fitted):
    assert fitted._rarity[RARE].min() > 2 * fitted._rarity[~RARE].max()
    errors = [
        np.abs(fitted.with_settings(balance=balance, blend=0.5, decision="mean").predict(X[RARE]) - POSES[RARE]).mean()
        for balance in (0.0, 1.0)
    ]
    assert errors[1] < errors[0]


def test_predictions_and_intervals_keep_to_targets_that_repeat(fitted):
    grid = model(target_density="per-output", decision="auto", balance=0.0).fit(X, POSES)
    assert grid.decision_ == "grid"
    ends = fitted.predict_interval(X[:40])
    for a in range(2):
        assert np.all(np.isin(ends[:, a], POSES[:, a]))


@pytest.mark.parametrize("trend", ["ordinal", "linear"])
def test_a_trend_weighs_rare_outputs_and_is_saved(trend, tmp_path):
    first = model(target_density="per-output", trend=trend).fit(X, POSES)
    dsna.save(first, tmp_path / "poses.dsna")
    again = dsna.load(tmp_path / "poses.dsna")
    assert again.target_density == "per-output"
    np.testing.assert_array_equal(again.predict(X[:50]), first.predict(X[:50]))
    np.testing.assert_array_equal(again.predict_interval(X[:50]), first.predict_interval(X[:50]))
    again.add_samples(X[:5], POSES[:5])


def test_added_rows_count_in_the_density_of_each_output():
    some = model(target_density="per-output").fit(X, POSES)
    before = some._rarity.copy()
    some.add_samples(np.tile(X[RARE], (5, 1)), np.tile(POSES[RARE], (5, 1)))
    every = np.concatenate([POSES, np.tile(POSES[RARE], (5, 1))])
    np.testing.assert_allclose(some._rarity, TargetDensity(every, "per-output").rarity(every))
    assert some._rarity[:300][RARE].max() < before[RARE].min()
