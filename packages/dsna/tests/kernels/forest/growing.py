"""Small tables to grow trees on, and grown trees as nested dictionaries."""

import numpy as np

from dsna._kernels.forest.node_targets import COST_INVERSE, DENSITY_EXACT, GrowthSettings, GrowthTable
from dsna._kernels.forest.tree import grow_tree


def class_table(X, code, weight=None):
    """GrowthTable of a classification with inverse class frequencies in the gain."""
    n = len(code)
    weight = np.ones(n) if weight is None else weight
    share = np.bincount(code, weights=weight) / weight.sum()
    gain = 1.0 / (len(share) * share[code])
    X = np.ascontiguousarray(X, dtype=np.float64)
    return GrowthTable(X.T.copy(), np.zeros((n, 1)), code.astype(np.int64), share[code], weight, gain, np.ones(2))


def label_table(X, label, weight=None, share=None, gain=None):
    """GrowthTable of a regression on labels (n, q)."""
    n = len(label)
    code = np.unique(label, axis=0, return_inverse=True)[1].ravel()
    ones = np.ones(n)
    return GrowthTable(
        np.asarray(X, dtype=np.float64).T.copy(),
        np.ascontiguousarray(label, dtype=np.float64),
        code.astype(np.int64),
        ones if share is None else share,
        ones if weight is None else weight,
        ones if gain is None else gain,
        np.ones(2),
    )


def growth_of(table, n_classes, **changes):
    """How to grow on a table: no limits, the sign as cut, costs 1 / p."""
    setting = {
        "n_classes": n_classes,
        "n_codes": int(table.code.max()) + 1,
        "max_depth": 30,
        "min_leaf": 1,
        "max_split": 100_000,
        "group_features": 0,
        "free_cut": 0,
        "common_scale": 0,
        "cost": COST_INVERSE,
        "density": DENSITY_EXACT,
        "axis": 0,
        "rows_per_feature": 0,
        "C": 10.0,
        "epsilon": 0.1,
    }
    return GrowthSettings(**{**setting, **changes})


def label_order(table, n_classes, some=None):
    """Rows sorted by class or label, as trees take them."""
    some = np.arange(len(table.code)) if some is None else some
    key = table.code if n_classes else table.label[:, 0]
    return some[np.argsort(key[some], kind="stable")].astype(np.int32)


class GrownTree:
    """One tree: its arrays, and its nodes as dictionaries that know their rows and depth."""

    def __init__(self, table, growth, sizes, seed=0, some=None):
        self.table = table
        self.growth = growth
        self.rows = label_order(table, growth.n_classes, some)
        self.arrays = grow_tree(self.rows, table, growth, np.asarray(sizes, dtype=np.int64), seed)
        names = ("child", "threshold", "split_ptr", "feature", "weight", "metric_weight", "leaf_ptr")
        for name, array in zip(names, self.arrays, strict=False):
            setattr(self, name, array)
        self.importance = self.arrays[7]
        self.root = self._node(0 if len(self.child) else -1)
        self._fill(self.root, label_order(table, growth.n_classes, some), 0)

    def _node(self, k):
        if k < 0:
            return {"leaf": int(-1 - k)}
        part = slice(self.split_ptr[k], self.split_ptr[k + 1])
        return {
            "number": k,
            "split": dict(zip(self.feature[part].tolist(), self.weight[part].tolist(), strict=True)),
            "threshold": self.threshold[k],
            "left": self._node(self.child[k, 0]),
            "right": self._node(self.child[k, 1]),
        }

    def _fill(self, node, rows, depth):
        node["rows"], node["depth"] = rows, depth
        if "leaf" not in node:
            goes_left = np.array([goes(node, self.table.columns[:, r]) for r in rows])
            self._fill(node["left"], rows[goes_left], depth + 1)
            self._fill(node["right"], rows[~goes_left], depth + 1)

    def nodes(self, node=None):
        node = self.root if node is None else node
        yield node
        if "leaf" not in node:
            yield from self.nodes(node["left"])
            yield from self.nodes(node["right"])

    def leaves(self):
        return [node for node in self.nodes() if "leaf" in node]

    def splits(self):
        return [node for node in self.nodes() if "leaf" not in node]

    def leaf_of(self, x):
        node = self.root
        while "leaf" not in node:
            node = node["left"] if goes(node, x) else node["right"]
        return node["leaf"]


def goes(node, x):
    """Whether a row goes left."""
    value = 0.0
    for feature, weight in node["split"].items():
        value += weight * x[feature]
    return value < node["threshold"]
