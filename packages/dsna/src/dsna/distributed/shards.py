"""The third pass: every row goes into the leaves that it reaches, and lives on one shard.

A leaf keeps about ``most`` rows of all that reach it, of each class or range of targets its share, as a leaf of an
ordinary model does. Which ones is decided by the draw of a row alone: no shard has to know the rows of another. A row
that no leaf keeps can never be a neighbour; it counts in the means of the leaves and is not stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.invariants import LARGEST, POSITIVE, Array, Checked, require
from .._utils.parallel import chunks
from .._utils.sums import rowwise_product
from ..forest.held_out import N_FOLDS
from ..forest.scaling import Scaling
from ..forest.trees import Trees
from .blocks import Block
from .count import Totals
from .sampling import FoldRule, Hashes, hash_rows
from .sums.leaves import LeafSums, add_sums, leaf_sums
from .sums.targets import target_sums

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
    most_targets : different targets that are counted one by one.
    seed : of the draws.
    """

    totals: Totals
    trees: Trees
    folds: FoldRule
    most: int | None
    most_targets: int
    seed: int

    def kept_share(self, counts: np.ndarray) -> np.ndarray:
        """(leaves, strata) share of the rows that leaves keep, given how many rows reach them."""
        if self.most is None:
            return np.ones(counts.shape)
        size = counts.sum(axis=1, keepdims=True)
        some = np.maximum(counts, 1)
        share = np.ceil(self.most * counts / np.maximum(size, 1)) / some
        return np.asarray(np.where(size <= self.most, 1.0, share))


class ShardLimits(NamedTuple):
    """What a shard must fit: lengths of its axes by name, and the numbers of its rows."""

    sizes: dict[str, int]  # leaves, dimensions, outputs and trends
    n_strata: int
    n_classes: int  # 0: regression
    numbers: tuple[int, int, int]  # how many, the first and the last; of no rows, 0, -1 and -1


def check_codes(owner: str, rows: Any, n_strata: int, n_classes: int) -> None:
    """Raise an InvariantError unless rows have codes of strata and, of a classification, these as labels."""
    require(rows.code.max(initial=-1) < n_strata, f"{owner}.code holds numbers past the last of {n_strata}")
    known = not n_classes or (rows.label.shape[1] == 1 and np.array_equal(rows.label[:, 0], rows.code))
    require(known, f"{owner}.label holds other numbers than those of the classes")


@dataclass(frozen=True, eq=False)
class Shard(Checked):
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

    FIELDS = {
        "Z": Array("float64", "rows, dimensions", -LARGEST, LARGEST),
        "label": Array("float64", "rows, outputs", -LARGEST, LARGEST),
        "code": Array("int64", "rows", 0),
        "weight": Array("float64", "rows", POSITIVE),
        "draw": Array("float64", "rows", 0.0, 1.0),
        "number": Array("int64", "rows", 0),
        "fold": Array("int64", "rows", 0, N_FOLDS - 1),
        "trend": Array("float64", "rows, trends", -LARGEST, LARGEST),
        "leaf_ptr": Array("int64", "leaves+1", into="entries"),
        "leaf_rows": Array("int32", "entries", below="rows"),
    }
    NOT_EMPTY = ("leaves", "dimensions", "outputs")

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

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.number[1:] > self.number[:-1]), "Shard.number does not rise")

    def check_limits(self, limits: ShardLimits) -> None:
        """Raise an InvariantError unless it is the shard of its model that is to have these rows."""
        sizes = self.sizes
        for name, length in limits.sizes.items():
            require(sizes[name] == length, f"Shard has {sizes[name]} {name}, not {length}")
        check_codes("Shard", self, limits.n_strata, limits.n_classes)
        require(span(self.number) == limits.numbers, "Shard.number holds those of another shard")

    @property
    def n_rows(self) -> int:
        """Rows of the shard."""
        return len(self.number)

    @property
    def leaf_of_entries(self) -> np.ndarray:
        """(entries,) leaf of each entry of ``leaf_rows``."""
        return np.repeat(np.arange(len(self.leaf_ptr) - 1), np.diff(self.leaf_ptr))

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


def span(number: np.ndarray) -> tuple[int, int, int]:
    """How many numbers there are, the first and the last."""
    return (len(number), int(number[0]), int(number[-1])) if len(number) else (0, -1, -1)


ROWS = ("Z", "label", "code", "weight", "draw", "number", "fold", "trend")


def reach(data: Any, number: int, placement: Placement) -> LeafSums:
    """What the rows of a partition add to the leaves."""
    totals, trees = placement.totals, placement.trees
    rows = _PartitionRows.of(data, number, placement)
    none = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    sums = leaf_sums(none, totals, trees.n_leaves, (rows.y, rows.code, rows.block.weight))
    for part in rows.parts:
        of_rows = (rows.y[part], rows.code[part], rows.block.weight[part])
        sums = add_sums(sums, leaf_sums(rows.entries(part, trees)[1], totals, trees.n_leaves, of_rows))
    if totals.classes is not None:
        return sums
    targets = target_sums((rows.y, rows.code, rows.block.weight, rows.fold), totals, placement.most_targets)
    return replace(sums, targets=targets)


def place(data: Any, number: int, placement: Placement, share: np.ndarray) -> Shard:
    """The rows of a partition that leaves keep, given the shares of ``kept_share``, and the leaves that keep them.

    Trees route all rows once more: to keep rows or leaves since ``reach`` would take as much memory as the partition.
    """
    totals, trees = placement.totals, placement.trees
    rows = _PartitionRows.of(data, number, placement)
    draw, code = rows.hashes.draw, rows.code
    Z, found = [np.empty((0, totals.width))], [np.empty((2, 0), dtype=np.int64)]
    for part in rows.parts:
        X, (leaf, row) = rows.entries(part, trees)
        some = draw[part][row] < share[leaf, code[part][row]]
        Z.append(X[np.unique(row[some])])
        found.append(np.stack([leaf[some], part.start + row[some]]))
    leaf, row = np.concatenate(found, axis=1)
    kept, at = np.unique(row, return_inverse=True)
    label = rows.y[kept] if totals.classes is None else code[kept, None].astype(np.float64)
    return Shard(
        Z=np.concatenate(Z),
        label=label,
        code=code[kept],
        weight=rows.block.weight[kept],
        draw=draw[kept],
        number=rows.hashes.number[kept],
        fold=rows.fold[kept],
        trend=np.empty((len(kept), 0)),
        leaf_ptr=_pointers(leaf, trees.n_leaves),
        leaf_rows=at[np.lexsort((at, code[row], leaf))].astype(np.int32),
    )


class _PartitionRows(NamedTuple):
    """A partition whose rows are routed through the trees, some at a time."""

    block: Block
    y: np.ndarray
    code: np.ndarray
    hashes: Hashes
    fold: np.ndarray
    scaling: Scaling

    @classmethod
    def of(cls, data: Any, number: int, placement: Placement) -> _PartitionRows:
        totals = placement.totals
        block, y, code = totals.block(data, number)
        hashes = hash_rows(block, int(totals.offsets[number]), placement.seed)
        fold = placement.folds.folds(hashes.number, hashes.fold)
        return cls(block, y, code.astype(np.int64), hashes, fold, totals.scaling)

    @property
    def parts(self) -> Iterator[slice]:
        """Parts of the rows that are routed together."""
        return chunks(len(self.code), _AT_ONCE)

    def entries(self, part: slice, trees: Trees) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Some rows on the common scale, and leaf and row of each entry: not of trees that leave out its fold."""
        X = self.scaling.transform(self.block.X[part]).reshape(-1, len(self.scaling.offset))
        seen = ~trees.left_out.T[self.fold[part]]
        return X, (trees.apply(X)[seen], np.nonzero(seen)[0])


def _pointers(leaf: np.ndarray, n_leaves: int) -> np.ndarray:
    """(leaves + 1,) where the entries of each leaf begin."""
    return np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=n_leaves))]).astype(np.int64)


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
    return replace(shard, Z=placed, trend=own)
