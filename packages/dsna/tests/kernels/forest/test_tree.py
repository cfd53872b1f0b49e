"""Trees against slow ones: dictionaries walked row by row, splits learned again by liblinear, gains recomputed."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC, LinearSVR
from tests.kernels.forest.growing import GrownTree, class_table, growth_of, label_table

from dsna._kernels.forest import node_targets
from dsna._kernels.forest.tree import route
from dsna.forest.trees import Trees

modest = settings(max_examples=40)
CHOICES = ("free_cut", "group_features", "common_scale", "axis")


def draw(seed, n, d, n_classes, outputs=1, lattice=False):
    """(table, n_classes) of rows whose labels depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, d)).astype(float) if lattice else rng.normal(size=(n, d))
    weight = rng.uniform(0.5, 2.0, n)
    score = X @ rng.normal(size=(d, outputs)) + 0.5 * rng.normal(size=(n, outputs))
    if n_classes:
        cuts = np.quantile(score[:, 0], np.linspace(0, 1, n_classes + 1)[1:-1] ** 0.5)
        code = np.unique(np.searchsorted(cuts, score[:, 0]), return_inverse=True)[1]
        return class_table(X, code, weight)
    label = np.round(score) if lattice else score
    return label_table(X, label, weight, gain=rng.uniform(0.5, 3.0, n))


def entropy(mass):
    p = mass[mass > 0] / mass.sum()
    return -np.sum(p * np.log(p))


def slow_gain(table, n_classes, rows, left):
    """Fall of entropy or of variance, with frequencies set right by the weights of the gain."""
    u = table.weight * table.gain
    right = np.setdiff1d(rows, left)
    total = 0.0
    for sign, part in ((1, rows), (-1, left), (-1, right)):
        mass = u[part].sum()
        if n_classes:
            impurity = entropy(np.bincount(table.code[part], weights=u[part], minlength=n_classes))
        else:
            mean = np.average(table.label[part], axis=0, weights=u[part])
            impurity = np.average(((table.label[part] - mean) ** 2).sum(axis=1), weights=u[part])
        total += sign * mass * impurity / u[rows].sum()
    return total


@pytest.mark.parametrize("n_classes, outputs", [(2, 1), (4, 1), (0, 1), (0, 2)])
@modest
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 80),
    lattice=st.booleans(),
    min_leaf=st.integers(1, 6),
    max_depth=st.integers(1, 8),
    max_split=st.sampled_from([10, 25, 1000]),
    choices=st.fixed_dictionaries(
        dict.fromkeys(("free_cut", "group_features", "common_scale", "axis"), st.integers(0, 1))
    ),
)
def test_structure(n_classes, outputs, seed, n, lattice, min_leaf, max_depth, max_split, choices):
    table = draw(seed, n, 4, n_classes, outputs, lattice)
    present = int(table.code.max()) + 1 if n_classes else 0
    limits = {"min_leaf": min_leaf, "max_depth": max_depth, "max_split": max_split}
    growth = growth_of(table, present, **limits, **choices)
    tree = GrownTree(table, growth, [1, 2, 4], seed)
    assert np.array_equal(np.sort(tree.rows), np.arange(n))
    assert tree.leaf_ptr[0] == 0
    assert tree.leaf_ptr[-1] == n
    leaves = tree.leaves()
    assert [leaf["leaf"] for leaf in leaves] == list(range(len(tree.leaf_ptr) - 1))
    for leaf in leaves:
        held = tree.rows[tree.leaf_ptr[leaf["leaf"]] : tree.leaf_ptr[leaf["leaf"] + 1]]
        # The same rows, in the order of their labels.
        assert np.array_equal(held, leaf["rows"])
        assert leaf["depth"] <= max_depth
        assert len(held) >= min(min_leaf, n)
    for node in tree.splits():
        size = len(node["split"])
        assert size in (1, 2, 3, 4)
        assert min(len(node["left"]["rows"]), len(node["right"]["rows"])) >= min_leaf
        labels = table.code[node["rows"]] if present else table.label[node["rows"]]
        assert len(np.unique(labels, axis=0)) > 1
        assert all(np.ptp(table.columns[f, node["rows"]]) > 0 for f in node["split"])
    assert len(tree.child) == len(leaves) - 1
    assert np.all(np.diff(tree.split_ptr) > 0)
    assert np.all(tree.metric_weight > 0)


@pytest.mark.parametrize("n_classes, outputs", [(2, 1), (3, 1), (0, 1), (0, 2)])
@pytest.mark.parametrize("free_cut", [0, 1])
def test_rows_end_where_a_slow_walk_ends(n_classes, outputs, free_cut):
    grown, slow = [], []
    table = draw(1, 150, 5, n_classes, outputs)
    for seed in range(4):
        some = np.random.default_rng(seed).permutation(150)[:100]
        growth = growth_of(table, n_classes, free_cut=free_cut, min_leaf=2)
        tree = GrownTree(table, growth, [1, 2, 3], seed, some)
        *nodes, leaf_ptr, importance = tree.arrays
        grown.append((*nodes, importance, leaf_ptr, tree.rows, np.zeros((len(leaf_ptr) - 1, 1))))
        slow.append(tree)
    trees, _ = Trees.join(grown, np.zeros((4, 5), dtype=bool))
    new = np.random.default_rng(9).normal(size=(60, 5))
    for X in (table.columns.T.copy(), new):
        leaves = np.empty((len(X), 4), dtype=np.int32)
        route(X, *trees.nodes, leaves)
        first = 0
        for t, tree in enumerate(slow):
            assert np.array_equal(leaves[:, t], [first + tree.leaf_of(x) for x in X])
            first += len(tree.leaves())
    leaves = trees.apply(table.columns.T)
    for leaf in range(trees.n_leaves):
        for row in trees.leaf_rows[trees.leaf_ptr[leaf] : trees.leaf_ptr[leaf + 1]]:
            assert leaves[row, trees.leaf_tree[leaf]] == leaf


@pytest.mark.parametrize("n_classes, outputs", [(2, 1), (4, 1), (0, 1), (0, 3)])
@pytest.mark.parametrize("free_cut, axis", [(0, 0), (1, 0), (1, 1)])
def test_importance_is_the_gain_recomputed(n_classes, outputs, free_cut, axis):
    table = draw(2, 120, 4, n_classes, outputs)
    tree = GrownTree(table, growth_of(table, n_classes, free_cut=free_cut, axis=axis, min_leaf=3), [1, 2, 4])
    importance = np.zeros(4)
    metric_weight = np.zeros(len(tree.child))
    for node in tree.splits():
        rows = node["rows"]
        mass = table.weight[rows].sum()
        gain = slow_gain(table, n_classes, rows, node["left"]["rows"])
        assert gain > 0
        whole = sum(abs(w) for w in node["split"].values())
        for f, w in node["split"].items():
            importance[f] += mass * gain * abs(w) / whole
        mean = np.average(table.label[rows], axis=0, weights=table.weight[rows])
        spread = np.average(((table.label[rows] - mean) ** 2).sum(axis=1), weights=table.weight[rows])
        metric_weight[node["number"]] = mass * (1.0 if n_classes else spread)
    np.testing.assert_allclose(tree.importance, importance, rtol=1e-9)
    np.testing.assert_allclose(tree.metric_weight, metric_weight, rtol=1e-9)


def standardised(table, node, common_scale):
    rows, features = node["rows"], list(node["split"])
    X, weight = table.columns[features][:, rows].T, table.weight[rows]
    mean = np.average(X, axis=0, weights=weight)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    if common_scale:
        scale[:] = scale.max()
    return (X - mean) / scale, mean, scale


def learned_again(table, growth, node, sides):
    """(weights, threshold) of the split that liblinear learns on a node, for classes on the given sides."""
    rows = node["rows"]
    Z, mean, scale = standardised(table, node, growth.common_scale)
    weight = table.weight[rows]
    common = {"C": growth.C / len(rows), "dual": False, "tol": 1e-12, "max_iter": 100_000}
    if growth.n_classes:
        target = np.array([sides[c] for c in table.code[rows]])
        share = np.array([weight[target == t].sum() for t in target]) / weight.sum()
        model = LinearSVC(loss="squared_hinge", **common)
    else:
        target = table.label[rows] - np.average(table.label[rows], axis=0, weights=weight)
        scatter = (target * weight[:, None]).T @ target
        target = target @ np.linalg.eigh(scatter)[1][:, -1]
        target *= sides[0] / np.sqrt(np.average(target**2, weights=weight))
        share = label_share(table, growth, rows, target)
        model = LinearSVR(loss="squared_epsilon_insensitive", epsilon=growth.epsilon, **common)
    costs = {
        node_targets.COST_NONE: np.ones(len(rows)),
        node_targets.COST_PAPER: (1 - share) / share,
        node_targets.COST_INVERSE: 1 / share,
    }
    cost = costs[growth.cost] * weight
    cost = weight / weight.mean() if cost.sum() == 0 else cost / cost.mean()
    model.fit(Z, target, sample_weight=cost)
    w = np.ravel(model.coef_) / scale
    return w, w @ mean - float(np.ravel(model.intercept_)[0])


def label_share(table, growth, rows, target):
    weight = table.weight[rows]
    if growth.density == node_targets.DENSITY_STATIC:
        return table.share[rows]
    where = table.code[rows]
    if growth.density == node_targets.DENSITY_BINS:
        low, high = target.min(), target.max()
        n_bins = node_targets.NODE_BINS
        where = np.minimum((target - low) / (high - low) * n_bins, n_bins - 1).astype(int)
    return np.array([weight[where == k].sum() for k in where]) / weight.sum()


def assert_splits_are_learned_again(tree):
    table, growth = tree.table, tree.growth
    assert tree.splits()
    for node in tree.splits():
        ours = np.array(list(node["split"].values()))
        if growth.n_classes:
            # The first class of a pair goes left; of more, any two groups may have been formed.
            classes = sorted(set(table.code[node["rows"]].tolist()))
            signs = [(-1.0, 1.0)] if len(classes) == 2 else product([-1.0, 1.0], repeat=len(classes))
            candidates = [dict(zip(classes, s, strict=True)) for s in signs if len(set(s)) == 2]
        else:
            candidates = [{0: 1.0}] if table.label.shape[1] == 1 else [{0: 1.0}, {0: -1.0}]
        learned = [learned_again(table, growth, node, sides) for sides in candidates]
        w, threshold = min(learned, key=lambda split: np.abs(split[0] - ours).max())
        size = np.abs(ours).max()
        np.testing.assert_allclose(ours, w, atol=1e-3 * size)
        reach = np.abs(table.columns[list(node["split"])][:, node["rows"]]).max()
        assert node["threshold"] == pytest.approx(threshold, abs=1e-3 * size * (1 + reach) * len(w))


COSTS = (node_targets.COST_NONE, node_targets.COST_PAPER, node_targets.COST_INVERSE)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_splits_are_those_of_liblinear(cost, n_classes):
    for seed in range(4):
        table = draw(seed, 150, 5, n_classes)
        growth = growth_of(table, n_classes, cost=cost, min_leaf=1 + seed)
        assert_splits_are_learned_again(GrownTree(table, growth, [1, 2, 5]))


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize(
    "density", [node_targets.DENSITY_EXACT, node_targets.DENSITY_BINS, node_targets.DENSITY_STATIC]
)
@pytest.mark.parametrize("outputs", [1, 3])
def test_label_splits_are_those_of_liblinear(cost, density, outputs):
    table = draw(4, 120, 5, 0, outputs)
    if density == node_targets.DENSITY_EXACT:
        table = label_table(table.columns.T, np.round(table.label), table.weight)
    table = table._replace(share=np.random.default_rng(0).uniform(0.01, 0.5, 120))
    growth = growth_of(table, 0, cost=cost, density=density, min_leaf=4, common_scale=int(outputs == 3))
    assert_splits_are_learned_again(GrownTree(table, growth, [1, 2, 5]))


def test_free_cuts_gain_no_less_than_the_sign():
    for seed in range(10):
        table = draw(seed, 100, 3, 2)
        gains = []
        for free_cut in (0, 1):
            growth = growth_of(table, 2, free_cut=free_cut, max_depth=1)
            tree = GrownTree(table, growth, [3], seed)
            gains.append(slow_gain(table, 2, tree.root["rows"], tree.root["left"]["rows"]))
        assert gains[1] >= gains[0] - 1e-12


def test_order_of_trees_is_of_no_consequence_and_seeds_are():
    table = draw(5, 200, 6, 2)
    trees = [GrownTree(table, growth_of(table, 2), [1, 2, 3], seed) for seed in (1, 2, 1)]
    assert all(np.array_equal(a, b) for a, b in zip(trees[0].arrays, trees[2].arrays, strict=True))
    assert not np.array_equal(trees[0].feature, trees[1].feature)


@pytest.mark.parametrize("min_leaf", [2, 5])
@pytest.mark.parametrize("free_cut", [0, 1])
def test_a_tiny_class_does_not_end_the_growth_of_a_huge_node(min_leaf, free_cut):
    """Splitting off fewer rows than a leaf needs is no split; others must be tried."""
    rng = np.random.default_rng(0)
    X, code = rng.normal(size=(5000, 4)), np.zeros(5000, dtype=np.int64)
    code[-500:], code[-1:] = 1, 2
    X[-500:, 0] += 1.0
    X[-1] = 10.0
    table = class_table(X, code)
    growth = growth_of(table, 3, max_split=200, min_leaf=min_leaf, free_cut=free_cut)
    tree = GrownTree(table, growth, [1, 2, 4])
    assert max(len(leaf["rows"]) for leaf in tree.leaves()) < 1500


def test_pure_and_constant_nodes_stay_leaves():
    X = np.random.default_rng(0).normal(size=(20, 3))
    one_class = class_table(X, np.zeros(20, dtype=np.int64))
    assert "leaf" in GrownTree(one_class, growth_of(one_class, 1), [1, 3]).root
    one_label = label_table(X, np.full((20, 1), 3.0))
    assert "leaf" in GrownTree(one_label, growth_of(one_label, 0), [1, 3]).root
    constant = class_table(np.ones((20, 3)), np.arange(20) % 2)
    assert "leaf" in GrownTree(constant, growth_of(constant, 2), [1, 3]).root
