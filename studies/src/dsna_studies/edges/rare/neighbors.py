"""Approximation of rare patches by training patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from dsna_vision.edges import EdgeDetector
from dsna_vision.edges.detection import soft_map
from dsna_vision.edges.embedding import Context, describe, outlines_of
from dsna_vision.edges.patches import HALF, MASK_SIDE, Channels
from dsna_vision.edges.planning import EdgesError

_N_NEIGHBORS = 8
_COLOURS = ("#1f77b4", "#d95f02")


@dataclass(frozen=True)
class PatchApproximation:
    """A patch, the boundary that people drew there, and its approximation by neighbours.

    Parameters
    ----------
    patch : array of shape (32, 32, 3), uint8
    truth, leaves, combined : arrays of shape (16, 16)
        Outlines: as drawn; mean of the leaves' masks; combination of the neighbours by their coefficients.
    masks : array of shape (n, 16, 16)
        Outlines of the neighbours, in descending order of absolute coefficients.
    coefficients : array of shape (n,)
    clusters : array of shape (n,)
        Cluster of each neighbour's outline, 0 or 1.
    """

    patch: np.ndarray
    truth: np.ndarray
    leaves: np.ndarray
    combined: np.ndarray
    masks: np.ndarray
    coefficients: np.ndarray
    clusters: np.ndarray


def approximate_patch(
    detector: EdgeDetector, photo: np.ndarray, truth: np.ndarray, centre: np.ndarray
) -> PatchApproximation:
    """Compute a detector's approximation of the patch around a pixel.

    Parameters
    ----------
    detector : EdgeDetector
        Fitted, with patches in its leaves.
    photo : array of shape (H, W, 3), uint8
    truth : bool array of shape (H, W)
        Boundaries.
    centre : array of shape (2,)
        Pixel with even coordinates, at least eight pixels from the border.

    Returns
    -------
    PatchApproximation

    Examples
    --------
    >>> import dsna_vision.edges
    >>> photo, truth = np.zeros((96, 96, 3), dtype=np.uint8), np.eye(96, dtype=bool)
    >>> photo[truth] = 255
    >>> approximation = approximate_patch(dsna_vision.edges.pretrained(levels=1), photo, truth, np.array([48, 48]))
    >>> approximation.patch.shape, approximation.combined.shape, int(approximation.truth.sum())
    ((32, 32, 3), (16, 16), 16)
    """
    forest, pool = detector.forest_, detector.pool_
    if pool is None:
        raise EdgesError("This detector stores no patches; train one with n_pool > 0.")
    channels = Channels(photo)
    starts = channels.starts(centre[None])
    leaves = forest.route(channels, starts, np.arange(forest.n_trees)[None])
    voting = detector.voting("dsna")
    context = Context(soft_map(photo, forest, None, replace(voting, method="se"), detector.n_jobs))
    rows, weights = pool.weigh(describe(channels, starts, context, centre[None]), leaves, voting)
    neighbor_order = np.flatnonzero(weights[0])
    neighbor_order = neighbor_order[np.argsort(-np.abs(weights[0, neighbor_order]), kind="stable")]
    rows, coefficients = rows[0, neighbor_order], weights[0, neighbor_order]
    outlines = _grids(pool.mask_table.masks[pool.mask[rows]])
    padded = np.pad(photo, [(HALF, HALF)] * 2 + [(0, 0)], mode="symmetric")
    y, x, half = *centre, MASK_SIDE // 2
    return PatchApproximation(
        patch=padded[y : y + 2 * HALF, x : x + 2 * HALF],
        truth=truth[y - half : y + half, x - half : x + half],
        leaves=_grids(forest.mask_table.masks[forest.leaf_mask[leaves[0]]]).mean(axis=0),
        combined=np.tensordot(coefficients, outlines, 1),
        masks=outlines,
        coefficients=coefficients,
        clusters=_clusters(pool.labels[rows]),
    )


def _grids(masks: np.ndarray) -> np.ndarray:
    return outlines_of(masks).reshape(-1, MASK_SIDE, MASK_SIDE).astype(np.float64)


def _clusters(labels: np.ndarray) -> np.ndarray:
    """Two clusters of neighbours by their outlines, or one if all are equal."""
    if len(np.unique(labels, axis=0)) < 2:
        return np.zeros(len(labels), dtype=int)
    return np.asarray(KMeans(2, n_init=3, random_state=0).fit(labels).labels_)


def plot_neighbors(approximations: Sequence[PatchApproximation]) -> Any:
    """Plot patches, their outlines as drawn, by leaves and by DSNA, and neighbours with coefficients (Fig. 7).

    Titles have the colour of the neighbour's cluster.

    Examples
    --------
    >>> grid = np.eye(16)
    >>> patch = np.zeros((32, 32, 3), dtype=np.uint8)
    >>> approximation = PatchApproximation(patch, grid, grid, grid, grid[None], np.ones(1), np.zeros(1, dtype=int))
    >>> len(plot_neighbors([approximation]).axes)
    12
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.1 * (4 + _N_NEIGHBORS), 1.35 * len(approximations)), layout="constrained")
    panels = figure.subplots(len(approximations), 4 + _N_NEIGHBORS, squeeze=False)
    for ax in panels.ravel():
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    for k, approximation in enumerate(approximations):
        panels[k, 0].imshow(approximation.patch)
        mask_offset = HALF - MASK_SIDE // 2 - 0.5
        panels[k, 0].plot(
            mask_offset + MASK_SIDE * np.array([0, 1, 1, 0, 0]),
            mask_offset + MASK_SIDE * np.array([0, 0, 1, 1, 0]),
            "w",
        )
        for ax, grid in zip(
            panels[k, 1:],
            [approximation.truth, approximation.leaves, approximation.combined, *approximation.masks[:_N_NEIGHBORS]],
            strict=False,
        ):
            ax.imshow(grid, cmap="gray_r", vmin=0, vmax=1)
            ax.spines[:].set(visible=True, color="0.7")
        for ax, title in zip(panels[k], ["patch", "drawn", "leaves", "DSNA"] if not k else [], strict=False):
            ax.set_title(title, fontsize=8)
        for ax, value, cluster in zip(panels[k, 4:], approximation.coefficients, approximation.clusters, strict=False):
            ax.set_title(f"{value:+.2f}", fontsize=8, color=_COLOURS[cluster])
    figure.suptitle("rare patches and the training patches that approximate them", fontsize=9)
    return figure
