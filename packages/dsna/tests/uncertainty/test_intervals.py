"""Intervals cover what they promise: overall, in rare regions, where noise differs, and on fresh rows of a model."""

import warnings

import numpy as np
import pytest
from tests.small_models import build

from dsna import DSNARegressor
from dsna.uncertainty.intervals import Regions, target_regions, target_spread

pytestmark = pytest.mark.filterwarnings("ignore:Target regions of fewer:UserWarning")


def draw(n, seed):
    """Labels of which 6 % are rare and large, noise that grows along the label, a forecast drawn to the mean."""
    rng = np.random.RandomState(seed)
    y = np.where(rng.rand(n) < 0.06, 20.0 + 10.0 * rng.rand(n), 10.0 * rng.rand(n))
    spread = (0.3 + 0.1 * y) * (0.5 + rng.rand(n))
    return y, 0.9 * y + 0.5 + spread * rng.standard_t(5, n), spread


def inside(bounds, y):
    return (bounds[:, 0] <= y) & (y <= bounds[:, 1])


def noise(*rows, coverage=0.9):
    """Standard error of a coverage: of the quantile, from so many calibration rows, and of the fresh rows counted."""
    return np.sqrt(coverage * (1.0 - coverage) * sum(1.0 / n for n in rows))


@pytest.mark.parametrize("n", [700, 3000])
def test_regions_hold_50_rows_and_cut_between_labels(n):
    y = draw(n, 0)[0]
    bounds = target_regions(y)
    counts = np.bincount(np.searchsorted(bounds, y))
    assert len(counts) > 4
    assert counts.min() >= 50
    assert np.all(np.diff(bounds) > 0)
    assert not np.isin(bounds, y).any()


@pytest.mark.parametrize("y", [np.arange(99.0), np.full(500, 3.0), np.r_[np.zeros(471), np.ones(29)], np.ones(1)])
def test_regions_that_cannot_be_cut_are_one(y):
    assert len(target_regions(y)) == 0


@pytest.mark.parametrize("n", [290, 310, 2000])
def test_tail_of_a_tenth_is_a_region_where_it_holds_30_rows(n):
    y = np.exp(3.0 * np.random.RandomState(0).randn(n))  # one width holds nearly all rows
    for target in (y, -y):
        counts = np.bincount(np.searchsorted(target_regions(target), target))
        assert counts.tolist() == ([n] if n < 300 else [n // 10, n - 2 * (n // 10), n // 10])


def test_coverage_in_the_top_tenth_of_a_long_tail():
    def tail(n, seed):
        rng = np.random.RandomState(seed)
        y = np.exp(1.5 * rng.randn(n))
        return y, np.exp(1.0 + 0.3 * np.log(y) + 0.3 * rng.randn(n))

    (y, prediction), (fresh, forecast) = tail(1000, 0), tail(20_000, 1)
    hit = inside(Regions(y, prediction).intervals(forecast, 0.9), fresh)
    top = fresh > np.quantile(y, 0.9)
    assert hit[top].mean() > 0.9 - 3 * noise(100, np.sum(top))
    assert abs(hit.mean() - 0.9) < 0.03


def test_spread_is_the_weighted_deviation():
    rng = np.random.RandomState(0)
    kernel, labels = rng.dirichlet(np.ones(7), 20), rng.randn(20, 7, 2)
    found = target_spread(kernel, labels)
    for i in range(20):
        for a in range(2):
            off = labels[i, :, a] - kernel[i] @ labels[i, :, a]
            assert found[i, a] ** 2 == pytest.approx(kernel[i] @ off**2 / (1.0 - kernel[i] @ kernel[i]))


def test_spread_does_not_depend_on_the_number_of_neighbours():
    rng = np.random.RandomState(0)
    few, many = (np.mean(target_spread(np.full((4000, m), 1 / m), rng.randn(4000, m, 1)) ** 2) for m in (3, 50))
    assert few == pytest.approx(1.0, abs=0.1)
    assert many == pytest.approx(1.0, abs=0.02)


def test_spread_of_a_single_neighbour_is_zero():
    assert target_spread(np.array([[1.0, 0.0]]), np.array([[[3.0], [9.0]]])) == 0.0


@pytest.mark.parametrize("coverage", [0.6, 0.9])
@pytest.mark.parametrize("use_spread", [False, True])
def test_coverage_overall_and_in_every_region(coverage, use_spread):
    (y, prediction, spread), (fresh, forecast, around) = draw(4000, 1), draw(20_000, 2)
    regions = Regions(y, prediction, spread if use_spread else None)
    hit = inside(regions.intervals(forecast, coverage, around if use_spread else None), fresh)
    assert abs(hit.mean() - coverage) < 0.02
    of_fresh, counts = np.searchsorted(regions.bounds, fresh), np.bincount(np.searchsorted(regions.bounds, y))
    for r, count in enumerate(counts):
        assert hit[of_fresh == r].mean() > coverage - 3 * noise(count, np.sum(of_fresh == r), coverage=coverage)
    assert hit[fresh > 15].mean() > coverage - 3 * noise(np.sum(y > 15), np.sum(fresh > 15), coverage=coverage)


def test_spread_makes_intervals_narrower_where_rows_are_quiet():
    rng = np.random.RandomState(0)
    y, spread = 10.0 * rng.rand(12_000), np.where(rng.rand(12_000) < 0.5, 0.2, 2.0)
    prediction = y + spread * rng.randn(12_000)
    known, fresh = slice(0, 6000), slice(6000, None)
    plain = Regions(y[known], prediction[known]).intervals(prediction[fresh], 0.9)
    fitted = Regions(y[known], prediction[known], spread[known]).intervals(prediction[fresh], 0.9, spread[fresh])
    width, quiet = np.diff(fitted, axis=1), spread[fresh] < 1
    assert width[quiet].mean() < 0.7 * width[~quiet].mean()
    assert width.mean() < 0.9 * np.diff(plain, axis=1).mean()
    assert abs(inside(fitted, y[fresh]).mean() - 0.9) < 0.015


def test_weights_stand_for_the_rows_left_out():
    rng = np.random.RandomState(0)
    y = rng.rand(20_000)
    easy = rng.rand(20_000) < 0.8
    prediction = y + np.where(easy, 0.01, 0.5) * rng.randn(20_000)
    rows = np.flatnonzero(~easy | (rng.rand(20_000) < 0.1))
    weight = np.where(easy[rows], 10.0, 1.0)
    weighted = inside(Regions(y[rows], prediction[rows], weight=weight).intervals(prediction, 0.9), y).mean()
    unweighted = inside(Regions(y[rows], prediction[rows]).intervals(prediction, 0.9), y).mean()
    assert abs(weighted - 0.9) < 0.015
    assert unweighted > 0.93


def test_labels_on_a_grid_end_the_intervals():
    rng = np.random.RandomState(0)
    y = rng.poisson(4.0, 3000).astype(float)
    mean = y + rng.randn(3000)
    plain = Regions(y, mean).intervals(mean, 0.9)
    snapped = Regions(y, mean, grid=np.unique(y)).intervals(mean, 0.9)
    assert np.isin(snapped, y).mean() > 0.99
    np.testing.assert_array_equal(inside(snapped, y), inside(plain, y))
    assert np.diff(snapped, axis=1).mean() < np.diff(plain, axis=1).mean() - 0.5


def test_intervals_hold_the_prediction_and_grow_with_the_coverage():
    y, prediction, spread = draw(800, 0)
    regions = Regions(y, prediction, spread)
    bounds = [regions.intervals(prediction, coverage, spread) for coverage in (0.01, 0.5, 0.9, 0.99)]
    for found in bounds:
        assert np.all(np.isfinite(found))
        assert np.all(inside(found, prediction))
    assert np.all(np.diff([np.diff(found, axis=1).mean() for found in bounds]) > 0)


def test_merged_regions_are_named_in_a_warning():
    y, prediction, _ = draw(600, 0)
    with pytest.warns(UserWarning, match=r"fewer than 50 rows were merged.* from .* to 29\.") as caught:
        Regions(y, prediction).intervals(prediction, 0.9)
    assert len(caught) == 1


def test_no_warning_where_all_regions_are_full_or_when_nobody_asks():
    y = np.linspace(0.0, 1.0, 1200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Regions(y, y + 0.1).intervals(y, 0.9)
        Regions(y[:80], y[:80])
        Regions(np.ones(20), np.ones(20)).intervals(np.ones(3), 0.9)


@pytest.mark.parametrize("n", [1, 3, 60])
def test_few_rows_give_one_region(n):
    y, prediction, spread = draw(n, 0)
    bounds = Regions(y, prediction, spread).intervals(prediction, 0.9, spread)
    assert bounds.shape == (n, 2)
    assert np.all(np.isfinite(bounds))
    assert inside(bounds, y).mean() >= 0.9 - 0.5 / n


def test_equal_labels_and_spreads_of_zero():
    y = np.full(200, 5.0)
    np.testing.assert_array_equal(Regions(y, y, np.zeros(200)).intervals(y[:2], 0.9, np.zeros(2)), [[5, 5], [5, 5]])


def table(n, seed):
    """Noise that grows with a feature, and a rare region of high labels."""
    rng = np.random.RandomState(seed)
    X = rng.rand(n, 4)
    rare = X[:, 0] > 0.9
    return X, 4.0 * X[:, 1] + 8.0 * rare * X[:, 0] + (0.2 + X[:, 2]) * rng.randn(n)


def test_model_covers_fresh_rows():
    (X, y), (fresh, truth) = table(1200, 0), table(4000, 1)
    model = build(DSNARegressor, n_estimators=40, random_state=0).fit(X, y)
    hit = inside(model.predict_interval(fresh), truth)
    # Beside the noise of both samples, 1.5 % for out-of-bag rows, which fewer trees answer than fresh ones.
    assert abs(hit.mean() - 0.9) < 0.015 + 2 * noise(len(y), len(truth))
    edges = np.linspace(y.min(), y.max(), 7)
    of_y, of_fresh = (np.digitize(values, edges[1:-1]) for values in (y, truth))
    checked = [r for r in range(6) if np.sum(of_y == r) >= 50]
    assert len(checked) >= 4
    for r in checked:
        assert hit[of_fresh == r].mean() > 0.9 - 3 * noise(np.sum(of_y == r), np.sum(of_fresh == r))


def test_model_of_several_outputs():
    (X, y), (fresh, truth) = table(500, 0), table(2000, 1)
    # Out of bag, two trees of five answer: with fewer trees, worse than the whole forest, and intervals are too wide.
    # A trend would know the second output, which has no noise, exactly.
    model = build(DSNARegressor, n_estimators=50, trend=None, random_state=0).fit(X, np.c_[y, -10.0 * X[:, 3]])
    bounds = model.predict_interval(fresh)
    assert bounds.shape == (2000, 2, 2)
    for a, labels in enumerate((truth, -10.0 * fresh[:, 3])):
        assert abs(inside(bounds[:, a], labels).mean() - 0.9) < 0.02 + 2 * noise(500, 2000)


def test_regions_of_labels_that_lie_on_their_edges():
    angles = np.repeat([-90.0, -60, -30, -15, 0, 15, 30, 60, 90], [60, 60, 60, 200, 200, 200, 60, 60, 60])
    bounds = target_regions(angles)
    assert (np.diff(bounds) > 0).all()
    assert np.bincount(np.searchsorted(bounds, angles)).min() >= 50
    predicted = angles + np.random.RandomState(0).normal(0, 5.0, len(angles))
    ends = Regions(angles, predicted, grid=np.unique(angles)).intervals(predicted, 0.9)
    assert np.mean((ends[:, 0] <= angles) & (angles <= ends[:, 1])) >= 0.89
