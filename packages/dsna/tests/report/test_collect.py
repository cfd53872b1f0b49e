"""What a report says of a model: weighted, out of bag, and refused in a sentence where it cannot be."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, mean_absolute_error, precision_score, recall_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNAError, DSNARegressor
from dsna.inspection import explain_out_of_bag
from dsna.inspection.figures import FEWEST, rare_targets
from dsna.report import About, collect
from dsna.report.answers import out_of_bag_answers
from dsna.report.cases import score_cases
from dsna.report.suspects import look_at_rows

from .small_reports import mixed, of_a_sample, report, rows, targets, three_classes, two_classes

NAMES = ("two", "three", "targets", "mixed")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_plain_json(name):
    data = report(name)
    again = json.loads(json.dumps(data.plain(), allow_nan=False))
    assert again["n_cases"] == data.n_cases
    assert len(again["why"]["cases"]["row"]) == min(400, data.n_cases)


def test_figures_of_classes_use_the_weights():
    _, y, model = two_classes()
    weight, truth, said = model._oob_weight, y[model.oob_rows_], model.oob_prediction_
    assert np.ptp(weight) > 0
    data = report("two")
    found = {one.name: one.estimate.value for one in data.quality.overall}
    assert found["Balanced accuracy"] == pytest.approx(model.oob_balanced_accuracy_, rel=1e-3)
    assert found["Accuracy"] == pytest.approx(accuracy_score(truth, said, sample_weight=weight), rel=1e-3)
    how = {"pos_label": "yes", "sample_weight": weight}
    assert found["Precision of yes"] == pytest.approx(precision_score(truth, said, **how), rel=1e-3)
    parts = {one.name: one for one in data.quality.parts}
    assert parts["yes"].first.value == pytest.approx(recall_score(truth, said, **how), rel=1e-3)
    assert sum(one.rows for one in data.quality.parts) == pytest.approx(len(y), rel=1e-3)


def test_figures_of_targets_use_the_weights():
    _, y, model = targets()
    weight, truth = model._oob_weight, y[model.oob_rows_]
    assert np.ptp(weight) > 0
    found = {one.name: one.estimate.value for one in report("targets").quality.overall}
    error = mean_absolute_error(truth, model.oob_prediction_, sample_weight=weight)
    assert found["Mean absolute error"] == pytest.approx(error, rel=1e-3)
    assert found["R²"] == pytest.approx(model.oob_score_, rel=1e-3)


def test_probabilities_to_decide_by_are_the_out_of_bag_ones():
    _, y, model = two_classes()
    decide = report("two").decide
    assert decide.rare == 1
    np.testing.assert_allclose(decide.probability, model.oob_decision_function_[:, 1], rtol=1e-3)
    np.testing.assert_allclose(decide.weight, model._oob_weight, rtol=1e-5)
    assert [model.classes_[t] for t in decide.truth] == y[model.oob_rows_].tolist()


def test_wishes_are_what_with_decision_does():
    _, y, model = two_classes()
    wish = next(one for one in report("two").decide.target_rates if one.decision == "recall>=.9")
    view = model.with_decision("recall>=.9")
    X = rows(500, seed=9)[0]
    said = np.where(view.predict_proba(X)[:, 1] > wish.threshold, "yes", "no")
    assert np.mean(said == view.predict(X)) > 0.99  # the threshold is rounded
    own = y[model.oob_rows_] == "yes"
    assert wish.recall.value == pytest.approx(np.mean(view.oob_prediction_[own] == "yes"), rel=1e-3)


def test_a_wish_that_no_threshold_reaches_says_what_is_reached():
    wishes = report("two").decide.target_rates
    X = rows(400, 6)[0]
    y = np.where(np.random.RandomState(0).rand(len(X)) < 0.1, "yes", "no")  # which nothing tells
    model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    with pytest.warns(
        UserWarning, match=r"'precision>=.9' cannot be reached: out of bag the precision of yes is at most 0"
    ):
        model.with_decision("precision>=.9")
    found = {one.decision: one for one in collect(model, X, y).decide.target_rates}
    assert 0.0 < found["precision>=.9"].reached < 0.9
    assert found["recall>=.5"].reached is None
    assert next(one.reached for one in wishes if one.decision == "recall>=.9") is None


def test_the_threshold_of_the_model_is_known():
    _, _, model = two_classes()
    of, least = model.decision_threshold_
    assert of == model.classes_[report("two").decide.rare]
    assert report("two").decide.threshold == pytest.approx(least, rel=1e-3)
    assert report("three").decide.threshold is None


@pytest.mark.parametrize("name", NAMES)
def test_no_case_is_among_the_rows_that_explain_it_nor_is_any_of_its_fold(name):
    data = report(name)
    model = {"two": two_classes, "three": three_classes, "targets": targets, "mixed": mixed}[name]()[2]
    fold = getattr(model, "steps", [(None, model)])[-1][1]._index.fold
    number = np.array(data.why.rows.number)
    for row, near in zip(data.why.cases.row, data.why.cases.neighbors, strict=True):
        assert len(near) > 0
        assert np.all(fold[number[list(near)]] != fold[number[row]])


def test_weights_of_all_neighbours_make_the_out_of_bag_probability():
    X, _, model = three_classes()
    why = explain_out_of_bag(model, X)
    np.testing.assert_allclose(why.predict_proba(), model.oob_decision_function_, atol=1e-12)
    np.testing.assert_array_equal(why.predict(), model.oob_prediction_)


def test_the_curve_of_balance_passes_through_the_model():
    _, _, model = targets()
    decide = report("targets").decide
    assert decide.chosen == pytest.approx(model.balance_)
    X, y, _ = targets()
    at = {one.balance: one for one in decide.points}
    overall = next(one.estimate.value for one in report("targets").quality.overall if one.name == "Mean absolute error")
    assert at[decide.chosen].overall.value == pytest.approx(overall, rel=0.05)
    for balance in (0.0, 1.0):
        view = model.with_settings(balance=balance, blend=model.blend_, decision=model.decision_)
        off = np.abs(explain_out_of_bag(view, X).predict() - y[model.oob_rows_])
        rare = rare_targets(y)[model.oob_rows_]
        found = at[balance]
        assert found.overall.value == pytest.approx(np.average(off, weights=model._oob_weight), rel=1e-3)
        assert found.rare.value == pytest.approx(np.average(off[rare], weights=model._oob_weight[rare]), rel=1e-3)


def test_a_frame_an_array_and_a_pipeline_give_the_same_figures():
    X, y, _ = three_classes()
    plain = report("three")
    names = ["a", "b", "c", "d"]
    about = About(title=plain.title, target="y")
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        named = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(frame, y)
        found = collect(named, frame, y, about=about)
        assert [one.name for one in found.data.columns] == names
        assert replace(found.quality, scores=()) == replace(plain.quality, scores=())
        assert found.why.rows.cells == plain.why.rows.cells
    pipeline = make_pipeline(StandardScaler(), DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0))
    found = collect(pipeline.fit(X, y), X, y)
    assert found.why.rows.cells[0] == plain.why.rows.cells[0]  # in the user's values, not the scaled ones


def test_missing_values_dates_and_identifiers_are_shown_as_they_are():
    data = report("mixed")
    kinds = dict(zip(data.why.rows.names, data.why.rows.kinds, strict=True))
    assert sorted(kinds.values()) == ["date", "number", "number", "number", "number", "text"]
    assert "id" not in kinds
    assert None in [cell for line in data.why.rows.cells for cell in line]
    assert sum(one.missing > 0 for one in data.data.columns) == 1


def test_groups_widen_ranges():
    X, y, model = three_classes()
    alone = collect(model, X, y).quality.overall[-1].estimate
    twins = collect(model, X, y, groups=2 * y + (X[:, 3] > 0)).quality.overall[-1].estimate
    assert twins.value == alone.value
    assert twins.high - twins.low > 1.5 * (alone.high - alone.low)
    assert len(collect(model, X, y, groups=np.arange(len(y))).decide.group) == len(model.oob_rows_)


def test_too_few_cases_leave_no_figure():
    X, score = rows(150, 5)
    y = np.where(score >= np.sort(score)[-6], "rare", "common")
    model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    data = collect(model, X, y)
    part = next(one for one in data.quality.parts if one.name == "rare")
    assert part.first.cases == 6 < FEWEST
    assert part.first.value is part.first.low is part.coverage.value is None
    assert data.decide.target_rates == ()


def test_planted_label_errors_come_first_among_the_doubts():
    X, y, _ = two_classes()
    wrong = y.copy()
    flipped = np.flatnonzero((X[:, 0] + 0.7 * X[:, 1] ** 2 < 0.0) & (wrong == "no"))[::100][:5]
    wrong[flipped] = "yes"
    model = DSNAClassifier(CostSensitiveForestClassifier(20), random_state=0).fit(X, wrong)
    data = collect(model, X, wrong)
    listed = [data.why.rows.number[data.why.cases.row[one.case]] for one in data.suspects.doubts]
    assert len(set(flipped) & set(listed[:5])) >= 3


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_rows_that_were_not_held_out_are_looked_at_too(kind):
    X, y, model = two_classes() if kind == "classes" else targets()
    wrong, planted = y.copy(), np.argsort(-X[:, 0] - 0.7 * X[:, 1] ** 2)[5:30:2]
    wrong[planted] = "no" if kind == "classes" else np.median(y)
    model = of_a_sample(clone(model), X, wrong)
    looked = look_at_rows(model, X)
    unseen = np.setdiff1d(planted, model.oob_rows_)
    assert looked.scope == "all 1,500 rows"
    assert len(unseen) >= 5
    assert np.median(np.argsort(np.argsort(-looked.doubt))[unseen]) < 75
    data = collect(model, X, wrong).suspects
    further = looked.worst[~np.isin(looked.rows[looked.worst], model.oob_rows_)]
    assert [one.id for one in data.further] == [f"row {row}" for row in looked.rows[further]][:30]
    assert (data.n_further, data.looked_at) == (len(further), looked.scope)


def test_more_rows_than_are_looked_at(monkeypatch):
    X, _, model = two_classes()
    monkeypatch.setattr("dsna.report.suspects._MAX_ROWS", 200)
    looked = look_at_rows(model, X)
    assert looked.scope == "200 of 1,500 rows"
    assert np.all(np.diff(looked.rows) > 0)
    assert look_at_rows(model, X).rows.tolist() == looked.rows.tolist()


def test_held_out_rows_are_doubted_as_before():
    X, y, model = three_classes()
    looked = look_at_rows(model, X)
    answers = out_of_bag_answers(model, X, y, None, None)
    np.testing.assert_array_equal(looked.doubt[answers.rows], score_cases(answers).doubt)


def test_nearest_neighbours_and_added_classes_are_looked_at():
    X, y, _ = three_classes()
    model = DSNAClassifier(CostSensitiveForestClassifier(10), metric="euclidean", random_state=0).fit(X, y)
    model.add_samples(X[:2], [7, 7])
    assert look_at_rows(model, X).scope == "all 300 rows"


def test_a_lonely_corner_is_named_in_the_users_columns():
    rng = np.random.RandomState(0)
    X = np.concatenate([0.1 * rng.randn(400, 2), [12.0, 0.0] + 3.0 * rng.randn(60, 2)])
    y = (rng.rand(460) < 0.3).astype(int)
    model = DSNAClassifier(CostSensitiveForestClassifier(10), metric="euclidean", random_state=0).fit(X, y)
    regions = collect(model, X, y).suspects.regions
    assert regions
    assert "x0 above" in regions[0].conditions
    assert regions[0].distance > 1.5


def test_cases_are_bounded_and_keep_the_worst():
    data = report("two", cases=60)
    assert len(data.why.cases.row) == 60
    everything = report("two", cases=10_000)
    assert len(everything.why.cases.row) == everything.n_cases
    assert min(data.why.cases.likelihood) == min(everything.why.cases.likelihood)


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda X, y, model: (RandomForestClassifier(2).fit(X, y), X, y), "RandomForestClassifier"),
        (lambda X, y, model: (model, X, y[::-1]), "y differs from"),
        (lambda X, y, model: (model, X, y[:-1]), "y has shape"),
        (lambda X, y, model: (model, X[::-1], y), "differ from those that the model was fitted on"),
    ],
    ids=["another model", "another y", "a short y", "other rows"],
)
def test_what_does_not_belong_together_is_refused(change, problem):
    model, X, y = change(*three_classes())
    with pytest.raises(DSNAError, match=problem):
        collect(model, X, y)


def test_several_outputs_are_refused_in_a_sentence():
    X, score = rows(80)
    Y = np.stack([score, -score], axis=1)
    model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(X, Y)
    with pytest.raises(DSNAError, match="one output, but this model has 2"):
        collect(model, X, Y)


def test_scores_need_their_fields():
    X, y, model = three_classes()
    with pytest.raises(DSNAError, match="lacks low, high"):
        collect(model, X, y, scores=[{"method": "a", "metric": "b", "mean": 1.0}])
    with pytest.raises(DSNAError, match="groups has 3 entries"):
        collect(model, X, y, groups=[1, 2, 3])
