"""The passes over the partitions of a table, and the shards that they build on an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._utils.invariants import damage_refused
from .._utils.progress import tracked
from ..forest.trees import Trees
from ..neighbors.index import LEAF_ROWS
from ..trend.ridge import FoldSums
from ..trend.trend import TrendColumns
from .asking.messages import DistributedForest, Request
from .asking.neighbors import MergedNeighbors, merge, query_shard
from .blocks import Roles
from .count import Totals, merge_summaries, summarize
from .sampling import FoldRule, Sample, merge_offers, offer, quotas
from .shards import Placement, Shard, finish_shard, leaf_weights, partition_leaf_sums, place
from .sums.leaves import LeafSums, add_sums, split_weights
from .sums.targets import MIN_DISTINCT, TargetSums, add_targets, count_targets
from .sums.trend import TrendPass, trend_sums


class Engine(Protocol):
    """Interface of an engine: it runs functions close to their data, and returns handles in place of results."""

    name: str

    def submit(self, function: Any, *arguments: Any) -> Any:
        """Return a handle of the result; handles among the arguments are replaced with their results."""

    def gather(self, handles: Iterable[Any]) -> list[Any]:
        """Return the results of handles."""

    def broadcast(self, value: Any) -> Any:
        """Return a handle of a value that many tasks use."""

    def release(self, handles: Iterable[Any]) -> None:
        """Delete results that are no longer needed."""

    def abandon(self) -> None:
        """Delete all results after a failure."""


class PlacedRows:
    """Rows on shards, the forest that finds them and, while a regression is learned, its targets by fold."""

    def __init__(self, engine: Engine, shards: list[Any], forest: DistributedForest, targets: TargetSums | None = None):
        self.engine, self.shards, self.forest, self.targets = engine, shards, forest, targets

    def neighbors(self, request: Request) -> MergedNeighbors:
        """Find the neighbourhoods of queries among the rows of all shards."""
        request_handle = self.engine.broadcast(request)
        handles = [self.engine.submit(query_shard, shard, request_handle) for shard in self.shards]
        return merge(self.forest, request, self.engine.gather(handles))

    def finished(self, space: np.ndarray | None, trend: Any) -> PlacedRows:
        """Return the same rows in the metric space, with the trend at them."""
        engine = self.engine
        space_handle, trend_handle = engine.broadcast(space), engine.broadcast(trend)
        shards = [engine.submit(finish_shard, shard, space_handle, trend_handle) for shard in self.shards]
        engine.gather([engine.submit(_shard_size, shard) for shard in shards])
        engine.release(self.shards)
        return PlacedRows(engine, shards, self.forest)


def _shard_size(shard: Any) -> int:
    return int(shard.n_rows)


class Passes:
    """The passes over the partitions of a table, on an engine.

    Parameters
    ----------
    engine : runs the passes.
    partitions : handles of the partitions.
    seed : of the sample, and of the draw of the rows that leaves keep.
    sample_size : rows of the sample, and distinct targets that are counted one by one, at least ``MIN_DISTINCT``.
    shard_rows : approximate number of rows of a shard.
    verbose : whether progress is shown.
    """

    def __init__(
        self, engine: Engine, partitions: Sequence[Any], seed: int, sample_size: int, shard_rows: int, verbose: int = 0
    ):
        self.engine, self.partitions, self.seed = engine, list(partitions), seed
        self.sample_size, self.max_distinct = sample_size, max(sample_size, MIN_DISTINCT)
        self.shard_rows, self.verbose = shard_rows, verbose

    def _submit_all(self, function: Any, label: str, *arguments: Any) -> Iterator[Any]:
        """Submit a function of every partition and its number; yield the handles."""
        numbered_partitions = enumerate(self.partitions)
        tracked_partitions = tracked(
            numbered_partitions, len(self.partitions), f"partitions {label}" * bool(self.verbose)
        )
        return (self.engine.submit(function, data, number, *arguments) for number, data in tracked_partitions)

    def count(self, roles: Roles, classification: bool, scaling: str) -> tuple[Totals, TargetSums | None]:
        """Count all partitions; for a regression, count the targets, too."""
        summaries = self.engine.gather(self._submit_all(summarize, "counted", roles, classification))
        totals = merge_summaries(summaries, roles, classification, scaling)
        if classification:
            return totals, None
        totals_handle = self.engine.broadcast(totals)
        targets: TargetSums = self._sum(count_targets, add_targets, "counted", totals_handle, self.max_distinct)
        counts, weights = targets.range_count.sum(axis=1), targets.range_weight.sum(axis=1)
        return totals._replace(counts=counts.astype(np.int64), weights=weights), targets

    def _sum(self, function: Any, add: Any, label: str, *arguments: Any) -> Any:
        """Add up the results of a function of every partition, on the engine and in the order of the partitions."""
        total = None
        for handle in self._submit_all(function, label, *arguments):
            total = handle if total is None else self.engine.submit(add, total, handle)
        return self.engine.gather([total])[0]

    def sample(self, totals: Totals) -> tuple[Sample, FoldRule]:
        """Draw a bounded sample of all rows with held-out folds; return it with the assignment of folds."""
        quota = quotas(totals.counts, self.sample_size)
        totals_handle = self.engine.broadcast(totals)
        offers = self.engine.gather(self._submit_all(offer, "sampled", totals_handle, quota, self.seed))
        sample = merge_offers(offers, totals, quota)
        rule = FoldRule.of(sample, totals, quota)
        return sample._replace(fold=rule.folds(sample.number, sample.fold)), rule

    def place(
        self, totals: Totals, rule: FoldRule, trees: Trees, row_limits: tuple[int | None, int | None]
    ) -> PlacedRows:
        """Put the rows that leaves keep on shards; ``row_limits`` are the rows of a leaf and of a neighbourhood.

        The trees of the result weight their splits in the metric by all rows.
        """
        engine = self.engine
        leaf_rows, max_neighbors = row_limits
        placement = Placement(totals, trees, rule, leaf_rows, self.max_distinct, self.seed)
        handle = engine.broadcast(placement)
        sums: LeafSums = self._sum(partition_leaf_sums, add_sums, "counted in leaves", handle)
        share = engine.broadcast(placement.kept_share(sums.counts))
        pieces = list(self._submit_all(place, "placed", handle, share))
        # Leaves keep few rows, so small pieces are joined: every shard adds time to a query.
        groups = self._groups(engine.gather([engine.submit(_shard_size, piece) for piece in pieces]))
        shards = [engine.submit(Shard.join, *(pieces[k] for k in group)) for group in groups]
        shard_weights = engine.gather([engine.submit(leaf_weights, shard) for shard in shards])
        engine.release(pieces)
        n_classes, leaf_total = 0 if totals.classes is None else len(totals.classes), np.sum(shard_weights, axis=0)
        with damage_refused("the sums of the workers", "Fit again."):
            weighted_trees = Trees(**{**trees.state, "metric_weight": split_weights(sums, totals, trees)})
            forest = DistributedForest(
                weighted_trees, sums.values(totals), leaf_total, rarity_of(totals), max_neighbors, n_classes
            )
        return PlacedRows(engine, shards, forest, sums.targets)

    def trend_sums(self, totals: Totals, rule: FoldRule, columns: TrendColumns, density: Any) -> FoldSums:
        """Sum over all rows what a trend is solved from; the mean weight of a row is 1."""
        settings = self.engine.broadcast(TrendPass(totals, rule, self.seed, columns, density))
        sums: FoldSums = self._sum(trend_sums, FoldSums.plus, "summed for the trend", settings)
        return sums.times(totals.counts.sum() / sums.total)

    def _groups(self, sizes: Any) -> list[list[int]]:
        """Group consecutive pieces, given their numbers of rows, into shards."""
        groups: list[list[int]] = [[]]
        n_rows = 0
        for piece, size in enumerate(sizes):
            if groups[-1] and n_rows + size > self.shard_rows:
                groups.append([])
                n_rows = 0
            groups[-1].append(piece)
            n_rows += size
        return groups


class AllRows(NamedTuple):
    """The rows of all partitions, after they are counted and a sample is drawn."""

    passes: Passes
    totals: Totals
    rule: FoldRule
    targets: TargetSums | None  # of a regression

    def place(self, trees: Trees, max_neighbors: int | None) -> PlacedRows:
        """Put the rows that leaves keep on shards, for neighbourhoods of at most ``max_neighbors`` rows."""
        leaf_rows = None if max_neighbors is None else LEAF_ROWS
        return self.passes.place(self.totals, self.rule, trees, (leaf_rows, max_neighbors))

    def trend_sums(self, columns: TrendColumns, density: Any) -> FoldSums:
        """Sum over all rows what a trend is solved from."""
        return self.passes.trend_sums(self.totals, self.rule, columns, density)


def rarity_of(totals: Totals) -> np.ndarray:
    """(strata,) factor of the rank of a row: inverse frequency of its class; 1 in a regression."""
    if totals.classes is None:
        return np.ones(totals.n_strata)
    share = np.maximum(totals.weights / totals.weights.sum(), 1e-300)
    return np.asarray(1.0 / (len(share) * share))
