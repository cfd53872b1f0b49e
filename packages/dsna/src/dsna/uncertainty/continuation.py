"""Prediction intervals for queries beyond the training rows, whose targets may lie beyond the training targets.

No out-of-bag row has a target beyond the outermost, so residuals do not show how far out a target may lie. Targets are
extrapolated with a linear trend, since radial functions and neighbours do not extrapolate. Over the outermost quarter
of the targets, a second line is fitted to the average value of the trend for a target. Read backwards, it maps a query
beyond the training rows to a target beyond the others. Unlike a regression of the targets on the trend, this is
unbiased even though the largest targets are missing. If targets rise faster with the trend at the end than over all
rows, they bend outward and may continue to do so; otherwise they may level off. The interval is widened to hold both
possibilities and the prediction.
"""

from __future__ import annotations

import numpy as np

from .._utils.invariants import LARGEST, Array, Checked, Part, require
from ..prediction.ends import MIN_SLOPE, learn_ends
from ..trend.trend import CrossFitted, Trend

_TAIL = 0.25  # share of the rows on either side to which the second line is fitted
_MAX_SHARE_BEYOND = 0.03  # the line is used only if at most this share of the rows lies beyond its end
# The smallest continuation has slope _LOW_FACTOR * bend**_LOW_POWER, the largest bend**_HIGH_POWER.
_LOW_FACTOR, _LOW_POWER, _HIGH_POWER = 0.75, 0.5, 1.4
_MAX_BEND = 4.0
_SMALLEST = 1e-100


class Continuation(Checked):
    """Range of the targets beyond the outermost ones; q outputs, each with a lower side (first) and an upper side.

    Attributes
    ----------
    line : linear trend of the targets.
    ends : (8, q) ends of the line, as from :func:`dsna.prediction.ends.learn_ends`.
    bend : (2, q) slope of the targets along the line at the end, relative to that over all rows; from 1 to 4.
    scatter : (2, q) standard deviation of the line around its average for a target; queries that lie less than this
        beyond the end may be within the range of the training rows.
    used : (2, q) bool, whether the side is widened.
    """

    FIELDS = {
        "line": Part("Trend", "features outputs"),
        "ends": Array("float64", "eight, outputs", -LARGEST, LARGEST),
        "bend": Array("float64", "two, outputs", 1.0, _MAX_BEND),
        "scatter": Array("float64", "two, outputs", 0.0, LARGEST),
        "used": Array("bool", "two, outputs"),
    }

    line: Trend
    ends: np.ndarray
    bend: np.ndarray
    scatter: np.ndarray
    used: np.ndarray

    def __init__(self, fitted: CrossFitted, target: np.ndarray, weight: np.ndarray):
        self.line = fitted.trend
        weighted = weight > 0.0
        target, line, weight = target[weighted], fitted.out_of_fold[weighted], weight[weighted]
        self.ends = learn_ends(target, line, weight)
        shape = (2, target.shape[1])
        self.bend, self.scatter, self.used = np.ones(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
        for a, (y, x) in enumerate(zip(target.T, line.T, strict=True)):
            mean_y, mean_x = np.average(y, weights=weight), np.average(x, weights=weight)
            variance = np.sum(weight * (y - mean_y) ** 2)
            overall_slope = np.sum(weight * (y - mean_y) * (x - mean_x)) / max(variance, _SMALLEST)
            for row, sign in enumerate((-1.0, 1.0)):
                start, end_line, end_target, slope = self.ends[4 * row : 4 * row + 4, a]
                tail = sign * y >= np.quantile(sign * y, 1.0 - _TAIL)
                residual = (x - end_line - slope * (y - end_target))[tail]
                self.scatter[row, a] = np.sqrt(np.average(residual**2, weights=weight[tail]))
                self.bend[row, a] = np.clip(overall_slope / slope, 1.0, _MAX_BEND)
                share_beyond = np.average(sign * x > sign * end_line, weights=weight)
                self.used[row, a] = sign * end_line > sign * start and share_beyond <= _MAX_SHARE_BEYOND
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(sizes["eight"] == 8 and sizes["two"] == 2, "Continuation.ends must have eight rows, four for each side")
        slope = self.ends[[3, 7]]
        in_range = np.all((slope >= MIN_SLOPE) & (slope <= 1.0))
        require(in_range, f"Continuation.ends has a slope outside {MIN_SLOPE} to 1")

    def widen(self, X: np.ndarray, prediction: np.ndarray, intervals: np.ndarray) -> np.ndarray:
        """(n, q, 2) intervals of predictions (n, q), widened for scaled rows beyond the ends of the line."""
        line = self.line.predict(X)
        low, high = intervals[..., 0], intervals[..., 1]
        for row, sign in enumerate((-1.0, 1.0)):
            _, end_line, end_target, slope = self.ends[4 * row : 4 * row + 4]
            distance = np.maximum(sign * (line - end_line), 0.0)
            share = self.used[row] * np.clip(distance / np.maximum(self.scatter[row], _SMALLEST), 0.0, 1.0)
            step, bend = sign * distance / slope, self.bend[row]
            inner, outer = end_target + _LOW_FACTOR * bend**_LOW_POWER * step, end_target + bend**_HIGH_POWER * step
            low = low + share * np.minimum(np.minimum(inner, outer) - prediction, 0.0)
            high = high + share * np.maximum(np.maximum(inner, outer) - prediction, 0.0)
        return np.stack([low, high], axis=-1)
