"""What reaches the leaves, of all partitions: means of leaves, and the weight of each split in the metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...forest.trees import Trees
from ..count import Totals
from .targets import TargetSums, add_targets


@dataclass(frozen=True, eq=False)
class LeafSums:
    """What reaches the leaves, of some partitions or all.

    Parameters
    ----------
    counts : (leaves, strata) rows.
    sums : (leaves, k) weights of the classes; of a regression, weights, and weighted targets from the middle.
    scatter : (leaves, q) weighted squared deviations of the targets from their mean; no columns for classes.
    targets : targets by fold; None of classes, and of parts of a partition.
    """

    counts: np.ndarray
    sums: np.ndarray
    scatter: np.ndarray
    targets: TargetSums | None = None

    def values(self, totals: Totals) -> np.ndarray:
        """(leaves, k) class shares or mean targets of each leaf; zeros where nothing reaches it."""
        if totals.classes is not None:
            return np.asarray(self.sums / np.maximum(self.sums.sum(axis=1, keepdims=True), 1e-300))
        mean = totals.middle + self.sums[:, 1:] / np.maximum(self.sums[:, :1], 1e-300)
        return np.asarray(np.where(self.sums[:, :1] > 0, mean, 0.0))


def leaf_sums(
    entries: tuple[np.ndarray, np.ndarray], totals: Totals, n_leaves: int, of_rows: tuple[np.ndarray, ...]
) -> LeafSums:
    """Sums over entries (leaf, row), given targets, strata and weights of the rows."""
    leaf, row = entries
    y, code, weight = of_rows
    shape = (n_leaves, totals.n_strata)
    at = leaf.astype(np.int64) * totals.n_strata + code[row]
    counts = np.bincount(at, minlength=shape[0] * shape[1]).reshape(shape)
    if totals.classes is not None:
        sums = np.bincount(at, weights=weight[row], minlength=counts.size).reshape(shape)
        return LeafSums(counts, sums, np.empty((n_leaves, 0)))

    def over(values: np.ndarray) -> np.ndarray:
        return np.bincount(leaf, weights=values, minlength=n_leaves)

    total, mass = over(weight[row]), weight[row]
    moved = (y - totals.middle)[row]
    first = np.stack([over(mass * one) for one in moved.T], axis=1)
    off = moved - (first / np.maximum(total, 1e-300)[:, None])[leaf]
    scatter = np.stack([over(mass * one**2) for one in off.T], axis=1)
    return LeafSums(counts, np.column_stack([total, first]), scatter)


def add_sums(one: LeafSums, other: LeafSums) -> LeafSums:
    """The sums of both."""
    scatter = joint_scatter(one.sums, one.scatter, other.sums, other.scatter)
    targets = add_targets(one.targets, other.targets) if one.targets and other.targets else None
    return LeafSums(one.counts + other.counts, one.sums + other.sums, scatter, targets)


def joint_scatter(sums: np.ndarray, scatter: np.ndarray, more_sums: np.ndarray, more: np.ndarray) -> np.ndarray:
    """(n, q) squared deviations of two parts from their common mean, given (n, 1 + q) weights and weighted targets.

    Differences of means, not of sums of squares: targets may lie far from the middle and close to each other.
    """
    if not scatter.shape[1]:
        return scatter
    weights = [np.maximum(part[:, :1], 1e-300) for part in (sums, more_sums)]
    apart = sums[:, 1:] / weights[0] - more_sums[:, 1:] / weights[1]
    both = sums[:, :1] * more_sums[:, :1] / (weights[0] + weights[1])
    return np.asarray(scatter + more + both * apart**2)


def split_weights(found: LeafSums, totals: Totals, trees: Trees) -> np.ndarray:
    """(nodes,) weight of each split in the metric: weight of all rows that it saw, times the variance of their targets.

    A tree sees the rows of the folds that it does not leave out, so the metric of the trees that left out a fold does
    not know it.
    """
    sums, scatter = _of_nodes(found, trees)
    if totals.classes is not None:
        return np.asarray(sums.sum(axis=1))
    return np.asarray((scatter / totals.spread**2).sum(axis=1))


def _of_nodes(found: LeafSums, trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """Sums and scatters of all leaves below each node."""
    sums, scatter = (np.zeros((len(trees.child), one.shape[1])) for one in (found.sums, found.scatter))
    for level in reversed(_levels(trees)):
        sides = []
        for child in trees.child[level].T:
            is_node, leaf = (child >= 0)[:, None], np.maximum(-1 - child, 0)
            node = np.maximum(child, 0)
            sides.append(
                (
                    np.where(is_node, sums[node], found.sums[leaf]),
                    np.where(is_node, scatter[node], found.scatter[leaf]),
                )
            )
        (left, left_scatter), (right, right_scatter) = sides
        sums[level] = left + right
        scatter[level] = joint_scatter(left, left_scatter, right, right_scatter)
    return sums, scatter


def _levels(trees: Trees) -> list[np.ndarray]:
    """Nodes by their depth, from the roots down."""
    levels = [trees.roots[trees.roots >= 0]]
    while len(levels[-1]):
        below = trees.child[levels[-1]].ravel()
        levels.append(below[below >= 0])
    return levels[:-1]
