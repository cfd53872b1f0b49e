"""Sparse neighbour approximation as rescorer: candidates are made of others, whose shares of people they take over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dsna import Approximation, CostSensitiveForestRegressor, DSNARegressor
from dsna.extend.containers import Checked, Part, require
from dsna.extend.solver import NeighborIndex, Rule, solve

_MOST_ROWS, _MOST_TREES, _LEAF = 30_000, 50, 20


@dataclass
class NeighborScore(Checked):
    """Neighbours among candidates of training photos, and how their shares of people are weighed.

    Parameters
    ----------
    index : NeighborIndex
        With shares as targets.
    rule : Rule
        Without a trend.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    >>> near = fit_neighbors(rows, (rows[:, 0] > 0).astype(float), 5, seed=0)
    >>> near(np.array([[-2, 0, 0], [2, 0, 0]], dtype=np.float32)) > 0.5
    array([False,  True])
    """

    index: NeighborIndex
    rule: Rule

    FIELDS = {"index": Part("NeighborIndex", "features=columns outputs"), "rule": Part("Rule")}

    def __post_init__(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        label, rule = self.index.label, self.rule
        shares = label.shape[1] == 1 and label.min() >= 0.0 and label.max() <= 1.0
        require(shares, "NeighborScore has targets that are no shares")
        plain = rule.decision == "mean" and rule.offset == rule.pull == rule.balance == 0.0
        require(plain, "NeighborScore has a rule other than the mean of its neighbours' shares")

    @property
    def n_columns(self) -> int:
        """How many numbers describe a candidate."""
        return len(self.index.scaling.offset)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Share of people, for rows (n, n_columns), float32."""
        if not len(rows):
            return np.empty(0)
        scaled, Q = self.index.place(rows.astype(np.float64))
        near = self.index.neighbors(scaled, Q)
        label, how = self.index.label, Approximation().kernel_settings(0)
        known = label if self.index.held is None else label[self.index.held]
        alpha = solve(Q, self.index.Z, known, np.ones(1), near, how, None)["alpha"]
        weights = self.rule.weights(alpha, near.kernel, np.ones(alpha.shape))
        share: np.ndarray = np.clip(self.rule.predict(weights, label[near.rows], label)[:, 0], 0.0, 1.0)
        return share


def fit_neighbors(rows: np.ndarray, share: np.ndarray, n_trees: int, seed: int) -> NeighborScore:
    """A :class:`dsna.DSNARegressor` on at most 30,000 of the rows, drawn at random, with at most 50 trees.

    Parameters
    ----------
    rows : array of shape (n, n_columns), float32
    share : array of shape (n,)
        From 0 to 1.
    n_trees : int
    seed : int

    Returns
    -------
    NeighborScore
    """
    some = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_MOST_ROWS])
    forest = CostSensitiveForestRegressor(min(n_trees, _MOST_TREES), min_samples_leaf=_LEAF)
    model = DSNARegressor(
        forest, balance=0.0, decision="mean", criterion="squared_error", trend=None, random_state=seed
    )
    model.fit(rows[some].astype(np.float64), share[some])
    return NeighborScore(model._index, model._rule)
