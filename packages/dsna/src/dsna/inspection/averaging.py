"""What plain averaging of the neighbours would have said, for comparison with the prediction."""

from __future__ import annotations

import numpy as np

from .explanation import Explanation
from .opinions import class_sums


def forest_weights(why: Explanation) -> np.ndarray:
    """(n, M) the forest's own weights of the neighbours, which add up to one.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> X = np.arange(240.0).reshape(120, 2)
    >>> model = DSNARegressor(CostSensitiveForestRegressor(5), random_state=0).fit(X, X[:, 0])
    >>> bool(np.allclose(forest_weights(model.explain(X[:4])).sum(axis=1), 1.0))
    True
    """
    return np.asarray(why.proximity / np.maximum(why.proximity.sum(axis=1, keepdims=True), 1e-300))


def plain_average(why: Explanation) -> tuple[np.ndarray, np.ndarray]:
    """What plain averaging says of n queries: class numbers, and the share of the class; or targets, and no share.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> X = np.arange(240.0).reshape(120, 2)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0).fit(X, X[:, 0] > 180)
    >>> plain_average(model.explain(X[:2]))
    (array([0, 0]), array([1., 1.]))
    """
    weight = forest_weights(why)
    if why.classes is None:
        return np.sum(weight * why.label[:, :, 0], axis=1), np.empty(0)
    shares = class_sums(weight, why.label, why.classes)
    return shares.argmax(axis=1), shares.max(axis=1)
