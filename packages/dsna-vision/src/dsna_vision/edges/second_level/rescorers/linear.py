"""Logistic regression as rescorer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dsna.extend.containers import POSITIVE, Array, Checked, Number

_LARGEST = 1e6  # of a weight or a scaled column
_RIDGE = 1e-3


@dataclass
class LinearScore(Checked):
    """Logistic regression on scaled columns: the floor that other rescorers have to beat.

    Parameters
    ----------
    offset, scale, weight : arrays of shape (n_columns,), float64
        Columns are shifted, divided by their scale and cut at 10.
    base : float
        Log odds where all columns are at their offset.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    >>> line = fit_linear(rows, 1 / (1 + np.exp(-rows[:, 0])), 0, seed=0)
    >>> line(np.array([[-2, 0, 0], [2, 0, 0]], dtype=np.float32)) > 0.5
    array([False,  True])
    """

    offset: np.ndarray
    scale: np.ndarray
    weight: np.ndarray
    base: float

    FIELDS = {
        "offset": Array("float64", "columns", -_LARGEST, _LARGEST),
        "scale": Array("float64", "columns", POSITIVE),
        "weight": Array("float64", "columns", -_LARGEST, _LARGEST),
        "base": Number(-_LARGEST, _LARGEST),
    }
    NOT_EMPTY = ("columns",)

    def __post_init__(self) -> None:
        self.check()

    @property
    def n_columns(self) -> int:
        """How many numbers describe a candidate."""
        return len(self.weight)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Share of people, for rows (n, n_columns), float32."""
        scaled = _scaled(rows, self.offset, self.scale)
        # Term by term, so that a row's answer does not depend on the others.
        share: np.ndarray = expit(np.einsum("ij,j->i", scaled, self.weight) + self.base)
        return share


def fit_linear(rows: np.ndarray, share: np.ndarray, n_trees: int, seed: int) -> LinearScore:
    """Logistic regression on soft labels: each row twice, once for the people who drew and once for the others.

    Parameters
    ----------
    rows, share
        As :func:`dsna_vision.edges.second_level.rescorers.boosted.fit_boosted` takes them.
    n_trees, seed : int
        Not used.

    Returns
    -------
    LinearScore
    """
    from sklearn.linear_model import LogisticRegression

    offset, spread = rows.mean(axis=0, dtype=np.float64), rows.std(axis=0, dtype=np.float64)
    scale = np.where(spread > 1e-6 * (1 + np.abs(offset)), spread, 1.0)
    scaled = np.tile(_scaled(rows, offset, scale), (2, 1))
    drawn = np.repeat([1, 0], len(rows))
    model = LogisticRegression(C=1 / (_RIDGE * len(rows)), max_iter=300)
    model.fit(scaled, drawn, sample_weight=np.concatenate([share, 1 - share]))
    return LinearScore(offset, scale, model.coef_[0].astype(np.float64), float(model.intercept_[0]))


def _scaled(rows: np.ndarray, offset: np.ndarray, scale: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = np.clip((rows - offset) / scale, -10, 10)
    return scaled
