"""Plots as scikit-learn Displays."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNAError, DSNARegressor
from dsna.inspection import BalanceCurveDisplay, ErrorByRangeDisplay, NeighborhoodDisplay, RecallByClassDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    matplotlib.pyplot.close("all")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0))
    return X, y, model.fit(X[::2], y[::2])


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, y, DSNARegressor(CostSensitiveForestRegressor(10), random_state=0).fit(X, y)


def test_recall_by_class_draws_what_it_holds(wine):
    X, y, _ = wine
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    display = RecallByClassDisplay.from_estimator(other, X[1::2], y[1::2])
    counts = np.bincount(y[1::2])
    assert [one.recall.cases for one in display.figures] == sorted(counts, reverse=True)
    np.testing.assert_allclose(display.line_.get_ydata(), [one.recall.value for one in display.figures])
    assert [label.get_text().split("\n")[0] for label in display.ax_.get_xticklabels()] == [
        str(one.name) for one in display.figures
    ]


def test_given_axes_are_drawn_on():
    figure, axes = matplotlib.pyplot.subplots(1, 2)
    y = np.repeat([0, 1], [40, 4])
    display = RecallByClassDisplay.from_predictions(y, y, ax=axes[0])
    assert display.ax_ is axes[0]
    assert display.figure_ is figure
    assert "too few cases to say" in [text.get_text() for text in axes[0].get_legend().get_texts()]


def test_error_by_range_is_the_mean_error_of_its_rows():
    rng = np.random.RandomState(0)
    y = rng.rand(400)
    said = y + np.where(y > 0.5, 0.4, 0.1)
    display = ErrorByRangeDisplay.from_predictions(y, said, bins=2)
    np.testing.assert_allclose(display.line_.get_ydata(), [0.1, 0.4], atol=0.01)
    fitted = ErrorByRangeDisplay.from_estimator(LinearRegression().fit(y[:, None], said), y[:, None], y, bins=4)
    assert len(fitted.figures) == 4
    with pytest.raises(DSNAError, match="must be one-dimensional"):
        ErrorByRangeDisplay.from_predictions(np.ones((3, 2)), np.ones((3, 2)))


def test_the_curve_of_balance_marks_the_model(diabetes):
    X, y, model = diabetes
    display = BalanceCurveDisplay.from_estimator(model, X, y)
    assert display.chosen == model.balance_
    assert display.balances == sorted({*(step / 10 for step in range(11)), model.balance_})
    overall = np.average(np.abs(model.oob_prediction_ - y[model.oob_rows_]), weights=model._oob_weight)
    here = display.overall[display.balances.index(model.balance_)].value
    assert here == pytest.approx(overall, rel=0.05)
    for line, figures in zip(display.lines_, (display.overall, display.rare), strict=True):
        np.testing.assert_allclose(line.get_ydata(), [one.value for one in figures])


def test_a_classifier_has_no_curve_of_balance(wine):
    X, y, model = wine
    with pytest.raises(DSNAError, match="needs a DSNARegressor"):
        BalanceCurveDisplay.from_estimator(model, X, y)


def test_a_neighbourhood_in_the_plane_keeps_distances_that_fit_into_it():
    apart = np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    display = NeighborhoodDisplay.from_predictions(apart, [0.5, 0.3, -0.2], ["a", "b", "a"])
    np.testing.assert_allclose(np.linalg.norm(display.places, axis=1), np.linalg.norm(apart, axis=1))
    assert display.shown == pytest.approx(1.0)
    with pytest.raises(DSNAError, match="apart must have shape"):
        NeighborhoodDisplay.from_predictions(apart, [1.0], ["a", "b", "a"])


def test_neighbourhoods_of_both_tasks(wine, diabetes):
    X, _, model = wine
    display = NeighborhoodDisplay.from_estimator(model, X, query=1)
    why = model[-1].explain(model[:-1].transform(X[1:2]))
    assert len(display.places) == int(why.ordered()[1][0])
    np.testing.assert_allclose(display.weight.sum(), why.weight.sum())
    X, _, model = diabetes
    assert NeighborhoodDisplay.from_estimator(model, X[:1]).figure_ is not None
    one = NeighborhoodDisplay.from_predictions(np.array([[1.0]]), [1.0], [2.0])
    np.testing.assert_allclose(np.abs(one.places), [[1.0, 0.0]])
    with pytest.raises(DSNAError, match="has no neighbours"):
        NeighborhoodDisplay.from_estimator(LinearRegression(), X)


def test_matplotlib_is_imported_when_something_is_drawn():
    code = "import sys, dsna.inspection; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
