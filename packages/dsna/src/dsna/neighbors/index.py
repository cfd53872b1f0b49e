"""The index of training rows: their classes or targets, the trees that find them, the metric that compares them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np

from .._utils.invariants import FINITE, LARGEST, POSITIVE, Array, Checked, Choice, Number, Part, require
from .._utils.parallel import chunks
from .._utils.sums import ordered_sum, rowwise_product, weighted_sum
from ..forest.build import TrainingRows
from ..forest.held_out import N_FOLDS
from ..forest.learned_metric import metric_map
from ..forest.scaling import Scaling
from ..forest.trees import Trees
from .distance_kernel import distance_kernel
from .neighborhoods import KnownRows, Neighborhoods, Queries, leaf_neighbors, nearest_neighbors

LEAF_ROWS = 32  # training rows that a leaf keeps, where neighbourhoods are bounded
_NEW = -2
_FADE = 0.3
_FAINTEST = 1e-12
_FADE_CHUNK = 256
WIDEST_WEIGHTS = 1e150
_FARTHEST = 1e50
RAREST = 1e305


class Fold(NamedTuple):
    """Training rows of one held-out fold as queries to everything that has not seen the fold."""

    rows: np.ndarray  # (n,) the queries
    Q: np.ndarray  # (n, D) in the metric of the trees that left out the fold
    Z: np.ndarray  # (m, D) the neighbours of all queries, in the same metric
    known: np.ndarray  # (m,) which training rows those are
    near: Neighborhoods  # numbers rows of Z


class NeighborIndex(Checked):
    """Training rows, the trees that find them, and the metric that compares them.

    Attributes
    ----------
    label : (N, q) targets, or class numbers in one column.
    weight, fold : (N,) sample weights and held-out folds.
    scaling : common scale of the inputs.
    trees : the forest, or None for plain nearest neighbours.
    leaf_value, values : mean class shares or targets of each leaf; of each row where there are no trees.
    rarity : (N,) factor of a row beside its proximity where not all rows can be kept: inverse frequency of its class;
        ones in regression, where new rows would otherwise get other kernels than out-of-bag rows.
    forest_metric : whether distances are taken in the forest's metric or on the common scale.
    max_neighbors : most rows of a neighbourhood; None: all rows of the leaves.
    space : (d, D) map into the metric space.
    held : (H,) numbers of the rows that leaves hold or that were asked out of bag, rising; None: all rows. No other row
        can be a neighbour. Leaves of ``trees`` number the rows among these.
    Z : (H, D) these rows in the metric space.
    weighed : (N,) whether a row has had weight out of bag, or is rare, or was added later.
    """

    FIELDS = {
        "label": Array("float64", "rows, outputs", -LARGEST, LARGEST),
        "weight": Array("float64", "rows", low=0.0),
        "fold": Array("int64", "rows", _NEW, N_FOLDS - 1),
        "scaling": Part("Scaling", "features"),
        "rarity": Array("float64", "rows", POSITIVE, RAREST),
        "forest_metric": Choice((True, False)),
        "max_neighbors": Number(1, whole=True, none=True),
        "trees": Part("Trees", "leaves features", none=True),
        "values": Array("float64", "valued, averaged", -LARGEST, LARGEST),
        "leaf_value": Array("float64", "leaves, averaged", -LARGEST, LARGEST),
        "space": Array("float64", "features, dimensions", -_FARTHEST, _FARTHEST, none=True),
        "held": Array("int32", "placed", below="rows", none=True),
        "Z": Array("float64", "placed, dimensions", -LARGEST, LARGEST),
        "weighed": Array("bool", "rows"),
    }
    NOT_EMPTY = ("rows", "outputs", "averaged", "dimensions")

    label: np.ndarray
    weight: np.ndarray
    fold: np.ndarray
    scaling: Scaling
    rarity: np.ndarray
    forest_metric: bool
    max_neighbors: int | None
    trees: Trees | None
    values: np.ndarray
    leaf_value: np.ndarray
    space: np.ndarray | None
    held: np.ndarray | None = None
    Z: np.ndarray
    weighed: np.ndarray
    _kept: tuple[Any, np.ndarray, bool] | None = None  # of the rows that are held, for further queries

    def __getstate__(self) -> dict[str, Any]:
        """Of the attributes, those that are not quickly made again."""
        return {name: value for name, value in vars(self).items() if name != "_kept"}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Self:
        """An index of given attributes; those of format 4 hold all rows."""
        return super().restored({"held": None, **state})

    @classmethod
    def build(
        cls,
        rows: TrainingRows,
        label: np.ndarray,
        found_by: tuple[Trees | None, np.ndarray],
        forest_metric: bool,
        max_neighbors: int | None,
    ) -> NeighborIndex:
        """Index the training rows, found by trees and the means of their leaves.

        The index can be asked ``out_of_bag``; ``settle`` makes it ready for new rows.
        """
        self = cls()
        self.label = np.ascontiguousarray(label, dtype=np.float64)
        self.weight = rows.weight
        self.fold = rows.fold
        self.scaling = rows.scaling
        self.rarity = rows.targets.gain if rows.targets.n_classes else np.ones(len(label))
        self.forest_metric = forest_metric
        self.max_neighbors = max_neighbors
        self.trees, self.leaf_value = found_by
        values, code = rows.leaves.values, rows.leaves.code
        self.values = values[code] if self.trees is None else values[:0]
        return self

    def settle(self, rows: TrainingRows, weighed: np.ndarray, asked: np.ndarray | None = None) -> None:
        """Place the training rows in the metric of all trees, and drop what only ``out_of_bag`` needs.

        Given the rows ``asked`` out of bag, only these are placed, and those that leaves hold.
        """
        self.weighed = weighed
        if asked is not None:
            holding = self._holding(asked)
            self.held, self.trees = holding.held, holding.trees
        self.space = self._space(None)
        self.Z = rows.placed(self.space, self.held)
        if self.trees is not None:
            self.trees = self.trees.without_metric()
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        with np.errstate(over="ignore"):
            total = self.weight.sum()
        least = self.weight[self.weight > 0].min(initial=FINITE)
        comparable = 0 < total < FINITE and self.weight.max() / least <= WIDEST_WEIGHTS
        require(comparable, f"NeighborIndex.weight is zero everywhere, or differs by a factor over {WIDEST_WEIGHTS:g}")
        rows = sizes["rows"]
        if self.trees is None:
            require(sizes["leaves"] == 0, "NeighborIndex.leaf_value describes leaves, but there are no trees")
            require(sizes["valued"] == rows, "NeighborIndex.values lacks rows")
        else:
            require(sizes["valued"] == 0, "NeighborIndex.values must be empty where there are trees")
            self.trees.check_rows(sizes["placed"])
        if self.held is None:
            require(sizes["placed"] == rows, "NeighborIndex.Z lacks rows")
        else:
            require(self.trees is not None, "NeighborIndex.held leaves out rows, but there are no trees")
            require(np.all(self.held[1:] > self.held[:-1]), "NeighborIndex.held does not rise")
        if self.space is None:
            require(
                sizes["dimensions"] == sizes["features"],
                "NeighborIndex.Z does not have the dimension of the inputs, and there is no map",
            )

    def _space(self, fold: int | None) -> np.ndarray | None:
        """(d, D) map into the metric space, from all trees or those that left out a fold; None is the identity."""
        if self.trees is None or not self.forest_metric:
            return None
        chosen = np.ones(self.trees.n_trees, dtype=bool) if fold is None else self.trees.left_out[:, fold]
        return metric_map(self.trees, chosen, len(self.scaling.offset))

    def _holding(self, asked: np.ndarray) -> NeighborIndex:
        """The same index, whose trees number only the rows that leaves hold or that are asked out of bag."""
        if self.trees is None:
            return self
        needed = np.zeros(len(self.label), dtype=bool)
        needed[self.trees.leaf_rows] = needed[asked] = True
        if needed.all():
            return self
        holding = copy(self)
        holding.held, holding.trees = np.flatnonzero(needed).astype(np.int32), self.trees.renumbered(needed)
        return holding

    def of_held(self, values: np.ndarray) -> np.ndarray:
        """Of values of all rows (N, ...), those of the rows that are held."""
        return values if self.held is None else values[self.held]

    def placed(self, rows: np.ndarray) -> np.ndarray:
        """Some of the rows that leaves hold or that were asked out of bag, in the metric space."""
        return np.asarray(self.Z[rows if self.held is None else np.searchsorted(self.held, rows)])

    def place(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Queries on the common scale and in the metric space."""
        scaled = self.scaling.transform(X)
        return scaled, scaled if self.space is None else rowwise_product(scaled, self.space)

    def neighbors(
        self,
        scaled: np.ndarray,
        Q: np.ndarray,
        fold: int | np.ndarray = -1,
        n_jobs: int | None = None,
    ) -> Neighborhoods:
        """Neighbourhoods of queries; with a held-out fold (or one of each query), by trees and rows outside it only."""
        near = self._neighbors(Queries(scaled, Q, np.broadcast_to(fold, len(Q))), self.Z, n_jobs)
        if self.held is not None:
            near = Neighborhoods(self.held[near.rows].astype(np.int64), near.proximity, near.size, near.vote, near.rows)
        if self.trees is not None and self.fold[-1] == _NEW:
            self._fade(near, Q)
        return near

    def _neighbors(self, queries: Queries, Z: np.ndarray, n_jobs: int | None) -> Neighborhoods:
        """Neighbourhoods whose rows are numbered among those that are held, as they are in ``Z``."""
        queries = queries._replace(fold=np.array(queries.fold, dtype=np.int64))
        known = self._known(Z, new=bool(np.all(queries.fold < 0)))
        if self.trees is None:
            most = 100 if self.max_neighbors is None else self.max_neighbors
            return nearest_neighbors(self.values, known, queries, most, n_jobs)
        return leaf_neighbors(self.trees, self.leaf_value, known, queries, self.max_neighbors, n_jobs)

    def _known(self, Z: np.ndarray, new: bool) -> KnownRows:
        """What is known of the rows that are held; folds, which ``new`` queries do not ask for, may be of all rows."""
        of = (self.held, self.weight, self.rarity)
        if self._kept is None or any(then is not now for then, now in zip(self._kept[0], of, strict=True)):
            self._kept = of, self.of_held(self.rarity), bool(np.all(self.of_held(self.weight) == 1.0))
        rarity, even = self._kept[1:]
        fold = self.fold if new else self.of_held(self.fold)
        return KnownRows(Z, fold, self.weight if even else self.of_held(self.weight), rarity, even)

    def _fade(self, near: Neighborhoods, Q: np.ndarray) -> None:
        """Let proximities and the vote decay with distance in neighbourhoods that hold added rows.

        The trees were not grown to separate added rows from the others of a leaf: without this, a few rows of a new
        class would win all queries of the large, formerly pure leaves that they fall into.
        """
        n_values = self.leaf_value.shape[1]
        for part in chunks(len(Q), _FADE_CHUNK):
            inside = np.arange(near.rows.shape[1]) < near.size[part, None]
            met = part.start + np.flatnonzero(np.any(inside & (self.fold[near.rows[part]] == _NEW), axis=1))
            rows, proximity = near.rows[met], near.proximity[met]
            away = np.sqrt(np.sum((self.Z[near.places[met]] - Q[met, None]) ** 2, axis=2))
            faded = proximity * np.maximum(distance_kernel(away, near.size[met], _FADE), _FAINTEST)
            faded *= (ordered_sum(proximity) / ordered_sum(faded))[:, None]
            label = self.label[rows]
            values = label if label.shape[2] == n_values else (label == np.arange(n_values)).astype(np.float64)
            near.proximity[met] = faded
            near.vote[met] = weighted_sum(faded / ordered_sum(faded)[:, None], values)

    def out_of_bag(self, rows: TrainingRows, asked: np.ndarray, n_jobs: int | None = None) -> Iterator[Fold]:
        """The training rows ``asked``, fold by fold, as queries to trees, metric and rows that never saw them."""
        holding = self._holding(asked)
        for fold in range(N_FOLDS):
            others = (self.fold != fold) & (self.weight > 0)
            unseen = self.trees is None or bool(self.trees.left_out[:, fold].any())
            some = asked[self.fold[asked] == fold]
            if len(some) and others.any() and unseen:
                yield holding._as_queries(rows, some, fold, n_jobs)

    def _as_queries(self, rows: TrainingRows, asked: np.ndarray, fold: int, n_jobs: int | None) -> Fold:
        Z = rows.placed(self._space(fold), self.held)
        Q = Z[asked if self.held is None else np.searchsorted(self.held, asked)]
        near = self._neighbors(Queries(rows.scaled(asked), Q, np.full(len(asked), fold)), Z, n_jobs)
        known, at = np.unique(near.rows, return_inverse=True)
        compact = Neighborhoods(at.reshape(near.rows.shape).astype(np.int64), near.proximity, near.size, near.vote)
        return Fold(asked, Q, Z[known], known if self.held is None else self.held[known].astype(np.int64), compact)

    def add(self, X: np.ndarray, label: np.ndarray, values: np.ndarray, rarity: np.ndarray) -> None:
        """Send new rows into the leaves, so that they are neighbours from now on.

        Parameters
        ----------
        X, label, values : new rows, their classes or targets, and what leaves average.
        rarity : inverse frequencies of all rows, old and new.
        """
        first, n_placed = len(self.label), len(self.Z)
        scaled, Q = self.place(X)
        if self.trees is not None:
            leaves = self.trees.apply(scaled).ravel()
            rows = np.repeat(np.arange(n_placed, n_placed + len(X), dtype=np.int32), self.trees.n_trees)
            self.trees = self.trees.with_rows(leaves, rows)
        else:
            self.values = np.concatenate([self.values, values])
        self.Z = np.concatenate([self.Z, Q])
        if self.held is not None:
            self.held = np.concatenate([self.held, np.arange(first, first + len(X), dtype=np.int32)])
        self.label = np.concatenate([self.label, label])
        self.weight = np.concatenate([self.weight, np.ones(len(X))])
        self.fold = np.concatenate([self.fold, np.full(len(X), _NEW)])
        self.weighed = np.concatenate([self.weighed, np.ones(len(X), dtype=bool)])
        self.rarity = rarity
