"""The picture of an explained edge: where it is, and the training patches that it was made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..patches import HALF, MASK_SIDE
from .edge import ExplainedEdge, ExplainedPatch

_AROUND = 48  # pixels to each side that are shown of the photo
_COLUMNS = 4
_EDGE, _LINE = "#ff3b00", "#00d5ff"


def plot_explained(photo: np.ndarray, found: ExplainedEdge, cut: Callable[[str], np.ndarray] | None = None) -> Any:
    """Draw an explained edge.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    found : ExplainedEdge
    cut : callable or None, default=None
        From the name of a training photo to its colours, to show the patches themselves; None: outlines alone.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> patch = ExplainedPatch(1.0, np.eye(16, dtype=bool), (8, 8), "100075", (120, 64))
    >>> found = ExplainedEdge((30, 40), 0.5, [patch], 1)
    >>> len(plot_explained(np.zeros((60, 80, 3), dtype=np.uint8), found).axes)
    2
    """
    from matplotlib.figure import Figure

    n_rows = max(1, -(-len(found.patches) // _COLUMNS))
    figure = Figure(figsize=(3.2 + 1.5 * _COLUMNS, 0.4 + max(3.0, 1.9 * n_rows)), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=(3.2, 1.5 * _COLUMNS))
    left, right = parts
    y, x = found.place
    ax = left.subplots()
    ax.imshow(photo)
    ax.plot(x, y, "o", markersize=14, markerfacecolor="none", markeredgecolor=_EDGE, markeredgewidth=2)
    height, width = photo.shape[:2]
    ax.set(xlim=(max(-0.5, x - _AROUND), min(width - 0.5, x + _AROUND)), xticks=[], yticks=[])
    ax.set_ylim(min(height - 0.5, y + _AROUND), max(-0.5, y - _AROUND))
    ax.set_title(f"edge at {x},{y}: {found.strength:.2f}", fontsize=9)
    for k, patch in enumerate(found.patches):
        _panel(right.add_subplot(n_rows, _COLUMNS, k + 1), patch, cut)
    named = f"{len(found.patches)} of the {found.n_patches}" if len(found.patches) < found.n_patches else "the"
    patches = "training patch" if found.n_patches == 1 else "training patches"
    right.suptitle(f"{named} {patches} that it was made of", fontsize=9)
    return figure


def _panel(ax: Any, patch: ExplainedPatch, cut: Callable[[str], np.ndarray] | None) -> None:
    """One patch: its outline, on its colours where they are to be had."""
    side, start = MASK_SIDE, HALF - MASK_SIDE // 2
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("0.7")
    if cut is None or patch.photo is None or patch.centre is None:
        ax.imshow(patch.outline, cmap="gray_r", vmin=0, vmax=1)
        ax.plot(patch.place[1], patch.place[0], "o", color=_EDGE, markersize=4)
    else:
        padded = np.pad(cut(patch.photo), [(HALF, HALF)] * 2 + [(0, 0)], mode="symmetric")
        y, x = patch.centre
        ax.imshow(padded[y : y + 2 * HALF, x : x + 2 * HALF])
        drawn = np.argwhere(patch.outline) + start
        ax.plot(drawn[:, 1], drawn[:, 0], "s", color=_LINE, markersize=1.5)
        ax.plot(start + patch.place[1], start + patch.place[0], "o", color=_EDGE, markersize=4)
        corners = start - 0.5 + side * np.array([[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]])
        ax.plot(*corners.T, color="w", linewidth=0.8)
    ax.set_title(f"{100 * patch.share:+.0f} %\n{patch.origin}".strip(), fontsize=7)
