"""Trees as flat arrays: parallel growth, routing of rows, and the contents of leaves.

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

#: One tree: child, threshold, split_ptr, split_feature, split_weight, metric_weight, importance, leaf_ptr, leaf_rows,
#: means of leaves.
GrownTree: TypeAlias = tuple[np.ndarray, ...]


class Leaves(NamedTuple):
    """Values that leaves average, and the number of rows that they keep; n training rows.

    Attributes
    ----------
    values : (n_codes, k) one-hot classes or targets, which leaves average.
    weight : (n,) weights in these means.
    code : (n,) number of the class or target of each row, an index into ``values``.
    max_rows : maximum number of rows of a leaf, shared among its classes or targets, at least one each; None: all.
    """

    values: np.ndarray
    weight: np.ndarray
    code: np.ndarray
    max_rows: int | None = None

    def ordered(self, order: np.ndarray, cached: dict[int, np.ndarray]) -> Leaves:
        """Return the same for reordered rows; ``cached`` holds arrays already in that order by the ids of ours."""
        weight, code = (
            cached[id(values)] if id(values) in cached else values[order] for values in (self.weight, self.code)
        )
        return Leaves(self.values, weight, code, self.max_rows)

    def fill(self, leaf_ptr: np.ndarray, leaf_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(leaf_ptr, leaf_rows, leaf_value): the rows that leaves keep, and the means over all of their rows.

        Rows of a leaf must be sorted by class or target, in the same order in all leaves: leaves then drop the same
        rows, and proximities stay comparable.
        """
        from .._kernels.forest.leaves import fill_leaf_means, mark_kept_rows

        leaf_ptr, leaf_rows = writable(leaf_ptr), writable(leaf_rows)
        means = np.empty((len(leaf_ptr) - 1, self.values.shape[1]))
        fill_leaf_means(leaf_ptr, leaf_rows, writable(self.values), writable(self.code), writable(self.weight), means)
        if self.max_rows is None:
            return leaf_ptr, leaf_rows, means
        keep, kept_ptr = np.empty(len(leaf_rows), dtype=bool), np.empty_like(leaf_ptr)
        mark_kept_rows(leaf_ptr, leaf_rows, writable(self.code), self.max_rows, keep, kept_ptr)
        return kept_ptr, leaf_rows[keep], means


class GrowthJob(NamedTuple):
    """Parameters of one tree's growth."""

    fold: np.ndarray  # (n,) held-out fold of each row
    left_out: np.ndarray  # (N_FOLDS,) whether the tree leaves out each fold
    bootstrap_seed: int | None  # None: no bootstrap
    seed: int  # of the splits


def _grow_chunk(
    table: tuple[np.ndarray, ...],
    leaves: Leaves,
    growth: dict[str, Any],
    subset_sizes: np.ndarray,
    jobs: list[GrowthJob],
) -> list[GrownTree]:
    """Grow a chunk of trees on a table whose rows are sorted by class or target."""
    from .._kernels.forest.node_targets import GrowthSettings, GrowthTable
    from .._kernels.forest.tree import grow_tree

    columns, label, code, share, weight, gain, cost_table = (writable(a) for a in table)
    grown = []
    for job in jobs:
        rows = np.flatnonzero(~job.left_out[job.fold]).astype(np.int32)
        tree_weight = weight
        if job.bootstrap_seed is not None:
            sampled_rows = np.random.RandomState(job.bootstrap_seed).choice(rows, len(rows))
            counts = np.bincount(sampled_rows, minlength=len(weight))
            tree_weight, rows = weight * counts, rows[counts[rows] > 0]
        tree_table = GrowthTable(columns, label, code, share, tree_weight, gain, cost_table)
        *arrays, leaf_ptr, importance = grow_tree(
            rows, tree_table, GrowthSettings(**growth), writable(subset_sizes), job.seed
        )
        grown.append((*arrays, importance, *leaves.fill(leaf_ptr, rows)))
    return grown


def grow_trees(
    table: tuple[np.ndarray, ...],
    leaves: Leaves,
    growth: dict[str, Any],
    subset_sizes: np.ndarray,
    jobs: list[GrowthJob],
    n_jobs: int | None,
    verbose: int = 0,
) -> list[GrownTree]:
    """Grow one tree per job in parallel; return each as the arrays that ``Trees.join`` takes."""
    per_task = 1 if verbose else max(1, -(-len(jobs) // (4 * effective_n_jobs(n_jobs))))
    tasks = [(table, leaves, growth, subset_sizes, jobs[chunk]) for chunk in chunks(len(jobs), per_task)]
    return [tree for task in in_parallel(_grow_chunk, tasks, n_jobs, "trees" * bool(verbose)) for tree in task]


def in_input_units(grown: list[GrownTree], space: np.ndarray) -> list[GrownTree]:
    """Convert trees grown on ``X @ space`` to trees on X, whose splits use all columns that ``space`` uses."""
    used_columns = np.flatnonzero(space.any(axis=1)).astype(np.int32)
    to_input = np.ascontiguousarray(space[used_columns].T)
    shares = np.abs(space) / np.maximum(np.abs(space).sum(axis=0), 1e-300).sum()
    mapped_trees: list[GrownTree] = []
    for child, threshold, split_ptr, feature, weight, metric_weight, importance, *leaves in grown:
        input_weight = csr_array((weight, feature, split_ptr), shape=(len(child), len(to_input))) @ to_input
        new_ptr = np.arange(len(child) + 1) * len(used_columns)
        split = (new_ptr, np.tile(used_columns, len(child)), input_weight.astype(np.float32).ravel())
        mapped_trees.append((child, threshold, *split, metric_weight, shares @ importance, *leaves))
    return mapped_trees


class Trees(Checked):
    """The trees of a forest and the training rows in their leaves.

    Attributes
    ----------
    roots : (n_trees,) first node of each tree, or -1 - leaf for a tree of one leaf.
    child, threshold, split_ptr, split_feature, split_weight : nodes of all trees, one after another.
    node_tree : tree of each node.
    metric_weight : weight of each split in the metric; this and ``node_tree`` are empty after ``without_metric``.
    leaf_ptr, leaf_rows : training rows of each leaf, tree by tree.
    left_out : (n_trees, N_FOLDS) whether a tree has left out a fold.
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
        largest_feature = self.split_feature.max(initial=0)
        require(self.split_feature.dtype == _feature_dtype(largest_feature), "Trees.split_feature has the wrong dtype")
        require(self.split_ptr.dtype == _pointer_dtype(sizes["entries"]), "Trees.split_ptr has the wrong dtype")
        require(self.leaf_ptr.dtype == _pointer_dtype(sizes["held"]), "Trees.leaf_ptr has the wrong dtype")
        counts_match = sizes["leaves"] == sizes["nodes"] + sizes["trees"]
        require(counts_match, "Trees.leaf_ptr and the nodes have different numbers of leaves")
        trees_with_nodes, trees_of_one_leaf = np.flatnonzero(self.roots >= 0), np.flatnonzero(self.roots < 0)
        first_nodes = self.roots[trees_with_nodes]
        node_tree = tree_of_nodes("Trees", first_nodes, trees_with_nodes, sizes["nodes"])
        parents, branches = np.nonzero(self.child >= 0)
        check_links("Trees", node_tree, first_nodes, parents, self.child[parents, branches])
        leaf_parents, branches = np.nonzero(self.child < 0)
        leaf_numbers = -1 - np.concatenate([self.child[leaf_parents, branches], self.roots[trees_of_one_leaf]])
        check_leaves(
            "Trees",
            leaf_numbers,
            np.concatenate([node_tree[leaf_parents], trees_of_one_leaf]),
            _leaf_tree(self.roots, node_tree),
        )
        trees_match = sizes["weighed"] == 0 or np.array_equal(self.node_tree, node_tree)
        require(trees_match, "Trees.node_tree is inconsistent with the roots and children")

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
        """Raise an InvariantError if a leaf holds a row number of ``n_rows`` or more."""
        require(
            self.leaf_rows.max(initial=-1) < n_rows,
            f"Trees.leaf_rows contains row numbers beyond the last of {n_rows} rows",
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def feature_importances(self) -> np.ndarray:
        """(n_features,) share of each feature in the gains of all splits; zeros if there are no splits."""
        total = self.importance.sum()
        return self.importance / total if total > 0 else np.zeros_like(self.importance)

    @property
    def n_leaves(self) -> int:
        """Total number of leaves."""
        return len(self.leaf_ptr) - 1

    @property
    def leaf_tree(self) -> np.ndarray:
        """(n_leaves,) tree of each leaf."""
        trees_with_nodes = np.flatnonzero(self.roots >= 0)
        return _leaf_tree(
            self.roots, tree_of_nodes("Trees", self.roots[trees_with_nodes], trees_with_nodes, len(self.child))
        )

    @classmethod
    def join(cls, grown: list[GrownTree], left_out: np.ndarray) -> tuple[Trees, np.ndarray]:
        """Join single trees; return them and the means of all leaves."""
        child, threshold, split_ptr, feature, weight, metric_weight, importance, leaf_ptr, rows, means = zip(
            *grown, strict=True
        )
        n_nodes = [len(array) for array in child]
        node_starts = np.cumsum([0, *n_nodes])
        leaf_starts = np.cumsum([0, *(len(array) - 1 for array in leaf_ptr)])
        entry_starts = np.cumsum([0, *(len(array) for array in feature)])
        row_starts = np.cumsum([0, *(len(array) for array in rows)])
        largest_feature = max((int(array.max()) for array in feature if len(array)), default=0)
        # Adding a Python int keeps the dtype of the array.
        children = [
            np.where(array >= 0, array + int(first_node), array - int(first_leaf))
            for array, first_node, first_leaf in zip(child, node_starts, leaf_starts, strict=False)
        ]
        trees = cls(
            roots=np.where(n_nodes, node_starts[:-1], -1 - leaf_starts[:-1]).astype(np.int32),
            child=np.concatenate(children, dtype=np.int32),
            threshold=np.concatenate(threshold),
            split_ptr=_joined_pointers(split_ptr, entry_starts),
            split_feature=np.concatenate(feature, dtype=_feature_dtype(largest_feature), casting="same_kind"),
            split_weight=np.concatenate(weight, dtype=np.float32, casting="same_kind"),
            node_tree=np.repeat(np.arange(len(child), dtype=np.int32), n_nodes),
            metric_weight=np.concatenate(metric_weight),
            leaf_ptr=_joined_pointers(leaf_ptr, row_starts),
            leaf_rows=np.concatenate(rows, dtype=np.int32, casting="same_kind"),
            left_out=left_out,
            importance=np.sum(importance, axis=0),
        )
        return trees, np.concatenate(means)

    @property
    def nodes(self) -> tuple[np.ndarray, ...]:
        """Arguments of the kernel ``route``."""
        return (self.roots, self.child, self.threshold, self.split_ptr, self.split_feature, self.split_weight)

    def apply(self, X: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """(n, n_trees) leaf that each row reaches in each tree; leaf numbers are unique across trees."""
        require(X.shape[1] == len(self.importance), f"X has {X.shape[1]} columns, and the trees {len(self.importance)}")
        tasks = [(X[chunk], *self.nodes) for chunk in chunks(len(X))]
        return np.concatenate(in_parallel(_route_chunk, tasks, n_jobs))

    @staticmethod
    def mean_over_trees(leaf_value: np.ndarray, leaves: np.ndarray, tree_mask: np.ndarray | None = None) -> np.ndarray:
        """(n, k) mean of the values of the leaves (n, n_trees) over the trees in a mask (n, n_trees), or over all.

        Sums are taken tree by tree and relative to the first: the result of a row does not depend on other rows, and
        the mean of equal values is exactly that value.
        """
        from .._kernels.forest.leaves import mean_over_trees

        tree_mask = np.ones(leaves.shape, dtype=bool) if tree_mask is None else tree_mask
        means = np.empty((len(leaves), leaf_value.shape[1]))
        mean_over_trees(writable(leaf_value), writable(leaves), writable(tree_mask), means)
        return means

    def with_rows(self, leaves: np.ndarray, rows: np.ndarray) -> Trees:
        """Return trees with additional rows in their leaves: ``rows[i]`` in leaf ``leaves[i]``."""
        leaf_of_entry = np.concatenate([np.repeat(np.arange(self.n_leaves), np.diff(self.leaf_ptr)), leaves])
        order = np.argsort(leaf_of_entry, kind="stable")
        arrays = self.state
        arrays["leaf_rows"] = np.concatenate([self.leaf_rows, rows])[order]
        arrays["leaf_ptr"] = _pointers(np.bincount(leaf_of_entry, minlength=self.n_leaves))
        return Trees(**arrays)

    def renumbered(self, keep: np.ndarray) -> Trees:
        """Return trees whose row numbers count only the rows in the mask ``keep`` (N,), which must include all."""
        arrays = self.state
        arrays["leaf_rows"] = (np.cumsum(keep) - 1).astype(np.int32)[self.leaf_rows]
        return Trees(**arrays)

    def restricted_to(self, keep: np.ndarray, prune: bool) -> tuple[Trees, np.ndarray]:
        """Return trees restricted to the rows in the mask ``keep`` (N,), renumbered, and the leaves that are kept.

        With ``prune``, branches to empty leaves are removed: queries then follow the other branch.
        """
        from .._kernels.forest.leaves import surviving_nodes

        new_number = (np.cumsum(keep) - 1).astype(np.int32)
        entry_is_kept = keep[self.leaf_rows]
        leaf_sizes = np.diff(np.concatenate([[0], np.cumsum(entry_is_kept)])[self.leaf_ptr])
        arrays = self.without_metric().state
        arrays["leaf_rows"] = new_number[self.leaf_rows[entry_is_kept]]
        leaves = np.arange(self.n_leaves)
        if prune:
            replacement = np.empty(len(self.child), dtype=np.int32)
            surviving_nodes(writable(self.child), leaf_sizes, replacement)
            leaves = self._prune(arrays, replacement, leaf_sizes)
        arrays["leaf_ptr"] = _pointers(leaf_sizes[leaves])
        return Trees(**arrays), leaves

    def _prune(self, arrays: dict[str, np.ndarray], replacement: np.ndarray, leaf_sizes: np.ndarray) -> np.ndarray:
        """Write the remaining nodes to ``arrays``; return the remaining leaves.

        Parameters
        ----------
        replacement : node or leaf that replaces each node (``surviving_nodes``).
        leaf_sizes : number of rows of each leaf.
        """
        padded_replacement = np.append(replacement, np.iinfo(np.int32).max)
        roots = np.where(self.roots >= 0, padded_replacement[np.maximum(self.roots, -1)], self.roots)
        first_leaf = np.searchsorted(self.leaf_tree, np.arange(self.n_trees))
        roots = np.where(roots == padded_replacement[-1], -1 - first_leaf, roots)  # a tree keeps at least one leaf
        is_kept_leaf = leaf_sizes > 0
        is_kept_leaf[-1 - roots[roots < 0]] = True
        is_kept_node = replacement == np.arange(len(replacement))
        # New numbers of nodes at the front and, because leaves count down from -1, of leaves at the back.
        new_number = np.concatenate(
            [np.cumsum(is_kept_node) - 1, -np.cumsum(is_kept_leaf, dtype=np.int64)[::-1]]
        ).astype(np.int32)
        child = self.child[is_kept_node]
        entry_counts = np.diff(self.split_ptr)
        is_kept_entry = np.repeat(is_kept_node, entry_counts)
        feature = self.split_feature[is_kept_entry]
        arrays["roots"] = new_number[roots]
        arrays["child"] = new_number[np.where(child >= 0, padded_replacement[np.maximum(child, -1)], child)]
        arrays["threshold"] = self.threshold[is_kept_node]
        arrays["split_ptr"] = _pointers(entry_counts[is_kept_node])
        arrays["split_feature"] = feature.astype(_feature_dtype(feature.max(initial=0)))
        arrays["split_weight"] = self.split_weight[is_kept_entry]
        return np.flatnonzero(is_kept_leaf)

    def without_metric(self) -> Trees:
        """Return trees without the weights of their splits in the metric."""
        arrays = self.state
        arrays["metric_weight"] = np.empty(0)
        arrays["node_tree"] = np.empty(0, dtype=np.int32)
        return Trees(**arrays)


def _leaf_tree(roots: np.ndarray, tree: np.ndarray) -> np.ndarray:
    """(n_leaves,) tree of each leaf, from the tree of each node: a tree has one more leaf than nodes."""
    return np.repeat(np.arange(len(roots)), np.bincount(tree, minlength=len(roots)) + 1)


def _feature_dtype(widest: int) -> type:
    """Smallest dtype for feature numbers; the dtype of valid trees is thus unique."""
    return np.int16 if widest < 2**15 else np.int32


def _pointer_dtype(last: int) -> type:
    """Smallest dtype for pointers."""
    return np.int32 if last < 2**31 else np.int64


def _pointers(sizes: np.ndarray) -> np.ndarray:
    """Return the bounds of successive blocks of the given sizes."""
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return bounds.astype(_pointer_dtype(bounds[-1]))


def _joined_pointers(pointers: tuple[np.ndarray, ...], starts: np.ndarray) -> np.ndarray:
    """Join the pointers of single trees, whose entries begin at ``starts``; the last start is the end of all."""
    shifted = [tree_pointers[:-1] + int(start) for tree_pointers, start in zip(pointers, starts, strict=False)]
    return np.concatenate([*shifted, starts[-1:]], dtype=_pointer_dtype(starts[-1]), casting="same_kind")


def _route_chunk(X: np.ndarray, *nodes: np.ndarray) -> np.ndarray:
    from .._kernels.forest.tree import route

    nodes = tuple(writable(a) for a in nodes)
    leaves = np.empty((len(X), len(nodes[0])), dtype=np.int32)
    route(writable(X), *nodes, leaves)
    return leaves
