"""Planes of a tile of a photo, computed from its colours and maps, from which candidates are described."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...features.channels import gradient_magnitude, halved, luv, smooth
from ..detection import MARGIN, as_share

_NORMAL_RADIUS = 4  # radius of the filter applied before computing normals, as in non-maximum suppression
_TEXTURE_RADIUS = 2
_LINE_RADIUS = 1  # radius of the filter applied to thin lines
N_SCALARS = 4  # besides the maps: their mean scaled to 0..1, two gradients, texture
N_COLOURS = 3


@dataclass(frozen=True)
class View:
    """A photo with the results of earlier levels and rounds.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    maps : tuple of arrays of shape (H, W), float32
        Soft maps of votes by the first level, at several sizes or by several methods.
    lines : array of shape (H, W), float32, or None
        Thin map from the previous round; None in the first round.
    """

    photo: np.ndarray
    maps: tuple[np.ndarray, ...]
    lines: np.ndarray | None = None

    @cached_property
    def edges(self) -> np.ndarray:
        """Mean of the first level's maps."""
        total = self.maps[0].copy()
        for edges in self.maps[1:]:
            total += edges
        return total / np.float32(len(self.maps))

    def with_lines(self, lines: np.ndarray) -> View:
        """Copy with these lines, for the next round."""
        return replace(self, lines=lines)

    def part(self, top: int, left: int, size: int, margin: int = MARGIN) -> tuple[tuple[slice, slice], View]:
        """Cut out a tile, whose corner has even coordinates, with a margin; return its window and view."""
        window = (slice(max(0, top - margin), top + size + margin), slice(max(0, left - margin), left + size + margin))
        lines = None if self.lines is None else self.lines[window]
        return window, View(self.photo[window], tuple(edges[window] for edges in self.maps), lines)


class Planes(NamedTuple):
    """Planes of one resolution, in the order that ``describe_ring`` expects."""

    stack: np.ndarray  # (n_planes, h, w) float32
    n_scalars: int
    n_pairs: int

    @property
    def counts(self) -> np.ndarray:
        """Scalars, pairs of vectors, colours."""
        return np.array([self.n_scalars, self.n_pairs, N_COLOURS])

    @property
    def scalars(self) -> np.ndarray:
        """Planes that are also sampled at the candidate itself."""
        return self.stack[: self.n_scalars]

    def halved(self) -> Planes:
        """Planes at half the resolution; odd borders are repeated."""
        return self._replace(stack=halved(even(self.stack)))

    def smoothed(self, radius: int) -> np.ndarray:
        """All planes smoothed, in the layout (h, w, n_planes) that kernels expect."""
        return np.ascontiguousarray(np.moveaxis(smooth(self.stack, radius), 0, -1))


def normal_axes(edges: np.ndarray) -> np.ndarray:
    """Cosine and sine of twice the angle of the edge's normal at each pixel, (H, W, 2) float32.

    Examples
    --------
    >>> import numpy as np
    >>> wall = np.zeros((21, 21), dtype=np.float32)
    >>> wall[10] = 1
    >>> np.abs(normal_axes(wall)[10, 10]).tolist()
    [1.0, 0.0]
    """
    from ..._kernels.second_level.frames import bend_axes

    axes = np.empty((*edges.shape, 2), dtype=np.float32)
    bend_axes(np.ascontiguousarray(smooth(edges, _NORMAL_RADIUS), dtype=np.float32), axes)
    return axes


def planes_of(view: View, axes: np.ndarray) -> Planes:
    """Compute the planes of a view: maps, gradients and texture; directed edges; colours.

    Parameters
    ----------
    view : View
    axes : array of shape (H, W, 2)
        Result of :func:`normal_axes` for the mean of the maps.

    Returns
    -------
    Planes

    Examples
    --------
    >>> import numpy as np
    >>> view = View(np.zeros((20, 30, 3), dtype=np.uint8), (np.zeros((20, 30), dtype=np.float32),) * 2)
    >>> planes_of(view, normal_axes(view.edges)).stack.shape
    (11, 20, 30)
    """
    height, width = view.edges.shape
    colours = luv(view.photo)
    soft = smooth(colours, _TEXTURE_RADIUS)
    texture = np.sqrt(np.maximum(smooth((colours[0] - soft[0]) ** 2, _TEXTURE_RADIUS), np.float32(0)))
    coarse = gradient_magnitude(halved(even(colours))).repeat(2, axis=0).repeat(2, axis=1)[:height, :width]
    scalars = [*view.maps, as_share(view.edges), gradient_magnitude(colours), coarse, texture]
    directed = [view.edges]
    if view.lines is not None:
        lines = smooth(view.lines, _LINE_RADIUS)
        scalars.append(lines)
        directed.append(lines)
    pairs = [edges * axes[..., component] for edges in directed for component in range(2)]
    stack = np.stack([*scalars, *pairs, *soft]).astype(np.float32, copy=False)
    return Planes(stack, len(scalars), len(directed))


def even(maps: np.ndarray) -> np.ndarray:
    """Repeat the last row or column of maps with an odd number of them."""
    height, width = maps.shape[-2:]
    return np.pad(maps, [(0, 0), (0, height % 2), (0, width % 2)], mode="edge")
