"""The third pass: every row goes into the leaves that it reaches, and lives on one shard.

A leaf keeps about ``most`` rows of all that reach it, of each class or range of targets its share, as a leaf of an
ordinary model does. Which ones is decided by the draw of a row alone: no shard has to know the rows of another. A row
that no leaf keeps can never be a neighbour; it counts in the means of the leaves and is not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils.parallel import chunks
from .._utils.sums import rowwise_product
from ..forest.trees import Trees
from .count import Totals
from .sampling import FoldRule, hash_rows
from .sums.leaves import LeafSums, add_sums, leaf_sums

_AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class Placement:
    """What places rows: it is the same for all partitions.

    Parameters
    ----------
    totals : what all partitions hold.
    trees : the forest.
    folds : the rule of held-out folds.
    most : rows that a leaf keeps; None: all.
    seed : of the draws.
    """

    totals: Totals
    trees: Trees
    folds: FoldRule
    most: int | None
    seed: int

    def kept_share(self, counts: np.ndarray) -> np.ndarray:
        """(leaves, strata) share of the rows that leaves keep, given how many rows reach them."""
        if self.most is None:
            return np.ones(counts.shape)
        size = counts.sum(axis=1, keepdims=True)
        some = np.maximum(counts, 1)
        share = np.ceil(self.most * counts / np.maximum(size, 1)) / some
        return np.asarray(np.where(size <= self.most, 1.0, share))

    def largest_share(self, counts: np.ndarray) -> np.ndarray:
        """(leaves, strata) the most that ``kept_share`` can be where these rows are part of a larger table."""
        if self.most is None:
            return np.ones(counts.shape)
        size = counts.sum(axis=1, keepdims=True)
        return np.asarray(np.minimum(self.most / np.maximum(size, 1) + 1.0 / np.maximum(counts, 1), 1.0))


@dataclass(frozen=True, eq=False)
class Shard:
    """Rows, and the leaves that keep them; R rows.

    Parameters
    ----------
    Z : (R, D) rows on the common scale; in the metric space once the shard is settled.
    label : (R, q) targets, or class numbers in one column.
    code : (R,) class or range of targets.
    weight, draw : (R,) sample weight, and the number that decides which leaves keep the row.
    number : (R,) numbers of the rows in the table, which rise.
    fold : (R,) held-out folds.
    trend : (R, q) trend at the rows; empty until the shard is settled, and where there is none.
    leaf_ptr, leaf_rows : rows of each leaf.
    """

    Z: np.ndarray
    label: np.ndarray
    code: np.ndarray
    weight: np.ndarray
    draw: np.ndarray
    number: np.ndarray
    fold: np.ndarray
    trend: np.ndarray
    leaf_ptr: np.ndarray
    leaf_rows: np.ndarray

    @property
    def n_rows(self) -> int:
        """Rows of the shard."""
        return len(self.number)

    @property
    def leaf_of_entries(self) -> np.ndarray:
        """(entries,) leaf of each entry of ``leaf_rows``."""
        return np.repeat(np.arange(len(self.leaf_ptr) - 1), np.diff(self.leaf_ptr))

    def kept(self, entries: np.ndarray) -> Shard:
        """The shard with some of its entries, and the rows that these name; rows of a leaf by class, then number."""
        rows, at = np.unique(self.leaf_rows[entries], return_inverse=True)
        leaf = self.leaf_of_entries[entries]
        order = np.lexsort((at, self.code[rows][at], leaf))
        of_rows = {name: np.ascontiguousarray(getattr(self, name)[rows]) for name in ROWS}
        return Shard(**of_rows, leaf_ptr=_pointers(leaf, len(self.leaf_ptr) - 1), leaf_rows=at[order].astype(np.int32))

    @classmethod
    def join(cls, parts: Sequence[Shard]) -> Shard:
        """Shards one after another."""
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0, *(one.n_rows for one in parts)])
        leaf = np.concatenate([one.leaf_of_entries for one in parts])
        rows = np.concatenate([one.leaf_rows + start for one, start in zip(parts, first[:-1], strict=True)])
        order = np.argsort(leaf, kind="stable")
        ptr = _pointers(leaf, len(parts[0].leaf_ptr) - 1)
        of_rows = {name: np.concatenate([getattr(one, name) for one in parts]) for name in ROWS}
        return cls(**of_rows, leaf_ptr=ptr, leaf_rows=rows[order].astype(np.int32))


ROWS = ("Z", "label", "code", "weight", "draw", "number", "fold", "trend")


def place(data: Any, number: int, placement: Placement) -> tuple[Shard, LeafSums]:
    """The rows of a partition in the leaves that may keep them, and what reaches the leaves."""
    totals, trees = placement.totals, placement.trees
    block, y, code = totals.block(data, number)
    hashes = hash_rows(block, int(totals.offsets[number]), placement.seed)
    fold = placement.folds.folds(hashes.number, hashes.fold)
    X = totals.scaling.transform(block.X).reshape(len(block.X), totals.width)
    reached = np.empty((len(X), trees.n_trees), dtype=np.int32)
    sums = leaf_sums(_entries(reached[:0], fold[:0], trees), totals, trees.n_leaves, (y, code, block.weight))
    parts = list(chunks(len(X), _AT_ONCE))
    for part in parts:
        reached[part] = trees.apply(X[part])
        of_rows = (y[part], code[part], block.weight[part])
        sums = add_sums(sums, leaf_sums(_entries(reached[part], fold[part], trees), totals, trees.n_leaves, of_rows))
    share, draw = placement.largest_share(sums.counts), hashes.draw
    leaves, rows = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int32)]
    for part in parts:
        leaf, row = _entries(reached[part], fold[part], trees)
        row += part.start
        some = draw[row] < share[leaf, code[row]]
        leaves.append(leaf[some])
        rows.append(row[some])
    leaf, row = np.concatenate(leaves), np.concatenate(rows)
    label = (
        (code if totals.classes is not None else y)
        .astype(np.float64)
        .reshape(len(X), -1 if len(X) else len(totals.low))
    )
    shard = Shard(
        Z=X,
        label=label,
        code=code.astype(np.int64),
        weight=block.weight,
        draw=draw,
        number=hashes.number,
        fold=fold,
        trend=np.empty((len(X), 0)),
        leaf_ptr=_pointers(leaf, trees.n_leaves),
        leaf_rows=row[np.argsort(leaf, kind="stable")],
    )
    return shard, sums


def _entries(reached: np.ndarray, fold: np.ndarray, trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """Leaf and row of each entry: a row enters the leaves of the trees that do not leave out its fold."""
    seen = ~trees.left_out.T[fold]
    return reached[seen], np.nonzero(seen)[0].astype(np.int32)


def _pointers(leaf: np.ndarray, n_leaves: int) -> np.ndarray:
    """(leaves + 1,) where the entries of each leaf begin."""
    return np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=n_leaves))]).astype(np.int64)


def thin(placement: Placement, sums: LeafSums, *parts: Shard) -> Shard:
    """One shard of what partitions offered, with the rows that leaves keep of all that reach them."""
    share = placement.kept_share(sums.counts)
    kept = []
    for part in parts:
        some = part.draw[part.leaf_rows] < share[part.leaf_of_entries, part.code[part.leaf_rows]]
        kept.append(part.kept(np.flatnonzero(some)))
    return Shard.join(kept)


def joined_shard(*parts: Shard) -> Shard:
    """Shards one after another."""
    return Shard.join(parts)


def leaf_weights(shard: Shard) -> np.ndarray:
    """(leaves,) weight of the rows of a shard that each leaf keeps."""
    weight = shard.weight[shard.leaf_rows]
    return np.bincount(shard.leaf_of_entries, weights=weight, minlength=len(shard.leaf_ptr) - 1)


def settle(shard: Shard, space: np.ndarray | None, trend: Any) -> Shard:
    """The shard with its rows in the metric space, and with the trend at them."""
    own = shard.trend if trend is None else trend.predict(np.asarray(shard.Z))
    placed = np.asarray(shard.Z) if space is None else rowwise_product(shard.Z, space)
    fields = {name: getattr(shard, name) for name in shard.__dataclass_fields__}
    return Shard(**{**fields, "Z": placed, "trend": own})
