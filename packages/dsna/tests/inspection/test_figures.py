"""Figures of weighted cases, against scikit-learn, scipy and resampling."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import precision_score, recall_score

from dsna import DSNAError
from dsna.inspection.figures import FEWEST, Cases, class_figures, range_edges, range_figures, rare_targets


@pytest.mark.parametrize("hits, n", [(0, 12), (3, 12), (12, 12), (45, 80)])
def test_shares_have_wilsons_range(hits, n):
    found = Cases.of(n).share(np.arange(n) < hits)
    known = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert (found.value, found.cases) == (hits / n, n)
    np.testing.assert_allclose([found.low, found.high], [known.low, known.high], atol=2e-4)


def test_weights_are_as_repetitions_in_the_value_and_fewer_cases_in_the_range():
    rng = np.random.RandomState(0)
    hit, weight = rng.rand(200) < 0.4, np.where(rng.rand(200) < 0.2, 9.0, 1.0)
    found = Cases.of(200, weight).share(hit)
    assert found.value == pytest.approx(np.average(hit, weights=weight))
    even = Cases.of(200).share(hit)
    assert found.high - found.low > 1.3 * (even.high - even.low)
    scaled = Cases.of(200, 5.0 * weight).share(hit)
    np.testing.assert_allclose(scaled[:3], found[:3])


def test_ranges_are_those_of_resampled_groups():
    rng = np.random.RandomState(0)
    group = np.repeat(np.arange(60), 5)
    values = rng.randn(60)[group] + 0.2 * rng.randn(300)
    weight = rng.exponential(size=300)
    found = Cases.of(300, weight, group).mean(values)
    means = []
    for _ in range(2000):
        drawn = np.bincount(rng.randint(60, size=60), minlength=60)[group] * weight
        means.append(np.average(values, weights=drawn))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.std(means), rel=0.1)
    alone = Cases.of(300, weight).mean(values)
    assert alone.high - alone.low < 0.7 * (found.high - found.low)


def test_recall_and_precision_are_those_of_scikit_learn():
    rng = np.random.RandomState(0)
    truth, said, weight = rng.randint(3, size=300), rng.randint(3, size=300), rng.rand(300)
    found = class_figures(truth, said, [0, 1, 2], Cases.of(300, weight))
    how = {"average": None, "sample_weight": weight}
    np.testing.assert_allclose([one.recall.value for one in found], recall_score(truth, said, **how))
    np.testing.assert_allclose([one.precision.value for one in found], precision_score(truth, said, **how))
    assert sum(one.rows for one in found) == pytest.approx(weight.sum())


def test_classes_without_cases_have_no_figure():
    found = class_figures(np.zeros(20, dtype=int), np.zeros(20, dtype=int), [0, 1], Cases.of(20))
    assert found[1].recall.few
    assert np.isnan(found[1].recall.value)
    assert not found[0].recall.few
    assert Cases.of(FEWEST - 1).mean(np.ones(FEWEST - 1)).few


def test_ranges_hold_every_row_once_and_a_far_outlier_takes_no_room():
    rng = np.random.RandomState(0)
    y = np.r_[rng.randn(500), 1e6]
    edges = range_edges(y)
    found = range_figures(y, y + 2.0, edges, Cases.of(len(y)))
    assert sum(one.error.cases for one in found) == len(y)
    assert min(one.error.cases for one in found) > 0
    assert all(one.error.value == pytest.approx(2.0, rel=1e-6) for one in found)
    assert range_edges(np.ones(30)).tolist() == [1.0, 1.0]


def test_rare_targets_are_about_a_tenth_or_those_far_out():
    rng = np.random.RandomState(0)
    assert 0.08 <= rare_targets(rng.randn(1000)).mean() <= 0.2
    tail = np.r_[rng.rand(990), np.linspace(1e3, 1e4, 10)]
    assert rare_targets(tail)[990:].all()
    assert rare_targets(tail).mean() <= 0.2
    assert not rare_targets(np.repeat([1.0, 2.0], 50)).any()


def test_weights_and_groups_of_other_lengths_are_refused():
    with pytest.raises(DSNAError, match="must have length 3"):
        Cases.of(3, [1.0, 2.0])
