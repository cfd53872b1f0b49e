"""Base class of the Displays, and the drawing of figures with confidence intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._utils.optional import import_extra
from ..figures import Figure

MAIN, SECOND, PALE = "#2456c9", "#b8500a", "0.6"


class Display(ABC):
    """Base class of the Displays: they store data and draw it on given axes or on a new figure."""

    size: tuple[float, float] = (6.4, 4.2)  # of a new figure
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Any:
        """Draw the plot with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            None creates a new figure.

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
        """Draw on the given axes."""


def draw_ranges(ax: Any, positions: np.ndarray, figures: Sequence[Figure], **style: Any) -> Any:
    """Draw points with confidence intervals, hollow and grey if there are too few cases; return their line."""
    value, low, high = (np.array([getattr(figure, name) for figure in figures]) for name in ("value", "low", "high"))
    uncertain = np.array([figure.few for figure in figures], dtype=bool)
    color = style.pop("color", MAIN)
    ax.vlines(positions[~uncertain], low[~uncertain], high[~uncertain], color=color, alpha=0.4, linewidth=4.0)
    (line,) = ax.plot(positions[~uncertain], value[~uncertain], marker="o", color=color, **style)
    if uncertain.any():
        hollow = {"marker": "o", "linestyle": "none", "markerfacecolor": "none", "color": PALE}
        ax.plot(positions[uncertain], value[uncertain], **hollow, label="too few cases to say")
    return line
