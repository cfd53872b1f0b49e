"""Ordinal targets: the thresholds that a target exceeds, and the target recovered from them."""

from __future__ import annotations

import numpy as np

from .._utils.invariants import LARGEST, Array, Checked, require

_MAX_LEVELS = 60
_RAMP = 0.1  # shares within this distance of one half count in part
_WIDE = 3.0  # wider steps than this multiple of the median step have a longer ramp


class Thresholds(Checked):
    """Levels of each output, with a threshold between every two neighbouring levels.

    A target is recovered from the probabilities of exceeding each threshold. It is the lowest level plus the steps
    whose probability is above one half; close to one half, a step is added in part, and wide steps over a longer ramp.

    Parameters
    ----------
    target : (n, q) targets.

    Attributes
    ----------
    lowest : (q,) lowest level of each output.
    output : (steps,) output that each step belongs to.
    middle, step : (steps,) threshold in the middle of each step, and its width.

    Examples
    --------
    >>> import numpy as np
    >>> levels = Thresholds(np.array([[1.0], [2.0], [4.0]]))
    >>> levels.indicators(np.array([[4.0], [1.0]]))
    array([[1., 1.],
           [0., 0.]])
    >>> levels.targets(np.array([[0.9, 0.5]]))
    array([[3.]])
    """

    FIELDS = {
        "lowest": Array("float64", "outputs", -LARGEST, LARGEST),
        "output": Array("int64", "steps", below="outputs"),
        "middle": Array("float64", "steps", -LARGEST, LARGEST),
        "step": Array("float64", "steps", low=0.0),
    }
    NOT_EMPTY = ("outputs",)

    lowest: np.ndarray
    output: np.ndarray
    middle: np.ndarray
    step: np.ndarray

    def __init__(self, target: np.ndarray):
        levels = [_levels(column) for column in target.T]
        self.lowest = np.array([values[0] for values in levels])
        self.output = np.repeat(np.arange(len(levels)), [len(values) - 1 for values in levels])
        self.middle = np.concatenate([0.5 * (values[1:] + values[:-1]) for values in levels])
        self.step = np.concatenate([np.diff(values) for values in levels])
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.output[1:] >= self.output[:-1]), "Thresholds.output falls")

    def _median_step(self) -> np.ndarray:
        """(steps,) median step of the output that each step belongs to."""
        medians = np.ones(len(self.lowest))
        for output in np.unique(self.output):
            medians[output] = np.median(self.step[self.output == output])
        return np.asarray(np.maximum(medians, 1e-300)[self.output])

    def indicators(self, target: np.ndarray) -> np.ndarray:
        """(n, steps) 1 where a target (n, q) exceeds a threshold, 0 elsewhere."""
        return np.asarray(target[:, self.output] > self.middle, dtype=np.float64)

    def targets(self, exceedance: np.ndarray) -> np.ndarray:
        """(n, q) targets from probabilities (n, steps) of exceeding the thresholds."""
        # Over a wide step, such as a gap in the targets, a longer ramp lets predictions lie within the gap.
        ramp = np.minimum(_RAMP * np.maximum(self.step / (_WIDE * self._median_step()), 1.0), 0.5)
        increments = np.clip((exceedance - 0.5) / (2.0 * ramp) + 0.5, 0.0, 1.0) * self.step
        targets = np.tile(self.lowest, (len(exceedance), 1))
        for step, output in enumerate(self.output):
            targets[:, output] += increments[:, step]
        return targets


def _levels(column: np.ndarray) -> np.ndarray:
    """Distinct targets, or quantiles of the targets where too many are distinct."""
    values = np.unique(column)
    return values if len(values) <= _MAX_LEVELS else np.unique(np.quantile(column, np.linspace(0.0, 1.0, _MAX_LEVELS)))
