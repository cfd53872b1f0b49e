"""The fourth pass: every shard names its best neighbours of a batch of queries, and the best of all are taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._utils.parallel import writable
from .._utils.sums import rowwise_product
from ..forest.trees import Trees
from ..neighbors.neighborhoods import Neighborhoods
from .shards import Shard


class Forest(NamedTuple):
    """What turns queries into requests."""

    trees: Trees
    leaf_value: np.ndarray  # (leaves, k) of all rows
    leaf_total: np.ndarray  # (leaves,) weight of the rows that are kept on all shards
    rarity: np.ndarray  # (strata,) of the rows
    most: int | None  # rows of a neighbourhood


class Request(NamedTuple):
    """A batch of queries; n rows."""

    reached: np.ndarray  # (n, T) leaves
    total: np.ndarray  # (n, T) weight of the rows of these leaves; 0 where a tree is not used
    fold: np.ndarray  # (n,) held-out fold, or -1
    Q: np.ndarray  # (n, D) in the metric space
    rarity: np.ndarray  # (strata,)
    most: int | None
    space: np.ndarray | None  # map of the rows of shards into the metric space, where they are not there yet
    own: bool  # whether answers are to hold the rows as the shard has them


class MetRows(NamedTuple):
    """Rows that are neighbours of any query of a batch, each once; m rows."""

    number: np.ndarray  # (m,) in the table
    Z: np.ndarray  # (m, D)
    label: np.ndarray  # (m, 1)
    code: np.ndarray  # (m,)
    fold: np.ndarray  # (m,)
    trend: np.ndarray  # (m, q)
    own: np.ndarray  # (m, d) as the shard has them, where that is asked for

    @classmethod
    def join(cls, parts: Sequence[MetRows]) -> MetRows:
        """Rows of all parts, by their numbers; something stands there even where leaves have no row at all."""
        every = [np.concatenate(one) for one in zip(*parts, strict=True)]
        if not len(every[0]):
            every = [np.zeros((1, *one.shape[1:]), dtype=one.dtype) for one in every]
        order = np.argsort(every[0], kind="stable")
        return cls(*(one[order] for one in every))


class Answer(NamedTuple):
    """The best rows of a shard for a batch of queries."""

    rows: np.ndarray  # (n, M) places among the rows met, filled up to size
    sums: np.ndarray  # (n, M) shares in the leaves reached, summed over trees
    size: np.ndarray  # (n,)
    met: np.ndarray  # (n,) rows met, also those that did not fit
    known: MetRows


class Found(NamedTuple):
    """Neighbourhoods of a batch of queries among all rows."""

    near: Neighborhoods  # numbers the rows below
    rows: MetRows


def request(forest: Forest, scaled: np.ndarray, Q: np.ndarray) -> Request:
    """The request of new rows on the common scale and in the metric space."""
    reached = forest.trees.apply(scaled)
    fold = np.full(len(Q), -1, dtype=np.int64)
    return Request(reached, forest.leaf_total[reached], fold, Q, forest.rarity, forest.most, None, False)


def request_outside(forest: Forest, scaled: np.ndarray, Q: np.ndarray, fold: int, space: np.ndarray | None) -> Request:
    """The request of training rows of a held-out fold, to trees and rows that leave it out."""
    reached = forest.trees.apply(scaled)
    total = np.where(forest.trees.left_out[:, fold], forest.leaf_total[reached], 0.0)
    return Request(reached, total, np.full(len(Q), fold), Q, forest.rarity, forest.most, space, True)


def ask(shard: Shard, asked: Request) -> Answer:
    """The best rows of a shard for queries."""
    from .._kernels.approximation.shards import meet

    n, width = len(asked.Q), shard.n_rows
    Z = rowwise_product(shard.Z, asked.space) if asked.space is not None else shard.Z
    if asked.most is not None:
        width = min(asked.most, width)
    else:
        held = np.where(asked.total > 0, shard.leaf_ptr[asked.reached + 1] - shard.leaf_ptr[asked.reached], 0)
        width = min(width, int(held.sum(axis=1).max(initial=0)))
    rows, sums = np.zeros((n, max(1, width)), dtype=np.int64), np.zeros((n, max(1, width)))
    size, met = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    if shard.n_rows:
        known = (shard.leaf_ptr, shard.leaf_rows, shard.fold, shard.weight, asked.rarity[shard.code])
        arrays = (writable(a) for a in (asked.reached, asked.total, asked.fold, *known, asked.Q, Z))
        meet(*arrays, rows, sums, size, met)
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
    return Answer(rows, sums, size, met, met_rows)


def merge(forest: Forest, asked: Request, answers: Sequence[Answer]) -> Found:
    """The neighbourhoods that one model of all rows would find, and the vote of the forest."""
    from .._kernels.approximation.shards import best_of_shards

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
    kept, met = np.zeros(n, dtype=np.int64), np.sum([one.met for one in answers], axis=0)
    known = (writable(a) for a in (found, sums, size, met, used.sum(axis=1), asked.rarity[rows.code], asked.Q, rows.Z))
    best_of_shards(*known, chosen, proximity, kept)
    vote = Trees.mean_over_trees(forest.leaf_value, asked.reached, used)
    width = max(1, int(kept.max(initial=0)))
    near = Neighborhoods(
        np.ascontiguousarray(chosen[:, :width]), np.ascontiguousarray(proximity[:, :width]), kept, vote
    )
    return Found(near, rows)
