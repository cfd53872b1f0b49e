"""Data that several figures share: few rare rows beside many common ones, by two measurements."""

import numpy as np

from dsna import CostSensitiveForestClassifier, DSNAClassifier

COMMON, RARE = "#5b7fa6", "#c2410c"


def rows(n_common: int = 800, n_rare: int = 20, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) rows and their classes, 0 common and 1 rare."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 1, (n_common, 2)) * [1.6, 1.0]
    rare = np.array([1.8, 1.2]) + rng.normal(0, 0.5, (n_rare, 2))
    return np.vstack([common, rare]), np.repeat([0, 1], [n_common, n_rare])


def fitted() -> tuple[DSNAClassifier, np.ndarray, np.ndarray]:
    X, y = rows()
    return DSNAClassifier(CostSensitiveForestClassifier(40), random_state=0).fit(X, y), X, y


def scatter(ax, X, y, **style) -> None:
    for one, colour, size, alpha in ((0, COMMON, 7, 0.4), (1, RARE, 13, 0.9)):
        ax.scatter(*X[y == one].T, s=size, color=colour, alpha=alpha, linewidth=0, **style)
