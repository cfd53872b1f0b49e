"""Random splits keep their sizes and groups, and have rare rows on both sides or say why not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, issparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_val_score

from dsna import DSNAError
from dsna.model_selection import StratifiedTargetShuffleSplit, rare_first_split

seeds = st.integers(0, 10**6)
shares = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 0.9])


@given(seed=seeds, test_size=shares, n_rows=st.integers(3, 60))
def test_rows_of_several_outputs_are_split_in_the_sizes_asked_for(seed, test_size, n_rows):
    y = np.random.RandomState(seed).lognormal(size=(n_rows, 2))
    if np.ceil(test_size * n_rows) < n_rows:
        train, test = next(StratifiedTargetShuffleSplit(test_size=test_size, random_state=seed).split(y, y))
        assert len(test) == int(np.ceil(test_size * n_rows))
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(n_rows))


@given(seed=seeds, test_size=shares, n_rows=st.integers(40, 300))
def test_splits_have_the_sizes_asked_for_and_both_tails(seed, test_size, n_rows):
    y = np.random.RandomState(seed).lognormal(size=n_rows)
    cv = StratifiedTargetShuffleSplit(3, test_size=test_size, random_state=seed)
    n_test = int(np.ceil(test_size * n_rows))
    needed = -(-n_rows // min(n_test, n_rows - n_test))
    for train, test in cv.split(y, y):
        assert len(test) == n_test
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(n_rows))
        for rows in (np.argsort(y)[:needed], np.argsort(-y)[:needed]):
            assert 0 < np.isin(rows, test).sum() < needed


@given(seed=seeds, test_size=shares, n_outputs=st.integers(1, 2))
def test_groups_stay_whole_and_sizes_are_about_right(seed, test_size, n_outputs):
    rng = np.random.RandomState(seed)
    y, groups = rng.lognormal(size=(300, 2)[:n_outputs]), rng.randint(60, size=300)
    largest = np.bincount(groups).max()
    cv = StratifiedTargetShuffleSplit(2, test_size=test_size, random_state=seed)
    for train, test in cv.split(y, y, groups):
        assert not np.intersect1d(groups[train], groups[test]).size
        assert len(train) + len(test) == 300
        assert abs(len(test) - test_size * 300) <= 2 * largest


@pytest.mark.parametrize("grouped", [False, True])
def test_rows_may_be_left_out(grouped):
    y = np.random.RandomState(0).lognormal(size=400)
    groups = np.arange(400) // 2 if grouped else None
    cv = StratifiedTargetShuffleSplit(3, test_size=0.2, train_size=100, random_state=0)
    for train, test in cv.split(y, y, groups):
        assert abs(len(train) - 100) <= 4 * grouped
        assert abs(len(test) - 80) <= 4 * grouped
        assert not np.intersect1d(train, test).size
        assert np.isin(np.argsort(y)[-5:], test).any()


def test_test_targets_are_distributed_as_all_are():
    y = np.random.RandomState(0).lognormal(size=300)
    levels = np.linspace(0.02, 0.98, 49)

    def distance(cv):
        whole = np.quantile(y, levels)
        return np.mean([np.abs(np.quantile(y[test], levels) - whole).mean() for _, test in cv.split(y, y)])

    ours = distance(StratifiedTargetShuffleSplit(20, test_size=0.2, random_state=0))
    assert ours < 0.5 * distance(ShuffleSplit(20, test_size=0.2, random_state=0))


def test_every_row_is_in_test_about_equally_often():
    """Else scores averaged over splits would be those of some rows; groups of any size take their turn as well."""
    y = np.random.RandomState(0).lognormal(size=200)
    for groups in (None, np.repeat(np.arange(20), np.arange(1, 21))[:200]):
        cv = StratifiedTargetShuffleSplit(200, test_size=0.25, random_state=0)
        times = np.zeros(200)
        for _, test in cv.split(y, y, groups):
            times[test] += 1
        assert times.min() > 10
        assert times.max() < 150


def test_splits_differ_from_each_other_and_follow_the_seed():
    y = np.random.RandomState(0).lognormal(size=100)
    first, second = (list(StratifiedTargetShuffleSplit(3, random_state=4).split(y, y)) for _ in range(2))
    for (train, test), (train_again, test_again) in zip(first, second, strict=True):
        np.testing.assert_array_equal(train, train_again)
        np.testing.assert_array_equal(test, test_again)
    assert set(first[0][1]) != set(first[1][1])


def test_it_serves_scikit_learns_tools():
    rng = np.random.RandomState(0)
    X, groups = rng.normal(size=(120, 3)), rng.randint(20, size=120)
    y = np.exp(X[:, :2])
    cv = StratifiedTargetShuffleSplit(4, test_size=0.25, random_state=0)
    shown = "StratifiedTargetShuffleSplit(n_splits=4, random_state=0, test_size=0.25,\n               train_size=None)"
    assert repr(cv) == shown
    assert cross_val_score(Ridge(), X, y, cv=cv).shape == (4,)
    assert GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=cv).fit(X, y, groups=groups).n_splits_ == 4


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"test_size": 1.5}, "test_size must be a share .* got 1.5"),
        ({"test_size": 0}, "test_size must be a share .* got 0"),
        ({"train_size": "half"}, "train_size must be a share .* got 'half'"),
        ({"test_size": 20}, "request 20 test rows and 0 training rows of 20"),
        ({"test_size": 0.5, "train_size": 0.6}, "10 test rows and 12 training rows of 20"),
    ],
)
def test_sizes_that_cannot_be_are_refused(parameters, message):
    y = np.arange(20.0)
    with pytest.raises(DSNAError, match=message):
        next(StratifiedTargetShuffleSplit(**parameters).split(y, y))


def test_other_input_that_cannot_be_split_is_refused():
    y = np.arange(20.0)
    with pytest.raises(DSNAError, match=r"n_splits must be .* got 0"):
        StratifiedTargetShuffleSplit(0)
    with pytest.raises(DSNAError, match="y, which is None"):
        next(StratifiedTargetShuffleSplit().split(y))
    with pytest.raises(DSNAError, match="one side is empty"):
        next(StratifiedTargetShuffleSplit().split(y, y, np.zeros(20)))


@given(seed=seeds, test_size=shares, min_rare=st.integers(1, 3), extra=st.integers(0, 5))
def test_every_class_is_on_both_sides(seed, test_size, min_rare, extra):
    y = np.repeat(["common", "rare", "rarer"], [150, 30, 2 * min_rare + extra])
    np.random.RandomState(seed).shuffle(y)
    row = np.arange(len(y))
    train, test, y_train, y_test = rare_first_split(row, y, test_size=test_size, min_rare=min_rare, random_state=seed)
    np.testing.assert_array_equal(np.sort(np.r_[train, test]), row)
    assert len(test) == int(np.ceil(test_size * len(y)))
    np.testing.assert_array_equal(y[train], y_train)
    for name in np.unique(y):
        assert min(np.sum(y_train == name), np.sum(y_test == name)) >= min_rare
        assert abs(np.sum(y_test == name) - test_size * np.sum(y == name)) <= min_rare + 1


@given(seed=seeds, test_size=shares, min_rare=st.integers(1, 3))
def test_outermost_targets_are_on_both_sides(seed, test_size, min_rare):
    y = np.random.RandomState(seed).lognormal(size=200)
    _, _, y_train, y_test = rare_first_split(y, y, test_size=test_size, min_rare=min_rare, random_state=seed)
    needed = min_rare * -(-200 // min(len(y_train), len(y_test)))
    for rare in (np.sort(y)[:needed], np.sort(y)[-needed:]):
        assert min(np.isin(y_train, rare).sum(), np.isin(y_test, rare).sum()) >= min_rare


@given(seed=seeds, min_rare=st.integers(1, 3))
def test_groups_of_rare_rows_are_on_both_sides(seed, min_rare):
    rng = np.random.RandomState(seed)
    groups = rng.randint(50, size=300)
    y = np.where(groups < 4, "rare", "common")
    X_train, X_test, g_train, g_test = rare_first_split(y, groups, y=y, groups=groups, min_rare=min_rare)
    assert not np.intersect1d(g_train, g_test).size
    assert min(np.sum(X_train == "rare"), np.sum(X_test == "rare")) >= min_rare
    y = rng.lognormal(size=(300, 2))
    for g in (groups, None):
        y_train, y_test = rare_first_split(y, y=y, groups=g, min_rare=min_rare, random_state=seed)
        assert len(y_train) + len(y_test) == 300


def test_arrays_come_back_in_their_own_type():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame({"a": range(20), "b": list("xy") * 10}, index=[f"row {i}" for i in range(20)])
    y = pd.Series([0] * 17 + [1] * 3, index=frame.index)
    arrays = (frame, pl.DataFrame({"a": range(20)}), csr_matrix(np.eye(20)), list(range(20)), y)
    parts = rare_first_split(*arrays, random_state=0)
    assert len(parts) == 10
    for array, train, test in zip(arrays, parts[::2], parts[1::2], strict=True):
        assert type(train) is type(test) is type(array) or issparse(train)
    np.testing.assert_array_equal(parts[0]["a"], parts[2]["a"].to_numpy())
    np.testing.assert_array_equal(parts[0]["a"], parts[6])
    assert parts[0].index.equals(parts[8].index)
    assert parts[8].sum() + parts[9].sum() == 3
    by_polars = rare_first_split(list(range(20)), y=pl.Series(y.to_numpy()), random_state=0)
    assert by_polars == parts[6:8]


def test_the_task_is_guessed_or_given():
    ages = np.r_[np.arange(20, 60).repeat(3), 90]
    _, old = rare_first_split(ages, y=ages, random_state=0)  # one row of 90: a range of old people, not a class
    assert len(old) == 31
    with pytest.raises(DSNAError, match=r"Class 90 has 1 row: training and test rows cannot both have min_rare=1"):
        rare_first_split(ages, y=ages, task="classification")
    y = np.repeat([1, 2], [30, 1])
    with pytest.raises(DSNAError, match="Class 2 has 1 row"):
        rare_first_split(y, y=y)
    with pytest.raises(DSNAError, match="nearly all equal"):
        rare_first_split(y, y=y, task="regression")
    y = np.repeat([1, 2, 3], [30, 1, 4])  # the highest four count as one range
    for seed in range(5):
        train, test = rare_first_split(y, y=y, task="regression", random_state=seed)
        assert (train == 3).any()
        assert (test == 3).any()


@pytest.mark.parametrize(
    "arrays, options, message",
    [
        ((), {"y": [0, 1]}, "needs arrays to split"),
        (([0, 1],), {}, "needs arrays to split, and y"),
        (([0, 1],), {"y": [0, 1], "min_rare": 0}, "min_rare must be .* got 0"),
        (([0, 1],), {"y": [0, 1], "task": "ranking"}, "task='ranking' is unknown"),
        ((list("aaab"),), {"y": list("aaab")}, "Class 'b' has 1 row: training and test rows cannot both have"),
        ((list("aabbccdd"),), {"y": list("aabbccdd"), "test_size": 2}, "no split into 6 training and 2 test rows"),
        ((list("aaaabb"),), {"y": list("aaaabb"), "groups": [0, 1, 2, 3, 4, 4]}, "'b' has 2 rows in 1 group: "),
        ((np.arange(5.0),), {"y": np.arange(5) / 2}, "too few rows"),
        ((np.arange(30.0),), {"y": np.full(30, 0.5)}, "all equal"),
        ((np.arange(30.0),), {"y": np.arange(30) / 2, "groups": np.arange(30) // 10}, "too few groups"),
    ],
)
def test_what_cannot_be_promised_is_refused_with_the_reason(arrays, options, message):
    with pytest.raises(DSNAError, match=message):
        rare_first_split(*arrays, **options)


def test_other_lengths_are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        rare_first_split([1, 2, 3], [0, 1])
    with pytest.raises(DSNAError, match="groups has shape"):
        rare_first_split([1, 2, 3, 4], [0, 1, 0, 1], groups=[1, 2])
