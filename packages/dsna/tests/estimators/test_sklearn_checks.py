"""scikit-learn's own checks, metadata routing, data frames, parameters, pipelines."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version
from tests.small_models import build

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor, presets

KINDS = (CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor)
NAMES = ["height", "weight", "age"]

# scikit-learn excuses its own bagged forests from these two checks, and only these are excused here.
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data": "each tree leaves out random folds of rows",
    "check_sample_weight_equivalence_on_sparse_data": "each tree leaves out random folds of rows",
}

every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@parametrize_with_checks([build(kind, n_estimators=10) for kind in KINDS], expected_failed_checks=lambda _: EXCUSED)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.RandomState(0)
    X = rng.randn(90, 3)
    return X, X[:, 0] + 0.1 * rng.randn(90)


def make(kind, **params):
    return build(kind, **{"n_estimators": 10, "random_state": 0, **params})


def labels(kind, score):
    return np.where(score > 0.4, "rare", "usual") if is_classifier(kind()) else score


def opinion(model, X):
    """Probabilities, or predictions where there are none."""
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


# Metadata routing ---------------------------------------------------------------------------------------------------


@every
def test_weights_and_groups_reach_the_last_step_of_a_pipeline(kind, rows):
    X, score = rows
    y, groups = labels(kind, score), np.arange(90) // 3
    weight = np.where(np.arange(90) < 60, 1.0, 0.0)
    scaled = StandardScaler().fit_transform(X)
    expected = opinion(make(kind).fit(scaled, y, weight, groups), scaled)
    with config_context(enable_metadata_routing=True):
        last = make(kind).set_fit_request(sample_weight=True, groups=True)
        piped = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), last)
        piped.fit(X, y, sample_weight=weight, groups=groups)
    np.testing.assert_array_equal(opinion(piped, X), expected)
    without = make_pipeline(StandardScaler(), make(kind)).fit(X, y)
    assert np.any(opinion(without, X) != expected)


@every
@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="Pipeline.score of scikit-learn 1.7 routes no weights",
)
def test_weights_and_groups_go_through_a_search(kind, rows):
    X, score = rows
    y, groups = labels(kind, score), np.arange(90) // 3
    weight = np.linspace(0.2, 2.0, 90)
    with config_context(enable_metadata_routing=True):
        last = make(kind).set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        piped = Pipeline([("scale", scaler), ("model", last)])
        depth = "model__max_depth" if "max_depth" in last.get_params() else "model__forest__max_depth"
        search = GridSearchCV(piped, {depth: [2, 8]}, cv=GroupKFold(3), error_score="raise")
        search.fit(X, y, sample_weight=weight, groups=groups)
    best = search.best_params_[depth]
    scaled = StandardScaler().fit_transform(X)
    expected = make(kind, max_depth=best).fit(scaled, y, weight, groups)
    np.testing.assert_array_equal(search.predict(X), expected.predict(scaled))
    scores = []
    for train, test in GroupKFold(3).split(X, y, groups):
        scale = StandardScaler().fit(X[train])
        model = make(kind, max_depth=best).fit(scale.transform(X[train]), y[train], weight[train], groups[train])
        scores.append(model.score(scale.transform(X[test]), y[test], sample_weight=weight[test]))
    assert search.best_score_ == pytest.approx(np.mean(scores))


@every
def test_metadata_that_nobody_asked_for_is_refused(kind, rows):
    X, score = rows
    y = labels(kind, score)
    with (
        config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="not explicitly set as requested"),
    ):
        cross_validate(make(kind), X, y, params={"sample_weight": np.ones(90)}, error_score="raise")


# Data frames --------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("frame", (pd.DataFrame, pl.DataFrame), ids=("pandas", "polars"))
def test_data_frames(kind, rows, frame):
    X, score = rows
    y = labels(kind, score)
    series = pd.Series if frame is pd.DataFrame else pl.Series
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    expected = make(kind).fit(X, y, np.ones(90), np.arange(90) % 9)
    model = make(kind).fit(table, series(y), series(np.ones(90)), series(np.arange(90) % 9))
    np.testing.assert_array_equal(model.feature_names_in_, NAMES)
    assert not hasattr(expected, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(table), expected.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[NAMES[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@every
def test_columns_of_several_types(kind, rows):
    X, score = rows
    y = labels(kind, score)
    rounded = np.round(10 * X)
    frame = pd.DataFrame(rounded, columns=NAMES).astype({"age": "int32", "weight": "float32", "height": "Int64"})
    np.testing.assert_array_equal(make(kind).fit(frame, y).predict(frame), make(kind).fit(rounded, y).predict(rounded))


# Parameters ---------------------------------------------------------------------------------------------------------


@every
def test_parameters_go_round(kind, rows):
    X, score = rows
    model = make(kind, C=3.0, cost="paper", max_features=0.5)
    params = model.get_params()
    assert set(model.get_params(deep=False)) == set(inspect.signature(kind).parameters)
    again = kind(**model.get_params(deep=False))
    assert again.get_params() == params
    assert repr(clone(model).get_params()) == repr(params)
    assert kind().set_params(**params).get_params() == params
    y = labels(kind, score)
    model.fit(X, y)
    assert model.get_params() == params
    assert not [name for name in vars(clone(model)) if name.endswith("_")]
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))


def test_parameters_of_a_forest_inside(rows):
    from sklearn.ensemble import RandomForestClassifier

    X, score = rows
    y = labels(DSNAClassifier, score)
    model = DSNAClassifier(RandomForestClassifier(n_estimators=5), random_state=0)
    model.set_params(forest__max_depth=2)
    assert model.get_params()["forest__max_depth"] == 2
    assert clone(model).forest is not model.forest
    before = model.forest.get_params()
    model.fit(X, y)
    assert model.forest.get_params() == before
    assert not hasattr(model.forest, "estimators_")


@pytest.mark.parametrize("kind", (DSNAClassifier, DSNARegressor), ids=lambda kind: kind.__name__)
def test_the_form_of_the_paper_is_a_set_of_parameters(kind, rows):
    X, score = rows
    y = labels(kind, score)
    task = "classification" if is_classifier(kind()) else "regression"
    model = kind(**presets.paper(task), random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7


@every
def test_tags_tell_the_truth(kind):
    tags = get_tags(kind())
    assert tags.target_tags.required
    assert not tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert is_classifier(kind()) != is_regressor(kind())
    assert tags.target_tags.multi_output == is_regressor(kind())


@pytest.mark.parametrize("kind", (CostSensitiveForestRegressor, DSNARegressor), ids=lambda kind: kind.__name__)
def test_several_outputs(kind, rows):
    X, score = rows
    Y = np.c_[score, X[:, 1] - score]
    model = make(kind, n_estimators=30).fit(X, Y)
    assert model.predict(X).shape == (90, 2)
    assert model.score(X, Y) > 0.7
    assert np.all(np.corrcoef(model.predict(X).T, Y.T)[[0, 1], [2, 3]] > 0.8)


# Pipelines ----------------------------------------------------------------------------------------------------------


@every
def test_missing_values_go_through_an_imputer(kind, rows):
    X, score = rows
    y = labels(kind, score)
    holes = X.copy()
    holes[::7, 1] = np.nan
    holes[3::11, 2] = np.nan
    piped = make_pipeline(SimpleImputer(), make(kind))
    assert piped.fit(holes, y).score(holes, y) > 0.85
    found = cross_val_predict(piped, holes, y, cv=3)
    assert found.shape == y.shape
    table = pd.DataFrame(holes, columns=NAMES)
    named = make_pipeline(SimpleImputer().set_output(transform="pandas"), make(kind)).fit(table, y)
    np.testing.assert_array_equal(named[-1].feature_names_in_, NAMES)
    # Means of a frame and of an array may differ in the last bit.
    if is_classifier(piped):
        np.testing.assert_array_equal(named.predict(table), piped.predict(holes))
    else:
        np.testing.assert_allclose(named.predict(table), piped.predict(holes), rtol=1e-6, atol=1e-9)


@every
def test_same_seed_same_model_other_seed_another(kind, rows):
    X, score = rows
    y = labels(kind, score)
    first = opinion(make(kind).fit(X, y), X)
    np.testing.assert_array_equal(opinion(make(kind).fit(X, y), X), first)
    assert np.any(opinion(make(kind, random_state=1).fit(X, y), X) != first)
    drawn = [opinion(make(kind, random_state=np.random.RandomState(5)).fit(X, y), X) for _ in range(2)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
