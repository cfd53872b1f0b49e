"""Kernel partial least squares."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics.pairwise import rbf_kernel

_MIN_SHARE = 1e-10  # share of the squared covariance of the first component


class KernelPLS(RegressorMixin, BaseEstimator):
    """Partial least squares on the features of an RBF kernel (Rosipal and Trejo, 2001); one or several outputs.

    Components are the directions of feature space along which rows and targets vary together most. Given the
    previous components, the next one follows from an eigenvector of an n_outputs x n_outputs matrix, without iteration.

    Parameters
    ----------
    n_components : int, default=20
        Fewer are used if the targets are explained before.
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
        residual_targets = targets - self.intercept_
        scores = np.empty((len(y), 0))
        weights = np.empty((len(y), 0))
        first_eigenvalue = None
        for _ in range(min(self.n_components, len(y) - 1)):
            # Residual targets are orthogonal to the previous scores, so the kernel need not be deflated.
            eigenvalues, directions = np.linalg.eigh(residual_targets.T @ kernel @ residual_targets)
            first_eigenvalue = eigenvalues[-1] if first_eigenvalue is None else first_eigenvalue
            if eigenvalues[-1] <= _MIN_SHARE * first_eigenvalue:
                break
            weight = residual_targets @ directions[:, -1]
            score = kernel @ weight
            for _ in range(2):  # repeated against rounding errors
                score -= scores @ (scores.T @ score)
            score /= np.linalg.norm(score)
            scores, weights = np.column_stack([scores, score]), np.column_stack([weights, weight])
            residual_targets = residual_targets - np.outer(score, score @ residual_targets)
        loadings = np.linalg.lstsq(scores.T @ kernel @ weights, scores.T @ (targets - self.intercept_), rcond=None)[0]
        self.dual_coef_ = weights @ loadings
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets, in the shape of ``y``."""
        kernel = rbf_kernel(np.asarray(X, dtype=np.float64), self.X_, gamma=self.gamma)
        kernel -= kernel.mean(axis=1, keepdims=True) + self._mean - self._mean.mean()
        predicted = kernel @ self.dual_coef_ + self.intercept_
        return np.asarray(predicted[:, 0] if self._single else predicted)
