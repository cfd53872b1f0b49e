"""Classes or targets of the training rows, and costs, in the form required by the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._utils.errors import DSNAError
from .scaling import column_spread

#: Costs by name: the number of a cost that the kernels compute (``COST_*``), or a function of an array of shares.
COSTS: dict[str | None, int | Callable[[Any], Any]] = {None: 0, "paper": 1, "inverse": 2}
_TABULATED = 3
_LARGEST_GAIN_WEIGHT = 10.0
_OUTPUT_PREFERENCE = 1e-6
_SAME_SIZE = 0.999


class Targets:
    """Classes or targets of the training rows.

    Attributes
    ----------
    n_classes : number of classes, 0 in regression.
    code : (n,) class number, or number of the distinct target.
    label : (n, q) targets, each output in units of its spread; a column of zeros for classes.
    share : (n,) share of rows with (nearly) that target; empty for classes, which nodes count themselves.
    gain : (n,) weight of a row in the gain of a split: inverse frequency.
    density : method by which a node computes the share of a target (``DENSITY_*`` of the kernels).
    """

    def __init__(
        self,
        n_classes: int,
        code: np.ndarray,
        label: np.ndarray,
        share: np.ndarray,
        gain: np.ndarray,
        density: int,
    ):
        self.n_classes = n_classes
        self.code = np.ascontiguousarray(code, dtype=np.int64)
        self.label = np.ascontiguousarray(label, dtype=np.float64)
        self.share = np.ascontiguousarray(share, dtype=np.float64)
        self.gain = np.ascontiguousarray(gain, dtype=np.float64)
        self.density = density

    def values_by_code(self, values: np.ndarray) -> np.ndarray:
        """(n_codes, k) value of each class or distinct target, from the values of the rows (n, k)."""
        code_values = np.zeros((int(self.code.max()) + 1, values.shape[1]))
        code_values[self.code] = values
        return code_values

    @property
    def rarest(self) -> int:
        """Number of rows of the rarest class; 0 in regression."""
        counts = np.bincount(self.code)
        return int(counts[counts > 0].min()) if self.n_classes else 0

    @property
    def rank(self) -> np.ndarray:
        """(n,) sort key of rows: class, target, or the main direction of several outputs, rounded to nine digits."""
        if self.n_classes:
            return self.code
        label = self.label
        if label.shape[1] == 1:
            return label[:, 0]
        centred = label - label.mean(axis=0)
        # For uncorrelated outputs of equal variance, the first output is the main direction.
        preference = 1.0 - _OUTPUT_PREFERENCE * np.arange(label.shape[1])
        direction = np.linalg.svd(centred * preference, full_matrices=False)[2][0]
        size = np.abs(direction)
        sign = np.sign(direction[np.argmax(size >= _SAME_SIZE * size.max())])
        return np.asarray(np.round(np.sum(centred * (sign * direction), axis=1), 9))


def class_targets(code: np.ndarray, n_classes: int, weight: np.ndarray) -> Targets:
    """Return the ``Targets`` of a classification."""
    gain = 1.0 / (n_classes * np.maximum(class_shares(code, n_classes, weight), 1e-300))
    return Targets(n_classes, code, np.zeros((len(code), 1)), np.empty(0), gain[code], 0)


def regression_targets(y: np.ndarray, weight: np.ndarray, density: Any) -> Targets:
    """Return the ``Targets`` of a regression with targets ``y`` (n, q).

    ``density`` is a TargetDensity, or an object with the method ``evaluate`` and the attribute ``kind``.
    """
    has_weight = weight > 0
    scaled = (y - y[has_weight].mean(axis=0)) / column_spread(y[has_weight])
    share = density.evaluate(y)
    gain = 1.0 / share
    gain = np.minimum(gain / np.average(gain, weights=weight), _LARGEST_GAIN_WEIGHT)
    code = np.unique(y, axis=0, return_inverse=True)[1].ravel()
    return Targets(0, code, scaled, share, gain, {"exact": 0, "bins": 1}.get(density.kind, 2))


def cost_code(cost: str | Callable[[Any], Any] | None) -> tuple[int, np.ndarray]:
    """Encode a cost for the kernels as a number and a table.

    Parameters
    ----------
    cost : {"paper", "inverse"}, None or callable
        f(p) = (1 - p) / p, f(p) = 1 / p, no cost, or a function of an array of shares p in (0, 1].
    """
    if not callable(cost) and cost not in COSTS:
        raise DSNAError(f"cost={cost!r} is unknown: use one of {tuple(COSTS)} or a callable f(p).")
    number_or_function = cost if callable(cost) else COSTS[cost]
    if callable(number_or_function):
        table = np.asarray(number_or_function(np.logspace(-6, 0, 1025)), dtype=np.float64)
        if table.shape != (1025,) or not np.all(np.isfinite(table)) or np.any(table < 0):
            raise DSNAError(
                "The callable cost must map an array of shares p in (0, 1] to as many finite, non-negative costs."
            )
        return _TABULATED, table
    return number_or_function, np.ones(2)


def class_shares(code: np.ndarray, n_classes: int, sample_weight: np.ndarray) -> np.ndarray:
    """Return the share of each class in the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> class_shares(np.array([0, 0, 0, 1]), 2, np.ones(4))
    array([0.75, 0.25])
    """
    counts: np.ndarray = np.bincount(code, weights=sample_weight, minlength=n_classes)
    shares: np.ndarray = counts / counts.sum()
    return shares
