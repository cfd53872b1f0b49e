"""Functions of the inputs that a trend is linear in: the inputs themselves, which extrapolate, or radial functions."""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.spatial.distance import cdist

from .._utils.invariants import FINITE, LARGEST, POSITIVE, Array, Checked, Choice, Number, require
from .._utils.sums import rowwise_product

_MIN_LANDMARKS, _MAX_LANDMARKS = 150, 1500
_WORK = 4e8  # limit of n_rows * n_landmarks**2, the cost of the sums of a fit, for up to 20 features
_FEATURE_EXPONENT = 4 / 3  # growth of this limit with the number of features beyond 20
_SMALLEST = 1e-100
_JITTER = 1e-6
_NULL = 1e-8  # eigenvalues below this share of the largest are rounding errors


def n_landmarks(n_rows: int, n_features: int) -> int:
    """Number of landmarks whose fit costs about as much as the forest, which grows with rows and features.

    Many features are usually those of pictures: there the forest takes longer, and more landmarks pay off.

    Examples
    --------
    >>> n_landmarks(300, 20), n_landmarks(2000, 20), n_landmarks(100_000, 20), n_landmarks(2000, 200)
    (300, 447, 150, 1500)
    """
    work = _WORK * max(1.0, n_features / 20) ** _FEATURE_EXPONENT
    return int(min(n_rows, np.clip(np.sqrt(work / n_rows), _MIN_LANDMARKS, _MAX_LANDMARKS)))


class Basis(Checked):
    """Functions of the scaled inputs: the inputs themselves, radial functions around landmarks, or both.

    Parameters
    ----------
    X : (n, d) scaled training rows.
    width : float or None
        Squared distances are divided by twice the total variance over this; None: no radial functions.
    landmark_rows : (m,) numbers of the rows that are landmarks.
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

    def __init__(self, X: np.ndarray, width: float | None, landmark_rows: np.ndarray, linear: bool):
        self.linear = linear
        self.offset = X.mean(axis=0)
        self.gamma, self.landmarks = None, None
        if width is not None:
            self.gamma = float(width / (2.0 * max(X.var(axis=0).sum(), _SMALLEST)))
            self.landmarks = X[landmark_rows]
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(self.linear or self.gamma is not None, "Basis has no functions")
        require((self.gamma is None) == (self.landmarks is None), "Basis needs both gamma and landmarks, or neither")

    @property
    def n_functions(self) -> int:
        """Number of functions."""
        return self.linear * len(self.offset) + (0 if self.landmarks is None else len(self.landmarks))

    def functions(self, X: np.ndarray) -> np.ndarray:
        """(n, n_functions) values at scaled rows; each row's are independent of the other rows."""
        blocks = [X - self.offset] if self.linear else []
        if self.landmarks is not None:
            blocks.append(self._radial(X))
        return blocks[0] if len(blocks) == 1 else np.hstack(blocks)

    def _radial(self, X: np.ndarray) -> np.ndarray:
        gamma = 0.0 if self.gamma is None else self.gamma
        return np.asarray(np.exp(-gamma * cdist(X, self.landmarks, "sqeuclidean")))

    def product(self, X: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """(n, k) product of the functions at X and slopes (n_functions, k), computed row by row."""
        return rowwise_product(self.functions(X), slopes)

    def columns(self, X: np.ndarray, landmark_rows: np.ndarray) -> np.ndarray:
        """(n_functions, r) combinations of the functions that serve as columns of a ridge regression.

        Combinations of radial functions have the kernel as their inner products (Nystroem's method). Where there are
        more inputs than landmarks, inputs are reduced to the directions that the landmarks span.
        """
        blocks = []
        if self.linear:
            few_inputs = X.shape[1] <= len(landmark_rows)
            blocks.append(np.eye(X.shape[1]) if few_inputs else _span(X[landmark_rows] - self.offset))
        if self.landmarks is not None:
            blocks.append(_inverse_root(self._radial(self.landmarks)))
        return np.asarray(block_diag(*blocks))


def _inverse_root(kernel: np.ndarray) -> np.ndarray:
    """(m, m) W with W'KW = I, up to a jitter that keeps it finite where rows repeat."""
    root = np.linalg.cholesky(kernel + _JITTER * np.eye(len(kernel)))
    return np.asarray(solve_triangular(root, np.eye(len(root)), lower=True).T)


def _span(rows: np.ndarray) -> np.ndarray:
    """(d, r) orthonormal basis of the span of the rows."""
    values, vectors = np.linalg.eigh(rows @ rows.T)
    nonzero = values > _NULL * max(values[-1], 1e-300)
    return np.asarray(rows.T @ (vectors[:, nonzero] / np.sqrt(values[nonzero])))
