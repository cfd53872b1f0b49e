"""Masks kept in little space: alike ones once, four segments at most, two bits a pixel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dsna.extend.containers import Array, Checked

_BITS = np.array([0, 2, 4, 6], dtype=np.uint8)
_SEGMENTS = 4


@dataclass
class MaskTable(Checked):
    """Different masks of 16 x 16 pixels.

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
        """A table of the different ones among masks (n, 256), and the index of each in it."""
        few = masks.copy()
        for i in np.flatnonzero(masks.max(axis=1) >= _SEGMENTS):
            few[i] = _largest(masks[i])
        packed = np.bitwise_or.reduce(few.reshape(len(few), -1, len(_BITS)) << _BITS, axis=2)
        different, index = np.unique(packed, axis=0, return_inverse=True)
        return cls(different), index.ravel().astype(np.int32)

    @cached_property
    def masks(self) -> np.ndarray:
        """The masks, (n, 256) uint8."""
        pixels = (self.packed[:, :, None] >> _BITS) & np.uint8(3)
        masks: np.ndarray = pixels.reshape(len(self.packed), -1)
        return masks

    @cached_property
    def has_edge(self) -> np.ndarray:
        """Which masks have more than one segment, (n,) bool."""
        several: np.ndarray = (self.masks != self.masks[:, :1]).any(axis=1)
        return several


def _largest(mask: np.ndarray) -> np.ndarray:
    """A mask whose smallest segments have become part of those that they touch most, until four are left."""
    grid = mask.reshape(16, 16).astype(np.int64)
    while True:
        segments, sizes = np.unique(grid, return_counts=True)
        if len(segments) <= _SEGMENTS:
            break
        small = segments[sizes.argmin()]
        inside = np.pad(grid == small, 1)
        around = (inside[:-2, 1:-1] | inside[2:, 1:-1] | inside[1:-1, :-2] | inside[1:-1, 2:]) & (grid != small)
        neighbours, touching = np.unique(grid[around], return_counts=True)
        grid[grid == small] = neighbours[touching.argmax()]
    # Numbered as they appear.
    order = {segment: k for k, segment in enumerate(dict.fromkeys(grid.ravel().tolist()))}
    return np.array([order[segment] for segment in grid.ravel().tolist()], dtype=np.uint8)
