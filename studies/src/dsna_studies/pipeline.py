"""The method as a picture, for the docs: what happens to a query, step by step."""

from __future__ import annotations

from typing import Any

_STEPS = (
    ("rows and labels", "scaled; rare\nlabels weigh more"),
    ("cost-sensitive\nforest", "linear splits,\nall leaves reached"),
    ("neighbourhood", "rows of these leaves\nwith proximities,\nin the forest's metric"),
    ("clusters and\nsparse approximation", "few rows, coefficients\nadd up to one"),
    ("labels carried over", "blend, balance,\nmean, trimmed mean or grid"),
    ("prediction", "with its reasons\nand an interval"),
)


def plot_pipeline() -> Any:
    """Boxes and arrows from training rows to a prediction (the paper's Fig. 4).

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> len(plot_pipeline().axes[0].patches) > 6
    True
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    figure = Figure(figsize=(2.1 * len(_STEPS), 2.2), layout="constrained")
    ax = figure.subplots()
    for k, (title, text) in enumerate(_STEPS):
        box = FancyBboxPatch((k, 0), 0.8, 1, boxstyle="round,pad=0.02", facecolor="#eef3f8", edgecolor="0.4")
        ax.add_patch(box)
        ax.text(k + 0.4, 0.76, title, ha="center", va="center", weight="bold", fontsize=9)
        ax.text(k + 0.4, 0.3, text, ha="center", va="center", fontsize=8)
        if k:
            ax.add_patch(FancyArrowPatch((k - 0.17, 0.5), (k - 0.03, 0.5), arrowstyle="-|>", mutation_scale=12))
    feedback = FancyArrowPatch(
        (4.4, -0.05), (3.4, -0.05), connectionstyle="arc3,rad=-0.4", arrowstyle="-|>", mutation_scale=12, color="0.4"
    )
    ax.add_patch(feedback)
    ax.text(3.9, -0.42, "label feedback", ha="center", va="center", fontsize=8, color="0.3")
    ax.set(xlim=(-0.1, len(_STEPS) - 0.1), ylim=(-0.55, 1.1))
    ax.axis("off")
    return figure
