"""Errors of stored predictions: overall, for old faces, by decade of age."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from ..pictures.jobs import parse_labels

OLD = 40
_WIDTH = 10


def decade_names(ages: np.ndarray) -> list[str]:
    """Names of the decades of ages.

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
    """Compute the mean absolute errors of the methods that have finished all folds.

    Parameters
    ----------
    results : data frame
        Results of one protocol on one collection.
    methods, folds : sequences of str
        Methods, and the folds that each must have finished.
    pooled : bool, default=True
        Whether to average over all pictures, rather than over the means of folds.
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
    scores: dict[str, dict[str, float]] = {}
    for method in methods:
        method_results = results[(results["method"] == method) & results["fold"].isin(list(folds))]
        if len(method_results) < len(folds):
            continue
        labels = [(parse_labels(row.truth), parse_labels(row.predicted)) for row in method_results.itertuples()]
        if pooled:
            labels = [
                (np.concatenate([truth for truth, _ in labels]), np.concatenate([predicted for _, predicted in labels]))
            ]
        means = pd.DataFrame([_means(truth, predicted, old) for truth, predicted in labels]).mean()
        predict = method_results["predict_seconds"].sum()
        cost = {
            "seconds": method_results["fit_seconds"].sum() + predict,
            "ms per query": 1000 * predict / method_results["n"].sum(),
        }
        scores[method] = {str(name): float(value) for name, value in means.items()} | cost
    return pd.DataFrame.from_dict(scores, orient="index")


def conclusions(table: pd.DataFrame, ours: str, peers: Sequence[str], columns: Sequence[str]) -> Mapping[str, str]:
    """State for each score whether ours is below all peers, and which peer is best.

    Parameters
    ----------
    table : data frame, as :func:`score` gives it
    ours : str
    peers, columns : sequences of str
        Peers and columns that are not in the table are ignored.

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
    measured_peers = [peer for peer in peers if peer in table.index]
    sentences = {}
    for column in columns:
        if column not in table or ours not in table.index or not measured_peers:
            continue
        best_peer, our_value = table.loc[measured_peers, column].idxmin(), table.loc[ours, column]
        peer_value = table.loc[best_peer, column]
        relation = "is below every baseline; the best of them is" if our_value < peer_value else "is not below"
        sentences[column] = f"{ours} {our_value:.2f} {relation} {best_peer} with {peer_value:.2f}"
    return sentences
