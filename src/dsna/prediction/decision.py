"""Decisions of a regression: weights of the neighbours' targets, and the rule that makes a prediction of them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from .._utils.invariants import LARGEST
from .._utils.sums import ordered_sum, weighted_sum
from ..forest.scaling import column_spread

_TIE = 1e-9


def target_weights(
    alpha: np.ndarray, kernel: np.ndarray, rarity: np.ndarray, blend: float, balance: float, sum_to_one: bool
) -> np.ndarray:
    """(n, M) weights of the targets: coefficients blended with the forest's kernel, then balanced.

    Parameters
    ----------
    alpha, kernel : (n, M) coefficients, and proximities with row sums of one.
    rarity : (n, M) larger where the target density is small.
    blend : share of the kernel.
    balance : positive weights are multiplied by ``rarity ** balance`` and negative ones, which extrapolate, fade
        out as it grows.
    """
    weights = (1.0 - blend) * alpha + blend * kernel
    if balance > 0.0:
        weights = np.maximum(weights, 0.0) * rarity**balance + (1.0 - balance) * np.minimum(weights, 0.0)
    if sum_to_one or balance > 0.0:
        total = ordered_sum(weights)[:, None]
        positive = np.maximum(weights, 0.0)
        # Balanced weights whose sum nearly vanishes cannot be normalised; their positive part can.
        poor = np.abs(total) < 0.1
        weights = np.where(poor, positive, weights)
        total = np.where(poor, ordered_sum(positive)[:, None], total)
        weights = weights / np.where(total == 0.0, 1.0, total)
    return weights


def decide(weights: np.ndarray, targets: np.ndarray, decision: str, grid: np.ndarray) -> np.ndarray:
    """(n, q) prediction from weights (n, M) of targets (n, M, q).

    Parameters
    ----------
    decision : {"mean", "median", "grid"}
        Weighted mean, which alone extrapolates; weighted median of the positive weights; mean snapped to the
        nearest row of ``grid``, the targets seen. Of targets that are equally good, the lower.
    """
    if decision == "median":
        positive = np.maximum(weights, 0.0)
        half = (0.5 - _TIE) * ordered_sum(positive)
        out = np.empty((len(weights), targets.shape[2]))
        for a in range(targets.shape[2]):
            order = np.argsort(targets[:, :, a], axis=1, kind="stable")
            reached = np.cumsum(np.take_along_axis(positive, order, axis=1), axis=1) >= half[:, None]
            middle = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
            out[:, a] = np.take_along_axis(targets[:, :, a], middle, axis=1)[:, 0]
        return out
    mean = weighted_sum(weights, targets)
    if decision == "grid":
        spread = column_spread(grid)
        lower = _TIE * np.arange(1, grid.shape[1] + 1)
        nearest = cKDTree(grid / spread).query(np.clip(mean / spread - lower, -LARGEST, LARGEST))[1]
        return np.asarray(grid[nearest])
    return mean
