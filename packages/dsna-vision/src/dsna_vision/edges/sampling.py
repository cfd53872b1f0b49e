"""Patches drawn from photos with known segmentations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import distance_transform_edt, label

from dsna import DSNAError
from dsna.extend.parallel import in_parallel, writable

from .patches import Channels, draw_centres, feature_offsets, near_boundary

if TYPE_CHECKING:
    from ..datasets.boundaries import BoundarySet

_MASK_AREA = 256


@dataclass
class Patches:
    """Patches of several photos, in the order of the photos.

    Parameters
    ----------
    photo : array of shape (n,)
        Number of the photo that each patch is from, in ascending order.
    centres : array of shape (n, 2)
    masks : array of shape (n, 256), uint8
    """

    photo: np.ndarray
    centres: np.ndarray
    masks: np.ndarray

    def __len__(self) -> int:
        return len(self.photo)

    def __getitem__(self, rows: np.ndarray) -> Patches:
        """Select patches by a mask or by ascending indices."""
        return Patches(self.photo[rows], self.centres[rows], self.masks[rows])

    def of_photos(self) -> Iterator[tuple[int, slice]]:
        """Yield the number of each photo and the slice of its patches."""
        ends = np.flatnonzero(np.diff(self.photo)) + 1
        for start, end in zip([0, *ends], [*ends, len(self)], strict=True):
            if end > start:
                yield int(self.photo[start]), slice(int(start), int(end))


class Drawings:
    """Segmentations of photos by several people, from which masks are cut."""

    def __init__(self, segmentations: list[list[np.ndarray]]) -> None:
        self.segmentations = segmentations
        self._near_maps = [
            [near_boundary(boundary_of(segmentation)) for segmentation in people] for people in segmentations
        ]

    @classmethod
    def of(cls, photos: BoundarySet, n_jobs: int | None = None) -> Drawings:
        """Read the segmentations, but not the photos, from files."""
        return Drawings(in_parallel(segmentations_of, [(photos, row) for row in range(len(photos))], n_jobs))

    def draw(self, n: int, rng: np.random.Generator, photos: Sequence[int] | None = None) -> Patches:
        """Draw about n patches, spread evenly over photos and people; fewer if photos are small."""
        photo_numbers = range(len(self.segmentations)) if photos is None else photos
        photo, centres, masks = [], [], []
        for position, number in enumerate(photo_numbers):
            people = self.segmentations[number]
            n_drawings = len(photo_numbers) * len(people)  # if all photos had as many as this one
            for k, segmentation in enumerate(people):
                n_previous = position * len(people) + k
                n_wanted = n * (n_previous + 1) // n_drawings - n * n_previous // n_drawings
                drawn_centres = draw_centres(self._near_maps[number][k], n_wanted, rng)
                photo.append(np.full(len(drawn_centres), number))
                centres.append(drawn_centres)
                masks.append(masks_around(segmentation, drawn_centres))
        if sum(map(len, photo)) < 2:
            raise DSNAError(
                f"Too few patches can be drawn from {len(photo_numbers)} photos: a detector learns from photos of at "
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
        self._offsets = {channel.shape: feature_offsets(channel.shape) for channel in channels}

    @classmethod
    def of(cls, photos: BoundarySet, n_jobs: int | None = None, verbose: bool = False) -> AnnotatedPhotos:
        """Read photos and segmentations from files; segments are derived from boundaries if there are no others."""
        annotated = in_parallel(_read, [(photos, row) for row in range(len(photos))], n_jobs, "photos" * verbose)
        pictures, channels, people = (list(column) for column in zip(*annotated, strict=True))
        return cls(pictures, channels, people, list(photos.names))

    def features(self, patches: Patches, indices: np.ndarray) -> np.ndarray:
        """Selected features of patches, (n, len(indices)) float32."""
        from .._kernels.patches import look_up

        out = np.empty((len(patches), len(indices)), dtype=np.float32)
        for number, rows in patches.of_photos():
            channels = self.channels[number]
            first, second = self._offsets[channels.shape]
            look_up(
                writable(channels.flat),
                channels.starts(patches.centres[rows]),
                first[indices],
                second[indices],
                out[rows],
            )
        return out

    def bins(self, patches: Patches, indices: np.ndarray, low: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Selected features of patches as bytes, (len(indices), n)."""
        from .._kernels.patches import look_up_bins

        out = np.empty((len(indices), len(patches)), dtype=np.uint8)
        for number, rows in patches.of_photos():
            channels = self.channels[number]
            first, second = self._offsets[channels.shape]
            photo_bins = np.empty((rows.stop - rows.start, len(indices)), dtype=np.uint8)
            starts = channels.starts(patches.centres[rows])
            look_up_bins(
                writable(channels.flat),
                starts,
                first[indices],
                second[indices],
                low[indices],
                step[indices],
                photo_bins,
            )
            out[:, rows] = photo_bins.T
        return out


def _read(photos: BoundarySet, row: int) -> tuple[np.ndarray, Channels, list[np.ndarray]]:
    photo = photos.image(row)
    return photo, Channels(photo), segmentations_of(photos, row)


def segmentations_of(photos: BoundarySet, row: int) -> list[np.ndarray]:
    """Each annotator's segmentation of a photo, int64; derived from boundaries if there is none."""
    people = photos.segmentations(row) or [_segments(drawing) for drawing in photos.boundaries(row)]
    return [np.ascontiguousarray(drawing, dtype=np.int64) for drawing in people]


def masks_around(segmentation: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Masks (n, 256) around centres (n, 2), within the photo; segments are numbered in order of appearance."""
    from .._kernels.patches import cut_masks

    masks = np.empty((len(centres), _MASK_AREA), dtype=np.uint8)
    cut_masks(writable(segmentation), writable(centres), masks)
    return masks


def _segments(boundary: np.ndarray) -> np.ndarray:
    """Segments enclosed by boundaries; boundary pixels go to the nearest segment."""
    segments, _ = label(~boundary)
    if not segments.any():
        return np.zeros(boundary.shape, dtype=np.int64)
    y, x = distance_transform_edt(segments == 0, return_distances=False, return_indices=True)
    filled: np.ndarray = segments[y, x]
    return filled


def boundary_of(segmentation: np.ndarray) -> np.ndarray:
    """Pixels whose right or lower neighbour belongs to another segment."""
    edge = np.zeros(segmentation.shape, dtype=bool)
    edge[:, :-1] |= segmentation[:, :-1] != segmentation[:, 1:]
    edge[:-1] |= segmentation[:-1] != segmentation[1:]
    return edge
