"""How relevant a regression target is: 0 for common targets, 1 for rare or extreme ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity

RELEVANCES = ("boxplot", "density")
_FENCE = 1.5


class TargetRelevance:
    """Relevance, in [0, 1], of the targets of a regression problem.

    Parameters
    ----------
    y : array of shape (n,)
        Training targets.
    kind : {"boxplot", "density"}, default="boxplot"
        "boxplot" (Ribeiro and Moniz, 2020): 0 at the median, 1 from the whiskers of a box plot outward, and a
        monotone cubic in between. A whisker that coincides with the median, as among targets that are mostly zero,
        moves out to the most extreme target of its side.  "density": 1 - density / largest density, so that gaps
        between common targets are relevant too.

    Examples
    --------
    >>> import numpy as np
    >>> relevance = TargetRelevance(np.arange(101.0))
    >>> relevance.evaluate(np.array([50.0, 0.0, 100.0, 200.0]))
    array([0., 1., 1., 1.])
    >>> ages = np.array([20.0] * 8 + [60.0] * 2)
    >>> TargetRelevance(ages, kind="density").evaluate(np.array([20.0, 60.0]))
    array([0.  , 0.75])
    """

    def __init__(self, y: Any, kind: str = "boxplot"):
        y = np.asarray(y, dtype=np.float64)
        if y.ndim != 1 or not len(y) or not np.isfinite(y).all():
            raise DSNAError(f"Relevance needs finite targets of shape (n,), one at least; got shape {y.shape}.")
        if kind not in RELEVANCES:
            raise DSNAError(f"kind={kind!r} is unknown: use one of {RELEVANCES}.")
        self.kind = kind
        if kind == "density":
            self.density = TargetDensity(y)
            self.most = float(self.density.evaluate(y).max())
        else:
            self.points = _control_points(y)

    def evaluate(self, y: Any) -> np.ndarray:
        """Relevance, shape (n,), of the targets ``y``.

        Examples
        --------
        >>> TargetRelevance([0.0, 0.0, 0.0, 0.0, 9.0]).evaluate([0.0, 9.0])
        array([0., 1.])
        """
        y = np.asarray(y, dtype=np.float64)
        if self.kind == "density":
            return np.clip(1.0 - self.density.evaluate(y) / self.most, 0.0, 1.0)
        at, value = self.points
        if len(at) < 2:
            return np.zeros(len(y))
        return np.asarray(np.clip(PchipInterpolator(at, value)(np.clip(y, at[0], at[-1])), 0.0, 1.0))


def _control_points(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Targets, increasing, and their relevances: the whisker of each side that has one, and the median."""
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75])
    reach = _FENCE * (high - low)
    lower, upper = y[y >= low - reach].min(), y[y <= high + reach].max()
    points = {middle: 0.0}
    for whisker, extreme in ((lower, y.min()), (upper, y.max())):
        end = whisker if (whisker - middle) * (extreme - middle) > 0 else extreme
        if end != middle:
            points[end] = 1.0
    at = np.array(sorted(points))
    return at, np.array([points[target] for target in at])
