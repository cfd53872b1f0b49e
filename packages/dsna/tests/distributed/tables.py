"""Small tables in partitions, and the ordinary model that a distributed one has to equal."""

from __future__ import annotations

from copy import copy
from itertools import pairwise

import numpy as np

from dsna import CostSensitiveForestClassifier, CostSensitiveForestRegressor, DSNAClassifier, DSNARegressor
from dsna.distributed import DistributedDSNAClassifier, DistributedDSNARegressor
from dsna.distributed.arrays_file import StoredShard
from dsna.forest.learned_metric import metric_map
from dsna.forest.trees import Trees
from dsna.neighbors.index import NeighborIndex

N = 900


def classes(n=N, seed=0):
    """A table with a rare class: rows and classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, np.where(score > np.quantile(score, 0.93), "rare", "common")


def targets(n=N, seed=0):
    """A table with a skewed target: rows and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.exp(0.8 * X[:, 0] + 0.2 * X[:, 1]) + 0.1 * rng.normal(size=n)


def pairs_of_targets(n=N, seed=0):
    """A table with two targets of different units: rows and targets."""
    X, y = targets(n, seed)
    return X, np.column_stack([y, 100.0 * X[:, 2] + 10.0 * X[:, 3] ** 2])


def cut(*arrays, at=(250, 260, 700)):
    """Arrays in partitions of different sizes, the third of them empty."""
    bounds = [0, at[0], at[1], at[1], *at[2:], len(arrays[0])]
    return [tuple(a[i:j] for a in arrays) for i, j in pairwise(bounds)]


def classifier(sample_size=400, **params):
    ordinary = DSNAClassifier(CostSensitiveForestClassifier(12), random_state=0, **params)
    return DistributedDSNAClassifier(ordinary, sample_size=sample_size, shard_rows=300)


def regressor(sample_size=400, **params):
    ordinary = DSNARegressor(CostSensitiveForestRegressor(12), random_state=0, **params)
    return DistributedDSNARegressor(ordinary, sample_size=sample_size, shard_rows=300)


def shards_of(model):
    """The shards of a model, in memory."""
    engine = model._placed.engine
    return [s.open() if isinstance(s, StoredShard) else s for s in engine.gather(model._placed.shards)]


def ordinary_of_all_rows(model, X, label, weight=None):
    """One ordinary model with the trees of a distributed one and all rows, built row by row.

    Parameters
    ----------
    model : distributed model.
    X : (n, d) all rows, in the order of the table.
    label : (n,) class numbers or targets, or (n, q) targets.
    """
    from dsna.distributed.blocks import Roles, read_partition
    from dsna.distributed.sampling import hash_rows

    core = model._core
    head, forest = core.model, core.forest
    trees, scaled = forest.trees, core.scaling.transform(X)
    n = len(X)
    weight = np.ones(n) if weight is None else weight
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    hashes = hash_rows(read_partition((X,), Roles(), "X"), 0, seed)
    fold = hashes.fold.copy()
    for shard in shards_of(model):  # the rule of folds has a test of its own
        fold[shard.number] = shard.fold
    k = len(head.classes_) if hasattr(head, "classes_") else 0
    label = label.reshape(n, -1)
    low, high = label.min(axis=0), label.max(axis=0)
    at = ((label - low) / (high - low)).mean(axis=1)
    code = label[:, 0].astype(int) if k else np.searchsorted(np.linspace(0, 1, 11)[1:-1], at)
    reached = trees.apply(scaled)
    rows_of, means, every = [], [], []
    for leaf in range(trees.n_leaves):
        t = trees.leaf_tree[leaf]
        members = [r for r in range(n) if reached[r, t] == leaf and not trees.left_out[t, fold[r]]]
        every.append(members)
        own = np.eye(k)[code[members]] if k else label[members]
        means.append(np.average(own, axis=0, weights=weight[members]) if members else np.zeros(k or label.shape[1]))
        kept = members
        if head.max_neighbors is not None and len(members) > 32:
            held = np.bincount(code[members])
            quota = np.ceil(32 * held / len(members))
            kept = [r for r in members if hashes.draw[r] < quota[code[r]] / held[code[r]]]
        rows_of.append(sorted(kept, key=lambda r: (code[r], r)))
    arrays = trees.state
    arrays["leaf_rows"] = np.array([r for rows in rows_of for r in rows], dtype=np.int32)
    arrays["leaf_ptr"] = np.cumsum([0, *(len(rows) for rows in rows_of)], dtype=np.int32)
    index = NeighborIndex()
    vars(index).update(vars(head._index))
    index.trees, index.leaf_value = Trees(**arrays), np.array(means)
    index.label, index.weight, index.fold = label.astype(float), weight, fold
    index.space = metric_of_all_rows(index.trees, every, None if k else label / label.std(axis=0), weight)
    share = np.bincount(code, weights=weight) / weight.sum() if k else None
    index.rarity = 1.0 / (k * share[code]) if k else np.ones(n)
    index.Z, index.weighed = index.scale_and_map(scaled)[1], np.ones(n, dtype=bool)
    one = copy(head)
    one._index = index
    if not k:
        known = head._index
        kept = known.weight > 0
        relevant = one._relevant(one._density, known.label[kept], known.weight[kept])
        one._rarity = relevant.rarity(index.label)
        one._row_trend = np.empty((n, 0)) if one._trend is None else one._trend.predict(scaled)
    return one, scaled


def metric_of_all_rows(trees, rows_of_leaves, label, weight):
    """The metric in which every split weighs what all rows below it say.

    Parameters
    ----------
    rows_of_leaves : rows that reach each leaf and that its tree has not left out.
    label : (n, q) targets in units of their spread; None of classes.
    """
    above = {int(child): node for node, sides in enumerate(trees.child) for child in sides}
    below = [[] for _ in trees.child]
    for leaf, rows in enumerate(rows_of_leaves):
        node = above.get(-1 - leaf)
        while node is not None:
            below[node] += rows
            node = above.get(node)
    weights = np.zeros(len(below))
    for node, rows in enumerate(below):
        if rows:
            mean = None if label is None else np.average(label[rows], axis=0, weights=weight[rows])
            off = np.ones(len(rows)) if label is None else ((label[rows] - mean) ** 2).sum(axis=1)
            weights[node] = np.sum(weight[rows] * off)
    tree = np.searchsorted(trees.roots, np.arange(len(below)), side="right") - 1
    weighed = Trees(**{**trees.state, "metric_weight": weights, "node_tree": tree.astype(np.int32)})
    return metric_map(weighed, np.ones(trees.n_trees, dtype=bool), len(trees.importance))
