"""The third pass: every row is routed to its leaves, and the rows that leaves keep are put on shards.

A leaf keeps about ``leaf_rows`` of the rows that reach it, from each class or range of targets its share, as in a model
in memory. The draw of a row alone decides whether a leaf keeps it, so no shard needs the rows of another. A row that no
leaf keeps can never be a neighbour: it counts in the means of the leaves and is not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.invariants import LARGEST, POSITIVE, Array, Checked, require
from .._utils.parallel import chunks
from .._utils.sums import rowwise_product
from ..forest.held_out import N_FOLDS
from ..forest.scaling import Scaling
from ..forest.trees import Trees
from .blocks import Partition
from .count import Totals
from .sampling import FoldRule, Hashes, hash_rows
from .sums.leaves import LeafSums, add_sums, leaf_sums
from .sums.targets import target_sums

_CHUNK_ROWS = 8192


@dataclass(frozen=True, eq=False)
class Placement:
    """Settings of the third pass, the same for all partitions.

    Parameters
    ----------
    totals : counts and moments of all partitions.
    trees : the forest.
    folds : the assignment of held-out folds.
    leaf_rows : approximate number of rows that a leaf keeps; None: all.
    max_distinct : distinct targets that are counted one by one.
    seed : of the draws.
    """

    totals: Totals
    trees: Trees
    folds: FoldRule
    leaf_rows: int | None
    max_distinct: int
    seed: int

    def kept_share(self, counts: np.ndarray) -> np.ndarray:
        """(leaves, strata) share of rows that each leaf keeps, given the counts of rows that reach it."""
        if self.leaf_rows is None:
            return np.ones(counts.shape)
        size = counts.sum(axis=1, keepdims=True)
        share = np.ceil(self.leaf_rows * counts / np.maximum(size, 1)) / np.maximum(counts, 1)
        return np.asarray(np.where(size <= self.leaf_rows, 1.0, share))


class ShardLimits(NamedTuple):
    """Required lengths of the axes of a shard by name, and the required numbers of its rows."""

    sizes: dict[str, int]  # leaves, dimensions, outputs and trends
    n_strata: int
    n_classes: int  # 0: regression
    row_span: tuple[int, int, int]  # count of row numbers, the first and the last; 0, -1 and -1 without rows


def check_codes(owner: str, rows: Any, n_strata: int, n_classes: int) -> None:
    """Raise an InvariantError unless the codes are strata and, in a classification, equal to the labels."""
    require(rows.code.max(initial=-1) < n_strata, f"{owner}.code holds numbers past the last of {n_strata}")
    labels_match = not n_classes or (rows.label.shape[1] == 1 and np.array_equal(rows.label[:, 0], rows.code))
    require(labels_match, f"{owner}.label holds other numbers than those of the classes")


@dataclass(frozen=True, eq=False)
class Shard(Checked):
    """R rows and the leaves that keep them.

    Parameters
    ----------
    Z : (R, D) rows on the common scale; in the metric space once the model is fitted.
    label : (R, q) targets, or class numbers in one column.
    code : (R,) class or range of targets.
    weight, draw : (R,) sample weight, and the random number that decides which leaves keep the row.
    number : (R,) increasing numbers of the rows in the table.
    fold : (R,) held-out folds.
    trend : (R, q) trend at the rows; empty during a fit and in a model without a trend.
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
        """Raise an InvariantError unless the shard has the required sizes and row numbers."""
        sizes = self.sizes
        for name, length in limits.sizes.items():
            require(sizes[name] == length, f"Shard has {sizes[name]} {name}, not {length}")
        check_codes("Shard", self, limits.n_strata, limits.n_classes)
        require(span(self.number) == limits.row_span, "Shard.number holds those of another shard")

    @property
    def n_rows(self) -> int:
        """Rows of the shard."""
        return len(self.number)

    @property
    def leaf_of_entries(self) -> np.ndarray:
        """(entries,) leaf of each entry of ``leaf_rows``."""
        return np.repeat(np.arange(len(self.leaf_ptr) - 1), np.diff(self.leaf_ptr))

    @classmethod
    def join(cls, *shards: Shard) -> Shard:
        """Join shards into one, in this order."""
        if len(shards) == 1:
            return shards[0]
        starts = np.cumsum([0, *(shard.n_rows for shard in shards)])[:-1]
        leaf = np.concatenate([shard.leaf_of_entries for shard in shards])
        rows = np.concatenate([shard.leaf_rows + start for shard, start in zip(shards, starts, strict=True)])
        order = np.argsort(leaf, kind="stable")
        leaf_ptr = _pointers(leaf, len(shards[0].leaf_ptr) - 1)
        row_fields = {name: np.concatenate([getattr(shard, name) for shard in shards]) for name in ROWS}
        return cls(**row_fields, leaf_ptr=leaf_ptr, leaf_rows=rows[order].astype(np.int32))


def span(number: np.ndarray) -> tuple[int, int, int]:
    """Return the count of the numbers, the first and the last."""
    return (len(number), int(number[0]), int(number[-1])) if len(number) else (0, -1, -1)


ROWS = ("Z", "label", "code", "weight", "draw", "number", "fold", "trend")


def partition_leaf_sums(data: Any, partition_number: int, placement: Placement) -> LeafSums:
    """Sum the rows of a partition by leaf."""
    totals, trees = placement.totals, placement.trees
    rows = _PartitionRows.of(data, partition_number, placement)
    no_entries = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    sums = leaf_sums(no_entries, totals, trees.n_leaves, (rows.y, rows.code, rows.partition.weight))
    for chunk in rows.chunks:
        row_values = (rows.y[chunk], rows.code[chunk], rows.partition.weight[chunk])
        sums = add_sums(sums, leaf_sums(rows.entries(chunk, trees)[1], totals, trees.n_leaves, row_values))
    if totals.classes is not None:
        return sums
    targets = target_sums((rows.y, rows.code, rows.partition.weight, rows.fold), totals, placement.max_distinct)
    return replace(sums, targets=targets)


def place(data: Any, partition_number: int, placement: Placement, share: np.ndarray) -> Shard:
    """Build a shard of the rows of a partition that leaves keep, given the shares of ``kept_share``.

    Trees route all rows again: storing the rows or the leaves of ``partition_leaf_sums`` would take as much memory as
    the partition.
    """
    totals, trees = placement.totals, placement.trees
    rows = _PartitionRows.of(data, partition_number, placement)
    draw, code = rows.hashes.draw, rows.code
    Z, entries = [np.empty((0, totals.width))], [np.empty((2, 0), dtype=np.int64)]
    for chunk in rows.chunks:
        X, (leaf, row) = rows.entries(chunk, trees)
        is_kept = draw[chunk][row] < share[leaf, code[chunk][row]]
        Z.append(X[np.unique(row[is_kept])])
        entries.append(np.stack([leaf[is_kept], chunk.start + row[is_kept]]))
    leaf, row = np.concatenate(entries, axis=1)
    kept_rows, shard_row = np.unique(row, return_inverse=True)
    label = rows.y[kept_rows] if totals.classes is None else code[kept_rows, None].astype(np.float64)
    return Shard(
        Z=np.concatenate(Z),
        label=label,
        code=code[kept_rows],
        weight=rows.partition.weight[kept_rows],
        draw=draw[kept_rows],
        number=rows.hashes.number[kept_rows],
        fold=rows.fold[kept_rows],
        trend=np.empty((len(kept_rows), 0)),
        leaf_ptr=_pointers(leaf, trees.n_leaves),
        leaf_rows=shard_row[np.lexsort((shard_row, code[row], leaf))].astype(np.int32),
    )


class _PartitionRows(NamedTuple):
    """A partition whose rows are routed through the trees in chunks."""

    partition: Partition
    y: np.ndarray
    code: np.ndarray
    hashes: Hashes
    fold: np.ndarray
    scaling: Scaling

    @classmethod
    def of(cls, data: Any, partition_number: int, placement: Placement) -> _PartitionRows:
        totals = placement.totals
        partition, y, code = totals.read(data, partition_number)
        hashes = hash_rows(partition, int(totals.offsets[partition_number]), placement.seed)
        fold = placement.folds.folds(hashes.number, hashes.fold)
        return cls(partition, y, code.astype(np.int64), hashes, fold, totals.scaling)

    @property
    def chunks(self) -> Iterator[slice]:
        """Rows that are routed together."""
        return chunks(len(self.code), _CHUNK_ROWS)

    def entries(self, chunk: slice, trees: Trees) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Rows on the common scale, and leaf and row of each entry in the trees that do not leave out its fold."""
        X = self.scaling.transform(self.partition.X[chunk]).reshape(-1, len(self.scaling.offset))
        grown_on = ~trees.left_out.T[self.fold[chunk]]
        return X, (trees.apply(X)[grown_on], np.nonzero(grown_on)[0])


def _pointers(leaf: np.ndarray, n_leaves: int) -> np.ndarray:
    """(leaves + 1,) index of the first entry of each leaf."""
    return np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=n_leaves))]).astype(np.int64)


def leaf_weights(shard: Shard) -> np.ndarray:
    """(leaves,) total weight of the rows of a shard that each leaf keeps."""
    weight = shard.weight[shard.leaf_rows]
    return np.bincount(shard.leaf_of_entries, weights=weight, minlength=len(shard.leaf_ptr) - 1)


def finish_shard(shard: Shard, space: np.ndarray | None, trend: Any) -> Shard:
    """Return the shard with its rows in the metric space, and with the trend at them."""
    row_trend = shard.trend if trend is None else trend.predict(np.asarray(shard.Z))
    Z = np.asarray(shard.Z) if space is None else rowwise_product(shard.Z, space)
    return replace(shard, Z=Z, trend=row_trend)
