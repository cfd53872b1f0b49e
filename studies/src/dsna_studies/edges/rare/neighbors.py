"""Patches approximated by patches: whose outlines a rare structure is made of."""

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

_SHOWN = 8
_COLOURS = ("#1f77b4", "#d95f02")


@dataclass(frozen=True)
class Approximated:
    """A patch, what people drew there, and what is made of its neighbours.

    Parameters
    ----------
    patch : array of shape (32, 32, 3), uint8
    truth, leaves, made : arrays of shape (16, 16)
        Outlines: drawn; mean of the leaves' masks; neighbours' combined by the coefficients.
    masks : array of shape (n, 16, 16)
        Outlines of the neighbours, those of largest coefficients first.
    coefficients : array of shape (n,)
    clusters : array of shape (n,)
        Which of two groups of alike outlines each neighbour is in.
    """

    patch: np.ndarray
    truth: np.ndarray
    leaves: np.ndarray
    made: np.ndarray
    masks: np.ndarray
    coefficients: np.ndarray
    clusters: np.ndarray


def approximated(detector: EdgeDetector, photo: np.ndarray, truth: np.ndarray, centre: np.ndarray) -> Approximated:
    """Ask a detector how it approximates the patch around a pixel.

    Parameters
    ----------
    detector : EdgeDetector
        Fitted, with patches in its leaves.
    photo : array of shape (H, W, 3), uint8
    truth : bool array of shape (H, W)
        Boundaries.
    centre : array of shape (2,)
        Even, at least eight pixels from the border.

    Returns
    -------
    Approximated

    Examples
    --------
    >>> import dsna_vision.edges
    >>> photo, truth = np.zeros((96, 96, 3), dtype=np.uint8), np.eye(96, dtype=bool)
    >>> photo[truth] = 255
    >>> found = approximated(dsna_vision.edges.pretrained(levels=1), photo, truth, np.array([48, 48]))
    >>> found.patch.shape, found.made.shape, int(found.truth.sum())
    ((32, 32, 3), (16, 16), 16)
    """
    forest, pool = detector.forest_, detector.pool_
    if pool is None:
        raise EdgesError("This detector remembers no patches; train one with n_pool > 0.")
    channels = Channels(photo)
    places = channels.starts(centre[None])
    leaves = forest.route(channels, places, np.arange(forest.n_trees)[None])
    voting = detector.voting("dsna")
    context = Context(soft_map(photo, forest, None, replace(voting, method="se"), detector.n_jobs))
    rows, weights = pool.weigh(describe(channels, places, context, centre[None]), leaves, voting)
    used = np.flatnonzero(weights[0])
    used = used[np.argsort(-np.abs(weights[0, used]), kind="stable")]
    rows, coefficients = rows[0, used], weights[0, used]
    outlines = _grids(pool.mask_table.masks[pool.mask[rows]])
    padded = np.pad(photo, [(HALF, HALF)] * 2 + [(0, 0)], mode="symmetric")
    y, x, half = *centre, MASK_SIDE // 2
    return Approximated(
        patch=padded[y : y + 2 * HALF, x : x + 2 * HALF],
        truth=truth[y - half : y + half, x - half : x + half],
        leaves=_grids(forest.mask_table.masks[forest.leaf_mask[leaves[0]]]).mean(axis=0),
        made=np.tensordot(coefficients, outlines, 1),
        masks=outlines,
        coefficients=coefficients,
        clusters=_clusters(pool.labels[rows]),
    )


def _grids(masks: np.ndarray) -> np.ndarray:
    return outlines_of(masks).reshape(-1, MASK_SIDE, MASK_SIDE).astype(np.float64)


def _clusters(labels: np.ndarray) -> np.ndarray:
    """Two groups of neighbours by their outlines, one where all are alike."""
    if len(np.unique(labels, axis=0)) < 2:
        return np.zeros(len(labels), dtype=int)
    return np.asarray(KMeans(2, n_init=3, random_state=0).fit(labels).labels_)


def plot_neighbors(found: Sequence[Approximated]) -> Any:
    """Each patch with what people drew, what leaves and DSNA say, and neighbours with coefficients (Fig. 7).

    Titles have the colour of the neighbour's cluster.

    Examples
    --------
    >>> grid = np.eye(16)
    >>> patch = np.zeros((32, 32, 3), dtype=np.uint8)
    >>> one = Approximated(patch, grid, grid, grid, grid[None], np.ones(1), np.zeros(1, dtype=int))
    >>> len(plot_neighbors([one]).axes)
    12
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.1 * (4 + _SHOWN), 1.35 * len(found)), layout="constrained")
    panels = figure.subplots(len(found), 4 + _SHOWN, squeeze=False)
    for ax in panels.ravel():
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    for k, one in enumerate(found):
        panels[k, 0].imshow(one.patch)
        side = HALF - MASK_SIDE // 2 - 0.5
        panels[k, 0].plot(
            side + MASK_SIDE * np.array([0, 1, 1, 0, 0]), side + MASK_SIDE * np.array([0, 0, 1, 1, 0]), "w"
        )
        for ax, grid in zip(panels[k, 1:], [one.truth, one.leaves, one.made, *one.masks[:_SHOWN]], strict=False):
            ax.imshow(grid, cmap="gray_r", vmin=0, vmax=1)
            ax.spines[:].set(visible=True, color="0.7")
        for ax, title in zip(panels[k], ["patch", "drawn", "leaves", "DSNA"] if not k else [], strict=False):
            ax.set_title(title, fontsize=8)
        for ax, value, cluster in zip(panels[k, 4:], one.coefficients, one.clusters, strict=False):
            ax.set_title(f"{value:+.2f}", fontsize=8, color=_COLOURS[cluster])
    figure.suptitle("rare patches and the training patches that they are made of", fontsize=9)
    return figure
