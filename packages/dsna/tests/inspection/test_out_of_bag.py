"""Explanations of training rows by what has not seen them."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNAError, DSNARegressor
from dsna.inspection import explain_out_of_bag


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.mark.parametrize("balance", [0.0, 1.0])
@pytest.mark.parametrize("forest", [CostSensitiveForestRegressor(10), NearestNeighbors(n_neighbors=10)])
def test_where_all_folds_share_the_metric_predictions_are_those_of_fit(diabetes, forest, balance):
    X, y = diabetes
    how = {"metric": "euclidean", "trend": None, "balance": balance, "target_density": _flat, "random_state": 0}
    model = DSNARegressor(forest, **how).fit(X, y)
    np.testing.assert_allclose(explain_out_of_bag(model, X).predict(), model.oob_prediction_, rtol=1e-9)


def _flat(targets):
    """A density that leaves no fold out, so that rarities are those of fit too."""
    return np.ones(len(targets))


def test_with_a_learned_metric_and_a_trend_they_are_close(diabetes):
    X, y = diabetes
    model = DSNARegressor(CostSensitiveForestRegressor(20), trend="linear", random_state=0).fit(X, y)
    found = explain_out_of_bag(model, X).predict()
    assert np.corrcoef(found, model.oob_prediction_)[0, 1] > 0.99
    honest = np.abs(y[model.oob_rows_] - model.oob_prediction_).mean()
    seen = np.abs(y - model.predict(X)).mean()
    assert np.abs(y[model.oob_rows_] - found).mean() > 0.95 * honest > seen


def test_neither_a_row_nor_its_fold_is_a_neighbour(diabetes):
    X, y = diabetes
    model = DSNARegressor(CostSensitiveForestRegressor(10), random_state=0).fit(X, y)
    why = explain_out_of_bag(model, X)
    fold = model._index.fold
    inside = np.arange(why.rows.shape[1]) < why.size[:, None]
    assert not np.any((fold[why.rows] == fold[model.oob_rows_][:, None]) & inside)


@pytest.mark.parametrize("decision", ["balanced", "paper", [[0, 1, 2], [1, 0, 1], [9, 9, 0]]])
def test_classes_follow_the_decision(decision):
    X, y = load_wine(return_X_y=True)
    model = DSNAClassifier(CostSensitiveForestClassifier(10), decision=decision, metric="euclidean", random_state=0)
    model.fit(X, y)
    some = model.oob_rows_[10:50]
    why = explain_out_of_bag(model, X, some)
    np.testing.assert_allclose(why.predict_proba(), model.oob_decision_function_[10:50], atol=1e-12)
    np.testing.assert_array_equal(why.predict(), model.oob_prediction_[10:50])


def test_of_added_rows_and_classes_the_old_rows_are_explained_as_before():
    X, y = load_wine(return_X_y=True)
    model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    model.add_samples(X[:3] + 0.01, np.array([7, 7, 7]))
    why = explain_out_of_bag(model, np.concatenate([X, X[:3] + 0.01]))
    np.testing.assert_allclose(why.predict_proba()[:, :3], model.oob_decision_function_, atol=1e-9)
    np.testing.assert_allclose(why.predict_proba()[:, 3], 0.0, atol=1e-9)


def test_identifiers_and_pipelines():
    X, y = load_wine(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0))
    why = explain_out_of_bag(pipeline.fit(X, y), X.assign(bottle=range(len(X))), [4], id="bottle")
    assert why.compare().loc["alcohol"].iloc[0] == X["alcohol"].iloc[4]


def test_what_cannot_be_explained_is_refused():
    X, y = load_wine(return_X_y=True)
    model = DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0).fit(X, y)
    with pytest.raises(DSNAError, match="Row 999 has no out-of-bag prediction"):
        explain_out_of_bag(model, X, [999])
    with pytest.raises(DSNAError, match="differ from those that the model was fitted on"):
        explain_out_of_bag(model, X[::-1])
    with pytest.raises(DSNAError, match="has no out-of-bag explanations"):
        explain_out_of_bag(RandomForestClassifier(2).fit(X, y), X)
