"""Predictions past the outermost targets: the pull toward the middle, undone at the ends.

Predictions of the outermost targets fall short of them on average, and those of targets farther out fall short by more.
What is predicted on average of a target is known out of bag; a line through it, among the outermost quarter of the
targets, is read backwards: a prediction becomes the target of which it is the average prediction.
"""

from __future__ import annotations

import numpy as np

_OUTERMOST = 0.25  # share of the rows, on either side
FLATTEST = 0.3  # least slope of the line that is continued
_NONE = 0.1  # slope that is no relation at all
_RAMP = 0.25  # of the way from the mean prediction to that of the outermost target: where predictions start to be moved
#: Rows of the ends of a regression: the same four for the lower side and for the upper one.
N_ENDS = 8


def learn_ends(target: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(8, q) ends of predictions (n, q) of targets (n, q), first the lower, then the upper.

    Each is four numbers: where predictions start to be moved, the average prediction of the outermost target, that
    target, and the slope of the line.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(101.0)[:, None]
    >>> learn_ends(y, 50 + 0.8 * (y - 50), np.ones(101))[4:, 0].round(3).tolist()
    [80.0, 90.0, 100.0, 0.8]
    """
    sides = [
        np.stack([_upper_end(side * y, side * p, weight) for y, p in zip(target.T, prediction.T, strict=True)], axis=1)
        * np.array([side, side, side, 1.0])[:, None]
        for side in (-1.0, 1.0)
    ]
    return np.concatenate(sides)


def _upper_end(target: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(4,) start, average prediction of the largest target, that target, slope."""
    order = np.argsort(target, kind="stable")
    share = np.cumsum(weight[order]) / weight.sum()
    levels = np.unique(target)
    top = levels[-1]
    cut = min(target[order][np.searchsorted(share, 1.0 - _OUTERMOST)], levels[max(len(levels) - 2, 0)])
    outer = target >= cut
    y, p = (np.average(values[outer], weights=weight[outer]) for values in (target, prediction))
    off = target[outer] - y
    spread = np.sum(weight[outer] * off**2)
    slope = np.sum(weight[outer] * off * (prediction[outer] - p)) / spread if spread > 0.0 else 1.0
    said = min(p + slope * (top - y), top)
    middle = np.average(prediction, weights=weight)
    if slope < _NONE or said <= middle:  # predictions that do not follow the targets are left alone
        return np.array([top, top, top, 1.0])
    return np.array([said - _RAMP * (said - middle), said, top, np.clip(slope, FLATTEST, 1.0)])


def continued(prediction: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, q) predictions, moved outward at the ends; no farther than one range of the targets past the outermost.

    Examples
    --------
    >>> import numpy as np
    >>> ends = np.array([[20.0, 10.0, 0.0, 0.8, 80.0, 90.0, 100.0, 0.8]]).T
    >>> continued(np.array([[50.0], [85.0], [90.0], [98.0]]), ends)[:, 0]
    array([ 50.,  90., 100., 110.])
    """
    lower, upper = ends[:4] * np.array([-1.0, -1.0, -1.0, 1.0])[:, None], ends[4:]
    moved = _outward(prediction, upper) - _outward(-prediction, lower) - prediction  # no prediction is past both
    width = ends[6] - ends[2]
    return np.asarray(np.clip(moved, ends[2] - width, ends[6] + width))


def _outward(p: np.ndarray, end: np.ndarray) -> np.ndarray:
    start, said, top, slope = end
    room = np.where(said > start, said - start, 1.0)
    inner = start + (p - start) * np.where(said > start, (top - start) / room, 1.0)
    return np.where(p > said, top + (p - said) / slope, np.where(p > start, inner, p))
