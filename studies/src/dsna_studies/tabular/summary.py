"""Means and ranks of the methods; our default against each peer, and where it loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .methods import DEFAULT
from .peers import PEERS
from .scores import DIRECTIONS, MAIN, METRICS, TIMES
from .statistics import TIE, Posterior, bootstrap_interval, holm, signed_rank, wilcoxon_p

ENOUGH_RARE = 30  # rare rows in all tables, below which differences are chance
ENOUGH = 0.9  # share of the tables that a method must have finished to be compared
_OF_PROBABILITIES = ("auc", "brier")  # scores that no decision changes
_DECISIONS = ("/priors", "/thresholds")  # of one and the same fit


@dataclass(frozen=True)
class Comparison:
    """Scores of methods on the tables that all of them finished.

    Attributes
    ----------
    task : str
    means : data frame, indexed by (dataset, method)
        Mean over folds and seeds of each score, and `seconds`, the sum of the times of one seed.
    left_out : tuple of str
        Methods that finished less than nine in ten of the tables.
    unfinished : tuple of str
        Tables that not all the other methods finished.
    fewer_seeds : dict from str to int
        Methods that did not finish all seeds, with the number of those finished on every table.

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
        """Score of each method (columns) on each data set (rows); methods without such a score are left out."""
        wide = self.means[metric].unstack("method")[self.methods]
        return wide.loc[:, wide.notna().any()]


def compare(rows: pd.DataFrame, task: str, methods: Sequence[str], folds: int) -> Comparison:
    """Average results over folds and seeds, and keep what can be compared.

    Parameters
    ----------
    rows : data frame of results
    task : {"classification", "regression"}
    methods : sequence of str
        Those to compare, in the order wanted.
    folds : int
        A method has finished a table when it has all folds of at least one seed; other seeds do not count.

    Returns
    -------
    Comparison

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
    done = means.index.get_level_values("method").value_counts().reindex(list(methods), fill_value=0)
    kept = [name for name in methods if done[name] and done[name] >= ENOUGH * len(datasets)]
    finished = means["seconds"].unstack("method").reindex(index=datasets, columns=kept).notna().all(axis=1)
    names = [name for name in datasets if finished[name]]
    order = pd.MultiIndex.from_product([names, kept], names=["dataset", "method"])
    least = seeds.reindex(order).groupby("method").min()
    return Comparison(
        task,
        means.reindex(order),
        tuple(name for name in methods if name not in kept),
        tuple(name for name in datasets if name not in names),
        {name: int(least[name]) for name in kept if names and least[name] < least.max()},
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


def rivals(compared: Comparison, metric: str) -> dict[str, str]:
    """Peers by whose scores methods are ranked: each stands for itself, or for the first that has the same fit.

    Examples
    --------
    >>> import pandas as pd
    >>> names = ["RF", "RF/priors", "kNN", "CS-RF+DSNA"]
    >>> index = pd.MultiIndex.from_product([["a"], names], names=["dataset", "method"])
    >>> compared = Comparison("classification", pd.DataFrame({"auc": [0.8, 0.8, 0.7, 0.9]}, index=index), (), ())
    >>> rivals(compared, "auc")
    {'RF': 'RF', 'RF/priors': 'RF', 'kNN': 'kNN'}
    """
    peers = [name for name in compared.table(metric) if name in PEERS[compared.task]]
    if metric not in _OF_PROBABILITIES:
        return dict(zip(peers, peers, strict=True))
    first: dict[str, str] = {}
    return {name: first.setdefault(_fit_of(name), name) for name in peers}


def _fit_of(name: str) -> str:
    """What methods of the same fit have in common."""
    return next((name.removesuffix(decision) for decision in _DECISIONS if name.endswith(decision)), name)


def ranked(compared: Comparison) -> list[str]:
    """Main scores that at least two methods have, so that there is something to rank.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF", "CS-RF"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.3], "sera": [None, 0.4]}, index=index)
    >>> ranked(Comparison("regression", frame, (), ()))
    ['mae']
    """
    main = [metric for metric in MAIN[compared.task] if metric in compared.means]
    return [metric for metric in main if compared.table(metric).shape[1] > 1]


def mean_ranks(compared: Comparison, metric: str) -> pd.Series:
    """Mean rank of each method over data sets: of peers beside our default, of each of ours beside the peers alone.

    Of peers that differ in their decision only, scores of probabilities count once.

    Examples
    --------
    >>> import pandas as pd
    >>> names = ["RF", "kNN", "CS-RF", "CS-RF+DSNA"]
    >>> index = pd.MultiIndex.from_product([["a"], names], names=["dataset", "method"])
    >>> mean_ranks(Comparison("regression", pd.DataFrame({"mae": [3.0, 4, 1, 2]}, index=index), (), ()), "mae")
    method
    RF            2.0
    kNN           3.0
    CS-RF         1.0
    CS-RF+DSNA    1.0
    dtype: float64
    """
    scores, direction = compared.table(metric), DIRECTIONS[compared.task][metric]
    stands_for = rivals(compared, metric)
    counted = list(dict.fromkeys(stands_for.values()))
    ours = [name for name in scores if name not in stands_for]
    places = {name: ranks(scores[[*counted, name]], direction)[name].mean() for name in ours}
    beside_ours = ranks(scores[[*counted, *(name for name in ours if name == DEFAULT)]], direction).mean()
    found = pd.Series({name: places[name] if name in places else beside_ours[stands_for[name]] for name in scores})
    return found.rename_axis("method")


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
    for metric in ranked(compared):
        lines[f"rank {metric}"] = mean_ranks(compared, metric)
    return lines.assign(seconds=groups["seconds"].sum())


def pairs(compared: Comparison, peers: Sequence[str], ours: str = DEFAULT) -> pd.DataFrame:
    """One method against each of others: tables won, and what the differences over tables say.

    Parameters
    ----------
    compared : Comparison
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
        p = np.array([wilcoxon_p(gain) for gain in gains])
        for peer, gain, raw, corrected in zip(rivals, gains, p, holm(p), strict=True):
            win, loss = int((gain >= TIE).sum()), int((gain <= -TIE).sum())
            won = (metric, peer, win, len(gain) - win - loss, loss)
            mean = (gain.mean(), *bootstrap_interval(gain))
            lines.append((*won, *mean, raw, corrected, *signed_rank(gain)))
    names = ["metric", "peer", "win", "tie", "loss", "gain", "low", "high", "p", "p_holm", *Posterior._fields]
    return pd.DataFrame(lines, columns=names)


def losses(compared: Comparison, metric: str, peers: Sequence[str], ours: str = DEFAULT) -> pd.DataFrame:
    """Tables on which one method is behind the best of others, the largest difference first.

    Parameters
    ----------
    compared : Comparison
    metric : str
    peers : sequence of str
    ours : str

    Returns
    -------
    data frame, indexed by data set
        `ours`, `best peer`, its `score`, the `difference`, always negative, and how many of the peers `are ahead`.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a", "b"], ["RF", "CS-RF+DSNA"]], names=["dataset", "method"])
    >>> frame = pd.DataFrame({"mae": [0.2, 0.1, 0.4, 0.5], "seconds": 1.0}, index=index)
    >>> losses(Comparison("regression", frame, (), ()), "mae", ["RF"])
             ours best peer  score  difference are ahead
    dataset
    b         0.5        RF    0.4        -0.1    1 of 1
    """
    scores, direction = compared.table(metric), DIRECTIONS[compared.task][metric]
    rivals = [peer for peer in peers if peer in scores and peer != ours]
    if ours not in scores or not rivals:
        return pd.DataFrame()
    others = scores[rivals] * direction
    behind = others.sub(scores[ours] * direction, axis=0)
    found = pd.DataFrame(
        {
            "ours": scores[ours],
            "best peer": others.idxmax(axis=1),
            "score": others.max(axis=1) * direction,
            "difference": -behind.max(axis=1),
            "are ahead": [f"{count} of {len(rivals)}" for count in (behind >= TIE).sum(axis=1)],
        }
    )
    return found[found["difference"] <= -TIE].sort_values("difference")


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


def beside(plain: Comparison, tuned: Comparison) -> pd.DataFrame:
    """Main scores of methods as they come and tuned, on the tables that both have.

    Examples
    --------
    >>> import pandas as pd
    >>> index = pd.MultiIndex.from_product([["a"], ["RF"]], names=["dataset", "method"])
    >>> both = [Comparison("regression", pd.DataFrame({"mae": [x]}, index=index), (), ()) for x in (0.3, 0.2)]
    >>> beside(*both)
            mae  mae, searched
    method
    RF      0.3            0.2
    """
    found = {}
    for metric in MAIN[plain.task]:
        if metric in plain.means and metric in tuned.means:
            tables = [one.means[metric].unstack("method") for one in (plain, tuned)]
            shared = tables[0].index.intersection(tables[1].index)
            for name, table in zip((metric, f"{metric}, searched"), tables, strict=True):
                found[name] = table.loc[shared].mean()
    methods = [name for name in plain.methods if name in tuned.methods]
    return pd.DataFrame(found).reindex(methods).rename_axis("method").dropna(axis=1, how="all")
