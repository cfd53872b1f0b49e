"""Sums over the rows that reach each leaf: means of leaves, and the weight of each split in the metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...forest.trees import Trees
from ..count import Totals
from .targets import TargetSums, add_targets


@dataclass(frozen=True, eq=False)
class LeafSums:
    """Sums over the rows that reach each leaf, of some partitions or all.

    Parameters
    ----------
    counts : (leaves, strata) rows.
    sums : (leaves, k) weights of the classes; of a regression, weights and weighted differences of the targets from the
        middle.
    scatter : (leaves, q) weighted squared deviations of the targets from their mean; without columns for classes.
    targets : targets by fold; None for classes and for a chunk of a partition.
    """

    counts: np.ndarray
    sums: np.ndarray
    scatter: np.ndarray
    targets: TargetSums | None = None

    def values(self, totals: Totals) -> np.ndarray:
        """(leaves, k) class shares or mean targets of each leaf; zeros for a leaf that no row reaches."""
        if totals.classes is not None:
            return np.asarray(self.sums / np.maximum(self.sums.sum(axis=1, keepdims=True), 1e-300))
        mean = totals.middle + self.sums[:, 1:] / np.maximum(self.sums[:, :1], 1e-300)
        return np.asarray(np.where(self.sums[:, :1] > 0, mean, 0.0))


def leaf_sums(
    entries: tuple[np.ndarray, np.ndarray], totals: Totals, n_leaves: int, row_values: tuple[np.ndarray, ...]
) -> LeafSums:
    """Sum over entries (leaf, row), given targets, strata and weights of the rows."""
    leaf, row = entries
    y, code, weight = row_values
    shape = (n_leaves, totals.n_strata)
    cell = leaf.astype(np.int64) * totals.n_strata + code[row]
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    if totals.classes is not None:
        sums = np.bincount(cell, weights=weight[row], minlength=counts.size).reshape(shape)
        return LeafSums(counts, sums, np.empty((n_leaves, 0)))

    def sum_by_leaf(values: np.ndarray) -> np.ndarray:
        return np.bincount(leaf, weights=values, minlength=n_leaves)

    total, entry_weight = sum_by_leaf(weight[row]), weight[row]
    centered = (y - totals.middle)[row]
    weighted_sums = np.stack([sum_by_leaf(entry_weight * output) for output in centered.T], axis=1)
    deviation = centered - (weighted_sums / np.maximum(total, 1e-300)[:, None])[leaf]
    scatter = np.stack([sum_by_leaf(entry_weight * output**2) for output in deviation.T], axis=1)
    return LeafSums(counts, np.column_stack([total, weighted_sums]), scatter)


def add_sums(left: LeafSums, right: LeafSums) -> LeafSums:
    """Add the sums of two sets of rows."""
    scatter = joint_scatter(left.sums, left.scatter, right.sums, right.scatter)
    targets = add_targets(left.targets, right.targets) if left.targets and right.targets else None
    return LeafSums(left.counts + right.counts, left.sums + right.sums, scatter, targets)


def joint_scatter(
    left_sums: np.ndarray, left_scatter: np.ndarray, right_sums: np.ndarray, right_scatter: np.ndarray
) -> np.ndarray:
    """(n, q) squared deviations of two sets of rows from their common mean, given their scatters and (n, 1 + q) sums.

    It uses differences of means rather than of sums of squares, because targets may be far from the middle and
    close to each other.
    """
    if not left_scatter.shape[1]:
        return left_scatter
    left_weight, right_weight = (np.maximum(sums[:, :1], 1e-300) for sums in (left_sums, right_sums))
    mean_difference = left_sums[:, 1:] / left_weight - right_sums[:, 1:] / right_weight
    factor = left_sums[:, :1] * right_sums[:, :1] / (left_weight + right_weight)
    return np.asarray(left_scatter + right_scatter + factor * mean_difference**2)


def split_weights(sums: LeafSums, totals: Totals, trees: Trees) -> np.ndarray:
    """(nodes,) weight of each split in the metric: weight of the rows below it, times the variance of their targets.

    These are the rows of the folds that the tree does not leave out, so the metric of the trees that leave out a fold
    does not depend on it.
    """
    node_sums, node_scatter = _sum_by_node(sums, trees)
    if totals.classes is not None:
        return np.asarray(node_sums.sum(axis=1))
    return np.asarray((node_scatter / totals.spread**2).sum(axis=1))


def _sum_by_node(by_leaf: LeafSums, trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """Sums and scatters of all leaves below each node."""
    sums, scatter = (np.zeros((len(trees.child), values.shape[1])) for values in (by_leaf.sums, by_leaf.scatter))
    for level in reversed(_levels(trees)):
        children = []
        for child in trees.child[level].T:
            is_node, leaf_number = (child >= 0)[:, None], np.maximum(-1 - child, 0)
            node = np.maximum(child, 0)
            children.append(
                (
                    np.where(is_node, sums[node], by_leaf.sums[leaf_number]),
                    np.where(is_node, scatter[node], by_leaf.scatter[leaf_number]),
                )
            )
        (left_sums, left_scatter), (right_sums, right_scatter) = children
        sums[level] = left_sums + right_sums
        scatter[level] = joint_scatter(left_sums, left_scatter, right_sums, right_scatter)
    return sums, scatter


def _levels(trees: Trees) -> list[np.ndarray]:
    """Nodes of each depth, from the roots down."""
    levels = [trees.roots[trees.roots >= 0]]
    while len(levels[-1]):
        children = trees.child[levels[-1]].ravel()
        levels.append(children[children >= 0])
    return levels[:-1]
