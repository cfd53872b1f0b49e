"""The report on rebalancing: its figures by hand, its words by what they say."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from dsna import CostSensitiveForestClassifier, DSNAClassifier, DSNAError, DSNARegressor
from dsna.inspection import imbalance_report


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(500, 6, n_informative=4, weights=[0.9], flip_y=0.06, class_sep=0.8, random_state=0)
    return X, np.where(y == 1, "fraud", "fine")


@pytest.fixture(scope="module")
def model(rows):
    return DSNAClassifier(CostSensitiveForestClassifier(15), random_state=0).fit(*rows)


def test_figures_are_those_of_the_out_of_bag_predictions(model, rows):
    report = imbalance_report(model)
    assert report.rare == "fraud"
    assert (report.n_rows, report.n_rare) == (500, np.sum(rows[1] == "fraud"))
    truth = rows[1][model.oob_rows_]
    for name, balance in (("population", 0.0), ("balanced", 1.0)):
        said = model.with_decision(balance=balance).oob_prediction_
        found = report.figures[name]
        assert found["recall of fraud"][0] == pytest.approx(np.mean(said[truth == "fraud"] == "fraud"))
        assert found["precision of fraud"][0] == pytest.approx(np.mean(truth[said == "fraud"] == "fraud"))
        assert found["accuracy"][0] == pytest.approx(np.mean(truth == said))
        assert 0.0 < found["recall of fraud"][1] < 0.2
        assert report.hits[name] == np.sum((truth == said) & (said == "fraud"))
    assert report.figures["balanced"]["recall of fraud"] > report.figures["population"]["recall of fraud"]
    frame = report.frame()
    assert frame.columns.tolist() == ["decision", "measure", "value", "std"]
    assert len(frame) == 8


def test_it_says_so_in_words(model):
    text = str(imbalance_report(model))
    assert text.startswith("How rare: fraud has ")
    assert "too few for a second digit" in text
    assert "more false alarms" in text
    assert "imbalance_report(model, X, y)" in text


def test_more_rows_help_where_they_did(rows):
    model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(*rows)
    report = imbalance_report(model, *rows)
    assert [n for n, _, _ in report.curve] == [int(0.25 * report.n_rare), int(0.5 * report.n_rare), report.n_rare]
    assert report.curve[-1][1] == pytest.approx(model.oob_balanced_accuracy_)
    assert "Balanced accuracy by rows of fraud" in str(report)


def test_few_rare_rows_tell_nothing_about_more_of_them(rows):
    X, y = rows
    kept = np.r_[np.flatnonzero(y == "fine"), np.flatnonzero(y == "fraud")[:6]]
    model = DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0).fit(X[kept], y[kept])
    assert "cannot be told from 6 rows" in str(imbalance_report(model, X[kept], y[kept]))


def test_what_it_cannot_report_on(model, rows):
    with pytest.raises(DSNAError, match="DSNARegressor does not predict classes"):
        imbalance_report(DSNARegressor())
    with pytest.raises(DSNAError, match="X has 500 rows and y 499"):
        imbalance_report(model, rows[0], rows[1][1:])
