"""Explanations: contents of the frames, the plot, and the estimators' predictions remade from the weights."""

import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from tests.small_models import build

from dsna import DSNAClassifier, DSNAError, DSNARegressor, presets
from dsna.inspection.explanation import Explanation, class_sums
from dsna.prediction.class_decision import Threshold

ROOT = Path(__file__).resolve().parents[2]
matplotlib = pytest.importorskip("matplotlib")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def pyplot():
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def of_classes() -> Explanation:
    """Two queries; the second has two rows and one padded entry, and one cluster of two."""
    return Explanation(
        kind="classification",
        rows=np.array([[5, 8, 2, 9], [3, 1, 0, 0]]),
        size=np.array([4, 2]),
        coefficient=np.array([[0.2, 0.7, 0.1, 0.0], [0.0, 1.0, 0.0, 0.0]]),
        proximity=np.array([[0.9, 0.6, 0.3, 0.1], [0.5, 0.4, 0.0, 0.0]]),
        weight=np.array([[0.5, 0.3, 0.1, 0.0], [0.25, 0.25, 0.0, 0.0]]),
        label=np.array([["yes", "no", "no", "yes"], ["no", "yes", "no", "no"]]),
        member=np.array(
            [
                [[True, False], [True, True], [False, True], [False, True]],
                [[True, False], [True, False], [False, False], [False, False]],
            ]
        ),
        share=np.array([[0.75, 0.25], [1.0, 0.0]]),
        hull_residual=np.array([[0.5, 0.25], [0.125, 0.0]]),
        objective=np.array([[1.0, 2.0], [3.0, 0.0]]),
        settled=np.array([[[1.0], [2.0], [0.0]], [[1.0], [0.0], [0.0]]]),
        steps=np.array([2, 1]),
        classes=np.array(["maybe", "no", "yes"]),
        rest=np.array([[0.1, 0.0, 0.0], [0.5, 0.0, 0.0]]),
        decision="proba",
    )


def of_labels(n_outputs: int = 1, decision: str = "mean") -> Explanation:
    """Two queries of three rows, the last of them with a negative weight or none."""
    label = np.array([[[1.0, 10.0], [3.0, 20.0], [4.0, 40.0]], [[2.0, 0.0], [4.0, 30.0], [8.0, 50.0]]])
    return Explanation(
        kind="regression",
        rows=np.array([[4, 7, 2], [6, 5, 1]]),
        size=np.array([3, 3]),
        coefficient=np.array([[0.25, 1.0, -0.25], [0.5, 0.5, 0.0]]),
        proximity=np.array([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]]),
        weight=np.array([[0.5, 0.75, -0.25], [0.25, 0.75, 0.0]]),
        label=label[:, :, :n_outputs],
        member=np.ones((2, 3, 1), dtype=bool),
        share=np.ones((2, 1)),
        hull_residual=np.zeros((2, 1)),
        objective=np.ones((2, 1)),
        settled=np.array([[[2.0, 20.0], [1.5, 15.0]], [[3.0, 25.0], [0.0, 0.0]]])[:, :, :n_outputs],
        steps=np.array([2, 1]),
        grid=np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 30.0]])[:, :n_outputs],
        decision=decision,
    )


def test_probabilities_are_the_weights_per_class_and_the_rest():
    why = of_classes()
    np.testing.assert_allclose(why.predict_proba(), [[0.1, 0.4, 0.5], [0.5, 0.25, 0.25]])
    assert why.predict().tolist() == ["yes", "maybe"]
    assert why.predict().dtype == why.classes.dtype


@pytest.mark.parametrize("decision, expected", [("mean", [1.75, 3.5]), ("median", [3.0, 4.0]), ("grid", [2.0, 4.0])])
def test_labels_follow_the_decision(decision, expected):
    np.testing.assert_array_equal(of_labels(decision=decision).predict(), expected)


def test_several_outputs_keep_their_columns():
    why = of_labels(2)
    np.testing.assert_array_equal(why.predict(), [[1.75, 10.0], [3.5, 22.5]])
    assert {"label_0", "label_1"} <= set(why.frame().columns)
    assert {"label_0", "label_1"} <= set(why.settling().columns)
    clusters = why.clusters()
    np.testing.assert_allclose(clusters["label_1"], [70 / 3, 80 / 3])


def test_regression_has_no_probabilities():
    with pytest.raises(AttributeError, match="use predict"):
        of_labels().predict_proba()


def test_a_remainder_restores_probabilities_to_the_last_bit():
    rng = np.random.default_rng(0)
    classes = np.array([1, 2, 3])
    label = rng.choice(classes, size=(200, 40))
    label[label == 3] = 1
    label[:100] = np.where(label[:100] == 2, 1, label[:100])
    proba = np.full((200, 3), 1 / 3)
    share = rng.random((200, 40))
    part = proba / np.maximum(class_sums(share, label, classes), 1e-9)
    weight = share * np.take_along_axis(part, label - 1, axis=1)
    sums = class_sums(weight, label, classes)
    assert np.any(sums[:, 0] != proba[:, 0])
    np.testing.assert_array_equal(sums + (proba - sums), proba)


def test_frame_of_classes():
    frame = of_classes().frame()
    assert list(frame.columns) == ["query", "row", "label", "coefficient", "weight", "proximity", "clusters"]
    # Row 9 has neither a coefficient nor a weight, row 0 is padding; of equal weights the larger coefficient leads.
    assert frame["query"].tolist() == [0, 0, 0, 1, 1]
    assert frame["row"].tolist() == [5, 8, 2, 1, 3]
    assert frame["label"].tolist() == ["yes", "no", "no", "yes", "no"]
    assert frame["coefficient"].tolist() == [0.2, 0.7, 0.1, 1.0, 0.0]
    assert frame["weight"].tolist() == [0.5, 0.3, 0.1, 0.25, 0.25]
    assert frame["proximity"].tolist() == [0.9, 0.6, 0.3, 0.4, 0.5]
    assert frame["clusters"].tolist() == ["0", "0,1", "1", "0", "0"]


def test_frame_keeps_rows_with_either_number_and_sorts_by_size():
    frame = of_labels().frame()
    assert frame["row"].tolist() == [7, 4, 2, 5, 6]
    assert frame["weight"].tolist() == [0.75, 0.5, -0.25, 0.75, 0.25]
    why = of_labels()
    why.weight[0, 2] = 0.0
    assert why.frame(0)["row"].tolist() == [7, 4, 2]
    why.coefficient[0, 2] = 0.0
    assert why.frame(0)["row"].tolist() == [7, 4]


@pytest.mark.parametrize("query, expected", [(1, [1]), (-1, [1]), ([1, 0], [1, 0]), ([0], [0])])
def test_frame_of_chosen_queries(query, expected):
    frame = of_classes().frame(query, largest=1)
    assert frame["query"].tolist() == expected
    assert frame["row"].tolist() == [{0: 5, 1: 1}[i] for i in expected]
    assert frame.index.tolist() == list(range(len(expected)))


def test_frame_refuses_unknown_queries():
    for ask in (of_classes().frame, of_classes().report, of_classes().plot):
        with pytest.raises(DSNAError, match="no query 2 among the 2 explained") as caught:
            ask(2)
        assert isinstance(caught.value, IndexError)


def test_clusters():
    clusters = of_classes().clusters()
    assert list(clusters.columns) == [
        "query", "cluster", "size", "share", "hull_residual", "objective", "label",
    ]  # fmt: skip
    assert clusters["query"].tolist() == [0, 0, 1]
    assert clusters["cluster"].tolist() == [0, 1, 0]
    assert clusters["size"].tolist() == [2, 3, 2]
    assert clusters["share"].tolist() == [0.75, 0.25, 1.0]
    assert clusters["hull_residual"].tolist() == [0.5, 0.25, 0.125]
    assert clusters["objective"].tolist() == [1.0, 2.0, 3.0]
    # Ties go to the class that sorts first.
    assert clusters["label"].tolist() == ["no", "no", "no"]
    np.testing.assert_allclose(of_labels().clusters()["label"], [8 / 3, 14 / 3])


def test_padding_belongs_to_no_cluster():
    why = of_classes()
    why.member[1] = True
    assert why.clusters()["size"].tolist() == [2, 3, 2, 2]


def test_settling():
    frame = of_classes().settling()
    assert frame["query"].tolist() == [0, 0, 1]
    assert frame["step"].tolist() == [0, 1, 0]
    assert frame["label"].tolist() == ["no", "yes", "no"]
    assert of_labels().settling()["label"].tolist() == [2.0, 1.5, 3.0]


def test_one_query_of_many():
    for why in (of_classes(), of_labels(), of_labels(2, "grid")):
        assert len(why) == 2
        parts = list(why)
        assert [len(part) for part in parts] == [1, 1]
        np.testing.assert_array_equal(np.concatenate([part.predict() for part in parts]), why.predict())
        np.testing.assert_array_equal(why[-1].rows, why.rows[1:])
        np.testing.assert_array_equal(why[::-1].predict(), why.predict()[::-1])
        assert len(why[np.array([True, False])]) == 1
        with pytest.raises(IndexError):
            why[2]


def decided(**fields) -> Explanation:
    """The first query, in which a probability of 0.5 is decided with a factor of ten for "yes"."""
    why = replace(of_classes()[0], classes=np.array(["no", "yes"]), rest=np.array([[0.1, 0.0]]), **fields)
    return replace(why, gain=np.diag([0.1, 1.0]), threshold=Threshold("yes", 1 / 11))


def test_rows_stand_by_what_they_add_to_the_decision_and_the_text_says_from_when_on_it_is_yes():
    why = decided(weight=np.array([[0.06, 0.5, 0.25, 0.04]]))
    lines = why.report(largest=2).splitlines()
    assert lines[0] == "Query 0: predicted yes (probability 0.1; yes from 0.0909 on)"
    assert lines[1] == (
        "2 of 4 training rows by contribution to the decision (rows of yes count 10 times), with 66% of the weight"
    )
    assert lines[2].split() == ["query", "0", "row", "5", "row", "8"]
    assert why.ordered()[0][0].tolist() == [0, 1, 3, 2]  # .06, .05, .04 and .025
    assert why.frame()["weight"].tolist() == [0.5, 0.25, 0.06, 0.04]
    by_votes = replace(why, votes=np.array([[0.5, 0.5]]))
    assert by_votes.ordered()[0][0].tolist() == [1, 2, 0, 3]


def test_texts_call_rows_by_given_numbers_and_frames_do_not():
    why = decided()
    numbered = replace(why, numbers=why.rows + 100)
    assert numbered.row_names(0, np.array([0, 1])) == ["105", "108"]
    assert "row 105" in numbered.report()
    assert "row 5 " not in numbered.report()
    assert numbered.frame()["row"].tolist() == why.frame()["row"].tolist()


def test_an_opinion_without_any_say_is_named_so():
    logits = np.array([[[0.0, 0.0], [-1.5, -0.25]]])
    line = decided(voices=["coefficients", "forest"], logits=logits).report().splitlines()[-2]
    assert line == "log odds against the next class: coefficients (not used), forest +1.25"


def test_repr():
    assert repr(of_classes()).splitlines() == [
        "Explanation of 2 queries (classification, proba)",
        "  query 0: yes (probability 0.5) by rows (weights) 5 (0.5), 8 (0.3), 2 (0.1)",
        "  query 1: maybe (probability 0.5) by rows (weights) 1 (0.25), 3 (0.25)",
    ]
    assert repr(of_labels(2)[0]).splitlines() == [
        "Explanation of 1 query (regression, mean)",
        "  query 0: (1.75, 10) by rows (weights) 7 (0.75), 4 (0.5), 2 (-0.25)",
    ]
    many = repr(of_labels()[np.zeros(9, dtype=int)]).splitlines()
    assert len(many) == 7
    assert many[-1] == "  ..."


@pytest.mark.parametrize("make", [of_classes, of_labels, lambda: of_labels(2, "median")])
@pytest.mark.parametrize("query", [0, -1])
def test_plot(make, query, pyplot):
    ax = make().plot(query, largest=2)
    assert len(ax.figure.axes) == 2
    assert ax.figure.axes[0] is ax
    assert len(ax.get_yticklabels()) == 2
    assert f"Query {query % 2}: predicted" in ax.figure.get_suptitle()
    assert "feedback" not in ax.figure.get_suptitle()
    ax.figure.canvas.draw()


def texts(artists):
    return [artist.get_text() for artist in artists]


def test_plot_names_rows_and_labels(pyplot):
    rows = of_classes().plot(0)
    decision = rows.figure.axes[1]
    assert texts(rows.get_yticklabels()) == ["row 5:  yes", "row 8:  no", "row 2:  no"]
    assert texts(decision.get_yticklabels()) == ["maybe", "no", "yes"]
    assert texts(rows.get_legend().get_texts()) == ["weight, class no", "weight, class yes", "coefficient"]
    assert texts(decision.get_legend().get_texts()) == ["weights of the training rows", "not due to any row"]
    assert "0.500 predicted" in texts(decision.texts)
    rows = of_labels().plot(0)
    decision = rows.figure.axes[1]
    assert texts(rows.get_yticklabels()) == ["row 7:  3", "row 4:  1", "row 2:  4"]
    assert "prediction 1.75\n(weighted mean)" in texts(decision.get_legend().get_texts())
    assert rows.figure.get_suptitle() == "Query 0: predicted 1.75"
    for panel in (rows, decision):
        assert panel.get_xlabel()
        assert panel.get_ylabel()


def test_plot_names_rows_by_their_identifiers(pyplot):
    why = of_labels().beside(np.zeros((2, 1)), id=[f"day {i}" for i in range(8)])
    ax = why.plot(0)
    assert texts(ax.get_yticklabels()) == ["day 7:  3", "day 4:  1", "day 2:  4"]
    assert ax.get_ylabel() == "id:  target"


def test_plot_on_given_axes(pyplot):
    _, own = pyplot.subplots(1, 2)
    assert of_classes().plot(ax=own) is own[0]
    assert own[1].get_xlabel() == "predicted probability"
    figure, one = pyplot.subplots()
    assert of_labels().plot(ax=one) is one
    assert figure.axes == [one]
    assert one.get_title().startswith("Query 0: predicted 1.75")


def test_plot_is_saved_and_never_shown(pyplot, monkeypatch, tmp_path):
    monkeypatch.setattr(pyplot, "show", lambda *_: pytest.fail("shown"))
    of_classes().plot().figure.savefig(tmp_path / "why.png")
    assert (tmp_path / "why.png").stat().st_size > 1000


def test_plot_of_an_empty_neighbourhood(pyplot):
    for why in (of_classes(), of_labels()):
        why.size[:] = 0
        for name in ("weight", "coefficient"):
            getattr(why, name)[:] = 0.0
        assert len(why.frame()) == 0
        assert len(why.clusters()) == 0
        why.plot().figure.canvas.draw()


def test_plot_of_many_classes(pyplot):
    why = of_classes()
    why.classes = np.array([f"class {c:02d}" for c in range(30)])
    why.label = why.classes[np.arange(8).reshape(2, 4)]
    why.rest = np.full((2, 30), 0.001)
    decision = why.plot().figure.axes[1]
    assert len(decision.get_yticklabels()) == 15
    assert "15 of 30 classes" in decision.get_title()


def marked(why):
    """The probabilities that the plot marks as predicted, by the classes beside them."""
    decision = why.plot().figure.axes[1]
    names = texts(decision.get_yticklabels())
    return [name for name, text in zip(names, texts(decision.texts), strict=True) if "predicted" in text]


@pytest.mark.parametrize("decision", ["balanced", "recall>=.95", "precision>=.5", "paper", [[0, 1], [30, 0]]], ids=str)
def test_plot_marks_what_the_decision_predicts(pyplot, decision):
    X, y = make_classification(300, 5, weights=[0.9], flip_y=0.1, random_state=0)
    names = np.array(["no", "yes"])[y]
    model = build(DSNAClassifier, n_estimators=8, random_state=0).fit(X[:200], names[:200]).with_decision(decision)
    every = model.explain(X[200:])
    unlikely = np.flatnonzero(every.predict() != model.classes_[every.predict_proba().argmax(axis=1)])
    assert len(unlikely) > 0 or decision == "paper"
    for i in (0, *unlikely[:2]):
        why = every[i]
        said = why.predict()[0]
        assert marked(why) == [said]
        assert f"predicted {said} " in why.plot().figure.get_suptitle()
        assert f"predicted {said} " in why.report()


def test_plot_shows_an_unlikely_class_that_is_predicted(pyplot):
    why = of_classes()[0]
    why.classes = np.array([f"class {c:02d}" for c in range(30)])
    why.label = why.classes[np.array([[5, 6, 6, 5]])]
    why.rest = np.full((1, 30), 0.01)
    gain = np.ones(30)
    gain[29] = 1000.0
    why.gain = np.diag(gain)
    assert why.predict().tolist() == ["class 29"]
    assert marked(why) == ["class 29"]
    assert len(why.plot().figure.axes[1].get_yticklabels()) == 15


@pytest.mark.parametrize("kind", [DSNAClassifier, DSNARegressor])
@pytest.mark.parametrize("blend", [0.5, 1.0])
def test_plot_draws_coefficients_where_answers_depend_on_them(pyplot, kind, blend):
    X, y = make_classification(150, 4, random_state=0)
    model = build(kind, n_estimators=5, blend=blend, random_state=0).fit(X[:100], y[:100])
    ax = model.explain(X[100:101]).plot()
    used = "coefficient" in texts(ax.get_legend().get_texts())
    assert used == (blend < 1.0)
    assert ("coefficient" in ax.get_xlabel()) == used
    assert len([patch for patch in ax.patches if patch.get_facecolor()[3] == 0.0]) > 0 or not used


@pytest.mark.parametrize("length", [3, 25, 80])
def test_plot_keeps_its_titles_apart(pyplot, length):
    why = of_classes()
    why.classes = np.array([f"{'n' * length}o", f"{'y' * length}es"])
    why.label, why.rest = why.classes[np.array([[1, 0, 0, 1], [0, 1, 0, 0]])], np.zeros((2, 2))
    why.gain, why.threshold = np.diag([0.07, 1.0]), Threshold(why.classes[1], 0.0654)
    figure = why.plot().figure
    figure.canvas.draw()
    titles = [figure._suptitle, *(panel.title for panel in figure.axes)]
    boxes = [title.get_window_extent() for title in titles]
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[k + 1 :])


def test_missing_extras_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    needs = {"frame": "pandas", "clusters": "pandas", "settling": "pandas", "plot": "matplotlib"}
    for method, package in needs.items():
        with pytest.raises(ImportError, match=rf"needs {package}: run `pip install dsna\[report\]`"):
            getattr(of_labels(), method)()


@pytest.mark.parametrize("extra", ["app", "report"])
def test_extras_bring_what_explanations_take(extra):
    """Modules that are imported when frames are made and pictures drawn."""
    asked = set()
    for path in (ROOT / "src" / "dsna" / "inspection").rglob("*.py"):
        asked |= set(re.findall(r'import_extra\("(\w+)', path.read_text("utf-8")))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert asked == {"pandas", "matplotlib"}
    assert asked <= {re.match(r"[\w-]+", package)[0] for package in extras[extra]}


def test_import_brings_no_extras():
    # scikit-learn may import pandas on its own.
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
import sklearn.metrics, sklearn.neighbors
before = set(sys.modules)
import dsna.inspection.explanation
assert not {{"pandas", "matplotlib", "numba"}} & (set(sys.modules) - before)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


SETTINGS = [{}, {"n_clusters": 2}, {"n_clusters": 2, "selection": "best", "max_iter": 5, "hull_energy": 0.9}]


def imbalanced(n_classes: int = 3):
    return make_classification(
        n_samples=240, n_features=6, n_informative=4, n_redundant=0, n_classes=n_classes,
        weights=[0.7, 0.2, 0.1][:n_classes], flip_y=0.1, random_state=3,
    )  # fmt: skip


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("names", [None, ["rare", "common", "middling"]])
def test_weights_remake_the_classifier(balance, setting, names):
    X, y = imbalanced()
    y = y if names is None else np.array(names)[y]
    model = build(DSNAClassifier, n_estimators=20, random_state=0, balance=balance, **setting).fit(X[:180], y[:180])
    why = model.explain(X[180:])
    np.testing.assert_array_equal(why.predict(), model.predict(X[180:]))
    np.testing.assert_allclose(why.predict_proba(), model.predict_proba(X[180:]), rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(np.concatenate([one.predict() for one in why]), why.predict())
    check_fields(why, model)
    inside = np.arange(why.rows.shape[1]) < why.size[:, None]
    np.testing.assert_array_equal(why.label[inside], y[:180][why.rows[inside]])


def test_weights_remake_the_vote_of_the_paper():
    X, y = imbalanced()
    model = build(DSNAClassifier, n_estimators=20, random_state=0, decision="paper", blend=0.0).fit(X[:180], y[:180])
    np.testing.assert_array_equal(model.explain(X[180:]).predict(), model.predict(X[180:]))


def test_ties_between_classes_are_broken_alike():
    # The paper's vote often ends level; sums of weights that are off by a rounding would then name another class.
    rng = np.random.default_rng(22)
    X, y, Q = rng.normal(size=(120, 3)), rng.integers(0, 3, 120), rng.normal(size=(300, 3))
    model = (
        DSNAClassifier(**presets.paper("classification"), random_state=0)
        .set_params(forest__n_estimators=5, tune=None)
        .fit(X, y)
    )
    why = model.explain(Q)
    assert np.any(np.sum(why.votes == why.votes.max(axis=1, keepdims=True), axis=1) > 1)
    np.testing.assert_array_equal(why.predict_proba(), model.predict_proba(Q))
    np.testing.assert_array_equal(why.predict(), model.predict(Q))


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("decision", ["mean", "median", "grid"])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("n_clusters", [1, 2])
def test_weights_remake_the_regressor(balance, decision, n_outputs, n_clusters):
    X, y = make_regression(200, 5, n_targets=n_outputs, noise=5.0, random_state=1)
    y = np.round(y / 20.0)
    model = build(
        DSNARegressor, n_estimators=20, random_state=0, balance=balance, decision=decision, n_clusters=n_clusters
    ).fit(X[:150], y[:150])
    why = model.explain(X[150:])
    assert why.decision == decision
    np.testing.assert_array_equal(why.predict(), model.predict(X[150:]))
    np.testing.assert_array_equal(np.concatenate([one.predict() for one in why]), why.predict())
    check_fields(why, model)


@pytest.mark.parametrize("setting", SETTINGS)
def test_weights_remake_a_regressor_that_chooses(setting):
    X, y = make_regression(200, 5, noise=5.0, random_state=1)
    model = build(DSNARegressor, n_estimators=20, random_state=0, **setting).fit(X[:150], y[:150])
    why = model.explain(X[150:])
    np.testing.assert_array_equal(why.predict(), model.predict(X[150:]))
    assert len(why.settling()) == why.steps.sum()
    assert np.all(why.steps >= (2 if "max_iter" in setting else 1))


def check_fields(why: Explanation, model) -> None:
    """What holds for every explanation of a fitted model."""
    n, width = why.rows.shape
    inside = np.arange(width) < why.size[:, None]
    for name in ("coefficient", "proximity", "weight"):
        values = getattr(why, name)
        assert values.shape == (n, width)
        assert np.all(values[~inside] == 0.0)
    np.testing.assert_allclose(why.coefficient.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(why.share.sum(axis=1), 1.0, atol=1e-9)
    assert why.member.shape == (n, width, model.approximation_.n_clusters)
    assert np.all(why.member[inside].any(axis=1))
    frame = why.frame()
    assert np.all((frame["weight"] != 0.0) | (frame["coefficient"] != 0.0))
    assert frame.groupby("query")["weight"].apply(lambda w: w.abs().is_monotonic_decreasing).all()
