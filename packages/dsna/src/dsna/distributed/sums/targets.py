"""Counts of the targets of a regression in all partitions, from which their density is estimated.

In memory, a density is estimated from every row: a histogram, quartiles, and the frequency of each target. Here it is
estimated from sums of bounded size, which do not depend on how the table is cut:

- Distinct targets with their counts over all rows; if there are too many, those of lowest hash.
- 61,440 bins of each output between its lowest and its highest target. Their number is a multiple of the 20 bins and
  the 1,024 points of a density, so these have the same counts as in memory; quartiles are accurate to a fraction of a
  bin.

Densities that count distinct targets (if they are few) or targets in bins therefore equal those in memory up to
rounding. The width of a kernel density is accurate to 0.1 %: it is at least one of the 1,024 points, and a bin is a
60th of that. The joint density of several outputs is estimated from about 500 rows in memory, too; here these come from
the sample, each with the number of rows that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...forest.density import CountedTargets, TargetDensity
from ...forest.held_out import N_FOLDS
from ..count import RANGES, Totals
from ..sampling import Sample, mixed

MIN_DISTINCT = 1000  # distinct targets that are counted in any case
_BINS = 61_440
_HASH_STREAM = 5


class TargetBins(NamedTuple):
    """Targets of one output in k fine bins that are not empty; rows of F folds."""

    bin_number: np.ndarray  # (k,) increasing
    low: np.ndarray  # (k,) lowest target of each
    high: np.ndarray  # (k,) highest target of each
    counts: np.ndarray  # (k, F) rows
    weight: np.ndarray  # (k, F) their weight


class TargetSums(NamedTuple):
    """Counted targets of some partitions or all: m distinct targets of q outputs; rows of F folds."""

    max_distinct: int  # distinct targets that are counted one by one
    value: np.ndarray  # (m, q) distinct targets, those of lowest hash
    counts: np.ndarray  # (m, F) rows
    weight: np.ndarray  # (m, F) their weight
    is_complete: bool  # whether these are all distinct targets
    bins: tuple[TargetBins, ...]  # of each output
    range_count: np.ndarray  # (RANGES, F) rows of each range of the targets
    range_weight: np.ndarray  # (RANGES, F) their weight

    def density(
        self, kind: str | Callable[[Any], Any], sample: Sample, totals: Totals, held_out: int | None = None
    ) -> TargetDensity:
        """Estimate the density of all rows, or of all rows outside a fold.

        Parameters
        ----------
        kind : as in TargetDensity.
        sample : of the rows, with the folds of the counts.
        totals : counts and moments of all partitions.
        held_out : the fold.
        """
        used_folds = np.arange(self.range_count.shape[1]) != held_out
        target_counts = CountedTargets(
            value=self.value,
            upper=self.value,
            counts=self.counts[:, used_folds].sum(axis=1),
            weight=self.weight[:, used_folds].sum(axis=1),
            complete=False,
            rows=float(self.range_count[:, used_folds].sum()),
            total=float(self.range_weight[:, used_folds].sum()),
            mean=totals.mean,
            spread=totals.spread,
        )
        distinct_targets = _nonzero(target_counts)
        if self.is_complete:
            return TargetDensity.of_counts(
                CountedTargets.of(distinct_targets.value, distinct_targets.counts, distinct_targets.weight), kind
            )
        if kind == "exact":
            return TargetDensity.of_counts(distinct_targets, kind)
        columns = [self._output_counts(j, used_folds, target_counts) for j in range(len(self.bins))]
        if len(columns) == 1:
            return TargetDensity.of_counts(columns[0], kind)
        in_folds = np.ones(len(sample.y), dtype=bool) if held_out is None else sample.fold != held_out
        y, stratum = sample.y[in_folds], sample.stratum[in_folds]
        if kind in ("kernel", "bins", "auto"):
            n_sampled = np.maximum(np.bincount(stratum, minlength=RANGES), 1)
            rows_represented = (self.range_count[:, used_folds].sum(axis=1) / n_sampled)[stratum]
            sampled_rows = target_counts._replace(
                value=y, upper=y, counts=rows_represented, weight=sample.weight[in_folds]
            )
            return TargetDensity.of_counts(sampled_rows, kind)
        values = np.concatenate([distinct_targets.value, y])
        return TargetDensity.of_counts(target_counts._replace(value=values, upper=values), kind, columns)

    def _output_counts(self, output: int, used_folds: np.ndarray, target_counts: CountedTargets) -> CountedTargets:
        """Counted targets of one output; exact if the targets of every bin are equal."""
        bins, column = self.bins[output], slice(output, output + 1)
        return _nonzero(
            target_counts._replace(
                value=bins.low[:, None],
                upper=bins.high[:, None],
                counts=bins.counts[:, used_folds].sum(axis=1),
                weight=bins.weight[:, used_folds].sum(axis=1),
                complete=bool(np.all(bins.low == bins.high)),
                mean=target_counts.mean[column],
                spread=target_counts.spread[column],
            )
        )


def _nonzero(target_counts: CountedTargets) -> CountedTargets:
    """Targets with a count above zero."""
    nonzero = target_counts.counts > 0
    value, upper, counts, weight = (values[nonzero] for values in target_counts[:4])
    return target_counts._replace(value=value, upper=upper, counts=counts, weight=weight)


def count_targets(data: Any, partition_number: int, totals: Totals, max_distinct: int) -> TargetSums:
    """Count the targets of a partition, without folds."""
    partition, y, strata = totals.read(data, partition_number)
    return target_sums((y, strata, partition.weight, np.zeros(len(y), dtype=np.int64)), totals, max_distinct, 1)


def target_sums(
    row_values: tuple[np.ndarray, ...], totals: Totals, max_distinct: int, n_folds: int = N_FOLDS
) -> TargetSums:
    """Count rows, given their targets, ranges, weights and folds."""
    y, strata, weight, fold = row_values

    def count_by_fold(code: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        cell = code * n_folds + fold
        counts = np.bincount(cell, minlength=size * n_folds)
        weights = np.bincount(cell, weights=weight, minlength=size * n_folds)
        return counts.reshape(size, n_folds), weights.reshape(size, n_folds)

    value = y + 0.0  # makes -0.0 equal to 0.0 bit by bit
    first, code = _distinct_rows(value)
    bins = []
    for column, low, high in zip(value.T, totals.low, totals.high, strict=True):
        position = (0.5 * column - 0.5 * low) / max(0.5 * high - 0.5 * low, 1e-300)
        bin_number, bin_code = np.unique(
            np.clip((position * _BINS).astype(np.int64), 0, _BINS - 1), return_inverse=True
        )
        limits = _group_limits(column, column, bin_code, len(bin_number))
        bins.append(TargetBins(bin_number, *limits, *count_by_fold(bin_code, len(bin_number))))
    ranges = count_by_fold(strata, RANGES)
    counts = count_by_fold(code, len(first))
    return _limited(TargetSums(max_distinct, value[first], *counts, True, tuple(bins), *ranges))


def add_targets(left: TargetSums, right: TargetSums) -> TargetSums:
    """Add the counts of two sets of rows."""
    value = np.concatenate([left.value, right.value])
    first, code = _distinct_rows(value)
    bins = []
    for left_bins, right_bins in zip(left.bins, right.bins, strict=True):
        bin_number, bin_code = np.unique(
            np.concatenate([left_bins.bin_number, right_bins.bin_number]), return_inverse=True
        )
        low = np.concatenate([left_bins.low, right_bins.low])
        high = np.concatenate([left_bins.high, right_bins.high])
        sums = _sum_by_group(bin_code, len(bin_number), left_bins, right_bins)
        bins.append(TargetBins(bin_number, *_group_limits(low, high, bin_code, len(bin_number)), *sums))
    ranges = (left.range_count + right.range_count, left.range_weight + right.range_weight)
    is_complete, sums = left.is_complete and right.is_complete, _sum_by_group(code, len(first), left, right)
    return _limited(TargetSums(left.max_distinct, value[first], *sums, is_complete, tuple(bins), *ranges))


def _limited(sums: TargetSums) -> TargetSums:
    """Keep the distinct targets of lowest hash if there are too many; every partition keeps these."""
    if len(sums.value) <= sums.max_distinct:
        return sums
    key = np.zeros(len(sums.value), dtype=np.uint64)
    for column in sums.value.T:
        key = mixed(key ^ np.ascontiguousarray(column).view(np.uint64), _HASH_STREAM)
    lowest = np.sort(np.argsort(key, kind="stable")[: sums.max_distinct])
    return sums._replace(
        value=sums.value[lowest], counts=sums.counts[lowest], weight=sums.weight[lowest], is_complete=False
    )


def _distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First row of each group of equal rows, and the group of each row."""
    order = np.lexsort(rows.T)
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = np.any(rows[order[1:]] != rows[order[:-1]], axis=1)
    code = np.empty(len(rows), dtype=np.int64)
    code[order] = np.cumsum(is_first) - 1
    return order[is_first], code


def _group_limits(low: np.ndarray, high: np.ndarray, code: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest target of each group."""
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, code, low)
    np.maximum.at(highest, code, high)
    return lowest, highest


def _sum_by_group(code: np.ndarray, size: int, left: Any, right: Any) -> tuple[np.ndarray, np.ndarray]:
    """Counts and weights of two sets of targets or bins, by group."""
    sums = []
    for name in ("counts", "weight"):
        values = np.concatenate([getattr(left, name), getattr(right, name)])
        sums.append(np.stack([np.bincount(code, weights=column, minlength=size) for column in values.T], axis=1))
    return sums[0], sums[1]
