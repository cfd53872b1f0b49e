"""Targets as counts of thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsna.trend.thresholds import Thresholds


@given(seed=st.integers(0, 1000), n=st.integers(2, 50), outputs=st.integers(1, 3))
def test_exact_shares_give_the_targets_back(seed, n, outputs):
    target = np.random.default_rng(seed).integers(-5, 6, (n, outputs)).astype(float)
    target[0] = -6.0
    levels = Thresholds(target)
    np.testing.assert_allclose(levels.targets(levels.indicators(target)), target, atol=1e-9)


def test_many_levels_become_sixty():
    target = np.arange(1000.0)[:, None]
    levels = Thresholds(target)
    assert len(levels.step) == 59
    again = levels.targets(levels.indicators(target))
    assert np.abs(again - target).max() <= np.diff(np.quantile(target, np.linspace(0, 1, 60))).max()


@pytest.mark.parametrize("share, expected", [(0.39, 0.0), (0.45, 0.25), (0.5, 0.5), (0.61, 1.0)])
def test_a_share_near_one_half_is_part_of_a_step(share, expected):
    levels = Thresholds(np.array([[0.0], [1.0]]))
    assert levels.targets(np.array([[share]])).item() == pytest.approx(expected)


def test_steps_over_a_gap_are_taken_gradually():
    levels = Thresholds(np.r_[np.arange(20.0, 30.0), np.arange(40.0, 50.0)][:, None])
    wide = int(np.argmax(levels.step))
    assert levels.step[wide] == 11.0
    below, above = np.ones(wide), np.zeros(len(levels.step) - wide - 1)
    shares = np.array([0.2, 0.4, 0.5, 0.6, 0.8])
    found = levels.targets(np.array([np.r_[below, share, above] for share in shares]))[:, 0]
    assert found[0] == pytest.approx(29.0 + 11.0 * (0.5 - 0.3 / (22.0 / 30.0)))
    assert found[2] == pytest.approx(34.5)
    assert np.all(np.diff(found) > 1.4)
    # Steps of the usual width are not: a share of .7 counts in full.
    assert levels.targets(np.r_[0.7, np.zeros(len(levels.step) - 1)][None])[0, 0] == 21.0
