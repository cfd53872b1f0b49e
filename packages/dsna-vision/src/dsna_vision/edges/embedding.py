"""A compact description of patches in which distances reflect differences between edges.

Reduced-rank regression: the blurred outline of a patch is predicted linearly from its pooled channels and from a first
edge map around it; the leading principal components of the predictions are the description.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dsna.extend.containers import Array, Checked
from dsna.extend.kernels import rowwise_product
from dsna.extend.parallel import writable

from ..features.channels import MIRRORED, N_CHANNELS, halved, smooth
from .patches import CELLS, HALF, MASK_SIDE, STRIDE, Channels

_POOLED = HALF // 2
N_POOLED = N_CHANNELS * (_POOLED**2 + len(CELLS) ** 2)
_CELL_SIZES, _ACROSS = (
    (2, 4, 8, 16),
    8,
)  # side of a cell in pixels (the smallest cells together cover a mask); cells per row
_REACH = _CELL_SIZES[-1] * _ACROSS // 2
N_CONTEXT = 2 * len(_CELL_SIZES) * _ACROSS**2
N_DESCRIBED = N_POOLED + N_CONTEXT
_MIN_MEAN = 1e-3  # lower limit for the mean of a map, which may be zero
_BLUR, _RIDGE = 2, 0.01
_MAX_WEIGHT = 1e20  # limit for weights, so that their sums stay within float32


def pooled_features(channels: Channels, starts: np.ndarray) -> np.ndarray:
    """Look up the channels of patches on grids of 8 x 8 cells and, strongly smoothed, of 5 x 5 cells.

    Parameters
    ----------
    channels : Channels
    starts : array of shape (n,)
        Start of each patch in the flat channels.

    Returns
    -------
    array of shape (n, 1157), float32

    Examples
    --------
    >>> import numpy as np
    >>> channels = Channels(np.zeros((20, 30, 3), dtype=np.uint8))
    >>> pooled_features(channels, channels.starts(np.array([[4, 6]]))).shape
    (1, 1157)
    """
    from .._kernels.patches import look_up

    height, width = channels.shape
    planes = np.arange(N_CHANNELS)[:, None] * height * width
    grid = np.arange(0, HALF, 2)
    pixels = (grid[:, None] * width + grid).ravel()
    cells = (CELLS[:, None] * width + CELLS).ravel()
    first = np.concatenate([(planes + pixels).ravel(), (planes + N_CHANNELS * height * width + cells).ravel()])
    out = np.empty((len(starts), N_POOLED), dtype=np.float32)
    look_up(writable(channels.pooled), writable(starts), first, np.full(N_POOLED, -1), out)
    return out


def mirror_image() -> tuple[np.ndarray, np.ndarray]:
    """Indices that mirror a patch: of the features of :func:`describe`, and of the pixels of a mask.

    Examples
    --------
    >>> feature, pixel = mirror_image()
    >>> len(feature), pixel[:3], bool((feature[feature] == range(len(feature))).all())
    (1669, array([15, 14, 13]), True)
    """
    planes = np.arange(N_CONTEXT // _ACROSS**2)
    feature_blocks: list[np.ndarray] = []
    n_previous = 0
    for order, size in ((MIRRORED, _POOLED), (MIRRORED, len(CELLS)), (planes, _ACROSS)):
        block_indices = n_previous + np.arange(len(order) * size**2).reshape(-1, size, size)
        feature_blocks.append(block_indices[order][:, :, ::-1].ravel())
        n_previous += block_indices.size
    return np.concatenate(feature_blocks), np.arange(MASK_SIDE**2).reshape(MASK_SIDE, -1)[:, ::-1].ravel()


def describe(channels: Channels, starts: np.ndarray, context: Context, positions: np.ndarray) -> np.ndarray:
    """Features for the embedding: pooled channels and context, (n, 1669) float32."""
    return np.concatenate([pooled_features(channels, starts), context.features(positions)], axis=1)


class Context:
    """A first edge map in and around patches, in absolute values and relative to the photo's mean.

    Relative values distinguish a strong edge in a photo with few edges from a weak one in a photo with many.

    Parameters
    ----------
    edges : array of shape (H, W), float32
        Map from the masks of the leaves.

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.zeros((20, 30), dtype=np.float32)
    >>> edges[:, 10] = 1
    >>> Context(edges).features(np.array([[8, 10]]))[0, :8]
    array([0. , 0. , 0. , 0. , 0.5, 0. , 0. , 0. ], dtype=float32)
    """

    def __init__(self, edges: np.ndarray) -> None:
        relative = edges / (edges + max(edges.mean(), _MIN_MEAN))
        pads = [(_REACH, _REACH + length % STRIDE) for length in edges.shape]
        planes = []
        for values in (edges, relative):
            plane = halved(np.pad(values, pads, mode="symmetric"))
            planes.append(plane)
            for size in _CELL_SIZES[:-1]:
                plane = _cell_means(plane, size // STRIDE)
                planes.append(plane)
        self._planes = np.stack(planes).astype(np.float32, copy=False)

    def features(self, positions: np.ndarray) -> np.ndarray:
        """Means over 8 x 8 cells of four sizes around positions (y, x), both even: (n, 512)."""
        from .._kernels.patches import look_up

        n_planes, height, width = self._planes.shape
        cell_offsets = []
        for level in range(n_planes):
            size = _CELL_SIZES[level % len(_CELL_SIZES)]
            cells = (_REACH + size * np.arange(-_ACROSS // 2, _ACROSS // 2)) // STRIDE
            cell_offsets.append(level * height * width + (cells[:, None] * width + cells).ravel())
        out = np.empty((len(positions), N_CONTEXT), dtype=np.float32)
        offsets = positions[:, 0] // STRIDE * width + positions[:, 1] // STRIDE
        look_up(self._planes.ravel(), offsets, np.concatenate(cell_offsets), np.full(N_CONTEXT, -1), out)
        return out


def _cell_means(values: np.ndarray, distance: int) -> np.ndarray:
    """Means of 2 x 2 values that lie ``distance``, from each one to the right and down."""
    rows = values + np.roll(values, -distance, axis=0)
    means: np.ndarray = (rows + np.roll(rows, -distance, axis=1)) * np.float32(0.25)
    return means


def blurred_outlines(masks: np.ndarray) -> np.ndarray:
    """Smoothed outlines of masks (n, 256), by which patches are compared.

    Examples
    --------
    >>> halves = np.arange(256, dtype=np.uint8)[None] % 16 // 8
    >>> blurred_outlines(halves).reshape(16, 16)[8, 5:11].round(2)
    array([0.11, 0.33, 0.56, 0.56, 0.33, 0.11], dtype=float32)
    """
    edges = outlines_of(masks).reshape(-1, MASK_SIDE, MASK_SIDE).astype(np.float32)
    return smooth(edges, _BLUR).reshape(masks.shape)


def outlines_of(masks: np.ndarray) -> np.ndarray:
    """Pixels of masks (n, 256) that touch another segment, uint8.

    Examples
    --------
    >>> halves = np.arange(256, dtype=np.uint8)[None] % 16 // 8
    >>> outlines_of(halves).reshape(16, 16)[8, 5:11]
    array([0, 0, 1, 1, 0, 0], dtype=uint8)
    """
    from .._kernels.patches import outlines

    edges = np.empty(masks.shape, dtype=np.uint8)
    outlines(writable(masks), edges)
    return edges


@dataclass
class PatchEmbedding(Checked):
    """A linear map of pooled features and context.

    Parameters
    ----------
    weights : array of shape (1669, n_dims), float32
    offset : array of shape (n_dims,), float32

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4)).astype(np.float32)
    >>> Y = np.outer(X[:, 1], np.ones(5)).astype(np.float32)
    >>> embedding = PatchEmbedding.fitted([(X[:150], Y[:150]), (X[150:], Y[150:])], 1)
    >>> round(abs(float(np.corrcoef(embedding(X)[:, 0], X[:, 1])[0, 1])), 3)
    1.0
    """

    weights: np.ndarray
    offset: np.ndarray

    FIELDS = {
        "weights": Array("float32", "features, dimensions", -_MAX_WEIGHT, _MAX_WEIGHT),
        "offset": Array("float32", "dimensions", -_MAX_WEIGHT, _MAX_WEIGHT),
    }
    NOT_EMPTY = ("features", "dimensions")

    def __post_init__(self) -> None:
        self.check()

    @classmethod
    def fitted(
        cls,
        batches: Iterable[tuple[np.ndarray, np.ndarray]],
        n_dims: int,
        mirrored: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> PatchEmbedding:
        """Fit the map of this rank that best predicts outlines (n, m) from features (n, d).

        Batches are (features, outlines) of successive patches, of which only sums are kept.  ``mirrored`` holds the
        indices that mirror features and pixels (see :func:`mirror_image`); every patch is then also counted as its
        mirror image.
        """
        mean, outline_mean, square, cross = _moments(batches)
        if mirrored is not None:
            feature, pixel = mirrored
            feature_asymmetry, outline_asymmetry = (mean - mean[feature]) / 2, (outline_mean - outline_mean[pixel]) / 2
            square = (square + square[feature][:, feature]) / 2 + np.outer(feature_asymmetry, feature_asymmetry)
            cross = (cross + cross[feature][:, pixel]) / 2 + np.outer(feature_asymmetry, outline_asymmetry)
            mean = mean - feature_asymmetry
        spread = np.sqrt(np.maximum(np.diag(square), 0)) + 1e-6
        square /= np.outer(spread, spread)
        cross /= spread[:, None]
        slope = np.linalg.solve(square + _RIDGE * np.eye(len(square)), cross)
        _, axes = np.linalg.eigh(slope.T @ square @ slope)
        weights = (slope @ axes[:, ::-1][:, :n_dims] / spread[:, None]).astype(np.float32)
        return cls(weights, (mean @ weights).astype(np.float32))

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Embed features (n, d) as float64 (n, n_dims), the type that kernels expect."""
        embedded: np.ndarray = rowwise_product(features, self.weights) - self.offset
        return embedded


def _moments(
    batches: Iterable[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Means of features and outlines, covariances of features, and of features with outlines, in float64."""
    n = 0
    for features, outlines in batches:
        if not n:
            origin, outline_origin = (
                features.mean(axis=0),
                outlines.mean(axis=0),
            )  # deviations from these are small, so that products lose few digits
            feature_sums, outline_sums = np.zeros(features.shape[1]), np.zeros(outlines.shape[1])
            square, cross = (
                np.zeros((len(feature_sums), len(feature_sums))),
                np.zeros((len(feature_sums), len(outline_sums))),
            )
        feature_rows, outline_rows = np.float64(features) - origin, np.float64(outlines) - outline_origin
        n += len(feature_rows)
        feature_sums += feature_rows.sum(axis=0)
        outline_sums += outline_rows.sum(axis=0)
        square += feature_rows.T @ feature_rows
        cross += feature_rows.T @ outline_rows
    feature_sums, outline_sums, square, cross = (values / n for values in (feature_sums, outline_sums, square, cross))
    return (
        origin + feature_sums,
        outline_origin + outline_sums,
        square - np.outer(feature_sums, feature_sums),
        cross - np.outer(feature_sums, outline_sums),
    )
