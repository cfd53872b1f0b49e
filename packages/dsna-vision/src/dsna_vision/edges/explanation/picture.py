"""Picture of an explained edge and the training patches that contributed to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..patches import HALF, MASK_SIDE
from .edge import ExplainedEdge, ExplainedPatch

_SHOWN_RADIUS = 48  # pixels shown on each side of the edge
_COLUMNS = 4
_EDGE, _LINE = "#ff3b00", "#00d5ff"


def plot_explained(
    photo: np.ndarray, explained: ExplainedEdge, read_training_photo: Callable[[str], np.ndarray] | None = None
) -> Any:
    """Draw an explained edge.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    explained : ExplainedEdge
    read_training_photo : callable or None, default=None
        Returns the colours of a training photo by name, to show the patches themselves; None shows only outlines.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> patch = ExplainedPatch(1.0, np.eye(16, dtype=bool), (8, 8), "100075", (120, 64))
    >>> explained = ExplainedEdge((30, 40), 0.5, [patch], 1)
    >>> len(plot_explained(np.zeros((60, 80, 3), dtype=np.uint8), explained).axes)
    2
    """
    from matplotlib.figure import Figure

    n_rows = max(1, -(-len(explained.patches) // _COLUMNS))
    figure = Figure(figsize=(3.2 + 1.5 * _COLUMNS, 0.4 + max(3.0, 1.9 * n_rows)), layout="constrained")
    subfigures: Any = figure.subfigures(1, 2, width_ratios=(3.2, 1.5 * _COLUMNS))
    left, right = subfigures
    y, x = explained.place
    ax = left.subplots()
    ax.imshow(photo)
    ax.plot(x, y, "o", markersize=14, markerfacecolor="none", markeredgecolor=_EDGE, markeredgewidth=2)
    height, width = photo.shape[:2]
    ax.set(xlim=(max(-0.5, x - _SHOWN_RADIUS), min(width - 0.5, x + _SHOWN_RADIUS)), xticks=[], yticks=[])
    ax.set_ylim(min(height - 0.5, y + _SHOWN_RADIUS), max(-0.5, y - _SHOWN_RADIUS))
    ax.set_title(f"edge at {x},{y}: {explained.strength:.2f}", fontsize=9)
    for k, patch in enumerate(explained.patches):
        _draw_patch(right.add_subplot(n_rows, _COLUMNS, k + 1), patch, read_training_photo)
    count_text = (
        f"{len(explained.patches)} of the {explained.n_patches}"
        if len(explained.patches) < explained.n_patches
        else "the"
    )
    patches = "training patch" if explained.n_patches == 1 else "training patches"
    right.suptitle(f"{count_text} {patches} that contributed to it", fontsize=9)
    return figure


def _draw_patch(ax: Any, patch: ExplainedPatch, read_training_photo: Callable[[str], np.ndarray] | None) -> None:
    """Draw one patch: its outline, over its colours if available."""
    mask_side, start = MASK_SIDE, HALF - MASK_SIDE // 2
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("0.7")
    if read_training_photo is None or patch.photo is None or patch.centre is None:
        ax.imshow(patch.outline, cmap="gray_r", vmin=0, vmax=1)
        ax.plot(patch.place[1], patch.place[0], "o", color=_EDGE, markersize=4)
    else:
        padded = np.pad(read_training_photo(patch.photo), [(HALF, HALF)] * 2 + [(0, 0)], mode="symmetric")
        y, x = patch.centre
        ax.imshow(padded[y : y + 2 * HALF, x : x + 2 * HALF])
        outline_pixels = np.argwhere(patch.outline) + start
        ax.plot(outline_pixels[:, 1], outline_pixels[:, 0], "s", color=_LINE, markersize=1.5)
        ax.plot(start + patch.place[1], start + patch.place[0], "o", color=_EDGE, markersize=4)
        corners = start - 0.5 + mask_side * np.array([[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]])
        ax.plot(*corners.T, color="w", linewidth=0.8)
    ax.set_title(f"{100 * patch.share:+.0f} %\n{patch.origin}".strip(), fontsize=7)
