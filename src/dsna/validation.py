"""Input checks shared by the estimators; each message names the trouble and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_array, check_consistent_length, validate_data


def check_rows(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Rows as C-contiguous float64 of the width seen in fit; NaN and inf are refused by column."""
    X = validate_data(estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
    if not np.all(np.isfinite(X)):
        bad = np.flatnonzero(~np.all(np.isfinite(X), axis=0))
        names = getattr(estimator, "feature_names_in_", None)
        named = ", ".join(str(names[j]) if names is not None else str(j) for j in bad[:5])
        more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
        what = "NaN" if np.any(np.isnan(X)) else "inf"
        raise ValueError(
            f"Input X contains {what} in column {named}{more}. {type(estimator).__name__} needs finite numbers: "
            "put a sklearn.impute.SimpleImputer before it (make_pipeline(SimpleImputer(), ...)), or drop those rows; "
            "infinity must be replaced by a finite value first."
        )
    return X


def check_weights(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """Sample weights, non-negative and not all zero; ones by default."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for every row; give at least one row a positive weight.")
    return weight


def check_groups(groups: Any, X: np.ndarray) -> np.ndarray | None:
    """Group of each row, or None."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    check_consistent_length(X, groups)
    return groups


def check_classes(estimator: Any, y: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(classes, class number of each row)."""
    y = check_array(y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y", ensure_min_samples=0)
    if y.ndim == 2 and y.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        y = column_or_1d(y, warn=True)
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; {type(estimator).__name__} takes one class label for each row.")
    check_consistent_length(X, y)
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise ValueError("Input y contains NaN or inf; drop the rows whose class is unknown.")
    check_classification_targets(y)
    classes, code = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes[0]!r}); {type(estimator).__name__} needs at least 2 classes. "
            "Check the label column or the split that made this table."
        )
    return classes, code.astype(np.int64)


def check_new_classes(y: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(different labels, number of each row's among them); a single class is welcome here."""
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}; one class label for each new row is needed.")
    check_consistent_length(X, y)
    check_classification_targets(y)
    names, code = np.unique(y, return_inverse=True)
    return names, code


def check_labels(y: Any, X: np.ndarray) -> np.ndarray:
    """Regression labels as float64, (n,) or (n, n_outputs)."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    if y.ndim == 2 and y.shape[1] == 1:
        from sklearn.utils.validation import column_or_1d

        y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    return y
