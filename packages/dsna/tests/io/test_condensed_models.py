"""Condensed models: which rows stay, that trees and numbers still agree, and that answers change little."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from tests.small_models import build

from dsna import CostSensitiveForestClassifier, DSNAClassifier, DSNARegressor
from dsna.io.model_file import load, save
from dsna.neighbors.condense import condensed_index
from dsna.tables import TableEncoder

_RNG = np.random.RandomState(0)
X = _RNG.randn(900, 4)
SCORE = X[:, 0] + 0.5 * X[:, 1] + 0.3 * _RNG.randn(len(X))
FEW = {"n_estimators": 10, "random_state": 0}
TRAIN, TEST = slice(600), slice(600, None)


def condensed(model, path):
    save(model, path, condense=True)
    return load(path)


@pytest.mark.parametrize("forest", ["trees", "neighbours"])
@pytest.mark.parametrize("task", ["classes", "targets"])
def test_rows_of_no_weight_go_and_answers_stay_close(tmp_path, task, forest):
    kind, y = (DSNAClassifier, SCORE > 1.2) if task == "classes" else (DSNARegressor, SCORE)
    model = build(kind, **FEW) if forest == "trees" else kind(NearestNeighbors(n_neighbors=15), random_state=0)
    model.fit(X[TRAIN], y[TRAIN])
    # As after a fit on many rows, of which only some are asked out of bag: half of the common rows had no weight.
    model._index.weighed[::2] = False
    model.oob_rows_ = model.oob_rows_[:0]
    for name in ("_oob_weight", "oob_decision_function_", "_oob_chosen", "_oob_votes", "oob_prediction_"):
        if name in vars(model):
            setattr(model, name, vars(model)[name][:0])
    less = condensed(model, tmp_path / "less.dsna")
    rows = less.kept_rows_
    np.testing.assert_array_equal(rows, np.flatnonzero(model._index.weighed))
    assert len(rows) < 400
    np.testing.assert_array_equal(less._index.Z, model._index.Z[rows])
    assert less._index.weight.sum() == pytest.approx(model._index.weight.sum())
    if task == "classes":
        scores = [balanced_accuracy_score(y[TEST], one.predict(X[TEST])) for one in (model, less)]
    else:
        scores = [r2_score(y[TEST], one.predict(X[TEST])) for one in (model, less)]
    assert scores[1] > scores[0] - 0.1
    again = condensed(less, tmp_path / "again.dsna")
    np.testing.assert_array_equal(again.kept_rows_, rows)
    less.add_samples(X[TEST][:5], y[TEST][:5]).predict(X[TEST])
    assert condensed(less, tmp_path / "again.dsna")._index.fold[-1] == less._index.fold[-1]


def test_rows_reach_the_leaves_that_hold_them_after_branches_are_cut():
    model = build(DSNARegressor, **FEW).fit(X[TRAIN], SCORE[TRAIN])
    index = model._index
    index.weighed[:] = np.arange(600) % 7 == 0
    less, rows = condensed_index(index, np.empty(0, dtype=np.int64), None)
    before, after = index.trees, less.trees
    assert len(after.child) < len(before.child) / 3
    assert np.diff(after.leaf_ptr).min() > 0
    reached = after.apply(index.scaling.transform(X[rows]))
    for tree in range(after.n_trees):
        holds = np.repeat(np.arange(after.n_leaves), np.diff(after.leaf_ptr))
        mine = np.repeat(after.leaf_tree, np.diff(after.leaf_ptr)) == tree
        np.testing.assert_array_equal(reached[after.leaf_rows[mine], tree], holds[mine])
        # The same rows of the same tree, those left out of it excepted.
        whole = before.leaf_rows[np.repeat(before.leaf_tree, np.diff(before.leaf_ptr)) == tree]
        assert set(rows[after.leaf_rows[mine]]) == set(whole) & set(rows)


def test_trees_of_no_rows_keep_a_leaf():
    model = build(DSNARegressor, **FEW).fit(X[TRAIN], SCORE[TRAIN])
    trees = model._index.trees
    only = np.zeros(600, dtype=bool)
    only[0] = True
    few, leaves = trees.restricted_to(only, prune=True)
    assert few.n_leaves == len(leaves) == few.n_trees
    assert set(few.leaf_rows) == {0}


def test_rare_classes_and_rows_of_tables_are_kept(tmp_path):
    frame = pd.DataFrame(X[TRAIN], columns=list("abcd")).assign(name=[f"row {i}" for i in range(600)])
    y = np.where(SCORE[TRAIN] > 1.8, "rare", "common")
    model = make_pipeline(TableEncoder(keep_rows=True), build(DSNAClassifier, **FEW)).fit(frame, y)
    index = model[-1]._index
    assert index.weighed[y == "rare"].all()
    index.weighed[np.flatnonzero(y == "common")[::2]] = False
    path = tmp_path / "table.dsna"
    save(model, path, condense=True)
    again = load(path)
    assert len(again[0].rows_) == len(again[-1]._index.Z)
    np.testing.assert_array_equal(again[0].rows_.number - 1, again[-1].kept_rows_)
    assert again[0].rows_.column("name").tolist() == [f"row {i}" for i in again[-1].kept_rows_]


def test_models_without_rows_cannot_be_condensed(tmp_path):
    forest = CostSensitiveForestClassifier(5).fit(X[TRAIN], SCORE[TRAIN] > 1)
    for model in (forest, DSNAClassifier()):
        with pytest.raises(TypeError, match="Save it without condense"):
            save(model, tmp_path / "model.dsna", condense=True)
