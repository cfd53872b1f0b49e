"""Every method of the benchmark runs, follows its seed, and learns from training rows only."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from tests.tabular import small_tables

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor
from dsna_studies.select_methods import MethodError
from dsna_studies.tabular import jobs
from dsna_studies.tabular.ablation import ablation
from dsna_studies.tabular.folds import split
from dsna_studies.tabular.jobs import Design, FoldJob, families
from dsna_studies.tabular.methods import METHODS, ablation_rows, maker, methods_of
from dsna_studies.tabular.scores import METRICS, TIMES

FOREST = {"classification": CostSensitiveForestClassifier, "regression": CostSensitiveForestRegressor}
TASKS = tuple(METHODS)
EVERY = [(task, name) for task in TASKS for name in METHODS[task]]
SCALED = [("classification", name) for name in ("Logistic", "LinearSVC", "SVC-RBF", "kNN")]
SCALED += [("regression", name) for name in ("SVR", "kNN")]


def job(task, method, seed=0, **params):
    table = small_tables.table(task, **params)
    train, test = split(table, 2, 0)[0]
    return FoldJob(table, 2, seed, 0, method, train, test)


@pytest.mark.parametrize("task, method", EVERY, ids=lambda value: value)
def test_method_runs_on_a_tiny_table_with_three_rare_rows(task, method):
    (row,) = job(task, method, n=50)()
    assert "error" not in row, row["error"]
    missing = set(METRICS[task]) - set(row)
    optional = {name for name, metric in METRICS[task].items() if metric.needs != "predict"}
    assert missing <= optional, "a metric without `needs` is recorded of every method"
    assert all(np.isfinite(row[name]) for name in row if name in METRICS[task])
    assert all(row[name] >= 0 for name in TIMES)


@pytest.mark.parametrize("method", ["SMOTE+RF", "SVC-RBF", "LinearSVC", "LightGBM", "XGBoost/thresholds", "CS-RF+DSNA"])
def test_three_classes_one_of_them_absent_from_training(method):
    table = small_tables.table("classification", n=60, rare=8)
    table.y[-1] = 2
    (row,) = FoldJob(table, 2, 0, 0, method, np.arange(0, 59), np.arange(30, 60))()
    assert "error" not in row, row["error"]
    assert 0 <= row["auc"] <= 1


@pytest.mark.parametrize(
    "task, method", [(t, m) for t in TASKS for m in ("RF", "kNN", "LightGBM", "CS-RF")] + [("regression", "SMOGN+RF")]
)
def test_equal_seeds_give_equal_scores(task, method):
    first, again = (job(task, method)()[0] for _ in range(2))
    assert {k: v for k, v in first.items() if k not in TIMES} == {k: v for k, v in again.items() if k not in TIMES}


@pytest.mark.parametrize("task, method", EVERY, ids=lambda value: value)
def test_methods_are_seeded_and_use_one_thread(task, method):
    model = maker(task, method)(7)
    params = model.get_params()
    seeds = {name: value for name, value in params.items() if name.split("__")[-1] == "random_state"}
    if isinstance(model, DSNAClassifier | DSNARegressor):
        seeds.pop("forest__random_state", None)  # the model's own seed replaces it
    assert all(value == 7 for value in seeds.values())
    assert all(value in (None, 1) for name, value in params.items() if name.split("__")[-1] == "n_jobs")


@pytest.mark.parametrize("task, method", SCALED, ids=lambda value: value)
def test_standardisation_knows_training_rows_only(task, method):
    work = job(task, method)
    X, y = work.table.X[work.train], work.table.y[work.train]
    model = maker(task, method)(0).fit(X, y)
    pipeline = getattr(model, "regressor_", model)
    np.testing.assert_allclose(pipeline.named_steps["standardscaler"].mean_, X.mean(axis=0))
    if method == "SVR":
        np.testing.assert_allclose(model.transformer_.mean_, y.mean())


def test_fit_sees_training_rows_and_predict_test_rows(monkeypatch):
    work, seen = job("regression", "RF"), {}

    class Spy:
        def fit(self, X, y):
            seen["fit"] = X, y
            return self

        def predict(self, X):
            seen["predict"] = X
            return np.zeros(len(X))

    monkeypatch.setattr(jobs, "maker", lambda task, method, relevance: lambda seed: Spy())
    assert "error" not in work()[0]
    np.testing.assert_array_equal(seen["fit"][0], work.table.X[work.train])
    np.testing.assert_array_equal(seen["fit"][1], work.table.y[work.train])
    np.testing.assert_array_equal(seen["predict"], work.table.X[work.test])


def test_methods_are_chosen_by_name():
    assert methods_of("regression", ["rf", "LightGBM"]) == ["RF", "LightGBM"]
    assert methods_of("regression", ["WRF"]) == []
    assert methods_of("regression") == list(METHODS["regression"])
    assert len(methods_of("regression", quick=True)) == 6
    with pytest.raises(MethodError, match="no method Forest; there are RF"):
        methods_of("regression", ["Forest"])


@pytest.mark.parametrize("task", TASKS)
def test_ablation_ends_at_the_default(task):
    stages = ablation(task)
    assert ablation_rows(task) == ["RF", *stages, "CS-RF+DSNA"]
    last, default = stages["+ balance"](0).get_params(), maker(task, "CS-RF+DSNA")(0).get_params()
    differing = {name for name in default if default[name] != last[name]}
    assert differing <= {"approximation"}
    assert (last["approximation__n_clusters"], last["approximation__max_iter"]) == (3, 10)


@pytest.mark.parametrize("task", TASKS)
def test_neighbourhood_mean_weighs_all_rows_alike(task):
    table = small_tables.table(task, n=80, rare=20)
    model = ablation(task)["+ neighbourhood mean"](0).set_params(forest=FOREST[task](10)).fit(table.X, table.y)
    frame = model.explain(table.X[:3]).frame()
    for _, rows in frame.groupby("query"):
        np.testing.assert_allclose(rows["coefficient"], 1 / len(rows), atol=1e-6)


def test_decisions_of_one_classifier_share_its_fit(monkeypatch):
    names = ["RF", "RF/priors", "RF/thresholds"]
    work = [job("classification", name, n=120, rare=30) for name in names]
    alone = [one()[0] for one in work]
    fits, real = [], RandomForestClassifier.fit
    monkeypatch.setattr(RandomForestClassifier, "fit", lambda self, X, y: fits.append(len(X)) or real(self, X, y))
    (family,) = families(work)
    together = family()
    assert fits == [60, 40, 40, 40]  # the fit, and three inner folds for the thresholds
    for one, other in zip(alone, together, strict=True):
        assert {k: v for k, v in one.items() if k not in TIMES} == {k: v for k, v in other.items() if k not in TIMES}
    assert together[0]["auc"] == together[1]["auc"] == together[2]["auc"]
    assert together[2]["fit_seconds"] >= together[0]["fit_seconds"]


def test_a_family_whose_plain_member_is_not_asked_for_is_fitted_all_the_same():
    (row,) = job("classification", "LightGBM/priors", n=120, rare=30)()
    assert "error" not in row, row
    assert "macro_f1_tuned" not in row


@pytest.mark.parametrize("method", ["RF/thresholds", "CS-RF+DSNA"])
def test_macro_f1_is_also_recorded_with_the_decision_chosen_for_it(method):
    work = job("classification", method, n=150, rare=40)
    (row,) = work()
    X, y = work.table.X, work.table.y
    model = maker("classification", method)(0).fit(X[work.train], y[work.train])
    said = model.with_decision("f1_macro").predict(X[work.test])
    assert row["macro_f1_tuned"] == pytest.approx(f1_score(y[work.test], said, average="macro"))
    assert row["macro_f1"] == pytest.approx(f1_score(y[work.test], model.predict(X[work.test]), average="macro"))


def test_seeds_are_run_one_after_the_other():
    tables = [small_tables.table("regression", name=name) for name in "ab"]
    seeds = [one.seed for one in jobs.plan(tables, {"regression": ["RF", "kNN"]}, Design(2, (3, 1)))]
    assert seeds == [3] * 8 + [1] * 8
