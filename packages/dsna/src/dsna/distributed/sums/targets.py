"""The targets of a regression in all partitions, counted: what their density is estimated from.

The density of one machine needs every row: a histogram, quartiles, and how often each target occurs. Here they come
from sums of bounded size, which do not depend on how the table is cut:

- Different targets with their counts, as long as they are few; where they are more, those of lowest hash, whose counts
  still are those of all rows.
- Of each output, 61,440 bins between its lowest and its highest target. They divide the 20 bins and the 1,024 points
  of a density alike, so these are filled as on one machine; a quartile is known to a fraction of a bin.

So densities are those of one machine but for rounding where the different targets are few, and where targets are
counted in bins. The width of a kernel density is known to 0.1 %: it is one of 1,024 points at least, and a bin is a
60th of that. The joint density of several outputs is estimated from some 500 rows on one machine, too; here these come
from the sample, each of its rows as often as it stands for others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...forest.density import CountedTargets, TargetDensity
from ...forest.held_out import N_FOLDS
from ..count import RANGES, Totals
from ..sampling import Sample, mixed

LEAST_DISTINCT = 1000  # different targets that are counted in any case
_BINS = 61_440
_STREAM = 5


class TargetBins(NamedTuple):
    """The targets of one output in fine bins; k bins that are not empty, rows of F folds."""

    at: np.ndarray  # (k,) numbers of the bins, which rise
    low: np.ndarray  # (k,) lowest target of each
    high: np.ndarray  # (k,)
    counts: np.ndarray  # (k, F) rows
    weight: np.ndarray  # (k, F)


class TargetSums(NamedTuple):
    """The targets of some partitions or all; m different ones of q outputs, rows of F folds."""

    most: int  # of the different targets that are kept
    value: np.ndarray  # (m, q) different targets, those of lowest hash
    counts: np.ndarray  # (m, F) rows
    weight: np.ndarray  # (m, F)
    whole: bool  # whether no other targets occur
    bins: tuple[TargetBins, ...]  # of each output
    range_count: np.ndarray  # (RANGES, F) rows of each range of the targets
    range_weight: np.ndarray  # (RANGES, F)

    def density(
        self, kind: str | Callable[[Any], Any], sample: Sample, totals: Totals, without: int | None = None
    ) -> TargetDensity:
        """The density of all rows, or of all but those of one fold.

        Parameters
        ----------
        kind : as in TargetDensity.
        sample : of the rows, with the folds that were counted.
        totals : what all partitions hold.
        without : the fold.
        """
        folds = np.arange(self.range_count.shape[1]) != without
        every = CountedTargets(
            value=self.value,
            upper=self.value,
            counts=self.counts[:, folds].sum(axis=1),
            weight=self.weight[:, folds].sum(axis=1),
            complete=False,
            rows=float(self.range_count[:, folds].sum()),
            total=float(self.range_weight[:, folds].sum()),
            mean=totals.mean,
            spread=totals.spread,
        )
        distinct = _seen(every)
        if self.whole:
            return TargetDensity.of_counts(CountedTargets.of(distinct.value, distinct.counts, distinct.weight), kind)
        if kind == "exact":
            return TargetDensity.of_counts(distinct, kind)
        columns = [self._column(j, folds, every) for j in range(len(self.bins))]
        if len(columns) == 1:
            return TargetDensity.of_counts(columns[0], kind)
        some = np.ones(len(sample.y), dtype=bool) if without is None else sample.fold != without
        y, stratum = sample.y[some], sample.stratum[some]
        if kind in ("kernel", "bins", "auto"):
            held = np.maximum(np.bincount(stratum, minlength=RANGES), 1)
            stands_for = (self.range_count[:, folds].sum(axis=1) / held)[stratum]
            rows = every._replace(value=y, upper=y, counts=stands_for, weight=sample.weight[some])
            return TargetDensity.of_counts(rows, kind)
        known = np.concatenate([distinct.value, y])
        return TargetDensity.of_counts(every._replace(value=known, upper=known), kind, columns)

    def _column(self, output: int, folds: np.ndarray, every: CountedTargets) -> CountedTargets:
        """One output on its own; exact where every bin holds equal targets."""
        bins, only = self.bins[output], slice(output, output + 1)
        return _seen(
            every._replace(
                value=bins.low[:, None],
                upper=bins.high[:, None],
                counts=bins.counts[:, folds].sum(axis=1),
                weight=bins.weight[:, folds].sum(axis=1),
                complete=bool(np.all(bins.low == bins.high)),
                mean=every.mean[only],
                spread=every.spread[only],
            )
        )


def _seen(counted: CountedTargets) -> CountedTargets:
    """Targets of which there are rows."""
    seen = counted.counts > 0
    value, upper, counts, weight = (one[seen] for one in counted[:4])
    return counted._replace(value=value, upper=upper, counts=counts, weight=weight)


def count_targets(data: Any, number: int, totals: Totals, most: int) -> TargetSums:
    """The targets of a partition, whatever their folds."""
    block, y, strata = totals.block(data, number)
    return target_sums((y, strata, block.weight, np.zeros(len(y), dtype=np.int64)), totals, most, 1)


def target_sums(of_rows: tuple[np.ndarray, ...], totals: Totals, most: int, n_folds: int = N_FOLDS) -> TargetSums:
    """Sums over rows, given their targets, ranges, weights and folds."""
    y, strata, weight, fold = of_rows

    def counted(code: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        at = code * n_folds + fold
        every = (np.bincount(at, weights=by, minlength=size * n_folds) for by in (None, weight))
        count, mass = (one.reshape(size, n_folds) for one in every)
        return count, mass

    value = y + 0.0  # there is one zero only
    first, code = _groups(value)
    bins = []
    for column, low, high in zip(value.T, totals.low, totals.high, strict=True):
        place = (0.5 * column - 0.5 * low) / max(0.5 * high - 0.5 * low, 1e-300)
        at, of_bin = np.unique(np.clip((place * _BINS).astype(np.int64), 0, _BINS - 1), return_inverse=True)
        bins.append(TargetBins(at, *_ends(column, column, of_bin, len(at)), *counted(of_bin, len(at))))
    ranges = counted(strata, RANGES)
    return _limited(TargetSums(most, value[first], *counted(code, len(first)), True, tuple(bins), *ranges))


def add_targets(one: TargetSums, other: TargetSums) -> TargetSums:
    """The sums of both."""
    value = np.concatenate([one.value, other.value])
    first, code = _groups(value)
    bins = []
    for mine, more in zip(one.bins, other.bins, strict=True):
        at, of_bin = np.unique(np.concatenate([mine.at, more.at]), return_inverse=True)
        low, high = (np.concatenate([getattr(part, end) for part in (mine, more)]) for end in ("low", "high"))
        sums = _summed(of_bin, len(at), mine, more)
        bins.append(TargetBins(at, *_ends(low, high, of_bin, len(at)), *sums))
    ranges = (one.range_count + other.range_count, one.range_weight + other.range_weight)
    whole, sums = one.whole and other.whole, _summed(code, len(first), one, other)
    return _limited(TargetSums(one.most, value[first], *sums, whole, tuple(bins), *ranges))


def _limited(sums: TargetSums) -> TargetSums:
    """Of too many different targets, those of lowest hash: no part of the table can have left one of these out."""
    if len(sums.value) <= sums.most:
        return sums
    key = np.zeros(len(sums.value), dtype=np.uint64)
    for column in sums.value.T:
        key = mixed(key ^ np.ascontiguousarray(column).view(np.uint64), _STREAM)
    some = np.sort(np.argsort(key, kind="stable")[: sums.most])
    return sums._replace(value=sums.value[some], counts=sums.counts[some], weight=sums.weight[some], whole=False)


def _groups(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First row of each group of equal rows, and the group of each row."""
    order = np.lexsort(rows.T)
    new = np.ones(len(rows), dtype=bool)
    new[1:] = np.any(rows[order[1:]] != rows[order[:-1]], axis=1)
    code = np.empty(len(rows), dtype=np.int64)
    code[order] = np.cumsum(new) - 1
    return order[new], code


def _ends(low: np.ndarray, high: np.ndarray, code: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest of each group."""
    least, largest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(least, code, low)
    np.maximum.at(largest, code, high)
    return least, largest


def _summed(code: np.ndarray, size: int, one: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    """Counts and weights of both, by group."""
    added = []
    for name in ("counts", "weight"):
        both = np.concatenate([getattr(one, name), getattr(other, name)])
        added.append(np.stack([np.bincount(code, weights=by, minlength=size) for by in both.T], axis=1))
    return added[0], added[1]
