"""Grown trees as flat arrays: growing them in parallel, sending rows down, what their leaves hold.

``dsna._kernels.forest.tree`` describes the layout of the arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_array

from .._utils.invariants import Array, Checked, check_leaves, check_links, require, tree_of_nodes
from .._utils.parallel import chunks, in_parallel, writable
from .held_out import N_FOLDS

#: One tree: child, threshold, split_ptr, split_feature, split_weight, metric_weight, importance, leaf_ptr, rows of
#: leaves, means of leaves.
GrownTree: TypeAlias = tuple[np.ndarray, ...]


class Leaves(NamedTuple):
    """What leaves are to hold of the training rows; n rows.

    Attributes
    ----------
    values : (n_codes, k) one-hot classes or targets, which leaves average.
    weight : (n,) weights in these means.
    code : (n,) number of the class or target of each row, whose value it has.
    most : rows that a leaf keeps at most, of each class or target its share and at least one; None: all.
    """

    values: np.ndarray
    weight: np.ndarray
    code: np.ndarray
    most: int | None = None

    def ordered(self, order: np.ndarray, known: dict[int, np.ndarray]) -> Leaves:
        """The same for rows in another order; ``known`` holds arrays in that order by the ids of those given."""
        weight, code = (known[id(a)] if id(a) in known else a[order] for a in (self.weight, self.code))
        return Leaves(self.values, weight, code, self.most)

    def fill(self, leaf_ptr: np.ndarray, leaf_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(leaf_ptr, leaf_rows, leaf_value): the rows that leaves keep, and the means over all rows given.

        Rows of a leaf are sorted by class or target, and have the same order in all leaves: leaves then drop the same
        rows, and proximities stay comparable.
        """
        from .._kernels.forest.leaves import fill_leaf_means, mark_kept_rows

        leaf_ptr, leaf_rows = writable(leaf_ptr), writable(leaf_rows)
        means = np.empty((len(leaf_ptr) - 1, self.values.shape[1]))
        fill_leaf_means(leaf_ptr, leaf_rows, writable(self.values), writable(self.code), writable(self.weight), means)
        if self.most is None:
            return leaf_ptr, leaf_rows, means
        keep, kept_ptr = np.empty(len(leaf_rows), dtype=bool), np.empty_like(leaf_ptr)
        mark_kept_rows(leaf_ptr, leaf_rows, writable(self.code), self.most, keep, kept_ptr)
        return kept_ptr, leaf_rows[keep], means


class Job(NamedTuple):
    """One tree to grow."""

    fold: np.ndarray  # (n,) held-out fold of each row
    left_out: np.ndarray  # (N_FOLDS,) folds that it may not see
    draw: int | None  # seed of the bootstrap sample; None: all rows that it may see
    seed: int  # of the splits


def _grow_some(
    table: tuple[np.ndarray, ...], leaves: Leaves, growth: dict[str, Any], sizes: np.ndarray, jobs: list[Job]
) -> list[GrownTree]:
    """Grow the trees of one task on a table whose rows are sorted by class or target."""
    from .._kernels.forest.node_targets import GrowthSettings, GrowthTable
    from .._kernels.forest.tree import grow_tree

    columns, label, code, share, weight, gain, cost_table = (writable(a) for a in table)
    grown = []
    for job in jobs:
        rows = np.flatnonzero(~job.left_out[job.fold]).astype(np.int32)
        tree_weight = weight
        if job.draw is not None:
            drawn = np.random.RandomState(job.draw).choice(rows, len(rows))
            counts = np.bincount(drawn, minlength=len(weight))
            tree_weight, rows = weight * counts, rows[counts[rows] > 0]
        of_tree = GrowthTable(columns, label, code, share, tree_weight, gain, cost_table)
        *arrays, leaf_ptr, importance = grow_tree(rows, of_tree, GrowthSettings(**growth), writable(sizes), job.seed)
        grown.append((*arrays, importance, *leaves.fill(leaf_ptr, rows)))
    return grown


def grow_trees(
    table: tuple[np.ndarray, ...],
    leaves: Leaves,
    growth: dict[str, Any],
    sizes: np.ndarray,
    jobs: list[Job],
    n_jobs: int | None,
    verbose: int = 0,
) -> list[GrownTree]:
    """Grow one tree per job in parallel; each comes as the arrays that ``Trees.join`` takes."""
    per_task = 1 if verbose else max(1, -(-len(jobs) // (4 * effective_n_jobs(n_jobs))))
    tasks = [(table, leaves, growth, sizes, jobs[part]) for part in chunks(len(jobs), per_task)]
    return [tree for task in in_parallel(_grow_some, tasks, n_jobs, "trees" * bool(verbose)) for tree in task]


def in_input_units(grown: list[GrownTree], space: np.ndarray) -> list[GrownTree]:
    """Trees grown on ``X @ space`` as trees that take X: each split uses all columns that the space uses."""
    used = np.flatnonzero(space.any(axis=1)).astype(np.int32)
    back = np.ascontiguousarray(space[used].T)
    shares = np.abs(space) / np.maximum(np.abs(space).sum(axis=0), 1e-300).sum()
    taken: list[GrownTree] = []
    for child, threshold, ptr, feature, weight, metric_weight, importance, *leaves in grown:
        dense = csr_array((weight, feature, ptr), shape=(len(child), len(back))) @ back
        new_ptr = np.arange(len(child) + 1) * len(used)
        split = (new_ptr, np.tile(used, len(child)), dense.astype(np.float32).ravel())
        taken.append((child, threshold, *split, metric_weight, shares @ importance, *leaves))
    return taken


class Trees(Checked):
    """The trees of a forest and the training rows in their leaves.

    Attributes
    ----------
    roots : (n_trees,) first node of each tree, or -1 - its leaf where it has only one.
    child, threshold, split_ptr, split_feature, split_weight : nodes of all trees, one after another.
    node_tree : tree of each node.
    metric_weight : weight of each split in the metric; this and ``node_tree`` are empty after ``without_metric``.
    leaf_ptr, leaf_rows : training rows of each leaf; leaves of one tree follow those of the tree before.
    left_out : (n_trees, N_FOLDS) folds of rows that a tree has never seen.
    importance : (n_features,) summed gains.
    """

    FIELDS = {
        "roots": Array("int32", "trees"),
        "child": Array("int32", "nodes, 2"),
        "threshold": Array("float64", "nodes"),
        "split_ptr": Array("int32 int64", "nodes+1", into="entries"),
        "split_feature": Array("int16 int32", "entries", below="features"),
        "split_weight": Array("float32", "entries"),
        "node_tree": Array("int32", "weighed"),
        "metric_weight": Array("float64", "weighed", low=0),
        "leaf_ptr": Array("int32 int64", "leaves+1", into="held"),
        "leaf_rows": Array("int32", "held", low=0),
        "left_out": Array("bool", f"trees, {N_FOLDS}"),
        "importance": Array("float64", "features"),
    }
    NOT_EMPTY = ("trees", "leaves", "features")

    def __init__(self, **arrays: np.ndarray):
        self.__dict__.update(arrays)
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        widest = self.split_feature.max(initial=0)
        require(self.split_feature.dtype == _feature_dtype(widest), "Trees.split_feature has the wrong dtype")
        require(self.split_ptr.dtype == _pointer_dtype(sizes["entries"]), "Trees.split_ptr has the wrong dtype")
        require(self.leaf_ptr.dtype == _pointer_dtype(sizes["held"]), "Trees.leaf_ptr has the wrong dtype")
        whole = sizes["leaves"] == sizes["nodes"] + sizes["trees"]
        require(whole, "Trees.leaf_ptr describes another number of leaves than the nodes have")
        grown, lone = np.flatnonzero(self.roots >= 0), np.flatnonzero(self.roots < 0)
        first = self.roots[grown]
        tree = tree_of_nodes("Trees", first, grown, sizes["nodes"])
        parent, side = np.nonzero(self.child >= 0)
        check_links("Trees", tree, first, parent, self.child[parent, side])
        above, side = np.nonzero(self.child < 0)
        ends = -1 - np.concatenate([self.child[above, side], self.roots[lone]])
        check_leaves("Trees", ends, np.concatenate([tree[above], lone]), _leaf_tree(self.roots, tree))
        known = sizes["weighed"] == 0 or np.array_equal(self.node_tree, tree)
        require(known, "Trees.node_tree does not name the tree of each node")

    roots: np.ndarray
    child: np.ndarray
    threshold: np.ndarray
    split_ptr: np.ndarray
    split_feature: np.ndarray
    split_weight: np.ndarray
    node_tree: np.ndarray
    metric_weight: np.ndarray
    leaf_ptr: np.ndarray
    leaf_rows: np.ndarray
    left_out: np.ndarray
    importance: np.ndarray

    def check_rows(self, n_rows: int) -> None:
        """Raise an InvariantError unless the rows in the leaves are among so many."""
        require(self.leaf_rows.max(initial=-1) < n_rows, f"Trees.leaf_rows names rows past the last of {n_rows}")

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def feature_importances(self) -> np.ndarray:
        """(n_features,) share of each feature in the gains of all splits; zeros where nothing was split."""
        total = self.importance.sum()
        return self.importance / total if total > 0 else np.zeros_like(self.importance)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all trees."""
        return len(self.leaf_ptr) - 1

    @property
    def leaf_tree(self) -> np.ndarray:
        """(n_leaves,) tree of each leaf."""
        grown = np.flatnonzero(self.roots >= 0)
        return _leaf_tree(self.roots, tree_of_nodes("Trees", self.roots[grown], grown, len(self.child)))

    @classmethod
    def join(cls, grown: list[GrownTree], left_out: np.ndarray) -> tuple[Trees, np.ndarray]:
        """Trees given one by one as one object, and the means of all leaves."""
        child, threshold, split_ptr, feature, weight, metric_weight, importance, leaf_ptr, rows, means = zip(
            *grown, strict=True
        )
        sizes = [len(a) for a in child]
        nodes = np.cumsum([0, *sizes])
        leaves = np.cumsum([0, *(len(a) - 1 for a in leaf_ptr)])
        used = np.cumsum([0, *(len(a) for a in feature)])
        kept = np.cumsum([0, *(len(a) for a in rows)])
        widest = max((int(a.max()) for a in feature if len(a)), default=0)
        # A plain number keeps the dtype of the array that it is added to.
        linked = [np.where(a >= 0, a + int(n), a - int(m)) for a, n, m in zip(child, nodes, leaves, strict=False)]
        trees = cls(
            roots=np.where(sizes, nodes[:-1], -1 - leaves[:-1]).astype(np.int32),
            child=np.concatenate(linked, dtype=np.int32),
            threshold=np.concatenate(threshold),
            split_ptr=_joined_pointers(split_ptr, used),
            split_feature=np.concatenate(feature, dtype=_feature_dtype(widest), casting="same_kind"),
            split_weight=np.concatenate(weight, dtype=np.float32, casting="same_kind"),
            node_tree=np.repeat(np.arange(len(child), dtype=np.int32), sizes),
            metric_weight=np.concatenate(metric_weight),
            leaf_ptr=_joined_pointers(leaf_ptr, kept),
            leaf_rows=np.concatenate(rows, dtype=np.int32, casting="same_kind"),
            left_out=left_out,
            importance=np.sum(importance, axis=0),
        )
        return trees, np.concatenate(means)

    @property
    def nodes(self) -> tuple[np.ndarray, ...]:
        """What the kernel ``route`` takes."""
        return (self.roots, self.child, self.threshold, self.split_ptr, self.split_feature, self.split_weight)

    def apply(self, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """(n, n_trees) number of the leaf that each row reaches in each tree; leaves are numbered across trees."""
        require(X.shape[1] == len(self.importance), f"X has {X.shape[1]} columns, and the trees {len(self.importance)}")
        tasks = [(X[part], *self.nodes) for part in chunks(len(X))]
        return np.concatenate(in_parallel(_route_some, tasks, n_jobs))

    @staticmethod
    def mean_over_trees(leaf_value: np.ndarray, leaves: np.ndarray, used: np.ndarray | None = None) -> np.ndarray:
        """(n, k) mean of the values of the leaves (n, n_trees) over the trees that are used (n, n_trees), or over all.

        Sums are taken tree by tree and relative to the first: the result of a row depends on no other row, and the mean
        of equal values is exactly that value.
        """
        from .._kernels.forest.leaves import mean_over_trees

        used = np.ones(leaves.shape, dtype=bool) if used is None else used
        means = np.empty((len(leaves), leaf_value.shape[1]))
        mean_over_trees(writable(leaf_value), writable(leaves), writable(used), means)
        return means

    def with_rows(self, leaves: np.ndarray, rows: np.ndarray) -> Trees:
        """Trees whose leaves hold more rows: ``rows[i]`` joins leaf ``leaves[i]``."""
        leaf = np.concatenate([np.repeat(np.arange(self.n_leaves), np.diff(self.leaf_ptr)), leaves])
        order = np.argsort(leaf, kind="stable")
        arrays = self.state
        arrays["leaf_rows"] = np.concatenate([self.leaf_rows, rows])[order]
        arrays["leaf_ptr"] = _pointers(np.bincount(leaf, minlength=self.n_leaves))
        return Trees(**arrays)

    def renumbered(self, keep: np.ndarray) -> Trees:
        """Trees whose leaves number their rows among those of the mask ``keep`` (N,), which has all of them."""
        arrays = self.state
        arrays["leaf_rows"] = (np.cumsum(keep) - 1).astype(np.int32)[self.leaf_rows]
        return Trees(**arrays)

    def with_only(self, keep: np.ndarray, prune: bool) -> tuple[Trees, np.ndarray]:
        """Trees whose leaves hold some of the rows (N,) only, numbered anew, and the leaves that are left.

        With ``prune``, branches to leaves without rows are cut off: a query then follows the other branch.
        """
        from .._kernels.forest.leaves import surviving_nodes

        number = (np.cumsum(keep) - 1).astype(np.int32)
        held = keep[self.leaf_rows]
        sizes = np.diff(np.concatenate([[0], np.cumsum(held)])[self.leaf_ptr])
        arrays = self.without_metric().state
        arrays["leaf_rows"] = number[self.leaf_rows[held]]
        leaves = np.arange(self.n_leaves)
        if prune:
            instead = np.empty(len(self.child), dtype=np.int32)
            surviving_nodes(writable(self.child), sizes, instead)
            leaves = self._cut(arrays, instead, sizes)
        arrays["leaf_ptr"] = _pointers(sizes[leaves])
        return Trees(**arrays), leaves

    def _cut(self, arrays: dict[str, np.ndarray], instead: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Put the nodes that stay into ``arrays``; returns the leaves that stay.

        Parameters
        ----------
        instead : what takes the place of each node (``surviving_nodes``).
        sizes : rows of each leaf.
        """
        at = np.append(instead, np.iinfo(np.int32).max)
        roots = np.where(self.roots >= 0, at[np.maximum(self.roots, -1)], self.roots)
        first = np.searchsorted(self.leaf_tree, np.arange(self.n_trees))
        roots = np.where(roots == at[-1], -1 - first, roots)  # a tree has a leaf, whatever it holds
        kept = sizes > 0
        kept[-1 - roots[roots < 0]] = True
        stays = instead == np.arange(len(instead))
        # New numbers of nodes from the front and, as leaves are counted from -1 down, of leaves from the back.
        place = np.concatenate([np.cumsum(stays) - 1, -np.cumsum(kept, dtype=np.int64)[::-1]]).astype(np.int32)
        below = self.child[stays]
        entries = np.diff(self.split_ptr)
        used = np.repeat(stays, entries)
        feature = self.split_feature[used]
        arrays["roots"] = place[roots]
        arrays["child"] = place[np.where(below >= 0, at[np.maximum(below, -1)], below)]
        arrays["threshold"] = self.threshold[stays]
        arrays["split_ptr"] = _pointers(entries[stays])
        arrays["split_feature"] = feature.astype(_feature_dtype(feature.max(initial=0)))
        arrays["split_weight"] = self.split_weight[used]
        return np.flatnonzero(kept)

    def without_metric(self) -> Trees:
        """Trees without the weights of their splits in the metric."""
        arrays = self.state
        arrays["metric_weight"] = np.empty(0)
        arrays["node_tree"] = np.empty(0, dtype=np.int32)
        return Trees(**arrays)


def _leaf_tree(roots: np.ndarray, tree: np.ndarray) -> np.ndarray:
    """Tree of each leaf, given that of each node: a tree has one leaf more than nodes."""
    return np.repeat(np.arange(len(roots)), np.bincount(tree, minlength=len(roots)) + 1)


def _feature_dtype(widest: int) -> type:
    """The smallest dtype for numbers of features, so that each forest has only one."""
    return np.int16 if widest < 2**15 else np.int32


def _pointer_dtype(last: int) -> type:
    """The smallest dtype for pointers."""
    return np.int32 if last < 2**31 else np.int64


def _pointers(sizes: np.ndarray) -> np.ndarray:
    """Bounds of parts of these sizes that lie one after another."""
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return bounds.astype(_pointer_dtype(bounds[-1]))


def _joined_pointers(parts: tuple[np.ndarray, ...], starts: np.ndarray) -> np.ndarray:
    """Pointers of trees one after another, whose own begin at ``starts``; its last is where all end."""
    moved = [part[:-1] + int(start) for part, start in zip(parts, starts, strict=False)]
    return np.concatenate([*moved, starts[-1:]], dtype=_pointer_dtype(starts[-1]), casting="same_kind")


def _route_some(X: np.ndarray, *nodes: np.ndarray) -> np.ndarray:
    from .._kernels.forest.tree import route

    nodes = tuple(writable(a) for a in nodes)
    leaves = np.empty((len(X), len(nodes[0])), dtype=np.int32)
    route(writable(X), *nodes, leaves)
    return leaves
