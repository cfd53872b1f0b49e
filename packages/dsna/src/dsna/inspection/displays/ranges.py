"""ErrorByRangeDisplay: errors of predictions by target range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._utils.errors import DSNAError
from ..figures import Cases, RangeFigures, range_edges, range_figures
from .axes import MAIN, Display, draw_ranges


class ErrorByRangeDisplay(Display):
    """Mean absolute error by target range, with 95 % confidence intervals, over a histogram of the rows.

    Create it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    figures : list of RangeFigures
        One for each range, in increasing order.

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
        """Plot predictions for rows that the estimator was not fitted on.

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
            Number of rows that each row represents, such as the weights of out-of-bag rows.
        ax : matplotlib axes, optional

        Returns
        -------
        ErrorByRangeDisplay
        """
        truth, predicted = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
        if truth.ndim != 1 or truth.shape != predicted.shape or not len(truth):
            raise DSNAError(
                "y_true and y_pred must be one-dimensional, of the same length and not empty: got shapes "
                f"{truth.shape} and {predicted.shape}."
            )
        figures = range_figures(truth, predicted, range_edges(truth, bins), Cases.of(len(truth), sample_weight))
        return cls(figures).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        low, high = (np.array([getattr(figures, end) for figures in self.figures]) for end in ("low", "high"))
        histogram = ax.twinx()
        counts = [figures.rows for figures in self.figures]
        histogram.bar(low, counts, high - low, align="edge", color="0.88", edgecolor="white")
        histogram.set(ylabel="rows (grey)")
        histogram.spines[["top"]].set_visible(False)
        histogram.grid(False)
        ax.set_zorder(histogram.get_zorder() + 1)
        ax.patch.set_visible(False)
        errors = [figures.error for figures in self.figures]
        self.line_ = draw_ranges(ax, (low + high) / 2.0, errors, color=MAIN, markersize=6, linewidth=1.5)
        tops = [error.high for error in errors if not error.few] + [error.value for error in errors if error.cases]
        ax.set(ylim=(0.0, 1.08 * max([*tops, 1e-12])), xlabel="target", ylabel="mean absolute error")
        if any(error.few and error.cases for error in errors):
            ax.legend(frameon=False, loc="upper center")
