"""Compact storage of masks: no duplicates, at most four segments, two bits per pixel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dsna.extend.containers import Array, Checked

_BIT_SHIFTS = np.array([0, 2, 4, 6], dtype=np.uint8)
_MAX_SEGMENTS = 4


@dataclass
class MaskTable(Checked):
    """Table of distinct masks of 16 x 16 pixels.

    Parameters
    ----------
    packed : array of shape (n, 64), uint8
        Four pixels in a byte, the first in its lowest bits.

    Examples
    --------
    >>> import numpy as np
    >>> masks = np.zeros((3, 256), dtype=np.uint8)
    >>> masks[1, 128:] = 1
    >>> table, index = MaskTable.of(masks)
    >>> index.tolist(), table.packed.shape, bool((table.masks[index] == masks).all())
    ([0, 1, 0], (2, 64), True)
    """

    packed: np.ndarray

    FIELDS = {"packed": Array("uint8", "masks, 64")}
    NOT_EMPTY = ("masks",)

    def __post_init__(self) -> None:
        self.check()

    @classmethod
    def of(cls, masks: np.ndarray) -> tuple[MaskTable, np.ndarray]:
        """Create a table of the distinct masks among ``masks`` (n, 256), and return it with the index of each mask."""
        reduced = masks.copy()
        for i in np.flatnonzero(masks.max(axis=1) >= _MAX_SEGMENTS):
            reduced[i] = _keep_largest_segments(masks[i])
        packed = np.bitwise_or.reduce(reduced.reshape(len(reduced), -1, len(_BIT_SHIFTS)) << _BIT_SHIFTS, axis=2)
        unique_masks, index = np.unique(packed, axis=0, return_inverse=True)
        return cls(unique_masks), index.ravel().astype(np.int32)

    @cached_property
    def masks(self) -> np.ndarray:
        """The masks, (n, 256) uint8."""
        pixels = (self.packed[:, :, None] >> _BIT_SHIFTS) & np.uint8(3)
        masks: np.ndarray = pixels.reshape(len(self.packed), -1)
        return masks

    @cached_property
    def has_edge(self) -> np.ndarray:
        """Whether each mask has more than one segment, (n,) bool."""
        several: np.ndarray = (self.masks != self.masks[:, :1]).any(axis=1)
        return several


def _keep_largest_segments(mask: np.ndarray) -> np.ndarray:
    """Merge the smallest segments of a mask into those that they touch most, until four are left."""
    grid = mask.reshape(16, 16).astype(np.int64)
    while True:
        segments, sizes = np.unique(grid, return_counts=True)
        if len(segments) <= _MAX_SEGMENTS:
            break
        smallest = segments[sizes.argmin()]
        in_segment = np.pad(grid == smallest, 1)
        around = (in_segment[:-2, 1:-1] | in_segment[2:, 1:-1] | in_segment[1:-1, :-2] | in_segment[1:-1, 2:]) & (
            grid != smallest
        )
        neighbours, touching = np.unique(grid[around], return_counts=True)
        grid[grid == smallest] = neighbours[touching.argmax()]
    # Segments are numbered in order of appearance.
    order = {segment: k for k, segment in enumerate(dict.fromkeys(grid.ravel().tolist()))}
    return np.array([order[segment] for segment in grid.ravel().tolist()], dtype=np.uint8)
