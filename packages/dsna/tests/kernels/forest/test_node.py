"""What a node makes of its rows before it splits: bounded samples, groups, directions, costs."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from tests.kernels.forest.growing import class_table, growth_of, label_order, label_table

from dsna._kernels.forest import node as kernels
from dsna._kernels.forest import node_targets
from dsna._kernels.jit import random_below
from dsna.forest.targets import cost_code

modest = settings(max_examples=60)


def stream(seed):
    return np.full(1, seed, dtype=np.uint64)


def sampled(table, n_classes, max_split, seed=0, start=0, end=None):
    rows = label_order(table, n_classes)
    end = len(rows) if end is None else end
    room = min(end - start, max_split)
    picked, mass = np.empty(room, dtype=np.int64), np.empty(room)
    growth = growth_of(table, n_classes, max_split=max_split)
    m = kernels._sample(rows, start, end, table, growth, stream(seed), picked, mass)
    return picked[:m], mass[:m], rows[start:end]


@modest
@given(
    st.integers(0, 10_000),
    st.lists(st.integers(0, 300), min_size=1, max_size=6).filter(any),
    st.sampled_from([10, 40, 128]),
)
def test_samples_of_classes(seed, sizes, max_split):
    code = np.repeat(np.arange(len(sizes)), sizes)
    n_classes = len(sizes)
    table = class_table(np.zeros((len(code), 1)), code)
    picked, mass, _ = sampled(table, n_classes, max_split, seed)
    assert len(set(picked.tolist())) == len(picked) <= max_split
    kept = np.bincount(code[picked], minlength=n_classes)
    np.testing.assert_allclose(np.bincount(code[picked], weights=mass, minlength=n_classes), sizes)
    if len(code) <= max_split:
        assert np.array_equal(kept, sizes)
        return
    # A class is kept whole or has as many rows as any other; few places stay empty.
    largest = kept.max()
    for c in range(n_classes):
        assert kept[c] == sizes[c] or kept[c] >= largest - 1
    assert kept.sum() > max_split - n_classes


def test_samples_are_spread_over_a_class_and_unbiased():
    code = np.repeat([0, 1], [950, 50])
    table = class_table(np.zeros((1000, 1)), code, np.random.default_rng(0).uniform(0.5, 2.0, 1000))
    times, totals = np.zeros(1000), np.zeros(2)
    for seed in range(400):
        picked, mass, _ = sampled(table, 2, 100, seed)
        assert np.diff(np.sort(picked[code[picked] == 0])).max() <= 2 * 950 / 50
        times[picked] += 1
        totals += np.bincount(code[picked], weights=mass) / 400
    assert np.all(times[950:] == 400)
    assert times[:950].min() > 0
    assert times[:950].mean() == pytest.approx(400 * 50 / 950)
    np.testing.assert_allclose(totals, np.bincount(code, weights=table.weight), rtol=0.01)


@modest
@given(st.integers(0, 10_000), st.integers(1, 500), st.sampled_from([10, 64]))
def test_samples_of_labels(seed, n, max_split):
    label = np.random.default_rng(seed).normal(size=(n, 1))
    table = label_table(np.zeros((n, 1)), label)
    start = n // 5
    picked, mass, rows = sampled(table, 0, max_split, seed, start)
    assert len(set(picked.tolist())) == len(picked) == min(n - start, max_split)
    assert mass.sum() == pytest.approx(n - start)
    place = np.flatnonzero(np.isin(rows, picked))
    assert np.array_equal(rows[place], picked)
    # One row out of each step along the labels.
    step = len(rows) / len(picked)
    k = np.arange(len(picked))
    assert np.all(place >= np.floor(k * step))
    assert np.all(place <= (k + 1) * step)


def test_more_classes_than_places():
    code = np.arange(30).repeat(4)
    picked, mass, _ = sampled(class_table(np.zeros((120, 1)), code), 30, 10)
    assert len(picked) == 10
    assert np.all(mass == 4.0)


@modest
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_groups_hold_whole_classes(seed, n_classes):
    rng = np.random.default_rng(seed)
    code = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 40)])
    X = rng.normal(size=(len(code), 3)) + 5.0 * rng.normal(size=(n_classes, 3))[code]
    table = class_table(X, code)
    picked, mass, _ = sampled(table, n_classes, 1000)
    side = np.full(n_classes, -1, dtype=np.int64)
    growth = growth_of(table, n_classes)
    assert node_targets.group_classes(picked, mass, len(picked), table, growth, stream(seed), side)
    assert set(side) == {0, 1}
    if n_classes == 2:
        assert list(side) == [0, 1]
    # A settled 2-means over the centroids of the classes.
    centroids = np.array([X[code == c].mean(axis=0) for c in range(n_classes)])
    centres = np.array([centroids[side == g].mean(axis=0) for g in (0, 1)])
    away = np.linalg.norm(centroids[:, None] - centres, axis=2)
    if n_classes > 2 and len(np.unique(side)) == 2:
        forced = np.array_equal(side, np.arange(n_classes) % 2)
        assert forced or np.all(away[np.arange(n_classes), side] <= away.min(axis=1) + 1e-9)


def test_one_class_is_no_pair_of_groups():
    table = class_table(np.zeros((5, 1)), np.zeros(5, dtype=np.int64))
    side = np.zeros(1, dtype=np.int64)
    picked = np.arange(5)
    assert not node_targets.group_classes(picked, np.ones(5), 5, table, growth_of(table, 1), stream(0), side)


@modest
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 4))
@example(31, 31, 3)  # two directions that are nearly as wide
def test_main_direction_is_the_first_principal_component(seed, n, outputs):
    rng = np.random.default_rng(seed)
    label = rng.normal(size=(n, outputs)) @ rng.normal(size=(outputs, outputs))
    times = rng.integers(1, 4, n)
    target = np.empty(n)
    table = label_table(np.zeros((n, 1)), label)
    spread = node_targets.main_direction(np.arange(n), times.astype(float), n, table, target)
    repeated = np.repeat(label, times, axis=0)
    assert spread == pytest.approx(repeated.var(axis=0).sum())
    scores = PCA(1).fit(repeated).transform(label)[:, 0]
    scores /= np.repeat(scores, times).std()
    # What decides between equally wide directions turns the widest by up to this angle (Davis and Kahan).
    *_, second, first = 0.0, *np.linalg.eigvalsh(np.atleast_2d(np.cov(repeated.T, bias=True)))
    angle = 2 * node_targets.OUTPUT_PREFERENCE * outputs * first / (first - second)
    farthest = np.linalg.norm(label - repeated.mean(axis=0), axis=1).max() / np.sqrt(first)
    np.testing.assert_allclose(target * np.sign(target @ scores), scores, atol=1e-9 + angle * farthest)
    if outputs == 1:
        assert np.all((np.diff(label[:, 0]) > 0) == (np.diff(target) > 0))


def test_main_direction_where_the_widest_output_is_another():
    """Two outputs that move together outweigh a third, uncorrelated, that varies more than either."""
    u = np.tile([1.0, -1.0], 50)
    v = np.tile([1.0, 1.0, -1.0, -1.0], 25)
    table = label_table(np.zeros((100, 1)), np.column_stack([u, u, 1.2 * v]))
    target = np.empty(100)
    node_targets.main_direction(np.arange(100), np.ones(100), 100, table, target)
    assert abs(target @ u) / 100 == pytest.approx(1.0)


@pytest.mark.parametrize("p", [1e-5, 0.001, 0.2, 0.5, 0.999, 1.0])
def test_costs_of_shares(p):
    none = np.ones(2)
    assert node_targets.cost_of_share(node_targets.COST_NONE, p, none) == 1.0
    assert node_targets.cost_of_share(node_targets.COST_PAPER, p, none) == pytest.approx((1 - p) / p)
    assert node_targets.cost_of_share(node_targets.COST_INVERSE, p, none) == pytest.approx(1 / p)
    kind, table = cost_code(lambda shares: 1 / np.sqrt(shares))
    assert node_targets.cost_of_share(kind, p, table) == pytest.approx(1 / np.sqrt(p), rel=1e-4)


def test_costs_have_mean_one_and_fall_back_to_weights():
    cost, mass = np.array([1.0, 2.0, 0.0]), np.array([1.0, 1.0, 4.0])
    node_targets.normalise_costs(cost, mass, 3)
    np.testing.assert_allclose(cost, [1.0, 2.0, 0.0])
    cost = np.zeros(3)
    node_targets.normalise_costs(cost, mass, 3)
    np.testing.assert_allclose(cost, mass / 2)


def test_random_numbers_are_splitmix64():
    """First outputs of the stream of seed 1234567, as its authors' code prints them."""
    from dsna._kernels.jit import random_bits

    state = stream(1234567)
    assert [int(random_bits(state)) for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]
    drawn = np.array([random_below(state, 7) for _ in range(7000)])
    assert np.bincount(drawn, minlength=7).min() > 800
    assert drawn.min() == 0
    assert drawn.max() == 6
