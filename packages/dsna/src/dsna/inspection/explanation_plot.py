"""Plot of an explanation: the rows that contribute most, and the decision."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.optional import import_extra
from ..prediction.decision import DECISIONS
from .comparison import as_heading, said

if TYPE_CHECKING:
    from .explanation import Explanation

_SHOWN_CLASSES = 15
_LEGEND_CLASSES = 6
_LONGEST_NAME = 24
_HEADING, _LEFT_TITLE, _RIGHT_TITLE = 110, 56, 46  # characters of a line
_PREDICTION = "crimson"
_LEGEND = {"framealpha": 0.8, "edgecolor": "none"}


def draw(why: Explanation, query: int, largest: int, ax: Any, output: int) -> Any:
    """Draw one query on one or two axes, or on a new figure with two; return the axes of the rows."""
    pyplot = import_extra("matplotlib.pyplot", "report")
    single = why[query]
    order, n_used = single.ordered()
    neighbors, top = order[0, : n_used[0]], order[0, : min(largest, n_used[0])]
    title = fill(single.part_shown(largest), _LEFT_TITLE)
    heading = fill(_heading(single, why.name_of(query)), _HEADING)
    if ax is None:
        height = max(3.9, 2.1 + 0.3 * len(top))
        figure, ax = pyplot.subplots(1, 2, figsize=(11.0, height), layout="constrained", width_ratios=(1.25, 1.0))
        figure.suptitle(heading)
    else:
        title = f"{heading}\n{title}"
    axes = np.atleast_1d(ax)
    if single.classes is None:
        colours = _target_colours(pyplot, single.label[0, :, output], neighbors)
        for panel in axes[1:]:
            _draw_targets(single, panel, colours, neighbors[::-1], output)
        legend: dict[str, Any] = {}
    else:
        n_classes = len(single.classes)
        palette = (
            pyplot.cm.tab10(range(n_classes))
            if n_classes <= 10
            else pyplot.cm.turbo(np.linspace(0.05, 0.95, n_classes))
        )
        codes = np.searchsorted(single.classes, single.label[0])
        colours = palette[codes]
        for panel in axes[1:]:
            _draw_classes(single, panel, single.classes, palette)
        shown_classes = np.unique(codes[top])
        legend = {f"weight, class {_short(said(single.classes[c]))}": palette[c] for c in shown_classes}
        legend = legend if len(legend) <= _LEGEND_CLASSES else {}
    _draw_rows(single, axes[0], colours, top, legend)
    axes[0].set_title(title, fontsize="medium")
    for position, panel in enumerate(axes):
        panel.set_axisbelow(True)
        panel.grid(axis="y" if position and single.classes is None else "x", alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    return axes[0]


def _heading(explanation: Explanation, name: str) -> str:
    """Heading with the name of the query and its prediction."""
    if explanation.queries is not None and explanation.queries.id is not None:
        name = f"{name} ({said(explanation.queries.id[0])})"
    return as_heading(f"{name}: predicted {explanation.verdict()}")


def _target_colours(pyplot: Any, target: np.ndarray, neighbors: np.ndarray) -> Any:
    """Colours of rows by target, on the scale of the neighbours."""
    scale = pyplot.cm.ScalarMappable(cmap="viridis")
    scale.set_clim(*np.quantile(target[neighbors], [0.0, 1.0]) if len(neighbors) else (0.0, 1.0))
    return scale.to_rgba(target)


def _draw_rows(explanation: Explanation, ax: Any, colours: Any, top: np.ndarray, legend: dict[str, Any]) -> None:
    """Draw bars of the weights and coefficients of the rows ``top``, largest first."""
    positions = np.arange(len(top))
    outline = {"facecolor": "none", "edgecolor": "0.35", "linewidth": 0.9}
    kind = "target" if explanation.classes is None else "class"
    offset, thickness = (0.15, 0.45) if explanation.uses_coefficients else (0.0, 0.6)
    ax.barh(positions - offset, explanation.weight[0, top], thickness, color=colours[top])
    for name, colour in (legend or {f"weight (colour: {kind})": "0.6"}).items():
        ax.barh([0.0], [0.0], color=colour, label=name)
    if explanation.uses_coefficients:
        ax.barh(positions + 0.24, explanation.coefficient[0, top], 0.24, **outline, label="coefficient")
    ax.axvline(0.0, color="0.35", linewidth=0.8)
    has_ids = explanation.train is not None and explanation.train.columns.id is not None
    names = [f"{'' if has_ids else 'row '}{name}" for name in explanation.row_names(0, top)]
    ticks = [f"{name}:  {said(explanation.label[0, k])}" for name, k in zip(names, top, strict=True)]
    ax.set_yticks(positions, [*map(_short, ticks)])
    ax.set_ylim(max(len(top), 1) - 0.4, -0.6)
    row_name = explanation.train.id_name if has_ids and explanation.train is not None else "training row"
    reference = "of the row's target in the prediction" if kind == "target" else "of the row in its class's probability"
    meaning = f"weight: part {reference}"
    if explanation.uses_coefficients:
        meaning += "\ncoefficient: in the sparse approximation, before blend and balance"
    ax.set(xlabel=meaning, ylabel=f"{row_name}:  {kind}")
    ax.legend(fontsize="small", **_LEGEND)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _draw_targets(explanation: Explanation, ax: Any, colours: Any, neighbors: np.ndarray, output: int) -> None:
    """Draw stems of the weights along the target, the prediction, and the estimates of the feedback steps."""
    carried = explanation.label if explanation.carried is None else explanation.carried
    target, weight = carried[0, neighbors, output], explanation.weight[0, neighbors]
    ax.vlines(target, 0.0, weight, colors=colours[neighbors], linewidth=1.6)
    ax.scatter(
        target, weight, 26, c=colours[neighbors], edgecolors="white", linewidths=0.5, zorder=3, label="training row"
    )
    ax.axhline(0.0, color="0.35", linewidth=0.8)
    predicted = explanation.predict().reshape(-1)[output]
    digits = said(explanation.predict_shown().reshape(-1)[output])
    name = f"prediction {digits}\n({DECISIONS[explanation.decision].label})"
    ax.axvline(predicted, color=_PREDICTION, zorder=1, label=name)
    if explanation.steps[0] > 1:
        steps = explanation.settled[0, : explanation.steps[0], output]
        style = {"alpha": np.linspace(0.3, 1.0, len(steps)), "transform": ax.get_xaxis_transform()}
        ax.scatter(steps, 0.02 + 0 * steps, c="0.25", marker="^", label="feedback step", **style)
    name = "target" if explanation.label.shape[2] == 1 else f"target {output}"
    suffix = "" if explanation.carried is None else ",\nshifted along the trend"
    ax.set(xlabel=f"{name} of the training row{suffix}", ylabel="weight")
    ax.set_title(fill(f"Weights of all {len(neighbors)} rows along the {name}", _RIGHT_TITLE), fontsize="medium")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.2 * (high - low))  # room for the legend
    handles = ax.legend(fontsize="small", loc="upper center", ncols=2, columnspacing=1.0, **_LEGEND).legend_handles
    handles[0].set_facecolor("0.6")


def _draw_classes(explanation: Explanation, ax: Any, classes: np.ndarray, palette: np.ndarray) -> None:
    """Draw the probability of each class, split into the weights of rows and the rest."""
    proba = explanation.predict_proba()[0]
    predicted = int(np.searchsorted(classes, explanation.predict()[0]))
    ranked = [k for k in np.argsort(-proba, kind="stable") if k != predicted]
    top = np.sort([predicted, *ranked[: _SHOWN_CLASSES - 1]])
    carried = proba if explanation.rest is None else proba - explanation.rest[0]
    bars = [ax.barh(np.arange(len(top)), carried[top], 0.6, color=palette[top], label="weights of the training rows")]
    pale = {"facecolor": "none", "edgecolor": palette[top], "hatch": "////", "linewidth": 0.8}
    remainder = (proba - carried)[top]
    bars += [ax.barh(np.arange(len(top)), remainder, 0.6, left=carried[top], **pale, label="not due to any row")]
    handles = bars if np.any(remainder > 0.001) else []
    for position, k in enumerate(top):
        style = {"weight": "bold", "color": _PREDICTION} if k == predicted else {"weight": "normal", "color": "black"}
        text = f"{proba[k]:.3f}" + (" predicted" if k == predicted else "")
        ax.annotate(text, (proba[k], position), (4, 0), textcoords="offset points", va="center", **style)
    ax.set_yticks(np.arange(len(top)), [_short(said(classes[k])) for k in top])
    center, half_height = 0.5 * (len(top) - 1), max(0.5 * len(top) + 0.1, 3.0)
    x_max = 1.5 * proba.max()
    if explanation.threshold is not None:
        position = int(np.searchsorted(classes, explanation.threshold.rare_class))
        line = ax.vlines(
            explanation.threshold.probability,
            position - 0.42,
            position + 0.42,
            color=_PREDICTION,
            label=f"predicted from {explanation.threshold.probability:.3g}",
        )
        handles = [*handles, line]
        x_max = max(x_max, 1.1 * explanation.threshold.probability)
    ax.set(xlim=(0.0, x_max), ylim=(center + half_height, center - half_height))
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= 1.0])
    ax.set(xlabel="predicted probability", ylabel="class")
    subset = "each class" if len(top) == len(proba) else f"{len(top)} of {len(proba)} classes"
    ax.set_title(fill(f"Probability of {subset}: the weights summed", _RIGHT_TITLE), fontsize="medium")
    if handles:
        legend_handles = ax.legend(handles=handles, fontsize="small", loc="lower right", **_LEGEND).legend_handles
        if handles[0] in bars:
            legend_handles[0].set_facecolor("0.6")
            legend_handles[1].set_edgecolor("0.4")
