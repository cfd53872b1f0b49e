"""Plain averages of the neighbours, for comparison with predictions."""

from __future__ import annotations

import numpy as np

from .explanation import Explanation
from .opinions import class_sums


def forest_weights(explanation: Explanation) -> np.ndarray:
    """(n, M) weights that the forest gives to the neighbours; they sum to one.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> X = np.arange(240.0).reshape(120, 2)
    >>> model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(X, X[:, 0])
    >>> bool(np.allclose(forest_weights(model.explain(X[:4])).sum(axis=1), 1.0))
    True
    """
    return np.asarray(explanation.proximity / np.maximum(explanation.proximity.sum(axis=1, keepdims=True), 1e-300))


def plain_average(explanation: Explanation) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of n queries by plain averaging: class numbers and shares of these classes; or targets and no shares.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> X = np.arange(240.0).reshape(120, 2)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0).fit(X, X[:, 0] > 180)
    >>> plain_average(model.explain(X[:2]))
    (array([0, 0]), array([1., 1.]))
    """
    weight = forest_weights(explanation)
    if explanation.classes is None:
        return np.sum(weight * explanation.label[:, :, 0], axis=1), np.empty(0)
    shares = class_sums(weight, explanation.label, explanation.classes)
    return shares.argmax(axis=1), shares.max(axis=1)
