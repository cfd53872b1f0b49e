"""Equal rows: which there are, when chance explains them, and what estimators say and do."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor, DSNAWarning
from dsna.model_selection import equal_rows
from dsna.model_selection.copies import EqualRows


def by_chance(values, strata=None):
    values = np.asarray(values, dtype=np.float64)
    strata = np.zeros(len(values)) if strata is None else strata
    equal = EqualRows.of(values)
    assert equal.n_repeated
    return equal.are_chance(strata, values)


def numbers(n=300, seed=0):
    """Measured numbers, and a class that is rare."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] > 1.2, "rare", "usual")


def codes(n=600, levels=3, columns=5, seed=0):
    """A few codes, which depend on each other, and a class."""
    rng = np.random.default_rng(seed)
    common = rng.integers(levels, size=(n, 1))
    values = np.where(rng.random((n, columns)) < 0.4, common, rng.integers(levels, size=(n, columns)))
    return np.column_stack([values, rng.random(n) < 0.1]).astype(np.float64)


@pytest.mark.parametrize("copies", (2, 3, 10))
def test_a_few_copies_among_measured_numbers_are_no_chance(copies):
    X, _ = numbers(1000)
    assert not by_chance(np.concatenate([X, X[:copies]]))


def test_one_pair_of_equal_rows_is_never_held_against_a_table():
    X, _ = numbers()
    assert by_chance(np.concatenate([X, X[:1]]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("levels, columns", [(2, 5), (3, 5), (5, 8), (4, 6), (10, 4), (30, 3)])
def test_rows_of_few_codes_coincide(levels, columns, seed):
    values = codes(1500, levels, columns, seed)
    assert by_chance(values, values[:, -1])
    kinds = [values[:, [j]] == np.arange(levels) for j in range(columns)]
    encoded = np.column_stack([*kinds, values[:, -1]])
    assert by_chance(encoded, values[:, -1])


def test_a_group_of_rows_that_hold_nothing_among_few_codes_is_chance():
    values = codes(1000, 4, 6)
    values[:400, :-1] = 0.0
    values[:400, 0] = np.arange(400) % 3
    assert by_chance(values, values[:, -1])


@pytest.mark.parametrize("times", (2, 3))
def test_a_table_of_codes_that_was_copied_as_a_whole_is_no_chance(times):
    values = np.tile(codes(), (times, 1))
    assert not by_chance(values, values[:, -1])


def test_a_class_that_was_oversampled_is_no_chance():
    values = codes(2000)
    rare = values[values[:, -1] == 1.0]
    assert not by_chance(np.concatenate([values, rare, rare]), np.concatenate([values, rare, rare])[:, -1])


def test_columns_of_codes_beside_one_of_measured_numbers():
    values = np.column_stack([codes(), np.random.default_rng(0).normal(size=600)])
    assert not by_chance(np.concatenate([values, values[:20]]))


@pytest.mark.parametrize("width", (1, 300))
def test_narrow_and_wide_tables(width):
    X = np.random.default_rng(0).normal(size=(200, width))
    assert not by_chance(np.concatenate([X, X[:5]]))


def test_zero_and_minus_zero_are_equal():
    X, y = numbers(40)
    X[:, 3] = 0.0
    again = X.copy()
    again[:, 3] = -0.0
    member = equal_rows(np.concatenate([X, again]), np.concatenate([y, y]))
    assert member[:40].tolist() == member[40:].tolist()
    assert len(np.unique(member)) == 40


def test_hashes_that_collide_do_not_make_rows_equal(monkeypatch):
    monkeypatch.setattr("dsna.model_selection.copies.row_hashes", lambda X, y: np.zeros(len(X), np.uint64))
    X, y = numbers(50)
    assert len(np.unique(equal_rows(np.concatenate([X, X[:3]]), np.concatenate([y, y[:3]])))) == 50


@pytest.mark.parametrize(
    "X, y, message",
    [
        ([["a"], ["b"]], [0, 1], "other things than numbers"),
        ([[0.0], [1.0]], [0, 1, 1], "a target for each case"),
        ([0.0, 1.0], [0, 1], "a target for each case"),
        ([[0.0], [1.0]], 1, "a target for each case"),
    ],
)
def test_what_has_no_equal_rows_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        equal_rows(X, y)


def small(kind):
    forest = CostSensitiveForestClassifier(10) if kind is DSNAClassifier else CostSensitiveForestRegressor(10)
    return kind(forest, random_state=0)


def table_of(kind, n=200):
    """Rows that say little of what is to be predicted."""
    X = np.random.default_rng(0).normal(size=(n, 4))
    score = X[:, 0] + 2.0 * np.random.default_rng(1).normal(size=n)
    return X, np.where(score > 2.0, "rare", "usual") if kind is DSNAClassifier else score


@pytest.mark.parametrize("kind", (DSNAClassifier, DSNARegressor))
def test_estimators_warn_of_copies_and_hold_them_out_together_where_asked(kind):
    X, y = table_of(kind)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    with pytest.warns(DSNAWarning, match=r"600 of 600 rows are equal .*equal_rows\(X, y\)") as caught:
        apart = small(kind).fit(X, y)
    assert [one.filename for one in caught if one.category is DSNAWarning] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DSNAWarning)
        together = small(kind).fit(X, y, groups=equal_rows(X, y))
        once = small(kind).fit(X[:200], y[:200])
    fold = together._index.fold.reshape(3, 200)
    assert np.array_equal(fold[0], fold[1])
    assert np.array_equal(fold[0], fold[2])
    score = "oob_balanced_accuracy_" if kind is DSNAClassifier else "oob_score_"
    gain = getattr(apart, score) - getattr(once, score)
    assert abs(getattr(together, score) - getattr(once, score)) < 0.5 * gain


def test_copies_are_dealt_evenly_within_classes():
    X, y = numbers()
    X, y = np.concatenate([X, X[:60]]), np.concatenate([y, y[:60]])
    model = small(DSNAClassifier).fit(X, y, groups=equal_rows(X, y))
    rare = np.bincount(model._index.fold[:300][y[:300] == "rare"], minlength=5)
    assert rare.max() - rare.min() <= 1


def test_rows_without_weight_are_no_copies():
    X, y = numbers()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DSNAWarning)
        small(DSNAClassifier).fit(np.tile(X, (2, 1)), np.tile(y, 2), sample_weight=np.repeat([1.0, 0.0], 300))


def test_natural_repeats_change_nothing_and_are_not_warned_of():
    values = codes(400)
    X, y = values[:, :-1], values[:, -1].astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DSNAWarning)
        small(DSNAClassifier).fit(X, y)


@pytest.mark.parametrize("rows, warned", [(3, True), (9, True), (10, False)])
def test_a_class_of_few_rows_is_warned_of(rows, warned):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(448, 3)), np.repeat(["rare", "usual"], [rows, 448 - rows])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        small(DSNAClassifier).fit(X, y)
    said = [str(one.message) for one in caught if one.category is DSNAWarning]
    assert len(said) == warned
    assert all(f"rare ({rows})" in one for one in said)


def test_a_class_of_few_persons_is_warned_of():
    rng = np.random.default_rng(0)
    X, y, person = rng.normal(size=(400, 3)), np.repeat([1, 0], [40, 360]), np.arange(400) // 10
    with pytest.warns(DSNAWarning, match=r"fewer than 10 groups of rows of 1 \(4\)"):
        small(DSNAClassifier).fit(X, y, groups=person)


def test_many_rare_classes_are_named_in_short():
    X = np.random.default_rng(0).normal(size=(240, 3))
    with pytest.warns(DSNAWarning, match=r"20 \(3\) and 3 more"):
        small(DSNAClassifier).fit(X, np.r_[np.repeat(np.arange(16, 24), 3), np.zeros(216, dtype=int)])


REAL = {
    "classification/flare-F.csv": True,
    "classification/mc-contraceptive.csv": True,
    "classification/segment0.csv": False,
    "regression/wine-red.csv": False,
    "regression/accel.csv": False,
}


@pytest.mark.skipif("DSNA_DATA" not in os.environ, reason="DSNA_DATA does not say where the data are")
@pytest.mark.parametrize("name", REAL)
def test_real_tables(name):
    values = np.loadtxt(Path(os.environ["DSNA_DATA"]) / "tabular" / name, delimiter=",", skiprows=1)
    strata = values[:, -1] if name.startswith("classification") else np.zeros(len(values))
    assert by_chance(values, strata) == REAL[name]
    assert not by_chance(np.tile(values, (3, 1)), np.tile(strata, 3))
