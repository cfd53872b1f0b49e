"""Histograms of oriented gradients of image crops."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags

from dsna import DSNAError
from dsna.extend.parameters import at_least

from .face import grey, resized


class HOG(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Histograms of oriented gradients (Dalal and Triggs), computed by scikit-image.

    Parameters
    ----------
    size : pair of int, default=(96, 96)
        Height and width to which every image is resized.
    orientations : int, default=9
        Number of bins of the gradient direction.
    pixels_per_cell, cells_per_block : pair of int, default=(16, 16) and (2, 2)
        Height and width of a cell, over which directions are counted, and of a block, over which counts are normalised.

    Attributes
    ----------
    n_features_out_ : int
        Length of a row.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.features import HOG
    >>> small, large = np.random.default_rng(0).uniform(size=(40, 40)), np.zeros((90, 120, 3))
    >>> HOG().fit_transform([small, large]).shape
    (2, 900)
    """

    _parameter_constraints: dict[str, Any] = {
        "size": "no_validation",  # pairs: see `_length`
        "orientations": [at_least(1)],
        "pixels_per_cell": "no_validation",
        "cells_per_block": "no_validation",
    }

    def __init__(
        self,
        size: tuple[int, int] = (96, 96),
        *,
        orientations: int = 9,
        pixels_per_cell: tuple[int, int] = (16, 16),
        cells_per_block: tuple[int, int] = (2, 2),
    ) -> None:
        self.size = size
        self.orientations = orientations
        self.pixels_per_cell = pixels_per_cell
        self.cells_per_block = cells_per_block

    def __sklearn_tags__(self) -> Tags:
        """Input is a sequence of images; nothing is learned from them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.requires_fit = False
        tags.no_validation = True
        return tags

    def fit(self, X: Iterable[ArrayLike] | None = None, y: Any = None) -> Self:
        """Check the parameters; images are ignored.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self
        """
        self.n_features_out_ = self._n_features_out = self._length()
        return self

    def transform(self, X: Iterable[ArrayLike]) -> np.ndarray:
        """Compute a row of histograms for each image.

        Parameters
        ----------
        X : sequence of arrays of shape (height, width) or (height, width, 3)
            Images, of equal or different sizes; colours are converted to luminance.

        Returns
        -------
        array of shape (n_images, n_features_out_)
        """
        length = self._length()
        from skimage.feature import hog

        height, width = map(int, self.size)
        rows = [
            hog(
                resized(grey(image), (width, height)),
                orientations=self.orientations,
                pixels_per_cell=tuple(self.pixels_per_cell),
                cells_per_block=tuple(self.cells_per_block),
            )
            for image in X
        ]
        return np.array(rows, dtype=np.float64).reshape(len(rows), length)

    def _length(self) -> int:
        """Return the number of columns; raise an error if no block fits into the image."""
        self._validate_params()
        for name in ("size", "pixels_per_cell", "cells_per_block"):
            value: Any = getattr(self, name)
            if np.shape(value) != (2,) or not all(
                isinstance(length, Integral) and int(length) >= 1 for length in value
            ):
                raise DSNAError(f"{name}={value!r} must be a pair of whole numbers of at least 1.")
        block_shape = np.array(self.cells_per_block)
        n_blocks = np.array(self.size) // np.array(self.pixels_per_cell) - block_shape + 1
        if n_blocks.min() < 1:
            raise DSNAError(
                f"A block of {self.cells_per_block} cells of {self.pixels_per_cell} pixels does not fit into "
                f"size={self.size!r}; make size larger, or the cells smaller."
            )
        return int(n_blocks.prod() * block_shape.prod() * self.orientations)
