"""Kernel machines whose width is scaled to the data, or chosen on folds of training persons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold

_FOLDS = 3


class FittingWidth(RegressorMixin, MetaEstimatorMixin, BaseEstimator):
    """RBF machine with ``gamma`` in units of the inverse mean squared distance between training rows.

    Parameters
    ----------
    estimator : regressor with a parameter ``gamma``
    widths : sequence of float, default=(0.4,)
        Values of gamma in these units.
    grid : dict or None, default=None
        Values of other parameters; they are chosen by the mean absolute error on folds of training persons.
    centre : bool, default=False
        Whether to subtract the mean label first, for machines without an offset.

    Attributes
    ----------
    estimator_ : the fitted machine

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = FittingWidth(KernelRidge(kernel="rbf"), (0.2, 0.4), {"alpha": [0.01, 0.1]}, centre=True)
    >>> model.fit(X, 40 + X[:, 0], groups=np.arange(60) // 4).predict(X[:2]).shape
    (2,)
    """

    def __init__(
        self, estimator: Any, widths: Sequence[float] = (0.4,), grid: dict[str, Any] | None = None, centre: bool = False
    ) -> None:
        self.estimator = estimator
        self.widths = widths
        self.grid = grid
        self.centre = centre

    def fit(self, X: Any, y: Any, groups: Any = None) -> FittingWidth:
        """Set the width, choose among the settings, and fit; rows of a group stay together in the folds."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self.offset_ = y.mean(axis=0) if self.centre else 0.0
        # Twice the total variance is the mean squared distance between two rows.
        gammas = [width / (2 * X.var(axis=0).sum()) for width in self.widths]
        grid = {"gamma": gammas, **(self.grid or {})}
        if all(len(values) == 1 for values in grid.values()):
            single_values = {name: values[0] for name, values in grid.items()}
            self.estimator_ = clone(self.estimator).set_params(**single_values).fit(X, y - self.offset_)
        else:
            n_folds = min(_FOLDS, len(y) if groups is None else len(np.unique(groups)))
            folds = KFold(n_folds, shuffle=True, random_state=0) if groups is None else GroupKFold(n_folds)
            search = GridSearchCV(
                self.estimator, grid, cv=folds, scoring="neg_mean_absolute_error", error_score="raise"
            )
            self.estimator_ = search.fit(X, y - self.offset_, groups=groups).best_estimator_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels."""
        return np.asarray(self.estimator_.predict(X) + self.offset_)
