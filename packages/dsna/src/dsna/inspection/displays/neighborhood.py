"""NeighborhoodDisplay: a query amid the training rows that its prediction is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.errors import DSNAError
from ..._utils.validation import check_rows
from ..out_of_bag import some_rows
from ..pipeline import split_pipeline, transformed
from .axes import Display

_SMALLEST, _LARGEST = 14.0, 320.0


class NeighborhoodDisplay(Display):
    """A query and its neighbours in the plane in which they differ most; larger points have more weight.

    Distances are those of the model's metric, as far as a plane can show them. Make it with :meth:`from_estimator` or
    :meth:`from_predictions`.

    Parameters
    ----------
    places : (m, 2) neighbours in the plane, the query being at the origin.
    weight : (m,) their weights in the prediction.
    label : (m,) their classes or targets.
    shown : share of the squared distances from the query that the plane shows.

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
        """Explain one row, and plot its neighbours.

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
        one = some_rows(X, np.array([query]))
        values = check_rows(last, transformed(steps, one), reset=False)
        why = last.explain(values if steps else one)
        order, number = why.ordered()
        used = order[0, : number[0]]
        apart = last._index.mapped_rows(why.rows[0, used]) - last._index.scale_and_map(values)[1]
        label = why.label[0, used] if why.classes is not None else why.label[0, used, 0]
        return cls.from_predictions(apart, why.weight[0, used], label, ax=ax)

    @classmethod
    def from_predictions(cls, apart: Any, weight: Any, label: Any, *, ax: Any = None) -> Any:
        """Plot given neighbours.

        Parameters
        ----------
        apart : array of shape (m, d)
            Neighbours less the query, in a space of any dimension.
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
                f"Neighbours, weights and labels differ in number, or are none: {len(apart)}, {len(weight)}."
            )
        _, _, axes = np.linalg.svd(apart, full_matrices=False)
        axes = axes[:2] * np.where(axes[:2].sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        places = np.zeros((len(apart), 2))
        places[:, : len(axes)] = apart @ axes.T
        total = np.sum(apart**2)
        shown = float(np.sum(places**2) / total) if total > 0 else 1.0
        return cls(places, np.asarray(weight, dtype=np.float64), np.asarray(label), shown).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        size = np.abs(self.weight)
        area = _SMALLEST + (_LARGEST - _SMALLEST) * size / max(size.max(), 1e-300)
        rim = np.where(self.weight < 0, "black", "white")
        how: dict[str, Any] = {"linewidths": 0.8, "alpha": 0.85}
        classes = np.unique(self.label)
        if self.label.dtype.kind in "fc" and len(classes) > 2:
            points = ax.scatter(
                *self.places.T, s=area, c=self.label.astype(np.float64), cmap="viridis", edgecolors=rim, **how
            )
            ax.figure.colorbar(points, ax=ax, label="target of the training row")
        else:
            for k, name in enumerate(classes):
                own = self.label == name
                ax.scatter(
                    *self.places[own].T,
                    s=area[own],
                    color=f"C{k}",
                    label=f"{name}: {own.sum()} rows",
                    edgecolors=rim[own],
                    **how,
                )
        ax.scatter([0.0], [0.0], s=170, marker="*", color="black", zorder=3, label="the query")
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel="direction in which neighbours differ most", ylabel="second direction")
        what = "; black rim: negative weight" if np.any(self.weight < 0) else ""
        ax.set_title(
            f"Size: weight in the prediction{what}. Shown: {self.shown:.0%} of the distances", fontsize="small"
        )
        ax.legend(frameon=False, fontsize="small")
