"""Features of picture crops, learned from the training crops of each split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA

from .splits import Split

COMPONENTS = 200


@dataclass(frozen=True)
class CropRows:
    """Principal components of oriented gradients, fitted on the training crops only.

    Parameters
    ----------
    gradients : array of shape (n, n_features)
        Histograms of all crops.
    components : int, default=200
        Number of components, fewer if there are fewer rows or columns.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_studies.pictures.splits import person_folds
    >>> rows = CropRows(np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32))
    >>> [features.shape for features in rows.of(person_folds(np.arange(30))[0])]
    [(24, 6), (6, 6)]
    """

    gradients: np.ndarray
    components: int = COMPONENTS

    def of(self, split: Split) -> tuple[np.ndarray, np.ndarray]:
        """Features of the training and the test crops."""
        train, test = self.gradients[split.train], self.gradients[split.test]
        n_components = min(self.components, *train.shape)
        components = PCA(n_components, random_state=0).fit(train)
        return components.transform(train).astype(np.float64), components.transform(test).astype(np.float64)
