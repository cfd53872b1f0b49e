"""Means and ranks of the methods; our default against each peer, and the tables on which it loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .methods import DEFAULT
from .peers import PEERS
from .scores import DIRECTIONS, MAIN, METRICS, TIMES
from .statistics import TIE, Posterior, bootstrap_interval, holm, signed_rank, wilcoxon_p

ENOUGH_RARE = 30  # rare rows in all tables; with fewer, methods are not ranked
ENOUGH = 0.9  # share of the tables that a method must have finished to be compared
_OF_PROBABILITIES = ("auc", "brier")  # scores that do not depend on the decision
_DECISIONS = ("/priors", "/thresholds")  # methods with these suffixes share a fit


@dataclass(frozen=True)
class MethodComparison:
    """Scores of methods on the tables that all of them have finished.

    Attributes
    ----------
    task : str
    means : data frame, indexed by (dataset, method)
        Mean over folds and seeds of each score, and `seconds`, the sum of the times of one seed.
    left_out : tuple of str
        Methods that finished less than 90 % of the tables.
    unfinished : tuple of str
        Tables that some of the other methods did not finish.
    fewer_seeds : dict from str to int
        Methods that did not finish all seeds, with the number of seeds finished on every table.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF", "kNN"]], names=["dataset", "method"])
    >>> compared = MethodComparison("regression", pd.DataFrame({"mae": [0.2, 0.3]}, index=index), (), ())
    >>> compared.table("mae")
    method    RF  kNN
    dataset
    a        0.2  0.3
    """

    task: str
    means: pd.DataFrame
    left_out: tuple[str, ...]
    unfinished: tuple[str, ...]
    fewer_seeds: dict[str, int] = field(default_factory=dict)

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order of the tables."""
        return list(dict.fromkeys(self.means.index.get_level_values("method")))

    @property
    def datasets(self) -> list[str]:
        """Names of the tables."""
        return list(dict.fromkeys(self.means.index.get_level_values("dataset")))

    def table(self, metric: str) -> pd.DataFrame:
        """Return the score of each method (columns) on each data set (rows); methods without it are left out."""
        wide = self.means[metric].unstack("method")[self.methods]
        return wide.loc[:, wide.notna().any()]


def compare(rows: pd.DataFrame, task: str, methods: Sequence[str], folds: int) -> MethodComparison:
    """Average results over folds and seeds, and keep comparable methods and tables.

    Parameters
    ----------
    rows : data frame of results
    task : {"classification", "regression"}
    methods : sequence of str
        Methods to compare, in order.
    folds : int
        A method has finished a table if it has all folds of at least one seed; incomplete seeds are ignored.

    Returns
    -------
    MethodComparison

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"task": "regression", "dataset": "a", "method": ["RF", "RF"], "mae": [0.1, 0.3]})
    >>> rows = rows.assign(seed=0, fit_seconds=1.0, predict_seconds=0.5)
    >>> compare(rows, "regression", ["RF"], folds=2).means[["mae", "seconds"]]
                    mae  seconds
    dataset method
    a       RF      0.2      3.0
    """
    rows = rows[(rows["task"] == task) & rows["method"].isin(methods)]
    datasets = sorted(rows["dataset"].unique())
    rows = rows[rows.groupby(["dataset", "method", "seed"])["method"].transform("size") == folds]
    groups = rows.assign(seconds=rows[list(TIMES)].sum(axis=1)).groupby(["dataset", "method"])
    scores = [name for name in METRICS[task] if name in rows]
    seeds = groups["seed"].nunique()
    means = groups[scores].mean().assign(seconds=groups["seconds"].sum() / seeds)
    n_finished = means.index.get_level_values("method").value_counts().reindex(list(methods), fill_value=0)
    compared_methods = [name for name in methods if n_finished[name] and n_finished[name] >= ENOUGH * len(datasets)]
    finished = means["seconds"].unstack("method").reindex(index=datasets, columns=compared_methods).notna().all(axis=1)
    finished_datasets = [name for name in datasets if finished[name]]
    order = pd.MultiIndex.from_product([finished_datasets, compared_methods], names=["dataset", "method"])
    fewest_seeds = seeds.reindex(order).groupby("method").min()
    return MethodComparison(
        task,
        means.reindex(order),
        tuple(name for name in methods if name not in compared_methods),
        tuple(name for name in datasets if name not in finished_datasets),
        {
            name: int(fewest_seeds[name])
            for name in compared_methods
            if finished_datasets and fewest_seeds[name] < fewest_seeds.max()
        },
    )


def ranks(scores: pd.DataFrame, direction: int) -> pd.DataFrame:
    """Rank the methods (columns) on each data set (rows): 1 is best, ties share the mean of their ranks.

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


def ranked_peer_of(compared: MethodComparison, metric: str) -> dict[str, str]:
    """Map each peer to the peer whose score is ranked in its place: itself, or the first one with the same fit.

    Examples
    --------
    >>> import pandas as pd
    >>> names = ["RF", "RF/priors", "kNN", "CS-RF+DSNA"]
    >>> index = pd.MultiIndex.from_product([["a"], names], names=["dataset", "method"])
    >>> compared = MethodComparison("classification", pd.DataFrame({"auc": [0.8, 0.8, 0.7, 0.9]}, index=index), (), ())
    >>> ranked_peer_of(compared, "auc")
    {'RF': 'RF', 'RF/priors': 'RF', 'kNN': 'kNN'}
    """
    peers = [name for name in compared.table(metric) if name in PEERS[compared.task]]
    if metric not in _OF_PROBABILITIES:
        return dict(zip(peers, peers, strict=True))
    first: dict[str, str] = {}
    return {name: first.setdefault(_fit_of(name), name) for name in peers}


def _fit_of(name: str) -> str:
    """Return the part of a name that methods with the same fit share."""
    return next((name.removesuffix(decision) for decision in _DECISIONS if name.endswith(decision)), name)


def ranked_metrics(compared: MethodComparison) -> list[str]:
    """List the main scores that at least two methods have, which can be ranked.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF", "CS-RF"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.3], "sera": [None, 0.4]}, index=index)
    >>> ranked_metrics(MethodComparison("regression", frame, (), ()))
    ['mae']
    """
    main = [metric for metric in MAIN[compared.task] if metric in compared.means]
    return [metric for metric in main if compared.table(metric).shape[1] > 1]


def mean_ranks(compared: MethodComparison, metric: str) -> pd.Series:
    """Return mean ranks over data sets: of peers among peers and our default, of each of our methods among peers.

    Scores of probabilities count once for peers that differ only in their decision.

    Examples
    --------
    >>> import pandas as pd
    >>> names = ["RF", "kNN", "CS-RF", "CS-RF+DSNA"]
    >>> index = pd.MultiIndex.from_product([["a"], names], names=["dataset", "method"])
    >>> mean_ranks(MethodComparison("regression", pd.DataFrame({"mae": [3.0, 4, 1, 2]}, index=index), (), ()), "mae")
    method
    RF            2.0
    kNN           3.0
    CS-RF         1.0
    CS-RF+DSNA    1.0
    dtype: float64
    """
    scores, direction = compared.table(metric), DIRECTIONS[compared.task][metric]
    stands_for = ranked_peer_of(compared, metric)
    counted = list(dict.fromkeys(stands_for.values()))
    ours = [name for name in scores if name not in stands_for]
    own_ranks = {name: ranks(scores[[*counted, name]], direction)[name].mean() for name in ours}
    peer_ranks = ranks(scores[[*counted, *(name for name in ours if name == DEFAULT)]], direction).mean()
    all_ranks = pd.Series(
        {name: own_ranks[name] if name in own_ranks else peer_ranks[stands_for[name]] for name in scores}
    )
    return all_ranks.rename_axis("method")


def summary(compared: MethodComparison) -> pd.DataFrame:
    """Return the mean of each score, the mean rank by each main score and the total seconds of each method (rows).

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a", "b"], ["RF", "kNN"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.3, 0.4, 0.1], "seconds": 1.0}, index=index)
    >>> summary(MethodComparison("regression", frame, (), ()))
            mae  rank mae  seconds
    method
    RF      0.3       1.5      2.0
    kNN     0.2       1.5      2.0
    """
    groups = compared.means.groupby("method", sort=False)
    lines = groups.mean().drop(columns="seconds").dropna(axis=1, how="all")
    for metric in ranked_metrics(compared):
        lines[f"rank {metric}"] = mean_ranks(compared, metric)
    return lines.assign(seconds=groups["seconds"].sum())


def pairs(compared: MethodComparison, peers: Sequence[str], ours: str = DEFAULT) -> pd.DataFrame:
    """Compare one method with each peer: tables won, tied and lost, and tests of the differences.

    Parameters
    ----------
    compared : MethodComparison
    peers : sequence of str
    ours : str

    Returns
    -------
    data frame
        One row for each main score and peer: `win`, `tie` (differences below .001), `loss`; `gain` (mean difference,
        positive where ours is better) with its bootstrap interval `low` to `high`; `p` of the Wilcoxon signed-rank
        test (two-sided) and `p_holm`, corrected for the number of peers of the score; and the probabilities `worse`,
        `same` and `better` of the Bayesian signed-rank test.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a", "b"], ["RF", "CS-RF+DSNA"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.1, 0.4, 0.4], "seconds": 1.0}, index=index)
    >>> pairs(MethodComparison("regression", frame, (), ()), ["RF"])[["metric", "peer", "win", "tie", "loss"]]
      metric peer  win  tie  loss
    0    mae   RF    1    1     0
    """
    lines = []
    for metric in MAIN[compared.task]:
        if metric not in compared.means:
            continue
        scores = compared.table(metric) * DIRECTIONS[compared.task][metric]
        present_peers = [peer for peer in peers if peer in scores and peer != ours and ours in scores]
        gains = [(scores[ours] - scores[peer]).to_numpy() for peer in present_peers]
        p_values = np.array([wilcoxon_p(gain) for gain in gains])
        for peer, gain, p_value, corrected in zip(present_peers, gains, p_values, holm(p_values), strict=True):
            win, loss = int((gain >= TIE).sum()), int((gain <= -TIE).sum())
            counts = (metric, peer, win, len(gain) - win - loss, loss)
            mean_and_interval = (gain.mean(), *bootstrap_interval(gain))
            lines.append((*counts, *mean_and_interval, p_value, corrected, *signed_rank(gain)))
    names = ["metric", "peer", "win", "tie", "loss", "gain", "low", "high", "p", "p_holm", *Posterior._fields]
    return pd.DataFrame(lines, columns=names)


def losses(compared: MethodComparison, metric: str, peers: Sequence[str], ours: str = DEFAULT) -> pd.DataFrame:
    """List the tables on which a method is behind the best peer, largest difference first.

    Parameters
    ----------
    compared : MethodComparison
    metric : str
    peers : sequence of str
    ours : str

    Returns
    -------
    data frame, indexed by data set
        `ours`, `best peer`, its `score`, the `difference`, always negative, and the number of peers that `are ahead`.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a", "b"], ["RF", "CS-RF+DSNA"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.1, 0.4, 0.5], "seconds": 1.0}, index=index)
    >>> losses(MethodComparison("regression", frame, (), ()), "mae", ["RF"])
             ours best peer  score  difference are ahead
    dataset
    b         0.5        RF    0.4        -0.1    1 of 1
    """
    scores, direction = compared.table(metric), DIRECTIONS[compared.task][metric]
    present_peers = [peer for peer in peers if peer in scores and peer != ours]
    if ours not in scores or not present_peers:
        return pd.DataFrame()
    peer_scores = scores[present_peers] * direction
    behind = peer_scores.sub(scores[ours] * direction, axis=0)
    loss_table = pd.DataFrame(
        {
            "ours": scores[ours],
            "best peer": peer_scores.idxmax(axis=1),
            "score": peer_scores.max(axis=1) * direction,
            "difference": -behind.max(axis=1),
            "are ahead": [f"{count} of {len(present_peers)}" for count in (behind >= TIE).sum(axis=1)],
        }
    )
    return loss_table[loss_table["difference"] <= -TIE].sort_values("difference")


def gains(compared: MethodComparison) -> pd.DataFrame:
    """Return the ablation table: mean scores of each stage, and the gain over the row before.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF", "CS-RF"]], names=["dataset", "method"])
    >>> gains(MethodComparison("regression", pd.DataFrame({"mae": [0.3, 0.25], "seconds": 1.0}, index=index), (), ()))
             mae  gain mae
    method
    RF      0.30       NaN
    CS-RF   0.25      0.05
    """
    lines = summary(compared)
    columns = {}
    for metric in MAIN[compared.task]:
        if metric in lines:
            columns[metric] = lines[metric]
            columns[f"gain {metric}"] = lines[metric].diff() * DIRECTIONS[compared.task][metric]
    return pd.DataFrame(columns)


def compare_tuning(plain: MethodComparison, tuned: MethodComparison) -> pd.DataFrame:
    """Return the main scores of untuned and tuned methods, on the tables that both have.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF"]], names=["dataset", "method"])
    >>> both = [MethodComparison("regression", pd.DataFrame({"mae": [x]}, index=index), (), ()) for x in (0.3, 0.2)]
    >>> compare_tuning(*both)
            mae  mae, searched
    method
    RF      0.3            0.2
    """
    columns = {}
    for metric in MAIN[plain.task]:
        if metric in plain.means and metric in tuned.means:
            tables = [comparison.means[metric].unstack("method") for comparison in (plain, tuned)]
            shared = tables[0].index.intersection(tables[1].index)
            for name, table in zip((metric, f"{metric}, searched"), tables, strict=True):
                columns[name] = table.loc[shared].mean()
    methods = [name for name in plain.methods if name in tuned.methods]
    return pd.DataFrame(columns).reindex(methods).rename_axis("method").dropna(axis=1, how="all")
