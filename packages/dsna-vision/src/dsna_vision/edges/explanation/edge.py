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

_NEAR = 2  # pixels: sharpening moves an outline by so much
_WITHIN = 3  # pixels from a place within which the edge that is meant is looked for
_SEEN = 0.03  # of a thin map; what is fainter cannot be told from black


@dataclass(frozen=True)
class ExplainedPatch:
    """A training patch that an edge was made of.

    Parameters
    ----------
    share : float
        Of all votes for an edge at the place; negative where it spoke against one.
    outline : bool array of shape (16, 16)
        What a person drew in its middle.
    place : (int, int)
        Where in the outline the edge lies, row and column.
    photo : str or None
        Name of the training photo; None where the detector does not know it.
    centre : (int, int) or None
        Row and column of the patch's middle in that photo.

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
        """Photo, and column and row of the patch in it; empty where they are not known."""
        if self.photo is None or self.centre is None:
            return ""
        return f"{self.photo} at {self.centre[1]},{self.centre[0]}"


@dataclass(frozen=True)
class ExplainedEdge:
    """What an edge was made of.

    Parameters
    ----------
    place : (int, int)
        Row and column in the photo.
    strength : float
        Of the edge there, from 0 to 1, before lines are thinned.
    patches : list of ExplainedPatch
        Those of the largest shares, largest first.
    n_patches : int
        How many training patches spoke for or against an edge.

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
    """Refuse a place, row and column, outside of a photo.

    Examples
    --------
    >>> check_inside((10, 20), (30, 40, 3))
    """
    height, width = shape[:2]
    if not (0 <= place[0] < height and 0 <= place[1] < width):
        raise DSNAError(
            f"x={place[1]}, y={place[0]} is not in the photo; x goes from 0 to {width - 1} and y to {height - 1}."
        )


def edge_near(lines: np.ndarray, place: tuple[int, int]) -> tuple[int, int]:
    """The pixel of an edge that is meant by a place: the place itself, or the strongest within three pixels.

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
    >>> edge_near(lines, (4, 5)), edge_near(lines, (4, 6))
    ((5, 6), (4, 6))
    """
    top, left = (max(0, int(one) - _WITHIN) for one in place)
    near = lines[top : int(place[0]) + _WITHIN + 1, left : int(place[1]) + _WITHIN + 1]
    if near.max() < _SEEN:
        raise DSNAError(f"No edge within {_WITHIN} pixels of {place[1]},{place[0]}. Remedy: choose a place on an edge.")
    if lines[place] >= _SEEN:
        return int(place[0]), int(place[1])
    row, column = np.unravel_index(near.argmax(), near.shape)
    return top + int(row), left + int(column)


def explain_edge(
    photo: np.ndarray,
    place: tuple[int, int],
    strength: float,
    level: tuple[StructuredForest, PatchPool, Voting],
    n: int,
    n_jobs: int | None = None,
) -> ExplainedEdge:
    """Training patches whose outlines, as they were voted for, pass within two pixels of a place.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    place : (int, int)
        Row and column.
    strength : float
        Of the edge there.
    level : (StructuredForest, PatchPool, Voting)
    n : int
        Patches to name, at most.
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
    near = maximum_filter(outlines, (1, 2 * _NEAR + 1, 2 * _NEAR + 1), mode="constant")
    hit = near[np.arange(len(row)), offset[:, 0], offset[:, 1]]
    row, weight, offset, outlines = row[hit], weight[hit], offset[hit], outlines[hit]
    patches, which = np.unique(row, return_inverse=True)
    total = np.bincount(which, weight, len(patches))
    whole = float(np.abs(total).sum())
    found = []
    for k in np.argsort(-total, kind="stable")[:n].tolist():
        votes = np.flatnonzero(which == k)
        main = votes[np.abs(weight[votes]).argmax()]
        name, centre = _origin(pool, int(patches[k]))
        where = (int(offset[main, 0]), int(offset[main, 1]))
        found.append(ExplainedPatch(float(total[k]) / whole, outlines[main], where, name, centre))
    return ExplainedEdge(place, strength, found, len(patches))


def _origin(pool: PatchPool, row: int) -> tuple[str | None, tuple[int, int] | None]:
    origins = pool.origins
    if origins is None:
        return None, None
    y, x = origins.centre[row].tolist()
    return origins.names[int(origins.photo[row])], (y, x)
