"""Kernel partial least squares."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics.pairwise import rbf_kernel

_NOTHING_LEFT = 1e-10  # share of the covariance of the first component, squared


class KernelPLS(RegressorMixin, BaseEstimator):
    """Partial least squares on the features of an RBF kernel (Rosipal and Trejo, 2001); one or several outputs.

    Components are the directions of feature space along which rows and targets vary together most. Given the
    components before, the next one follows from an eigenvector of a matrix of the size of the outputs, so nothing is
    iterated.

    Parameters
    ----------
    n_components : int, default=20
        Fewer are taken where targets leave nothing to explain.
    gamma : float, default=1.0
        The kernel is exp(-gamma d^2).

    Attributes
    ----------
    X_ : training rows
    dual_coef_ : array of shape (n, n_outputs)
        Weights of the training rows in the predictions.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 3, 40)[:, None]
    >>> model = KernelPLS(5).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.5]]).round(2)
    array([1.])
    """

    def __init__(self, n_components: int = 20, gamma: float = 1.0) -> None:
        self.n_components = n_components
        self.gamma = gamma

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the components and the regression on them."""
        self.X_ = np.asarray(X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        targets = y.reshape(len(y), -1)
        self.intercept_, self._single = targets.mean(axis=0), y.ndim == 1
        kernel = rbf_kernel(self.X_, gamma=self.gamma)
        self._mean = kernel.mean(axis=0)
        kernel -= self._mean + self._mean[:, None] - self._mean.mean()
        rest = targets - self.intercept_
        scores = np.empty((len(y), 0))
        weights = np.empty((len(y), 0))
        first = None
        for _ in range(min(self.n_components, len(y) - 1)):
            # Targets are what is left of them, which holds nothing of the scores before: only the product does.
            sizes, directions = np.linalg.eigh(rest.T @ kernel @ rest)
            first = sizes[-1] if first is None else first
            if sizes[-1] <= _NOTHING_LEFT * first:
                break
            weight = rest @ directions[:, -1]
            score = kernel @ weight
            for _ in range(2):  # once more, against rounding
                score -= scores @ (scores.T @ score)
            score /= np.linalg.norm(score)
            scores, weights = np.column_stack([scores, score]), np.column_stack([weights, weight])
            rest = rest - np.outer(score, score @ rest)
        loadings = np.linalg.lstsq(scores.T @ kernel @ weights, scores.T @ (targets - self.intercept_), rcond=None)[0]
        self.dual_coef_ = weights @ loadings
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Targets, of the shape that ``y`` had."""
        kernel = rbf_kernel(np.asarray(X, dtype=np.float64), self.X_, gamma=self.gamma)
        kernel -= kernel.mean(axis=1, keepdims=True) + self._mean - self._mean.mean()
        predicted = kernel @ self.dual_coef_ + self.intercept_
        return np.asarray(predicted[:, 0] if self._single else predicted)
