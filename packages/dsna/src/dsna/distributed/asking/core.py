"""What answers a batch of queries, given the neighbours that shards have found."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._utils.errors import DSNAError
from ..._utils.invariants import Array, Checked, Choice, Number, Part, require
from ...forest.scaling import Scaling
from ..blocks import Roles, to_block
from .messages import Answer, Forest, Request
from .neighbors import Found, FoundIndex, ask, merge, request

BATCH = 2048  # queries that shards are asked about at once


@dataclass(frozen=True, eq=False)
class Core(Checked):
    """What answers queries, given what shards find: small, and the same on every worker.

    Parameters
    ----------
    scaling : of the columns of all rows.
    model : an ordinary estimator, fitted on the sample.
    forest : of this estimator, with the leaves of all rows.
    features : names of the columns; None where they have none.
    n_rows : of the table.
    """

    FIELDS = {
        "scaling": Part("Scaling", "features"),
        "forest": Part("Forest", "features"),
        "n_rows": Number(1, whole=True),
    }

    scaling: Scaling
    model: Any
    forest: Forest
    features: tuple[str, ...] | None
    n_rows: int

    def _check_relations(self, sizes: dict[str, int]) -> None:
        n, ours, its = sizes["features"], self.forest.sizes, self.model._index.sizes
        for name in ("leaves", "features", "averaged"):
            require(its.get(name) == ours[name], f"Forest has {ours[name]} {name}, and its model {its.get(name)}")
        require(
            self.forest.n_classes == len(getattr(self.model, "classes_", ())), "Forest.n_classes is not the model's"
        )
        named = type(self.features) is tuple and all(type(one) is str for one in self.features)
        right = self.features is None or (named and len(self.features) == len(set(self.features)) == n)
        require(right, f"Core.features does not name {n} columns")

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


@dataclass(frozen=True, eq=False)
class Prepared(Checked):
    """A batch of queries on the common scale, and the request to the shards; one row of zeros where it is empty."""

    FIELDS = {
        "X": Array("float64", "queries, features"),
        "request": Part("Request", "queries"),
        "is_empty": Choice((True, False)),
    }

    X: np.ndarray
    request: Request
    is_empty: bool


def prepare(core: Core, data: Any, batch: int, where: str) -> Prepared:
    """A batch of the queries of a partition."""
    X = core.rows(data, where, slice(batch * BATCH, (batch + 1) * BATCH))
    is_empty = not len(X)
    X = np.zeros((1, X.shape[1])) if is_empty else X
    return Prepared(X, request(core.forest, *core.model._index.scale_and_map(X)), is_empty)


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
