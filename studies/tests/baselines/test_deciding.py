"""Decisions made after the fit, beside scikit-learn's own and brute force; classes as boosting libraries want them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from dsna import DSNAError
from dsna_studies.baselines import Coded, PriorsDivided, TunedThresholds
from dsna_studies.baselines.deciding import MEASURES


def drawn(classes=2, n=500, seed=0):
    weights = [0.85, 0.15] if classes == 2 else [0.7, 0.2, 0.1]
    return make_classification(n, n_informative=4, n_classes=classes, weights=weights, flip_y=0.1, random_state=seed)


@pytest.mark.parametrize("measure", ["balanced_accuracy", "f1_macro"])
def test_two_classes_get_the_threshold_that_scikit_learn_tunes_by_refitting(measure):
    X, y = drawn()
    folds = StratifiedKFold(3, shuffle=True, random_state=5)
    expected = TunedThresholdClassifierCV(LogisticRegression(), scoring=measure, cv=folds).fit(X, y)
    model = TunedThresholds(LogisticRegression(), random_state=5).fit(X, y)
    again = drawn(seed=1)[0]
    np.testing.assert_array_equal(model.with_decision(measure).predict(again), expected.predict(again))


@pytest.mark.parametrize("name, params", [("balanced_accuracy", {}), ("f1_macro", {"average": "macro"})])
def test_measures_are_those_of_scikit_learn(name, params):
    rng = np.random.RandomState(0)
    function = {"balanced_accuracy": balanced_accuracy_score, "f1_macro": f1_score}[name]
    for classes in (2, 3, 5):
        truth, said = rng.randint(classes, size=(2, 12))
        assert MEASURES[name](truth, said) == pytest.approx(function(truth, said, **params))


def test_several_classes_get_priors_and_factors_that_serve_macro_f1_on_the_inner_folds():
    X, y = drawn(3)
    model = TunedThresholds(GaussianNB(), random_state=5).fit(X, y)
    priors = len(y) / np.bincount(y)
    np.testing.assert_allclose(model.factors_of_["balanced_accuracy"], priors)
    folds = StratifiedKFold(3, shuffle=True, random_state=5)
    proba = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")
    reached = [
        f1_score(y, (proba * factors).argmax(axis=1), average="macro")
        for factors in (model.factors_of_["f1_macro"], np.ones(3), priors**0.5, priors)
    ]
    assert reached[0] >= max(reached[1:])


def test_priors_are_divided_out_of_the_decision_and_not_of_the_probabilities():
    X, y = drawn(3)
    plain = LogisticRegression().fit(X, y)
    model = PriorsDivided(LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), (plain.predict_proba(X) / np.bincount(y)).argmax(axis=1))


@pytest.mark.parametrize("wrapper", [PriorsDivided, TunedThresholds])
def test_a_fit_that_is_taken_over_decides_as_a_fit_of_its_own(wrapper):
    X, y = drawn()
    model = wrapper(GaussianNB(), **({"random_state": 0} if wrapper is TunedThresholds else {}))
    fitted = GaussianNB().fit(X, y)
    shared = clone(model).adopt(fitted, X, y)
    assert shared.estimator_ is fitted
    np.testing.assert_array_equal(shared.predict(X), model.fit(X, y).predict(X))


def test_where_there_is_nothing_to_choose_on_priors_are_divided_out():
    X, y = np.arange(20.0)[:, None], np.array([0] * 19 + [1])
    model = TunedThresholds(GaussianNB(), random_state=0).fit(X, y)
    np.testing.assert_allclose(model.with_decision("f1_macro").factors_, [20 / 19, 20])
    flat = TunedThresholds(LogisticRegression(), random_state=0).fit(np.zeros((30, 1)), np.array([0] * 24 + [1] * 6))
    np.testing.assert_allclose(flat.factors_, [30 / 24, 30 / 6])


def test_a_decision_that_was_not_tuned_is_refused():
    model = TunedThresholds(GaussianNB(), random_state=0).fit(*drawn())
    with pytest.raises(DSNAError, match="balanced_accuracy and f1_macro, not for recall"):
        model.with_decision("recall")


@pytest.mark.parametrize(
    "module, name, params",
    [
        ("xgboost", "XGBClassifier", {"n_estimators": 5, "n_jobs": 1}),
        ("catboost", "CatBoostClassifier", {"iterations": 5, "thread_count": 1, "verbose": 0}),
    ],
)
def test_boosters_take_classes_of_any_name_and_predict_them_in_a_row(module, name, params, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inner = getattr(pytest.importorskip(module), name)(**params)
    if module == "catboost":
        inner.set_params(allow_writing_files=False)
    X, y = drawn(3, n=200)
    names = np.array(["b", "d", "c"])[y]
    model = Coded(inner).fit(X, names)
    assert model.classes_.tolist() == ["b", "c", "d"]
    assert model.predict(X).shape == (200,)
    assert np.mean(model.predict(X) == names) > 0.6
    assert list(tmp_path.iterdir()) == []


def test_class_weights_are_those_of_scikit_learn():
    X, y = drawn(3)
    model = Coded(LogisticRegression(), class_weight="balanced").fit(X, 2 * y)
    expected = LogisticRegression(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(model.classes_, [0, 2, 4])
