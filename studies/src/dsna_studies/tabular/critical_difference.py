"""Mean ranks and which of them differ by more than chance (Nemenyi's test)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import studentized_range


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Difference of mean ranks from which two of several methods differ, by Nemenyi's test.

    q sqrt(k (k + 1) / (6 N)) for k methods on N data sets, with q the upper quantile of the studentised range over
    sqrt(2).

    Examples
    --------
    >>> round(critical_difference(10, 30), 3)
    2.473
    """
    q = studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


def cliques(mean_ranks: Sequence[float], width: float) -> list[tuple[int, int]]:
    """Largest groups of neighbours, among sorted mean ranks, that lie within a width of each other.

    Returns
    -------
    list of (first, last) positions, of two methods or more each

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.4, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first, low in enumerate(mean_ranks):
        last = int(np.searchsorted(mean_ranks, low + width, side="right")) - 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def plot_critical_difference(mean_ranks: pd.Series, n_sets: int, ax: Any, bold: Sequence[str] = ()) -> None:
    """Draw methods along their mean ranks; bars join those that do not differ.

    Parameters
    ----------
    mean_ranks : series from methods to mean ranks
    n_sets : int
        Data sets that were ranked.
    ax : matplotlib axes
    bold : sequence of str, default=()
        Methods to point out.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> plot_critical_difference(pd.Series({"a": 1.2, "b": 1.8, "c": 3.0}), 10, ax)
    >>> [text.get_text() for text in ax.texts][:2]
    ['a  1.20', 'b  1.80']
    """
    sorted_ranks = mean_ranks.sort_values(kind="stable")
    values, names, n = sorted_ranks.to_numpy(), list(sorted_ranks.index), len(sorted_ranks)
    width = critical_difference(n, n_sets)
    left = (n + 1) // 2
    groups = cliques(values.tolist(), width)
    deepest = -1.0 - 0.28 * len(groups) - left
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        on_left = place < left
        depth = deepest + (left - 1 - place if on_left else place - left) * 1.0 + 0.3
        end = 0.7 if on_left else n + 0.3
        strong = {"weight": "bold", "color": "C3"} if name in bold else {"color": "0.15"}
        ax.plot([value, value, end], [0, depth, depth], color=strong["color"], linewidth=0.9)
        text = f"{name}  {value:.2f}" if on_left else f"{value:.2f}  {name}"
        ax.text(
            end - 0.05 if on_left else end + 0.05,
            depth,
            text,
            ha="right" if on_left else "left",
            va="center",
            fontsize=9,
            **strong,
        )
    for k, (first, last) in enumerate(groups):
        height = -0.45 - 0.28 * k
        ax.plot([values[first] - 0.05, values[last] + 0.05], [height, height], color="0.1", linewidth=3.0)
    ax.plot([1, n], [0, 0], color="black", linewidth=1.0)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [0, 0.2], color="black", linewidth=1.0)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom", fontsize=8)
    ax.plot([1, min(1 + width, n)], [1.5, 1.5], color="black", linewidth=2.0)
    ax.text(1, 1.7, f"critical difference {width:.2f} (Nemenyi, 5 %)", ha="left", va="bottom", fontsize=8)
    ax.set(xlim=(-0.35 * n, 1.35 * n + 1), ylim=(deepest - 0.5, 2.8))
    ax.axis("off")
