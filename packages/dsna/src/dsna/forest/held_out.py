"""Held-out folds: the rows that each tree leaves out.

Rows (or groups of rows) are assigned to five folds, and each tree leaves out two of them. The out-of-bag prediction
of a row uses the two fifths of the trees that leave out its fold. Everything else that is learned from classes or
targets (metric, densities, calibration) can be taken from those trees and from rows of other folds.
"""

from __future__ import annotations

import numpy as np

from .._utils.errors import DSNAError

N_FOLDS = 5
# All pairs of folds, ordered so that the first three trees leave out every fold at least once.
PAIRS = ((0, 1), (2, 3), (4, 0), (1, 2), (3, 4), (0, 2), (1, 3), (2, 4), (3, 0), (4, 1))
_MIN_ROWS = 10
_MIN_TRAINING_SHARE = 0.25
_RUN_LENGTH = 10 * N_FOLDS


def deal_folds(
    code: np.ndarray, groups: np.ndarray | None, rng: np.random.RandomState, weight: np.ndarray | None = None
) -> np.ndarray:
    """Assign rows to held-out folds: stratified by class or repeated target, by ranges of targets, or by groups.

    Parameters
    ----------
    code : (n,) class numbers, or regression targets (for several outputs, one number that orders them).
    groups : (n,) group of each row, or None.
    weight : (n,) sample weights; rows of weight zero are assigned last, so that they do not affect the others.
    """
    has_weight = np.ones(len(code), dtype=bool) if weight is None else weight > 0
    if groups is not None:
        return _deal_groups(groups, has_weight, rng)
    if not repeats(code):
        # Continuous targets are stratified by runs of ranks. If single ranks were assigned in turn, near-duplicates,
        # which have adjacent ranks, would never share a fold, and each would be predicted out of bag from the other.
        code = np.argsort(np.lexsort((code, ~has_weight)), kind="stable") // _RUN_LENGTH
    return deal_evenly(code, N_FOLDS, rng, has_weight)


def repeats(code: np.ndarray) -> bool:
    """Whether classes or targets have at least three rows each on average, so that each can be a stratum."""
    return 3 * len(np.unique(code)) <= len(code)


def deal_evenly(
    strata: np.ndarray, n_folds: int, rng: np.random.RandomState | None, has_weight: np.ndarray | None = None
) -> np.ndarray:
    """Assign rows to folds whose counts, within each stratum and in total, differ by at most one.

    Strata are assigned in order, each continuing with the fold after the last one; so strata of single rows are
    distributed evenly, too.

    Parameters
    ----------
    strata : (n,) stratum numbers.
    n_folds : number of folds.
    rng : shuffles the rows of each stratum and the folds; None: the rows of a stratum stay in order, the first ones in
        the first fold.
    has_weight : (n,) mask of rows with positive weight; the others are assigned after them.
    """
    is_last = np.zeros(len(strata), dtype=bool) if has_weight is None else ~has_weight
    fold_cycle = np.arange(len(strata)) % n_folds
    fold = np.empty(len(strata), dtype=np.int64)
    if rng is None:
        order = np.lexsort((strata, is_last))
        fold[order] = fold_cycle[np.lexsort((fold_cycle, strata[order], is_last[order]))]
    else:
        order = np.lexsort((rng.rand(len(strata)), strata, is_last))
        fold[order] = rng.permutation(n_folds)[fold_cycle]
    return fold


def _deal_groups(groups: np.ndarray, has_weight: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Assign whole groups to folds: the largest first, each to the fold with the fewest rows."""
    group_names, group_of_row = np.unique(groups, return_inverse=True)
    sizes = np.bincount(group_of_row, weights=has_weight)
    if np.count_nonzero(sizes) < 2:
        raise DSNAError("groups contains a single group; at least two groups are needed to hold one out.")
    fold_sizes = np.zeros(N_FOLDS)
    group_fold = np.empty(len(group_names), dtype=np.int64)
    for g in np.lexsort((rng.rand(len(group_names)), -sizes)):
        group_fold[g] = np.argmin(fold_sizes)
        fold_sizes[group_fold[g]] += sizes[g]
    return group_fold[group_of_row]


def left_out_folds(n_estimators: int, fold: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """(n_estimators, N_FOLDS) whether a tree leaves out a fold; none does if fewer than 10 rows have weight."""
    weighted_folds = fold if weight is None else fold[weight > 0]
    left_out_mask = np.zeros((n_estimators, N_FOLDS), dtype=bool)
    if len(weighted_folds) < _MIN_ROWS:
        return left_out_mask
    for tree in range(n_estimators):
        left_out_mask[tree, list(PAIRS[tree % len(PAIRS)])] = True
    # With a few large groups, a tree could have almost no rows left; such a tree leaves out nothing.
    n_training_rows = ~left_out_mask @ np.bincount(weighted_folds, minlength=N_FOLDS)
    left_out_mask[n_training_rows < _MIN_TRAINING_SHARE * len(weighted_folds)] = False
    return left_out_mask
