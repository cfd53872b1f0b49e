"""Patches drawn from photos with known segmentations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import distance_transform_edt, label

from dsna import DSNAError
from dsna.extend.parallel import in_parallel, writable

from .patches import Channels, draw_centres, feature_places, near_boundary

if TYPE_CHECKING:
    from ..datasets.boundaries import BoundarySet

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

    def __getitem__(self, rows: np.ndarray) -> Patches:
        """Some of the patches, by a mask or rising numbers."""
        return Patches(self.photo[rows], self.centres[rows], self.masks[rows])

    def of_photos(self) -> Iterator[tuple[int, slice]]:
        """(number of a photo, slice of its patches), one after another."""
        ends = np.flatnonzero(np.diff(self.photo)) + 1
        for start, end in zip([0, *ends], [*ends, len(self)], strict=True):
            if end > start:
                yield int(self.photo[start]), slice(int(start), int(end))


class Drawings:
    """Photos' segmentations by several people, from which masks are cut."""

    def __init__(self, segmentations: list[list[np.ndarray]]) -> None:
        self.segmentations = segmentations
        self._near = [[near_boundary(boundary_of(one)) for one in people] for people in segmentations]

    @classmethod
    def of(cls, photos: BoundarySet, n_jobs: int | None = None) -> Drawings:
        """Segmentations read from files, the photos left alone."""
        return Drawings(in_parallel(people_of, [(photos, row) for row in range(len(photos))], n_jobs))

    def draw(self, n: int, rng: np.random.Generator, photos: Sequence[int] | None = None) -> Patches:
        """About n patches, evenly over photos, or some of them, and people; fewer where photos are small."""
        chosen = range(len(self.segmentations)) if photos is None else photos
        photo, centres, masks = [], [], []
        for place, p in enumerate(chosen):
            people = self.segmentations[p]
            n_drawings = len(chosen) * len(people)  # as if all photos had as many as this one
            for k, segmentation in enumerate(people):
                before = place * len(people) + k
                wanted = n * (before + 1) // n_drawings - n * before // n_drawings
                some = draw_centres(self._near[p][k], wanted, rng)
                photo.append(np.full(len(some), p))
                centres.append(some)
                masks.append(masks_at(segmentation, some))
        if sum(map(len, photo)) < 2:
            raise DSNAError(
                f"Too few patches can be drawn from {len(chosen)} photos: a detector learns from photos of at "
                "least 16 x 16 pixels, better several hundred, with ground truth. Give such photos, or ask for more "
                "patches (n_patches, n_pool)."
            )
        return Patches(np.concatenate(photo), np.concatenate(centres), np.concatenate(masks))


class AnnotatedPhotos(Drawings):
    """Photos with segmentations by several people, and their channels."""

    def __init__(
        self,
        photos: list[np.ndarray],
        channels: list[Channels],
        segmentations: list[list[np.ndarray]],
        names: list[str] | None = None,
    ) -> None:
        super().__init__(segmentations)
        self.names = [str(number) for number in range(len(photos))] if names is None else names
        self.photos = photos
        self.channels = channels
        self._places = {one.shape: feature_places(one.shape) for one in channels}

    @classmethod
    def of(cls, photos: BoundarySet, n_jobs: int | None = None, verbose: bool = False) -> AnnotatedPhotos:
        """Photos and segmentations read from files; segments are made of boundaries where only those are known."""
        found = in_parallel(_read, [(photos, row) for row in range(len(photos))], n_jobs, "photos" * verbose)
        pictures, channels, people = (list(part) for part in zip(*found, strict=True))
        return cls(pictures, channels, people, list(photos.names))

    def features(self, patches: Patches, which: np.ndarray) -> np.ndarray:
        """Some features of patches, (n, len(which)) float32."""
        from .._kernels.patches import look_up

        out = np.empty((len(patches), len(which)), dtype=np.float32)
        for p, rows in patches.of_photos():
            one = self.channels[p]
            first, second = self._places[one.shape]
            look_up(writable(one.flat), one.places(patches.centres[rows]), first[which], second[which], out[rows])
        return out

    def bins(self, patches: Patches, which: np.ndarray, low: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Some features of patches as bytes, (len(which), n)."""
        from .._kernels.patches import look_up_bins

        out = np.empty((len(which), len(patches)), dtype=np.uint8)
        for p, rows in patches.of_photos():
            one = self.channels[p]
            first, second = self._places[one.shape]
            some = np.empty((rows.stop - rows.start, len(which)), dtype=np.uint8)
            at = one.places(patches.centres[rows])
            look_up_bins(writable(one.flat), at, first[which], second[which], low[which], step[which], some)
            out[:, rows] = some.T
        return out


def _read(photos: BoundarySet, row: int) -> tuple[np.ndarray, Channels, list[np.ndarray]]:
    photo = photos.image(row)
    return photo, Channels(photo), people_of(photos, row)


def people_of(photos: BoundarySet, row: int) -> list[np.ndarray]:
    """Each annotator's segmentation of a photo, int64; made of boundaries where only those are known."""
    people = photos.segmentations(row) or [_segments(one) for one in photos.boundaries(row)]
    return [np.ascontiguousarray(one, dtype=np.int64) for one in people]


def masks_at(segmentation: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Masks (n, 256) around centres (n, 2) whose masks lie within the photo; segments numbered as they appear."""
    from .._kernels.patches import cut_masks

    cut = np.empty((len(centres), _MASK_AREA), dtype=np.uint8)
    cut_masks(writable(segmentation), writable(centres), cut)
    return cut


def _segments(boundary: np.ndarray) -> np.ndarray:
    """What boundaries enclose; their own pixels go to the nearest segment."""
    segments, _ = label(~boundary)
    if not segments.any():
        return np.zeros(boundary.shape, dtype=np.int64)
    y, x = distance_transform_edt(segments == 0, return_distances=False, return_indices=True)
    filled: np.ndarray = segments[y, x]
    return filled


def boundary_of(segmentation: np.ndarray) -> np.ndarray:
    """Pixels whose right or lower neighbour is of another segment."""
    edge = np.zeros(segmentation.shape, dtype=bool)
    edge[:, :-1] |= segmentation[:, :-1] != segmentation[:, 1:]
    edge[:-1] |= segmentation[:-1] != segmentation[1:]
    return edge
