"""Ordinal regression by support vector machines: predictions count the thresholds that a row exceeds.

Labels are ordered values v_1 < ... < v_K. For each threshold k a binary classifier decides whether the label is above
v_k; the number of positive decisions gives the predicted value. :class:`REDSVM` learns one direction with K - 1
offsets, :class:`OHRank` one kernel machine for each threshold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from dsna import DSNAError
from dsna.extend.parameters import check_weights

_KERNELS = ("rbf", "linear")


class _Ordinal(RegressorMixin, BaseEstimator, ABC):
    """Base class that converts labels to ranks and back."""

    def _check_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Check training data; set ``values_`` and return rows, their ranks 0 ... K-1 and weights."""
        if self.kernel not in _KERNELS:
            raise DSNAError(f"kernel={self.kernel!r} is unknown: use 'rbf' or 'linear'.")
        if not self.C > 0:
            raise DSNAError(f"C={self.C!r} must be a positive number.")
        if isinstance(self.gamma, str) and self.gamma != "scale":
            raise DSNAError(f"gamma={self.gamma!r} is unknown: use 'scale' or a positive number.")
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64, ensure_min_samples=2)
        weight = check_weights(sample_weight, X)
        has_weight = weight > 0
        X, y, weight = X[has_weight], y[has_weight], weight[has_weight]
        self.values_, rank = np.unique(y.astype(np.float64), return_inverse=True)
        variance = float(np.average((X - np.average(X, axis=0, weights=weight)) ** 2, axis=0, weights=weight).mean())
        scale = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        self._gamma = scale if isinstance(self.gamma, str) else float(self.gamma)
        return X, rank, weight

    def _kernel_parameters(self) -> dict[str, Any]:
        return {"gamma": self._gamma} if self.kernel == "rbf" else {}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn to classify rows by the side of each threshold.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,)
            Numbers; every distinct value is a rank.
        sample_weight : array of shape (n,) or None
            Weights of the rows.

        Returns
        -------
        self
        """
        self._learn(*self._check_training(X, y, sample_weight))
        return self

    @abstractmethod
    def _learn(self, X: np.ndarray, rank: np.ndarray, weight: np.ndarray) -> None:
        """Set the fitted attributes from checked rows."""

    def margins(self, X: Any) -> np.ndarray:
        """Return (n, K - 1) margins of rows, positive where the predicted label is above ``values_[k]``."""
        check_is_fitted(self)
        return self._decide(validate_data(self, X, dtype=np.float64, reset=False))

    @abstractmethod
    def _decide(self, X: np.ndarray) -> np.ndarray:
        """Return the margins of checked rows."""

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels of rows (n, n_features) from the number of thresholds that each exceeds."""
        count = (self.margins(X) > 0).sum(axis=1)
        return np.asarray(self.values_[count])


class REDSVM(_Ordinal):
    """Ordinal regression by reduction to one binary SVM (Li and Lin).

    Each row x with label y becomes K - 1 extended rows (x, e_k), classified by whether v_{k+1} <= y, with the cost
    v_{k+1} - v_k of an error, so that the costs of a row add up to the absolute error. A linear SVM is learned on the
    extended rows:

    minimise ``1/2 (|w|^2 + |b|^2) + C sum_ik (v_{k+1} - v_k) max(0, 1 - z_ik (w'x_i + b_k))^2``.

    The extended rows are never formed. With ``kernel="rbf"`` x stands for Nystroem features, because the exact
    kernel machine would have n (K - 1) rows.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the errors.
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel of the SVM.
    gamma : float or "scale", default="scale"
        Width of the kernel ``exp(-gamma |x - x'|^2)``; "scale" is 1 / (n_columns * mean variance).
    n_components : int, default=500
        Maximal number of rows that define the Nystroem features.
    max_iter : int, default=1000
        Maximal number of steps of the solver (L-BFGS).
    tol : float, default=1e-6
        Largest entry of the gradient, per unit of cost, at which the solver stops.
    random_state : int, RandomState or None, default=None
        Seed of the choice of the Nystroem rows.

    Attributes
    ----------
    values_ : array of shape (K,)
        Labels seen, in order.
    coef_ : array of shape (n_columns,)
        Direction w, in the space of the Nystroem features or of the rows.
    intercept_ : array of shape (K - 1,)
        Offsets b.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.baselines import REDSVM
    >>> X = np.arange(12.0)[:, None]
    >>> REDSVM(kernel="linear").fit(X, [1, 1, 1, 2, 2, 2, 3, 3, 3, 7, 7, 7]).predict([[0], [5], [20]])
    array([1., 2., 7.])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        n_components: int = 500,
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, X: np.ndarray, rank: np.ndarray, weight: np.ndarray) -> None:
        self._map = None
        if self.kernel == "rbf":
            self._map = Nystroem(
                "rbf",
                n_components=min(int(self.n_components), len(X)),
                random_state=self.random_state,
                **self._kernel_parameters(),
            ).fit(X)
            X = self._map.transform(X)
        sign = np.where(rank[:, None] > np.arange(len(self.values_) - 1), 1.0, -1.0)
        cost = self.C * weight[:, None] * np.diff(self.values_)
        n_columns = X.shape[1]

        def loss(solution: np.ndarray) -> tuple[float, np.ndarray]:
            shortfall = np.maximum(1 - sign * ((X @ solution[:n_columns])[:, None] + solution[n_columns:]), 0)
            weighted_shortfall = cost * shortfall
            slopes = -2 * sign * weighted_shortfall
            value = 0.5 * solution @ solution + (weighted_shortfall * shortfall).sum()
            return value, solution + np.concatenate([slopes.sum(axis=1) @ X, slopes.sum(axis=0)])

        start = np.zeros(n_columns + sign.shape[1])
        stopping = {"maxiter": self.max_iter, "maxfun": 10 * self.max_iter, "gtol": self.tol * max(cost.sum(), 1.0)}
        result = minimize(loss, start, jac=True, method="L-BFGS-B", options={**stopping, "ftol": 0.0, "maxcor": 30})
        self.coef_, self.intercept_ = result.x[:n_columns], result.x[n_columns:]
        self.n_iter_ = int(result.nit)

    def _decide(self, X: np.ndarray) -> np.ndarray:
        features = X if self._map is None else self._map.transform(X)
        return np.asarray((features @ self.coef_)[:, None] + self.intercept_)


class OHRank(_Ordinal):
    """Ordinal hyperplanes ranker (Chang, Chen and Hung): one kernel SVM for each threshold, with costs.

    The machine of threshold k separates the labels up to v_k from those above. An error on a row costs the
    distance of its label from the threshold, half-way between v_k and v_{k+1}; costs have mean 1. All machines share
    one kernel matrix, which is n x n: some ten thousand rows are the limit.

    Parameters
    ----------
    C, kernel, gamma
        As in :class:`REDSVM`, for every machine.
    cost : {"absolute", None}, default="absolute"
        Costs as above, or the same for all rows.
    tol : float, default=1e-3
        Tolerance of the solver (libsvm).
    n_jobs : int or None, default=None
        Number of machines that are fitted in parallel, on threads.

    Attributes
    ----------
    values_ : array of shape (K,)
        Labels seen, in order.
    dual_coef_ : array of shape (K - 1, n)
        Coefficients of the training rows in each machine.
    intercept_ : array of shape (K - 1,)
        Offsets of the machines.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.baselines import OHRank
    >>> X = np.arange(12.0)[:, None]
    >>> OHRank(C=10).fit(X, [1, 1, 1, 2, 2, 2, 3, 3, 3, 7, 7, 7]).predict([[0], [5], [11]])
    array([1., 2., 7.])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        cost: str | None = "absolute",
        tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.cost = cost
        self.tol = tol
        self.n_jobs = n_jobs

    def _learn(self, X: np.ndarray, rank: np.ndarray, weight: np.ndarray) -> None:
        if self.cost not in ("absolute", None):
            raise DSNAError(f"cost={self.cost!r} is unknown: use 'absolute' or None.")
        self._rows = X
        product = pairwise_kernels(X, metric=self.kernel, **self._kernel_parameters())
        thresholds = (self.values_[1:] + self.values_[:-1]) / 2
        # libsvm keeps no copy of a precomputed kernel, and threads share this one.
        machines = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_machine)(product, rank > k, self._costs(self.values_[rank], threshold, weight), self.C, self.tol)
            for k, threshold in enumerate(thresholds)
        )
        self.dual_coef_ = np.array([dual for dual, _ in machines]).reshape(len(thresholds), len(X))
        self.intercept_ = np.array([offset for _, offset in machines])

    def _costs(self, label: np.ndarray, threshold: float, weight: np.ndarray) -> np.ndarray:
        if self.cost is None:
            return weight
        distances = np.abs(label - threshold)
        return np.asarray(weight * distances / np.average(distances, weights=weight))

    def _decide(self, X: np.ndarray) -> np.ndarray:
        product = pairwise_kernels(X, self._rows, metric=self.kernel, **self._kernel_parameters())
        return np.asarray(product @ self.dual_coef_.T + self.intercept_)


def _machine(
    product: np.ndarray, above: np.ndarray, weight: np.ndarray, C: float, tol: float
) -> tuple[np.ndarray, float]:
    """Fit an SVM for rows above a threshold against the others; return dual coefficients of all rows and the offset."""
    machine = SVC(C=C, kernel="precomputed", tol=tol, cache_size=50).fit(product, above, sample_weight=weight)
    dual = np.zeros(len(product))
    dual[machine.support_] = machine.dual_coef_[0]
    return dual, float(machine.intercept_[0])
