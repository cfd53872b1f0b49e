"""An index of fewer rows: those that ever had weight out of bag, and rare ones."""

from __future__ import annotations

from copy import copy

import numpy as np

from .index import NeighborIndex

NEGLIGIBLE = 1e-3  # of the largest coefficient of a query
RARE = 2.0  # rows of half the share that classes or targets have on average, or less, are always kept
_RANGES = 20


def weighed_rows(near: list[np.ndarray], alpha: list[np.ndarray], gain: np.ndarray) -> np.ndarray:
    """(N,) whether a training row has had weight out of bag, or is rare.

    Parameters
    ----------
    near, alpha : rows and coefficients of the neighbourhoods of some queries, one array for each held-out fold.
    gain : (N,) inverse frequency of the class or target of each row, one on average.
    """
    weighed = gain >= RARE
    for rows, coefficients in zip(near, alpha, strict=True):
        size = np.abs(coefficients)
        weighed[rows[size > NEGLIGIBLE * size.max(axis=1, keepdims=True)]] = True
    return weighed


def condensed_index(
    index: NeighborIndex, asked: np.ndarray, codes: np.ndarray | None
) -> tuple[NeighborIndex, np.ndarray]:
    """An index of the rows that have had weight and of those ``asked`` out of bag, and their numbers in this one.

    Rows that are kept stand for those of their class, or range of targets, that are not: their weights add up to the
    same. In regression, where trees have about as many leaves as rows, branches that have lost all rows are cut off;
    in classification they stay, because their votes count.

    Parameters
    ----------
    codes : (N,) class of each row; None in regression.
    """
    keep = index.weighed.copy()
    keep[asked] = True
    strata = _ranges(index.label[:, 0]) if codes is None else codes
    before = np.bincount(strata, weights=index.weight)
    after = np.bincount(strata, weights=index.weight * keep)
    keep |= ((after == 0.0) & (before > 0.0))[strata]  # nothing would stand for these
    after = np.bincount(strata, weights=index.weight * keep)
    factor = np.divide(before, after, out=np.ones_like(before), where=after > 0.0)
    rows = np.flatnonzero(keep)
    less = copy(index)
    less.weight = index.weight[rows] * factor[strata[rows]]
    for name in ("label", "fold", "rarity", "weighed"):
        setattr(less, name, getattr(index, name)[rows])
    held = keep if index.held is None else keep[index.held]
    less.Z = index.Z[held]
    if index.held is not None:
        less.held = (np.cumsum(keep) - 1).astype(np.int32)[index.held[held]]
    if index.trees is None:
        less.values = index.values[rows]
    else:
        less.trees, leaves = index.trees.with_only(held, prune=codes is None)
        less.leaf_value = index.leaf_value[leaves]
    less.check()
    return less, rows


def _ranges(target: np.ndarray) -> np.ndarray:
    """Which of 20 ranges, of about as many rows each, a target is in."""
    return np.searchsorted(np.unique(np.quantile(target, np.linspace(0.0, 1.0, _RANGES + 1)[1:-1])), target)
