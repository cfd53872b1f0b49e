"""Containers in compressed model files: what follows from the rest is left out, and made again when they are loaded.

- The nodes of a tree are numbered as they are met, left sides first, and so are its leaves: one bit for each of them in
  the order in which they are met, set for nodes, tells the children of all nodes.
- The mean of a leaf that holds all of its rows is that of their targets or classes.

Both are compared with what is to be saved: where they differ in a single bit, it is stored as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._utils.invariants import Checked, require
from .._utils.parallel import writable
from ..forest.trees import Trees
from ..neighbors.index import NeighborIndex


class Shorter(NamedTuple):
    """How the state of a container is made shorter, and the container again."""

    state: Callable[[Any], dict[str, Any]]
    restored: Callable[[dict[str, Any]], Checked]


def _trees_state(trees: Trees) -> dict[str, Any]:
    state = trees.state
    bits = _met_in_order(trees.child, trees.n_leaves)
    if bits is not None and np.array_equal(_children(bits), trees.child):
        del state["child"]
        state["met"], state["n_met"] = np.packbits(bits), len(bits)
    return state


def _trees(state: dict[str, Any]) -> Trees:
    if "met" in state:
        packed, n_met = state.pop("met"), state.pop("n_met")
        right = packed.dtype == np.uint8 and packed.ndim == 1 and type(n_met) is int and n_met >= 0
        right = right and len(packed) == -(-n_met // 8)
        bits = np.unpackbits(packed, count=n_met).astype(bool) if right else packed
        right = right and np.count_nonzero(bits) == len(state["threshold"]) == n_met - len(state["leaf_ptr"]) + 1
        require(right, "Trees.met has not one bit for each node and leaf")
        state["child"] = _children(bits)
    return Trees.restored(state)


def _met_in_order(child: np.ndarray, n_leaves: int) -> np.ndarray | None:
    """(n_nodes + n_leaves,) which of the nodes and leaves, as they are met, are nodes; None where they are not met so.

    As many leaves come before a node as the number of the first leaf below it says.
    """
    n = len(child)
    ends = np.where(child[:, 0] < 0, np.arange(n), n)
    first = np.minimum.accumulate(ends[::-1])[::-1]  # node whose left child is the first leaf below
    if n and first[-1] == n:
        return None
    place = np.arange(n) - 1 - child[first, 0]
    bits = np.zeros(n + n_leaves, dtype=bool)
    if n and place.max() >= len(bits):
        return None
    bits[place] = True
    return bits if np.count_nonzero(bits) == n else None


def _children(bits: np.ndarray) -> np.ndarray:
    """(n_nodes, 2) children of the nodes that are met as ``bits`` say.

    Count a node as one up and a leaf as one down: what lies below a node on the left ends where the count is, for the
    first time, one lower than at the node.
    """
    number = np.where(bits, np.cumsum(bits) - 1, -np.cumsum(~bits)).astype(np.int32)
    count = np.cumsum(np.where(bits, 1, -1))
    nodes, places = np.flatnonzero(bits), np.arange(len(bits))
    key = (count - count.min(initial=0) + 1) * (len(bits) + 1)
    order = np.argsort(key + places, kind="stable")
    found = np.searchsorted((key + places)[order], key[nodes] - (len(bits) + 1) + nodes)
    found = np.append(order, len(bits))[found]
    require(np.all(found + 1 < len(bits)), "Trees.met ends before all branches do")
    return np.stack([number[nodes + 1], number[found + 1]], axis=1) if len(nodes) else np.empty((0, 2), dtype=np.int32)


def _index_state(index: NeighborIndex) -> dict[str, Any]:
    state = index.state
    if index.trees is None or not len(index.leaf_value):
        return state
    # Condensed rows have other weights than those of the fit, which as a rule were even.
    differ = [np.any(_means(index, even) != index.leaf_value, axis=1) for even in (False, True)]
    even = bool(np.count_nonzero(differ[1]) < np.count_nonzero(differ[0]))
    told = differ[even]
    return {**state, "leaf_value": index.leaf_value[told], "told": np.packbits(told), "even": even}


def _index(state: dict[str, Any]) -> NeighborIndex:
    if "told" not in state:
        return NeighborIndex.restored(state)
    packed, even = state.pop("told"), state.pop("even")
    given, trees = state["leaf_value"], state["trees"]
    require(isinstance(trees, Trees), "NeighborIndex has leaves, but no trees")
    right = type(even) is bool and packed.dtype == np.uint8 and packed.shape == (-(-trees.n_leaves // 8),)
    told = np.unpackbits(packed, count=trees.n_leaves).astype(bool) if right else packed
    right = right and given.ndim == 2 and given.dtype == np.float64 and len(given) == np.count_nonzero(told)
    require(right, "NeighborIndex.told does not say which leaves have a value of their own")
    # All is checked before a kernel sees it.
    state["leaf_value"] = np.zeros((trees.n_leaves, given.shape[1]))
    index = NeighborIndex.restored(state)
    index.leaf_value = _means(index, even)
    index.leaf_value[told] = given
    index.check()
    return index


def _means(index: NeighborIndex, even: bool) -> np.ndarray:
    """(n_leaves, k) means of the rows that leaves hold, by their weights or as if these were even."""
    from .._kernels.forest.leaves import fill_leaf_means

    assert index.trees is not None
    values, k = index.held_values(index.label), index.leaf_value.shape[1]
    n = len(values)
    code = np.arange(n)
    if values.shape[1] != k:
        code, values = values[:, 0].astype(np.int64), np.eye(k)
        known = index.label.shape[1] == 1 and code.min() >= 0 and code.max() < len(values)
        require(known, "NeighborIndex.label holds other numbers than those of the classes")
    pointers, rows = index.trees.leaf_ptr.astype(np.int64), index.trees.leaf_rows
    weight = np.ones(n) if even else index.held_values(index.weight)
    means = np.empty((len(index.leaf_value), k))
    fill_leaf_means(*(writable(a) for a in (pointers, rows, values, code, weight)), means)
    return means


SHORTER = {"Trees": Shorter(_trees_state, _trees), "NeighborIndex": Shorter(_index_state, _index)}
