"""Smaller states of containers in compressed model files: derived arrays are left out and computed again on loading.

- Nodes and leaves of a tree are numbered in preorder, left branches first, so one bit for each (set for nodes) in that
  order determines the children of all nodes.
- The value of a leaf that holds all of its rows is the mean of their targets or class indicators.

Both are compared with the values to save; values that differ in a single bit are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._utils.invariants import Checked, require
from .._utils.parallel import writable
from ..forest.trees import Trees
from ..neighbors.index import NeighborIndex


class Compression(NamedTuple):
    """How to shrink the state of a container, and to restore the container from it."""

    state: Callable[[Any], dict[str, Any]]
    restored: Callable[[dict[str, Any]], Checked]


def _compress_trees(trees: Trees) -> dict[str, Any]:
    state = trees.state
    is_node = _node_flags(trees.child, trees.n_leaves)
    if is_node is not None and np.array_equal(_children(is_node), trees.child):
        del state["child"]
        state["met"], state["n_met"] = np.packbits(is_node), len(is_node)
    return state


def _restore_trees(state: dict[str, Any]) -> Trees:
    if "met" in state:
        packed, n_met = state.pop("met"), state.pop("n_met")
        valid = packed.dtype == np.uint8 and packed.ndim == 1 and type(n_met) is int and n_met >= 0
        valid = valid and len(packed) == -(-n_met // 8)
        is_node = np.unpackbits(packed, count=n_met).astype(bool) if valid else packed
        valid = valid and np.count_nonzero(is_node) == len(state["threshold"]) == n_met - len(state["leaf_ptr"]) + 1
        require(valid, "Trees.met must hold one bit for each node and leaf")
        state["child"] = _children(is_node)
    return Trees.restored(state)


def _node_flags(child: np.ndarray, n_leaves: int) -> np.ndarray | None:
    """Return (n_nodes + n_leaves,) flags of the nodes in preorder; None where nodes and leaves are numbered otherwise.

    The number of leaves before a node is the number of the first leaf below it.
    """
    n_nodes = len(child)
    own_first_leaf = np.where(child[:, 0] < 0, np.arange(n_nodes), n_nodes)
    # for each node, the node whose left child is the first leaf below it
    first_leaf_node = np.minimum.accumulate(own_first_leaf[::-1])[::-1]
    if n_nodes and first_leaf_node[-1] == n_nodes:
        return None
    position = np.arange(n_nodes) - 1 - child[first_leaf_node, 0]
    is_node = np.zeros(n_nodes + n_leaves, dtype=bool)
    if n_nodes and position.max() >= len(is_node):
        return None
    is_node[position] = True
    return is_node if np.count_nonzero(is_node) == n_nodes else None


def _children(is_node: np.ndarray) -> np.ndarray:
    """Return (n_nodes, 2) children of the nodes, from the flags of the nodes in preorder.

    Count one up for a node and one down for a leaf: the left branch of a node ends where the count is, for the first
    time, one lower than at the node.
    """
    number = np.where(is_node, np.cumsum(is_node) - 1, -np.cumsum(~is_node)).astype(np.int32)
    depth = np.cumsum(np.where(is_node, 1, -1))
    nodes, positions = np.flatnonzero(is_node), np.arange(len(is_node))
    key = (depth - depth.min(initial=0) + 1) * (len(is_node) + 1)
    order = np.argsort(key + positions, kind="stable")
    ends = np.searchsorted((key + positions)[order], key[nodes] - (len(is_node) + 1) + nodes)
    ends = np.append(order, len(is_node))[ends]
    require(np.all(ends + 1 < len(is_node)), "Trees.met ends before all branches do")
    return np.stack([number[nodes + 1], number[ends + 1]], axis=1) if len(nodes) else np.empty((0, 2), dtype=np.int32)


def _compress_index(index: NeighborIndex) -> dict[str, Any]:
    state = index.state
    if index.trees is None or not len(index.leaf_value):
        return state
    # Condensing changes the weights of rows, which usually were even in fit.
    differ = [np.any(_leaf_means(index, even) != index.leaf_value, axis=1) for even in (False, True)]
    even = bool(np.count_nonzero(differ[1]) < np.count_nonzero(differ[0]))
    is_stored = differ[even]
    return {**state, "leaf_value": index.leaf_value[is_stored], "told": np.packbits(is_stored), "even": even}


def _restore_index(state: dict[str, Any]) -> NeighborIndex:
    if "told" not in state:
        return NeighborIndex.restored(state)
    packed, even = state.pop("told"), state.pop("even")
    stored_values, trees = state["leaf_value"], state["trees"]
    require(isinstance(trees, Trees), "NeighborIndex has leaves, but no trees")
    valid = type(even) is bool and packed.dtype == np.uint8 and packed.shape == (-(-trees.n_leaves // 8),)
    is_stored = np.unpackbits(packed, count=trees.n_leaves).astype(bool) if valid else packed
    valid = (
        valid
        and stored_values.ndim == 2
        and stored_values.dtype == np.float64
        and len(stored_values) == np.count_nonzero(is_stored)
    )
    require(valid, "NeighborIndex.told must flag the leaves that have a value of their own")
    # Everything is checked before it reaches a kernel.
    state["leaf_value"] = np.zeros((trees.n_leaves, stored_values.shape[1]))
    index = NeighborIndex.restored(state)
    index.leaf_value = _leaf_means(index, even)
    index.leaf_value[is_stored] = stored_values
    index.check()
    return index


def _leaf_means(index: NeighborIndex, even: bool) -> np.ndarray:
    """Return (n_leaves, k) means of the rows in each leaf, with their weights or with even ones."""
    from .._kernels.forest.leaves import fill_leaf_means

    assert index.trees is not None
    values, n_values = index.held_values(index.label), index.leaf_value.shape[1]
    n_rows = len(values)
    codes = np.arange(n_rows)
    if values.shape[1] != n_values:
        codes, values = values[:, 0].astype(np.int64), np.eye(n_values)
        valid = index.label.shape[1] == 1 and codes.min() >= 0 and codes.max() < len(values)
        require(valid, "NeighborIndex.label holds numbers that are not class numbers")
    pointers, rows = index.trees.leaf_ptr.astype(np.int64), index.trees.leaf_rows
    weight = np.ones(n_rows) if even else index.held_values(index.weight)
    means = np.empty((len(index.leaf_value), n_values))
    fill_leaf_means(*(writable(a) for a in (pointers, rows, values, codes, weight)), means)
    return means


COMPRESSIONS = {
    "Trees": Compression(_compress_trees, _restore_trees),
    "NeighborIndex": Compression(_compress_index, _restore_index),
}
