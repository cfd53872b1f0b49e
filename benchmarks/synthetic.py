"""Tables of any size for the benchmarks of speed: 20 columns, a rare class or a skewed label."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification, make_friedman1

N_FEATURES = 20
KINDS = ("classification", "regression")


def table(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 20) rows and their labels: two classes of 90 and 10 %, or a label with a long tail."""
    if kind == "classification":
        return make_classification(
            n, N_FEATURES, n_informative=10, n_redundant=4, weights=[0.9], flip_y=0.02, random_state=0
        )
    X, y = make_friedman1(n, N_FEATURES, noise=1.0, random_state=0)
    return X, np.exp(y / 10.0)
