"""Folds are a partition, keep groups whole, and each holds its share of every class and target range."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)

from dsna import DSNAError
from dsna.model_selection import StratifiedRareKFold, StratifiedTargetKFold
from dsna.model_selection.strata import target_ranges

SHAPES = ("lognormal", "exponential", "uniform", "normal")
cases = given(
    seed=st.integers(0, 10**6),
    n_splits=st.integers(2, 8),
    n_rows=st.integers(16, 300),
    shuffle=st.booleans(),
)


def folds_of(cv, y, groups=None):
    """(n,) fold of each row, after checks that hold for every splitter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        splits = list(cv.split(np.zeros((len(y), 1)), y, groups))
    assert len(splits) == cv.get_n_splits()
    fold = np.full(len(y), -1)
    for f, (train, test) in enumerate(splits):
        assert len(test) > 0
        assert np.all(fold[test] == -1)
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(y)))
        assert groups is None or not np.intersect1d(groups[train], groups[test]).size
        fold[test] = f
    assert fold.min() == 0
    return fold


def splitter(kind, n_splits, shuffle, seed=0):
    return kind(n_splits, shuffle=shuffle, random_state=seed if shuffle else None)


@cases
def test_classes_are_dealt_evenly(seed, n_splits, n_rows, shuffle):
    rng = np.random.RandomState(seed)
    y = rng.choice(4, p=[0.7, 0.2, 0.08, 0.02], size=n_rows)
    fold = folds_of(splitter(StratifiedRareKFold, n_splits, shuffle), y)
    for c in np.unique(y):
        assert np.ptp(np.bincount(fold[y == c], minlength=n_splits)) <= 1
    assert np.ptp(np.bincount(fold)) <= 1


@cases
def test_each_fold_has_its_share_of_the_outermost_targets(seed, n_splits, n_rows, shuffle):
    rng = np.random.RandomState(seed)
    y = getattr(rng, SHAPES[seed % 4])(size=n_rows)
    fold = folds_of(splitter(StratifiedTargetKFold, n_splits, shuffle), y)
    assert np.ptp(np.bincount(fold)) <= 1
    for rows in (np.argsort(y), np.argsort(-y)):
        assert len(np.unique(fold[rows[:n_splits]])) == n_splits


@cases
def test_repeated_targets_are_dealt_evenly_one_by_one(seed, n_splits, n_rows, shuffle):
    y = np.random.RandomState(seed).poisson(4, size=n_rows).astype(float)
    fold = folds_of(splitter(StratifiedTargetKFold, n_splits, shuffle), y)
    values = np.unique(y)
    if 3 * len(values) <= n_rows:
        for value in values:
            assert np.ptp(np.bincount(fold[y == value], minlength=n_splits)) <= 1


@cases
def test_groups_of_the_rarest_class_are_in_as_many_folds_as_they_can_be(seed, n_splits, n_rows, shuffle):
    rng = np.random.RandomState(seed)
    y = rng.choice(3, p=[0.8, 0.15, 0.05], size=n_rows)
    groups = rng.choice([f"person {g}" for g in range(3 * n_splits)], size=n_rows)
    if len(np.unique(groups)) < n_splits:
        return
    fold = folds_of(splitter(StratifiedRareKFold, n_splits, shuffle), y, groups)
    held = [len(np.unique(groups[y == c])) for c in np.unique(y)]
    rarest = np.unique(y)[np.argmin(held)]
    assert len(np.unique(fold[y == rarest])) == min(n_splits, min(held))


@cases
def test_targets_of_groups_and_of_several_outputs_are_partitions_too(seed, n_splits, n_rows, shuffle):
    rng = np.random.RandomState(seed)
    y = rng.lognormal(size=(n_rows, 2))
    cv = splitter(StratifiedTargetKFold, n_splits, shuffle)
    assert np.ptp(np.bincount(folds_of(cv, y))) <= 1
    groups = np.r_[np.arange(n_splits), rng.randint(3 * n_splits, size=n_rows - n_splits)]
    folds_of(cv, y, groups)
    folds_of(cv, y[:, 0], groups)


def test_a_sparse_range_between_common_ones_is_shared():
    rng = np.random.RandomState(0)
    y = np.r_[rng.normal(0, 0.1, 500), np.linspace(4, 6, 15), rng.normal(10, 0.1, 500)]
    for seed in range(5):
        fold = folds_of(StratifiedTargetKFold(5, shuffle=True, random_state=seed), y)
        assert np.bincount(fold[500:515], minlength=5).min() >= 2


def distance(y, fold):
    """Mean over folds of the distance between quantiles of the fold and of all targets, in their spread."""
    levels = np.linspace(0.01, 0.99, 99)
    whole = np.quantile(y, levels)
    return np.mean([np.abs(np.quantile(y[fold == f], levels) - whole).mean() for f in np.unique(fold)]) / y.std()


def test_targets_of_each_fold_are_distributed_as_all_are():
    ours, theirs = [], []
    for seed in range(10):
        y = np.random.RandomState(seed).lognormal(size=300)
        ours.append(distance(y, folds_of(StratifiedTargetKFold(shuffle=True, random_state=seed), y)))
        theirs.append(distance(y, folds_of(KFold(shuffle=True, random_state=seed), y)))
    assert np.mean(ours) < 0.4 * np.mean(theirs)


def test_targets_of_groups_are_nearer_to_the_whole_than_with_group_k_fold():
    ours, theirs = [], []
    for seed in range(10):
        rng = np.random.RandomState(seed)
        groups = rng.randint(60, size=600)
        y = np.exp(rng.normal(size=60)[groups] + 0.3 * rng.normal(size=600))
        fold = folds_of(StratifiedTargetKFold(shuffle=True, random_state=seed), y, groups)
        top = groups[np.argsort(-y)]
        first = top[np.sort(np.unique(top, return_index=True)[1])][:5]  # the groups of the largest targets
        assert len(np.unique(fold[np.isin(groups, first)])) == 5
        ours.append(distance(y, fold))
        theirs.append(distance(y, folds_of(GroupKFold(shuffle=True, random_state=seed), y, groups)))
    assert np.mean(ours) < 0.7 * np.mean(theirs)


def test_every_output_has_its_tails_in_each_fold():
    for seed in range(5):
        y = np.random.RandomState(seed).lognormal(size=(400, 3))
        fold = folds_of(StratifiedTargetKFold(shuffle=True, random_state=seed), y)
        assert np.ptp(np.bincount(fold)) == 0
        for column in y.T:
            for rows in (np.argsort(column), np.argsort(-column)):
                assert len(np.unique(fold[rows[:5]])) >= 4
                assert len(np.unique(fold[rows[:15]])) == 5


@pytest.mark.parametrize("shape", ["lognormal", "standard_cauchy", "uniform"])
def test_ranges_that_are_counted_for_each_unit_stay_few(shape):
    y = getattr(np.random.RandomState(0), shape)(size=20000)
    ranges = target_ranges(y, np.arange(20000), 5, coarse=True)
    assert 20 <= len(np.unique(ranges)) <= 120
    assert np.bincount(ranges)[[0, -1]].tolist() == [5, 5]


def covered(cv, y, groups):
    fold = folds_of(cv, y, groups)
    return sum(len(np.unique(fold[y == c])) for c in np.unique(y))


def test_rare_classes_of_groups_are_in_more_folds_than_scikit_learn_has_them():
    possible = ours = theirs = 0
    for seed in range(60):
        rng = np.random.RandomState(seed)
        n_splits, n_groups = rng.randint(3, 8), rng.randint(20, 60)
        n_classes = rng.randint(3, 12)
        rows = np.ceil(rng.lognormal(0, 1.5, size=(n_groups, n_classes))).astype(int)
        rows[rng.rand(n_groups, n_classes) > rng.rand(n_classes) * rng.rand()] = 0
        rows[:, 0] += 1
        y = np.repeat(np.tile(np.arange(n_classes), n_groups), rows.ravel())
        groups = np.repeat(np.arange(n_groups), rows.sum(axis=1))
        possible += sum(min(n_splits, len(np.unique(groups[y == c]))) for c in np.unique(y))
        ours += covered(StratifiedRareKFold(n_splits), y, groups)
        theirs += covered(StratifiedGroupKFold(n_splits), y, groups)
    assert ours >= possible - 1
    assert theirs < possible - 10


def test_a_class_that_is_missing_from_folds_is_named_once_with_its_number():
    y = np.repeat(["a", "b", "c"], [40, 3, 1])
    with pytest.warns(UserWarning, match=r"'b' \(3 rows\) from 2, 'c' \(1 row\) from 4\.") as caught:
        list(StratifiedRareKFold(5).split(y, y))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    groups = np.r_[np.arange(40), 50, 50, 50, 51]
    with pytest.warns(UserWarning, match=r"n_splits=3 folds: 'b' \(1 group\) from 2, 'c' \(1 group\) from 2\."):
        list(StratifiedRareKFold(3).split(y, y, groups))


def test_nothing_is_said_where_no_class_is_missing():
    y = np.repeat([0, 1], [40, 5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(StratifiedRareKFold(5).split(y, y))


def test_without_shuffling_the_folds_are_those_of_scikit_learn():
    y = np.repeat([0, 1, 2], [53, 21, 7])
    for (_, ours), (_, theirs) in zip(StratifiedRareKFold(5).split(y, y), StratifiedKFold(5).split(y, y), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", [StratifiedRareKFold, StratifiedTargetKFold])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_seed_decides(kind, grouped):
    y = np.random.RandomState(0).poisson(1, size=200)
    groups = np.random.RandomState(1).randint(40, size=200) if grouped else None
    first, second, other = (folds_of(kind(shuffle=True, random_state=seed), y, groups) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert np.any(first != other)
    assert len({tuple(folds_of(kind(), y, groups)) for _ in range(2)}) == 1


@pytest.mark.parametrize("kind", [StratifiedRareKFold, StratifiedTargetKFold])
def test_they_serve_scikit_learns_tools(kind):
    rng = np.random.RandomState(0)
    X, groups = rng.normal(size=(120, 3)), rng.randint(20, size=120)
    model, grid = (LogisticRegression(), "C") if kind is StratifiedRareKFold else (Ridge(), "alpha")
    y = (X[:, 0] > 0).astype(int) if kind is StratifiedRareKFold else np.exp(X[:, 0])
    cv = kind(3, shuffle=True, random_state=0)
    assert repr(cv) == f"{kind.__name__}(n_splits=3, random_state=0, shuffle=True)"
    assert np.all(np.isfinite(cross_val_score(model, X, y, cv=cv)))
    search = clone(GridSearchCV(model, {grid: [0.1, 1.0]}, cv=cv)).fit(X, y, groups=groups)
    assert search.n_splits_ == 3
    seen = cross_validate(model, X, y, cv=cv, groups=groups, return_indices=True)["indices"]
    for train, test in zip(seen["train"], seen["test"], strict=True):
        assert not np.intersect1d(groups[train], groups[test]).size
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(model, X, y, cv=cv, params={"groups": groups}, return_indices=True)["indices"]
    for one, other in zip(seen["test"], routed["test"], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_splits": 1}, "n_splits must be .* got 1"),
        ({"n_splits": 2.0}, "n_splits must be .* got 2.0"),
        ({"shuffle": "yes"}, "shuffle must be .* got 'yes'"),
        ({"random_state": 0}, "random_state has no effect"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(DSNAError, match=message):
        StratifiedTargetKFold(**parameters)


@pytest.mark.parametrize(
    "y, groups, message",
    [
        (None, None, "y, which is None"),
        ([1.0, 2.0, 3.0], None, "n_splits=5 is greater than the number of rows, 3"),
        (np.arange(9.0), [0, 0, 0, 1, 1, 1, 2, 2, 2], "There are 3 groups, too few for n_splits=5"),
        (["a"] * 9, None, "holds text"),
    ],
)
def test_input_that_cannot_be_dealt_is_refused(y, groups, message):
    X = np.zeros((9 if y is None else len(y), 1))
    with pytest.raises(DSNAError, match=message):
        next(StratifiedTargetKFold(5).split(X, y, groups))
