"""Procrustes alignment of shapes, mean shape and mirror symmetry."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dsna import DSNAError

_MAX_ITERATIONS = 20
_PAIRINGS = 3
_TOLERANCE = 1e-7
# Largest root mean square distance, in radii, between a symmetric mean face and its mirror image.
_MAX_ASYMMETRY = 0.2


def unit(points: np.ndarray) -> np.ndarray:
    """Centre shapes (..., n_landmarks, 2) on the origin, with landmarks at a root mean square distance of 1."""
    centred = points - points.mean(axis=-2, keepdims=True)
    scaled: np.ndarray = centred / np.sqrt((centred**2).sum(axis=-1).mean(axis=-1))[..., None, None]
    return scaled


def align(points: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return unit shapes, each rotated to fit the unit shape ``target`` by least squares.

    In the plane the best rotation has a closed form: with landmarks as complex numbers z and target t, the angle of
    sum(conj(z) t).
    """
    shapes = unit(points)
    z = shapes[..., 0] + 1j * shapes[..., 1]
    t = target[:, 0] + 1j * target[:, 1]
    rotation = (z.conj() * t).sum(axis=-1)
    magnitude = np.abs(rotation)
    rotated = z * np.where(magnitude > 0, rotation / np.where(magnitude > 0, magnitude, 1.0), 1.0)[..., None]
    return np.stack([rotated.real, rotated.imag], axis=-1)


def mean_shape(points: np.ndarray) -> np.ndarray:
    """Return the Procrustes mean of shapes (n, n_landmarks, 2): a unit shape with their mean orientation."""
    upright = unit(unit(points).mean(axis=0))
    mean = upright
    for _ in range(_MAX_ITERATIONS):
        previous, mean = mean, unit(align(points, mean).mean(axis=0))
        if np.abs(mean - previous).max() < _TOLERANCE:
            break
    return align(mean, upright)


def mirror_pairs(mean: np.ndarray) -> np.ndarray:
    """Return the number of the mirror landmark of each landmark of an upright unit shape.

    Raises
    ------
    ValueError
        If the landmarks do not pair off, as in a profile.
    """
    reflected = mean * [-1.0, 1.0]
    # The head may be tilted: pair, rotate the mirror image onto the face, and pair again.
    for _ in range(_PAIRINGS):
        pairs: np.ndarray = linear_sum_assignment(cdist(mean, reflected, "sqeuclidean"))[1]
        reflected[pairs] = align(reflected[pairs], mean)
    asymmetry = np.sqrt(((mean - reflected[pairs]) ** 2).sum(axis=1).mean())
    if asymmetry > _MAX_ASYMMETRY or not np.array_equal(pairs[pairs], np.arange(len(pairs))):
        raise DSNAError(
            "The landmarks do not pair off between the left and the right of the mean face; use symmetric=False."
        )
    return pairs


def symmetrised(shapes: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Average each upright shape (..., n_landmarks, 2) with its mirror image in the line x = 0."""
    means: np.ndarray = (shapes + shapes[..., pairs, :] * [-1.0, 1.0]) / 2
    return means


def upright_symmetric(mean: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the unit shape nearest to ``mean`` that is symmetric in the line x = 0."""
    symmetric = unit(symmetrised(mean, pairs))
    return unit(symmetrised(align(mean, symmetric), pairs))
