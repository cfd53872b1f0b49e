"""Scores beside brute force, and as scikit-learn scorers."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, precision_score, recall_score
from sklearn.model_selection import cross_val_score

from dsna import DSNAError
from dsna.metrics import (
    SCORERS,
    balanced_absolute_error,
    expected_calibration_error,
    g_mean_score,
    interval_coverage_score,
    minority_precision_score,
    minority_recall_score,
    rare_target_absolute_error,
    rare_target_coverage_score,
    sera_error,
)
from dsna.metrics.relevance import TargetRelevance


@pytest.fixture
def classes():
    rng = np.random.RandomState(0)
    return rng.choice(3, 200, p=[0.7, 0.2, 0.1]), rng.choice(3, 200)


@pytest.fixture
def labels():
    rng = np.random.RandomState(1)
    y = rng.lognormal(size=300)
    return y, y + rng.normal(size=300)


def test_class_scores_agree_with_scikit_learn(classes):
    truth, predicted = classes
    recalls = recall_score(truth, predicted, average=None)
    assert g_mean_score(truth, predicted) == pytest.approx(np.prod(recalls) ** (1 / 3))
    assert minority_recall_score(truth, predicted) == pytest.approx(recalls[2])
    precisions = precision_score(truth, predicted, average=None)
    assert minority_precision_score(truth, predicted) == pytest.approx(precisions[2])
    assert minority_precision_score(truth, predicted, minority=0) == pytest.approx(precisions[0])


def test_precision_of_a_class_never_predicted():
    assert minority_precision_score([0, 0, 1], [0, 0, 0]) == 0.0
    assert minority_precision_score([0, 0, 1], [0, 0, 0], zero_division=1.0) == 1.0
    with pytest.raises(ValueError, match="must be one of the classes"):
        minority_precision_score([0, 0, 1], [0, 0, 0], minority=7)


def test_calibration_error_by_brute_force(classes):
    truth, _ = classes
    proba = np.random.RandomState(2).dirichlet(np.ones(3), 200)
    errors = []
    for label in range(3):
        total = 0.0
        for part in np.array_split(np.argsort(proba[:, label]), 10):
            total += len(part) / 200 * abs(np.mean(proba[part, label]) - np.mean(truth[part] == label))
        errors.append(total)
    assert expected_calibration_error(truth, proba) == pytest.approx(np.mean(errors))


def test_calibration_error_does_not_depend_on_the_order_of_rows():
    rng = np.random.RandomState(0)
    proba, truth = np.round(rng.rand(100), 1), rng.randint(2, size=100)
    shuffled = rng.permutation(100)
    assert expected_calibration_error(truth, proba) == pytest.approx(
        expected_calibration_error(truth[shuffled], proba[shuffled])
    )


def test_calibration_error_with_classes_that_are_not_there():
    proba = [[0.5, 0.25, 0.25]] * 4
    assert expected_calibration_error([0, 0, 1, 1], proba, labels=[0, 1, 2]) == pytest.approx(0.5 / 3)
    with pytest.raises(ValueError, match="labels="):
        expected_calibration_error([0, 0, 1, 1], proba)
    with pytest.raises(ValueError, match="bins"):
        expected_calibration_error([0, 1], [0.5, 0.5], bins=0)


def test_sera_is_the_area_under_the_errors_of_relevant_rows(labels):
    truth, predicted = labels
    phi = TargetRelevance(truth).evaluate(truth)
    steps = np.linspace(0, 1, 20001)
    ser = [np.sum((truth - predicted)[phi >= t] ** 2) for t in steps]
    assert sera_error(truth, predicted, y_train=truth) == pytest.approx(trapezoid(ser, steps), rel=1e-3)
    whole = sera_error(truth, predicted, relevance=lambda y: np.ones(len(y)), normalize=True)
    assert whole == pytest.approx(np.mean((truth - predicted) ** 2))


def test_sera_of_several_outputs_is_their_mean(labels):
    truth, predicted = labels
    both = sera_error(np.c_[truth, 2 * truth], np.c_[predicted, 2 * predicted], y_train=np.c_[truth, 2 * truth])
    one = sera_error(truth, predicted, y_train=truth)
    assert both == pytest.approx((1 + 4) / 2 * one)


def test_sera_says_what_it_lacks(labels):
    truth, predicted = labels
    with pytest.raises(ValueError, match="Pass y_train"):
        sera_error(truth, predicted)
    with pytest.raises(ValueError, match="between 0 and 1"):
        sera_error(truth, predicted, relevance=lambda y: y + 5)
    with pytest.raises(ValueError, match="one number"):
        sera_error(truth, predicted, relevance=lambda y: y[:3])


def test_relevance_grows_away_from_the_median(labels):
    relevance = TargetRelevance(labels[0])
    at = np.linspace(np.median(labels[0]), labels[0].max(), 50)
    assert np.all(np.diff(relevance.evaluate(at)) >= 0)
    assert relevance.evaluate([labels[0].max()])[0] == 1.0


def test_relevance_refuses_what_it_cannot_use():
    with pytest.raises(ValueError, match="unknown"):
        TargetRelevance([1.0, 2.0], kind="box")
    with pytest.raises(ValueError, match="finite targets"):
        TargetRelevance([1.0, np.nan])


@pytest.mark.parametrize(
    "score, rows, options, said",
    [
        (g_mean_score, ([0, 1], [0]), {}, "of the same length"),
        (g_mean_score, ([], []), {}, "at least one row"),
        (balanced_absolute_error, ([1.0, 2.0], [1.0]), {}, "must have the same shape"),
        (balanced_absolute_error, ([], []), {}, "not be empty"),
        (balanced_absolute_error, ([1.0, np.inf], [1.0, 2.0]), {}, "y_true contains NaN or infinity"),
        (balanced_absolute_error, ([1.0, 2.0], [1.0, 2.0]), {"bins": 0.5}, "positive integer"),
        (balanced_absolute_error, ([1.0, 2.0], [1.0, 2.0]), {"bins": [2, 1]}, "increasing"),
        (
            rare_target_absolute_error,
            ([1.0, 2.0], [1.0, 2.0]),
            {"y_train": [1, 2], "share": 0.0},
            "share must be above 0",
        ),
        (rare_target_absolute_error, ([1.0, 2.0], [1.0, 2.0]), {}, "Pass either y_train"),
        (
            rare_target_absolute_error,
            ([1.0, 2.0], [1.0, 2.0]),
            {"y_train": [[1, 2]]},
            "same number of outputs; got 2 and 1",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(score, rows, options, said):
    with pytest.raises(DSNAError, match=said):
        score(*rows, **options)


def test_label_errors_by_brute_force(labels):
    truth, predicted = labels
    error, edges = np.abs(truth - predicted), np.linspace(truth.min(), truth.max(), 11)
    bins = np.clip(np.digitize(truth, edges) - 1, 0, 9)
    expected = np.mean([error[bins == b].mean() for b in np.unique(bins)])
    assert balanced_absolute_error(truth, predicted) == pytest.approx(expected)
    rare = np.argsort(np.exp(-truth))[:30]  # a density that falls with the label
    assert rare_target_absolute_error(truth, predicted, density=lambda y: np.exp(-y)) == pytest.approx(
        error[rare].mean()
    )


def test_coverage_by_brute_force(labels):
    truth, predicted = labels
    bounds = np.stack([predicted - 1, predicted + 1], axis=1)
    inside = [low <= y <= high for y, (low, high) in zip(truth, bounds, strict=True)]
    assert interval_coverage_score(truth, bounds) == pytest.approx(np.mean(inside))
    rare = np.argsort(np.exp(-truth))[:30]
    found = rare_target_coverage_score(truth, bounds, density=lambda y: np.exp(-y))
    assert found == pytest.approx(np.mean(np.array(inside)[rare]))
    both = interval_coverage_score(np.c_[truth, truth], np.stack([bounds, bounds + 100], axis=1))
    assert both == pytest.approx(np.mean(inside) / 2)
    with pytest.raises(ValueError, match="two bounds"):
        interval_coverage_score(truth, bounds[:, :1])


def test_scorers_work_in_cross_validation():
    X, y = make_classification(200, weights=[0.8], flip_y=0.1, random_state=0)
    for name, scorer in SCORERS.items():
        if name == "neg_balanced_absolute_error":
            scores = cross_val_score(Ridge(), X, X[:, 0] ** 2, scoring=scorer)
        else:
            scores = cross_val_score(LogisticRegression(), X, y, scoring=scorer)
        assert np.all(scores <= 0) if name.startswith("neg") else np.all(scores >= 0)
        assert np.isfinite(scores).all()


def test_scores_that_need_training_labels_become_scorers():
    X, y = make_classification(200, random_state=0)[0], np.random.RandomState(0).lognormal(size=200)
    scorer = make_scorer(rare_target_absolute_error, greater_is_better=False, y_train=y)
    assert np.all(cross_val_score(Ridge(), X, y, scoring=scorer) < 0)
