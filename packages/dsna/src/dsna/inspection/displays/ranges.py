"""ErrorByRangeDisplay: how far off predictions are along the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._utils.errors import DSNAError
from ..figures import Cases, RangeFigures, range_edges, range_figures
from .axes import MAIN, Display, draw_ranges


class ErrorByRangeDisplay(Display):
    """Mean absolute error in ranges of the target, with 95 % ranges, over a histogram of the rows.

    Make it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    figures : list of RangeFigures
        One for each range, rising.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : matplotlib line of the errors

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dsna import CostSensitiveForestRegressor, DSNARegressor
    >>> from dsna.inspection import ErrorByRangeDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DSNARegressor(CostSensitiveForestRegressor(10), random_state=0).fit(X[:300], y[:300])
    >>> display = ErrorByRangeDisplay.from_estimator(model, X[300:], y[300:], bins=4)
    >>> len(display.figures)
    4
    """

    def __init__(self, figures: Sequence[RangeFigures]):
        self.figures = list(figures)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, bins: int = 10, sample_weight: Any = None, ax: Any = None
    ) -> Any:
        """Predict rows that the estimator was not fitted on, and plot.

        Parameters
        ----------
        estimator : fitted regressor
        X, y : rows and their targets
        bins : int, default=10
            Number of ranges.
        sample_weight : array of shape (n,), optional
        ax : matplotlib axes, optional

        Returns
        -------
        ErrorByRangeDisplay
        """
        return cls.from_predictions(y, estimator.predict(X), bins=bins, sample_weight=sample_weight, ax=ax)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_pred: Any, *, bins: int = 10, sample_weight: Any = None, ax: Any = None
    ) -> Any:
        """Plot given predictions.

        Parameters
        ----------
        y_true, y_pred : arrays of shape (n,)
        bins : int, default=10
            Number of ranges.
        sample_weight : array of shape (n,), optional
            How many rows each stands for, as of out-of-bag rows.
        ax : matplotlib axes, optional

        Returns
        -------
        ErrorByRangeDisplay
        """
        truth, said = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
        if truth.ndim != 1 or truth.shape != said.shape or not len(truth):
            raise DSNAError(
                f"One target is plotted, with a prediction for each row: got shapes {truth.shape} and {said.shape}."
            )
        found = range_figures(truth, said, range_edges(truth, bins), Cases.of(len(truth), sample_weight))
        return cls(found).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        low, high = (np.array([getattr(one, end) for one in self.figures]) for end in ("low", "high"))
        rows = ax.twinx()
        rows.bar(low, [one.rows for one in self.figures], high - low, align="edge", color="0.88", edgecolor="white")
        rows.set(ylabel="rows (grey)")
        rows.spines[["top"]].set_visible(False)
        rows.grid(False)
        ax.set_zorder(rows.get_zorder() + 1)
        ax.patch.set_visible(False)
        errors = [one.error for one in self.figures]
        self.line_ = draw_ranges(ax, (low + high) / 2.0, errors, color=MAIN, markersize=6, linewidth=1.5)
        top = max([one.high for one in errors if not one.few] + [one.value for one in errors if one.cases] + [1e-12])
        ax.set(ylim=(0.0, 1.08 * top), xlabel="target", ylabel="mean absolute error")
        if any(one.few and one.cases for one in errors):
            ax.legend(frameon=False, loc="upper center")
