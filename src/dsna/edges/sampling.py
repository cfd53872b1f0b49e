"""Patches drawn from photos with known segmentations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .patches import Channels, draw_centres, feature_places, near_boundary

_MASK_AREA = 256


@dataclass
class Patches:
    """Patches of several photos, in the order of the photos.

    Parameters
    ----------
    photo : array of shape (n,)
        Which photo each patch is from; not falling.
    centres : array of shape (n, 2)
    masks : array of shape (n, 256), uint8
    """

    photo: np.ndarray
    centres: np.ndarray
    masks: np.ndarray

    def __len__(self) -> int:
        return len(self.photo)

    def of_photos(self):
        """(number of a photo, slice of its patches), one after another."""
        ends = np.flatnonzero(np.diff(self.photo)) + 1
        for start, end in zip([0, *ends], [*ends, len(self)], strict=True):
            if end > start:
                yield int(self.photo[start]), slice(int(start), int(end))


class Album:
    """Photos with segmentations by several people, and their channels."""

    def __init__(self, channels: list[Channels], segmentations: list[list[np.ndarray]]) -> None:
        self.channels = channels
        self.segmentations = segmentations
        self._near = [[near_boundary(boundary_of(one)) for one in people] for people in segmentations]
        self._places = {one.shape: feature_places(one.shape) for one in channels}

    def draw(self, n: int, rng: np.random.Generator, photos=None) -> Patches:
        """About n patches, evenly over photos and people."""
        from .._kernels.patches import cut_masks

        photos = np.arange(len(self.channels)) if photos is None else photos
        each = np.array([len(self.segmentations[p]) for p in photos])
        share = n / len(photos)
        photo, centres, masks = [], [], []
        for p, people in zip(photos, each, strict=True):
            for k, segmentation in enumerate(self.segmentations[p]):
                wanted = int(share * (k + 1) / people) - int(share * k / people)
                some = draw_centres(self._near[p][k], wanted, rng)
                cut = np.empty((len(some), _MASK_AREA), dtype=np.uint8)
                cut_masks(segmentation, some, cut)
                photo.append(np.full(len(some), p))
                centres.append(some)
                masks.append(cut)
        return Patches(np.concatenate(photo), np.concatenate(centres), np.concatenate(masks))

    def features(self, patches: Patches, which: np.ndarray) -> np.ndarray:
        """Some features of patches, (n, len(which)) float32."""
        from .._kernels.patches import look_up

        out = np.empty((len(patches), len(which)), dtype=np.float32)
        for p, rows in patches.of_photos():
            one = self.channels[p]
            first, second = self._places[one.shape]
            look_up(one.flat, one.places(patches.centres[rows]), first[which], second[which], out[rows])
        return out

    def bins(self, patches: Patches, which: np.ndarray, low: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Some features of patches as bytes, (len(which), n)."""
        from .._kernels.patches import look_up_bins

        out = np.empty((len(which), len(patches)), dtype=np.uint8)
        for p, rows in patches.of_photos():
            one = self.channels[p]
            first, second = self._places[one.shape]
            some = np.empty((rows.stop - rows.start, len(which)), dtype=np.uint8)
            look_up_bins(
                one.flat, one.places(patches.centres[rows]), first[which], second[which], low[which], step[which], some
            )
            out[:, rows] = some.T
        return out


def boundary_of(segmentation: np.ndarray) -> np.ndarray:
    """Pixels whose right or lower neighbour is of another segment."""
    edge = np.zeros(segmentation.shape, dtype=bool)
    edge[:, :-1] |= segmentation[:, :-1] != segmentation[:, 1:]
    edge[:-1] |= segmentation[:-1] != segmentation[1:]
    return edge
