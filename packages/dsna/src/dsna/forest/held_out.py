"""Held-out folds: which rows each tree leaves out, so that "out of bag" means "never seen".

Rows (or whole groups of rows) are dealt to five folds and each tree leaves out two of them. The out-of-bag prediction
of a row then uses the two fifths of the trees that leave out its fold. Everything else that is learned from classes or
targets (metric, densities, calibration) can be taken from those trees and from rows of other folds.
"""

from __future__ import annotations

import numpy as np

from .._utils.errors import DSNAError

N_FOLDS = 5
# Every pair of folds, ordered so that the first three trees already leave out each fold once.
PAIRS = ((0, 1), (2, 3), (4, 0), (1, 2), (3, 4), (0, 2), (1, 3), (2, 4), (3, 0), (4, 1))
_TOO_FEW = 10
_LEAST_SHARE = 0.25
_RUN = 10 * N_FOLDS


def deal_folds(
    code: np.ndarray, groups: np.ndarray | None, rng: np.random.RandomState, weight: np.ndarray | None = None
) -> np.ndarray:
    """Held-out fold of each row: evenly within each class or repeated target, along other targets, or by whole groups.

    Parameters
    ----------
    code : (n,) class numbers, or targets of a regression (of several outputs, one number that orders them).
    groups : (n,) group of each row, or None.
    weight : (n,) sample weights; rows of weight zero are dealt last, so that they change nothing for the others.
    """
    kept = np.ones(len(code), dtype=bool) if weight is None else weight > 0
    if groups is not None:
        return _deal_groups(groups, kept, rng)
    if not repeats(code):
        # Targets that hardly repeat are dealt by runs of ranks. Dealt one by one, near-duplicates, which have
        # neighbouring ranks, would never share a fold, and out of bag each would be predicted from the other.
        code = np.argsort(np.lexsort((code, ~kept)), kind="stable") // _RUN
    return deal_evenly(code, N_FOLDS, rng, kept)


def repeats(code: np.ndarray) -> bool:
    """Whether classes or targets have three rows each on average, so that each is dealt evenly by itself."""
    return 3 * len(np.unique(code)) <= len(code)


def deal_evenly(
    strata: np.ndarray, n_folds: int, rng: np.random.RandomState | None, kept: np.ndarray | None = None
) -> np.ndarray:
    """Fold of each row: counts within each stratum, and of all rows, differ by at most one between folds.

    The strata are dealt in their order, each going on where the last has ended; so strata of single rows are dealt
    evenly as well.

    Parameters
    ----------
    strata : (n,) numbers.
    n_folds : number of folds.
    rng : shuffles the rows of each stratum and the folds; None: the rows of a stratum stay in order, the first ones in
        the first fold.
    kept : (n,) rows that count; the others are dealt after them.
    """
    last = np.zeros(len(strata), dtype=bool) if kept is None else ~kept
    turn = np.arange(len(strata)) % n_folds
    fold = np.empty(len(strata), dtype=np.int64)
    if rng is None:
        order = np.lexsort((strata, last))
        fold[order] = turn[np.lexsort((turn, strata[order], last[order]))]
    else:
        order = np.lexsort((rng.rand(len(strata)), strata, last))
        fold[order] = rng.permutation(n_folds)[turn]
    return fold


def _deal_groups(groups: np.ndarray, kept: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Fold of each row by whole groups: the largest first, each to the fold that has fewest rows."""
    names, member = np.unique(groups, return_inverse=True)
    sizes = np.bincount(member, weights=kept)
    if np.count_nonzero(sizes) < 2:
        raise DSNAError("groups names a single group; at least two are needed to hold one out.")
    load = np.zeros(N_FOLDS)
    of_group = np.empty(len(names), dtype=np.int64)
    for g in np.lexsort((rng.rand(len(names)), -sizes)):
        of_group[g] = np.argmin(load)
        load[of_group[g]] += sizes[g]
    return of_group[member]


def left_out_folds(n_estimators: int, fold: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """(n_estimators, N_FOLDS) whether a tree leaves out a fold; none does where fewer than 10 rows have weight."""
    kept = fold if weight is None else fold[weight > 0]
    left_out = np.zeros((n_estimators, N_FOLDS), dtype=bool)
    if len(kept) < _TOO_FEW:
        return left_out
    for t in range(n_estimators):
        left_out[t, list(PAIRS[t % len(PAIRS)])] = True
    # A few large groups could leave a tree almost no rows; such a tree leaves out nothing.
    left = ~left_out @ np.bincount(kept, minlength=N_FOLDS)
    left_out[left < _LEAST_SHARE * len(kept)] = False
    return left_out
