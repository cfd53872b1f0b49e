"""Label-aware clusters against a slow twin, brute force and their properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import slow_algorithm as slow
from dsna._kernels.approximation.clustering import label_aware_kmeans, label_factor, majority, widest_gap

modest = settings(max_examples=60)


def draw(seed, m, is_class, outputs=1, d=2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (m, 1)).astype(float) if is_class else rng.normal(size=(m, outputs))
    return rng.normal(size=(m, d)), labels


def clusters_of(Z, labels, is_class, k, tau=1.0, slack=0.0, first=0, max_iter=10):
    m = len(Z)
    member = np.ones((m, k), dtype=bool)
    found = label_aware_kmeans(Z, labels, m, is_class, k, tau, slack, first, max_iter, member)
    assert not member[:, found:].any()
    return [set(np.flatnonzero(member[:, c])) for c in range(found)]


@pytest.mark.parametrize("is_class, outputs", [(True, 1), (False, 1), (False, 2)])
@pytest.mark.parametrize("slack", [0.0, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_slow_twin_finds_the_same_clusters(is_class, outputs, slack, k):
    for seed in range(15):
        m = 3 + seed
        Z, labels = draw(seed, m, is_class, outputs)
        for tau in (0.2, 1.0, 5.0):
            ours = clusters_of(Z, labels, is_class, k, tau, slack, first=seed % m)
            theirs = slow.slow_clusters(Z, labels, is_class, k, tau, slack, seed % m)
            assert ours == [set(rows) for rows in theirs]


def test_separate_groups_are_found():
    """Where groups are far apart in place and label, the best of all partitions is the one found."""
    rng = np.random.default_rng(0)
    place = np.repeat([[0.0, 0.0], [5.0, 0.0]], 4, axis=0)
    Z = place + 0.1 * rng.normal(size=place.shape)
    labels = np.repeat([[0.0], [10.0]], 4, axis=0) + 0.1 * rng.normal(size=(8, 1))

    def cost(groups):
        """Sum of eq. 1 over a partition, at the groups' own centres."""
        widest = slow.widest_gap(labels)
        total = 0.0
        for rows in groups:
            label = slow.centre_label(labels[rows], False)
            weight = slow.factors(labels[rows], label, False, 1.0, widest) + slow.NEGLIGIBLE
            total += np.linalg.norm(Z[rows] - Z[rows].mean(axis=0), axis=1) @ weight
        return total

    partitions = []
    for bits in range(1, 2**7):
        left = [i for i in range(8) if bits >> i & 1]
        partitions.append((left, [i for i in range(8) if i not in left]))
    best = min(partitions, key=cost)
    ours = clusters_of(Z, labels, False, 2)
    assert {frozenset(c) for c in ours} == {frozenset(c) for c in best}


def test_classes_keep_apart_even_where_rows_mix():
    Z, labels = draw(1, 30, True)
    for rows in clusters_of(Z, labels, True, 3):
        assert len(set(labels[list(rows), 0])) == 1


def test_empty_clusters_are_dropped():
    """Centres can lose all their rows to others; a cluster without rows would have no hull and no coefficients."""
    lost = 0
    for seed in range(4000):
        rng = np.random.default_rng(seed)
        m, k = int(rng.integers(3, 12)), int(rng.integers(3, 6))
        Z = np.round(rng.normal(size=(m, 1)))
        labels = rng.normal(size=(m, 1))
        ours = clusters_of(Z, labels, False, k, rng.choice([0.1, 1.0, 10.0]), rng.choice([0.3, 1.0, 2.0]))
        assert all(ours)
        lost += len(ours) < min(k, len(np.unique(Z)))
    assert lost > 0


def test_equal_rows_make_one_cluster():
    assert clusters_of(np.ones((6, 2)), np.zeros((6, 1)), False, 3) == [set(range(6))]


def test_leading_rows_only():
    Z, labels = draw(2, 10, False)
    member = np.zeros((10, 2), dtype=bool)
    label_aware_kmeans(Z, labels, 6, False, 2, 1.0, 0.0, 0, 10, member)
    assert member[:6].any(axis=1).all()
    assert not member[6:].any()


drawn = st.tuples(st.integers(0, 100_000), st.integers(1, 25), st.booleans())


def lattice(seed, m, is_class):
    """Rows on a small lattice: duplicates and ties everywhere."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (m, 2)).astype(float), rng.integers(0, 3, (m, 1)).astype(float), is_class


@modest
@given(drawn, st.integers(1, 5), st.sampled_from([0.0, 0.3, 1.0]))
def test_every_row_belongs_somewhere(problem, k, slack):
    Z, labels, is_class = lattice(*problem)
    ours = clusters_of(Z, labels, is_class, k, slack=slack)
    assert 1 <= len(ours) <= k
    assert all(ours)
    assert set.union(*ours) == set(range(len(Z)))


@modest
@given(drawn, st.integers(1, 5))
def test_no_slack_means_one_cluster_each(problem, k):
    seed, m, is_class = problem
    Z, labels = draw(seed, m, is_class)
    ours = clusters_of(Z, labels, is_class, k)
    assert sum(map(len, ours)) == m
    assert set.union(*ours) == set(range(m))


@modest
@given(drawn, st.integers(1, 5))
def test_huge_slack_means_all_clusters(problem, k):
    Z, labels, is_class = lattice(*problem)
    for rows in clusters_of(Z, labels, is_class, k, slack=1e9):
        assert rows == set(range(len(Z)))


@modest
@given(drawn, st.integers(1, 4), st.sampled_from([0.0, 0.3]))
def test_order_of_rows_does_not_matter(problem, k, slack):
    seed, m, is_class = problem
    Z, labels = draw(seed, m, is_class)
    order = np.random.default_rng(0).permutation(m)
    ours = clusters_of(Z, labels, is_class, k, slack=slack, first=int(order[0]))
    shuffled = clusters_of(Z[order], labels[order], is_class, k, slack=slack, first=0)
    assert [set(order[list(rows)]) for rows in shuffled] == ours


@modest
@given(drawn, st.integers(1, 4), st.sampled_from([0.5, 8.0]))
def test_scaling_place_slack_and_labels(problem, k, factor):
    seed, m, is_class = problem
    Z, labels = draw(seed, m, is_class)
    ours = clusters_of(Z, labels, is_class, k, slack=0.3)
    assert clusters_of(factor * Z, labels, is_class, k, slack=0.3 * factor) == ours
    assert clusters_of(Z, factor * labels, is_class, k, slack=0.3) == ours


def test_label_factor_of_classes_and_labels():
    labels = np.array([[0.0], [4.0], [10.0]])
    assert label_factor(labels, 1, np.array([4.0]), True, 2.0, 10.0) == 0.0
    assert label_factor(labels, 1, np.array([0.0]), True, 2.0, 10.0) == 1.0
    assert label_factor(labels, 1, np.array([1.0]), False, 2.0, 10.0) == pytest.approx(2.0 * 3.0 / (7.0 + 0.01))
    # A label beyond the range of all counts as the widest gap at least.
    assert label_factor(labels, 0, np.array([25.0]), False, 1.0, 10.0) == pytest.approx(25.0 / 0.01)
    assert label_factor(np.ones((2, 1)), 0, np.ones(1), False, 1.0, 0.0) == 0.0


@modest
@given(st.integers(0, 10_000), st.integers(1, 20))
def test_majority_and_widest_gap(seed, m):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, (m + 2, 1)).astype(float)
    weight = rng.integers(1, 4, m + 2).astype(float)
    mass = np.bincount(labels[:m, 0].astype(int), weights=weight[:m])
    assert majority(labels, weight, m) == np.argmax(mass)
    assert majority(labels, np.ones(m + 2), m) == slow.centre_label(labels[:m], True)[0]
    both = rng.normal(size=(m + 2, 2))
    assert widest_gap(both, m) == pytest.approx(slow.widest_gap(both[:m]))
