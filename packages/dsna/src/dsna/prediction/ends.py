"""Predictions beyond the outermost targets, by inverting the shrinkage of predictions toward the mean.

Predictions of the outermost targets fall short of them on average, and the farther out a target, the more. Out-of-bag
predictions show the average prediction for a target. A line is fitted to it over the outermost quarter of the targets
and read backwards: a prediction is replaced with the target that has this average prediction.
"""

from __future__ import annotations

import numpy as np

_TAIL = 0.25  # share of the rows on either side to which the line is fitted
MIN_SLOPE = 0.3  # smallest slope of the line when it is read backwards
_NO_RELATION = 0.1  # below this slope, predictions do not follow the targets
_RAMP = 0.25  # share of the way from the outermost average prediction to the mean at which predictions start to move
#: Rows of the ends of a regression: four for the lower side, then the same four for the upper side.
N_ENDS = 8


def learn_ends(target: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(8, q) ends from targets (n, q) and their out-of-bag predictions (n, q): first the lower, then the upper.

    Each end has four rows: the prediction from which on predictions are moved, the average prediction of the outermost
    target, that target, and the slope of the line.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(101.0)[:, None]
    >>> learn_ends(y, 50 + 0.8 * (y - 50), np.ones(101))[4:, 0].round(3).tolist()
    [80.0, 90.0, 100.0, 0.8]
    """
    ends = [
        np.stack([_upper_end(sign * y, sign * p, weight) for y, p in zip(target.T, prediction.T, strict=True)], axis=1)
        * np.array([sign, sign, sign, 1.0])[:, None]
        for sign in (-1.0, 1.0)
    ]
    return np.concatenate(ends)


def _upper_end(target: np.ndarray, prediction: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(4,) start, average prediction of the largest target, that target, slope."""
    order = np.argsort(target, kind="stable")
    cumulative = np.cumsum(weight[order]) / weight.sum()
    levels = np.unique(target)
    top = levels[-1]
    cut = min(target[order][np.searchsorted(cumulative, 1.0 - _TAIL)], levels[max(len(levels) - 2, 0)])
    tail = target >= cut
    mean_y, mean_p = (np.average(values[tail], weights=weight[tail]) for values in (target, prediction))
    deviation = target[tail] - mean_y
    scatter = np.sum(weight[tail] * deviation**2)
    slope = np.sum(weight[tail] * deviation * (prediction[tail] - mean_p)) / scatter if scatter > 0.0 else 1.0
    top_prediction = min(mean_p + slope * (top - mean_y), top)
    overall = np.average(prediction, weights=weight)
    if slope < _NO_RELATION or top_prediction <= overall:
        return np.array([top, top, top, 1.0])  # predictions stay as they are
    start = top_prediction - _RAMP * (top_prediction - overall)
    return np.array([start, top_prediction, top, np.clip(slope, MIN_SLOPE, 1.0)])


def move_outward(prediction: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, q) predictions moved outward at the ends, to at most one range of the targets beyond the outermost.

    Examples
    --------
    >>> import numpy as np
    >>> ends = np.array([[20.0, 10.0, 0.0, 0.8, 80.0, 90.0, 100.0, 0.8]]).T
    >>> move_outward(np.array([[50.0], [85.0], [90.0], [98.0]]), ends)[:, 0]
    array([ 50.,  90., 100., 110.])
    """
    lower, upper = ends[:4] * np.array([-1.0, -1.0, -1.0, 1.0])[:, None], ends[4:]
    # At most one of the two ends moves a prediction.
    moved = _move_up(prediction, upper) - _move_up(-prediction, lower) - prediction
    target_range = ends[6] - ends[2]
    return np.asarray(np.clip(moved, ends[2] - target_range, ends[6] + target_range))


def _move_up(prediction: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(n, q) predictions moved up at an upper end."""
    start, top_prediction, top, slope = end
    width = np.where(top_prediction > start, top_prediction - start, 1.0)
    stretch = np.where(top_prediction > start, (top - start) / width, 1.0)
    before_top = np.where(prediction > start, start + (prediction - start) * stretch, prediction)
    return np.where(prediction > top_prediction, top + (prediction - top_prediction) / slope, before_top)
