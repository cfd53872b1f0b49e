"""Base class of estimators that wrap the fit of another estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _inner_has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class Wrapped(MetaEstimatorMixin, BaseEstimator):
    """Base class of estimators whose ``fit`` sets a fitted ``estimator_``, which then predicts.

    Examples
    --------
    >>> from sklearn.base import is_regressor
    >>> from sklearn.linear_model import Ridge
    >>> from dsna_studies.baselines import DensityWeighted
    >>> is_regressor(DensityWeighted(Ridge()))
    True
    """

    estimator: Any
    estimator_: Any

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags

    @property
    def classes_(self) -> np.ndarray:
        """Classes of the fitted classifier."""
        return np.asarray(self.estimator_.classes_)

    def predict(self, X: Any) -> np.ndarray:
        """Predict classes or labels with the fitted estimator."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n, n_classes) probabilities of the fitted classifier."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(X))
