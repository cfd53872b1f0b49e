"""Tests of differences over tables: corrected p values, bootstrap intervals, a Bayesian signed-rank test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import wilcoxon

TIE = 0.001  # smaller differences of a score are ties
ROPE = 0.01  # smaller differences make no practical difference
LEVEL = 0.95  # level of bootstrap intervals
_DRAWS = 20000
_PRIOR = 0.5  # weight of an additional table without a difference
_SAME = 1e-12  # distance from an edge of the region within which a difference counts as on the edge


class Posterior(NamedTuple):
    """Probabilities that a method is worse by more than the region of practical equivalence, in it, or better."""

    worse: float
    same: float
    better: float


def wilcoxon_p(gain: np.ndarray) -> float:
    """Return the two-sided p value of the Wilcoxon signed-rank test; 1 if there is no difference.

    Examples
    --------
    >>> import numpy as np
    >>> wilcoxon_p(np.zeros(5)), round(wilcoxon_p(np.arange(1.0, 7.0)), 3)
    (1.0, 0.031)
    """
    return float(wilcoxon(gain).pvalue) if np.any(gain != 0) else 1.0


def holm(p: np.ndarray) -> np.ndarray:
    """Correct p values for their number by Holm's step-down rule.

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    raised = p[order] * np.arange(len(p), 0, -1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def bootstrap_interval(gain: np.ndarray, level: float = LEVEL, seed: int = 0) -> tuple[float, float]:
    """Return the percentile bootstrap interval, over tables, of the mean difference.

    Parameters
    ----------
    gain : array of shape (n_tables,)
    level : float, default=0.95
    seed : int, default=0

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> import numpy as np
    >>> bootstrap_interval(np.full(5, 0.25))
    (0.25, 0.25)
    """
    rows = np.random.RandomState(seed).randint(len(gain), size=(_DRAWS, len(gain)))
    low, high = np.quantile(gain[rows].mean(axis=1), [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def signed_rank(gain: np.ndarray, rope: float = ROPE, seed: int = 0) -> Posterior:
    """Bayesian signed-rank test (Benavoli et al. 2014) with a region of practical equivalence.

    The distribution of differences is a Dirichlet process: tables, and one more without a difference, have random
    weights.  Each draw of the weights gives the shares of pairs of tables whose mean difference is below, in and above
    the region; the probabilities are the frequencies with which each of the three shares is the largest.

    Parameters
    ----------
    gain : array of shape (n_tables,)
        Differences, positive where ours is better.
    rope : float, default=0.01
        Half the width of the region.
    seed : int, default=0

    Returns
    -------
    Posterior

    Examples
    --------
    >>> import numpy as np
    >>> signed_rank(np.full(20, 0.2)).better > 0.99, signed_rank(np.full(20, 0.001)).same > 0.99
    (True, True)
    """
    all_gains = np.append(0.0, gain)
    weights = np.random.RandomState(seed).dirichlet(np.append(_PRIOR, np.ones(len(gain))), _DRAWS)
    means = (all_gains[:, None] + all_gains) / 2.0
    below, above = (np.einsum("si,ij,sj->s", weights, _beyond(sign * means, rope), weights) for sign in (-1, 1))
    largest = np.stack([below, 1.0 - below - above, above]).argmax(axis=0)
    return Posterior(*(float(np.mean(largest == k)) for k in range(3)))


def _beyond(means: np.ndarray, rope: float) -> np.ndarray:
    """Return 1 where a mean is beyond the region, 0.5 on its edge and 0 elsewhere."""
    return np.where(np.abs(means - rope) <= _SAME, 0.5, np.where(means > rope, 1.0, 0.0))
