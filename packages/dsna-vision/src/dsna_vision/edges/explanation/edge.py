"""An edge explained by the training patches whose outlines were voted for there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import maximum_filter

from dsna import DSNAError

from ..detection import neighbors_at
from ..embedding import outlines_of
from ..forest import StructuredForest
from ..patches import MASK_SIDE
from ..pool import PatchPool, Voting

_OUTLINE_TOLERANCE = 2  # pixels by which sharpening may move an outline
_SEARCH_RADIUS = 3  # pixels around a place in which to look for an edge
_MIN_STRENGTH = 0.03  # of an edge in a thin map; weaker ones look black


@dataclass(frozen=True)
class ExplainedPatch:
    """A training patch that contributed to an edge.

    Parameters
    ----------
    share : float
        Share of the patch in all votes for an edge at the place; negative if it voted against one.
    outline : bool array of shape (16, 16)
        Boundary that a person drew in the centre of the patch.
    place : (int, int)
        Row and column of the edge in the outline.
    photo : str or None
        Name of the training photo; None if unknown.
    centre : (int, int) or None
        Row and column of the patch's centre in that photo; None if unknown.

    Examples
    --------
    >>> import numpy as np
    >>> ExplainedPatch(0.3, np.eye(16, dtype=bool), (8, 8), "100075", (120, 64)).origin
    '100075 at 64,120'
    """

    share: float
    outline: np.ndarray
    place: tuple[int, int]
    photo: str | None
    centre: tuple[int, int] | None

    @property
    def origin(self) -> str:
        """Photo, and column and row of the patch in it; empty if unknown."""
        if self.photo is None or self.centre is None:
            return ""
        return f"{self.photo} at {self.centre[1]},{self.centre[0]}"


@dataclass(frozen=True)
class ExplainedEdge:
    """An edge and the training patches that contributed to it.

    Parameters
    ----------
    place : (int, int)
        Row and column in the photo.
    strength : float
        Strength of the edge before thinning, from 0 to 1.
    patches : list of ExplainedPatch
        Patches of the largest shares, in descending order.
    n_patches : int
        Number of training patches that voted for or against the edge.

    Examples
    --------
    >>> ExplainedEdge((3, 4), 0.0, [], 0).patches
    []
    """

    place: tuple[int, int]
    strength: float
    patches: list[ExplainedPatch]
    n_patches: int


def check_inside(place: tuple[int, int], shape: tuple[int, ...]) -> None:
    """Raise an error if a place (row, column) lies outside a photo.

    Examples
    --------
    >>> check_inside((10, 20), (30, 40, 3))
    """
    height, width = shape[:2]
    if not (0 <= place[0] < height and 0 <= place[1] < width):
        raise DSNAError(
            f"x={place[1]}, y={place[0]} is not in the photo; x goes from 0 to {width - 1} and y to {height - 1}."
        )


def find_edge_near(lines: np.ndarray, place: tuple[int, int]) -> tuple[int, int]:
    """Find the edge pixel at a place, or else the strongest within three pixels of it.

    Parameters
    ----------
    lines : array of shape (H, W)
        Thin map.
    place : (int, int)
        Row and column.

    Examples
    --------
    >>> lines = np.zeros((9, 9))
    >>> lines[:, 6] = 0.5
    >>> lines[5, 6] = 0.75
    >>> find_edge_near(lines, (4, 5)), find_edge_near(lines, (4, 6))
    ((5, 6), (4, 6))
    """
    top, left = (max(0, int(coordinate) - _SEARCH_RADIUS) for coordinate in place)
    window = lines[top : int(place[0]) + _SEARCH_RADIUS + 1, left : int(place[1]) + _SEARCH_RADIUS + 1]
    if window.max() < _MIN_STRENGTH:
        raise DSNAError(
            f"No edge within {_SEARCH_RADIUS} pixels of {place[1]},{place[0]}. Remedy: choose a place on an edge."
        )
    if lines[place] >= _MIN_STRENGTH:
        return int(place[0]), int(place[1])
    row, column = np.unravel_index(window.argmax(), window.shape)
    return top + int(row), left + int(column)


def explain_edge(
    photo: np.ndarray,
    place: tuple[int, int],
    strength: float,
    level: tuple[StructuredForest, PatchPool, Voting],
    n: int,
    n_jobs: int | None = None,
) -> ExplainedEdge:
    """Explain an edge by the training patches whose outlines pass within two pixels of it.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    place : (int, int)
        Row and column.
    strength : float
        Strength of the edge.
    level : (StructuredForest, PatchPool, Voting)
    n : int
        Maximum number of patches to return.
    n_jobs : int or None, default=None

    Returns
    -------
    ExplainedEdge
    """
    forest, pool, voting = level
    positions, (voters, rows, weights) = neighbors_at(photo, place, forest, pool, voting, n_jobs)
    query, column = np.nonzero(weights)
    row, weight = rows[query, column], weights[query, column]
    offset = np.array(place) - positions[voters[query]] + MASK_SIDE // 2
    outlines = outlines_of(pool.mask_table.masks[pool.mask[row]]).reshape(-1, MASK_SIDE, MASK_SIDE).astype(bool)
    wide_outlines = maximum_filter(
        outlines, (1, 2 * _OUTLINE_TOLERANCE + 1, 2 * _OUTLINE_TOLERANCE + 1), mode="constant"
    )
    hit = wide_outlines[np.arange(len(row)), offset[:, 0], offset[:, 1]]
    row, weight, offset, outlines = row[hit], weight[hit], offset[hit], outlines[hit]
    patches, patch_index = np.unique(row, return_inverse=True)
    total = np.bincount(patch_index, weight, len(patches))
    total_size = float(np.abs(total).sum())
    explained = []
    for k in np.argsort(-total, kind="stable")[:n].tolist():
        votes = np.flatnonzero(patch_index == k)
        main = votes[np.abs(weight[votes]).argmax()]
        name, centre = _origin(pool, int(patches[k]))
        offset_in_outline = (int(offset[main, 0]), int(offset[main, 1]))
        explained.append(ExplainedPatch(float(total[k]) / total_size, outlines[main], offset_in_outline, name, centre))
    return ExplainedEdge(place, strength, explained, len(patches))


def _origin(pool: PatchPool, row: int) -> tuple[str | None, tuple[int, int] | None]:
    origins = pool.origins
    if origins is None:
        return None, None
    y, x = origins.centre[row].tolist()
    return origins.names[int(origins.photo[row])], (y, x)
