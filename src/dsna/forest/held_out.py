"""Which rows each tree leaves out: whole blocks, so that out-of-bag means never seen.

Rows (or whole groups of rows) are dealt to five blocks and each tree omits two of them.  A row's out-of-bag
prediction then uses the two fifths of the trees that omit its block, and everything else that is learned from
labels can be taken from those trees and from rows of other blocks.
"""

from __future__ import annotations

import numpy as np

N_FOLDS = 5
# Every pair of blocks, ordered so that the first three trees already omit each block once.
PAIRS = ((0, 1), (2, 3), (4, 0), (1, 2), (3, 4), (0, 2), (1, 3), (2, 4), (3, 0), (4, 1))
_TOO_FEW = 10
_LEAST_SHARE = 0.25
_RUN = 10 * N_FOLDS


def deal_folds(
    code: np.ndarray, groups: np.ndarray | None, rng: np.random.RandomState, weight: np.ndarray | None = None
) -> np.ndarray:
    """Block of each row: evenly within each class (or along the ranks of a label), or by whole groups.

    Parameters
    ----------
    code : (n,) class numbers, or ranks of the labels in regression.
    groups : (n,) group of each row, or None.
    weight : (n,) sample weights; rows of weight zero are dealt last, so that they change nothing for the others.
    """
    n = len(code)
    kept = np.ones(n, dtype=bool) if weight is None else weight > 0
    block = np.empty(n, dtype=np.int64)
    if groups is not None:
        names, member = np.unique(groups, return_inverse=True)
        sizes = np.bincount(member, weights=kept)
        if np.count_nonzero(sizes) < 2:
            raise ValueError("groups names a single group; at least two are needed to hold one out.")
        load = np.zeros(N_FOLDS)
        of_group = np.empty(len(names), dtype=np.int64)
        # Largest first, equal sizes in random order.
        for g in np.lexsort((rng.rand(len(names)), -sizes)):
            of_group[g] = np.argmin(load)
            load[of_group[g]] += sizes[g]
        return of_group[member]
    if 3 * len(np.unique(code)) > n:
        # Labels that hardly repeat are dealt by runs of ranks.  Dealt one by one, near-duplicates, which have
        # neighbouring ranks, would never share a block, and each would vouch for the other out of bag.
        code = np.argsort(np.lexsort((code, ~kept)), kind="stable") // _RUN
    order = np.lexsort((rng.rand(n), code, ~kept))
    block[order] = rng.permutation(N_FOLDS)[np.arange(n) % N_FOLDS]
    return block


def left_out_folds(n_estimators: int, block: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """(n_estimators, N_FOLDS) whether a tree omits a block; nothing is omitted where rows of weight are very few."""
    kept = block if weight is None else block[weight > 0]
    left_out = np.zeros((n_estimators, N_FOLDS), dtype=bool)
    if len(kept) < _TOO_FEW:
        return left_out
    for t in range(n_estimators):
        left_out[t, list(PAIRS[t % len(PAIRS)])] = True
    # Few large groups can leave a tree next to nothing; it then omits nothing.
    left = ~left_out @ np.bincount(kept, minlength=N_FOLDS)
    left_out[left < _LEAST_SHARE * len(kept)] = False
    return left_out
