"""Answers to a batch of queries, computed from the neighbours on all shards."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.errors import DSNAError
from ..._utils.invariants import Array, Checked, Choice, Number, Part, require
from ...forest.scaling import Scaling
from ..blocks import Roles, read_partition
from .messages import Answer, DistributedForest, Request
from .neighbors import MergedNeighbors, PrecomputedIndex, merge, query_shard, request_for_new_rows

BATCH = 2048  # queries in a request


@dataclass(frozen=True, eq=False)
class Core(Checked):
    """The part of a model that every worker has: everything but the rows of the shards.

    Parameters
    ----------
    scaling : scaling of the columns, estimated from all rows.
    model : DSNAClassifier or DSNARegressor fitted to the sample.
    forest : its forest, with the leaf means and weights of all rows.
    features : names of the columns; None if they have no names.
    n_rows : number of rows of the table.
    """

    FIELDS = {
        "scaling": Part("Scaling", "features"),
        "forest": Part("DistributedForest", "features"),
        "n_rows": Number(1, whole=True),
    }

    scaling: Scaling
    model: Any
    forest: DistributedForest
    features: tuple[str, ...] | None
    n_rows: int

    def _check_relations(self, sizes: dict[str, int]) -> None:
        n_features, forest_sizes, index_sizes = sizes["features"], self.forest.sizes, self.model._index.sizes
        for name in ("leaves", "features", "averaged"):
            n_forest, n_index = forest_sizes[name], index_sizes.get(name)
            require(n_forest == n_index, f"DistributedForest has {n_forest} {name}, and its model {n_index}")
        require(
            self.forest.n_classes == len(getattr(self.model, "classes_", ())),
            "DistributedForest.n_classes is not that of the model",
        )
        are_names = type(self.features) is tuple and all(type(name) is str for name in self.features)
        is_valid = self.features is None or (are_names and len(self.features) == len(set(self.features)) == n_features)
        require(is_valid, f"Core.features does not name {n_features} columns")

    def scaled(self, data: Any, source: str, rows: slice = slice(None)) -> np.ndarray:
        """Scale these rows of the queries; refuse queries whose columns are not those of the training rows."""
        partition = read_partition(data, Roles(features=self.features), source)
        width = len(self.scaling.offset)
        if partition.length and partition.X.shape[1] != width:
            raise DSNAError(f"{source} has {partition.X.shape[1]} columns; the model was fitted on {width}.")
        return self.scaling.transform(partition.X[rows]).reshape(-1, width)

    def view(self, neighbors: MergedNeighbors) -> Any:
        """Return the model with the neighbours of a batch of queries in place of its index."""
        view = copy(self.model)
        view._index = PrecomputedIndex(self.model._index, neighbors)
        if not hasattr(view, "classes_"):
            index = self.model._index
            has_weight = index.weight > 0
            relevant_density = view._relevant(view._density, index.label[has_weight], index.weight[has_weight])
            view._rarity, view._row_trend = relevant_density.rarity(neighbors.rows.label), neighbors.rows.trend
        return view


@dataclass(frozen=True, eq=False)
class QueryBatch(Checked):
    """A batch of queries on the common scale, and the request to the shards; an empty batch has one row of zeros."""

    FIELDS = {
        "X": Array("float64", "queries, features"),
        "request": Part("Request", "queries"),
        "is_empty": Choice((True, False)),
    }

    X: np.ndarray
    request: Request
    is_empty: bool


def prepare(core: Core, data: Any, batch_number: int, source: str) -> QueryBatch:
    """Scale a batch of the queries of a partition and make its request."""
    X = core.scaled(data, source, slice(batch_number * BATCH, (batch_number + 1) * BATCH))
    is_empty = not len(X)
    X = np.zeros((1, X.shape[1])) if is_empty else X
    return QueryBatch(X, request_for_new_rows(core.forest, *core.model._index.scale_and_map(X)), is_empty)


def shard_answer(batch: QueryBatch, shard: Any) -> Answer:
    """Find the best rows of a shard for a batch."""
    return query_shard(shard, batch.request)


def answer(core: Core, batch: QueryBatch, method: str, options: Any, *answers: Answer) -> Any:
    """Call a method of the model for a batch, given the answers of all shards."""
    neighbors = merge(core.forest, batch.request, answers)
    view = core.view(neighbors)
    if method == "explain":
        if batch.is_empty:
            raise DSNAError("There are no rows to explain.")
        explanation = view.explain(batch.X)
        rows = neighbors.rows.number[explanation.rows]
        return replace(explanation, rows=rows, n_train=(core.n_rows, core.n_rows))
    if method == "predict_set":
        result = core.model.in_set(view.predict_proba(batch.X), **options)
    else:
        result = getattr(view, method)(batch.X, **options)
    return result[:0] if batch.is_empty else result
