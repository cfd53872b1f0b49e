"""The picture of an explanation: the rows that add most, and what all weights say together."""

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
    """Draw one query on one or two axes, or on a new figure of two; returns the axes of the rows."""
    pyplot = import_extra("matplotlib.pyplot", "report")
    one = why[query]
    order, number = one.ordered()
    used, top = order[0, : number[0]], order[0, : min(largest, number[0])]
    title = fill(one.part_shown(largest), _LEFT_TITLE)
    heading = fill(_heading(one, why.name_of(query)), _HEADING)
    if ax is None:
        high = max(3.9, 2.1 + 0.3 * len(top))
        figure, ax = pyplot.subplots(1, 2, figsize=(11.0, high), layout="constrained", width_ratios=(1.25, 1.0))
        figure.suptitle(heading)
    else:
        title = f"{heading}\n{title}"
    axes = np.atleast_1d(ax)
    if one.classes is None:
        colours = _target_colours(pyplot, one.label[0, :, output], used)
        for panel in axes[1:]:
            _draw_targets(one, panel, colours, used[::-1], output)
        legend: dict[str, Any] = {}
    else:
        k = len(one.classes)
        palette = pyplot.cm.tab10(range(k)) if k <= 10 else pyplot.cm.turbo(np.linspace(0.05, 0.95, k))
        code = np.searchsorted(one.classes, one.label[0])
        colours = palette[code]
        for panel in axes[1:]:
            _draw_classes(one, panel, one.classes, palette)
        drawn = np.unique(code[top])
        legend = {f"weight, class {_short(said(one.classes[c]))}": palette[c] for c in drawn}
        legend = legend if len(legend) <= _LEGEND_CLASSES else {}
    _draw_rows(one, axes[0], colours, top, legend)
    axes[0].set_title(title, fontsize="medium")
    for at, panel in enumerate(axes):
        panel.set_axisbelow(True)
        panel.grid(axis="y" if at and one.classes is None else "x", alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    return axes[0]


def _heading(one: Explanation, name: str) -> str:
    """Which query, and what is predicted."""
    if one.queries is not None and one.queries.id is not None:
        name = f"{name} ({said(one.queries.id[0])})"
    return as_heading(f"{name}: predicted {one.verdict()}")


def _target_colours(pyplot: Any, target: np.ndarray, used: np.ndarray) -> Any:
    """Colours along the targets of the rows in use."""
    scale = pyplot.cm.ScalarMappable(cmap="viridis")
    scale.set_clim(*np.quantile(target[used], [0.0, 1.0]) if len(used) else (0.0, 1.0))
    return scale.to_rgba(target)


def _draw_rows(one: Explanation, ax: Any, colours: Any, top: np.ndarray, legend: dict[str, Any]) -> None:
    """Bars of the weights and of the coefficients of the rows ``top``, the largest above."""
    place = np.arange(len(top))
    outlined = {"facecolor": "none", "edgecolor": "0.35", "linewidth": 0.9}
    kind = "target" if one.classes is None else "class"
    aside, thick = (0.15, 0.45) if one.uses_coefficients else (0.0, 0.6)
    ax.barh(place - aside, one.weight[0, top], thick, color=colours[top])
    for name, colour in (legend or {f"weight (colour: {kind})": "0.6"}).items():
        ax.barh([0.0], [0.0], color=colour, label=name)
    if one.uses_coefficients:
        ax.barh(place + 0.24, one.coefficient[0, top], 0.24, **outlined, label="coefficient")
    ax.axvline(0.0, color="0.35", linewidth=0.8)
    known = one.train is not None and one.train.columns.id is not None
    names = [f"{'' if known else 'row '}{name}" for name in one.row_names(0, top)]
    ticks = [f"{name}:  {said(one.label[0, k])}" for name, k in zip(names, top, strict=True)]
    ax.set_yticks(place, [*map(_short, ticks)])
    ax.set_ylim(max(len(top), 1) - 0.4, -0.6)
    called = one.train.id_name if known and one.train is not None else "training row"
    part = "of the row's target in the prediction" if one.classes is None else "of the row in its class's probability"
    meaning = f"weight: part {part}"
    if one.uses_coefficients:
        meaning += "\ncoefficient: in the sparse approximation, before blend and balance"
    ax.set(xlabel=meaning, ylabel=f"{called}:  {kind}")
    ax.legend(fontsize="small", **_LEGEND)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _draw_targets(one: Explanation, ax: Any, colours: Any, used: np.ndarray, output: int) -> None:
    """Stems of the weights along the target, the prediction, and the estimates on the way to it."""
    carried = one.label if one.carried is None else one.carried
    target, weight = carried[0, used, output], one.weight[0, used]
    ax.vlines(target, 0.0, weight, colors=colours[used], linewidth=1.6)
    ax.scatter(target, weight, 26, c=colours[used], edgecolors="white", linewidths=0.5, zorder=3, label="training row")
    ax.axhline(0.0, color="0.35", linewidth=0.8)
    predicted = one.predict().reshape(-1)[output]
    shown = said(one.predict_shown().reshape(-1)[output])
    name = f"prediction {shown}\n({DECISIONS[one.decision].label})"
    ax.axvline(predicted, color=_PREDICTION, zorder=1, label=name)
    if one.steps[0] > 1:
        way = one.settled[0, : one.steps[0], output]
        how = {"alpha": np.linspace(0.3, 1.0, len(way)), "transform": ax.get_xaxis_transform()}
        ax.scatter(way, 0.02 + 0 * way, c="0.25", marker="^", label="feedback step", **how)
    name = "target" if one.label.shape[2] == 1 else f"target {output}"
    moved = "" if one.carried is None else ",\ncarried over along the trend"
    ax.set(xlabel=f"{name} of the training row{moved}", ylabel="weight")
    ax.set_title(fill(f"Weights of all {len(used)} rows along the {name}", _RIGHT_TITLE), fontsize="medium")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.2 * (high - low))  # room for the legend
    handles = ax.legend(fontsize="small", loc="upper center", ncols=2, columnspacing=1.0, **_LEGEND).legend_handles
    handles[0].set_facecolor("0.6")


def _draw_classes(one: Explanation, ax: Any, classes: np.ndarray, palette: np.ndarray) -> None:
    """Probability of each class, split into what rows carry and the rest."""
    proba = one.predict_proba()[0]
    predicted = int(np.searchsorted(classes, one.predict()[0]))
    likely = [k for k in np.argsort(-proba, kind="stable") if k != predicted]
    top = np.sort([predicted, *likely[: _SHOWN_CLASSES - 1]])
    carried = proba if one.rest is None else proba - one.rest[0]
    drawn = [ax.barh(np.arange(len(top)), carried[top], 0.6, color=palette[top], label="weights of the training rows")]
    pale = {"facecolor": "none", "edgecolor": palette[top], "hatch": "////", "linewidth": 0.8}
    rest = (proba - carried)[top]
    drawn += [ax.barh(np.arange(len(top)), rest, 0.6, left=carried[top], **pale, label="carried by no row")]
    named = drawn if np.any(rest > 0.001) else []
    for at, k in enumerate(top):
        chosen = k == predicted
        style = {"va": "center", "weight": "bold" if chosen else "normal", "color": _PREDICTION if chosen else "black"}
        said_so = f"{proba[k]:.3f}" + (" predicted" if chosen else "")
        ax.annotate(said_so, (proba[k], at), (4, 0), textcoords="offset points", **style)
    ax.set_yticks(np.arange(len(top)), [_short(said(classes[k])) for k in top])
    middle, half = 0.5 * (len(top) - 1), max(0.5 * len(top) + 0.1, 3.0)
    widest = 1.5 * proba.max()
    if one.threshold is not None:
        place = int(np.searchsorted(classes, one.threshold.rare_class))
        line = ax.vlines(
            one.threshold.probability,
            place - 0.42,
            place + 0.42,
            color=_PREDICTION,
            label=f"predicted from {one.threshold.probability:.3g} on",
        )
        named = [*named, line]
        widest = max(widest, 1.1 * one.threshold.probability)
    ax.set(xlim=(0.0, widest), ylim=(middle + half, middle - half))
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= 1.0])
    ax.set(xlabel="predicted probability", ylabel="class")
    which = "each class" if len(top) == len(proba) else f"{len(top)} of {len(proba)} classes"
    ax.set_title(fill(f"Probability of {which}: the weights summed", _RIGHT_TITLE), fontsize="medium")
    if named:
        handles = ax.legend(handles=named, fontsize="small", loc="lower right", **_LEGEND).legend_handles
        if named[0] in drawn:
            handles[0].set_facecolor("0.6")
            handles[1].set_edgecolor("0.4")
