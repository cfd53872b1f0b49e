"""Which cases a page explains, and the training rows behind each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..inspection.averaging import plain_average
from .answers import Answered
from .data import ShownCases, WhySection
from .ranges import neighbor_spread
from .table import shown_rows
from .text import all_rounded, known

NEIGHBORS = 6
#: Parts of the cases shown, by why they are shown; the rest is drawn at random.
_PARTS = {"doubtful": 0.1, "worst": 0.2, "surprising": 0.2, "missed": 0.15, "found": 0.15}


class Judged(NamedTuple):
    """How the answers to n cases turned out.

    Attributes
    ----------
    likelihood : probability of the truth; in regression the error in units of the spread around the case.
    confidence : probability of the prediction; empty in regression.
    loss : what "worst" goes by: probability of the wrong class less that of the truth, or the error.
    found : whether the class is right, or the error at most the mean one.
    plain, share : what plain averaging says, and the share of that class in it.
    doubt : how much the neighbours disagree with the truth, 1 for entirely: by the probabilities as they are and by
        those that classes would have if they were equally common.
    """

    likelihood: np.ndarray
    confidence: np.ndarray
    loss: np.ndarray
    found: np.ndarray
    plain: np.ndarray
    share: np.ndarray
    doubt: np.ndarray


def judged(at: Answered) -> Judged:
    """How the answers turned out."""
    n = np.arange(len(at.rows))
    plain, share = plain_average(at.why)
    if not at.is_classification:
        error = np.abs(at.predicted - at.truth)
        off = times_off(error, neighbor_spread(at), at.cases.weight)
        found = error <= np.average(error, weights=at.cases.weight)
        return Judged(off, np.empty(0), error, found, plain, share, off / (1.0 + off))
    proba = at.proba
    likelihood, confidence = proba[n, at.truth], proba[n, at.predicted]
    doubt = class_doubt(proba, at.truth, at.model.class_prior_)
    found = at.predicted == at.truth
    loss = np.where(found, -1.0, confidence - likelihood)
    return Judged(likelihood, confidence, loss, found, plain, share, doubt)


def class_doubt(proba: np.ndarray, truth: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """(n,) how much class probabilities (n, n_classes) contradict the class of a row, 1 for entirely.

    A rare row is unlikely as things are, and a common one near rare ones is, were all classes equally common: the
    larger of both probabilities counts.

    Examples
    --------
    >>> class_doubt(np.array([[0.9, 0.1]]), np.array([1]), np.array([0.9, 0.1])).round(6).tolist()
    [0.5]
    """
    n = np.arange(len(proba))
    balanced = proba / np.maximum(prior, 1e-300)
    share = balanced / np.maximum(balanced.sum(axis=1, keepdims=True), 1e-300)
    return np.asarray(1.0 - np.maximum(share[n, truth], proba[n, truth]))


def times_off(error: np.ndarray, spread: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) errors in units of the spread of targets around each row, of which the mean is added."""
    usual = spread + np.average(spread, weights=weight)
    return np.asarray(error / np.where(usual > 0, usual, 1.0))


def picked_cases(at: Answered, how: Judged, most: int) -> np.ndarray:
    """Cases to show: the most doubtful, worst, most surprising and rare ones, and others at random."""
    n = len(at.rows)
    if most >= n:
        return np.arange(n)
    rare = at.rare[at.rows]
    surprise = -how.likelihood if at.is_classification else how.likelihood
    order = {
        "doubtful": np.argsort(-how.doubt, kind="stable"),
        "worst": np.argsort(-how.loss, kind="stable"),
        "surprising": np.argsort(-surprise, kind="stable"),
        "missed": np.flatnonzero(rare & ~how.found),
        "found": np.flatnonzero(rare & how.found),
    }
    taken = [some[: int(_PARTS[why] * most)] for why, some in order.items()]
    picked = np.unique(np.concatenate(taken))
    rest = np.setdiff1d(np.arange(n), picked)
    drawn = np.random.RandomState(0).permutation(rest)[: most - len(picked)]
    return np.sort(np.concatenate([picked, drawn]))


def why_section(at: Answered, how: Judged, some: np.ndarray, further: np.ndarray) -> WhySection:
    """The cases ``some`` with the rows behind them; training rows ``further`` are shown too."""
    why = at.why[some]
    order, number = why.ordered()
    kept = np.minimum(number, NEIGHBORS)
    near = [why.rows[i, order[i, : kept[i]]] for i in range(len(some))]
    weight = [why.weight[i, order[i, : kept[i]]] for i in range(len(some))]
    rows = np.unique(np.concatenate([at.rows[some], further, *near]))
    classification = at.is_classification
    cases = ShownCases(
        row=_places(rows, at.rows[some]),
        predicted=all_rounded(at.predicted[some], 6),
        likelihood=all_rounded(how.likelihood[some]),
        confidence=all_rounded(how.confidence[some]) if classification else (),
        rare=tuple(at.rare[at.rows[some]].astype(int).tolist()),
        found=tuple(how.found[some].astype(int).tolist()),
        plain=all_rounded(how.plain[some], 6),
        share=all_rounded(how.share[some]) if classification else (),
        near=tuple(_places(rows, one) for one in near),
        weight=tuple(all_rounded(one, 3) for one in weight),
        behind=tuple(number.tolist()),
    )
    usual = None if classification else known(float(np.average(how.loss, weights=at.cases.weight)))
    return WhySection(rows=shown_rows(at.table, rows, at.label), cases=cases, n_cases=len(at.rows), usual_error=usual)


def _places(rows: np.ndarray, wanted: np.ndarray) -> tuple[int, ...]:
    return tuple(np.searchsorted(rows, wanted).tolist())
