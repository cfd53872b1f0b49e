"""Ordinal targets: a target as the number of thresholds that it exceeds, and back."""

from __future__ import annotations

import numpy as np

from .._utils.invariants import LARGEST, Array, Checked, require

_MOST = 60
_SOFT = 0.1
_WIDE = 3.0  # steps that are wider than so many usual ones are taken more gradually


class Thresholds(Checked):
    """Levels of each output; between two neighbouring levels lies a threshold.

    A target is recovered from the shares with which it exceeds the thresholds: the lowest level, plus each step in the
    measure in which its share lies above one half; steps that are wider than most are taken more gradually.

    Parameters
    ----------
    target : (n, q) targets.

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
        levels = [np.unique(column) for column in target.T]
        levels = [
            one if len(one) <= _MOST else np.unique(np.quantile(column, np.linspace(0.0, 1.0, _MOST)))
            for one, column in zip(levels, target.T, strict=True)
        ]
        self.lowest = np.array([one[0] for one in levels])
        self.output = np.repeat(np.arange(len(levels)), [len(one) - 1 for one in levels])
        self.middle = np.concatenate([0.5 * (one[1:] + one[:-1]) for one in levels])
        self.step = np.concatenate([np.diff(one) for one in levels])
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.output[1:] >= self.output[:-1]), "Thresholds.output falls")

    def _usual_step(self) -> np.ndarray:
        """(steps,) median step of the output of each."""
        usual = np.ones(len(self.lowest))
        for a in np.unique(self.output):
            usual[a] = np.median(self.step[self.output == a])
        return np.asarray(np.maximum(usual, 1e-300)[self.output])

    def indicators(self, target: np.ndarray) -> np.ndarray:
        """(n, steps) whether each target (n, q) exceeds each threshold, as 0 and 1."""
        return np.asarray(target[:, self.output] > self.middle, dtype=np.float64)

    def targets(self, share: np.ndarray) -> np.ndarray:
        """(n, q) targets of shares (n, steps)."""
        # A wide step, as over targets that nobody has, is taken in as long a stretch of shares: answers lie within it.
        soft = np.minimum(_SOFT * np.maximum(self.step / (_WIDE * self._usual_step()), 1.0), 0.5)
        counted = np.clip((share - 0.5) / (2.0 * soft) + 0.5, 0.0, 1.0) * self.step
        out = np.tile(self.lowest, (len(share), 1))
        for k, a in enumerate(self.output):
            out[:, a] += counted[:, k]
        return out
