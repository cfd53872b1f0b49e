"""What is dealt evenly: classes, or ranges of targets, of single rows or of units that hold several of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._utils.errors import DSNAError
from ..forest.density import TargetDensity
from ..forest.held_out import deal_evenly, repeats

_LONGEST = 10  # ranges of common targets, in times of the shortest range
_MOST = 20  # coarse ranges of common targets on either side of the median
_OUTER = 5  # coarse ranges of rare targets hold at least one for so many farther out
_TIE = 1e-9


@dataclass(frozen=True)
class Strata:
    """Classes or ranges of targets of all rows, and the units in which rows are dealt.

    Parameters
    ----------
    unit : (n,) number of the group of each row, or of the row itself.
    code : (n,) stratum of each row where rows are dealt one by one, by one stratum each; otherwise None.
    counts : (n_units, n_strata) rows of each unit in each stratum, where ``code`` is None.
    outermost : numbers of the strata that hold the lowest and the highest targets, for each output; of classes, all.
    """

    unit: np.ndarray
    code: np.ndarray | None
    counts: np.ndarray
    outermost: np.ndarray

    @property
    def single(self) -> bool:
        """Whether each row is a unit of its own."""
        return self.code is not None or len(self.counts) == len(self.unit)

    @classmethod
    def of_classes(cls, code: np.ndarray, groups: np.ndarray | None) -> Strata:
        """Strata of classes, numbered from 0."""
        every = np.arange(code.max() + 1)
        if groups is None:
            return cls(np.arange(len(code)), code, np.empty((0, 0)), every)
        return cls(groups, None, count(code, groups), every)

    @classmethod
    def of_targets(cls, y: np.ndarray, groups: np.ndarray | None, least: int, values: bool = False) -> Strata:
        """Strata of targets (n, n_outputs): ranges, or single targets where these repeat and ``values`` asks for it."""
        unit = np.arange(len(y)) if groups is None else groups
        if groups is None and y.shape[1] == 1:
            alone = values and repeats(y)
            code = np.unique(y, return_inverse=True)[1].ravel() if alone else target_ranges(y[:, 0], unit, least)
            return cls(unit, code, np.empty((0, 0)), np.array([0, code.max()]))
        counts = [count(target_ranges(column, unit, least, coarse=True), unit) for column in y.T]
        end = np.cumsum([part.shape[1] for part in counts])
        first = np.r_[0, end[:-1]]
        return cls(unit, None, np.hstack(counts), np.column_stack([first, end - 1]).ravel())

    def folds(self, n_folds: int, rng: np.random.RandomState | None) -> np.ndarray:
        """(n,) fold of each row, in folds alike; of groups, the larger are dealt first."""
        if self.code is not None:
            return deal_evenly(self.code, n_folds, rng)
        if len(self.counts) < n_folds:
            raise DSNAError(
                f"groups names {len(self.counts)} groups, too few for n_splits={n_folds}: use fewer splits."
            )
        size, number = self.counts.sum(axis=1), np.arange(n_folds)
        if rng is not None:
            # Units of nearly the same size change places, so that other seeds give other folds.
            size, number = size * rng.uniform(0.5, 1.0, size=len(size)), rng.permutation(n_folds)
        full = len(self.unit) // n_folds + (np.arange(n_folds) < len(self.unit) % n_folds)
        shares = np.full(n_folds, 1.0 / n_folds)
        return np.asarray(number[deal_units(self.counts, shares, size, full if self.single else None)][self.unit])

    def parts(self, n_test: int, n_train: int, least: int, rng: np.random.RandomState) -> np.ndarray:
        """(n,) 0 for test rows, 1 for training rows, 2 for others; each side gets ``least`` rows of a stratum first."""
        rest = len(self.unit) - n_test - n_train
        if self.code is None:
            sizes = np.array([n_test, n_train, rest][: 3 if rest else 2])
            wanted = np.array([least, least, 0][: len(sizes)])
            shuffled = rng.permutation(len(self.counts))
            full = sizes if self.single else None
            return np.asarray(deal_units(self.counts, sizes / len(self.unit), shuffled, full, wanted)[self.unit])
        part = np.full(len(self.unit), 2)
        used = np.flatnonzero(_drawn(self.code, n_test + n_train, 2 * least, rng)) if rest else np.arange(len(part))
        part[used] = np.where(_drawn(self.code[used], n_test, least, rng), 0, 1)
        return part

    def held(self, part: np.ndarray, n_parts: int) -> np.ndarray:
        """(n_parts, n_strata) rows of each stratum in each part of the rows."""
        if self.code is not None:
            return count(self.code, part, n_parts)
        rows = np.zeros((n_parts, self.counts.shape[1]))
        of_unit = np.empty(len(self.counts), dtype=np.int64)
        of_unit[self.unit] = part
        np.add.at(rows, of_unit, self.counts)
        return rows

    def units(self) -> np.ndarray:
        """(n_strata,) units that hold rows of each stratum."""
        return np.bincount(self.code) if self.code is not None else np.count_nonzero(self.counts, axis=0)


def count(code: np.ndarray, unit: np.ndarray, n_units: int = 0) -> np.ndarray:
    """(n_units, n_strata) how many rows of a unit are of each stratum."""
    counts = np.zeros((max(n_units, int(unit.max()) + 1), int(code.max()) + 1))
    np.add.at(counts, (unit, code), 1.0)
    return counts


def target_ranges(y: np.ndarray, unit: np.ndarray, least: int, coarse: bool = False) -> np.ndarray:
    """(n,) number of the range that a target lies in, in ascending order.

    The outermost ranges hold targets of ``least`` units, the next ones of twice as many, and so on up to ten
    times as many where targets are common; where they are rare (by their density), ranges stay short. Were all of them
    short, rows of nearly equal targets would hardly ever share a fold, and each would be predicted from the other.

    Parameters
    ----------
    y : (n,) targets of one output.
    unit : (n,) number of the group of each row.
    least : how many units the outermost ranges hold.
    coarse : whether ranges grow with the number of units, so that they stay few (tens) for any number.
    """
    longest = max(_LONGEST, (int(unit.max()) + 1) // (2 * least * _MOST)) if coarse else _LONGEST
    density = TargetDensity(y, "kernel")
    usual = np.median(density.evaluate(y))
    lowest, highest = np.full(unit.max() + 1, np.inf), np.full(unit.max() + 1, -np.inf)
    np.minimum.at(lowest, unit, y)
    np.maximum.at(highest, unit, y)
    edges = []
    for values in (np.sort(lowest), np.sort(highest)[::-1]):
        common = np.clip(longest * density.evaluate(values) / usual + _TIE, 1, longest).astype(np.int64)
        ends, at = [], 0
        while True:
            shortest = 1 + at // (_OUTER * least) if coarse else 1
            times = max(min(int(common[at]), 1 + at // least), shortest)
            while times > shortest and common[at : at + times * least].min() < times:
                times -= 1  # ranges end where rare targets begin
            at += times * least
            if at > len(values) // 2:
                break
            ends.append(values[at - 1])
        edges.append(np.unique(ends))
    low, high = edges
    if len(low):  # where many targets are equal, an edge from one end could cut the outermost range of the other
        low, high = low[low < high[-1]], high[high > low[0]]
    code = np.searchsorted(low, y, side="left") + np.searchsorted(high, y, side="right")
    return np.asarray(np.unique(code, return_inverse=True)[1])


def deal_units(
    counts: np.ndarray,
    shares: np.ndarray,
    priority: np.ndarray,
    full: np.ndarray | None = None,
    least: np.ndarray | int = 1,
) -> np.ndarray:
    """(n_units,) fold of each unit: those of the rarest stratum first, each where its strata are missed most.

    Parameters
    ----------
    counts : (n_units, n_strata) rows of each unit in each stratum.
    shares : (n_folds,) share of all rows that a fold should hold.
    priority : (n_units,) among the units of a stratum, the largest is dealt first.
    full : (n_folds,) number of units that a fold has room for; None: any number.
    least : rows of a stratum that a fold should hold before others get more; one number, or one for each fold.
    """
    rank = np.argsort(np.argsort(np.count_nonzero(counts, axis=0), kind="stable"), kind="stable")
    rarest = np.where(counts > 0, rank, counts.shape[1]).argmin(axis=1)
    wide = np.column_stack([counts, counts.sum(axis=1)])  # all rows are a stratum, too: folds should be alike in size
    totals = wide.sum(axis=0)
    have = np.zeros((len(shares), len(totals)))
    left = np.full(len(shares), len(counts)) if full is None else full.copy()
    fold = np.empty(len(counts), dtype=np.int64)
    for u in np.lexsort((-priority, rank[rarest])):
        held = np.flatnonzero(wide[u])
        rows, total = wide[u, held], totals[held]
        # What the unit adds to the squared deviations from the folds' shares of each stratum.
        cost = ((2.0 * (have[:, held] - np.outer(shares, total)) + rows) * rows / total**2).sum(axis=1) / shares
        same = _TIE * np.abs(cost).max()
        room = left > 0
        lacks = room & (have[:, rarest[u]] < least)
        cost[~(lacks if lacks.any() else room)] = np.inf
        fold[u] = np.argmax(cost <= cost.min() + same)
        have[fold[u]] += wide[u]
        left[fold[u]] -= 1
    return fold


def _drawn(code: np.ndarray, n_rows: int, least: int, rng: np.random.RandomState) -> np.ndarray:
    """(n,) whether a row is drawn: ``n_rows`` in all, in proportion within strata, ``least`` drawn and left of each.

    Rare strata come first, and what rounding adds to them is taken from common ones.
    """
    sizes = np.bincount(code)
    quota = np.zeros(len(sizes), dtype=np.int64)
    left, rows = n_rows, len(code)
    for s in np.argsort(sizes, kind="stable"):
        kept = min(least, sizes[s] // 2)
        share = round(sizes[s] * left / max(rows, 1))
        quota[s] = min(max(share, kept), sizes[s] - kept, left) if rows > sizes[s] else min(left, sizes[s])
        left, rows = left - quota[s], rows - sizes[s]
    order = np.lexsort((rng.rand(len(code)), code))
    place = np.arange(len(code)) - (np.cumsum(sizes) - sizes)[code[order]]
    drawn = np.empty(len(code), dtype=bool)
    drawn[order] = place < quota[code[order]]
    return drawn
