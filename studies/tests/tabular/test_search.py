"""Random search: every method has a space that fits it, as many settings, and inner folds of training rows alone."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score
from tests.tabular import small_tables

from dsna_studies.baselines import PriorsDivided, TunedThresholds
from dsna_studies.tabular.folds import split
from dsna_studies.tabular.jobs import FoldJob, families
from dsna_studies.tabular.methods import METHODS, maker
from dsna_studies.tabular.search import tuning
from dsna_studies.tabular.search.spaces import SPACES, space_of
from dsna_studies.tabular.search.tuning import make_search

EVERY = [(task, name) for task in METHODS for name in METHODS[task]]


def job(task, method, settings=3, **params):
    table = small_tables.table(task, **params)
    train, test = split(table, 2, 0)[0]
    return FoldJob(table, 2, 0, 0, method, train, test, settings)


@pytest.mark.parametrize("task, method", EVERY, ids=lambda value: value)
def test_every_method_takes_the_settings_that_are_drawn_for_it(task, method):
    search = make_search(maker(task, method)(0), space_of(task, method), task, 30, seed=0)
    settings = search.param_grid
    assert settings[0] == {}
    assert len(settings) == 30
    for one in settings[1:]:
        changed = clone(search.estimator).set_params(**{name: value for name, (value,) in one.items()})
        params = changed.get_params()
        assert all(params[name] == value for name, (value,) in one.items())


def test_there_is_no_space_without_a_method():
    for task, spaces in SPACES.items():
        assert set(spaces) == {name.partition("/")[0] for name in METHODS[task]}


def test_the_best_of_the_settings_is_chosen_on_inner_folds(monkeypatch):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(90, 30))
    y = X[:, 0] + rng.normal(size=90)
    search = make_search(Ridge(), {"alpha": loguniform(1e-6, 1e5)}, "regression", 12, seed=0).fit(X, y)
    errors = -search.cv_results_["mean_test_score"]
    assert search.best_index_ == errors.argmin()
    assert errors.min() < errors[0]
    assert search.n_splits_ == 3
    again = make_search(Ridge(), {"alpha": loguniform(1e-6, 1e5)}, "regression", 12, seed=0).fit(X, y)
    assert again.best_params_ == search.best_params_
    assert tuning.SCORING == {"classification": "balanced_accuracy", "regression": "neg_mean_absolute_error"}


def test_a_setting_that_fails_is_not_chosen():
    X, y = np.random.RandomState(0).normal(size=(60, 2)), np.arange(60.0)
    search = make_search(Ridge(), {"alpha": [-1.0]}, "regression", 2, seed=0)
    with pytest.warns(Warning, match="fits failed"):
        search.fit(X, y)
    assert search.best_params_ == {}


def test_only_training_rows_are_seen(monkeypatch):
    work = job("regression", "kNN")
    seen = []
    real = tuning.GridSearchCV.fit
    monkeypatch.setattr(tuning.GridSearchCV, "fit", lambda self, X, y: seen.append(X) or real(self, X, y))
    (row,) = work()
    assert "error" not in row, row
    (X,) = seen
    np.testing.assert_array_equal(X, work.table.X[work.train])


def test_thresholds_are_tuned_with_the_settings_found_for_priors(monkeypatch):
    searches = []
    real = tuning.GridSearchCV.fit
    monkeypatch.setattr(tuning.GridSearchCV, "fit", lambda self, X, y: searches.append(self) or real(self, X, y))
    work = [job("classification", f"LightGBM/{name}", n=200, rare=50) for name in ("priors", "thresholds")]
    (family,) = families(work)
    priors, thresholds = family()
    assert len(searches) == 1
    best = searches[0].best_estimator_
    assert isinstance(best, PriorsDivided)
    at = work[0]
    X, y, test = at.table.X, at.table.y, at.test
    assert priors["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y[test], best.predict(X[test])))
    tuned = TunedThresholds(best.estimator, random_state=0).fit(X[at.train], y[at.train])
    expected = balanced_accuracy_score(y[test], tuned.predict(X[test]))
    assert thresholds["balanced_accuracy"] == pytest.approx(expected)
    assert priors["auc"] == thresholds["auc"]


@pytest.mark.parametrize("task, method", [("classification", "CS-RF+DSNA"), ("regression", "CS-RF+DSNA")])
def test_ours_is_tuned_like_the_others(task, method):
    (row,) = job(task, method, settings=2)()
    assert "error" not in row, row
    assert row["settings"] == 2


def test_searching_with_one_setting_is_the_method_itself():
    X, y = np.random.RandomState(0).normal(size=(60, 2)), np.arange(60) % 2
    search = make_search(LogisticRegression(C=3.0), {"C": [1.0]}, "classification", 1, seed=0).fit(X, y)
    assert search.best_estimator_.C == 3.0
