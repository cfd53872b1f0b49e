"""A smaller index, of rare rows and the rows that had weight in out-of-bag predictions."""

from __future__ import annotations

from copy import copy

import numpy as np

from .index import NeighborIndex

NEGLIGIBLE = 1e-3  # smallest coefficient that counts, as a share of the query's largest
RARE = 2.0  # rows of classes or targets with at most half the average share are always kept
_RANGES = 20


def weighed_rows(neighbor_rows: list[np.ndarray], coefficients: list[np.ndarray], gain: np.ndarray) -> np.ndarray:
    """(N,) whether a training row is rare or had weight in an out-of-bag prediction.

    Parameters
    ----------
    neighbor_rows, coefficients : rows and coefficients of out-of-bag neighbourhoods, one array for each held-out fold.
    gain : (N,) inverse frequency of the class or target of each row, one on average.
    """
    weighed = gain >= RARE
    for fold_rows, fold_coefficients in zip(neighbor_rows, coefficients, strict=True):
        magnitude = np.abs(fold_coefficients)
        weighed[fold_rows[magnitude > NEGLIGIBLE * magnitude.max(axis=1, keepdims=True)]] = True
    return weighed


def condensed_index(
    index: NeighborIndex, oob_rows: np.ndarray, codes: np.ndarray | None
) -> tuple[NeighborIndex, np.ndarray]:
    """Return an index of the rows that had weight and of the out-of-bag rows, and the numbers of these rows.

    Kept rows represent the dropped rows of their class or range of targets: the sum of weights does not change. In
    regression, where trees have about as many leaves as rows, branches without rows are removed; in classification
    they are kept, because their votes count.

    Parameters
    ----------
    oob_rows : rows with out-of-bag predictions.
    codes : (N,) class of each row; None in regression.
    """
    keep = index.weighed.copy()
    keep[oob_rows] = True
    strata = _ranges(index.label[:, 0]) if codes is None else codes
    before = np.bincount(strata, weights=index.weight)
    after = np.bincount(strata, weights=index.weight * keep)
    keep |= ((after == 0.0) & (before > 0.0))[strata]  # no kept row would represent these
    after = np.bincount(strata, weights=index.weight * keep)
    factor = np.divide(before, after, out=np.ones_like(before), where=after > 0.0)
    rows = np.flatnonzero(keep)
    condensed = copy(index)
    condensed.weight = index.weight[rows] * factor[strata[rows]]
    for name in ("label", "fold", "rarity", "weighed"):
        setattr(condensed, name, getattr(index, name)[rows])
    is_kept = keep if index.held is None else keep[index.held]
    condensed.Z = index.Z[is_kept]
    if index.held is not None:
        condensed.held = (np.cumsum(keep) - 1).astype(np.int32)[index.held[is_kept]]
    if index.trees is None:
        condensed.values = index.values[rows]
    else:
        condensed.trees, leaves = index.trees.restricted_to(is_kept, prune=codes is None)
        condensed.leaf_value = index.leaf_value[leaves]
    condensed.check()
    return condensed, rows


def _ranges(target: np.ndarray) -> np.ndarray:
    """(N,) number of the range that each target is in, of 20 ranges of about equally many rows."""
    return np.searchsorted(np.unique(np.quantile(target, np.linspace(0.0, 1.0, _RANGES + 1)[1:-1])), target)
