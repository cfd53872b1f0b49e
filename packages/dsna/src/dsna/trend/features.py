"""Columns of a trend: the scaled inputs, which continue past the rows seen, or radial functions, which do not."""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.spatial.distance import cdist

from .._utils.invariants import FINITE, LARGEST, POSITIVE, Array, Checked, Choice, Number, require
from .._utils.sums import rowwise_product

_FEWEST, _MOST = 150, 1500
_WORK = 4e8  # rows times squared landmarks, for up to 20 features: what the sums of a fit may cost
_MANY = 4 / 3  # power of the features beyond 20 with which the work may grow
_SMALLEST = 1e-100
_JITTER = 1e-6
_NULL = 1e-8  # eigenvalues below this share of the largest are rounding


def n_landmarks(n_rows: int, n_features: int) -> int:
    """How many rows stand for all: as many as cost about what the forest does, which grows with rows and features.

    Many features are those of pictures, where a forest takes its time and more landmarks pay.

    Examples
    --------
    >>> n_landmarks(300, 20), n_landmarks(2000, 20), n_landmarks(100_000, 20), n_landmarks(2000, 200)
    (300, 447, 150, 1500)
    """
    work = _WORK * max(1.0, n_features / 20) ** _MANY
    return int(min(n_rows, np.clip(np.sqrt(work / n_rows), _FEWEST, _MOST)))


class Basis(Checked):
    """Functions of the scaled inputs: the inputs themselves, radial functions on landmarks, or both.

    Parameters
    ----------
    X : (n, d) training rows on the common scale.
    width : float or None
        Squared distances are divided by twice the total variance over this; None: no radial functions.
    picked : (m,) numbers of the rows that are landmarks.
    linear : bool
        Whether the inputs themselves are among the functions.
    """

    FIELDS = {
        "linear": Choice((True, False)),
        "offset": Array("float64", "features", -LARGEST, LARGEST),
        "gamma": Number(POSITIVE, FINITE, none=True),
        "landmarks": Array("float64", "landmarks, features", -LARGEST, LARGEST, none=True),
    }
    NOT_EMPTY = ("features",)

    linear: bool
    offset: np.ndarray
    gamma: float | None
    landmarks: np.ndarray | None

    def __init__(self, X: np.ndarray, width: float | None, picked: np.ndarray, linear: bool):
        self.linear = linear
        self.offset = X.mean(axis=0)
        self.gamma, self.landmarks = None, None
        if width is not None:
            self.gamma = float(width / (2.0 * max(X.var(axis=0).sum(), _SMALLEST)))
            self.landmarks = X[picked]
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(self.linear or self.gamma is not None, "Basis has no functions")
        require((self.gamma is None) == (self.landmarks is None), "Basis.gamma and landmarks do not go together")

    @property
    def n_functions(self) -> int:
        """Number of functions."""
        return self.linear * len(self.offset) + (0 if self.landmarks is None else len(self.landmarks))

    def functions(self, X: np.ndarray) -> np.ndarray:
        """(n, n_functions) values at rows on the common scale; those of a row depend on no other row."""
        parts = [X - self.offset] if self.linear else []
        if self.landmarks is not None:
            parts.append(self._radial(X))
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _radial(self, X: np.ndarray) -> np.ndarray:
        gamma = 0.0 if self.gamma is None else self.gamma
        return np.asarray(np.exp(-gamma * cdist(X, self.landmarks, "sqeuclidean")))

    def product(self, X: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """(n, k) products of the functions at X with slopes (n_functions, k), each row as if it came alone."""
        return rowwise_product(self.functions(X), slopes)

    def columns(self, X: np.ndarray, picked: np.ndarray) -> np.ndarray:
        """(n_functions, r) combinations of the functions that a ridge is learned on.

        Of radial functions, those whose inner products are the kernel (Nystroem's method); of more inputs than
        landmarks, those that the landmarks span.
        """
        parts = []
        if self.linear:
            parts.append(np.eye(X.shape[1]) if X.shape[1] <= len(picked) else _span(X[picked] - self.offset))
        if self.landmarks is not None:
            parts.append(_inverse_root(self._radial(self.landmarks)))
        return np.asarray(block_diag(*parts))


def _inverse_root(kernel: np.ndarray) -> np.ndarray:
    """(m, m) W with W'KW = I, up to a jitter that keeps it finite where rows repeat."""
    root = np.linalg.cholesky(kernel + _JITTER * np.eye(len(kernel)))
    return np.asarray(solve_triangular(root, np.eye(len(root)), lower=True).T)


def _span(rows: np.ndarray) -> np.ndarray:
    """(d, r) orthonormal directions that the rows span."""
    values, vectors = np.linalg.eigh(rows @ rows.T)
    kept = values > _NULL * max(values[-1], 1e-300)
    return np.asarray(rows.T @ (vectors[:, kept] / np.sqrt(values[kept])))
