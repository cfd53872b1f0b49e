"""What candidates are described by: planes of a part of a photo, from its colours and its maps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...features.channels import gradient_magnitude, halved, luv, smooth
from ..detection import MARGIN, as_share

_DIRECTIONS_OVER = 4  # radius of the filter before directions are taken, as in non-maximum suppression
_TEXTURE_OVER = 2
_LINE_OVER = 1  # what thin lines are smoothed by before they are looked at
N_SCALARS = 4  # besides the maps: their mean as a share, two gradients, texture
N_COLOURS = 3


@dataclass(frozen=True)
class View:
    """A photo with what earlier levels and rounds have made of it.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    maps : tuple of arrays of shape (H, W), float32
        Soft maps of votes by the first level, at several sizes or by several methods.
    lines : array of shape (H, W), float32, or None
        Thin map by the round before; None in the first round.
    """

    photo: np.ndarray
    maps: tuple[np.ndarray, ...]
    lines: np.ndarray | None = None

    @cached_property
    def edges(self) -> np.ndarray:
        """Mean of the first level's maps."""
        total = self.maps[0].copy()
        for one in self.maps[1:]:
            total += one
        return total / np.float32(len(self.maps))

    def after(self, lines: np.ndarray) -> View:
        """The same in the next round."""
        return replace(self, lines=lines)

    def part(self, top: int, left: int, side: int, margin: int = MARGIN) -> tuple[tuple[slice, slice], View]:
        """The pixels of a tile that begins at even places, cut out with a margin; and where they lie."""
        window = (slice(max(0, top - margin), top + side + margin), slice(max(0, left - margin), left + side + margin))
        lines = None if self.lines is None else self.lines[window]
        return window, View(self.photo[window], tuple(one[window] for one in self.maps), lines)


class Planes(NamedTuple):
    """Planes of one resolution, in the order in which ``describe_ring`` takes them."""

    stack: np.ndarray  # (n_planes, h, w) float32
    n_scalars: int
    n_pairs: int

    @property
    def counts(self) -> np.ndarray:
        """Scalars, pairs of vectors, colours."""
        return np.array([self.n_scalars, self.n_pairs, N_COLOURS])

    @property
    def scalars(self) -> np.ndarray:
        """Planes that are looked at in the candidate itself, too."""
        return self.stack[: self.n_scalars]

    def halved(self) -> Planes:
        """The same at half the resolution; borders of odd length are repeated."""
        return self._replace(stack=halved(even(self.stack)))

    def smoothed(self, radius: int) -> np.ndarray:
        """All planes smoothed, (h, w, n_planes), as kernels take them."""
        return np.ascontiguousarray(np.moveaxis(smooth(self.stack, radius), 0, -1))


def normal_axes(edges: np.ndarray) -> np.ndarray:
    """Doubled angle of the normal of the edge in each pixel, as cosine and sine, (H, W, 2) float32.

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
    bend_axes(np.ascontiguousarray(smooth(edges, _DIRECTIONS_OVER), dtype=np.float32), axes)
    return axes


def planes_of(view: View, axes: np.ndarray) -> Planes:
    """Planes of a view: maps, gradients and texture; directed edges; colours.

    Parameters
    ----------
    view : View
    axes : array of shape (H, W, 2)
        As :func:`normal_axes` gives it, for the mean of the maps.

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
    soft = smooth(colours, _TEXTURE_OVER)
    texture = np.sqrt(np.maximum(smooth((colours[0] - soft[0]) ** 2, _TEXTURE_OVER), np.float32(0)))
    coarse = gradient_magnitude(halved(even(colours))).repeat(2, axis=0).repeat(2, axis=1)[:height, :width]
    scalars = [*view.maps, as_share(view.edges), gradient_magnitude(colours), coarse, texture]
    directed = [view.edges]
    if view.lines is not None:
        lines = smooth(view.lines, _LINE_OVER)
        scalars.append(lines)
        directed.append(lines)
    pairs = [one * axes[..., part] for one in directed for part in range(2)]
    stack = np.stack([*scalars, *pairs, *soft]).astype(np.float32, copy=False)
    return Planes(stack, len(scalars), len(directed))


def even(maps: np.ndarray) -> np.ndarray:
    """Maps whose last row or column is repeated where there is an odd number."""
    height, width = maps.shape[-2:]
    return np.pad(maps, [(0, 0), (0, height % 2), (0, width % 2)], mode="edge")
