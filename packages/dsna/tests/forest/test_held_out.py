"""Folds are dealt evenly and keep groups whole; trees leave them out in pairs, so that every row is out of bag."""

import numpy as np
import pytest

from dsna.forest.held_out import N_FOLDS, PAIRS, deal_folds, left_out_folds


def test_classes_are_dealt_evenly():
    code = np.repeat([0, 1, 2], [503, 52, 7])
    np.random.RandomState(1).shuffle(code)
    fold = deal_folds(code, None, np.random.RandomState(0))
    for c in range(3):
        held = np.bincount(fold[code == c], minlength=N_FOLDS)
        assert held.max() - held.min() <= 1
    assert np.ptp(np.bincount(fold)) <= 1


def test_labels_are_dealt_evenly_along_their_range():
    label = np.random.RandomState(1).exponential(size=600)
    fold = deal_folds(label, None, np.random.RandomState(0))
    for run in np.array_split(np.argsort(label), 12):
        np.testing.assert_array_equal(np.bincount(fold[run], minlength=N_FOLDS), 10)


def test_near_duplicates_share_a_fold_as_often_as_chance_has_it():
    # Dealt strictly in turn, rows of neighbouring labels would never share a fold, and the out-of-bag error of a
    # table with near-duplicate rows would be too good.
    label = np.repeat(np.random.RandomState(1).rand(2000), 2) + 1e-9 * np.arange(4000)
    for values in (label, np.argsort(np.argsort(label))):
        fold = deal_folds(values, None, np.random.RandomState(0)).reshape(-1, 2)
        together = np.mean(fold[:, 0] == fold[:, 1])
        # 9 of the 49 others in a run of 50 are in the same fold; 4.5 standard errors of 2,000 pairs.
        assert abs(together - 9 / 49) < 4.5 * np.sqrt(9 / 49 * 40 / 49 / 2000)


def test_repeated_labels_are_dealt_evenly_label_by_label():
    ages = np.random.RandomState(1).poisson(8, size=500).astype(float)
    fold = deal_folds(ages, None, np.random.RandomState(0))
    for age in np.unique(ages):
        assert np.ptp(np.bincount(fold[ages == age], minlength=N_FOLDS)) <= 1


@pytest.mark.parametrize("names", ["numbers", "strings"])
def test_groups_stay_whole_and_folds_alike(names):
    rng = np.random.RandomState(1)
    groups = rng.randint(60, size=900)
    groups = np.array([f"person {g}" for g in groups]) if names == "strings" else groups
    fold = deal_folds(rng.randint(2, size=900), groups, np.random.RandomState(0))
    for g in np.unique(groups):
        assert len(np.unique(fold[groups == g])) == 1
    held = np.bincount(fold, minlength=N_FOLDS)
    assert np.ptp(held) <= np.max(np.unique(groups, return_counts=True)[1])


def test_a_large_group_has_a_fold_of_its_own():
    groups = np.r_[np.zeros(500, int), np.arange(1, 201)]
    fold = deal_folds(np.zeros(700, int), groups, np.random.RandomState(0))
    assert np.all(fold[groups > 0] != fold[0])


def test_one_group_is_refused():
    with pytest.raises(ValueError, match="single group"):
        deal_folds(np.zeros(20, int), np.ones(20), np.random.RandomState(0))


def test_the_deal_depends_on_the_seed_alone():
    code = np.random.RandomState(1).randint(3, size=100)
    first, second, other = (deal_folds(code, None, np.random.RandomState(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert np.any(first != other)


def test_rows_without_weight_do_not_count():
    code = np.repeat([0, 1], [300, 30])
    weight = (np.arange(330) % 3 > 0).astype(float)
    fold = deal_folds(code, None, np.random.RandomState(0), weight)
    for c in (0, 1):
        assert np.ptp(np.bincount(fold[(code == c) & (weight > 0)], minlength=N_FOLDS)) <= 1


def test_pairs_are_all_different():
    assert len({frozenset(pair) for pair in PAIRS}) == N_FOLDS * (N_FOLDS - 1) // 2 == len(PAIRS)


@pytest.mark.parametrize("n_estimators", [3, 10, 25])
def test_every_fold_is_left_out_by_some_tree(n_estimators):
    left_out = left_out_folds(n_estimators, np.arange(100) % N_FOLDS)
    np.testing.assert_array_equal(left_out.sum(axis=1), 2)
    assert np.all(left_out.any(axis=0))
    if n_estimators % len(PAIRS) == 0:
        np.testing.assert_array_equal(left_out.sum(axis=0), 2 * n_estimators // N_FOLDS)


def test_nothing_is_left_out_of_a_handful_of_rows():
    assert not left_out_folds(20, np.arange(9) % N_FOLDS).any()


def test_every_tree_keeps_rows_when_groups_are_few():
    fold = np.repeat([2, 4], 50)
    left_out = left_out_folds(10, fold)
    assert np.all(np.any(~left_out[:, [2, 4]], axis=1))
    assert left_out[:, 2].any()
    assert left_out[:, 4].any()
