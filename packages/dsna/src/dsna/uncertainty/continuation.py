"""How far targets may lie past the outermost ones seen: intervals that open outward where queries lie past the rows.

Nothing out of bag has a target past the outermost, so no residual says how large one may be. What can be said comes
from a line: a linear trend of the targets, which goes on where radial functions and neighbours end. Among the outermost
quarter of the targets, another line says what the first one says on average of a target; read backwards, it leads from
a query past the rows to a target past the others. This is right whatever targets are missing, as a regression of the
targets on the trend is not. Where it rises faster at the end than over all rows, the targets bend outward, and may go
on to do so; where not, they may level off. The interval opens to hold both, and the prediction.
"""

from __future__ import annotations

import numpy as np

from .._utils.invariants import LARGEST, Array, Checked, Part, require
from ..prediction.ends import FLATTEST, learn_ends
from ..trend.trend import CrossFitted, Trend

_OUTERMOST = 0.25  # share of the rows, on either side
_PAST = 0.03  # share of the rows that may lie past the end of the line: where more do, it says too little
_LEAST, _NEAR, _FAR = 0.75, 0.5, 1.4  # the slopes between which targets continue: a factor, and powers of the bend
_MOST_BEND = 4.0
_SMALLEST = 1e-100


class Continuation(Checked):
    """Where targets may lie past the outermost ones; q outputs, of which the lower side comes first.

    Attributes
    ----------
    line : linear trend of the targets.
    ends : (8, q) what the line says on average of the outermost targets; see :func:`dsna.prediction.ends.learn_ends`.
    bend : (2, q) how much faster targets rise with the line at the end than over all rows; from 1 to 4.
    scatter : (2, q) deviation of the line from that average: a query that lies less past the end may lie inside.
    used : (2, q) bool, where the line says enough.
    """

    FIELDS = {
        "line": Part("Trend", "features outputs"),
        "ends": Array("float64", "eight, outputs", -LARGEST, LARGEST),
        "bend": Array("float64", "two, outputs", 1.0, _MOST_BEND),
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
        some = weight > 0.0
        target, own, weight = target[some], fitted.own[some], weight[some]
        self.ends = learn_ends(target, own, weight)
        shape = (2, target.shape[1])
        self.bend, self.scatter, self.used = np.ones(shape), np.zeros(shape), np.zeros(shape, dtype=bool)
        for a, (y, s) in enumerate(zip(target.T, own.T, strict=True)):
            mean_y, mean_s = np.average(y, weights=weight), np.average(s, weights=weight)
            overall = np.sum(weight * (y - mean_y) * (s - mean_s)) / max(np.sum(weight * (y - mean_y) ** 2), _SMALLEST)
            for row, side in enumerate((-1.0, 1.0)):
                start, said, top, slope = self.ends[4 * row : 4 * row + 4, a]
                outer = side * y >= np.quantile(side * y, 1.0 - _OUTERMOST)
                off = (s - said - slope * (y - top))[outer]
                self.scatter[row, a] = np.sqrt(np.average(off**2, weights=weight[outer]))
                self.bend[row, a] = np.clip(overall / slope, 1.0, _MOST_BEND)
                past = np.average(side * s > side * said, weights=weight)
                self.used[row, a] = side * said > side * start and past <= _PAST
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(sizes["eight"] == 8 and sizes["two"] == 2, "Continuation.ends are not those of two sides")
        slope = self.ends[[3, 7]]
        require(np.all((slope >= FLATTEST) & (slope <= 1.0)), "Continuation.ends has a slope that no line has")

    def opened(self, X: np.ndarray, prediction: np.ndarray, intervals: np.ndarray) -> np.ndarray:
        """(n, q, 2) intervals of predictions (n, q), opened outward where rows on the common scale lie past the end."""
        line = self.line.predict(X)
        low, high = intervals[..., 0], intervals[..., 1]
        for row, side in enumerate((-1.0, 1.0)):
            _, said, top, slope = self.ends[4 * row : 4 * row + 4]
            past = np.maximum(side * (line - said), 0.0)
            share = self.used[row] * np.clip(past / np.maximum(self.scatter[row], _SMALLEST), 0.0, 1.0)
            step, bend = side * past / slope, self.bend[row]
            near, far = top + _LEAST * bend**_NEAR * step, top + bend**_FAR * step
            least, most = np.minimum(near, far), np.maximum(near, far)
            low = low + share * np.minimum(least - prediction, 0.0)
            high = high + share * np.maximum(most - prediction, 0.0)
        return np.stack([low, high], axis=-1)
