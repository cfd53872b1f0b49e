"""Critical differences of mean ranks (Nemenyi's test) and their plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import studentized_range


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Return the difference of mean ranks from which two methods differ significantly, by Nemenyi's test.

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
    """Find maximal groups of sorted mean ranks that lie within a width of each other.

    Returns
    -------
    list of (first, last) positions of two or more methods

    Examples
    --------
    >>> cliques([1.0, 1.5, 2.4, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    for first, lowest_rank in enumerate(mean_ranks):
        last = int(np.searchsorted(mean_ranks, lowest_rank + width, side="right")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def plot_critical_difference(mean_ranks: pd.Series, n_sets: int, ax: Any, bold: Sequence[str] = ()) -> None:
    """Plot methods along their mean ranks; bars join those that do not differ.

    Parameters
    ----------
    mean_ranks : series from methods to mean ranks
    n_sets : int
        Number of data sets.
    ax : matplotlib axes
    bold : sequence of str, default=()
        Methods to highlight.

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
    values, names, n_methods = sorted_ranks.to_numpy(), list(sorted_ranks.index), len(sorted_ranks)
    width = critical_difference(n_methods, n_sets)
    n_left = (n_methods + 1) // 2
    groups = cliques(values.tolist(), width)
    deepest = -1.0 - 0.28 * len(groups) - n_left
    for position, (name, value) in enumerate(zip(names, values, strict=True)):
        on_left = position < n_left
        depth = deepest + (n_left - 1 - position if on_left else position - n_left) * 1.0 + 0.3
        end = 0.7 if on_left else n_methods + 0.3
        emphasis = {"weight": "bold", "color": "C3"} if name in bold else {"color": "0.15"}
        ax.plot([value, value, end], [0, depth, depth], color=emphasis["color"], linewidth=0.9)
        text = f"{name}  {value:.2f}" if on_left else f"{value:.2f}  {name}"
        ax.text(
            end - 0.05 if on_left else end + 0.05,
            depth,
            text,
            ha="right" if on_left else "left",
            va="center",
            fontsize=9,
            **emphasis,
        )
    for group_number, (first, last) in enumerate(groups):
        height = -0.45 - 0.28 * group_number
        ax.plot([values[first] - 0.05, values[last] + 0.05], [height, height], color="0.1", linewidth=3.0)
    ax.plot([1, n_methods], [0, 0], color="black", linewidth=1.0)
    for tick in range(1, n_methods + 1):
        ax.plot([tick, tick], [0, 0.2], color="black", linewidth=1.0)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom", fontsize=8)
    ax.plot([1, min(1 + width, n_methods)], [1.5, 1.5], color="black", linewidth=2.0)
    ax.text(1, 1.7, f"critical difference {width:.2f} (Nemenyi, 5 %)", ha="left", va="bottom", fontsize=8)
    ax.set(xlim=(-0.35 * n_methods, 1.35 * n_methods + 1), ylim=(deepest - 0.5, 2.8))
    ax.axis("off")
