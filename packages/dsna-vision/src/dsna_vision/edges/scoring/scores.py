"""Scores of a boundary detector: ODS, OIS, AP, R50 and the precision-recall curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

_STEPS = np.linspace(0.0, 1.0, 100)  # interpolation weights between two thresholds
_TINY = np.finfo(float).eps


@dataclass
class BoundaryScores:
    """Counts of matched pixels and the scores computed from them.

    Attributes
    ----------
    names : list of str
        Names of the photos.
    thresholds : array of shape (n_thresholds,)
        Pixels of at least this value count as boundary.
    counts : array of shape (n_photos, n_thresholds, 4)
        Matched and all true pixels, over all annotators; predicted pixels matched to any annotator, and all predicted
        pixels.
    problems : list of str
        Photos that were left out, with reasons.
    ods, ods_threshold, ods_precision, ods_recall : float
        Best F of all photos at one threshold, that threshold, and precision and recall there.
    ois : float
        F of all photos, each at its own best threshold.
    ap : float
        Average precision.
    r50 : float
        Recall at a precision of one half; 0 if precision is always lower.
    precision, recall, f : arrays of shape (n_thresholds,)
        Over all photos, at each threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.edges import BoundaryScores
    >>> counts = np.array([[[90, 100, 80, 160], [60, 100, 54, 60]]])
    >>> scores = BoundaryScores(["pond"], np.array([0.3, 0.6]), counts)
    >>> scores.precision, scores.recall
    (array([0.5, 0.9]), array([0.9, 0.6]))
    >>> round(scores.ods, 3), round(scores.ods_threshold, 3), round(scores.ois, 3)
    (0.732, 0.518, 0.72)
    >>> print(scores)
    1 photo   ODS 0.732 (P 0.79, R 0.68 at 0.52)   OIS 0.720   AP 0.217   R50 0.900
    """

    names: list[str]
    thresholds: np.ndarray
    counts: np.ndarray
    problems: list[str] = field(default_factory=list)

    @cached_property
    def _pooled(self) -> tuple[np.ndarray, np.ndarray]:
        return _rates(self.counts.sum(axis=0))

    @property
    def recall(self) -> np.ndarray:
        """Share of true pixels that are matched, at each threshold."""
        return self._pooled[0]

    @property
    def precision(self) -> np.ndarray:
        """Share of predicted pixels that are matched, at each threshold."""
        return self._pooled[1]

    @property
    def f(self) -> np.ndarray:
        """Harmonic mean of precision and recall, at each threshold."""
        f: np.ndarray = _f(self.recall, self.precision)
        return f

    @cached_property
    def _best(self) -> tuple[float, float, float, float]:
        return _peak(self.thresholds, self.recall, self.precision)

    @property
    def ods(self) -> float:
        """Best F at one threshold for all photos."""
        return self._best[0]

    @property
    def ods_threshold(self) -> float:
        """Threshold at which F is best."""
        return self._best[1]

    @property
    def ods_recall(self) -> float:
        """Recall where F is best."""
        return self._best[2]

    @property
    def ods_precision(self) -> float:
        """Precision where F is best."""
        return self._best[3]

    @property
    def ois(self) -> float:
        """F of all photos, each at its own best threshold."""
        best = _f(*_rates(self.counts)).argmax(axis=1)
        return float(_f(*_rates(self.counts[np.arange(len(best)), best].sum(axis=0))))

    @property
    def ap(self) -> float:
        """Sum of precision at recall 0, 0.01, ..., 1, divided by 100; precision is zero beyond the ends of the curve.

        If recall is the same at all thresholds, this is precision times recall.
        """
        recall, first_index = np.unique(self.recall, return_index=True)
        if len(recall) < 2:
            return float(self.precision[0] * self.recall[0])
        recall_grid = np.arange(101) / 100
        return float(np.interp(recall_grid, recall, self.precision[first_index], left=0.0, right=0.0).sum() / 100)

    @property
    def r50(self) -> float:
        """Recall at a precision of one half, or at the lowest precision if all are higher."""
        any_predicted = self.counts[..., 3].sum(axis=0) > 0
        precision, first_index = np.unique(self.precision[any_predicted], return_index=True)
        if not len(precision):
            return 0.0
        return float(np.interp(max(0.5, precision[0]), precision, self.recall[any_predicted][first_index], right=0.0))

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """For each photo: ``name``, best ``f``, its ``threshold``, and ``f_at_ods``, F at the threshold of ODS."""
        rows = []
        for name, counts in zip(self.names, self.counts, strict=True):
            recall, precision = _rates(counts)
            f, threshold, *_ = _peak(self.thresholds, recall, precision)
            at_ods = [np.interp(self.ods_threshold, self.thresholds, curve) for curve in (recall, precision)]
            rows.append({"name": name, "f": f, "threshold": threshold, "f_at_ods": float(_f(*at_ods))})
        return rows

    def __str__(self) -> str:
        left_out = f"   {len(self.problems)} left out" if self.problems else ""
        photos = "1 photo" if len(self.names) == 1 else f"{len(self.names)} photos"
        return (
            f"{photos}   ODS {self.ods:.3f} (P {self.ods_precision:.2f}, "
            f"R {self.ods_recall:.2f} at {self.ods_threshold:.2f})   OIS {self.ois:.3f}   AP {self.ap:.3f}   "
            f"R50 {self.r50:.3f}{left_out}"
        )

    def plot(self, *, label: str | None = None, ax: Any = None, **style: Any) -> Any:
        """Draw precision against recall, on lines of equal F.

        Parameters
        ----------
        label : str or None, default=None
            Name in the legend, where ODS is added.
        ax : matplotlib axes or None, default=None
            Axes to draw on; None creates a figure. Several curves may share axes.
        **style
            Arguments of matplotlib's ``plot``, such as ``color``.

        Returns
        -------
        matplotlib axes

        Examples
        --------
        >>> import numpy as np
        >>> from dsna_vision.edges import BoundaryScores
        >>> counts = np.array([[[90, 100, 80, 160], [60, 100, 54, 60]]])
        >>> ax = BoundaryScores(["pond"], np.array([0.3, 0.6]), counts).plot(label="ours")
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['ours (ODS 0.732)']
        """
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(figsize=(5.0, 5.0), layout="constrained")[1]
            ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="recall", ylabel="precision", aspect="equal")
            for f in np.arange(1, 10) / 10:
                recall = np.linspace(f / (2 - f), 1, 100)
                ax.plot(recall, f * recall / (2 * recall - f), color="0.85", linewidth=0.8, zorder=0)
                ax.annotate(f"{f:.1f}", (1, f / (2 - f)), color="0.6", fontsize=7, ha="right", va="bottom")
        has_predictions = self.counts[..., 3].sum(axis=0) > 0
        name = f"{label} (ODS {self.ods:.3f})" if label else f"ODS {self.ods:.3f}"
        (line,) = ax.plot(self.recall[has_predictions], self.precision[has_predictions], label=name, **style)
        ax.plot(self.ods_recall, self.ods_precision, "o", color=line.get_color(), markersize=4)
        ax.legend(loc="lower left")
        return ax


def _rates(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Recall and precision."""
    hit_true, true, hit, predicted = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    return hit_true / np.maximum(true, _TINY), hit / np.maximum(predicted, _TINY)


def _f(recall: Any, precision: Any) -> Any:
    return 2.0 * precision * recall / np.maximum(precision + recall, _TINY)


def _peak(thresholds: np.ndarray, recall: np.ndarray, precision: np.ndarray) -> tuple[float, float, float, float]:
    """Best F with its threshold, recall and precision, interpolated in 100 steps between thresholds."""
    points = np.stack([thresholds, recall, precision])
    if len(thresholds) > 1:
        points = points[:, :-1, None] * (1.0 - _STEPS) + points[:, 1:, None] * _STEPS
    threshold, recall, precision = points.reshape(3, -1)
    f = _f(recall, precision)
    best = f.argmax()
    return float(f[best]), float(threshold[best]), float(recall[best]), float(precision[best])
