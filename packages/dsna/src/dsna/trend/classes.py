"""Smooth models of the classes, cross-fitted: logistic regression on the inputs and on radial functions of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import has_fit_parameter

from .._utils.errors import DSNAError
from .._utils.invariants import STEEPEST, Array, Checked, Part, require
from .._utils.sampling import stratified_sample
from ..forest.scaling import Scaling
from .features import Basis

_FEWEST_ROWS = 50
_MOST_ROWS = 4000
_LANDMARKS = 100
_WIDTH = 1.0
_PENALTY = 1.0
_COST = 0.5  # power of the inverse class share that rows weigh
_TOLERANCE, _MOST_STEPS = 1e-5, 300


class ClassRows(NamedTuple):
    """What a trend of classes is learned from; n rows."""

    X: np.ndarray  # (n, d) as given
    code: np.ndarray  # (n,) class numbers
    weight: np.ndarray  # (n,) sample weights
    fold: np.ndarray  # (n,) held-out fold

    def part(self, some: np.ndarray) -> ClassRows:
        """Some of the rows."""
        return ClassRows(*(a[some] for a in self))


class ClassTrend(Checked):
    """Logistic regression of the classes.

    Attributes
    ----------
    basis : the functions that it is linear in.
    slopes, intercept : (functions, classes), (classes,) of the logarithms of the probabilities, up to a common term.
    """

    FIELDS = {
        "basis": Part("Basis", "features"),
        "slopes": Array("float64", "functions, classes", -STEEPEST, STEEPEST),
        "intercept": Array("float64", "classes", -STEEPEST, STEEPEST),
    }
    NOT_EMPTY = ("classes",)
    kind = "logistic"

    basis: Basis
    slopes: np.ndarray
    intercept: np.ndarray

    def __init__(self, basis: Basis, slopes: np.ndarray, intercept: np.ndarray):
        self.basis, self.slopes, self.intercept = basis, slopes, intercept
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(sizes["functions"] == self.basis.n_functions, "ClassTrend.slopes does not fit the basis")

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """(n, n_classes) probabilities at rows on the common scale; those of a row depend on no other row."""
        return np.asarray(softmax(self.basis.product(X, self.slopes) + self.intercept, axis=1))


class OtherClassTrend:
    """A fitted classifier in place of a ``ClassTrend``.

    Attributes
    ----------
    kind : name of the classifier's class.
    model : the classifier, fitted on rows on the common scale and class numbers.
    """

    def __init__(self, model: Any, n_classes: int):
        self.kind = type(model).__name__
        self.model = model
        self.n_classes = n_classes

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """(n, n_classes) probabilities at rows on the common scale."""
        proba = np.asarray(self.model.predict_proba(X), dtype=np.float64)
        if proba.shape != (len(X), self.n_classes) or not np.all((proba >= 0.0) & (proba <= 1.0 + 1e-6)):
            raise DSNAError(
                f"trend={self.model!r} does not give {self.n_classes} probabilities between 0 and 1 for each row: pass "
                "a classifier that does, or trend='logistic'."
            )
        return proba


def widened(proba: np.ndarray, known: np.ndarray, vote: np.ndarray) -> np.ndarray:
    """(n, n_classes) probabilities of all classes, where a model knows only some: the others have what the vote says.

    Examples
    --------
    >>> import numpy as np
    >>> widened(np.array([[0.9, 0.1]]), np.array([0, 2]), np.array([[0.5, 0.2, 0.3]]))
    array([[0.72, 0.2 , 0.08]])
    """
    out = vote.copy()
    out[:, known] = 0.0
    out[:, known] = proba * (1.0 - out.sum(axis=1, keepdims=True))
    return out


def fit_class_trend(
    trend: Any, rows: ClassRows, scaling: Scaling, asked: np.ndarray, vote: np.ndarray
) -> tuple[Any, np.ndarray]:
    """A trend learned from all rows, and what trends that have not seen them say of the rows asked.

    Parameters
    ----------
    trend : "logistic" or a classifier of scikit-learn.
    scaling : the common scale; of a large table, only the rows that are used are put on it.
    asked : (m,) numbers of rows.
    vote : (m, n_classes) what the forest says of them, which counts for classes that a fold alone has.

    Returns
    -------
    trend : ClassTrend, what stands in for it, or None where rows or classes are too few.
    own : (m, n_classes) probabilities of the rows asked, learned without their fold.
    """
    learn = _fit_logistic if isinstance(trend, str) else _learner(trend)
    rng = np.random.RandomState(0)
    some, stands_for = stratified_sample(rows.code, _MOST_ROWS if isinstance(trend, str) else len(rows.code), rng)
    few = rows.part(some)
    few = few._replace(X=scaling.transform(few.X), weight=few.weight * stands_for).part(few.weight > 0)
    own = vote.copy()
    if len(few.code) < _FEWEST_ROWS or np.ptp(few.code) == 0:
        return None, own
    for b in np.unique(rows.fold[asked]):
        kept = few.part(few.fold != b)
        known, kept = _numbered(kept)
        if len(known) > 1:
            side = rows.fold[asked] == b
            proba = learn(kept).probabilities(scaling.transform(rows.X[asked[side]]))
            own[side] = widened(proba, known, vote[side])
    known, few = _numbered(few)
    return (learn(few) if len(known) == vote.shape[1] else None), own


def _numbered(rows: ClassRows) -> tuple[np.ndarray, ClassRows]:
    """The classes of the rows, and the rows with classes numbered among these."""
    known, code = np.unique(rows.code, return_inverse=True)
    return known, rows._replace(code=code)


def _fit_logistic(rows: ClassRows) -> ClassTrend:
    """Logistic regression in which rows of rare classes weigh more."""
    picked = np.random.RandomState(0).permutation(len(rows.X))[:_LANDMARKS]
    basis = Basis(rows.X, _WIDTH, picked, linear=True)
    columns = basis.columns(rows.X, picked)
    share = np.bincount(rows.code, weights=rows.weight) / rows.weight.sum()
    weight = rows.weight * share[rows.code] ** -_COST
    model = LogisticRegression(C=1.0 / _PENALTY, tol=_TOLERANCE, max_iter=_MOST_STEPS)
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # a trend that has not settled is an opinion all the same
        model.fit(basis.functions(rows.X) @ columns, rows.code, sample_weight=weight / weight.mean())
    slopes, intercept = model.coef_.T, model.intercept_
    if len(share) == 2:  # one column for the second class against the first
        slopes, intercept = np.hstack([0.0 * slopes, slopes]), np.append(0.0, intercept)
    return ClassTrend(basis, columns @ slopes, intercept)


def _learner(estimator: Any) -> Callable[[ClassRows], OtherClassTrend]:
    """Fits clones of a classifier."""

    def learn(rows: ClassRows) -> OtherClassTrend:
        weight = {"sample_weight": rows.weight} if has_fit_parameter(estimator, "sample_weight") else {}
        return OtherClassTrend(clone(estimator).fit(rows.X, rows.code, **weight), rows.code.max() + 1)

    return learn
