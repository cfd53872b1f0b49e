"""RecallByClassDisplay: recall and precision of each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..figures import Cases, ClassFigures, class_figures
from .axes import MAIN, SECOND, Display, draw_ranges


class RecallByClassDisplay(Display):
    """Recall and precision of each class, with 95 % confidence intervals and numbers of cases.

    Create it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    figures : list of ClassFigures
        One for each class, from the most common to the rarest.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : matplotlib line of the recalls

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.inspection import RecallByClassDisplay
    >>> X, X_test, y, y_test = train_test_split(*load_wine(return_X_y=True), random_state=0)
    >>> model = DSNAClassifier(CostSensitiveForestClassifier(10), random_state=0).fit(X, y)
    >>> display = RecallByClassDisplay.from_estimator(model, X_test, y_test)
    >>> [figures.recall.cases for figures in display.figures]
    [21, 16, 8]
    """

    def __init__(self, figures: Sequence[ClassFigures]):
        self.figures = list(figures)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None) -> Any:
        """Plot predictions for rows that the estimator was not fitted on.

        Parameters
        ----------
        estimator : fitted classifier
        X, y : rows and their classes
        sample_weight : array of shape (n,), optional
        ax : matplotlib axes, optional

        Returns
        -------
        RecallByClassDisplay
        """
        return cls.from_predictions(y, estimator.predict(X), sample_weight=sample_weight, ax=ax)

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, *, sample_weight: Any = None, ax: Any = None) -> Any:
        """Plot given predictions.

        Parameters
        ----------
        y_true, y_pred : arrays of shape (n,)
        sample_weight : array of shape (n,), optional
            Number of rows that each row represents, such as the weights of out-of-bag rows.
        ax : matplotlib axes, optional

        Returns
        -------
        RecallByClassDisplay
        """
        truth = np.asarray(y_true)
        cases = Cases.of(len(truth), sample_weight)
        figures = class_figures(truth, y_pred, np.unique(truth).tolist(), cases)
        return cls(sorted(figures, key=lambda figure: -figure.rows)).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        positions = np.arange(len(self.figures), dtype=np.float64)
        style = {"linestyle": "none", "markersize": 7}
        recalls = [figures.recall for figures in self.figures]
        precisions = [figures.precision for figures in self.figures]
        self.line_ = draw_ranges(ax, positions - 0.12, recalls, color=MAIN, label="recall", **style)
        draw_ranges(ax, positions + 0.12, precisions, color=SECOND, label="precision", **style)
        ax.set_xticks(positions, [f"{figures.name}\n{figures.recall.cases:,} cases" for figures in self.figures])
        ax.set(ylim=(-0.03, 1.03), xlim=(-0.6, len(positions) - 0.4), ylabel="share", xlabel="class")
        handles, labels = ax.get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        ax.legend(unique.values(), unique.keys(), frameon=False, loc="lower left")
