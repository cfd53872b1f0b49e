"""Means and ranks of the methods; wins, ties and losses of our default against each peer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from .methods import DEFAULT
from .scores import DIRECTIONS, MAIN, METRICS, TIMES

TIE = 0.001  # smaller differences of a score are a tie
ENOUGH_RARE = 30  # rare rows in all tables, below which differences are chance
ENOUGH = 0.9  # share of the tables that a method must have finished to be compared


@dataclass(frozen=True)
class Comparison:
    """Scores of methods on the tables that all of them finished.

    Attributes
    ----------
    task : str
    means : data frame, indexed by (dataset, method)
        Mean over folds and seeds of each score, and `seconds`, the sum of the times.
    left_out : tuple of str
        Methods that finished less than nine in ten of the tables.
    unfinished : tuple of str
        Tables that not all the other methods finished.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF", "kNN"]], names=["dataset", "method"])
    >>> compared = Comparison("regression", pd.DataFrame({"mae": [0.2, 0.3]}, index=index), (), ())
    >>> compared.table("mae")
    method    RF  kNN
    dataset
    a        0.2  0.3
    """

    task: str
    means: pd.DataFrame
    left_out: tuple[str, ...]
    unfinished: tuple[str, ...]

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order of the tables."""
        return list(dict.fromkeys(self.means.index.get_level_values("method")))

    @property
    def datasets(self) -> list[str]:
        """Names of the tables."""
        return list(dict.fromkeys(self.means.index.get_level_values("dataset")))

    def table(self, metric: str) -> pd.DataFrame:
        """Score of each method (columns) on each data set (rows); methods without such a score are left out."""
        wide = self.means[metric].unstack("method")[self.methods]
        return wide.loc[:, wide.notna().any()]


def compare(rows: pd.DataFrame, task: str, methods: Sequence[str], runs: int) -> Comparison:
    """Average results over folds and seeds, and keep what can be compared.

    Parameters
    ----------
    rows : data frame of results
    task : {"classification", "regression"}
    methods : sequence of str
        Those to compare, in the order wanted.
    runs : int
        Folds times seeds: a table is finished by a method when it has as many results.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"task": "regression", "dataset": "a", "method": ["RF", "RF"], "mae": [0.1, 0.3]})
    >>> rows = rows.assign(fit_seconds=1.0, predict_seconds=0.5)
    >>> compare(rows, "regression", ["RF"], runs=2).means[["mae", "seconds"]]
                    mae  seconds
    dataset method
    a       RF      0.2      3.0
    """
    rows = rows[(rows["task"] == task) & rows["method"].isin(methods)]
    groups = rows.assign(seconds=rows[list(TIMES)].sum(axis=1)).groupby(["dataset", "method"])
    scores = [name for name in METRICS[task] if name in rows]
    means = groups[scores].mean().assign(seconds=groups["seconds"].sum())[groups.size() == runs]
    datasets = sorted(rows["dataset"].unique())
    done = means.index.get_level_values("method").value_counts().reindex(list(methods), fill_value=0)
    kept = [name for name in methods if done[name] and done[name] >= ENOUGH * len(datasets)]
    finished = means["seconds"].unstack("method").reindex(index=datasets, columns=kept).notna().all(axis=1)
    names = [name for name in datasets if finished[name]]
    order = pd.MultiIndex.from_product([names, kept], names=["dataset", "method"])
    return Comparison(
        task,
        means.reindex(order),
        tuple(name for name in methods if name not in kept),
        tuple(name for name in datasets if name not in names),
    )


def ranks(scores: pd.DataFrame, direction: int) -> pd.DataFrame:
    """Rank of each method (columns) on each data set (rows): 1 is best, ties share the mean of their ranks.

    Parameters
    ----------
    scores : data frame, data sets x methods
    direction : {1, -1}
        Whether higher or lower is better.

    Returns
    -------
    data frame of the same shape

    Examples
    --------
    >>> import pandas as pd
    >>> ranks(pd.DataFrame({"a": [0.9], "b": [0.7], "c": [0.9]}), 1)
         a    b    c
    0  1.5  3.0  1.5
    """
    return scores.rank(axis=1, ascending=direction < 0, method="average")


def summary(compared: Comparison) -> pd.DataFrame:
    """Mean of each score over data sets, mean rank by each main score, and seconds in all; one row for each method.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a", "b"], ["RF", "kNN"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.3, 0.4, 0.1], "seconds": 1.0}, index=index)
    >>> summary(Comparison("regression", frame, (), ()))
            mae  rank mae  seconds
    method
    RF      0.3       1.5      2.0
    kNN     0.2       1.5      2.0
    """
    groups = compared.means.groupby("method", sort=False)
    lines = groups.mean().drop(columns="seconds").dropna(axis=1, how="all")
    for metric in MAIN[compared.task]:
        if metric in lines:
            lines[f"rank {metric}"] = ranks(compared.table(metric), DIRECTIONS[compared.task][metric]).mean()
    return lines.assign(seconds=groups["seconds"].sum())


def pairs(compared: Comparison, peers: Sequence[str], ours: str = DEFAULT) -> pd.DataFrame:
    """Wins, ties and losses of one method against each of others, with a Wilcoxon signed-rank test.

    Parameters
    ----------
    compared : Comparison
    peers : sequence of str
    ours : str

    Returns
    -------
    data frame
        One row for each main score and peer: `win`, `tie` (differences below .001), `loss`, `gain` (mean difference,
        positive where ours is better), `p` (two-sided) and `p_holm`, corrected for the number of peers of the score.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a", "b"], ["RF", "CS-RF+DSNA"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.1, 0.4, 0.4], "seconds": 1.0}, index=index)
    >>> pairs(Comparison("regression", frame, (), ()), ["RF"])[["metric", "peer", "win", "tie", "loss"]]
      metric peer  win  tie  loss
    0    mae   RF    1    1     0
    """
    lines = []
    for metric in MAIN[compared.task]:
        if metric not in compared.means:
            continue
        scores = compared.table(metric) * DIRECTIONS[compared.task][metric]
        rivals = [peer for peer in peers if peer in scores and peer != ours and ours in scores]
        gains = [(scores[ours] - scores[peer]).to_numpy() for peer in rivals]
        p = np.array([_wilcoxon(gain) for gain in gains])
        for peer, gain, raw, corrected in zip(rivals, gains, p, holm(p), strict=True):
            win, loss = int((gain >= TIE).sum()), int((gain <= -TIE).sum())
            lines.append((metric, peer, win, len(gain) - win - loss, loss, gain.mean(), raw, corrected))
    return pd.DataFrame(lines, columns=["metric", "peer", "win", "tie", "loss", "gain", "p", "p_holm"])


def _wilcoxon(gain: np.ndarray) -> float:
    return float(wilcoxon(gain).pvalue) if np.any(gain != 0) else 1.0


def holm(p: np.ndarray) -> np.ndarray:
    """P values corrected for their number by Holm's step-down rule.

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p, kind="stable")
    raised = p[order] * np.arange(len(p), 0, -1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def gains(compared: Comparison) -> pd.DataFrame:
    """The table of an ablation: mean scores of each stage, and by how much each is better than the row before.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF", "CS-RF"]], names=["dataset", "method"])
    >>> gains(Comparison("regression", pd.DataFrame({"mae": [0.3, 0.25], "seconds": 1.0}, index=index), (), ()))
             mae  gain mae
    method
    RF      0.30       NaN
    CS-RF   0.25      0.05
    """
    lines = summary(compared)
    found = {}
    for metric in MAIN[compared.task]:
        if metric in lines:
            found[metric] = lines[metric]
            found[f"gain {metric}"] = lines[metric].diff() * DIRECTIONS[compared.task][metric]
    return pd.DataFrame(found)
