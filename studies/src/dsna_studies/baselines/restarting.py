"""Repeated fits for estimators that fail at random."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from dsna import DSNAError

from .wrapping import Wrapped


class Restarted(Wrapped):
    """Estimator fitted with one seed after another until a fit succeeds.

    Boosting on random samples (RUSBoost) raises an error if its first sample gives a classifier worse than chance;
    another seed often succeeds.

    Parameters
    ----------
    estimator : classifier or regressor with a ``random_state``
        Tried with its own seed first.
    n_tries : int, default=50
        Maximal number of seeds; the last error is raised if none works.

    Attributes
    ----------
    estimator_ : the fitted estimator

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> from dsna_studies.baselines import Restarted
    >>> X, y = make_classification(random_state=0)
    >>> Restarted(AdaBoostClassifier(random_state=3)).fit(X, y).estimator_.random_state
    3
    """

    def __init__(self, estimator: Any, n_tries: int = 50):
        self.estimator = estimator
        self.n_tries = n_tries

    def fit(self, X: Any, y: Any) -> Restarted:
        """Fit a copy of the estimator, with the first seed that works."""
        if self.n_tries < 1:
            raise DSNAError(f"n_tries={self.n_tries!r} must be 1 or more.")
        rng = check_random_state(self.estimator.random_state)
        model = clone(self.estimator)
        for n_tries_left in reversed(range(self.n_tries)):
            try:
                self.estimator_ = model.fit(X, y)
                break
            except ValueError:
                if not n_tries_left:
                    raise
                model = clone(self.estimator).set_params(random_state=rng.randint(2**31 - 1))
        return self
