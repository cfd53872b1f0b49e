"""DSNAClassifier with a trend: what it adds, and that everything else still holds."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import dsna
from dsna import CostSensitiveForestClassifier, DSNAClassifier, presets


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X @ np.array([2.0, -1.0, 0.5, 0.5, 1.0, -1.0]) + rng.normal(size=n) > 3.0).astype(int)


def model(**how):
    return DSNAClassifier(CostSensitiveForestClassifier(20), **{"random_state": 0, **how})


@pytest.mark.parametrize("balance", [0.0, 1.0])
def test_explanations_say_how_much_came_from_whom(balance):
    X, y = table(300, 0)
    fitted = model(balance=balance).fit(X, y)
    assert fitted.trend_ == "logistic"
    fresh = table(20, 1)[0]
    why = fitted.explain(fresh)
    proba = fitted.predict_proba(fresh)
    np.testing.assert_array_equal(why.predict_proba(), proba)
    frame = why.opinions()
    assert frame["opinion"].tolist() == 20 * ["coefficients", "forest", "logistic", "class shares"]
    chosen = fitted.predict(fresh)
    odds = np.log(proba[np.arange(20), chosen] / proba[np.arange(20), 1 - chosen])
    np.testing.assert_allclose(frame.groupby("query")["log_odds"].sum(), odds, atol=1e-9)
    np.testing.assert_allclose(frame.groupby("query")["share"].sum(), 1.0)
    np.testing.assert_allclose(why[3].opinions()["log_odds"], frame["log_odds"][12:16])
    assert "log odds against the next class: coefficients" in why.report(0)


def test_without_a_trend_two_opinions_remain():
    X, y = table(200, 0)
    fitted = model(trend=None).fit(X, y)
    assert fitted.trend_ is None
    assert set(fitted.explain(X[:2]).opinions()["opinion"]) == {"coefficients", "forest", "class shares"}


def test_the_paper_has_none():
    X, y = table(200, 0)
    fitted = DSNAClassifier(**presets.paper("classification") | {"tune": None}, random_state=0).fit(X, y)
    assert fitted.trend_ is None


def test_a_smooth_truth_is_ranked_better():
    (X, y), (fresh, truth) = table(400, 0), table(4000, 1)
    areas = [roc_auc_score(truth, model(trend=t).fit(X, y).predict_proba(fresh)[:, 1]) for t in ("logistic", None)]
    assert areas[0] > areas[1] + 0.01


def test_noise_is_not_learned():
    rng = np.random.default_rng(0)
    X, y = table(400, 0)
    found = []
    for seed in range(4):
        fitted = model(random_state=seed).fit(X, rng.permutation(y))
        code = fitted._code[fitted.oob_rows_]
        found.append(roc_auc_score(code, fitted.oob_decision_function_[:, 1]))
    assert abs(np.mean(found) - 0.5) < 0.07


def test_any_classifier_can_be_the_trend(tmp_path):
    X, y = table(300, 0)
    fitted = model(trend=HistGradientBoostingClassifier(max_iter=20)).fit(X, np.where(y == 1, "rare", "common"))
    assert fitted.trend_ == "HistGradientBoostingClassifier"
    assert fitted._calibration.slopes.shape == (3,)
    np.testing.assert_array_equal(fitted.explain(X[:5]).predict(), fitted.predict(X[:5]))
    assert clone(fitted).trend is not fitted.trend
    with pytest.raises(TypeError, match="trend is a HistGradientBoostingClassifier, which a dsna model file cannot"):
        dsna.save(fitted, tmp_path / "model.dsna")


def test_saved_models_come_back(tmp_path):
    X, y = table(200, 0)
    fitted = model().fit(X, y)
    dsna.save(fitted, tmp_path / "model.dsna")
    again = dsna.load(tmp_path / "model.dsna")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.trend_ == "logistic"


def test_classes_added_later_are_found_though_the_trend_lacks_them():
    X, y = table(300, 0)
    fitted = model().fit(X, np.where(y == 1, "c", "a"))
    new = np.random.default_rng(2).normal(8.0, 0.3, (30, 6))
    fitted.add_samples(new, np.full(30, "b"))
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    assert np.mean(fitted.predict(new) == "b") > 0.9
    np.testing.assert_array_equal(fitted.explain(new).predict(), fitted.predict(new))
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)


def test_jobs_change_nothing():
    X, y = table(300, 0)
    one, two = (model(n_jobs=jobs).fit(X, y).predict_proba(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
