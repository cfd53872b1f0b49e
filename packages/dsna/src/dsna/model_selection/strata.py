"""Strata (classes or target ranges) for splits of rows or groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity
from ..forest.held_out import deal_evenly, repeats

TEST, TRAIN, UNUSED = 0, 1, 2  # subsets of a split
_MAX_LENGTH = 10  # length of the longest ranges, in lengths of the shortest
_MAX_COARSE_RANGES = 20  # coarse ranges of common targets on either side of the median
_OUTER_RANGES = 5  # the length of coarse ranges is at least that of the targets farther out over this number
_TIE = 1e-9


@dataclass(frozen=True)
class Strata:
    """Strata of all rows, and the units (rows or groups) that are kept together in a split.

    Parameters
    ----------
    unit : (n,) number of the group of each row, or of the row itself.
    code : (n,) stratum of each row, where rows are units and have one stratum each; otherwise None.
    counts : (n_units, n_strata) rows of each unit in each stratum, where ``code`` is None.
    outermost : numbers of the strata with the lowest and the highest targets of each output; of all classes.
    """

    unit: np.ndarray
    code: np.ndarray | None
    counts: np.ndarray
    outermost: np.ndarray

    @property
    def rows_are_units(self) -> bool:
        """Whether each row is a unit of its own."""
        return self.code is not None or len(self.counts) == len(self.unit)

    @classmethod
    def of_classes(cls, code: np.ndarray, groups: np.ndarray | None) -> Strata:
        """Strata of classes, numbered from 0."""
        all_classes = np.arange(code.max() + 1)
        if groups is None:
            return cls(np.arange(len(code)), code, np.empty((0, 0)), all_classes)
        return cls(groups, None, count_rows(code, groups), all_classes)

    @classmethod
    def of_targets(cls, y: np.ndarray, groups: np.ndarray | None, min_units: int, split_values: bool = False) -> Strata:
        """Strata of targets (n, n_outputs): ranges of at least ``min_units`` units.

        With ``split_values``, each value of a target that repeats is a stratum instead.
        """
        unit = np.arange(len(y)) if groups is None else groups
        if groups is None and y.shape[1] == 1:
            by_value = split_values and repeats(y)
            code = np.unique(y, return_inverse=True)[1].ravel() if by_value else target_ranges(y[:, 0], unit, min_units)
            return cls(unit, code, np.empty((0, 0)), np.array([0, code.max()]))
        counts = [count_rows(target_ranges(column, unit, min_units, coarse=True), unit) for column in y.T]
        stop = np.cumsum([output_counts.shape[1] for output_counts in counts])
        start = np.r_[0, stop[:-1]]
        return cls(unit, None, np.hstack(counts), np.column_stack([start, stop - 1]).ravel())

    def folds(self, n_folds: int, rng: np.random.RandomState | None) -> np.ndarray:
        """(n,) fold of each row, in folds of similar composition; larger groups are assigned first."""
        if self.code is not None:
            return deal_evenly(self.code, n_folds, rng)
        if len(self.counts) < n_folds:
            raise DSNAError(f"There are {len(self.counts)} groups, too few for n_splits={n_folds}: use fewer splits.")
        size, fold_numbers = self.counts.sum(axis=1), np.arange(n_folds)
        if rng is not None:
            # The order of units of similar size is random, so other seeds give other folds.
            size, fold_numbers = size * rng.uniform(0.5, 1.0, size=len(size)), rng.permutation(n_folds)
        capacity = len(self.unit) // n_folds + (np.arange(n_folds) < len(self.unit) % n_folds)
        shares = np.full(n_folds, 1.0 / n_folds)
        fold_of_unit = assign_units(self.counts, shares, size, capacity if self.rows_are_units else None)
        return np.asarray(fold_numbers[fold_of_unit][self.unit])

    def split(self, n_test: int, n_train: int, min_rows: int, rng: np.random.RandomState) -> np.ndarray:
        """(n,) TEST, TRAIN or UNUSED; test and training rows first get ``min_rows`` rows of every stratum."""
        n_unused = len(self.unit) - n_test - n_train
        if self.code is None:
            sizes = np.array([n_test, n_train, n_unused][: 3 if n_unused else 2])
            min_counts = np.array([min_rows, min_rows, 0][: len(sizes)])
            priority = rng.permutation(len(self.counts))
            capacity = sizes if self.rows_are_units else None
            subset_of_unit = assign_units(self.counts, sizes / len(self.unit), priority, capacity, min_counts)
            return np.asarray(subset_of_unit[self.unit])
        subset = np.full(len(self.unit), UNUSED)
        used = np.arange(len(subset))
        if n_unused:
            used = np.flatnonzero(_sample_strata(self.code, n_test + n_train, 2 * min_rows, rng))
        subset[used] = np.where(_sample_strata(self.code[used], n_test, min_rows, rng), TEST, TRAIN)
        return subset

    def row_counts(self, subset: np.ndarray, n_subsets: int) -> np.ndarray:
        """(n_subsets, n_strata) rows of each stratum in each subset, given the subset of each row."""
        if self.code is not None:
            return count_rows(self.code, subset, n_subsets)
        counts = np.zeros((n_subsets, self.counts.shape[1]))
        subset_of_unit = np.empty(len(self.counts), dtype=np.int64)
        subset_of_unit[self.unit] = subset
        np.add.at(counts, subset_of_unit, self.counts)
        return counts

    def unit_counts(self) -> np.ndarray:
        """(n_strata,) number of units with rows of each stratum."""
        return np.bincount(self.code) if self.code is not None else np.count_nonzero(self.counts, axis=0)


def count_rows(code: np.ndarray, unit: np.ndarray, n_units: int = 0) -> np.ndarray:
    """(n_units, n_strata) number of rows of each unit in each stratum."""
    counts = np.zeros((max(n_units, int(unit.max()) + 1), int(code.max()) + 1))
    np.add.at(counts, (unit, code), 1.0)
    return counts


def target_ranges(y: np.ndarray, unit: np.ndarray, min_units: int, coarse: bool = False) -> np.ndarray:
    """(n,) number of the range that each target lies in, in ascending order.

    The outermost ranges have targets of ``min_units`` units, the next ones of twice as many, and so on up to ten times
    as many where targets are common. Where they are rare (by their density), ranges stay short. If all ranges were
    short, rows with nearly equal targets would hardly ever share a fold, and each would be predicted from the other.

    Parameters
    ----------
    y : (n,) targets of one output.
    unit : (n,) number of the group of each row.
    min_units : number of units in the outermost ranges.
    coarse : whether ranges grow with the number of units, so that there are at most tens of them.
    """
    max_length = _MAX_LENGTH
    if coarse:
        max_length = max(max_length, (int(unit.max()) + 1) // (2 * min_units * _MAX_COARSE_RANGES))
    density = TargetDensity(y, "kernel")
    median_density = np.median(density.evaluate(y))
    lowest, highest = np.full(unit.max() + 1, np.inf), np.full(unit.max() + 1, -np.inf)
    np.minimum.at(lowest, unit, y)
    np.maximum.at(highest, unit, y)
    low_edges = _range_edges(np.sort(lowest), density, median_density, min_units, max_length, coarse)
    high_edges = _range_edges(np.sort(highest)[::-1], density, median_density, min_units, max_length, coarse)
    if len(low_edges):  # where many targets are equal, edges of one side could cut the outermost range of the other
        low_edges, high_edges = low_edges[low_edges < high_edges[-1]], high_edges[high_edges > low_edges[0]]
    code = np.searchsorted(low_edges, y, side="left") + np.searchsorted(high_edges, y, side="right")
    return np.asarray(np.unique(code, return_inverse=True)[1])


def _range_edges(
    values: np.ndarray, density: TargetDensity, median_density: float, min_units: int, max_length: int, coarse: bool
) -> np.ndarray:
    """Edges of the ranges on one side of the median, from targets of the units that are sorted from the end inward."""
    lengths = np.clip(max_length * density.evaluate(values) / median_density + _TIE, 1, max_length).astype(np.int64)
    edges: list[float] = []
    start = 0
    while True:
        min_length = 1 + start // (_OUTER_RANGES * min_units) if coarse else 1
        length = max(min(int(lengths[start]), 1 + start // min_units), min_length)
        while length > min_length and lengths[start : start + length * min_units].min() < length:
            length -= 1  # ranges stop where rare targets begin
        start += length * min_units
        if start > len(values) // 2:
            return np.unique(edges)
        edges.append(values[start - 1])


def assign_units(
    counts: np.ndarray,
    shares: np.ndarray,
    priority: np.ndarray,
    capacity: np.ndarray | None = None,
    min_rows: np.ndarray | int = 1,
) -> np.ndarray:
    """(n_units,) fold of each unit; units with the rarest stratum come first, each to the fold that needs it most.

    Parameters
    ----------
    counts : (n_units, n_strata) rows of each unit in each stratum.
    shares : (n_folds,) share of all rows that each fold should have.
    priority : (n_units,) among units with the same rarest stratum, those of larger priority are assigned first.
    capacity : (n_folds,) largest number of units in each fold; None: no limit.
    min_rows : number of rows of a stratum that a fold should have before others get more: one number, or one for each
        fold.
    """
    rank = np.argsort(np.argsort(np.count_nonzero(counts, axis=0), kind="stable"), kind="stable")
    rarest = np.where(counts > 0, rank, counts.shape[1]).argmin(axis=1)
    all_counts = np.column_stack([counts, counts.sum(axis=1)])  # the last stratum is all rows, for folds of equal size
    totals = all_counts.sum(axis=0)
    fold_counts = np.zeros((len(shares), len(totals)))
    room = np.full(len(shares), len(counts)) if capacity is None else capacity.copy()
    fold = np.empty(len(counts), dtype=np.int64)
    for u in np.lexsort((-priority, rank[rarest])):
        strata = np.flatnonzero(all_counts[u])
        rows, total = all_counts[u, strata], totals[strata]
        # Increase of the squared deviations from the folds' shares of each stratum if the unit is added.
        cost = ((2.0 * (fold_counts[:, strata] - np.outer(shares, total)) + rows) * rows / total**2).sum(
            axis=1
        ) / shares
        tolerance = _TIE * np.abs(cost).max()
        has_room = room > 0
        needs_stratum = has_room & (fold_counts[:, rarest[u]] < min_rows)
        cost[~(needs_stratum if needs_stratum.any() else has_room)] = np.inf
        fold[u] = np.argmax(cost <= cost.min() + tolerance)
        fold_counts[fold[u]] += all_counts[u]
        room[fold[u]] -= 1
    return fold


def _sample_strata(code: np.ndarray, n_rows: int, min_rows: int, rng: np.random.RandomState) -> np.ndarray:
    """(n,) mask of ``n_rows`` rows, drawn in proportion within strata; ``min_rows`` of each are drawn and not drawn.

    Rare strata come first; their rounding errors are made up for by common strata.
    """
    sizes = np.bincount(code)
    quota = np.zeros(len(sizes), dtype=np.int64)
    quota_left, rows_left = n_rows, len(code)
    for stratum in np.argsort(sizes, kind="stable"):
        size = sizes[stratum]
        minimum = min(min_rows, size // 2)
        share = round(size * quota_left / max(rows_left, 1))
        is_last = rows_left <= size
        quota[stratum] = min(quota_left, size) if is_last else min(max(share, minimum), size - minimum, quota_left)
        quota_left, rows_left = quota_left - quota[stratum], rows_left - size
    order = np.lexsort((rng.rand(len(code)), code))
    rank_in_stratum = np.arange(len(code)) - (np.cumsum(sizes) - sizes)[code[order]]
    mask = np.empty(len(code), dtype=bool)
    mask[order] = rank_in_stratum < quota[code[order]]
    return mask
