"""Out-of-bag tuning: what it chooses, and that its scores are honest (thoroughly: tests/slow/test_honesty.py).

An honest score is at chance when labels are permuted, also for rows whose neighbours give their identity away, and
agrees with the score on fresh rows. "Within noise" means three standard errors, by the formulas of tests/honesty.py.
"""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import NearestNeighbors
from tests import honesty
from tests.small_models import build

from dsna import CostSensitiveForestClassifier, DSNAClassifier, DSNARegressor
from dsna.prediction.tuning import APPROXIMATION_GRID, FOREST_GRID, search

FEW = {"n_estimators": 20, "random_state": 0}
TUNE = pytest.mark.parametrize("tune", [None, "oob"])


def oob_classes(model):
    return model.oob_prediction_


# What is chosen


def test_search_goes_through_the_parameters_one_by_one():
    rows = np.random.RandomState(0).rand(50)

    def losses(setting):
        return rows + (setting["a"] - 2) ** 2 + (setting["b"] - setting["a"]) ** 2

    values = (1, 2, 3)
    assert search({"b": 1, "a": 2, "c": "kept"}, {"b": values, "a": values}, losses) == {"a": 2, "b": 2, "c": "kept"}
    # Along a alone nothing is better than a = 1 while b = 1, and b = 1 is best for a = 1.
    assert search({"a": 1, "b": 1}, {"a": values, "b": values}, losses) == {"a": 1, "b": 1}


def test_search_is_not_moved_by_noise():
    rng = np.random.RandomState(0)
    table = {value: 1.0 + 0.1 * rng.randn(400) for value in range(20)}
    table = {value: losses - losses.mean() + 1.0 for value, losses in table.items()}
    assert search({"a": 7}, {"a": tuple(range(20))}, lambda setting: table[setting["a"]]) == {"a": 7}


@pytest.mark.parametrize(
    "start, name",
    [({"n_clusters": 1, "max_iter": 0, "tau": 1.0}, "tau"), ({"gamma": 0.0, "bandwidth": 0.3}, "bandwidth")],
)
def test_search_leaves_out_what_has_no_effect(start, name):
    def losses(setting):
        assert setting == start
        return np.zeros(3)

    assert search(start, {name: APPROXIMATION_GRID[name]}, losses) == start


@pytest.mark.parametrize("kind", [DSNAClassifier, DSNARegressor])
def test_chosen_values_are_attributes_and_used(kind):
    X, y = (honesty.classes if kind is DSNAClassifier else honesty.labels)(300, 0)
    given = build(kind, **FEW, lam=0.002, n_clusters=2).fit(X, y)
    tuned = build(kind, **FEW, lam=0.002, n_clusters=2, tune="oob").fit(X, y)
    for part, grid in (("approximation", APPROXIMATION_GRID), ("forest", FOREST_GRID)):
        for name, values in grid.items():
            passed = getattr(getattr(given, part), name)
            assert getattr(getattr(given, part + "_"), name) == passed
            assert getattr(getattr(tuned, part + "_"), name) in (*values, passed)
            assert tuned.get_params()[f"{part}__{name}"] == passed, "parameters stay as given"
    assert tuned.approximation_.get_params() != given.approximation_.get_params()
    # Predictions go by them.
    assert not np.array_equal(tuned.explain(X[:20]).coefficient, given.explain(X[:20]).coefficient)


# What the scores rest on


class Watched(DSNAClassifier):
    """Keeps the out-of-bag questions that its decision is learned from."""

    def _learn_probabilities(self, asked, training):
        self.folds = asked.folds
        super()._learn_probabilities(asked, training)


@pytest.mark.parametrize(
    "forest", [CostSensitiveForestClassifier(20), RandomForestClassifier(20), NearestNeighbors(n_neighbors=15)]
)
@pytest.mark.parametrize("grouped", [False, True])
def test_out_of_bag_rows_meet_only_what_has_not_seen_their_fold(forest, grouped):
    X, y, groups = honesty.persons(60, 4, 0, "classes")
    model = Watched(forest, random_state=0).fit(X, y, groups=groups if grouped else None)
    know, folds = model._index, model.folds
    if know.trees is not None:
        tree_of_row = np.repeat(know.trees.leaf_tree, np.diff(know.trees.leaf_ptr))
        assert not know.trees.left_out[tree_of_row, know.fold[know.trees.leaf_rows]].any()
    assert sorted(np.concatenate([fold.rows for fold in folds])) == list(range(len(X)))
    for fold in folds:
        own = np.unique(know.fold[fold.rows])
        assert len(own) == 1
        met = fold.near.rows[fold.near.proximity > 0]
        assert not np.any(know.fold[met] == own[0])
        if grouped:
            assert not np.isin(groups[met], groups[fold.rows]).any()


@pytest.mark.parametrize("kind", ["classes", "labels"])
def test_groups_stay_in_one_fold(kind):
    X, y, groups = honesty.persons(50, 5, 1, kind)
    names = np.array([f"person {g}" for g in groups])
    model = build(DSNAClassifier if kind == "classes" else DSNARegressor, **FEW).fit(X, y, groups=names)
    for name in np.unique(names):
        assert len(np.unique(model._index.fold[names == name])) == 1
    assert len(np.unique(model._index.fold)) == 5


# Permuted labels


@TUNE
def test_permuted_classes_are_at_chance(tune):
    X, y = honesty.classes(400, 0)
    y = np.random.RandomState(1).permutation(y)
    model = build(DSNAClassifier, **FEW, tune=tune).fit(X, y)
    noise = honesty.recall_noise(y[model.oob_rows_], oob_classes(model))
    assert abs(model.oob_balanced_accuracy_ - 1 / 3) < 3 * noise


@TUNE
def test_permuted_labels_are_at_chance(tune):
    X, y = honesty.labels(400, 0)
    y = np.random.RandomState(1).permutation(y)
    model = build(DSNARegressor, **FEW, tune=tune).fit(X, y)
    gain, noise = honesty.gain_over_median(y[model.oob_rows_], model.oob_prediction_)
    assert model.oob_score_ < 0.05
    assert gain < 3 * noise


@TUNE
def test_classes_of_persons_are_at_chance_with_groups_alone(tune):
    X, y, groups = honesty.persons(100, 4, 0, "classes")
    model = build(DSNAClassifier, **FEW, tune=tune).fit(X, y, groups=groups)
    rows = model.oob_rows_
    assert abs(model.oob_balanced_accuracy_ - 0.5) < 3 * honesty.recall_noise(y[rows], oob_classes(model), groups[rows])
    assert build(DSNAClassifier, **FEW).fit(X, y).oob_balanced_accuracy_ > 0.9, (
        "without groups, identity gives labels away"
    )


@TUNE
def test_labels_of_persons_are_at_chance_with_groups_alone(tune):
    X, y, groups = honesty.persons(100, 4, 0, "labels")
    model = build(DSNARegressor, **FEW, tune=tune).fit(X, y, groups=groups)
    rows = model.oob_rows_
    gain, noise = honesty.gain_over_median(y[rows], model.oob_prediction_, groups[rows])
    assert model.oob_score_ < 0.05
    assert gain < 3 * noise
    assert build(DSNARegressor, **FEW).fit(X, y).oob_score_ > 0.9, "without groups, identity gives labels away"


# Fresh rows


@TUNE
def test_class_score_agrees_with_fresh_rows(tune):
    (X, y), (fresh, truth) = honesty.classes(500, 0), honesty.classes(2000, 1)
    model = build(DSNAClassifier, **FEW, tune=tune).fit(X, y)
    predicted = model.predict(fresh)
    out_of_bag = honesty.recall_noise(y[model.oob_rows_], oob_classes(model))
    noise = np.hypot(out_of_bag, honesty.recall_noise(truth, predicted))
    assert abs(model.oob_balanced_accuracy_ - balanced_accuracy_score(truth, predicted)) < 3 * noise


@TUNE
def test_label_score_agrees_with_fresh_rows(tune):
    (X, y), (fresh, truth) = honesty.labels(500, 0), honesty.labels(2000, 1)
    # Out of bag, two trees of five answer: enough of them, or the score is too low.
    model = build(DSNARegressor, **{**FEW, "n_estimators": 50}, tune=tune).fit(X, y)
    out_of_bag = honesty.r2_noise(y[model.oob_rows_], model.oob_prediction_)
    noise = np.hypot(out_of_bag, honesty.r2_noise(truth, model.predict(fresh)))
    assert abs(model.oob_score_ - model.score(fresh, truth)) < 3 * noise
