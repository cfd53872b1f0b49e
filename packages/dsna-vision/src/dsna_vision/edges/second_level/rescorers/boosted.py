"""Boosted trees as rescorer, trained by LightGBM and stored as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from dsna.extend.containers import Array, Checked, Number, check_links, require, tree_of_nodes
from dsna.extend.optional import import_extra
from dsna.extend.parallel import writable

_MAX_COLUMNS = 2**15 - 1
_MAX_LEAF_VALUE = 1e6  # limit for leaf values
_LEAVES, _RATE, _FEATURE_FRACTION, _BAGGING_FRACTION, _BINS, _MIN_LEAF_ROWS, _RIDGE = 48, 0.08, 0.2, 0.7, 63, 60, 5.0


@dataclass
class BoostedTrees(Checked):
    """Trees whose leaf values sum to log odds.

    Parameters
    ----------
    root : array of shape (n_trees,), int64
        First node of each tree.
    child, feature, number : arrays of shape (n_nodes,)
        Nodes, laid out as in ``dsna_vision._kernels.second_level.rescoring``.
    base : float
        Log odds before any tree.
    n_columns : int

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    >>> trees = fit_boosted(rows, (rows[:, 0] > 0).astype(float), 20, seed=0)
    >>> trees(np.array([[-2, 0, 0], [2, 0, 0]], dtype=np.float32)) > 0.5
    array([False,  True])
    """

    root: np.ndarray
    child: np.ndarray
    feature: np.ndarray
    number: np.ndarray
    base: float
    n_columns: int

    FIELDS = {
        "root": Array("int64", "trees"),
        "child": Array("int32", "nodes", low=-1),
        "feature": Array("int16", "nodes", low=0),
        "number": Array("float64", "nodes"),
        "base": Number(-_MAX_LEAF_VALUE, _MAX_LEAF_VALUE),
        "n_columns": Number(1, _MAX_COLUMNS, whole=True),
    }
    NOT_EMPTY = ("trees",)

    def __post_init__(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        owner = "BoostedTrees"
        tree = tree_of_nodes(owner, self.root, np.arange(sizes["trees"]), sizes["nodes"])
        split = np.flatnonzero(self.child >= 0)
        child = self.child[split].astype(np.int64)
        check_links(owner, tree, self.root, np.tile(split, 2), np.concatenate([child, child + 1]))
        require(self.feature.max() < self.n_columns, f"{owner} splits on columns that do not exist")
        leaf = np.abs(self.number[self.child < 0])
        require(leaf.max() <= _MAX_LEAF_VALUE, f"{owner} has leaves of more than {_MAX_LEAF_VALUE:g}")

    def log_odds(self, rows: np.ndarray) -> np.ndarray:
        """Log odds of rows (n, n_columns), float32."""
        from ...._kernels.second_level.rescoring import add_trees

        total = np.full(len(rows), float(self.base))
        nodes = (self.root, self.child, self.feature, self.number)
        add_trees(writable(rows), *map(writable, nodes), total)
        return total

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Share of people, for rows (n, n_columns), float32."""
        share: np.ndarray = expit(self.log_odds(rows))
        return share


def fit_boosted(rows: np.ndarray, share: np.ndarray, n_trees: int, seed: int) -> BoostedTrees:
    """Fit boosted trees with LightGBM, on one thread so that sums are reproducible.

    Parameters
    ----------
    rows : array of shape (n, n_columns), float32
    share : array of shape (n,)
        From 0 to 1.
    n_trees : int
    seed : int

    Returns
    -------
    BoostedTrees
    """
    return as_boosted_trees(boosting(rows, share, n_trees, seed))


def boosting(rows: np.ndarray, share: np.ndarray, n_trees: int, seed: int) -> Any:
    """Train a LightGBM Booster on shares with cross-entropy."""
    lightgbm = import_extra("lightgbm", "train", package="dsna-vision")
    settings = {
        "objective": "cross_entropy",  # allows labels between 0 and 1
        "num_leaves": _LEAVES,
        "learning_rate": _RATE,
        "feature_fraction": _FEATURE_FRACTION,
        "bagging_fraction": _BAGGING_FRACTION,
        "bagging_freq": 1,
        "min_data_in_leaf": _MIN_LEAF_ROWS,
        "lambda_l2": _RIDGE,
        "max_bin": _BINS,
        "seed": seed % 2**31,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbose": -1,
    }
    return lightgbm.train(settings, lightgbm.Dataset(rows, np.asarray(share)), n_trees)


def as_boosted_trees(booster: Any) -> BoostedTrees:
    """Convert the trees of a LightGBM Booster to plain arrays."""
    dumped = booster.dump_model()
    trees = [_level_order(child["tree_structure"]) for child in dumped["tree_info"]]
    root = np.cumsum([0, *(len(children) for children, _, _ in trees)])
    children = [
        np.where(child < 0, -1, child + first_node) for (child, _, _), first_node in zip(trees, root, strict=False)
    ]
    return BoostedTrees(
        root=root[:-1].astype(np.int64),
        child=np.concatenate(children).astype(np.int32),
        feature=np.concatenate([feature for _, feature, _ in trees]).astype(np.int16),
        number=np.concatenate([number for _, _, number in trees]),
        base=0.0,  # the first tree holds it
        n_columns=int(dumped["max_feature_idx"]) + 1,
    )


def _level_order(tree: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of a tree level by level, with the two children of a node adjacent."""
    order, child = [tree], []
    for node in order:  # grows on the way
        leaf = "left_child" not in node
        child.append(-1 if leaf else len(order))
        if not leaf:
            order += [node["left_child"], node["right_child"]]
    feature = [node.get("split_feature", 0) for node in order]
    number = [float(node["threshold"] if "left_child" in node else node["leaf_value"]) for node in order]
    return np.array(child), np.array(feature), np.array(number)
