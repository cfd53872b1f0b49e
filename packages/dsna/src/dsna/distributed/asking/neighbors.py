"""Neighbourhoods of a batch of queries: the best rows of each shard, and the best of all shards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._utils.invariants import damage_refused
from ..._utils.parallel import writable
from ..._utils.sums import rowwise_product
from ...forest.trees import Trees
from ...neighbors.neighborhoods import Neighborhoods
from ..shards import Shard
from .messages import Answer, Forest, MetRows, Request

_REMEDY = "Ask again, or load the model from a folder that was saved."


class Found(NamedTuple):
    """Neighbourhoods of a batch of queries among all rows."""

    near: Neighborhoods  # numbers the rows below
    rows: MetRows


def request(forest: Forest, scaled: np.ndarray, Q: np.ndarray) -> Request:
    """The request of new rows on the common scale and in the metric space."""
    reached = forest.trees.apply(scaled)
    fold = np.full(len(Q), -1, dtype=np.int64)
    return Request(reached, forest.leaf_total[reached], fold, Q, forest.rarity, forest.most, forest.n_classes)


def request_outside(forest: Forest, scaled: np.ndarray, Q: np.ndarray, fold: int, space: np.ndarray | None) -> Request:
    """The request of training rows of a held-out fold, to trees and rows that leave it out."""
    reached = forest.trees.apply(scaled)
    total = np.where(forest.trees.left_out[:, fold], forest.leaf_total[reached], 0.0)
    of_all = (forest.rarity, forest.most, forest.n_classes)
    return Request(reached, total, np.full(len(Q), fold), Q, *of_all, space, own=True)


def ask(shard: Shard, asked: Request) -> Answer:
    """The best rows of a shard for queries."""
    from ..._kernels.approximation.shards import gather_from_shard

    with damage_refused("a shard of the model", _REMEDY):
        asked.check_shard(shard)
    n, width = len(asked.Q), shard.n_rows
    Z = rowwise_product(shard.Z, asked.space) if asked.space is not None else shard.Z
    if asked.most is not None:
        width = min(asked.most, width)
    else:
        held = np.where(asked.total > 0, shard.leaf_ptr[asked.reached + 1] - shard.leaf_ptr[asked.reached], 0)
        width = min(width, int(held.sum(axis=1).max(initial=0)))
    rows, sums = np.zeros((n, max(1, width)), dtype=np.int64), np.zeros((n, max(1, width)))
    size, settled, met = np.zeros((3, n), dtype=np.int64)
    if shard.n_rows:
        known = (shard.leaf_ptr, shard.leaf_rows, shard.fold, shard.weight, asked.rarity[shard.code])
        arrays = (writable(a) for a in (asked.reached, asked.total, asked.fold, *known, asked.Q, Z))
        gather_from_shard(*arrays, rows, sums, size, settled, met)
    inside = np.arange(rows.shape[1]) < size[:, None]
    named = np.unique(rows[inside])
    rows[inside] = np.searchsorted(named, rows[inside])
    met_rows = MetRows(
        number=np.asarray(shard.number[named]),
        Z=np.asarray(Z[named]),
        label=np.asarray(shard.label[named]),
        code=np.asarray(shard.code[named]),
        fold=np.asarray(shard.fold[named]),
        trend=np.asarray(shard.trend[named]),
        own=np.asarray(shard.Z[named]) if asked.own else np.empty((len(named), 0)),
    )
    return Answer(rows, sums, size, settled, met, met_rows)


def merge(forest: Forest, asked: Request, answers: Sequence[Answer]) -> Found:
    """The neighbourhoods that one model of all rows would find, and the vote of the forest."""
    from ..._kernels.approximation.shards import merge_shards

    with damage_refused("an answer of a worker", _REMEDY):
        for one in answers:
            asked.check_answer(one)
        rows = MetRows.join([one.known for one in answers])
    n, width = len(asked.Q), max(1, int(np.sum([one.size for one in answers], axis=0).max(initial=0)))
    found, sums = np.zeros((n, width), dtype=np.int64), np.zeros((n, width))
    size = np.zeros(n, dtype=np.int64)
    for one in answers:
        query, k = np.nonzero(np.arange(one.rows.shape[1]) < one.size[:, None])
        to = size[query] + k
        found[query, to] = np.searchsorted(rows.number, one.known.number)[one.rows[query, k]]
        sums[query, to] = one.sums[query, k]
        size += one.size
    used = np.where(asked.fold[:, None] < 0, True, forest.trees.left_out.T[asked.fold])
    most = found.shape[1] if asked.most is None else min(asked.most, found.shape[1])
    chosen, proximity = np.zeros((n, most), dtype=np.int64), np.zeros((n, most))
    kept, settled = np.zeros(n, dtype=np.int64), np.sum([one.settled for one in answers], axis=0)
    met = np.sum([one.met for one in answers], axis=0)
    known = (
        writable(a)
        for a in (found, sums, size, settled, met, used.sum(axis=1), asked.rarity[rows.code], asked.Q, rows.Z)
    )
    merge_shards(*known, chosen, proximity, kept)
    vote = Trees.mean_over_trees(forest.leaf_value, asked.reached, used)
    # Rows that no query keeps depend on how rows are dealt to shards, and what is learned must not.
    inside = np.arange(most) < kept[:, None]
    named = np.unique(chosen[inside]) if inside.any() else np.zeros(1, dtype=np.int64)
    chosen[inside] = np.searchsorted(named, chosen[inside])
    rows = rows.only(named)
    width = max(1, int(kept.max(initial=0)))
    near = Neighborhoods(
        np.ascontiguousarray(chosen[:, :width]), np.ascontiguousarray(proximity[:, :width]), kept, vote
    )
    return Found(near, rows)


class FoundIndex:
    """The neighbours of a batch of queries, in the place of the index of an ordinary model."""

    def __init__(self, index: Any, found: Found):
        self.scale_and_map, self.scaling, self.trees = index.scale_and_map, index.scaling, index.trees
        rows = found.rows
        self.label, self.Z, self.fold = rows.label, rows.Z, rows.fold
        self._near = found.near

    def neighbors(self, scaled: np.ndarray, Q: np.ndarray, **_: Any) -> Neighborhoods:
        """The neighbours, whatever is asked: it is asked for the same queries."""
        return self._near
