"""Shapes without place, size and rotation: Procrustes alignment, the mean shape, its mirror image."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dsna import DSNAError

_ROUNDS = 20
_PAIRINGS = 3
_SETTLED = 1e-7
# Root mean square distance, in radii, between a symmetric mean face and its mirror image, at most.
_LOPSIDED = 0.2


def unit(points: np.ndarray) -> np.ndarray:
    """Shapes (..., n_landmarks, 2) about the origin, their landmarks at a root mean square distance of 1."""
    centred = points - points.mean(axis=-2, keepdims=True)
    scaled: np.ndarray = centred / np.sqrt((centred**2).sum(axis=-1).mean(axis=-1))[..., None, None]
    return scaled


def align(points: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Unit shapes, each turned so that it lies nearest to the unit shape ``target`` in least squares.

    In the plane the best turn has a closed form: with landmarks as complex numbers z and target t, the angle of
    sum(conj(z) t).
    """
    shapes = unit(points)
    z = shapes[..., 0] + 1j * shapes[..., 1]
    t = target[:, 0] + 1j * target[:, 1]
    turn = (z.conj() * t).sum(axis=-1)
    size = np.abs(turn)
    turned = z * np.where(size > 0, turn / np.where(size > 0, size, 1.0), 1.0)[..., None]
    return np.stack([turned.real, turned.imag], axis=-1)


def mean_shape(points: np.ndarray) -> np.ndarray:
    """Procrustes mean of shapes (n, n_landmarks, 2): a unit shape, as upright as the shapes are on average."""
    upright = unit(unit(points).mean(axis=0))
    mean = upright
    for _ in range(_ROUNDS):
        before, mean = mean, unit(align(points, mean).mean(axis=0))
        if np.abs(mean - before).max() < _SETTLED:
            break
    return align(mean, upright)


def mirror_pairs(mean: np.ndarray) -> np.ndarray:
    """For each landmark the number of the one that it becomes in a mirror; found on an upright unit shape.

    Raises
    ------
    ValueError
        If the landmarks do not pair off, as those of a profile.
    """
    reflected = mean * [-1.0, 1.0]
    # The head may be tilted: pair, turn the mirror image onto the face, and pair again.
    for _ in range(_PAIRINGS):
        pairs: np.ndarray = linear_sum_assignment(cdist(mean, reflected, "sqeuclidean"))[1]
        reflected[pairs] = align(reflected[pairs], mean)
    off = np.sqrt(((mean - reflected[pairs]) ** 2).sum(axis=1).mean())
    if off > _LOPSIDED or not np.array_equal(pairs[pairs], np.arange(len(pairs))):
        raise DSNAError(
            "The landmarks do not pair off between the left and the right of the mean face; use symmetric=False."
        )
    return pairs


def symmetrised(shapes: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Mean of each upright shape (..., n_landmarks, 2) and its mirror image in the line x = 0."""
    means: np.ndarray = (shapes + shapes[..., pairs, :] * [-1.0, 1.0]) / 2
    return means


def upright_symmetric(mean: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The unit shape nearest to ``mean`` that the line x = 0 mirrors onto itself."""
    rough = unit(symmetrised(mean, pairs))
    return unit(symmetrised(align(mean, rough), pairs))
