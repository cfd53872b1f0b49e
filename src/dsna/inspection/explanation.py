"""Which training rows made a prediction, with what weight; as data frames and as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .._utils.optional import import_extra
from .._utils.ties import most_probable
from ..prediction.decision import decide

_SHOWN_QUERIES = 5
_SHOWN_CLASSES = 15
_NOT_PER_QUERY = ("kind", "decision", "classes", "grid")


def class_sums(weight: np.ndarray, label: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(n, n_classes) sums of the weights (n, M) of the rows of each class, which ``label`` (n, M) holds.

    With ``rest = proba - class_sums(...)`` an explanation gives the probabilities ``proba`` to the last bit,
    wherever the weights of a class sum to about its probability or to zero: ties are then broken alike.

    Examples
    --------
    >>> class_sums(np.array([[0.5, 0.2, 0.3]]), np.array([["b", "a", "b"]]), np.array(["a", "b", "c"]))
    array([[0.2, 0.8, 0. ]])
    """
    shape = len(weight), len(classes)
    at = np.searchsorted(classes, label) + np.arange(shape[0])[:, None] * shape[1]
    return np.bincount(at.ravel(), weights=weight.ravel(), minlength=shape[0] * shape[1]).reshape(shape)


@dataclass(kw_only=True, eq=False, repr=False)
class Explanation:
    """The training rows behind the predictions of n queries; made by ``explain(X)`` of the DSNA estimators.

    A query has at most M rows; entries past its ``size`` are padding of weight zero.

    Parameters
    ----------
    kind : {"classification", "regression"}
    rows : (n, M) numbers of the training rows, by falling proximity.
    size : (n,) how many rows each query has.
    coefficient : (n, M) coefficients of the sparse approximation.
    proximity : (n, M) share of the trees in whose leaf a row lies with the query.
    weight : (n, M) weights in the decision, after blend and balance; summed per class and with ``rest`` added
        they are the predicted probabilities.
    label : (n, M) class labels, or (n, M, n_outputs) labels of the rows.
    member : (n, M, K) which rows belong to which cluster; clusters may overlap.
    share, objective : (n, K) weight of each cluster in the coefficients, and its joint objective.
    hull_residual : (n, K) distance of the query from each cluster's affine hull; zero where hulls are off.
    settled, steps : (n, S, n_outputs) label or class number after each feedback step, (n,) number of steps.
    history : (n, S) joint objective of the best cluster at each step.
    decision : {"proba", "mean", "median", "grid"}
        Rule that turns weights into a prediction: the most probable class, or see ``dsna.prediction.decision.decide``.
    classes : (n_classes,) class labels, sorted; None in regression.
    rest : (n, n_classes) probability that no row carries, as of classes that the neighbourhood lacks.
    grid : (k, n_outputs) labels seen, for the decision "grid".

    Examples
    --------
    >>> from dsna import DSNARegressor
    >>> X = np.arange(240.0).reshape(120, 2)
    >>> model = DSNARegressor(n_estimators=5, decision="mean", random_state=0).fit(X, X[:, 0])
    >>> why = model.explain(X[:4])
    >>> bool(np.all(why.predict() == model.predict(X[:4])))
    True
    >>> list(why.frame(query=3).columns)
    ['query', 'row', 'label', 'coefficient', 'weight', 'proximity', 'clusters']
    """

    kind: str
    rows: np.ndarray
    size: np.ndarray
    coefficient: np.ndarray
    proximity: np.ndarray
    weight: np.ndarray
    label: np.ndarray
    member: np.ndarray
    share: np.ndarray
    hull_residual: np.ndarray
    objective: np.ndarray
    settled: np.ndarray
    steps: np.ndarray
    decision: str
    classes: np.ndarray | None = None
    rest: np.ndarray | None = None
    grid: np.ndarray | None = None
    history: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, query: Any) -> Explanation:
        """Explanation of one query, or of those that a slice, mask or array of numbers picks."""
        picked = np.atleast_1d(np.arange(len(self))[query])
        arrays: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        varies = [name for name, a in arrays.items() if a is not None and name not in _NOT_PER_QUERY]
        return replace(self, **{name: arrays[name][picked] for name in varies})

    def __repr__(self) -> str:
        n = len(self)
        lines = [f"Explanation of {n} {'query' if n == 1 else 'queries'} ({self.kind}, {self.decision})"]
        order, number = self[:_SHOWN_QUERIES]._ordered()
        for i, used in enumerate(number):
            top = [f"{self.rows[i, k]} ({self.weight[i, k]:.3g})" for k in order[i, : min(4, used)]]
            said = ", ".join([*top, "..."] if used > 4 else top)
            lines.append(f"  query {i}: {self[i]._verdict()} by rows (weights) {said}")
        return "\n".join([*lines, "  ..."] if n > _SHOWN_QUERIES else lines)

    def predict_proba(self) -> np.ndarray:
        """(n, n_classes) probabilities: the weights summed per class, plus ``rest``."""
        if self.classes is None:
            raise AttributeError("An explanation of a regression has no probabilities; use predict().")
        return class_sums(self.weight, self.label, self.classes) + (0.0 if self.rest is None else self.rest)

    def predict(self) -> np.ndarray:
        """The estimator's predictions, made by the decision rule of the rows' weights and labels alone."""
        if self.classes is not None:
            return self.classes[most_probable(self.predict_proba())]
        predicted = decide(self.weight, self.label, self.decision, self.label[0] if self.grid is None else self.grid)
        return predicted[:, 0] if predicted.shape[1] == 1 else predicted

    def frame(self, query: int | Sequence[int] | None = None, largest: int | None = None) -> Any:
        """Data frame of the rows that have a coefficient or a weight, by falling size of the weight.

        Its columns are query, row, label (label_0, ... of several outputs), coefficient, weight, proximity,
        clusters (numbers of the clusters that the row is in, joined by commas).

        Parameters
        ----------
        query : number or numbers of the queries wanted; None for all.
        largest : how many rows to keep of each query; None for all.
        """
        asked = np.atleast_1d(np.arange(len(self))[slice(None) if query is None else query])
        order, number = self._ordered()
        number = number[asked] if largest is None else np.minimum(number[asked], largest)
        at = np.repeat(asked, number), order[asked][np.arange(order.shape[1]) < number[:, None]]
        sets, which = np.unique(self.member[at], axis=0, return_inverse=True)
        names = np.array([",".join(map(str, np.flatnonzero(s))) for s in sets], dtype=object)
        return _optional("pandas").DataFrame(
            {"query": at[0], "row": self.rows[at], **_label_columns(self.label[at])}
            | {name: getattr(self, name)[at] for name in ("coefficient", "weight", "proximity")}
            | {"clusters": names[which.ravel()]}
        )

    def clusters(self) -> Any:
        """Data frame of the clusters of each query.

        Its columns are query, cluster, size, share, hull_residual, objective and label (label_0, ...), which
        is the mean label of the rows in the cluster or their most frequent class.
        """
        member = self.member & self._inside()[:, :, None]
        size = member.sum(axis=1)
        at = np.nonzero(size)
        if self.classes is None:
            label = np.einsum("nmk,nmq->nkq", member.astype(np.float64), self.label)[at] / size[at][:, None]
        else:
            counts = [(member & (self.label == c)[:, :, None]).sum(axis=1)[at] for c in self.classes]
            label = self.classes[np.argmax(counts, axis=0)]
        return _optional("pandas").DataFrame(
            {"query": at[0], "cluster": at[1], "size": size[at]}
            | {name: getattr(self, name)[at] for name in ("share", "hull_residual", "objective")}
            | _label_columns(label)
        )

    def settling(self) -> Any:
        """Data frame of the label after each feedback step: columns query, step, label (label_0, ...)."""
        at = np.nonzero(np.arange(self.settled.shape[1]) < self.steps[:, None])
        label = _label_columns(self._settled_labels(at))
        return _optional("pandas").DataFrame({"query": at[0], "step": at[1]} | label)

    def plot(self, query: int = 0, largest: int = 15, ax: Any = None, output: int = 0) -> np.ndarray:
        """Draw the rows of largest weight, and what all weights say together; returns the axes drawn on.

        Parameters
        ----------
        query : number of the query.
        largest : how many rows to draw.
        ax : matplotlib axes for the rows, or a pair, for the rows and the decision; None makes a figure.
        output : of several outputs the one that gives the colours and the axis of the decision.
        """
        pyplot = _optional("matplotlib.pyplot")
        one = self[query]
        order, number = one._ordered()
        used, top = order[0, : number[0]], order[0, : min(largest, number[0])]
        part = np.abs(one.weight[0, top]).sum() / max(np.abs(one.weight[0]).sum(), 1e-300)
        title = f"{len(top)} of {len(used)} rows, with {part:.0%} of their weight"
        way = [_text(label) for label in one._settled_labels((0, slice(one.steps[0])))]
        way = way if len(way) < 7 else [*way[:3], "...", *way[-2:]]
        heading = f"Query {range(len(self))[query]}: predicted {one._verdict()}"
        heading += f"\nlabel fed back: {' → '.join(way)}" if len(way) > 1 else ""
        if ax is None:
            high = max(3.7, 1.9 + 0.3 * len(top))
            figure, ax = pyplot.subplots(1, 2, figsize=(11.0, high), layout="constrained")
            figure.suptitle(heading)
        else:
            title = f"{heading}\n{title}"
        axes = np.atleast_1d(ax)
        if one.classes is None:
            name = "label" if one.label.shape[2] == 1 else f"label_{output}"
            scale = pyplot.cm.ScalarMappable(cmap="viridis")
            scale.set_clim(*np.quantile(one.label[0, used, output], [0.0, 1.0]) if len(used) else (0.0, 1.0))
            axes[0].figure.colorbar(scale, ax=axes[0], label=name, pad=0.02, aspect=30)
            colours = scale.to_rgba(one.label[0, :, output])
            for panel in axes[1:]:
                one._draw_labels(panel, colours, used[::-1], output)
                panel.set(xlabel=name, ylabel="weight")
        else:
            k = len(one.classes)
            palette = pyplot.cm.tab10(range(k)) if k <= 10 else pyplot.cm.turbo(np.linspace(0.05, 0.95, k))
            colours = palette[np.searchsorted(one.classes, one.label[0])]
            for panel in axes[1:]:
                one._draw_classes(panel, one.classes, palette)
        place = np.arange(len(top))
        raw = {"facecolor": "none", "edgecolor": "0.35", "linewidth": 0.9, "label": "coefficient"}
        axes[0].barh(place - 0.15, one.weight[0, top], 0.45, color=colours[top], label="weight")
        axes[0].barh(place + 0.24, one.coefficient[0, top], 0.24, **raw)
        axes[0].axvline(0.0, color="0.35", linewidth=0.8)
        axes[0].set_yticks(place, [f"row {one.rows[0, k]}:  {_text(one.label[0, k])}" for k in top])
        axes[0].set_ylim(max(len(top), 1) - 0.4, -0.6)
        axes[0].set_title(title, fontsize="medium")
        axes[0].legend(frameon=False, fontsize="small").legend_handles[0].set_facecolor("0.6")
        for at, panel in enumerate(axes):
            panel.set_axisbelow(True)
            panel.grid(axis="y" if at and one.classes is None else "x", alpha=0.3)
            panel.spines[["top", "right"]].set_visible(False)
        return axes

    def _draw_labels(self, ax: Any, colours: Any, used: np.ndarray, output: int) -> None:
        """Stems of the weights along the label, the prediction, and the labels fed back on the way to it."""
        label, weight = self.label[0, used, output], self.weight[0, used]
        ax.vlines(label, 0.0, weight, colors=colours[used], linewidth=1.6)
        ax.scatter(label, weight, 26, c=colours[used], edgecolors="white", linewidths=0.5, zorder=3)
        ax.axhline(0.0, color="0.35", linewidth=0.8)
        predicted = self.predict().reshape(-1)[output]
        ax.axvline(predicted, color="crimson", zorder=1, label=f"prediction {_text(predicted)}")
        if self.steps[0] > 1:
            way = self.settled[0, : self.steps[0], output]
            how = {"alpha": np.linspace(0.3, 1.0, len(way)), "transform": ax.get_xaxis_transform()}
            ax.scatter(way, 0.02 + 0 * way, c="0.25", marker="^", label="fed back (darker: later)", **how)
        ax.set_title("Weights along the label", fontsize="medium")
        ax.legend(frameon=False, fontsize="small")

    def _draw_classes(self, ax: Any, classes: np.ndarray, palette: np.ndarray) -> None:
        """Probability of each class, split into what rows carry and the rest."""
        proba = self.predict_proba()[0]
        top = np.sort(np.argsort(-proba, kind="stable")[:_SHOWN_CLASSES])
        carried = class_sums(self.weight, self.label, classes)[0]
        ax.barh(np.arange(len(top)), carried[top], 0.6, color=palette[top])
        pale = {"facecolor": "none", "edgecolor": palette[top], "hatch": "////", "linewidth": 0.8}
        ax.barh(np.arange(len(top)), (proba - carried)[top], 0.6, left=carried[top], **pale)
        for at, k in enumerate(top):
            style = {"va": "center", "weight": "bold" if k == proba.argmax() else "normal"}
            ax.annotate(f"{proba[k]:.3f}", (proba[k], at), (4, 0), textcoords="offset points", **style)
        ax.set_yticks(np.arange(len(top)), [_text(classes[k]) for k in top])
        middle, half = 0.5 * (len(top) - 1), max(0.5 * len(top) + 0.1, 3.0)
        ax.set(xlim=(0.0, 1.15 * proba.max()), ylim=(middle + half, middle - half))
        which = "each class" if len(top) == len(proba) else f"{len(top)} of {len(proba)} classes"
        hatched = "; hatched: carried by no row" if np.any(proba - carried > 0.001) else ""
        ax.set_title(f"Probability of {which}{hatched}", fontsize="medium")

    def _inside(self) -> np.ndarray:
        return np.arange(self.rows.shape[1]) < self.size[:, None]

    def _ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, M) places by falling |weight|, then |coefficient|; (n,) how many of them have either."""
        used = self._inside() & ((self.coefficient != 0.0) | (self.weight != 0.0))
        by = (-np.abs(self.coefficient), -np.abs(self.weight), ~used)
        return np.lexsort(by, axis=1), used.sum(axis=1)

    def _settled_labels(self, at: Any) -> np.ndarray:
        label = self.settled[at]
        return label if self.classes is None else self.classes[label[..., 0].astype(np.int64)]

    def _verdict(self) -> str:
        """Prediction for the first query in words."""
        said = _text(self.predict()[0])
        return said if self.classes is None else f"{said} (probability {self.predict_proba()[0].max():.3g})"


def _optional(name: str) -> Any:
    """A module of the extra ``report``."""
    return import_extra(name, "report")


def _label_columns(label: np.ndarray) -> dict[str, np.ndarray]:
    """Columns for labels (r,) or (r, n_outputs)."""
    label = label[:, 0] if label.ndim == 2 and label.shape[1] == 1 else label
    return {"label": label} if label.ndim == 1 else {f"label_{a}": label[:, a] for a in range(label.shape[1])}


def _text(label: Any) -> str:
    """A class, or a label of one or several outputs, for a reader."""
    said = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in np.atleast_1d(label)]
    return said[0] if len(said) == 1 else f"({', '.join(said)})"
