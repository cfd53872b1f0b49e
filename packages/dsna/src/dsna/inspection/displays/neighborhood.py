"""NeighborhoodDisplay: a query among the training rows behind its prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.errors import DSNAError
from ..._utils.validation import check_rows
from ..out_of_bag import select_rows
from ..pipeline import split_pipeline, transform_rows
from .axes import Display

_MIN_AREA, _MAX_AREA = 14.0, 320.0


class NeighborhoodDisplay(Display):
    """A query and its neighbours, projected to two dimensions; larger points have more weight.

    The projection keeps as much of the distances, in the model's metric, as a plane can. Create it with
    :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    places : (m, 2) coordinates of the neighbours; the query is at the origin.
    weight : (m,) their weights in the prediction.
    label : (m,) their classes or targets.
    shown : share of the squared distances from the query that the projection keeps.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.inspection import NeighborhoodDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X[1:], y[1:])
    >>> display = NeighborhoodDisplay.from_estimator(model, X[:1])
    >>> display.places.shape[1]
    2
    """

    size = (6.0, 5.0)

    def __init__(self, places: np.ndarray, weight: np.ndarray, label: np.ndarray, shown: float = 1.0):
        self.places, self.weight, self.label, self.shown = places, weight, label, shown

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, query: int = 0, ax: Any = None) -> Any:
        """Plot the neighbours of one row.

        Parameters
        ----------
        estimator : fitted DSNAClassifier or DSNARegressor, or Pipeline that ends in one
        X : rows that the estimator was not fitted on
        query : int, default=0
            Number of the row of ``X``.
        ax : matplotlib axes, optional

        Returns
        -------
        NeighborhoodDisplay
        """
        steps, last = split_pipeline(estimator)
        if not hasattr(last, "_explain_oob"):
            raise DSNAError(f"{type(last).__name__} has no neighbours: pass a DSNAClassifier or DSNARegressor.")
        check_is_fitted(last)
        row = select_rows(X, np.array([query]))
        values = check_rows(last, transform_rows(steps, row), reset=False)
        explanation = last.explain(values if steps else row)
        order, n_used = explanation.ordered()
        neighbors = order[0, : n_used[0]]
        offsets = last._index.mapped_rows(explanation.rows[0, neighbors]) - last._index.scale_and_map(values)[1]
        label = explanation.label[0, neighbors]
        label = label if label.ndim == 1 else label[:, 0]
        return cls.from_predictions(offsets, explanation.weight[0, neighbors], label, ax=ax)

    @classmethod
    def from_predictions(cls, apart: Any, weight: Any, label: Any, *, ax: Any = None) -> Any:
        """Plot given neighbours.

        Parameters
        ----------
        apart : array of shape (m, d)
            Differences of the neighbours from the query, in any dimension.
        weight, label : arrays of shape (m,)
            Their weights in the prediction, and their classes or targets.
        ax : matplotlib axes, optional

        Returns
        -------
        NeighborhoodDisplay
        """
        apart = np.asarray(apart, dtype=np.float64)
        if apart.ndim != 2 or not len(apart) or len(apart) != len(weight) or len(apart) != len(label):
            raise DSNAError(
                "apart must have shape (m, d) with m > 0, weight and label shape (m,): got lengths "
                f"{len(apart)}, {len(weight)} and {len(label)}."
            )
        _, _, axes = np.linalg.svd(apart, full_matrices=False)
        axes = axes[:2] * np.where(axes[:2].sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        coordinates = np.zeros((len(apart), 2))
        coordinates[:, : len(axes)] = apart @ axes.T
        total = np.sum(apart**2)
        share = float(np.sum(coordinates**2) / total) if total > 0 else 1.0
        return cls(coordinates, np.asarray(weight, dtype=np.float64), np.asarray(label), share).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        magnitude = np.abs(self.weight)
        area = _MIN_AREA + (_MAX_AREA - _MIN_AREA) * magnitude / max(magnitude.max(), 1e-300)
        edge_colors = np.where(self.weight < 0, "black", "white")
        style: dict[str, Any] = {"linewidths": 0.8, "alpha": 0.85}
        classes = np.unique(self.label)
        if self.label.dtype.kind in "fc" and len(classes) > 2:
            points = ax.scatter(
                *self.places.T, s=area, c=self.label.astype(np.float64), cmap="viridis", edgecolors=edge_colors, **style
            )
            ax.figure.colorbar(points, ax=ax, label="target of the training row")
        else:
            for k, name in enumerate(classes):
                is_class = self.label == name
                ax.scatter(
                    *self.places[is_class].T,
                    s=area[is_class],
                    color=f"C{k}",
                    label=f"{name}: {is_class.sum()} rows",
                    edgecolors=edge_colors[is_class],
                    **style,
                )
        ax.scatter([0.0], [0.0], s=170, marker="*", color="black", zorder=3, label="the query")
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel="direction in which neighbours differ most", ylabel="second direction")
        note = "; black rim: negative weight" if np.any(self.weight < 0) else ""
        ax.set_title(
            f"Size: weight in the prediction{note}. Shown: {self.shown:.0%} of the squared distances", fontsize="small"
        )
        ax.legend(frameon=False, fontsize="small")
