"""Input checks shared by the estimators; each message names the problem and the remedy."""

from __future__ import annotations

from datetime import date
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from .errors import DSNAError

# Squares of targets, and sums of them, must stay within float64.
_LARGEST_TARGET = 1e100
_SMALLEST_SPREAD = 1e-100


def check_rows(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Rows as C-contiguous float64 of the width seen in fit; NaN and inf are refused by column."""
    _refuse_dates(estimator, X)
    try:
        X = validate_data(estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise DSNAError(
            f"Input X holds text ({error}). {type(estimator).__name__} needs numbers: put dsna.tables.TableEncoder "
            "before it (make_pipeline(TableEncoder(), ...)), or sklearn.preprocessing.OneHotEncoder in a "
            "ColumnTransformer."
        ) from error
    if not np.all(np.isfinite(X)):
        bad = np.flatnonzero(~np.all(np.isfinite(X), axis=0))
        names = getattr(estimator, "feature_names_in_", None)
        named = _few([str(names[j]) if names is not None else str(j) for j in bad])
        what = " and ".join(w for w, found in (("NaN", np.isnan(X)), ("inf", np.isinf(X))) if found.any())
        raise DSNAError(
            f"Input X contains {what} in column {named}. {type(estimator).__name__} needs finite numbers: "
            "put a sklearn.impute.SimpleImputer before it (make_pipeline(SimpleImputer(), ...)), or drop those rows; "
            "infinity must be replaced by a finite value first."
        )
    return np.asarray(X)


def _few(names: list[str]) -> str:
    """The first five names, and how many more there are."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _refuse_dates(estimator: Any, X: Any) -> None:
    """Raise where columns of a data frame, or cells in the first row of an array of objects, are dates."""
    dated: list[str] = []
    names = list(X.columns) if hasattr(X, "columns") else None
    if names is not None and hasattr(X, "dtypes"):
        kinds = [str(kind).lower() for kind in X.dtypes]
        dated = [str(name) for name, kind in zip(names, kinds, strict=True) if kind.startswith("date")]
    if not dated and (names is not None or getattr(getattr(X, "dtype", None), "kind", "") == "O"):
        first = np.asarray(X[:1], dtype=object)
        if first.ndim == 2 and len(first):
            cells = zip(names or range(first.shape[1]), first[0], strict=True)
            dated = [str(name) for name, cell in cells if isinstance(cell, date | np.datetime64)]
    if dated:
        raise DSNAError(
            f"Input X holds dates in column {_few(dated)}. {type(estimator).__name__} needs numbers: replace dates "
            "by days since the first, such as (X[column] - X[column].min()).dt.days, or by month and weekday."
        )


def check_weights(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """Sample weights, non-negative and not all zero; ones by default."""
    weight: np.ndarray = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not np.any(weight > 0):
        raise DSNAError("sample_weight is zero for every row; give at least one row a positive weight.")
    return weight


def check_groups(groups: Any, X: np.ndarray) -> np.ndarray | None:
    """Number of each row's group, or None where no groups are given."""
    if groups is None:
        return None
    names = np.asarray(groups)
    if names.shape != (len(X),):
        raise DSNAError(f"groups has shape {names.shape}; one group for each of the {len(X)} rows is needed.")
    _refuse_missing(names, "groups", "give every row a group")
    if names.dtype.kind == "O":
        number = {name: place for place, name in enumerate(dict.fromkeys(names.tolist()))}
        return np.array([number[name] for name in names.tolist()], dtype=np.int64)
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _refuse_missing(values: np.ndarray, name: str, remedy: str) -> None:
    """Raise where a 1d array holds NaN, inf, None or another value that stands for none."""
    if values.dtype.kind == "f":
        missing = ~np.isfinite(values)
    elif values.dtype.kind in "mM":
        missing = np.isnat(values)
    elif values.dtype.kind == "O":
        # pandas.NA has no truth value, so it is known by its name before NaN is by its comparison.
        missing = np.array([v is None or repr(v) == "<NA>" or v != v for v in values], dtype=bool)
    else:
        return
    if missing.any():
        raise DSNAError(f"Input {name} contains NaN, inf or no value in row {np.flatnonzero(missing)[0]}; {remedy}.")


def _one_column(y: np.ndarray) -> np.ndarray:
    """A (n, 1) array as (n,), with scikit-learn's usual warning."""
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def check_classes(estimator: Any, y: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(classes, class number of each row)."""
    classes, code = check_new_classes(y, X)
    if len(classes) < 2:
        raise DSNAError(
            f"y holds one class only ({classes[0]}); {type(estimator).__name__} needs at least 2 classes. "
            "Check the class column or the split that made this table."
        )
    return classes, code


def check_new_classes(y: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(classes, class number of each row); a single class is accepted."""
    if y is None:
        raise DSNAError("This estimator requires y to be passed, but the target y is None.")
    y = check_array(y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y", ensure_min_samples=0)
    y = _one_column(y)
    if y.ndim != 1:
        raise DSNAError(f"y has shape {y.shape}; one class for each row is needed.")
    check_consistent_length(X, y)
    _refuse_missing(y, "y", "drop the rows whose class is unknown")
    if y.dtype.kind == "O" and len(y) and all(isinstance(one, bool | int | np.bool_ | np.integer) for one in y):
        y = np.array(y.tolist())  # numbers in an array of objects, as pandas makes them of columns with gaps
    try:
        classes, code = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise DSNAError(
            f"y mixes classes that cannot be sorted ({error}); make them all text or all numbers."
        ) from error
    check_classification_targets(y)
    return classes, code.astype(np.int64)


def check_targets(y: Any, X: np.ndarray) -> np.ndarray:
    """Regression targets as float64, (n,) or (n, n_outputs)."""
    if y is None:
        raise DSNAError("This estimator requires y to be passed, but the target y is None.")
    try:
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise DSNAError(f"Input y holds text ({error}); a regressor needs numbers. Is it a classification?") from error
    y = _one_column(y)
    if y.ndim == 0:
        raise DSNAError("y is a single number; one target for each row is needed.")
    check_consistent_length(X, y)
    if np.abs(y).max() > _LARGEST_TARGET:
        raise DSNAError(
            f"Input y reaches {np.abs(y).max():.3g} in size; targets must lie within {_LARGEST_TARGET:g} of zero: "
            "divide them by a constant, or take logarithms."
        )
    width = np.atleast_1d(np.ptp(y, axis=0))
    if np.any((width > 0) & (width < _SMALLEST_SPREAD)):
        raise DSNAError(
            f"The targets y differ by {width[width > 0].min():.3g} at most; differences below {_SMALLEST_SPREAD:g} "
            "are lost in their squares: multiply y by a constant."
        )
    return np.asarray(y)


def check_share(value: Any, name: str) -> None:
    """Refuse what does not lie strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise DSNAError(f"{name}={value!r} must lie strictly between 0 and 1.")


def check_levels(values: Any, name: str) -> np.ndarray:
    """(k,) levels, each strictly between 0 and 1; at least one."""
    try:
        levels = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        levels = np.empty(0)
    if levels.ndim != 1 or not levels.size or not np.all((levels > 0.0) & (levels < 1.0)):
        raise DSNAError(f"{name}={values!r} must be a list of numbers strictly between 0 and 1, as [0.05, 0.5, 0.95].")
    return levels
