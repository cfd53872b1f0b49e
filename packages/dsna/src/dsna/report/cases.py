"""Selection of the cases that a page explains, and the training rows behind them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inspection.averaging import plain_average
from .answers import OutOfBagAnswers
from .data import ShownCases, WhySection
from .ranges import neighbor_spread
from .table import shown_rows
from .text import all_rounded, finite_or_none

NEIGHBORS = 6
#: Shares of the cases shown, by reason; the others are drawn at random.
_SHARES = {"doubtful": 0.1, "worst": 0.2, "surprising": 0.2, "missed": 0.15, "found": 0.15}


class CaseScores(NamedTuple):
    """Quality of the predictions of n cases.

    Attributes
    ----------
    likelihood : probability of the true class; in regression, error relative to the spread of targets around the case.
    confidence : probability of the prediction; empty in regression.
    loss : probability of the predicted class minus that of the true one if they differ; in regression, the error.
    correct : whether the class is correct, or the error is not above the mean error.
    plain_prediction, plain_share : prediction by plain averaging, and the share of this class.
    doubt : disagreement of the neighbours with the truth, from 0 to 1; see `class_doubt`.
    """

    likelihood: np.ndarray
    confidence: np.ndarray
    loss: np.ndarray
    correct: np.ndarray
    plain_prediction: np.ndarray
    plain_share: np.ndarray
    doubt: np.ndarray


def score_cases(answers: OutOfBagAnswers) -> CaseScores:
    """Compare the predictions with the truth."""
    rows = np.arange(len(answers.rows))
    plain_prediction, plain_share = plain_average(answers.explanation)
    if not answers.is_classification:
        error = np.abs(answers.predicted - answers.truth)
        scaled_error = scaled_errors(error, neighbor_spread(answers), answers.cases.weight)
        correct = error <= np.average(error, weights=answers.cases.weight)
        doubt = scaled_error / (1.0 + scaled_error)
        return CaseScores(scaled_error, np.empty(0), error, correct, plain_prediction, plain_share, doubt)
    proba = answers.proba
    likelihood, confidence = proba[rows, answers.truth], proba[rows, answers.predicted]
    doubt = class_doubt(proba, answers.truth, answers.model.class_prior_)
    correct = answers.predicted == answers.truth
    loss = np.where(correct, -1.0, confidence - likelihood)
    return CaseScores(likelihood, confidence, loss, correct, plain_prediction, plain_share, doubt)


def class_doubt(proba: np.ndarray, truth: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n,) disagreement of class probabilities (n, n_classes) with the class of a row, from 0 to 1.

    It is one minus the probability of the class, either in the population or with equally common classes, whichever is
    larger: rare rows have low probabilities in the population, common rows near rare ones with balanced classes.

    Examples
    --------
    >>> class_doubt(np.array([[0.9, 0.1]]), np.array([1]), np.array([0.9, 0.1])).round(6).tolist()
    [0.5]
    """
    rows = np.arange(len(proba))
    balanced = proba / np.maximum(prior, 1e-300)
    share = balanced / np.maximum(balanced.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(1.0 - np.maximum(share[rows, truth], proba[rows, truth]))


def scaled_errors(error: np.ndarray, spread: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) errors divided by the spread of targets around each row plus the mean spread."""
    scale = spread + np.average(spread, weights=weight)
    return np.asarray(error / np.where(scale > 0, scale, 1.0))


def select_cases(answers: OutOfBagAnswers, scores: CaseScores, n_shown: int) -> np.ndarray:
    """Select cases to show: the most doubtful, worst, most surprising and rare ones, and others at random."""
    n = len(answers.rows)
    if n_shown >= n:
        return np.arange(n)
    rare = answers.rare[answers.rows]
    surprise = -scores.likelihood if answers.is_classification else scores.likelihood
    rankings = {
        "doubtful": np.argsort(-scores.doubt, kind="stable"),
        "worst": np.argsort(-scores.loss, kind="stable"),
        "surprising": np.argsort(-surprise, kind="stable"),
        "missed": np.flatnonzero(rare & ~scores.correct),
        "found": np.flatnonzero(rare & scores.correct),
    }
    picks = [indices[: int(_SHARES[reason] * n_shown)] for reason, indices in rankings.items()]
    preferred = np.unique(np.concatenate(picks))
    remaining = np.setdiff1d(np.arange(n), preferred)
    random_cases = np.random.RandomState(0).permutation(remaining)[: n_shown - len(preferred)]
    return np.sort(np.concatenate([preferred, random_cases]))


def why_section(
    answers: OutOfBagAnswers, scores: CaseScores, case_numbers: np.ndarray, extra_rows: np.ndarray
) -> WhySection:
    """Data of given cases and of the training rows behind them; ``extra_rows`` are shown too."""
    explanations = answers.explanation[case_numbers]
    order, n_used = explanations.ordered()
    n_neighbors = np.minimum(n_used, NEIGHBORS)
    neighbors = [explanations.rows[i, order[i, : n_neighbors[i]]] for i in range(len(case_numbers))]
    weight = [explanations.weight[i, order[i, : n_neighbors[i]]] for i in range(len(case_numbers))]
    rows = np.unique(np.concatenate([answers.rows[case_numbers], extra_rows, *neighbors]))
    classification = answers.is_classification
    cases = ShownCases(
        row=_positions(rows, answers.rows[case_numbers]),
        predicted=all_rounded(answers.predicted[case_numbers], 6),
        likelihood=all_rounded(scores.likelihood[case_numbers]),
        confidence=all_rounded(scores.confidence[case_numbers]) if classification else (),
        rare=tuple(answers.rare[answers.rows[case_numbers]].astype(int).tolist()),
        correct=tuple(scores.correct[case_numbers].astype(int).tolist()),
        plain=all_rounded(scores.plain_prediction[case_numbers], 6),
        share=all_rounded(scores.plain_share[case_numbers]) if classification else (),
        neighbors=tuple(_positions(rows, values) for values in neighbors),
        weight=tuple(all_rounded(values, 3) for values in weight),
        n_neighbors=tuple(n_used.tolist()),
    )
    mean_loss = finite_or_none(float(np.average(scores.loss, weights=answers.cases.weight)))
    return WhySection(
        rows=shown_rows(answers.table, rows, answers.label),
        cases=cases,
        n_cases=len(answers.rows),
        usual_error=None if classification else mean_loss,
    )


def _positions(rows: np.ndarray, selected: np.ndarray) -> tuple[int, ...]:
    return tuple(np.searchsorted(rows, selected).tolist())
