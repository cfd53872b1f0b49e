"""Classes of edge structures: clusters of outlines of training masks, few of them common, most of them rare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from dsna_vision.datasets.boundaries import BoundarySet
from dsna_vision.edges.embedding import blurred_outlines
from dsna_vision.edges.patches import MASK_SIDE
from dsna_vision.edges.sampling import Drawings

_CLASSES, _PATCHES = 150, 20_000
_RARE_SHARE = 0.2  # share of the classes
_PER_CLASS = 20  # minimum number of patches, on average
_N_PANELS = 10


@dataclass(frozen=True)
class EdgeClasses:
    """Clusters of blurred outlines, the most common first.

    Parameters
    ----------
    centres : array of shape (n_classes, 256)
        Mean outlines.
    sizes : array of shape (n_classes,)
        Number of training patches in each class.
    plain : int
        Number of training patches without an edge.

    Examples
    --------
    >>> import numpy as np
    >>> classes = EdgeClasses(np.eye(10, 256), np.arange(10, 0, -1), 40)
    >>> classes.is_rare.nonzero()[0]
    array([8, 9])
    """

    centres: np.ndarray
    sizes: np.ndarray
    plain: int

    @property
    def is_rare(self) -> np.ndarray:
        """Whether each class is among the rarest fifth."""
        n = len(self.sizes)
        return np.arange(n) >= n - max(1, round(_RARE_SHARE * n))

    def of(self, masks: np.ndarray) -> np.ndarray:
        """Class of each mask (n, 256), or -1 if it has no edge."""
        classes = np.full(len(masks), -1)
        with_edge = (masks != masks[:, :1]).any(axis=1)
        if with_edge.any():
            outlines = blurred_outlines(masks[with_edge])
            # |o - c|^2 without |o|^2, which is equal for all classes.
            classes[with_edge] = ((self.centres**2).sum(axis=1) - 2 * outlines @ self.centres.T).argmin(axis=1)
        return classes


def edge_classes(photos: BoundarySet, n_jobs: int | None = None, n_patches: int = _PATCHES) -> EdgeClasses | None:
    """Draw patches of training photos, half of them near boundaries as trees do, and cluster their outlines.

    Parameters
    ----------
    photos : BoundarySet
    n_jobs : int or None, default=None
    n_patches : int, default=20_000

    Returns
    -------
    EdgeClasses or None
        150 classes, or fewer if there are few patches; None if no patch has an edge.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from PIL import Image
    >>> from dsna_vision.datasets import load_boundaries
    >>> folders = mkdtemp(), mkdtemp()
    >>> for folder in folders:
    ...     Image.fromarray(np.eye(64, dtype=np.uint8) * 255).save(f"{folder}/diagonal.png")
    >>> classes = edge_classes(load_boundaries(*folders), n_patches=200)
    >>> len(classes.sizes) > 1, bool((np.diff(classes.sizes) <= 0).all())
    (True, True)
    """
    masks = Drawings.of(photos, n_jobs).draw(n_patches, np.random.default_rng(0)).masks
    with_edge = (masks != masks[:, :1]).any(axis=1)
    if not with_edge.any():
        return None
    outlines = blurred_outlines(masks[with_edge])
    n = min(_CLASSES, max(2, len(outlines) // _PER_CLASS), len(np.unique(outlines, axis=0)))
    means = KMeans(n, n_init=1, max_iter=50, random_state=0).fit(outlines)
    sizes = np.bincount(means.labels_, minlength=n)
    order = np.argsort(-sizes, kind="stable")
    return EdgeClasses(means.cluster_centers_[order], sizes[order], int((~with_edge).sum()))


def plot_power_law(classes: EdgeClasses) -> Any:
    """Plot the sizes of the classes on logarithmic scales, and outlines from common to rare (the paper's Fig. 1b).

    Examples
    --------
    >>> import numpy as np
    >>> figure = plot_power_law(EdgeClasses(np.eye(12, 256), np.arange(12, 0, -1), 40))
    >>> len(figure.axes)
    11
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, _N_PANELS, height_ratios=[5, 1])
    ax = figure.add_subplot(grid[0, :])
    rank = np.arange(1, len(classes.sizes) + 1)
    ax.loglog(rank, classes.sizes, "o-", markersize=3, color="0.3", label="classes of edges")
    rare = classes.is_rare
    ax.loglog(rank[rare], classes.sizes[rare], "o", markersize=4, color="crimson", label="rarest fifth")
    ax.axhline(classes.plain, color="steelblue", linestyle="--", label="patches without an edge")
    ax.set(xlabel="class, by size", ylabel="training patches")
    ax.legend(frameon=False)
    ax.grid(alpha=0.3, which="both")
    for k, class_number in enumerate(np.linspace(0, len(rank) - 1, _N_PANELS).astype(int)):
        panel = figure.add_subplot(grid[1, k])
        panel.imshow(classes.centres[class_number].reshape(MASK_SIDE, MASK_SIDE), cmap="gray_r")
        panel.set_title(str(rank[class_number]), fontsize=7, color="crimson" if rare[class_number] else "black")
        panel.axis("off")
    return figure
