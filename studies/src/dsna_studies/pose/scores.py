"""Errors of stored predictions: by angle, at each pitch, for rare poses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from ..pictures.jobs import parse_labels

#: Columns of the labels.
ANGLES = ("pitch", "yaw")
RARE = "pitch 90"
AVERAGE = "average"
SNAPPED = "average, snapped"


def answers(results: pd.DataFrame, method: str, folds: Sequence[str]) -> tuple[np.ndarray, np.ndarray] | None:
    """True and predicted poses of all folds, or None if a fold is missing.

    Parameters
    ----------
    results : data frame
        Results of one protocol.
    method : str
    folds : sequence of str

    Returns
    -------
    two arrays of shape (n, 2), or None

    Examples
    --------
    >>> import pandas as pd
    >>> results = pd.DataFrame([{"method": "RF", "fold": "0", "truth": "0 15", "predicted": "1 14"}])
    >>> answers(results, "RF", ["0"])
    (array([[ 0., 15.]]), array([[ 1., 14.]]))
    >>> answers(results, "RF", ["0", "1"]) is None
    True
    """
    method_results = results[(results["method"] == method) & results["fold"].isin(list(folds))]
    if len(method_results) < len(folds):
        return None
    truth, predicted = (
        parse_labels(" ".join(method_results[name])).reshape(-1, len(ANGLES)) for name in ("truth", "predicted")
    )
    return truth, predicted


def snap_to_poses(predicted: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """Move predictions to the nearest pose of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> snap_to_poses(np.array([[1.0, 13.0]]), np.array([[0.0, 0.0], [0.0, 15.0]]))
    array([[ 0., 15.]])
    """
    grid = np.unique(poses, axis=0)
    return np.asarray(grid[cKDTree(grid).query(predicted)[1]])


def pose_table(results: pd.DataFrame, methods: Iterable[str], folds: Sequence[str]) -> pd.DataFrame:
    """Compute the errors of the methods that have finished all folds.

    Parameters
    ----------
    results : data frame
        Results of one protocol.
    methods : iterable of str
    folds : sequence of str

    Returns
    -------
    data frame
        Methods in rows; columns yaw, pitch, their average, the average after every prediction is snapped to the nearest
        pose, the pitch error where pitch is +-90 degrees, and seconds of all fits and predictions, which methods of one
        fit share.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"method": "RF", "fold": "0", "truth": "0 15 90 0", "predicted": "4 15 84 6"}
    >>> results = pd.DataFrame([row | {"fit_seconds": 1.0, "predict_seconds": 0.5}])
    >>> pose_table(results, ["RF"], ["0"]).loc["RF"].to_dict()
    {'yaw': 3.0, 'pitch': 5.0, 'average': 4.0, 'average, snapped': 0.0, 'pitch 90': 6.0, 'seconds': 1.5}
    """
    rows = {}
    for method in methods:
        labels = answers(results, method, folds)
        if labels is None:
            continue
        truth, predicted = labels
        pitch, yaw = np.abs(predicted - truth).mean(axis=0)
        method_results = results[(results["method"] == method) & results["fold"].isin(list(folds))]
        rows[method] = {
            "yaw": yaw,
            "pitch": pitch,
            AVERAGE: (pitch + yaw) / 2,
            SNAPPED: np.abs(snap_to_poses(predicted, truth) - truth).mean(),
            RARE: by_pitch(truth, predicted, np.abs).get(90.0, np.nan),
            "seconds": method_results["fit_seconds"].sum() + method_results["predict_seconds"].sum(),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def by_pitch(truth: np.ndarray, predicted: np.ndarray, transform: np.ufunc = np.positive) -> dict[float, float]:
    """Mean pitch error at each pitch angle, or at each absolute angle with ``transform=np.abs``.

    Examples
    --------
    >>> import numpy as np
    >>> by_pitch(np.array([[90.0, 0.0], [-90.0, 0.0]]), np.array([[80.0, 0.0], [-88.0, 0.0]]))
    {-90.0: 2.0, 90.0: 10.0}
    """
    error, angle = np.abs(predicted[:, 0] - truth[:, 0]), transform(truth[:, 0])
    return {float(value): float(error[angle == value].mean()) for value in np.unique(angle)}
