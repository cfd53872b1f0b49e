"""What the Displays share: axes to draw on, ranges, and too few cases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._utils.optional import import_extra
from ..figures import Figure

MAIN, SECOND, PALE = "#2456c9", "#b8500a", "0.6"


class Display(ABC):
    """Base class of the Displays: they hold what is drawn, and draw it on given axes or on those of a new figure."""

    size: tuple[float, float] = (6.4, 4.2)  # of a new figure
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Any:
        """Draw; matplotlib is imported here.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None makes a figure.

        Returns
        -------
        self
        """
        if ax is None:
            ax = import_extra("matplotlib.pyplot", "report").subplots(figsize=self.size, layout="constrained")[1]
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.3)
        ax.set_axisbelow(True)
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on these axes."""


def draw_ranges(ax: Any, at: np.ndarray, figures: Sequence[Figure], **how: Any) -> Any:
    """Points with their ranges; figures of too few cases are hollow and grey. Returns the line of the points."""
    value, low, high = (np.array([getattr(one, name) for one in figures]) for name in ("value", "low", "high"))
    few = np.array([one.few for one in figures], dtype=bool)
    colour = how.pop("color", MAIN)
    ax.vlines(at[~few], low[~few], high[~few], color=colour, alpha=0.4, linewidth=4.0)
    (line,) = ax.plot(at[~few], value[~few], marker="o", color=colour, **how)
    if few.any():
        hollow = {"marker": "o", "linestyle": "none", "markerfacecolor": "none", "color": PALE}
        ax.plot(at[few], value[few], **hollow, label="too few cases to say")
    return line
