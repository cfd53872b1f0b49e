"""Network: from the channels and first maps of a photo to the share of people who would draw an edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from dsna.extend.containers import Array, Checked, Parts, require

from ....features.channels import MIRRORED, N_CHANNELS, TURNED, edge_channels, halved
from ...detection import as_share
from ..candidates import Candidates
from ..description import mean_and_rms
from ..planes import View, even
from .layers import ALIGNED, REACH, flow, framed, joined_planes, widths

TILE = 768  # pixels of a side that are worked on at once
_LARGEST = 1e4
_CHANNELS_REACH = 16  # pixels that a channel depends on, to each side
#: Margin of a tile, in pixels; a whole number of the coarsest level's.
_MARGIN = -(-(2 * REACH + _CHANNELS_REACH) // (2 * ALIGNED)) * 2 * ALIGNED


@dataclass
class Network(Checked):
    """A small network of convolutions at half the resolution of a photo.

    It sees the thirteen channels and the first level's maps.

    Parameters
    ----------
    offset, scale : arrays of shape (n_planes,), float32
        Planes are shifted and divided by their scale.
    layers : list of Convolution
        In the order of :func:`dsna_vision.edges.second_level.network.layers.widths`.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.edges.second_level.candidates import find_candidates
    >>> from dsna_vision.edges.second_level.network.layers import Convolution, widths
    >>> def zeros(*shape):
    ...     return np.zeros(shape, dtype=np.float32)
    >>> layers = [Convolution(zeros(n_out, n_in, 3, 3), zeros(n_out)) for n_in, n_out in widths(15)]
    >>> undecided = Network(zeros(15), zeros(15) + 1, layers)
    >>> edges = zeros(40, 40)
    >>> edges[:, 20] = 0.5
    >>> view = View(np.zeros((40, 40, 3), dtype=np.uint8), (edges,))
    >>> np.unique(undecided(view, find_candidates(edges)))
    array([0.5])
    """

    offset: np.ndarray
    scale: np.ndarray
    layers: list[Any]

    FIELDS = {
        "offset": Array("float32", "planes", -_LARGEST, _LARGEST),
        "scale": Array("float32", "planes", 1e-6, _LARGEST),
        "layers": Parts("Convolution", "layers"),
    }

    def __post_init__(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        found = [one.weight.shape[1::-1] for one in self.layers]
        require(found == widths(sizes["planes"]), "Network has layers that do not follow one another")
        require(sizes["planes"] > N_CHANNELS + 1, "Network sees no map of a first level")

    @property
    def n_maps(self) -> int:
        """How many maps of the first level it sees."""
        return len(self.offset) - N_CHANNELS - 1

    def __call__(self, view: View, candidates: Candidates, *, tile: int = TILE) -> np.ndarray:
        """Share of people who would draw each candidate.

        Parameters
        ----------
        view : View
            Of the first level.
        candidates : Candidates
        tile : int, default=768
            Pixels of a side that are worked on at once, a multiple of 16: what bounds memory.

        Returns
        -------
        array of shape (len(candidates),), float64
        """
        shares = np.empty(len(candidates))
        for inside, corner, planes in _tiles(view, candidates.places, tile):
            y, x = (candidates.places[inside] - corner).T // 2
            shares[inside] = expit(self.log_odds(planes)[y, x].astype(np.float64))
        return shares

    def log_odds(self, planes: np.ndarray) -> np.ndarray:
        """Log odds (h, w) of what :func:`network_planes` gives."""
        scaled = (planes - self.offset[:, None, None]) / self.scale[:, None, None]
        found: np.ndarray = flow(framed(scaled), self.layers, joined_planes)[0, 1:-1, 1:-1]
        return found


def network_planes(view: View, mean: np.float32) -> np.ndarray:
    """What the network sees of a view: channels, maps, and their mean relative to that of the photo.

    Parameters
    ----------
    view : View
        Of a photo, or of a part that begins at even places.
    mean : float32
        Of the maps in the whole photo.

    Returns
    -------
    array of shape (13 + n_maps + 1, ceil(H / 2), ceil(W / 2)), float32
    """
    channels, _ = edge_channels(np.moveaxis(even(np.moveaxis(view.photo, -1, 0)), 0, -1))
    maps = np.stack([*map(as_share, view.maps), view.edges / (view.edges + mean)])
    return np.concatenate([channels, halved(even(maps))]).astype(np.float32, copy=False)


def mirrored(planes: np.ndarray) -> np.ndarray:
    """Planes (n, h, w) of the mirrored photo."""
    return np.flip(planes[_and_maps(MIRRORED, len(planes))], axis=2)


def turned(planes: np.ndarray) -> np.ndarray:
    """Planes (n, h, w) of the photo turned by 90 degrees, as ``np.rot90`` turns it."""
    return np.rot90(planes[_and_maps(TURNED, len(planes))], axes=(1, 2))


def _and_maps(order: np.ndarray, n_planes: int) -> np.ndarray:
    return np.concatenate([order, np.arange(N_CHANNELS, n_planes)])


def _tiles(view: View, places: np.ndarray, side: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Numbers of the candidates in one tile after another, where it begins, and its planes."""
    mean, tile = mean_and_rms(view.edges)[0], places // side
    for top, left in np.unique(tile, axis=0):
        window, part = view.part(int(top) * side, int(left) * side, side, _MARGIN)
        corner = np.array([one.start for one in window])
        yield np.flatnonzero((tile == (top, left)).all(axis=1)), corner, network_planes(part, mean)
