"""Requests to shards and their answers, checked when they are made and when they arrive from a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._utils.invariants import FINITE, LARGEST, POSITIVE, Array, Checked, Choice, Number, Part, require
from ...forest.held_out import N_FOLDS
from ...forest.trees import Trees
from ...neighbors.index import MAX_RARITY, MAX_WEIGHT_RATIO
from ..shards import Shard, check_codes

_SLACK = 1.0 + 1e-6  # for rounding


@dataclass(frozen=True, eq=False)
class DistributedForest(Checked):
    """The forest, with the leaf means and weights of all rows, that turns queries into requests.

    Parameters
    ----------
    trees : the forest, whose leaves hold rows of the sample.
    leaf_value : (leaves, k) class shares or mean targets of all rows.
    leaf_total : (leaves,) weight of the rows that a leaf keeps on all shards.
    rarity : (strata,) factor of the rank of their rows.
    most : maximal number of rows in a neighbourhood; None: no limit.
    n_classes : number of classes, which then are the strata; 0 in a regression.
    """

    FIELDS = {
        "trees": Part("Trees", "leaves features"),
        "leaf_value": Array("float64", "leaves, averaged", -LARGEST, LARGEST),
        "leaf_total": Array("float64", "leaves", 0.0),
        "rarity": Array("float64", "strata", POSITIVE, MAX_RARITY),
        "most": Number(1, whole=True, none=True),
        "n_classes": Number(0, whole=True),
    }
    NOT_EMPTY = ("averaged", "strata")

    trees: Trees
    leaf_value: np.ndarray
    leaf_total: np.ndarray
    rarity: np.ndarray
    most: int | None
    n_classes: int

    def _check_relations(self, sizes: dict[str, int]) -> None:
        is_consistent = self.n_classes in (0, sizes["strata"]) and self.n_classes in (0, sizes["averaged"])
        require(is_consistent, f"DistributedForest.n_classes is {self.n_classes}, and it averages {sizes['averaged']}")


@dataclass(frozen=True, eq=False)
class Request(Checked):
    """A batch of n queries.

    Parameters
    ----------
    reached : (n, T) leaf of each query in each tree.
    total : (n, T) weight of the rows of this leaf; 0 for a tree that is not used.
    fold : (n,) held-out fold, or -1 for a new row.
    Q : (n, D) queries in the metric space.
    rarity : (strata,) factor of the rank of their rows.
    most : maximal number of rows in a neighbourhood; None: no limit.
    n_classes : number of classes; 0 in a regression.
    space : map of the rows of shards into the metric space; None if they are mapped already.
    own : whether answers include the rows on the common scale.
    """

    FIELDS = {
        "reached": Array("int32", "queries, trees", 0),
        "total": Array("float64", "queries, trees", 0.0),
        "fold": Array("int64", "queries", -1, N_FOLDS - 1),
        "Q": Array("float64", "queries, dimensions"),
        "rarity": Array("float64", "strata", POSITIVE, MAX_RARITY),
        "most": Number(1, whole=True, none=True),
        "n_classes": Number(0, whole=True),
        "space": Array("float64", "features, dimensions", none=True),
        "own": Choice((True, False)),
    }

    reached: np.ndarray
    total: np.ndarray
    fold: np.ndarray
    Q: np.ndarray
    rarity: np.ndarray
    most: int | None
    n_classes: int
    space: np.ndarray | None = None
    own: bool = False

    def check_shard(self, shard: Shard) -> None:
        """Raise an InvariantError unless the request fits the shard."""
        sizes = shard.sizes
        columns = "dimensions" if self.space is None else "features"
        require(self.sizes[columns] == sizes["dimensions"], f"Shard.Z has {sizes['dimensions']} columns")
        require(self.reached.max(initial=-1) < sizes["leaves"], f"Request.reached names leaves past {sizes['leaves']}")
        with np.errstate(over="ignore"):
            largest_total = MAX_WEIGHT_RATIO * shard.weight.min(initial=FINITE)
        require(
            self.total.max(initial=0.0) <= largest_total, f"Shard.weight is below Request.total / {MAX_WEIGHT_RATIO:g}"
        )
        check_codes("Shard", shard, len(self.rarity), self.n_classes)

    def check_answer(self, answer: Answer) -> None:
        """Raise an InvariantError unless the answer fits the request."""
        sizes, n_queries, rows = self.sizes, answer.sizes["queries"], answer.known
        require(n_queries == sizes["queries"], f"Answer has {n_queries} queries, not {sizes['queries']}")
        require(
            rows.sizes["dimensions"] == sizes["dimensions"],
            "NeighborRows.Z has another number of columns than Request.Q",
        )
        require(answer.sums.max(initial=0.0) <= sizes["trees"] * _SLACK, "Answer.sums is more than all trees give")
        check_codes("NeighborRows", rows, len(self.rarity), self.n_classes)


@dataclass(frozen=True, eq=False)
class NeighborRows(Checked):
    """The m distinct rows that are neighbours of the queries of a batch.

    Parameters
    ----------
    number : (m,) increasing numbers in the table.
    Z : (m, D) in the metric space.
    label, code, fold, trend : as in ``Shard``.
    own : (m, d) on the common scale, if the request asks for them; otherwise without columns.
    """

    FIELDS = {
        **{name: Shard.FIELDS[name] for name in ("number", "Z", "label", "code", "fold", "trend")},
        "own": Array("float64", "rows, features", -LARGEST, LARGEST),
    }

    number: np.ndarray
    Z: np.ndarray
    label: np.ndarray
    code: np.ndarray
    fold: np.ndarray
    trend: np.ndarray
    own: np.ndarray

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(np.all(self.number[1:] > self.number[:-1]), "NeighborRows.number does not rise: a row is on two shards")

    @classmethod
    def join(cls, shard_rows: Sequence[NeighborRows]) -> NeighborRows:
        """Join the rows of all shards, by number; return one row of zeros if there are none."""
        arrays = {name: np.concatenate([getattr(rows, name) for rows in shard_rows]) for name in cls.FIELDS}
        if not len(arrays["number"]):
            arrays = {name: np.zeros((1, *array.shape[1:]), dtype=array.dtype) for name, array in arrays.items()}
        order = np.argsort(arrays["number"], kind="stable")
        return cls(**{name: array[order] for name, array in arrays.items()})

    def subset(self, rows: np.ndarray) -> NeighborRows:
        """Return these rows only."""
        return NeighborRows(**{name: array[rows] for name, array in self.state.items()})


@dataclass(frozen=True, eq=False)
class Answer(Checked):
    """The best rows of a shard for a batch of queries; n queries.

    Parameters
    ----------
    rows : (n, M) indices into ``known``, valid up to ``size``.
    sums : (n, M) shares in the leaves of the query, summed over trees.
    size : (n,) number of best rows.
    settled : (n,) position from which the rows are in the order of their distances.
    met : (n,) number of rows in the leaves of the query, including those past ``size``.
    known : the best rows of all queries.
    """

    FIELDS = {
        "rows": Array("int64", "queries, most", 0),
        "sums": Array("float64", "queries, most", 0.0),
        "size": Array("int64", "queries", 0),
        "settled": Array("int64", "queries", 0),
        "met": Array("int64", "queries", 0),
        "known": Part("NeighborRows"),
    }

    rows: np.ndarray
    sums: np.ndarray
    size: np.ndarray
    settled: np.ndarray
    met: np.ndarray
    known: NeighborRows

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(self.size.max(initial=0) <= sizes["most"], f"Answer.size is over {sizes['most']}")
        require(np.all(self.settled <= self.size), "Answer.settled is over Answer.size")
        require(np.all(self.size <= self.met), "Answer.met is below Answer.size")
        rows = self.rows[np.arange(sizes["most"]) < self.size[:, None]]
        require(rows.max(initial=-1) < len(self.known.number), "Answer.rows names rows that are not in Answer.known")
