"""The fourth pass: every shard names its best neighbours of a batch of queries, and the best of all are taken."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from .._utils.parallel import writable
from .._utils.sums import rowwise_product
from ..forest.scaling import Scaling
from ..forest.trees import Trees
from ..neighbors.neighborhoods import Neighborhoods
from .blocks import Roles, to_block
from .shards import Shard

BATCH = 2048  # queries that shards are asked about at once


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
    label: np.ndarray  # (m, q)
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
    settled: np.ndarray  # (n,) from where on rows are in the order of their distances
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
    size, settled, met = np.zeros((3, n), dtype=np.int64)
    if shard.n_rows:
        known = (shard.leaf_ptr, shard.leaf_rows, shard.fold, shard.weight, asked.rarity[shard.code])
        arrays = (writable(a) for a in (asked.reached, asked.total, asked.fold, *known, asked.Q, Z))
        meet(*arrays, rows, sums, size, settled, met)
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
    kept, settled = np.zeros(n, dtype=np.int64), np.sum([one.settled for one in answers], axis=0)
    met = np.sum([one.met for one in answers], axis=0)
    known = (
        writable(a)
        for a in (found, sums, size, settled, met, used.sum(axis=1), asked.rarity[rows.code], asked.Q, rows.Z)
    )
    best_of_shards(*known, chosen, proximity, kept)
    vote = Trees.mean_over_trees(forest.leaf_value, asked.reached, used)
    # Rows that no query keeps depend on how rows are dealt to shards, and what is learned must not.
    inside = np.arange(most) < kept[:, None]
    named = np.unique(chosen[inside]) if inside.any() else np.zeros(1, dtype=np.int64)
    chosen[inside] = np.searchsorted(named, chosen[inside])
    rows = MetRows(*(one[named] for one in rows))
    width = max(1, int(kept.max(initial=0)))
    near = Neighborhoods(
        np.ascontiguousarray(chosen[:, :width]), np.ascontiguousarray(proximity[:, :width]), kept, vote
    )
    return Found(near, rows)


class FoundIndex:
    """The neighbours of a batch of queries, in the place of the index of an ordinary model."""

    def __init__(self, index: Any, found: Found):
        self.place, self.scaling, self.trees = index.place, index.scaling, index.trees
        rows = found.rows
        self.label, self.Z, self.fold = rows.label, rows.Z, rows.fold
        self._near = found.near

    def neighbors(self, scaled: np.ndarray, Q: np.ndarray, **_: Any) -> Neighborhoods:
        """The neighbours, whatever is asked: it is asked for the same queries."""
        return self._near


class Core(NamedTuple):
    """What answers queries, given what shards find: small, and the same on every worker."""

    scaling: Scaling
    model: Any  # an ordinary estimator, fitted on the sample
    forest: Forest
    features: tuple[str, ...] | None
    n_rows: int  # of the table

    def rows(self, data: Any, where: str, part: slice = slice(None)) -> np.ndarray:
        """Some queries on the common scale; refused where they do not have the columns of the training rows."""
        block = to_block(data, Roles(features=self.features), where)
        width = len(self.scaling.offset)
        if block.length and block.X.shape[1] != width:
            raise DSNAError(f"{where} has {block.X.shape[1]} columns; the model was fitted on {width}.")
        return self.scaling.transform(block.X[part]).reshape(-1, width)

    def view(self, found: Found) -> Any:
        """The ordinary estimator with the neighbours of a batch of queries in place of its rows."""
        view = copy(self.model)
        view._index = FoundIndex(self.model._index, found)
        if not hasattr(view, "classes_"):
            known = self.model._index
            kept = known.weight > 0
            relevant = view._relevant(view._density, known.label[kept], known.weight[kept])
            view._rarity, view._row_trend = relevant.rarity(found.rows.label), found.rows.trend
        return view


class Prepared(NamedTuple):
    """A batch of queries on the common scale, and the request to the shards; one row of zeros where it is empty."""

    X: np.ndarray
    request: Request
    is_empty: bool


def prepare(core: Core, data: Any, batch: int, where: str) -> Prepared:
    """A batch of the queries of a partition."""
    X = core.rows(data, where, slice(batch * BATCH, (batch + 1) * BATCH))
    is_empty = not len(X)
    X = np.zeros((1, X.shape[1])) if is_empty else X
    return Prepared(X, request(core.forest, *core.model._index.place(X)), is_empty)


def asked_of(prepared: Prepared, shard: Any) -> Answer:
    """What a shard answers to a batch."""
    return ask(shard, prepared.request)


def answer(core: Core, prepared: Prepared, method: str, options: Any, *found: Answer) -> Any:
    """What a method of the ordinary estimator makes of the neighbours of a batch."""
    neighbors = merge(core.forest, prepared.request, found)
    view = core.view(neighbors)
    if method == "explain":
        if prepared.is_empty:
            raise DSNAError("There are no rows to explain.")
        why = view.explain(prepared.X)
        return replace(why, rows=neighbors.rows.number[why.rows], n_train=(core.n_rows, core.n_rows))
    if method == "predict_set":
        made = core.model.in_set(view.predict_proba(prepared.X), **options)
    else:
        made = getattr(view, method)(prepared.X, **options)
    return made[:0] if prepared.is_empty else made
