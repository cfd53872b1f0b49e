"""Index of training rows: their classes or targets, the trees that find them, the metric that compares them."""

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
from .neighborhoods import CandidateRows, Neighborhoods, Queries, leaf_neighbors, nearest_neighbors

LEAF_ROWS = 32  # maximum number of training rows of a leaf if neighbourhoods are bounded
_NEW = -2
_FADE_BANDWIDTH = 0.3
_MIN_FADE = 1e-12
_FADE_CHUNK = 256
MAX_WEIGHT_RATIO = 1e150
_MAX_MAP_ENTRY = 1e50
MAX_RARITY = 1e305


class Fold(NamedTuple):
    """Training rows of one held-out fold, and their out-of-bag neighbourhoods."""

    rows: np.ndarray  # (n,) the queries
    Q: np.ndarray  # (n, D) in the metric of the trees that left out the fold
    Z: np.ndarray  # (m, D) the neighbours of all queries, in the same metric
    neighbor_rows: np.ndarray  # (m,) training row of each row of Z
    near: Neighborhoods  # numbers rows of Z


class NeighborIndex(Checked):
    """Index of training rows, with the trees that find them and the metric that compares them.

    Attributes
    ----------
    label : (N, q) targets, or class numbers in one column.
    weight, fold : (N,) sample weights and held-out folds.
    scaling : common scale of the inputs.
    trees : the forest, or None for plain nearest neighbours.
    leaf_value, values : mean class shares or targets of each leaf; without trees, those of each row.
    rarity : (N,) factor of a row's proximity when the neighbours to keep are selected: inverse frequency of its class;
        ones in regression, where new rows would otherwise get other kernels than out-of-bag rows.
    forest_metric : whether distances are computed in the forest's metric; otherwise on the common scale.
    max_neighbors : maximum size of a neighbourhood; None: all rows of the leaves.
    space : (d, D) map into the metric space; None: the identity.
    held : (H,) ascending numbers of the rows that are in leaves or have out-of-bag predictions; None: all rows. Other
        rows cannot be neighbours. The leaves of ``trees`` hold positions in this array.
    Z : (H, D) the held rows in the metric space.
    weighed : (N,) whether a row is rare, had weight in an out-of-bag prediction, or was added later.
    """

    FIELDS = {
        "label": Array("float64", "rows, outputs", -LARGEST, LARGEST),
        "weight": Array("float64", "rows", low=0.0),
        "fold": Array("int64", "rows", _NEW, N_FOLDS - 1),
        "scaling": Part("Scaling", "features"),
        "rarity": Array("float64", "rows", POSITIVE, MAX_RARITY),
        "forest_metric": Choice((True, False)),
        "max_neighbors": Number(1, whole=True, none=True),
        "trees": Part("Trees", "leaves features", none=True),
        "values": Array("float64", "valued, averaged", -LARGEST, LARGEST),
        "leaf_value": Array("float64", "leaves, averaged", -LARGEST, LARGEST),
        "space": Array("float64", "features, dimensions", -_MAX_MAP_ENTRY, _MAX_MAP_ENTRY, none=True),
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
    _held_arrays: tuple[Any, np.ndarray, bool] | None = None  # cached for further queries

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes but cached ones."""
        return {name: value for name, value in vars(self).items() if name != "_held_arrays"}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Self:
        """Restore an index from its attributes; those of format 4 hold all rows."""
        return super().restored({"held": None, **state})

    @classmethod
    def build(
        cls,
        rows: TrainingRows,
        label: np.ndarray,
        forest: tuple[Trees | None, np.ndarray],
        forest_metric: bool,
        max_neighbors: int | None,
    ) -> NeighborIndex:
        """Build the index of training rows from a forest, given as trees and the means of their leaves.

        The index is ready for ``out_of_bag``; call ``finish`` before querying it with new rows.
        """
        self = cls()
        self.label = np.ascontiguousarray(label, dtype=np.float64)
        self.weight = rows.weight
        self.fold = rows.fold
        self.scaling = rows.scaling
        self.rarity = rows.targets.gain if rows.targets.n_classes else np.ones(len(label))
        self.forest_metric = forest_metric
        self.max_neighbors = max_neighbors
        self.trees, self.leaf_value = forest
        values, code = rows.leaves.values, rows.leaves.code
        self.values = values[code] if self.trees is None else values[:0]
        return self

    def finish(self, rows: TrainingRows, weighed: np.ndarray, oob_rows: np.ndarray | None = None) -> None:
        """Map the training rows into the metric of all trees, and drop data that only ``out_of_bag`` needs.

        If ``oob_rows`` are given, only these and the rows in leaves are kept in the metric space.
        """
        self.weighed = weighed
        if oob_rows is not None:
            restricted = self._restricted(oob_rows)
            self.held, self.trees = restricted.held, restricted.trees
        self.space = self._space(None)
        self.Z = rows.mapped(self.space, self.held)
        if self.trees is not None:
            self.trees = self.trees.without_metric()
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        with np.errstate(over="ignore"):
            total = self.weight.sum()
        smallest = self.weight[self.weight > 0].min(initial=FINITE)
        is_comparable = 0 < total < FINITE and self.weight.max() / smallest <= MAX_WEIGHT_RATIO
        require(
            is_comparable,
            f"NeighborIndex.weight is zero everywhere, or varies by more than a factor of {MAX_WEIGHT_RATIO:g}",
        )
        n_rows = sizes["rows"]
        if self.trees is None:
            require(sizes["leaves"] == 0, "NeighborIndex.leaf_value describes leaves, but there are no trees")
            require(sizes["valued"] == n_rows, "NeighborIndex.values has the wrong number of rows")
        else:
            require(sizes["valued"] == 0, "NeighborIndex.values must be empty if there are trees")
            self.trees.check_rows(sizes["placed"])
        if self.held is None:
            require(sizes["placed"] == n_rows, "NeighborIndex.Z has the wrong number of rows")
        else:
            require(self.trees is not None, "NeighborIndex.held excludes rows, but there are no trees")
            require(np.all(self.held[1:] > self.held[:-1]), "NeighborIndex.held is not in ascending order")
        if self.space is None:
            require(
                sizes["dimensions"] == sizes["features"],
                "NeighborIndex.Z needs one column for each input, because there is no map",
            )

    def _space(self, fold: int | None) -> np.ndarray | None:
        """(d, D) map into the metric of all trees, or of those that left out a fold; None is the identity."""
        if self.trees is None or not self.forest_metric:
            return None
        tree_mask = np.ones(self.trees.n_trees, dtype=bool) if fold is None else self.trees.left_out[:, fold]
        return metric_map(self.trees, tree_mask, len(self.scaling.offset))

    def _restricted(self, oob_rows: np.ndarray) -> NeighborIndex:
        """Return a copy whose trees number only the rows that are in leaves or among ``oob_rows``."""
        if self.trees is None:
            return self
        is_held = np.zeros(len(self.label), dtype=bool)
        is_held[self.trees.leaf_rows] = is_held[oob_rows] = True
        if is_held.all():
            return self
        restricted = copy(self)
        restricted.held, restricted.trees = np.flatnonzero(is_held).astype(np.int32), self.trees.renumbered(is_held)
        return restricted

    def held_values(self, values: np.ndarray) -> np.ndarray:
        """Select the values of the held rows from those of all rows (N, ...)."""
        return values if self.held is None else values[self.held]

    def mapped_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return given rows, which must be held, in the metric space."""
        return np.asarray(self.Z[rows if self.held is None else np.searchsorted(self.held, rows)])

    def scale_and_map(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return queries on the common scale and in the metric space."""
        scaled = self.scaling.transform(X)
        return scaled, scaled if self.space is None else rowwise_product(scaled, self.space)

    def neighbors(
        self,
        scaled: np.ndarray,
        Q: np.ndarray,
        fold: int | np.ndarray = -1,
        n_jobs: int | None = None,
    ) -> Neighborhoods:
        """Find the neighbourhoods of queries; given held-out folds, with trees and rows that are not in the fold."""
        neighborhoods = self._neighbors(Queries(scaled, Q, np.broadcast_to(fold, len(Q))), self.Z, n_jobs)
        if self.held is not None:
            rows = self.held[neighborhoods.rows].astype(np.int64)
            neighborhoods = neighborhoods.with_rows(rows, positions=neighborhoods.rows)
        if self.trees is not None and self.fold[-1] == _NEW:
            self._fade(neighborhoods, Q)
        return neighborhoods

    def _neighbors(self, queries: Queries, Z: np.ndarray, n_jobs: int | None) -> Neighborhoods:
        """Find neighbourhoods whose rows are positions in ``Z``."""
        queries = queries._replace(fold=np.array(queries.fold, dtype=np.int64))
        candidates = self._candidates(Z, new=bool(np.all(queries.fold < 0)))
        if self.trees is None:
            n_neighbors = 100 if self.max_neighbors is None else self.max_neighbors
            return nearest_neighbors(self.values, candidates, queries, n_neighbors, n_jobs)
        return leaf_neighbors(self.trees, self.leaf_value, candidates, queries, self.max_neighbors, n_jobs)

    def _candidates(self, Z: np.ndarray, new: bool) -> CandidateRows:
        """Return the held rows as candidates; for ``new`` queries, folds are not read and may be those of all rows."""
        sources = (self.held, self.weight, self.rarity)
        cached = self._held_arrays
        if cached is None or any(old is not current for old, current in zip(cached[0], sources, strict=True)):
            unit_weights = bool(np.all(self.held_values(self.weight) == 1.0))
            cached = self._held_arrays = sources, self.held_values(self.rarity), unit_weights
        rarity, unit_weights = cached[1:]
        fold = self.fold if new else self.held_values(self.fold)
        weight = self.weight if unit_weights else self.held_values(self.weight)
        return CandidateRows(Z, fold, weight, rarity, unit_weights)

    def _fade(self, neighborhoods: Neighborhoods, Q: np.ndarray) -> None:
        """Let proximities and the vote decay with distance in neighbourhoods with rows that were added after ``fit``.

        The trees were not grown to separate added rows from the others of a leaf. Without the decay, a few rows of a
        new class would dominate all queries in the large, formerly pure leaves that they fall into.
        """
        n_values = self.leaf_value.shape[1]
        for chunk in chunks(len(Q), _FADE_CHUNK):
            is_neighbor = np.arange(neighborhoods.rows.shape[1]) < neighborhoods.size[chunk, None]
            is_added = is_neighbor & (self.fold[neighborhoods.rows[chunk]] == _NEW)
            faded_queries = chunk.start + np.flatnonzero(np.any(is_added, axis=1))
            rows, proximity = neighborhoods.rows[faded_queries], neighborhoods.proximity[faded_queries]
            differences = self.Z[neighborhoods.positions[faded_queries]] - Q[faded_queries, None]
            distances = np.sqrt(np.sum(differences**2, axis=2))
            decay = distance_kernel(distances, neighborhoods.size[faded_queries], _FADE_BANDWIDTH)
            faded = proximity * np.maximum(decay, _MIN_FADE)
            faded *= (ordered_sum(proximity) / ordered_sum(faded))[:, None]
            label = self.label[rows]
            values = label if label.shape[2] == n_values else (label == np.arange(n_values)).astype(np.float64)
            neighborhoods.proximity[faded_queries] = faded
            neighborhoods.vote[faded_queries] = weighted_sum(faded / ordered_sum(faded)[:, None], values)

    def out_of_bag(self, rows: TrainingRows, oob_rows: np.ndarray, n_jobs: int | None = None) -> Iterator[Fold]:
        """Find the neighbourhoods of training rows, fold by fold, with trees, metric and rows outside the fold."""
        restricted = self._restricted(oob_rows)
        for fold in range(N_FOLDS):
            is_candidate = (self.fold != fold) & (self.weight > 0)
            can_query = self.trees is None or bool(self.trees.left_out[:, fold].any())
            fold_rows = oob_rows[self.fold[oob_rows] == fold]
            if len(fold_rows) and is_candidate.any() and can_query:
                yield restricted._fold_queries(rows, fold_rows, fold, n_jobs)

    def _fold_queries(self, rows: TrainingRows, query_rows: np.ndarray, fold: int, n_jobs: int | None) -> Fold:
        Z = rows.mapped(self._space(fold), self.held)
        Q = Z[query_rows if self.held is None else np.searchsorted(self.held, query_rows)]
        neighborhoods = self._neighbors(Queries(rows.scaled(query_rows), Q, np.full(len(query_rows), fold)), Z, n_jobs)
        neighbor_rows, positions = np.unique(neighborhoods.rows, return_inverse=True)
        renumbered = neighborhoods.with_rows(positions.reshape(neighborhoods.rows.shape).astype(np.int64))
        Z = Z[neighbor_rows]
        if self.held is not None:
            neighbor_rows = self.held[neighbor_rows].astype(np.int64)
        return Fold(query_rows, Q, Z, neighbor_rows, renumbered)

    def add(self, X: np.ndarray, label: np.ndarray, values: np.ndarray, rarity: np.ndarray) -> None:
        """Add new rows to the leaves, as possible neighbours of later queries.

        Parameters
        ----------
        X, label, values : new rows, their classes or targets, and the values that leaves average.
        rarity : rarity of all rows, old and new.
        """
        n_rows, n_held = len(self.label), len(self.Z)
        scaled, Q = self.scale_and_map(X)
        if self.trees is not None:
            leaves = self.trees.apply(scaled).ravel()
            rows = np.repeat(np.arange(n_held, n_held + len(X), dtype=np.int32), self.trees.n_trees)
            self.trees = self.trees.with_rows(leaves, rows)
        else:
            self.values = np.concatenate([self.values, values])
        self.Z = np.concatenate([self.Z, Q])
        if self.held is not None:
            self.held = np.concatenate([self.held, np.arange(n_rows, n_rows + len(X), dtype=np.int32)])
        self.label = np.concatenate([self.label, label])
        self.weight = np.concatenate([self.weight, np.ones(len(X))])
        self.fold = np.concatenate([self.fold, np.full(len(X), _NEW)])
        self.weighed = np.concatenate([self.weighed, np.ones(len(X), dtype=bool)])
        self.rarity = rarity
