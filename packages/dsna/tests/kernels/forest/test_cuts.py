"""Single features cut at their best threshold, against all thresholds tried one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.forest.growing import GrownTree, class_table, growth_of, label_order
from tests.kernels.forest.test_tree import draw, slow_gain

from dsna._kernels.forest import cuts
from dsna._kernels.forest.node import MIN_WEIGHT

TASKS = [(2, 1), (4, 1), (0, 1), (0, 2)]


def thresholds(values, min_leaf):
    """Middles between neighbouring values that leave enough rows on both sides."""
    distinct = np.unique(values)
    middles = (distinct[1:] + distinct[:-1]) / 2
    below = np.array([(values < t).sum() for t in middles], dtype=int)
    return middles[(below >= min_leaf) & (len(values) - below >= min_leaf)]


def slow_best(table, n_classes, rows, feature, min_leaf):
    """Largest gain of any threshold of a feature; -1 where there is none."""
    values = table.columns[feature, rows]
    gains = [slow_gain(table, n_classes, rows, rows[values < t]) for t in thresholds(values, min_leaf)]
    return max(gains, default=-1.0)


@pytest.mark.parametrize("n_classes, outputs", TASKS)
@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 60), lattice=st.booleans(), min_leaf=st.integers(1, 5))
def test_the_best_threshold_of_all(n_classes, outputs, seed, n, lattice, min_leaf):
    table = draw(seed, n, 3, n_classes, outputs, lattice)
    n_classes = int(table.code.max()) + 1 if n_classes else 0
    growth = growth_of(table, n_classes, min_leaf=min_leaf)
    picked = label_order(table, n_classes).astype(np.int64)
    unit = (table.weight * table.gain)[picked]
    sides = cuts.node_sides(picked, unit, n, table, growth)
    assert sides.weight[0] == pytest.approx(unit.sum())
    for feature in range(3):
        values = table.columns[feature, picked]
        gain, threshold = cuts.best_threshold(picked, unit, n, values, table, growth, sides, min_leaf, 1e-12)
        best = slow_best(table, n_classes, picked, feature, min_leaf)
        assert gain == pytest.approx(best, abs=1e-9)
        if best >= 0.0:
            left = picked[values < threshold]
            assert min(len(left), n - len(left)) >= min_leaf
            assert slow_gain(table, n_classes, picked, left) == pytest.approx(best, abs=1e-9)


def test_many_values_are_cut_at_even_steps():
    """A few dozen places nearly find the best of a thousand."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=1000)
        table = class_table(x[:, None], ((x > 0.3) ^ (rng.random(1000) < 0.1)).astype(np.int64))
        growth = growth_of(table, 2)
        picked = label_order(table, 2).astype(np.int64)
        unit = (table.weight * table.gain)[picked]
        sides = cuts.node_sides(picked, unit, 1000, table, growth)
        values = table.columns[0, picked]
        gain, threshold = cuts.best_threshold(picked, unit, 1000, values, table, growth, sides, 5, 1e-12)
        assert gain == pytest.approx(slow_gain(table, 2, picked, picked[values < threshold]))
        best = slow_best(table, 2, picked, 0, 5)
        assert 0.95 * best <= gain <= best * (1 + 1e-9)


@pytest.mark.parametrize("n_classes, outputs", TASKS)
@pytest.mark.parametrize("lattice", [False, True])
def test_nodes_take_the_best_feature_at_its_best_threshold(n_classes, outputs, lattice):
    table = draw(3, 60, 4, n_classes, outputs, lattice)
    growth = growth_of(table, n_classes, axis=1, min_leaf=2)
    # So many draws find every feature.
    tree = GrownTree(table, growth, [1] * 100)
    assert len(tree.splits()) > 1
    for node in tree.splits():
        ((feature, _),) = node["split"].items()
        found = slow_gain(table, n_classes, node["rows"], node["left"]["rows"])
        gains = [slow_best(table, n_classes, node["rows"], f, 2) for f in range(4)]
        assert found == pytest.approx(max(gains), abs=1e-9)
        assert gains[feature] == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 0])
def test_weights_are_correlations_with_the_side(n_classes):
    """In spreads of the feature: as much as the side tells about the target."""
    table = draw(4, 150, 4, n_classes)
    tree = GrownTree(table, growth_of(table, n_classes, axis=1, min_leaf=3), [1, 1])
    for node in tree.splits():
        rows = node["rows"]
        ((feature, weight),) = node["split"].items()
        mass = table.weight[rows]
        target = (table.code[rows] == table.code[rows].max()).astype(float) if n_classes else table.label[rows, 0]
        share = {c: mass[table.code[rows] == c].sum() for c in table.code[rows]}
        cost = mass / np.array([share[c] for c in table.code[rows]])
        right = ~np.isin(rows, node["left"]["rows"])
        both = np.cov(target, right.astype(float), aweights=cost)
        spread = np.sqrt(np.cov(table.columns[feature, rows], aweights=mass, ddof=0))
        expected = abs(both[0, 1]) / np.sqrt(both[0, 0] * both[1, 1])
        assert weight * spread == pytest.approx(max(expected, MIN_WEIGHT), rel=1e-4)


def test_constant_features_are_passed_over():
    """One feature among many constant ones is found by one draw."""
    table = draw(5, 50, 30, 2)
    table.columns[1:] = 3.0
    tree = GrownTree(table, growth_of(table, 2, axis=1), [1])
    assert all(list(node["split"]) == [0] for node in tree.splits())
    assert len(tree.splits()) > 3


@pytest.mark.parametrize("rows_per_feature", [0, 4])
def test_linear_splits_need_rows(rows_per_feature):
    table = draw(6, 200, 6, 0)
    growth = growth_of(table, 0, axis=1, rows_per_feature=rows_per_feature)
    sizes = [(len(node["rows"]), len(node["split"])) for node in GrownTree(table, growth, [3, 6]).splits()]
    assert all(size == 1 or size * rows_per_feature <= n for n, size in sizes)
    assert any(size > 1 for _, size in sizes)
    assert any(size > 1 for n, size in sizes if n < 12) == (rows_per_feature == 0)
