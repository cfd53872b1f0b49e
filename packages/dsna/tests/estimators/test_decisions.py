"""One fit, any decision: probabilities stay those of the population, views equal refits."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics import cohen_kappa_score, f1_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from tests.small_models import each_classifier, make

import dsna
from dsna import CostSensitiveForestClassifier, DSNAClassifier, DSNAError

COSTS = np.array([[0.0, 1.0], [8.0, 0.0]])
DECISIONS = [
    "f1",
    "mcc",
    "gmean",
    "recall>=.9",
    "precision>=.5",
    "f1_macro",
    make_scorer(cohen_kappa_score),
    COSTS,
    "paper",
]


def data(n=500, **how):
    return make_classification(n, 6, n_informative=4, weights=[0.88], flip_y=0.1, random_state=0, **how)


@pytest.fixture(scope="module")
def fitted():
    X, y = data()
    return DSNAClassifier(CostSensitiveForestClassifier(20), random_state=0).fit(X[:350], y[:350])


@each_classifier
def test_probabilities_do_not_depend_on_balance_and_match_the_shares(kind):
    X, y = data(1500)
    found = {b: make(kind, n_estimators=30, balance=b).fit(X[:1000], y[:1000]) for b in (0.0, 1.0)}
    proba = found[0.0].predict_proba(X[1000:])
    np.testing.assert_array_equal(proba, found[1.0].predict_proba(X[1000:]))
    assert proba[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)
    assert found[1.0].predict(X[1000:]).mean() > 1.2 * found[0.0].predict(X[1000:]).mean()
    np.testing.assert_array_equal(found[0.0].predict(X), found[0.0].predict_proba(X).argmax(axis=1))


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda one: one if isinstance(one, str) else type(one).__name__)
def test_a_view_is_a_refit_with_its_decision(fitted, decision):
    X, y = data()
    view = fitted.with_decision(decision)
    again = clone(view).fit(X[:350], y[:350])
    np.testing.assert_array_equal(view.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(view.predict(X), again.predict(X))
    np.testing.assert_array_equal(view.explain(X[350:]).predict(), view.predict(X[350:]))
    np.testing.assert_array_equal(view.oob_prediction_, again.oob_prediction_)
    assert view.oob_decision_score_ == again.oob_decision_score_
    assert view.oob_score_ == pytest.approx(np.mean(view.oob_prediction_ == y[:350][view.oob_rows_]))
    assert view._index is fitted._index
    assert fitted.decision == "balanced"


@pytest.mark.parametrize("decision", ["balanced", "paper"])
def test_neighbourhoods_of_one_class_need_no_solution(decision):
    X, y = make_classification(400, 6, n_informative=4, weights=[0.9], class_sep=2.0, flip_y=0.0, random_state=0)
    model = DSNAClassifier(CostSensitiveForestClassifier(10), decision=decision, random_state=0).fit(X[:250], y[:250])
    fresh = X[250:]
    solved = []
    model._solve = lambda Q, near: solved.append(len(Q)) or type(model)._solve(model, Q, near)
    proba, said = model.predict_proba(fresh), model.predict(fresh)
    assert 0 < solved[0] < 0.8 * len(fresh)
    why = model.explain(fresh)  # solves all
    assert solved[-1] == len(fresh)
    np.testing.assert_array_equal(why.predict_proba(), proba)
    np.testing.assert_array_equal(why.predict(), said)


def test_decisions_order_as_they_should(fitted):
    X, y = data()
    fresh, truth = X[350:], y[350:]
    said = {d: fitted.with_decision(d).predict(fresh) for d in ("recall>=.9", "precision>=.5", "f1")}
    found = {d: (one[truth == 1].mean(), f1_score(truth, one)) for d, one in said.items()}
    assert found["recall>=.9"][0] >= found["precision>=.5"][0]
    assert found["f1"][1] >= f1_score(truth, fitted.predict(fresh)) - 0.02


def test_balance_of_a_view(fitted):
    X, _ = data()
    proba, prior = fitted.predict_proba(X), fitted.class_prior_
    for balance in (0.0, 0.5, 1.0):
        said = fitted.with_decision(balance=balance).predict(X)
        np.testing.assert_array_equal(said, (proba / prior**balance).argmax(axis=1))


def test_balance_that_is_ignored_is_said(fitted):
    with pytest.warns(UserWarning, match=r"balance=0\.5 is ignored"):
        fitted.with_decision("f1", balance=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.with_decision("f1")


def test_wrong_decisions_are_refused_before_any_work(fitted):
    X, y = data()
    for wrong, words in (
        ("f2", "decision='f2' is unknown"),
        (np.ones((3, 3)), "2 x 2 finite costs"),
        (np.zeros((2, 2)), "cannot decide"),
    ):
        with pytest.raises(DSNAError, match=words):
            DSNAClassifier(decision=wrong).fit(X, y)
        with pytest.raises(DSNAError, match=words):
            fitted.with_decision(wrong)


@pytest.mark.parametrize(
    "decision", ["f1", COSTS, lambda true, said: 0.0 if true == said else 1.0], ids=["f1", "matrix", "function"]
)
def test_classes_added_to_a_view(fitted, decision):
    new = np.random.default_rng(0).normal(12.0, 0.2, (20, 6))
    view = fitted.with_decision(decision).add_samples(new, np.full(20, 2))
    assert view._gain.shape == (3, 3)
    assert np.mean(view.predict(new) == 2) > 0.9
    np.testing.assert_array_equal(view.explain(new).predict(), view.predict(new))
    assert len(fitted.classes_) == 2
    if isinstance(decision, str):
        assert np.mean(view.with_decision("mcc").predict(new) == 2) > 0.9


def test_saved_views_decide_alike(fitted, tmp_path):
    X, _ = data()
    view = fitted.with_decision("recall>=.9")
    dsna.save(view, tmp_path / "view.dsna")
    again = dsna.load(tmp_path / "view.dsna")
    np.testing.assert_array_equal(again.predict(X), view.predict(X))
    np.testing.assert_array_equal(again.with_decision("f1").predict(X), fitted.with_decision("f1").predict(X))


def test_wrappers_decide_for_the_population():
    X, y = data()
    model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0)
    inner = clone(model).fit(X[:350], y[:350])
    fixed = FixedThresholdClassifier(model, threshold=0.5).fit(X[:350], y[:350])
    np.testing.assert_array_equal(fixed.predict(X[350:]), (inner.predict_proba(X[350:])[:, 1] >= 0.5).astype(int))
    assert CalibratedClassifierCV(model, cv=2).fit(X, y).predict(X).mean() < inner.predict(X).mean()
    tuned = TunedThresholdClassifierCV(model, scoring="balanced_accuracy", cv=2).fit(X, y)
    assert tuned.best_threshold_ < 0.5
    assert not hasattr(model, "decision_function")
