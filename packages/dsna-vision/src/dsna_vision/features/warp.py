"""Piecewise affine warps of pictures of faces to one shape, triangle by triangle."""

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
    """Return Delaunay triangles, (n_triangles, 3) numbers of landmarks."""
    try:
        triangles: np.ndarray = Delaunay(points).simplices.astype(np.int64)
        return triangles
    except QhullError as error:
        raise DSNAError(
            "The landmarks span no area (all lie on one line), so there are no triangles to warp; "
            "check how the points were read."
        ) from error


def locate(points: np.ndarray, triangles: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, csr_matrix]:
    """Return the pixels covered by triangles and their barycentric coordinates.

    Returns
    -------
    mask : bool array of the given shape (height, width)
    weights : sparse matrix of shape (n_covered, n_landmarks)
        Barycentric coordinates: ``weights @ points`` are the positions of the covered pixels, in the row order of the
        mask, and ``weights @ other_points`` their positions in another shape. Triangles without area cover nothing.
    """
    triangle_of_pixel = np.full(shape, -1)
    barycentric = np.zeros((*shape, 3))
    size = np.array(shape[::-1])
    for number, triangle_corners in enumerate(points[triangles]):
        edges = (triangle_corners[1:] - triangle_corners[0]).T
        if abs(np.linalg.det(edges)) < _EDGE:
            continue
        low = np.clip(np.ceil(triangle_corners.min(axis=0) - _EDGE), 0, size).astype(int)
        high = np.clip(np.floor(triangle_corners.max(axis=0) + _EDGE) + 1, low, size).astype(int)
        y, x = np.mgrid[low[1] : high[1], low[0] : high[0]]
        second, third = np.tensordot(
            np.linalg.inv(edges), np.stack([x - triangle_corners[0, 0], y - triangle_corners[0, 1]]), axes=1
        )
        weight = np.stack([1 - second - third, second, third], axis=-1)
        is_inside = (weight >= -_EDGE).all(axis=-1)
        triangle_of_pixel[y[is_inside], x[is_inside]] = number
        barycentric[y[is_inside], x[is_inside]] = weight[is_inside]
    mask = triangle_of_pixel >= 0
    corners = triangles[triangle_of_pixel[mask]]
    rows = np.repeat(np.arange(len(corners)), 3)
    weights = csr_matrix(
        (barycentric[mask].ravel(), (rows, corners.ravel())), shape=(len(corners), len(points)), dtype=np.float64
    )
    return mask, weights


def sample(image: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return grey levels at positions (n, 2), x and y, by bilinear interpolation; the border extends outwards."""
    height, width = image.shape
    x = np.clip(positions[:, 0], 0, width - 1)
    y = np.clip(positions[:, 1], 0, height - 1)
    left, top = x.astype(np.int64), y.astype(np.int64)
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    fx, fy = (x - left).astype(np.float32), (y - top).astype(np.float32)
    levels = image.ravel()
    above, below = top * width, bottom * width
    upper = levels[above + left] * (1 - fx) + levels[above + right] * fx
    lower = levels[below + left] * (1 - fx) + levels[below + right] * fx
    sampled_levels: np.ndarray = upper * (1 - fy) + lower * fy
    return sampled_levels


@dataclass(frozen=True)
class Frame:
    """The pixels of a shape, with coordinates that locate them in faces of other shapes.

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
        """Return the frame of a unit shape at the given radius; a symmetric shape has its axis on the middle column."""
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
            symmetric_mask = mask & mask[:, ::-1]
            weights, mask = weights[symmetric_mask[mask]], symmetric_mask
        row, column = distance_transform_edt(~mask, return_distances=False, return_indices=True)
        pixel_numbers = np.cumsum(mask).reshape(mask.shape) - 1
        return cls(points, triangles, mask, weights, pixel_numbers[row, column])

    def warp(self, faces: Sequence[Face]) -> np.ndarray:
        """Return grey levels (n_faces, n_pixels) of faces warped to this shape."""
        levels = np.empty((len(faces), self.weights.shape[0]), dtype=np.float32)
        for row, face in zip(levels, faces, strict=True):
            row[:] = sample(face.image, self.weights @ face.points)
        return levels

    def mirrored(self) -> np.ndarray:
        """Return the number of the mirror image of each pixel of a symmetric frame."""
        pixel_numbers = np.cumsum(self.mask).reshape(self.mask.shape) - 1
        partners: np.ndarray = pixel_numbers[:, ::-1][self.mask]
        return partners

    def reshaped(self, picture: np.ndarray, points: np.ndarray, background: float) -> Face:
        """Warp a picture (height, width) of this frame to landmarks ``points``, centred on the origin."""
        low = np.floor(points.min(axis=0))
        width, height = (np.ceil(points.max(axis=0)) - low + 1).astype(int)
        mask, weights = locate(points - low, self.triangles, (height, width))
        image = np.full(mask.shape, background, dtype=np.float32)
        image[mask] = sample(picture, weights @ self.points)
        return Face(image, points - low)
