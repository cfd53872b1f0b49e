"""Piecewise affine warps: pictures of faces brought to one shape, triangle by triangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.sparse import csr_matrix
from scipy.spatial import Delaunay, QhullError

from dsna import DSNAError

from .face import Face

_EDGE = 1e-9


def triangulate(points: np.ndarray) -> np.ndarray:
    """Delaunay triangles, (n_triangles, 3) numbers of landmarks."""
    try:
        triangles: np.ndarray = Delaunay(points).simplices.astype(np.int64)
        return triangles
    except QhullError as error:
        raise DSNAError(
            "The landmarks span no area (all lie on one line), so there are no triangles to warp; "
            "check how the points were read."
        ) from error


def locate(points: np.ndarray, triangles: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, csr_matrix]:
    """Pixels covered by triangles, and each as a mean of the corners of its triangle.

    Returns
    -------
    mask : bool array of the given shape (height, width)
    weights : sparse matrix of shape (n_covered, n_landmarks)
        Barycentric coordinates: ``weights @ points`` are the places of the covered pixels, row by row of the mask,
        and ``weights @ other_points`` the places that belong to them in another shape. Triangles without area
        cover nothing.
    """
    owner = np.full(shape, -1)
    barycentric = np.zeros((*shape, 3))
    size = np.array(shape[::-1])
    for number, corner in enumerate(points[triangles]):
        edges = (corner[1:] - corner[0]).T
        if abs(np.linalg.det(edges)) < _EDGE:
            continue
        low = np.clip(np.ceil(corner.min(axis=0) - _EDGE), 0, size).astype(int)
        high = np.clip(np.floor(corner.max(axis=0) + _EDGE) + 1, low, size).astype(int)
        y, x = np.mgrid[low[1] : high[1], low[0] : high[0]]
        second, third = np.tensordot(np.linalg.inv(edges), np.stack([x - corner[0, 0], y - corner[0, 1]]), axes=1)
        weight = np.stack([1 - second - third, second, third], axis=-1)
        inside = (weight >= -_EDGE).all(axis=-1)
        owner[y[inside], x[inside]] = number
        barycentric[y[inside], x[inside]] = weight[inside]
    mask = owner >= 0
    corners = triangles[owner[mask]]
    rows = np.repeat(np.arange(len(corners)), 3)
    weights = csr_matrix(
        (barycentric[mask].ravel(), (rows, corners.ravel())), shape=(len(corners), len(points)), dtype=np.float64
    )
    return mask, weights


def sample(image: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Grey levels at places (n, 2), x and y, by bilinear interpolation; beyond the edge those of the edge."""
    height, width = image.shape
    x = np.clip(places[:, 0], 0, width - 1)
    y = np.clip(places[:, 1], 0, height - 1)
    left, top = x.astype(np.int64), y.astype(np.int64)
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    fx, fy = (x - left).astype(np.float32), (y - top).astype(np.float32)
    levels = image.ravel()
    above, below = top * width, bottom * width
    upper = levels[above + left] * (1 - fx) + levels[above + right] * fx
    lower = levels[below + left] * (1 - fx) + levels[below + right] * fx
    levels_there: np.ndarray = upper * (1 - fy) + lower * fy
    return levels_there


@dataclass(frozen=True)
class Frame:
    """The pixels of one shape, and where each of them lies in a face of another shape.

    Attributes
    ----------
    points : landmarks of the frame, in its pixels
    triangles : their triangulation
    mask : (height, width), the pixels inside the shape
    weights : barycentric coordinates of these, from :func:`locate`
    nearest : (height, width), number of the nearest pixel inside the shape
    """

    points: np.ndarray
    triangles: np.ndarray
    mask: np.ndarray
    weights: csr_matrix
    nearest: np.ndarray

    @classmethod
    def of_shape(cls, mean: np.ndarray, radius: float, symmetric: bool) -> Frame:
        """Frame of a unit shape at the given radius; a symmetric one has its axis on the middle column."""
        scaled = mean * radius
        low = np.floor(scaled.min(axis=0))
        high = np.ceil(scaled.max(axis=0))
        if symmetric:
            low[0] = min(low[0], -high[0])
            high[0] = -low[0]
        points = scaled - low
        width, height = (high - low + 1).astype(int)
        triangles = triangulate(points)
        mask, weights = locate(points, triangles, (height, width))
        if not mask.any():
            raise DSNAError(f"radius={radius} leaves no pixel inside the mean shape; make it larger.")
        if symmetric:
            both = mask & mask[:, ::-1]
            weights, mask = weights[both[mask]], both
        row, column = distance_transform_edt(~mask, return_distances=False, return_indices=True)
        number = np.cumsum(mask).reshape(mask.shape) - 1
        return cls(points, triangles, mask, weights, number[row, column])

    def warp(self, faces: Sequence[Face]) -> np.ndarray:
        """Grey levels (n_faces, n_pixels) of faces brought to this shape."""
        levels = np.empty((len(faces), self.weights.shape[0]), dtype=np.float32)
        for row, face in zip(levels, faces, strict=True):
            row[:] = sample(face.image, self.weights @ face.points)
        return levels

    def mirrored(self) -> np.ndarray:
        """For each pixel of a symmetric frame the number of its mirror image."""
        number = np.cumsum(self.mask).reshape(self.mask.shape) - 1
        partners: np.ndarray = number[:, ::-1][self.mask]
        return partners

    def reshaped(self, picture: np.ndarray, points: np.ndarray, background: float) -> Face:
        """A picture (height, width) of this frame brought to landmarks ``points`` about the origin."""
        low = np.floor(points.min(axis=0))
        width, height = (np.ceil(points.max(axis=0)) - low + 1).astype(int)
        mask, weights = locate(points - low, self.triangles, (height, width))
        image = np.full(mask.shape, background, dtype=np.float32)
        image[mask] = sample(picture, weights @ self.points)
        return Face(image, points - low)
