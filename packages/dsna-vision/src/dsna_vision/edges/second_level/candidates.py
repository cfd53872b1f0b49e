"""Candidates: pixels that remain when the first map is thinned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..detection import as_share
from ..suppression import suppress

_MIN_STRENGTH = 0.03  # weaker pixels of the thinned map are no candidates


@dataclass(frozen=True)
class Candidates:
    """Pixels where an edge may be.

    Parameters
    ----------
    pixels : array of shape (n, 2), int64
        Row and column of each pixel, in row-major order.
    strength : array of shape (n,), float32
        Strength in the thinned map.
    """

    pixels: np.ndarray
    strength: np.ndarray

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, rows: np.ndarray) -> Candidates:
        """Select candidates."""
        return Candidates(self.pixels[rows], self.strength[rows])

    def on_map(self, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Create a map of this shape with the given values at the candidates and 0 elsewhere."""
        edges = np.zeros(shape, dtype=np.float32)
        edges[self.pixels[:, 0], self.pixels[:, 1]] = values
        return edges


def find_candidates(edges: np.ndarray) -> Candidates:
    """Find the candidates of a soft map of votes.

    Parameters
    ----------
    edges : array of shape (H, W), float32

    Returns
    -------
    Candidates

    Examples
    --------
    >>> import numpy as np
    >>> ridge = np.tile(np.array([0, 0, 0, 0, 0.1, 0.3, 0.1, 0, 0, 0, 0], dtype=np.float32), (12, 1))
    >>> candidates = find_candidates(ridge)
    >>> sorted(set(candidates.pixels[:, 1].tolist())), round(float(candidates.strength.max()), 2)
    ([5], 0.6)
    """
    thin = suppress(as_share(edges))
    pixels = np.argwhere(thin > _MIN_STRENGTH)
    return Candidates(pixels, thin[pixels[:, 0], pixels[:, 1]])
