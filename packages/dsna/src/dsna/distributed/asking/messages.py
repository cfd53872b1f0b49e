"""What shards are asked and what they answer, checked when it is made and when it has come from a worker."""

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
class Forest(Checked):
    """What turns queries into requests.

    Parameters
    ----------
    trees : the forest, whose leaves hold rows of the sample.
    leaf_value : (leaves, k) means of all rows.
    leaf_total : (leaves,) weight of the rows that are kept on all shards.
    rarity : (strata,) factor of the rank of their rows.
    most : rows of a neighbourhood; None: all.
    n_classes : number of classes, which are the strata then; 0 in a regression.
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
        known = self.n_classes in (0, sizes["strata"]) and self.n_classes in (0, sizes["averaged"])
        require(known, f"Forest.n_classes is {self.n_classes}, and it averages {sizes['averaged']}")


@dataclass(frozen=True, eq=False)
class Request(Checked):
    """A batch of queries; n rows.

    Parameters
    ----------
    reached : (n, T) leaves.
    total : (n, T) weight of the rows of these leaves; 0 where a tree is not used.
    fold : (n,) held-out fold, or -1.
    Q : (n, D) in the metric space.
    rarity : (strata,) factor of the rank of their rows.
    most : rows of a neighbourhood; None: all.
    n_classes : 0 in a regression.
    space : map of the rows of shards into the metric space, where they are not there yet.
    own : whether answers are to hold the rows as the shard has them.
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
        """Raise an InvariantError unless the request can be put to a shard."""
        sizes = shard.sizes
        taken = "dimensions" if self.space is None else "features"
        require(self.sizes[taken] == sizes["dimensions"], f"Shard.Z has {sizes['dimensions']} columns")
        require(self.reached.max(initial=-1) < sizes["leaves"], f"Request.reached names leaves past {sizes['leaves']}")
        with np.errstate(over="ignore"):
            most = MAX_WEIGHT_RATIO * shard.weight.min(initial=FINITE)
        require(self.total.max(initial=0.0) <= most, f"Shard.weight is below Request.total / {MAX_WEIGHT_RATIO:g}")
        check_codes("Shard", shard, len(self.rarity), self.n_classes)

    def check_answer(self, answer: Answer) -> None:
        """Raise an InvariantError unless a shard may have given an answer."""
        ours, its, rows = self.sizes, answer.sizes, answer.known
        require(its["queries"] == ours["queries"], f"Answer has {its['queries']} queries, not {ours['queries']}")
        require(
            rows.sizes["dimensions"] == ours["dimensions"], "MetRows.Z has another number of columns than Request.Q"
        )
        require(answer.sums.max(initial=0.0) <= ours["trees"] * _SLACK, "Answer.sums holds more than all trees give")
        check_codes("MetRows", rows, len(self.rarity), self.n_classes)


@dataclass(frozen=True, eq=False)
class MetRows(Checked):
    """Rows that are neighbours of any query of a batch, each once; m rows.

    Parameters
    ----------
    number : (m,) numbers in the table, which rise.
    Z : (m, D) in the metric space.
    label, code, fold, trend : as in ``Shard``.
    own : (m, d) as the shard has them, where that is asked for.
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
        require(np.all(self.number[1:] > self.number[:-1]), "MetRows.number does not rise: a row is on two shards")

    @classmethod
    def join(cls, parts: Sequence[MetRows]) -> MetRows:
        """Rows of all parts, by their numbers; something stands there even where leaves have no row at all."""
        every = {name: np.concatenate([getattr(one, name) for one in parts]) for name in cls.FIELDS}
        if not len(every["number"]):
            every = {name: np.zeros((1, *one.shape[1:]), dtype=one.dtype) for name, one in every.items()}
        order = np.argsort(every["number"], kind="stable")
        return cls(**{name: one[order] for name, one in every.items()})

    def only(self, some: np.ndarray) -> MetRows:
        """Some of the rows."""
        return MetRows(**{name: one[some] for name, one in self.state.items()})


@dataclass(frozen=True, eq=False)
class Answer(Checked):
    """The best rows of a shard for a batch of queries; n queries.

    Parameters
    ----------
    rows : (n, M) places among the rows met, filled up to size.
    sums : (n, M) shares in the leaves reached, summed over trees.
    size : (n,) how many rows there are.
    settled : (n,) from where on rows are in the order of their distances.
    met : (n,) rows met, also those that did not fit.
    known : the rows met.
    """

    FIELDS = {
        "rows": Array("int64", "queries, most", 0),
        "sums": Array("float64", "queries, most", 0.0),
        "size": Array("int64", "queries", 0),
        "settled": Array("int64", "queries", 0),
        "met": Array("int64", "queries", 0),
        "known": Part("MetRows"),
    }

    rows: np.ndarray
    sums: np.ndarray
    size: np.ndarray
    settled: np.ndarray
    met: np.ndarray
    known: MetRows

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(self.size.max(initial=0) <= sizes["most"], f"Answer.size is over {sizes['most']}")
        require(np.all(self.settled <= self.size), "Answer.settled is over its size")
        require(np.all(self.size <= self.met), "Answer.met is below its size")
        met = self.rows[np.arange(sizes["most"]) < self.size[:, None]]
        require(met.max(initial=-1) < len(self.known.number), "Answer.rows names rows that were not met")
