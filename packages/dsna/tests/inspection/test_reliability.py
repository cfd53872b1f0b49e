"""Reliability diagrams show what was counted, and say what is wrong with their input."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

mpl.use("Agg")

from matplotlib import pyplot

from dsna.inspection.reliability import plot_reliability
from dsna.metrics.classes import equal_mass_bins

RNG = np.random.RandomState(0)
P = RNG.rand(400) ** 2
Y = np.where(RNG.rand(400) < P, "rare", "usual")


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def points(ax, name):
    line = next(line for line in ax.lines if str(line.get_label()).startswith(name))
    return line.get_xydata()


def test_points_are_means_of_bins_of_equal_mass():
    axes = plot_reliability({"p": P}, None, Y, bins=8)
    order = np.argsort(P)
    expected = [[P[part].mean(), np.mean(Y[part] == "rare")] for part in np.split(order, 8)]
    np.testing.assert_allclose(points(axes[0], "p"), expected)
    assert axes[0].get_legend().get_texts()[0].get_text() == f"p (Brier {np.mean((P - (Y == 'rare')) ** 2):.3f})"


def test_equal_probabilities_share_a_bin():
    proba = np.r_[np.zeros(70), np.full(30, 0.5)]
    mean, share, size = equal_mass_bins(proba, (np.arange(100) % 10 == 0).astype(float), 10)
    np.testing.assert_array_equal(mean, [0.0, 0.5])
    np.testing.assert_array_equal(size, [70, 30])
    np.testing.assert_allclose(share, 0.1)


def test_counts_below_hold_every_row():
    axes = plot_reliability({"p": P, "q": np.ones(400)}, None, Y, positive="rare")
    assert axes[1].get_yscale() == "log"
    heights = axes[1].patches[0].get_xy()[:, 1]
    assert np.histogram(P, 10, (0, 1))[0].max() == heights.max()


def test_classifiers_and_columns_of_probabilities_are_the_same():
    X = P[:, None]
    model = LogisticRegression().fit(X, Y)
    axes = plot_reliability({"model": model, "table": model.predict_proba(X)}, X, Y)
    np.testing.assert_array_equal(points(axes[0], "model"), points(axes[0], "table"))


def test_the_rarest_class_is_drawn_by_default():
    assert plot_reliability({"p": P}, None, Y)[0].get_ylabel() == "share of class rare"
    assert plot_reliability({"p": P}, None, Y, positive="usual")[0].get_ylabel() == "share of class usual"


def test_axes_given_are_used():
    _, ax = pyplot.subplots()
    assert plot_reliability({"p": P}, None, Y, ax=ax).tolist() == [ax]
    _, pair = pyplot.subplots(1, 2)
    assert plot_reliability({"p": P}, None, Y, ax=pair).tolist() == pair.tolist()


@pytest.mark.parametrize(
    "models, more, message",
    [
        ({"p": P[:5]}, {}, r"'p' has probabilities of shape \(5,\)"),
        ({"p": np.c_[P, P, P]}, {}, r"\(400, 2\), for the classes \['rare', 'usual'\]"),
        ({"p": 2 * P}, {}, r"outside \[0, 1\]"),
        ({"p": np.full(400, np.nan)}, {}, r"outside \[0, 1\]"),
        ({"p": np.c_[P, 1 - P]}, {"positive": "none"}, "positive='none' is not among"),
        ({"p": P}, {"bins": 0}, "bins=0"),
        ({"p": LogisticRegression().fit(P[:, None], Y)}, {}, "but X is None: pass the rows"),
    ],
)
def test_wrong_input_is_explained(models, more, message):
    with pytest.raises(ValueError, match=message):
        plot_reliability(models, None, Y, **more)


def test_matplotlib_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install dsna\[report\]"):
        plot_reliability({"p": P}, None, Y)
