"""A picture of a face with its landmarks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dsna import DSNAError

# Luma of ITU-R BT.601.
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
# Margin of a crop around the landmarks, in landmark radii.
_MARGIN = 0.5


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Face:
    """A picture of a face and the positions of its landmarks.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, 3 or 4)
        Grey levels, or colours, which are converted to luminance; an alpha channel is dropped.
    points : array of shape (n_landmarks, 2)
        x (to the right) and y (down) of each landmark, in pixels; (0, 0) is the centre of the first pixel. Points
        may lie outside the image, which is then extended by its nearest pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.features import Face
    >>> face = Face(np.zeros((400, 300, 3)), [[50, 100], [250, 100], [150, 300]])
    >>> face, round(face.radius, 1)
    (Face(300 x 400 pixels, 3 landmarks), 124.7)
    >>> face.shrunk(30), round(face.shrunk(30).radius, 1)
    (Face(72 x 78 pixels, 3 landmarks), 30.0)
    """

    image: NDArray[np.float32]
    points: NDArray[np.float64]

    def __init__(self, image: ArrayLike, points: ArrayLike) -> None:
        object.__setattr__(self, "image", grey(image))
        landmarks = np.asarray(points, dtype=np.float64)
        if landmarks.ndim != 2 or landmarks.shape[1] != 2 or len(landmarks) < 3:
            raise DSNAError(f"points has shape {landmarks.shape}; x and y of at least 3 landmarks are needed.")
        if not np.isfinite(landmarks).all():
            raise DSNAError("points contains NaN or infinity; leave out faces whose landmarks are not all known.")
        object.__setattr__(self, "points", landmarks)
        if self.radius == 0:
            raise DSNAError("All landmarks of the face are at the same position; check how its points were read.")

    def __repr__(self) -> str:
        height, width = self.image.shape
        return f"Face({width} x {height} pixels, {len(self.points)} landmarks)"

    @property
    def radius(self) -> float:
        """Root mean square distance of the landmarks from their centre, in pixels."""
        centred = self.points - self.points.mean(axis=0)
        return float(np.sqrt((centred**2).sum(axis=1).mean()))

    def shrunk(self, radius: float) -> Face:
        """Return the face at a smaller scale, cropped to a margin around its landmarks; itself if it is not larger.

        This uses no other face, so it may be done once, before a split into training and test faces.

        Parameters
        ----------
        radius : float
            Root mean square distance of the landmarks from their centre after shrinking, in pixels.
        """
        step = self.radius / radius
        if step <= 1 + 1e-9:
            return self
        size = np.array(self.image.shape[::-1])
        # Edges of the crop, in coordinates in which pixel 0 extends from 0 to 1.
        low = np.clip(np.floor(self.points.min(axis=0) + 0.5 - _MARGIN * self.radius), 0, size - 1)
        high = np.clip(np.ceil(self.points.max(axis=0) + 0.5 + _MARGIN * self.radius), low + 1, size)
        pixels = np.maximum(((high - low) / step).astype(int), 1)
        high = np.minimum(low + pixels * step, size)
        image = resized(self.image, (pixels[0], pixels[1]), (low[0], low[1], high[0], high[1]))
        return Face(image, (self.points + 0.5 - low) * pixels / (high - low) - 0.5)


def resized(
    image: NDArray[np.float32], size: tuple[int, int], crop: tuple[float, float, float, float] | None = None
) -> NDArray[np.float32]:
    """Resize grey levels, or their ``crop`` (left, top, right, bottom), to ``size`` (width, height), antialiased."""
    from PIL import Image

    return np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BILINEAR, crop))


def grey(image: ArrayLike) -> NDArray[np.float32]:
    """Return the grey levels, (height, width), of a grey or colour image."""
    levels = np.asarray(image)
    if levels.ndim == 3 and levels.shape[2] in (1, 3, 4):
        levels = levels[:, :, 0] if levels.shape[2] == 1 else levels[:, :, :3].astype(np.float32) @ _LUMA
    if levels.ndim != 2 or not levels.size:
        raise DSNAError(
            f"An image has shape {np.shape(image)}; (height, width) or (height, width, 3) with at least one pixel "
            "is needed."
        )
    levels = np.ascontiguousarray(levels, dtype=np.float32)
    if not np.isfinite(levels).all():
        raise DSNAError("An image contains NaN or infinity; give finite grey levels.")
    return levels


def check_faces(faces: Iterable[Face], n_landmarks: int | None = None) -> list[Face]:
    """Return faces as a list; raise an error unless all have ``n_landmarks`` landmarks, or as many as the first."""
    checked = list(faces)
    for number, face in enumerate(checked):
        if not isinstance(face, Face):
            raise TypeError(f"Item {number} is {type(face).__name__}, not a Face; wrap it: Face(image, points).")
        n_expected = len(checked[0].points) if n_landmarks is None else n_landmarks
        if len(face.points) != n_expected:
            raise DSNAError(
                f"Face {number} has {len(face.points)} landmarks and {n_expected} are expected; all faces of a model "
                "need the same landmarks in the same order."
            )
    if not checked:
        raise DSNAError("No faces were given; at least one is needed.")
    return checked
