"""Coefficients become classes and targets as the formulas say; brute force is the judge."""

import itertools

import numpy as np
import pytest
from scipy.stats import trim_mean
from tests.small_models import build

import dsna
from dsna import DSNAClassifier, DSNARegressor
from dsna.prediction.calibration import class_mass
from dsna.prediction.decision import DECISIONS, allowed_decisions, decide, target_weights
from dsna.prediction.measures import MEASURES


@pytest.fixture
def rng():
    return np.random.RandomState(0)


def test_class_mass_sums_positive_weights_per_class(rng):
    weights, rows = rng.randn(30, 8), rng.randint(20, size=(30, 8))
    code = rng.randint(3, size=20)
    mass = class_mass(weights, rows, code, 3)
    for i, c in itertools.product(range(30), range(3)):
        positive = sum(max(w, 0.0) for w, r in zip(weights[i], rows[i], strict=True) if code[r] == c)
        assert mass[i, c] == pytest.approx(positive / np.maximum(weights[i], 0.0).sum())


def test_class_mass_of_nothing_is_zero():
    mass = class_mass(np.array([[-1.0, 0.0], [0.0, 2.0]]), np.array([[0, 1], [0, 1]]), np.array([0, 1]), 3)
    np.testing.assert_array_equal(mass, [[0, 0, 0], [0, 1, 0]])


def parts(rng, n=40, m=12):
    alpha = rng.randn(n, m)
    alpha /= alpha.sum(axis=1, keepdims=True)
    return alpha, rng.dirichlet(np.ones(m), n), 1.0 + 9.0 * rng.rand(n, m)


def test_weights_at_balance_0_are_the_blend(rng):
    alpha, kernel, rarity = parts(rng)
    for blend in (0.0, 0.4, 1.0):
        weights = target_weights(alpha, kernel, rarity, blend, 0.0, True)
        np.testing.assert_allclose(weights, (1 - blend) * alpha + blend * kernel)
    assert np.any(target_weights(alpha, kernel, rarity, 0.0, 0.0, True) < 0), "negative coefficients extrapolate"


def test_weights_at_balance_1_are_positive_and_inverse_to_density(rng):
    alpha, kernel, rarity = parts(rng)
    expected = np.maximum(alpha, 0.0) * rarity
    weights = target_weights(alpha, kernel, rarity, 0.0, 1.0, True)
    np.testing.assert_allclose(weights, expected / expected.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("balance", [0.2, 0.5, 0.9])
def test_weights_between_follow_the_formula(rng, balance):
    alpha, kernel, rarity = parts(rng)
    mixed = 0.7 * alpha + 0.3 * kernel
    raw = np.where(mixed > 0, mixed * rarity**balance, (1 - balance) * mixed)
    weights = target_weights(alpha, kernel, rarity, 0.3, balance, True)
    usual = np.abs(raw.sum(axis=1)) >= 0.1
    np.testing.assert_allclose(weights[usual], (raw / raw.sum(axis=1, keepdims=True))[usual])
    assert usual.any()


def test_weights_whose_sum_vanishes_keep_the_positive_part():
    alpha = np.array([[1.0, -1.0, 0.02]])
    weights = target_weights(alpha, np.full((1, 3), 1 / 3), np.ones((1, 3)), 0.0, 0.01, True)
    assert np.all(weights >= 0)
    assert weights.sum() == pytest.approx(1.0)


def test_weights_of_the_paper_are_not_normalised():
    alpha = np.array([[0.5, 0.2]])
    np.testing.assert_array_equal(target_weights(alpha, alpha, np.ones((1, 2)), 0.0, 0.0, False), alpha)


def test_weights_of_nothing_are_zero_not_nan():
    nothing = np.zeros((2, 3))
    for balance, sum_to_one in itertools.product((0.0, 0.5), (True, False)):
        assert np.all(target_weights(nothing, nothing, np.ones((2, 3)), 0.5, balance, sum_to_one) == 0)


def test_mean_is_the_weighted_sum_and_extrapolates(rng):
    labels = rng.rand(20, 6, 2)
    weights = rng.randn(20, 6)
    expected = [[weights[i] @ labels[i, :, a] for a in range(2)] for i in range(20)]
    np.testing.assert_allclose(decide(weights, labels, "mean", labels[0]), expected)
    assert decide(np.array([[2.0, -1.0]]), np.array([[[10.0], [0.0]]]), "mean", labels[0]) == 20.0


def test_median_minimises_the_weighted_absolute_error(rng):
    # Labels on a coarse grid have ties; negative weights have no vote.
    labels = rng.randint(6, size=(200, 9, 2)).astype(float)
    weights = rng.randn(200, 9)
    found = decide(weights, labels, "median", labels[0])
    for i, a in itertools.product(range(200), range(2)):
        positive = np.maximum(weights[i], 0.0)

        def error(value, i=i, a=a, positive=positive):
            return positive @ np.abs(labels[i, :, a] - value)

        assert found[i, a] in labels[i, :, a]
        assert error(found[i, a]) == pytest.approx(min(error(value) for value in labels[i, :, a]), abs=1e-12)


def test_trimmed_mean_is_that_of_rows_repeated_as_they_weigh(rng):
    """With whole numbers as weights: scipy's trimmed mean of the repeated targets."""
    for _ in range(20):
        counts = rng.randint(0, 5, size=9)
        counts[0] += (-counts.sum()) % 4 or 4  # quarters are whole rows
        targets = rng.normal(size=9)
        weights = np.where(counts > 0, counts / counts.sum(), -0.1)[None]
        found = decide(weights, targets[None, :, None], "trimmed", targets[:, None])
        assert found.item() == pytest.approx(trim_mean(np.repeat(targets, counts), 0.25), rel=1e-9, abs=1e-12)


def test_trimmed_mean_lies_between_targets_and_moves_with_them(rng):
    weights, targets = rng.dirichlet(np.ones(7), size=30), rng.normal(size=(30, 7, 2))
    found = decide(weights, targets, "trimmed", targets[0])
    assert np.all((found >= targets.min(axis=1)) & (found <= targets.max(axis=1)))
    np.testing.assert_allclose(decide(weights, 3 - 2 * targets, "trimmed", targets[0]), 3 - 2 * found, rtol=1e-9)
    padded = np.concatenate([targets, np.zeros((30, 3, 2))], axis=1)
    longer = np.concatenate([weights, np.zeros((30, 3))], axis=1)
    np.testing.assert_array_equal(decide(longer, padded, "trimmed", targets[0]), found)
    same = decide(weights, np.full((30, 7, 1), 0.3), "trimmed", targets[0])
    np.testing.assert_array_equal(same, np.full((30, 1), 0.3))
    assert decide(np.zeros((1, 2)), np.ones((1, 2, 1)), "trimmed", targets[0]).item() == 1.0


def test_median_of_equal_weights_is_the_lower_middle():
    labels = np.array([[[3.0], [1.0], [2.0], [4.0]]])
    assert decide(np.full((1, 4), 0.25), labels, "median", labels[0]) == 2.0


def test_grid_is_the_label_seen_that_is_nearest_to_the_mean(rng):
    grid = np.unique(rng.randint(5, size=(12, 2)) * [15.0, 1.0], axis=0)
    labels, weights = rng.rand(100, 4, 2) * [70.0, 5.0], rng.dirichlet(np.ones(4), 100)
    found = decide(weights, labels, "grid", grid)
    mean = decide(weights, labels, "mean", grid)
    # Each output counts in units of its own spread.
    away = np.sum(((grid[None] - mean[:, None]) / grid.std(axis=0)) ** 2, axis=2)
    np.testing.assert_allclose(np.sum(((found - mean) / grid.std(axis=0)) ** 2, axis=1), away.min(axis=1))
    assert {tuple(row) for row in found} <= {tuple(row) for row in grid}


def test_grid_with_a_constant_output():
    grid = np.array([[0.0, 5.0], [10.0, 5.0]])
    labels = np.array([[[0.0, 5.0], [10.0, 5.0]]])
    np.testing.assert_array_equal(decide(np.array([[0.3, 0.7]]), labels, "grid", grid), [[10.0, 5.0]])


COSTS = [[0.0, 1.0, 1.0], [2.0, 0.0, 1.0], [9.0, 4.0, 0.0]]
EVERY = [
    *((DSNAClassifier, one) for one in (*MEASURES, "paper", "recall>=.9", "precision>=.5", "f1_macro", COSTS)),
    *((DSNARegressor, one) for one in sorted(DSNARegressor._parameter_constraints["decision"][0].options)),
]


@pytest.mark.parametrize("kind, decision", EVERY, ids=lambda value: getattr(value, "__name__", str(value)))
def test_every_decision_is_explained_drawn_and_saved(kind, decision, tmp_path):
    """A new one that fails here is applied in `predict` alone: see "A decision" in docs/architecture.md."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    y = np.repeat([1, 2, 5], [30, 20, 10])
    X = y[:, None] + np.random.default_rng(0).normal(0, 1.0, (60, 2))
    model = build(kind, n_estimators=5, decision=decision, random_state=0).fit(X, y)
    predicted = model.predict(X)
    why = model.explain(X)
    np.testing.assert_array_equal(why.predict(), predicted)
    why.plot().figure.clear()
    dsna.save(model, tmp_path / "model.dsna")
    np.testing.assert_array_equal(dsna.load(tmp_path / "model.dsna").predict(X), predicted)
    more = model.add_samples(X[:2], y[:2])
    np.testing.assert_array_equal(more.explain(X).predict(), more.predict(X))


@pytest.mark.parametrize("decision", sorted(DECISIONS))
def test_every_decision_is_a_value_of_the_regressor(decision):
    X = np.arange(60.0)[:, None]
    model = build(DSNARegressor, n_estimators=5, decision=decision, random_state=0).fit(X, X[:, 0] // 10)
    assert model.decision_ == decision


def test_decisions_that_round_to_targets_are_tried_only_where_these_are_few():
    assert set(allowed_decisions("auto", few_targets=True)) == set(DECISIONS) - {"open", "median"}
    assert set(allowed_decisions("auto", few_targets=True)) - set(allowed_decisions("auto", few_targets=False)) == {
        "grid"
    }
    assert [name for name, one in DECISIONS.items() if one.needs_grid] == ["grid"]
