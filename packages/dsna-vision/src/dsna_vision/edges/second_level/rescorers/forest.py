"""A cost-sensitive forest as rescorer: candidates are rows of a table, wide, and few of them are edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsna import CostSensitiveForestRegressor
from dsna.extend.containers import Array, Checked, Part, Scaling, Trees

_MOST_ROWS = 30_000  # that a forest learns from: its time and size grow with them


@dataclass
class ForestScore(Checked):
    """Trees whose leaves hold mean shares of people.

    Parameters
    ----------
    scaling : Scaling
    trees : Trees
        Without training rows.
    value : array of shape (n_leaves, 1), float64
        Mean share of people in each leaf.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    >>> forest = fit_forest(rows, (rows[:, 0] > 0).astype(float), 5, seed=0)
    >>> forest(np.array([[-2, 0, 0], [2, 0, 0]], dtype=np.float32)) > 0.5
    array([False,  True])
    """

    scaling: Scaling
    trees: Trees
    value: np.ndarray

    FIELDS = {
        "scaling": Part("Scaling", "features=columns"),
        "trees": Part("Trees", "features=columns leaves"),
        "value": Array("float64", "leaves, 1", 0.0, 1.0),
    }

    def __post_init__(self) -> None:
        self.check()

    @property
    def n_columns(self) -> int:
        """How many numbers describe a candidate."""
        return len(self.scaling.offset)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Share of people, for rows (n, n_columns), float32."""
        if not len(rows):
            return np.empty(0)
        leaves = self.trees.apply(self.scaling.transform(rows.astype(np.float64)))
        return self.trees.mean_over_trees(self.value, leaves)[:, 0]


def fit_forest(rows: np.ndarray, share: np.ndarray, n_trees: int, seed: int) -> ForestScore:
    """A :class:`dsna.CostSensitiveForestRegressor` on at most 30,000 of the rows, drawn at random.

    Parameters
    ----------
    rows : array of shape (n, n_columns), float32
    share : array of shape (n,)
        From 0 to 1.
    n_trees : int
    seed : int

    Returns
    -------
    ForestScore
    """
    some = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_MOST_ROWS])
    model = CostSensitiveForestRegressor(n_trees, random_state=seed).fit(rows[some].astype(np.float64), share[some])
    state = model.trees_.without_metric().state
    state["leaf_rows"], state["leaf_ptr"] = state["leaf_rows"][:0], np.zeros(len(state["leaf_ptr"]), dtype=np.int32)
    return ForestScore(model._scaling, Trees(**state), np.clip(model._leaf_value, 0.0, 1.0))
