"""Which targets matter: names, control points and functions mean the same to errors and to densities."""

import numpy as np
import pytest

from dsna import DSNAError
from dsna.forest.density import TargetDensity
from dsna.metrics import sera_error
from dsna.metrics.relevance import RelevantDensity, TargetRelevance

SKEWED = np.random.default_rng(0).exponential(size=400)
AT = np.linspace(-3.0, 9.0, 500)
KINDS = ["boxplot", "density", "high", "low", [(0, 0), (2, 0.5), (1, 1)], lambda y: np.clip(y / 4, 0, 1)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("y", [np.zeros(5), np.array([0.0] * 9 + [4.0]), np.arange(30.0), np.array([3.0]), SKEWED])
def test_relevance_lies_between_zero_and_one(kind, y):
    phi = TargetRelevance(y, kind).evaluate(AT)
    assert phi.shape == AT.shape
    assert np.all((phi >= 0) & (phi <= 1))


def test_high_and_low_are_the_halves_of_a_box_plot():
    high, low, both = (TargetRelevance(SKEWED, kind).evaluate(AT) for kind in ("high", "low", "boxplot"))
    above = np.median(SKEWED) < AT
    np.testing.assert_allclose(high[above], both[above])
    np.testing.assert_allclose(low[~above], both[~above])
    assert not high[~above].any()
    assert not low[above].any()
    assert high.max() == pytest.approx(1.0)
    assert low.max() == pytest.approx(1.0)


def test_low_is_high_of_the_mirrored_targets():
    mirrored = TargetRelevance(-SKEWED, "low").evaluate(-AT)
    np.testing.assert_allclose(TargetRelevance(SKEWED, "high").evaluate(AT), mirrored, rtol=1e-9, atol=1e-12)


def test_control_points_are_met_in_any_order_and_held_beyond():
    relevance = TargetRelevance(SKEWED, [(3, 0.25), (1, 0), (2, 1)])
    np.testing.assert_allclose(relevance.evaluate([-9.0, 1.0, 2.0, 3.0, 99.0]), [0.0, 0.0, 1.0, 0.25, 0.25])
    between = relevance.evaluate(np.linspace(1, 2, 50))
    assert np.all(np.diff(between) >= 0)


@pytest.mark.parametrize("kind", ["boxplot", "high", "low"])
def test_a_row_of_weight_two_counts_as_two_rows(kind):
    rng = np.random.default_rng(1)
    y, weight = rng.normal(size=60), rng.integers(1, 5, size=60)
    weighted, repeated = TargetRelevance(y, kind, weight), TargetRelevance(np.repeat(y, weight), kind)
    np.testing.assert_allclose(weighted.evaluate(AT), repeated.evaluate(AT), rtol=1e-9, atol=1e-12)
    ones = TargetRelevance(y, kind, np.full(60, 0.3))
    np.testing.assert_allclose(ones.evaluate(AT), TargetRelevance(y, kind).evaluate(AT), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "kind, said",
    [
        ("box", "unknown"),
        ([], "at least two pairs"),
        ([(1, 1)], "at least two pairs"),
        ([1, 2], "at least two pairs"),
        ([(1, 0), (2, "x")], "at least two pairs"),
        ([(1, 0), (1, 1)], "distinct finite targets"),
        ([(1, 0), (np.inf, 1)], "finite targets"),
        ([(1, 0), (2, 1.5)], "between 0 and 1"),
        (3, "at least two pairs"),
        (None, "at least two pairs"),
        (lambda y: y - 9, "between 0 and 1"),
        (lambda y: y[:3], "one number"),
        (lambda y: np.full(len(y), np.nan), "not NaN"),
    ],
)
def test_what_is_no_relevance_is_refused_in_a_sentence(kind, said):
    with pytest.raises(DSNAError, match=said) as caught:
        TargetRelevance(SKEWED, kind).evaluate(SKEWED)
    assert "\n" not in str(caught.value)


def test_sera_counts_the_targets_that_matter():
    y, off = np.r_[SKEWED, -SKEWED], np.random.default_rng(2).normal(size=800)
    for kind in KINDS:
        phi = TargetRelevance(y, kind).evaluate(y)
        assert sera_error(y, y + off, y_train=y, relevance=kind) == pytest.approx(np.sum(phi * off**2))
    high, low, both = (sera_error(y, y + off, y_train=y, relevance=k) for k in ("high", "low", "boxplot"))
    assert high + low == pytest.approx(both)
    assert sera_error(y, y + off, relevance=KINDS[4]) == sera_error(y, y + off, y_train=y, relevance=KINDS[4])
    with pytest.raises(DSNAError, match="Pass y_train"):
        sera_error(y, y + off, relevance="high")


def test_targets_that_do_not_matter_are_as_common_as_the_commonest():
    y = np.repeat([0.0, 1.0, 2.0, 3.0], [10, 100, 60, 20])[:, None]
    density = TargetDensity(y)
    at = np.arange(4.0)[:, None]
    plain = density.evaluate(at)
    high = RelevantDensity(density, y, [(1, 0), (2, 0.5), (3, 1)]).evaluate(at)
    np.testing.assert_allclose(high, [plain[1], plain[1], np.sqrt(plain[1] * plain[2]), plain[3]])
    for every in ("auto", lambda y: np.ones(len(y))):
        np.testing.assert_array_equal(RelevantDensity(density, y, every).evaluate(at), plain)
        np.testing.assert_array_equal(RelevantDensity(density, y, every).rarity(at), density.rarity(at))
    nothing = RelevantDensity(density, y, lambda y: np.zeros(len(y))).rarity(at)
    np.testing.assert_allclose(nothing, density.rarity(at).min())


def test_of_several_outputs_the_most_relevant_decides():
    rng = np.random.default_rng(3)
    y = rng.normal(size=(300, 2))
    density = TargetDensity(y)
    phi = np.max([TargetRelevance(column, "high").evaluate(column) for column in y.T], axis=0)
    share = density.evaluate(y)
    expected = share**phi * share.max() ** (1 - phi)
    np.testing.assert_allclose(RelevantDensity(density, y, "high").evaluate(y), expected)
