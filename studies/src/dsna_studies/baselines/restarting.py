"""Fits that fail by chance, tried again."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from dsna import DSNAError

from .wrapping import Wrapped


class Restarted(Wrapped):
    """Estimator fitted with one seed after another until it can be.

    Boosting on random samples (RUSBoost) gives up with an error where its first sample makes a classifier worse than
    chance; another seed often does not.

    Parameters
    ----------
    estimator : classifier or regressor with a ``random_state``
        Tried as it is first.
    n_tries : int, default=50
        Seeds to try, at most; the last error is raised where none works.

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
        random = check_random_state(self.estimator.random_state)
        model = clone(self.estimator)
        for left in reversed(range(self.n_tries)):
            try:
                self.estimator_ = model.fit(X, y)
                break
            except ValueError:
                if not left:
                    raise
                model = clone(self.estimator).set_params(random_state=random.randint(2**31 - 1))
        return self
