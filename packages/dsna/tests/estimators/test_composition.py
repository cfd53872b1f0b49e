"""DSNA estimators are put together from a forest and an approximation, and keep what they are given."""

from __future__ import annotations

import copy
import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from tests.small_models import table

from dsna import Approximation, DSNAClassifier, DSNAError, DSNARegressor, presets
from dsna.forest import CostSensitiveForestClassifier, CostSensitiveForestRegressor

FOREST = {DSNAClassifier: CostSensitiveForestClassifier, DSNARegressor: CostSensitiveForestRegressor}
both = pytest.mark.parametrize("kind", FOREST, ids=lambda kind: kind.__name__)


@both
def test_parameters_are_few(kind):
    assert len(inspect.signature(kind).parameters) <= 16


@both
def test_none_stands_for_the_defaults(kind):
    X, y = table(kind)
    given = kind(FOREST[kind](), Approximation(), random_state=0).fit(X, y)
    np.testing.assert_array_equal(kind(random_state=0).fit(X, y).predict(X), given.predict(X))
    assert given.default_forest().get_params() == FOREST[kind]().get_params()


@both
def test_what_is_given_stays_as_it_was(kind):
    X, y = table(kind)
    forest, approximation = FOREST[kind](10), Approximation(lam=0.01)
    model = kind(forest, approximation, tune="oob", n_jobs=2, random_state=0).fit(X, y)
    assert model.forest is forest
    assert model.approximation is approximation
    assert forest.get_params() == FOREST[kind](10).get_params()
    assert approximation.get_params() == Approximation(lam=0.01).get_params()
    assert not vars(forest).keys() - forest.get_params(deep=False).keys()
    assert model.forest_ is not forest


@both
def test_nested_names_reach_the_parts(kind):
    X, y = table(kind)
    model = kind(FOREST[kind](5), Approximation(), random_state=0)
    search = GridSearchCV(model, {"forest__max_depth": [2, 9], "approximation__lam": [0.0, 0.1]}, cv=2).fit(X, y)
    assert set(search.best_params_) == {"forest__max_depth", "approximation__lam"}
    assert search.best_estimator_.approximation_.lam == search.best_params_["approximation__lam"]


@both
@pytest.mark.parametrize("name, made", [("forest__C", "CostSensitiveForest"), ("approximation__lam", "Approximation")])
def test_nested_names_need_the_part(kind, name, made):
    with pytest.raises(DSNAError, match=f"{name} cannot be set while .* is None.*pass .*={made}"):
        kind().set_params(**{name: 1.0})
    part = {"forest": FOREST[kind](), "approximation": Approximation()}[name.split("__")[0]]
    assert kind().set_params(**{name.split("__")[0]: part, name: 1.0}).get_params()[name] == 1.0


@both
@pytest.mark.parametrize("name, value", [("scaling", "global"), ("balance", 0.5), ("oob_score", True)])
def test_a_value_that_would_be_ignored_is_refused(kind, name, value):
    X, y = table(kind)
    with pytest.raises(DSNAError, match=f"{name}=.* would be ignored"):
        kind(FOREST[kind](5, **{name: value})).fit(X, y)


@pytest.mark.parametrize(
    "forest, name",
    [
        (RandomForestClassifier(5, oob_score=True), "oob_score"),
        (RandomForestClassifier(5, warm_start=True), "warm_start"),
        (NearestNeighbors(metric="cosine"), "metric"),
        (NearestNeighbors(p=1), "p"),
    ],
)
def test_other_sources_may_not_have_ignored_values_either(forest, name):
    X, y = table(DSNAClassifier)
    with pytest.raises(DSNAError, match=f"{name}=.* would be ignored"):
        DSNAClassifier(forest).fit(X, y)


@both
def test_the_outer_seed_and_jobs_win(kind):
    X, y = table(kind)
    inner = FOREST[kind](5, random_state=7, n_jobs=2, verbose=1)
    np.testing.assert_array_equal(
        kind(inner, random_state=0).fit(X, y).predict(X), kind(FOREST[kind](5), random_state=0).fit(X, y).predict(X)
    )


@both
def test_a_parameter_changed_after_fit_is_refused(kind):
    X, y = table(kind)
    model = kind(FOREST[kind](5), random_state=0).fit(X, y)
    before = model.predict(X)
    for change in ({"balance": 0.3}, {"forest__C": 3.0}, {"approximation": Approximation(lam=0.5)}, {"blend": 0.25}):
        other = copy.deepcopy(model).set_params(**change)
        for ask in (other.predict, other.explain):
            with pytest.raises(DSNAError, match=r"was changed after fit.*call fit again"):
                ask(X)
        other.fit(X, y).predict(X)
    np.testing.assert_array_equal(model.set_params(n_jobs=2, verbose=0).predict(X), before)


def test_a_balance_that_was_chosen_and_the_same_given_are_one_model():
    X, y = table(DSNARegressor, n=200)
    chosen = DSNARegressor(CostSensitiveForestRegressor(10), random_state=0).fit(X, y)
    given = DSNARegressor(CostSensitiveForestRegressor(10), balance=chosen.balance_, random_state=0).fit(X, y)
    assert (given.blend_, given.decision_) == (chosen.blend_, chosen.decision_)
    np.testing.assert_array_equal(given.predict(X), chosen.predict(X))
    np.testing.assert_array_equal(given.predict_interval(X), chosen.predict_interval(X))


@pytest.mark.parametrize("trend", ["auto", None])
def test_a_view_predicts_as_a_model_fitted_with_its_settings(trend):
    X, y = table(DSNARegressor, n=150)
    how = {"forest": CostSensitiveForestRegressor(10), "trend": trend, "random_state": 0}
    model = DSNARegressor(**how).fit(X, y)
    assert (model.trend_ is None) == (trend is None)
    before = model.predict(X)
    views = [{"balance": 0.0}, {"blend": 0.25, "decision": "mean", "balance": 0.7}]
    if trend is None:  # with another approximation, another trend would be chosen
        views.append({"decision": "mean", "balance": 0.0, **presets.affine_hull()})
    for settings in views:
        fitted = DSNARegressor(**how, **settings).fit(X, y)
        np.testing.assert_array_equal(model.with_settings(**settings).predict(X), fitted.predict(X))
    one = model.with_settings(decision="median")  # what is not given stays, also that of views
    for view, changed in ((model.with_settings(balance=0.9), {"balance": 0.9}), (one, {"decision": "median"})):
        used = {"blend": model.blend_, "decision": model.decision_, "balance": model.balance_} | changed
        assert (view.blend_, view.decision_, view.balance_) == tuple(used.values())
        np.testing.assert_array_equal(view.predict(X), model.with_settings(**used).predict(X))
    assert one.with_settings(balance=0.9).decision_ == "median"
    np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(DSNAError, match="metric cannot be changed without another fit"):
        model.with_settings(metric="euclidean")


@both
def test_asking_changes_nothing(kind):
    X, y = table(kind)
    model = kind(FOREST[kind](10), random_state=0).fit(X, y)
    frozen = pickle.dumps(model)
    expected = model.predict(X)
    with ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda _: (model.predict(X), model.explain(X).predict()), range(16)))
    for prediction, explained in asked:
        np.testing.assert_array_equal(prediction, expected)
        np.testing.assert_array_equal(explained, expected)
    assert pickle.dumps(model) == frozen


@both
def test_importances_are_those_of_the_forest(kind):
    X, y = table(kind, n=300)
    model = kind(FOREST[kind](20), random_state=0).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.argmax() == 0
    with pytest.raises(AttributeError, match="no feature importances"):
        _ = kind(NearestNeighbors(n_neighbors=10)).fit(X, y).feature_importances_


@both
def test_presets_are_fresh(kind):
    task = "classification" if kind is DSNAClassifier else "regression"
    first, second = presets.paper(task), presets.paper(task)
    assert first["forest"] is not second["forest"]
    assert kind(**first).get_params()["forest__max_depth"] == 10
    assert clone(kind(**first)).get_params()["approximation__gamma"] == 1.0
    with pytest.raises(DSNAError, match="task='ranking' is unknown"):
        presets.paper("ranking")


@both
def test_neighbourhoods_are_bounded(kind):
    X, y = table(kind, n=400)
    for forest, bound, most in (
        (FOREST[kind](20), 15, 15),
        (NearestNeighbors(n_neighbors=9), 15, 9),
        (None, None, 400),
    ):
        model = kind(forest, max_neighbors=bound, random_state=0).fit(X, y)
        assert 0 < model.explain(X[:50]).size.max() <= most
    assert kind(random_state=0).fit(X, y).explain(X[:50]).size.max() <= 100


def test_rows_added_to_a_view_stay_there():
    X, y = table(DSNARegressor, n=120)
    model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(X, y)
    before = model.predict(X)
    view = model.with_settings(balance=0.0).add_samples(X[:5] + 0.01, y[:5] + 50.0)
    np.testing.assert_array_equal(model.predict(X), before)
    assert len(view._index.label) == len(model._index.label) + 5
