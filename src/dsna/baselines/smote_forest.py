"""Random forest on rows that SMOTE has added to, labels taken as classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..extras import import_extra


class SMOTEForest(RegressorMixin, BaseEstimator):
    """Forest for labels on a grid, such as ages or angles, each of which is a class to SMOTE.

    Every label that occurs at least twice is brought to the number of rows of the most frequent one, by rows between
    neighbours of that label; the forest then averages labels as it always does.

    Parameters
    ----------
    forest : regressor or None, default=None
        What is fitted to the rows; None is a RandomForestRegressor with default settings and this ``random_state``.
    k_neighbors : int, default=5
        Neighbours among which SMOTE chooses; for a label of fewer rows, all the others of that label.
    random_state : int, RandomState or None, default=None
        Of SMOTE and of the default forest.

    Attributes
    ----------
    forest_ : fitted regressor
    n_added_ : int
        Rows that SMOTE made.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.baselines import SMOTEForest
    >>> X = np.arange(12.0)[:, None]
    >>> y = [1] * 8 + [2] * 3 + [3]
    >>> SMOTEForest(random_state=0).fit(X, y).n_added_  # five rows of label 2; the only row of label 3 stays alone
    5
    """

    def __init__(self, forest: Any = None, *, k_neighbors: int = 5, random_state: Any = None) -> None:
        self.forest = forest
        self.k_neighbors = k_neighbors
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        """Labels may have several columns; a label is then a combination."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Add rows and fit the forest.

        Parameters
        ----------
        X : array of shape (n, n_features)
        y : array of shape (n,) or (n, n_outputs)

        Returns
        -------
        self
        """
        if not self.k_neighbors >= 1:
            raise ValueError(f"k_neighbors={self.k_neighbors!r} must be a whole number of at least 1.")
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64)
        rng = check_random_state(self.random_state)
        rows, labels = self._more_rows(X, y, rng)
        self.n_added_ = len(rows) - len(X)
        seed = rng.randint(2**31 - 1)
        self.forest_ = RandomForestRegressor(random_state=seed) if self.forest is None else clone(self.forest)
        self.forest_.fit(rows, labels)
        return self

    def _more_rows(self, X: np.ndarray, y: np.ndarray, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
        """Rows and labels with SMOTE's rows after them."""
        smote = import_extra("imblearn.over_sampling", "bench").SMOTE
        labels, code, counts = np.unique(y, axis=0, return_inverse=True, return_counts=True)
        code = code.ravel()
        most = counts.max()
        rows, added = [X], [y]
        # One class at a time: SMOTE takes one k for all, and the rarest label would set it.
        for label in np.flatnonzero((counts > 1) & (counts < most)):
            sampler = smote(
                sampling_strategy={label: most},
                k_neighbors=int(min(self.k_neighbors, counts[label] - 1)),
                random_state=rng.randint(2**31 - 1),
            )
            rows.append(sampler.fit_resample(X, code)[0][len(X) :])
            added.append(np.repeat(labels[label : label + 1], len(rows[-1]), axis=0))
        return np.concatenate(rows), np.concatenate(added)

    def predict(self, X: Any) -> np.ndarray:
        """Mean labels of the forest.

        Parameters
        ----------
        X : array of shape (n, n_features)

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
        """
        check_is_fitted(self)
        return self.forest_.predict(validate_data(self, X, dtype=np.float64, reset=False))
