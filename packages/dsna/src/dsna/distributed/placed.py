"""Rows on the shards of an engine, and the passes that put them there."""

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
from .asking.messages import Forest, Request
from .asking.neighbors import Found, ask, merge
from .blocks import Roles
from .count import Totals, add_up, summarize
from .sampling import FoldRule, Sample, offer, quotas, settle_sample
from .shards import Placement, joined_shard, leaf_weights, place, reach, settle
from .sums.leaves import LeafSums, add_sums, split_weights
from .sums.targets import LEAST_DISTINCT, TargetSums, add_targets, count_targets
from .sums.trend import TrendPass, add_trend_sums, trend_sums


class Engine(Protocol):
    """What moves work to data: handles stand for results, wherever they are."""

    name: str

    def submit(self, function: Any, *arguments: Any) -> Any:
        """A handle of what the function makes of arguments and of what handles among them stand for."""

    def gather(self, handles: Iterable[Any]) -> list[Any]:
        """The results that handles stand for."""

    def broadcast(self, value: Any) -> Any:
        """A handle of a value that many tasks use."""

    def release(self, handles: Iterable[Any]) -> None:
        """Forget results that are not needed any more."""

    def abandon(self) -> None:
        """Forget all results: the work that they were made for has failed."""


class PlacedRows:
    """Rows on shards, the forest that finds them, and while a regression is learned its targets by fold."""

    def __init__(self, engine: Engine, shards: list[Any], forest: Forest, targets: TargetSums | None = None):
        self.engine, self.shards, self.forest, self.targets = engine, shards, forest, targets

    def found(self, request: Request) -> Found:
        """Neighbourhoods of queries among the rows of all shards."""
        asked = self.engine.broadcast(request)
        answers = self.engine.gather([self.engine.submit(ask, shard, asked) for shard in self.shards])
        return merge(self.forest, request, answers)

    def settled(self, space: np.ndarray | None, trend: Any) -> PlacedRows:
        """The same rows in the metric space, with the trend at them."""
        engine = self.engine
        told = [engine.broadcast(space), engine.broadcast(trend)]
        shards = [engine.submit(settle, shard, *told) for shard in self.shards]
        engine.gather([engine.submit(_rows_of, shard) for shard in shards])
        engine.release(self.shards)
        return PlacedRows(engine, shards, self.forest)


def _rows_of(shard: Any) -> int:
    return int(shard.n_rows)


class Passes:
    """The passes over the partitions of a table, on an engine.

    Parameters
    ----------
    engine : where the work is done.
    partitions : handles of the partitions.
    seed : of the sample, and of what leaves keep.
    most : rows of the sample, and different targets that are counted one by one.
    shard_rows : rows of a shard, about.
    verbose : whether progress is shown.
    """

    def __init__(
        self, engine: Engine, partitions: Sequence[Any], seed: int, most: int, shard_rows: int, verbose: int = 0
    ):
        self.engine, self.partitions, self.seed = engine, list(partitions), seed
        self.most, self.most_targets = most, max(most, LEAST_DISTINCT)
        self.shard_rows, self.verbose = shard_rows, verbose

    def _each(self, function: Any, what: str, *arguments: Any) -> Iterator[Any]:
        """Handles of a function of every partition and its number."""
        parts = enumerate(self.partitions)
        shown = tracked(parts, len(self.partitions), f"partitions {what}" * bool(self.verbose))
        return (self.engine.submit(function, part, number, *arguments) for number, part in shown)

    def count(self, roles: Roles, classification: bool, scaling: str) -> tuple[Totals, TargetSums | None]:
        """What all partitions hold, and of a regression its targets."""
        summaries = self.engine.gather(self._each(summarize, "counted", roles, classification))
        totals = add_up(summaries, roles, classification, scaling)
        if classification:
            return totals, None
        told = self.engine.broadcast(totals)
        targets: TargetSums = self._summed(count_targets, add_targets, "counted", told, self.most_targets)
        counts, weights = (one.sum(axis=1) for one in (targets.range_count, targets.range_weight))
        return totals._replace(counts=counts.astype(np.int64), weights=weights), targets

    def _summed(self, function: Any, add: Any, what: str, *arguments: Any) -> Any:
        """What a function makes of every partition, added up on the engine one after another."""
        sums = None
        for own in self._each(function, what, *arguments):
            sums = own if sums is None else self.engine.submit(add, sums, own)
        return self.engine.gather([sums])[0]

    def sample(self, totals: Totals) -> tuple[Sample, FoldRule]:
        """A bounded sample of all rows, with held-out folds, and the rule of these."""
        quota = quotas(totals.counts, self.most)
        told = self.engine.broadcast(totals)
        offers = self.engine.gather(self._each(offer, "sampled", told, quota, self.seed))
        sample = settle_sample(offers, totals, quota)
        rule = FoldRule.of(sample, totals, quota)
        return sample._replace(fold=rule.folds(sample.number, sample.fold)), rule

    def place(self, totals: Totals, rule: FoldRule, trees: Trees, most: tuple[int | None, int | None]) -> PlacedRows:
        """All rows in the leaves of the trees; ``most`` rows of a leaf, and of a neighbourhood.

        The trees of what is returned weigh their splits in the metric by all rows.
        """
        engine = self.engine
        how = Placement(totals, trees, rule, most[0], self.most_targets, self.seed)
        placement = engine.broadcast(how)
        reached: LeafSums = self._summed(reach, add_sums, "counted in leaves", placement)
        share = engine.broadcast(how.kept_share(reached.counts))
        pieces = list(self._each(place, "placed", placement, share))
        # Of many rows, leaves keep few: what few rows are left is joined, for every shard costs time when it is asked.
        groups = self._groups(engine.gather([engine.submit(_rows_of, piece) for piece in pieces]))
        shards = [engine.submit(joined_shard, *(pieces[k] for k in group)) for group in groups]
        kept = engine.gather([engine.submit(leaf_weights, shard) for shard in shards])
        engine.release(pieces)
        n_classes, kept_weight = 0 if totals.classes is None else len(totals.classes), np.sum(kept, axis=0)
        with damage_refused("what workers have summed", "Fit again."):
            weighed = Trees(**{**trees.state, "metric_weight": split_weights(reached, totals, trees)})
            forest = Forest(weighed, reached.values(totals), kept_weight, rarity_of(totals), most[1], n_classes)
        return PlacedRows(engine, shards, forest, reached.targets)

    def trend_sums(self, totals: Totals, rule: FoldRule, columns: TrendColumns, density: Any) -> FoldSums:
        """Sums of all rows that a trend is solved from; rows weigh one on average."""
        told = self.engine.broadcast(TrendPass(totals, rule, self.seed, columns, density))
        found: FoldSums = self._summed(trend_sums, add_trend_sums, "summed for the trend", told)
        return found.times(totals.counts.sum() / found.total)

    def _groups(self, sizes: Any) -> list[list[int]]:
        """Parts, given their rows, that make up a shard each, one after another."""
        groups: list[list[int]] = [[]]
        rows = 0
        for k, n in enumerate(sizes):
            if groups[-1] and rows + n > self.shard_rows:
                groups.append([])
                rows = 0
            groups[-1].append(k)
            rows += n
        return groups


class AllRows(NamedTuple):
    """The rows of all partitions, once they are counted and a sample is drawn."""

    passes: Passes
    totals: Totals
    rule: FoldRule
    targets: TargetSums | None  # of a regression

    def place(self, trees: Trees, most: int | None) -> PlacedRows:
        """All rows in the leaves of the trees, so many of a neighbourhood at most."""
        return self.passes.place(self.totals, self.rule, trees, (None if most is None else LEAF_ROWS, most))

    def trend_sums(self, columns: TrendColumns, density: Any) -> FoldSums:
        """Sums of all rows that a trend is solved from."""
        return self.passes.trend_sums(self.totals, self.rule, columns, density)


def rarity_of(totals: Totals) -> np.ndarray:
    """(strata,) factor of the rank of a row: inverse frequency of its class; ones in a regression."""
    if totals.classes is None:
        return np.ones(totals.n_strata)
    share = np.maximum(totals.weights / totals.weights.sum(), 1e-300)
    return np.asarray(1.0 / (len(share) * share))
