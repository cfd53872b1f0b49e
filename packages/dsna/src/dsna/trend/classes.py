"""Cross-fitted smooth models of the classes: logistic regression on the inputs and on radial functions of them."""

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

_MIN_ROWS = 50
_MAX_ROWS = 4000
_N_LANDMARKS = 100
_WIDTH = 1.0
_PENALTY = 1.0
_COST = 0.5  # rows are weighted by the inverse share of their class to this power
_TOLERANCE, _MAX_ITER = 1e-5, 300


class ClassRows(NamedTuple):
    """Training data of a trend of classes; n rows."""

    X: np.ndarray  # (n, d) unscaled inputs
    code: np.ndarray  # (n,) class numbers
    weight: np.ndarray  # (n,) sample weights
    fold: np.ndarray  # (n,) held-out fold

    def subset(self, rows: np.ndarray) -> ClassRows:
        """Data of the given rows (a mask or row numbers)."""
        return ClassRows(*(values[rows] for values in self))


class ClassTrend(Checked):
    """Logistic regression of the classes.

    Attributes
    ----------
    basis : functions of the inputs in which the logits are linear.
    slopes, intercept : (functions, classes), (classes,) coefficients of the logits.
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
        """(n, n_classes) probabilities at scaled rows; each row's are independent of the other rows."""
        return np.asarray(softmax(self.basis.product(X, self.slopes) + self.intercept, axis=1))


class ClassifierTrend:
    """A fitted scikit-learn classifier with the interface of ``ClassTrend``.

    Attributes
    ----------
    kind : name of the classifier's class.
    model : the classifier, fitted on scaled rows and class numbers.
    """

    def __init__(self, model: Any, n_classes: int):
        self.kind = type(model).__name__
        self.model = model
        self.n_classes = n_classes

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """(n, n_classes) probabilities at scaled rows."""
        proba = np.asarray(self.model.predict_proba(X), dtype=np.float64)
        if proba.shape != (len(X), self.n_classes) or not np.all((proba >= 0.0) & (proba <= 1.0 + 1e-6)):
            raise DSNAError(
                f"trend={self.model!r} does not give {self.n_classes} probabilities between 0 and 1 for each row: pass "
                "a classifier that does, or trend='logistic'."
            )
        return proba


def proba_of_all_classes(proba: np.ndarray, model_classes: np.ndarray, vote: np.ndarray) -> np.ndarray:
    """(n, n_classes) probabilities of all classes from a model of some; the others get their share of the vote.

    Parameters
    ----------
    proba : (n, len(model_classes)) probabilities by the model.
    model_classes : numbers of the classes that the model knows.
    vote : (n, n_classes) probabilities by the forest.

    Examples
    --------
    >>> import numpy as np
    >>> proba_of_all_classes(np.array([[0.9, 0.1]]), np.array([0, 2]), np.array([[0.5, 0.2, 0.3]]))
    array([[0.72, 0.2 , 0.08]])
    """
    all_proba = vote.copy()
    all_proba[:, model_classes] = 0.0
    all_proba[:, model_classes] = proba * (1.0 - all_proba.sum(axis=1, keepdims=True))
    return all_proba


def fit_class_trend(
    trend: Any, rows: ClassRows, scaling: Scaling, query_rows: np.ndarray, vote: np.ndarray
) -> tuple[Any, np.ndarray]:
    """Fit a trend to all rows, and predict some of them by trends fitted without their fold.

    Parameters
    ----------
    trend : "logistic" or a scikit-learn classifier.
    scaling : scaling of the inputs; of a large table, only the rows used are scaled.
    query_rows : (m,) numbers of the rows to predict.
    vote : (m, n_classes) the forest's probabilities of these rows, used for classes that occur in one fold only.

    Returns
    -------
    trend : ClassTrend or ClassifierTrend; None where there are too few rows or classes.
    out_of_fold : (m, n_classes) probabilities of the query rows, learned without their fold.
    """
    fit = _fit_logistic if isinstance(trend, str) else _classifier_fitter(trend)
    rng = np.random.RandomState(0)
    max_rows = _MAX_ROWS if isinstance(trend, str) else len(rows.code)
    sampled, represented = stratified_sample(rows.code, max_rows, rng)
    sample = rows.subset(sampled)
    scaled_X = scaling.transform(sample.X)
    sample = sample._replace(X=scaled_X, weight=sample.weight * represented).subset(sample.weight > 0)
    out_of_fold = vote.copy()
    if len(sample.code) < _MIN_ROWS or np.ptp(sample.code) == 0:
        return None, out_of_fold
    for held_out in np.unique(rows.fold[query_rows]):
        classes, training = _renumber_classes(sample.subset(sample.fold != held_out))
        if len(classes) > 1:
            in_fold = rows.fold[query_rows] == held_out
            proba = fit(training).probabilities(scaling.transform(rows.X[query_rows[in_fold]]))
            out_of_fold[in_fold] = proba_of_all_classes(proba, classes, vote[in_fold])
    classes, sample = _renumber_classes(sample)
    return (fit(sample) if len(classes) == vote.shape[1] else None), out_of_fold


def _renumber_classes(rows: ClassRows) -> tuple[np.ndarray, ClassRows]:
    """Classes of the rows, and the rows with class numbers that index them."""
    classes, code = np.unique(rows.code, return_inverse=True)
    return classes, rows._replace(code=code)


def _fit_logistic(rows: ClassRows) -> ClassTrend:
    """Logistic regression with larger weights for rare classes."""
    landmarks = np.random.RandomState(0).permutation(len(rows.X))[:_N_LANDMARKS]
    basis = Basis(rows.X, _WIDTH, landmarks, linear=True)
    columns = basis.columns(rows.X, landmarks)
    class_share = np.bincount(rows.code, weights=rows.weight) / rows.weight.sum()
    weight = rows.weight * class_share[rows.code] ** -_COST
    model = LogisticRegression(C=1.0 / _PENALTY, tol=_TOLERANCE, max_iter=_MAX_ITER)
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # calibration weighs the trend, converged or not
        model.fit(basis.functions(rows.X) @ columns, rows.code, sample_weight=weight / weight.mean())
    slopes, intercept = model.coef_.T, model.intercept_
    if len(class_share) == 2:  # scikit-learn has one column, of the second class against the first
        slopes, intercept = np.hstack([0.0 * slopes, slopes]), np.append(0.0, intercept)
    return ClassTrend(basis, columns @ slopes, intercept)


def _classifier_fitter(estimator: Any) -> Callable[[ClassRows], ClassifierTrend]:
    """Function that fits clones of a classifier."""

    def fit(rows: ClassRows) -> ClassifierTrend:
        fit_params = {"sample_weight": rows.weight} if has_fit_parameter(estimator, "sample_weight") else {}
        return ClassifierTrend(clone(estimator).fit(rows.X, rows.code, **fit_params), rows.code.max() + 1)

    return fit
