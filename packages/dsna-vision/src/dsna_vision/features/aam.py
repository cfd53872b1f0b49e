"""Active appearance model: a face as a few numbers that describe how its shape and texture differ from the mean."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from dsna import DSNAError
from dsna.extend.parameters import NON_NEGATIVE, at_least

from .components import principal_components
from .face import Face, check_faces
from .shape import align, mean_shape, mirror_pairs, symmetrised, upright_symmetric
from .texture import soft_gradients, standard_levels
from .warp import Frame


class AAM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Appearance parameters of faces with landmarks.

    Shapes are aligned (Procrustes), each face is warped to the mean shape, triangle by triangle, and the principal
    components of shape and of texture are combined by a third analysis, whose scores are the parameters. Everything is
    learned from the faces given to ``fit``, so fit on training faces only.

    Parameters
    ----------
    n_components : int or float in (0, 1), default=0.9
        Number of parameters, or the share of the weighted variance of shape and texture that they explain together.
    radius : float, default=32
        Root mean square distance of the landmarks from their centre in the mean-shape frame, in pixels. Larger
        faces are shrunk first; if the model is fitted several times, do it once with :meth:`Face.shrunk`.
    texture : {"grey", "gradient", "both"}, default="both"
        Grey levels (mean 0, spread 1 in each face), image gradients ``g / (|g| + softness * median |g|)``, or
        both.
    softness : float, default=0.5
        0 keeps only the direction of a gradient; with larger values its size counts more.
    grey_weight : float, default=0.3
        Weight of the grey levels, relative to gradients, with ``texture="both"``.
    shape_weight : float, default=0.6
        Weight of the shape, relative to the texture; 0 leaves the shape out of the parameters.
    shape_energy, texture_energy : float in (0, 1], default=0.98
        Share of the variance that the components of shape and of texture keep before they are combined.
    symmetric : bool, default=True
        Average each face with its mirror image, which has the same age. That removes most of the effect of head
        rotation and of light from one side, and halves the work. Landmarks are paired by the mean shape.

    Attributes
    ----------
    mean_shape_ : array of shape (n_landmarks, 2)
        Mean shape, centred on the origin, in pixels of the frame.
    explained_variance_, explained_variance_ratio_ : arrays of shape (n_components_,)
        Variance along each parameter, and its share of the total.
    n_components_, n_shape_components_, n_texture_components_ : int
        Numbers of components.
    n_landmarks_ : int
        Number of landmarks of a face.
    frame_ : Frame
        Pixels of the mean shape.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.features import AAM, Face
    >>> rng = np.random.default_rng(0)
    >>> grid = np.array([[x, y] for y in (20, 50, 80) for x in (20, 50, 80)])
    >>> faces = [Face(rng.uniform(0, 255, (100, 100)), grid + rng.normal(0, 3, (9, 2))) for _ in range(10)]
    >>> model = AAM(n_components=4, radius=16).fit(faces[:8])
    >>> model.transform(faces[8:]).shape
    (2, 4)
    >>> model.pictures(model.transform(faces[8:])).shape == model.warp(faces[8:]).shape
    True
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [at_least(1), Interval(RealNotInt, 0, 1, closed="neither")],
        "radius": [Interval(Real, 1, None, closed="left")],
        "texture": [StrOptions({"grey", "gradient", "both"})],
        "softness": [NON_NEGATIVE],
        "grey_weight": [NON_NEGATIVE],
        "shape_weight": [NON_NEGATIVE],
        "shape_energy": [Interval(Real, 0, 1, closed="right")],
        "texture_energy": [Interval(Real, 0, 1, closed="right")],
        "symmetric": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | float = 0.9,
        *,
        radius: float = 32,
        texture: str = "both",
        softness: float = 0.5,
        grey_weight: float = 0.3,
        shape_weight: float = 0.6,
        shape_energy: float = 0.98,
        texture_energy: float = 0.98,
        symmetric: bool = True,
    ) -> None:
        self.n_components = n_components
        self.radius = radius
        self.texture = texture
        self.softness = softness
        self.grey_weight = grey_weight
        self.shape_weight = shape_weight
        self.shape_energy = shape_energy
        self.texture_energy = texture_energy
        self.symmetric = symmetric

    def __sklearn_tags__(self) -> Tags:
        """Input is a sequence of faces, not a table."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def fit(self, X: Iterable[Face], y: Any = None) -> Self:
        """Learn mean shape, components and the reconstruction of faces from parameters.

        Parameters
        ----------
        X : sequence of Face
            Training faces, all with the same landmarks in the same order.
        y : ignored

        Returns
        -------
        self
        """
        self._learn(X)
        return self

    def fit_transform(self, X: Iterable[Face], y: Any = None) -> np.ndarray:
        """Fit to faces and return their parameters; faster than ``fit`` and ``transform``.

        Parameters
        ----------
        X : sequence of Face
            Training faces.
        y : ignored

        Returns
        -------
        array of shape (n_faces, n_parameters)
        """
        return self._learn(X)

    def transform(self, X: Iterable[Face]) -> np.ndarray:
        """Compute appearance parameters of faces.

        Parameters
        ----------
        X : sequence of Face
            Faces with the landmarks of the training faces.

        Returns
        -------
        array of shape (n_faces, n_parameters)
        """
        check_is_fitted(self)
        faces = self._shrink(check_faces(X, self.n_landmarks_))
        levels = standard_levels(self.frame_.warp(faces))[0]
        return self._scores(self._shape_rows(faces), self._texture_rows(levels))

    def warp(self, X: Iterable[Face]) -> np.ndarray:
        """Warp faces to the mean shape, for comparison with :meth:`pictures`.

        Parameters
        ----------
        X : sequence of Face
            As in :meth:`transform`.

        Returns
        -------
        array of shape (n_faces, height, width)
            Grey levels, NaN outside the shape.
        """
        check_is_fitted(self)
        return self._as_pictures(self.frame_.warp(self._shrink(check_faces(X, self.n_landmarks_))))

    def pictures(self, X: Any) -> np.ndarray:
        """Reconstruct pictures in the mean-shape frame from parameters, by least squares.

        Parameters
        ----------
        X : array of shape (n_faces, n_parameters)
            Parameters of faces, or combinations of them.

        Returns
        -------
        array of shape (n_faces, height, width)
            Grey levels, at the mean brightness and contrast of the training faces; NaN outside the shape.
        """
        check_is_fitted(self)
        levels = self._mean_levels + self._check_scores(X) @ self._levels_of_scores
        full = np.empty((len(levels), self.frame_.weights.shape[0]), dtype=np.float32)
        full[:, self._pixels] = levels
        full[:, self._partners] = levels
        return self._as_pictures(full * self._contrast + self._brightness)

    def inverse_transform(self, X: Any) -> list[Face]:
        """Reconstruct faces from parameters: pictures in their own shape, with landmarks.

        Parameters
        ----------
        X : array of shape (n_faces, n_parameters)
            As in :meth:`pictures`.

        Returns
        -------
        list of Face
            At the scale of the mean-shape frame; white outside the landmarks.
        """
        pictures = self.pictures(X)
        shapes = (self._mean_shape_row + self._check_scores(X) @ self._shape_of_scores).reshape(len(pictures), -1, 2)
        return [
            self.frame_.reshaped(picture[self.frame_.mask][self.frame_.nearest], shape * self.radius, 255.0)
            for picture, shape in zip(pictures, shapes, strict=True)
        ]

    def _learn(self, X: Iterable[Face]) -> np.ndarray:
        """Set the fitted attributes; return the parameters of the faces."""
        self._validate_params()
        faces = check_faces(X)
        if len(faces) < 2:
            raise DSNAError("One face was given; fit needs at least two different faces.")
        faces = self._shrink(faces)
        self.n_landmarks_ = len(faces[0].points)
        self._mean = mean_shape(np.array([face.points for face in faces]))
        if self.symmetric:
            self._pairs = mirror_pairs(self._mean)
            self._mean = upright_symmetric(self._mean, self._pairs)
        self.frame_ = Frame.of_shape(self._mean, self.radius, self.symmetric)
        self.mean_shape_ = self._mean * self.radius
        self._select_pixels()
        levels, brightness, contrast = standard_levels(self.frame_.warp(faces))
        self._brightness, self._contrast = float(brightness.mean()), float(contrast.mean())
        shape_rows, texture_rows = self._shape_rows(faces), self._texture_rows(levels, learn=True)
        scores = self._join(shape_rows, texture_rows)
        self._fit_reconstruction(scores, shape_rows, levels)
        return scores

    def _shrink(self, faces: list[Face]) -> list[Face]:
        return [face.shrunk(self.radius) for face in faces]

    def _select_pixels(self) -> None:
        """Select the pixels to keep, one half of a symmetric face or all, and the mirror image of each."""
        all_pixels = np.arange(self.frame_.weights.shape[0])
        mirrored = self.frame_.mirrored() if self.symmetric else all_pixels
        columns = np.nonzero(self.frame_.mask)[1]
        is_kept = columns <= columns[mirrored] if self.symmetric else np.ones(len(all_pixels), dtype=bool)
        self._pixels, self._partners = all_pixels[is_kept], mirrored[is_kept]

    def _shape_rows(self, faces: list[Face]) -> np.ndarray:
        shapes = align(np.array([face.points for face in faces]), self._mean)
        if self.symmetric:
            shapes = symmetrised(shapes, self._pairs)
        return shapes.reshape(len(faces), -1)

    def _folded(self, texture: np.ndarray, sign: int = 1) -> np.ndarray:
        """Average textures with their mirror images on the kept pixels; ``sign`` is -1 for horizontal gradients."""
        if not self.symmetric:
            return texture
        folded: np.ndarray = (texture[:, self._pixels] + sign * texture[:, self._partners]) / 2
        return folded

    def _texture_rows(self, levels: np.ndarray, learn: bool = False) -> np.ndarray:
        """Concatenate weighted textures; ``learn`` sets their scales from training faces."""
        textures, weights = [], []
        if self.texture != "gradient":
            textures.append(self._folded(levels))
            weights.append(1.0 if self.texture == "grey" else self.grey_weight)
        if self.texture != "grey":
            horizontal, vertical = soft_gradients(levels, self.frame_, self.softness)
            textures.append(np.hstack([self._folded(horizontal, -1), self._folded(vertical)]))
            weights.append(1.0)
        if learn:
            self._scales = [weight / _spread(texture) for weight, texture in zip(weights, textures, strict=True)]
        return np.hstack([texture * np.float32(scale) for texture, scale in zip(textures, self._scales, strict=True)])

    def _join(self, shape_rows: np.ndarray, texture_rows: np.ndarray) -> np.ndarray:
        """Learn the components of shape, of texture and of both; return the parameters."""
        weight = self.shape_weight / _spread(shape_rows)
        shape = principal_components(shape_rows, float(self.shape_energy)) if weight > 0 else None
        texture = principal_components(texture_rows, float(self.texture_energy))
        self.n_shape_components_ = 0 if shape is None else len(shape.variance)
        self.n_texture_components_ = len(texture.variance)
        joint_rows = [texture.scores(texture_rows).astype(np.float64)]
        if shape is not None:
            joint_rows.append(weight * shape.scores(shape_rows))
        joint = principal_components(np.hstack(joint_rows), self.n_components)
        texture_rotation, shape_rotation = np.split(joint.basis, [self.n_texture_components_])
        self._texture_basis = texture.basis @ texture_rotation.astype(np.float32)
        self._texture_offset = texture.mean @ self._texture_basis
        if shape is None:
            self._shape_basis = np.zeros((shape_rows.shape[1], len(joint.variance)))
        else:
            self._shape_basis = weight * shape.basis @ shape_rotation
        self._shape_offset = shape_rows.mean(axis=0) @ self._shape_basis
        self.explained_variance_ = joint.variance
        self.explained_variance_ratio_ = joint.variance / joint.total
        self.n_components_ = self._n_features_out = len(joint.variance)
        return self._scores(shape_rows, texture_rows)

    def _scores(self, shape_rows: np.ndarray, texture_rows: np.ndarray) -> np.ndarray:
        texture = texture_rows @ self._texture_basis - self._texture_offset
        joined: np.ndarray = texture.astype(np.float64) + (shape_rows @ self._shape_basis - self._shape_offset)
        return joined

    def _fit_reconstruction(self, scores: np.ndarray, shape_rows: np.ndarray, levels: np.ndarray) -> None:
        """Learn least-squares maps from parameters, which are uncorrelated, to grey levels and shape."""
        folded_levels = self._folded(levels)
        self._mean_levels = folded_levels.mean(axis=0)
        self._mean_shape_row = shape_rows.mean(axis=0)
        per_score = scores.T / (len(scores) * self.explained_variance_[:, None])
        self._levels_of_scores = per_score.astype(np.float32) @ (folded_levels - self._mean_levels)
        self._shape_of_scores = per_score @ (shape_rows - self._mean_shape_row)

    def _as_pictures(self, levels: np.ndarray) -> np.ndarray:
        """Arrange grey levels (n, n_pixels) as pictures."""
        pictures = np.full((len(levels), *self.frame_.mask.shape), np.nan, dtype=np.float32)
        pictures[:, self.frame_.mask] = levels
        return pictures

    def _check_scores(self, X: Any) -> np.ndarray:
        scores: np.ndarray = check_array(X, dtype=np.float64)
        if scores.shape[1] != self.n_components_:
            raise DSNAError(f"X has {scores.shape[1]} columns; the model has {self.n_components_} parameters.")
        return scores


def _spread(rows: np.ndarray) -> float:
    """Return the root mean square distance of rows from their mean; 1 if all rows are equal."""
    spread = float(np.sqrt(rows.var(axis=0, dtype=np.float64).sum()))
    return spread if spread > 0 else 1.0
