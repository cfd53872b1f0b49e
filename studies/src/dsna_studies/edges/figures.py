"""Plots of scores, and of maps beside their photos; photos must not be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dsna.extend.optional import import_extra
from dsna_vision.datasets.boundaries import BoundarySet
from dsna_vision.edges import BoundaryScores

from .comparison import Scored
from .methods import FULL


def plot_curves(scored: Scored, title: str = "") -> Any:
    """Plot precision against recall of all methods, pooled over seeds, on lines of equal F.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores
        At least one.
    title : str, default=""

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> counts = np.array([[[90, 100, 80, 160], [60, 100, 54, 60]]])
    >>> scores = BoundaryScores(["pond"], np.array([0.3, 0.6]), counts)
    >>> figure = plot_curves({"SE": {0: scores, 1: scores}})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['SE (ODS 0.732)']
    """
    ax = None
    for method, seeds in scored.items():
        first = next(iter(seeds.values()))
        names = [name for scores in seeds.values() for name in scores.names]
        together = BoundaryScores(names, first.thresholds, np.concatenate([scores.counts for scores in seeds.values()]))
        style = {"color": "crimson", "zorder": 3} if method == FULL else {"linewidth": 1}
        ax = together.plot(label=method, ax=ax, **style)
    if ax is None:
        raise ValueError("No method has been scored.")
    ax.set_title(title)
    ax.legend(loc="lower left", fontsize="x-small")  # below the curves
    figure = ax.figure
    import_extra("matplotlib.pyplot", "report").close(figure)
    return figure


def plot_pictures(photos: BoundarySet, rows: Sequence[int], maps: Mapping[str, Sequence[np.ndarray]]) -> Any:
    """Plot photos, the boundaries that people drew, and the edges that each method finds (the paper's Fig. 10).

    Parameters
    ----------
    photos : BoundarySet
    rows : sequence of int
        Numbers of the photos.
    maps : mapping from methods to a map (H, W) for each of these photos

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> photos = SimpleNamespace(image=lambda row: np.zeros((48, 48, 3)), boundaries=lambda row: [np.eye(48)])
    >>> len(plot_pictures(photos, [0], {"SE": [np.eye(48)]}).axes)
    3
    """
    from matplotlib.figure import Figure

    titles = ["photo", "people", *maps]
    figure = Figure(figsize=(2.6 * len(titles), 1.9 * len(rows)), layout="constrained")
    panels = figure.subplots(len(rows), len(titles), squeeze=False)
    for k, row in enumerate(rows):
        mean_boundary = np.mean(photos.boundaries(row), axis=0)
        panels[k, 0].imshow(photos.image(row))
        for ax, edges in zip(
            panels[k, 1:], [mean_boundary, *(method_maps[k] for method_maps in maps.values())], strict=True
        ):
            ax.imshow(edges, cmap="gray_r", vmin=0, vmax=1)
        for ax, title in zip(panels[k], titles, strict=True):
            ax.axis("off")
            if not k:
                ax.set_title(title, fontsize=9)
    return figure
