"""From stored predictions to errors: overall, of old faces, by decade of age."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..pictures.jobs import parsed

OLD = 40
_WIDTH = 10


def decade_names(ages: np.ndarray) -> list[str]:
    """Names of the decades that ages lie in.

    Examples
    --------
    >>> import numpy as np
    >>> decade_names(np.array([3, 69, 12]))
    ['0-9', '10-19', '60-69']
    """
    starts = np.unique((ages // _WIDTH).astype(int) * _WIDTH)
    return [f"{start}-{start + _WIDTH - 1}" for start in starts]


def _means(truth: np.ndarray, predicted: np.ndarray, old: int) -> dict[str, float]:
    error, decade = np.abs(predicted - truth), (truth // _WIDTH).astype(int)
    means = {"MAE": float(error.mean())}
    if (truth > old).any():
        means[f"over {old}"] = float(error[truth > old].mean())
    return means | {
        name: float(error[decade == number].mean())
        for name, number in zip(decade_names(truth), np.unique(decade), strict=True)
    }


def score(
    results: pd.DataFrame, methods: Sequence[str], folds: Sequence[str], *, pooled: bool = True, old: int = OLD
) -> pd.DataFrame:
    """Mean absolute errors of the methods that have finished all folds.

    Parameters
    ----------
    results : data frame
        Results of one protocol on one collection.
    methods, folds : sequences of str
        What should be there.
    pooled : bool, default=True
        Means over all pictures; otherwise means over folds of the means in each.
    old : int, default=40
        Ages above count as old.

    Returns
    -------
    data frame
        Methods in rows; columns MAE, over 40, each decade, seconds (all fits and predictions; methods of one fit
        share its time) and ms per query.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"method": "RF", "fold": "0", "n": 2, "truth": "5 45", "predicted": "6 41"}
    >>> results = pd.DataFrame([row | {"rows_seconds": 1.0, "fit_seconds": 1.0, "predict_seconds": 0.1}])
    >>> score(results, ["RF"], ["0"]).loc["RF"].round(2).to_dict()
    {'MAE': 2.5, 'over 40': 4.0, '0-9': 1.0, '40-49': 4.0, 'seconds': 1.1, 'ms per query': 50.0}
    """
    found: dict[str, dict[str, float]] = {}
    for method in methods:
        mine = results[(results["method"] == method) & results["fold"].isin(list(folds))]
        if len(mine) < len(folds):
            continue
        parts = [(parsed(row.truth), parsed(row.predicted)) for row in mine.itertuples()]
        if pooled:
            parts = [(np.concatenate([t for t, _ in parts]), np.concatenate([p for _, p in parts]))]
        means = pd.DataFrame([_means(truth, predicted, old) for truth, predicted in parts]).mean()
        predict = mine["predict_seconds"].sum()
        cost = {
            "seconds": mine["fit_seconds"].sum() + predict,
            "ms per query": 1000 * predict / mine["n"].sum(),
        }
        found[method] = {str(name): float(value) for name, value in means.items()} | cost
    return pd.DataFrame.from_dict(found, orient="index")


def conclusions(table: pd.DataFrame, ours: str, peers: Sequence[str], columns: Sequence[str]) -> Mapping[str, str]:
    """For each score, whether ours is below all peers, and which of them is best.

    Parameters
    ----------
    table : data frame, as :func:`score` gives it
    ours : str
    peers, columns : sequences of str
        Those that are not in the table are not compared.

    Returns
    -------
    mapping from columns to sentences

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"MAE": [5.5, 4.0]}, index=["RF", "ours"])
    >>> conclusions(table, "ours", ["RF"], ["MAE"])
    {'MAE': 'ours 4.00 is below every baseline; the best of them is RF with 5.50'}
    """
    there = [peer for peer in peers if peer in table.index]
    said = {}
    for column in columns:
        if column not in table or ours not in table.index or not there:
            continue
        best, mine = table.loc[there, column].idxmin(), table.loc[ours, column]
        value = table.loc[best, column]
        how = "is below every baseline; the best of them is" if mine < value else "is not below"
        said[column] = f"{ours} {mine:.2f} {how} {best} with {value:.2f}"
    return said
