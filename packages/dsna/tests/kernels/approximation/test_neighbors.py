"""Neighbourhoods against a brute-force union of leaves held in dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsna._kernels.approximation.neighbors import N_BUCKETS, gather

modest = settings(max_examples=60)
N_FOLDS = 5


class Forest:
    """Random partitions of N rows into leaves, one for each tree, some of which leave out folds of rows."""

    def __init__(self, seed, n_rows=40, n_trees=7, n_leaves=4, leave_out=True):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.n_rows = n_rows
        self.row_fold = rng.integers(0, N_FOLDS, n_rows)
        self.left_out = np.zeros((n_trees, N_FOLDS), dtype=bool)
        if leave_out:
            self.left_out[np.arange(n_trees), rng.integers(0, N_FOLDS, n_trees)] = True
        self.weight = np.ones(n_rows)
        self.rarity = np.ones(n_rows)
        self.Z = rng.normal(size=(n_rows, 3))
        self.trees = []  # for each tree: leaf number -> rows
        for t in range(n_trees):
            seen = np.flatnonzero(~self.left_out[t][self.row_fold])
            own = rng.integers(0, n_leaves, len(seen))
            self.trees.append({t * n_leaves + j: list(rng.permutation(seen[own == j])) for j in range(n_leaves)})

    def queries(self, n=9):
        leaves = np.array([[self.rng.choice(list(tree)) for tree in self.trees] for _ in range(n)])
        return leaves.astype(np.int32), self.rng.normal(size=(n, 3))

    def gather(self, leaves, Q, fold, most):
        held = [rows for tree in self.trees for _, rows in sorted(tree.items())]
        leaf_ptr = np.cumsum([0, *map(len, held)])
        leaf_rows = np.array([r for rows in held for r in rows], dtype=np.int32)
        n = len(leaves)
        rows, proximity = np.zeros((n, most), dtype=np.int64), np.zeros((n, most))
        size = np.zeros(n, dtype=np.int64)
        known = (leaf_ptr, leaf_rows, self.row_fold, self.weight, self.rarity, bool(np.all(self.weight == 1.0)))
        gather(leaves, fold, self.left_out, *known, Q, self.Z, rows, proximity, size)
        for i in range(n):
            assert not proximity[i, size[i] :].any()
        return [list(zip(rows[i, :k].tolist(), proximity[i, :k], strict=True)) for i, k in enumerate(size)]

    def shares(self, leaves, fold):
        """Proximity of each row of one query's neighbourhood."""
        used = [t for t in range(len(self.trees)) if fold < 0 or self.left_out[t, fold]]
        found: dict[int, float] = {}
        for t in used:
            inside = self.trees[t][int(leaves[t])]
            total = sum(self.weight[r] for r in inside)
            for r in inside:
                if self.weight[r] > 0 and (fold < 0 or self.row_fold[r] != fold):
                    found[int(r)] = found.get(int(r), 0.0) + self.weight[r] / total / len(used)
        return found

    def brute(self, leaves, q, fold, most):
        """The rows kept, as a dictionary of their proximities, and the order of all by what keeps them."""
        found = self.shares(leaves, fold)
        if len(found) <= most:
            return found, sorted(found, key=lambda r: -found[r])
        order = sorted(found, key=lambda r: (-round(found[r] * self.rarity[r], 12), np.linalg.norm(self.Z[r] - q)))[
            :most
        ]
        return {r: found[r] for r in order}, order


def check(forest, leaves, Q, fold, most):
    for i, ours in enumerate(forest.gather(leaves, Q, fold, most)):
        expected, order = forest.brute(leaves[i], Q[i], int(fold[i]), most)
        assert {r for r, _ in ours} == set(expected)
        assert len(ours) == len(expected)
        for r, proximity in ours:
            assert proximity == pytest.approx(expected[r], abs=1e-12)
        if len(forest.shares(leaves[i], int(fold[i]))) > most:
            # Equal ranks may stand in any order; which rows were kept is checked above.
            kept_by = [p * forest.rarity[r] for r, p in ours]
            assert np.all(np.diff(kept_by) <= 1e-9 * kept_by[0])
            assert kept_by[0] == pytest.approx(expected[order[0]] * forest.rarity[order[0]])
        else:
            assert np.all(np.diff([p for _, p in ours]) <= 1e-15)


@modest
@given(st.integers(0, 10_000), st.sampled_from([1, 5, 20, 200]))
def test_new_rows(seed, most):
    forest = Forest(seed)
    leaves, Q = forest.queries()
    check(forest, leaves, Q, np.full(len(Q), -1), most)


@modest
@given(st.integers(0, 10_000), st.sampled_from([3, 200]))
def test_training_rows_see_only_what_never_saw_them(seed, most):
    forest = Forest(seed)
    leaves, Q = forest.queries()
    fold = forest.rng.integers(-1, N_FOLDS, len(Q))
    check(forest, leaves, Q, fold, most)
    for i, near in enumerate(forest.gather(leaves, Q, fold, most)):
        assert fold[i] < 0 or all(forest.row_fold[r] != fold[i] for r, _ in near)


@modest
@given(st.integers(0, 10_000), st.sampled_from([4, 200]))
def test_weights_share_a_leaf_out_and_zero_leaves_it(seed, most):
    forest = Forest(seed)
    leaves, Q = forest.queries()
    forest.weight = forest.rng.integers(0, 4, forest.n_rows).astype(float)
    fold = np.full(len(Q), -1)
    check(forest, leaves, Q, fold, most)
    for near in forest.gather(leaves, Q, fold, most):
        assert all(forest.weight[r] > 0 for r, _ in near)


@modest
@given(st.integers(0, 10_000), st.sampled_from([1, 4, 10]))
def test_rare_rows_go_first_where_not_all_fit(seed, most):
    forest = Forest(seed)
    leaves, Q = forest.queries()
    forest.rarity = forest.rng.choice([1.0, 2.0, 10.0], forest.n_rows)
    check(forest, leaves, Q, np.full(len(Q), -1), most)


def test_shares_of_a_whole_neighbourhood_sum_to_one():
    forest = Forest(0, leave_out=False)
    leaves, Q = forest.queries()
    for near in forest.gather(leaves, Q, np.full(len(Q), -1), 100):
        assert sum(p for _, p in near) == pytest.approx(1.0)


def test_equal_proximities_are_decided_by_distance():
    """One tree, one leaf: the nearest stay, nearest first."""
    forest = Forest(3, n_trees=1, n_leaves=1, leave_out=False)
    leaves, Q = forest.queries(1)
    near = forest.gather(leaves, Q, np.full(1, -1), 5)[0]
    assert [r for r, _ in near] == list(np.argsort(np.linalg.norm(forest.Z - Q[0], axis=1))[:5])


def test_rows_at_the_same_place_fill_the_bound():
    forest = Forest(3, n_trees=1, n_leaves=1, leave_out=False)
    forest.Z[:] = 1.0
    leaves, _ = forest.queries(1)
    near = forest.gather(leaves, np.ones((1, 3)), np.full(1, -1), 5)[0]
    assert len({r for r, _ in near}) == 5


def test_no_tree_leaves_out_the_fold():
    forest = Forest(0, leave_out=False)
    leaves, Q = forest.queries()
    assert forest.gather(leaves, Q, np.zeros(len(Q), dtype=np.int64), 10) == [[]] * len(Q)


def test_thousands_of_rows():
    """The table of rows met grows with the leaves."""
    forest = Forest(1, n_rows=5000, n_trees=5, n_leaves=2)
    leaves, Q = forest.queries(3)
    check(forest, leaves, Q, np.full(3, -1), 5000)


@modest
@given(st.integers(0, 10_000), st.sampled_from([1, 10, 100]), st.booleans())
def test_few_of_many_rows(seed, most, weighted):
    """So many that buckets find the bound; ranks that tie, and ranks that do not."""
    forest = Forest(seed, n_rows=600, n_trees=9, n_leaves=2)
    leaves, Q = forest.queries(2)
    if weighted:
        forest.weight = forest.rng.uniform(0.5, 2.0, forest.n_rows)
        forest.rarity = forest.rng.uniform(0.1, 10.0, forest.n_rows)
    assert min(len(forest.shares(leaf, -1)) for leaf in leaves) > N_BUCKETS
    check(forest, leaves, Q, np.full(2, -1), most)


def test_a_query_leaves_nothing_behind_for_the_next():
    forest = Forest(5)
    leaves, Q = forest.queries()
    fold = forest.rng.integers(-1, N_FOLDS, len(Q))
    together = forest.gather(leaves, Q, fold, 10)
    alone = [forest.gather(leaves[i : i + 1], Q[i : i + 1], fold[i : i + 1], 10)[0] for i in range(len(Q))]
    assert together == alone


def test_weighing_a_row_twice_is_repeating_it():
    forest = Forest(2, leave_out=False)
    leaves, Q = forest.queries()
    forest.weight[7] = 2.0
    once = forest.gather(leaves, Q, np.full(len(Q), -1), 200)
    forest.weight[7] = 1.0
    twin = forest.n_rows
    forest.weight = np.append(forest.weight, 1.0)
    forest.rarity = np.append(forest.rarity, 1.0)
    forest.row_fold = np.append(forest.row_fold, 0)
    forest.Z = np.vstack([forest.Z, forest.Z[7]])
    for tree in forest.trees:
        for rows in tree.values():
            if 7 in rows:
                rows.append(twin)
    for a, b in zip(once, forest.gather(leaves, Q, np.full(len(Q), -1), 200), strict=True):
        a, b = dict(a), dict(b)
        if 7 in a:
            assert b.pop(twin) == pytest.approx(a[7] / 2)
            b[7] *= 2
        assert a == pytest.approx(b)
