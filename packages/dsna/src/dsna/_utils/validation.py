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

TASKS = ("classification", "regression")
_MAX_WHOLE_CLASSES = 10
# Squares of targets, and sums of them, must stay within float64.
_LARGEST_TARGET = 1e100
_SMALLEST_SPREAD = 1e-100
_ROWS_SEARCHED = 10_000  # rows that are searched for cells that are not numbers


def guess_task(labels: np.ndarray) -> str:
    """Guess classification if labels are one column of text or of at most ten whole numbers, otherwise regression.

    Examples
    --------
    >>> import numpy as np
    >>> guess_task(np.array(["a", "b"])), guess_task(np.array([1, 2, 1])), guess_task(np.array([0.5, 2.0]))
    ('classification', 'classification', 'regression')
    """
    if labels.ndim > 1 and labels.shape[1] > 1:
        return "regression"
    if labels.dtype.kind not in "biuf":
        return "classification"
    values = np.unique(labels)
    are_classes = len(values) <= _MAX_WHOLE_CLASSES and bool(np.all(values == np.round(values)))
    return "classification" if are_classes else "regression"


def check_rows(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Return rows as C-contiguous float64 of the width seen in fit; name the columns of values that are not finite."""
    invalid_columns = _invalid_cells(X, _ROWS_SEARCHED) if _begins_with_dates(X) else {}
    if invalid_columns:
        raise _invalid_cells_error(estimator, invalid_columns)
    try:
        rows = validate_data(estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
    except (TypeError, ValueError) as error:
        is_text = "could not convert string" in str(error)
        invalid_columns = _invalid_cells(X, _ROWS_SEARCHED) if is_text or isinstance(error, TypeError) else {}
        if is_text and "text" not in invalid_columns:
            invalid_columns = _invalid_cells(X, None)
        if not {"text", "dates"} & set(invalid_columns):
            raise
        raise _invalid_cells_error(estimator, invalid_columns) from error
    if not np.all(np.isfinite(rows)):
        names = getattr(estimator, "feature_names_in_", np.arange(rows.shape[1]))
        raise _invalid_cells_error(
            estimator,
            {
                kind: [str(name) for name in names[mask.any(axis=0)]]
                for kind, mask in (("NaN", np.isnan(rows)), ("inf", np.isinf(rows)))
                if mask.any()
            },
        )
    return np.asarray(rows)


def _first_names(names: list[str]) -> str:
    """List the first five names and the number of the others."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _begins_with_dates(X: Any) -> bool:
    """Whether columns of a data frame, or cells in the first row of an array of objects, are dates."""
    if hasattr(X, "dtypes") and any(str(dtype).lower().startswith("date") for dtype in X.dtypes):
        return True
    if not hasattr(X, "columns") and getattr(getattr(X, "dtype", None), "kind", "") != "O":
        return False
    return any(isinstance(cell, date | np.datetime64) for cell in np.asarray(X[:1], dtype=object).ravel())


def _invalid_cells(X: Any, n_rows: int | None) -> dict[str, list[str]]:
    """Return column names by the kind of their cells that are not finite numbers; only the first rows are searched."""
    columns_by_kind: dict[str, list[str]] = {}
    for name, cells in _first_cells(X, n_rows).items():
        missing = np.isnat(cells) if cells.dtype.kind == "M" else _missing_cells(cells)
        present = cells[~missing]
        for kind, kind_is_present in (
            ("dates", any(isinstance(cell, date | np.datetime64) for cell in present)),
            ("text", any(isinstance(cell, str | bytes) for cell in present)),
            ("NaN", bool(missing.any())),
            ("inf", any(isinstance(cell, float) and np.isinf(cell) for cell in present)),
        ):
            if kind_is_present:
                columns_by_kind.setdefault(kind, []).append(name)
    return columns_by_kind


def _first_cells(X: Any, n_rows: int | None) -> dict[str, np.ndarray]:
    """Return the first cells of each column of a data frame or an array."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        positional = getattr(X, "iloc", X)
        return {str(name): np.asarray(positional[:n_rows, j]) for j, name in enumerate(X.columns)}
    cells = np.asarray(X, dtype=object)
    return {str(j): column for j, column in enumerate(cells[:n_rows].T)} if cells.ndim == 2 else {}


def _invalid_cells_error(estimator: Any, invalid_columns: dict[str, list[str]]) -> DSNAError:
    """Return an error that names all cells that are not finite numbers, with the remedy."""
    estimator_name = type(estimator).__name__
    contents = " and ".join(f"{kind} in column {_first_names(names)}" for kind, names in invalid_columns.items())
    return DSNAError(
        f"Input X contains {contents}. {estimator_name} needs finite numbers: put dsna.tables.TableEncoder before it, "
        f"make_pipeline(TableEncoder(), {estimator_name}())."
    )


def check_weights(sample_weight: Any, X: np.ndarray) -> np.ndarray:
    """Return sample weights, non-negative and not all zero; ones by default."""
    weight: np.ndarray = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not np.any(weight > 0):
        raise DSNAError("sample_weight is zero for every row; give at least one row a positive weight.")
    return weight


def check_groups(groups: Any, X: np.ndarray) -> np.ndarray | None:
    """Return the group number of each row, or None if there are no groups."""
    if groups is None:
        return None
    names = np.asarray(groups)
    if names.shape != (len(X),):
        raise DSNAError(f"groups has shape {names.shape}; one group for each of the {len(X)} rows is needed.")
    _refuse_missing(names, "groups", "give every row a group")
    if names.dtype.kind == "O":
        group_numbers = {name: position for position, name in enumerate(dict.fromkeys(names.tolist()))}
        return np.array([group_numbers[name] for name in names.tolist()], dtype=np.int64)
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _refuse_missing(values: np.ndarray, name: str, remedy: str) -> None:
    """Raise a DSNAError if a 1d array holds NaN, inf, None or another missing value."""
    if values.dtype.kind == "f":
        missing = ~np.isfinite(values)
    elif values.dtype.kind in "mM":
        missing = np.isnat(values)
    elif values.dtype.kind == "O":
        missing = _missing_cells(values)
    else:
        return
    if missing.any():
        raise DSNAError(
            f"Input {name} contains NaN, inf or a missing value in row {np.flatnonzero(missing)[0]}; {remedy}."
        )


def _missing_cells(values: np.ndarray) -> np.ndarray:
    """Return a mask of the cells that hold None, NaN, NaT or another missing value."""
    # pandas.NA has no truth value, so it is recognised by its name before the comparison that finds NaN.
    return np.array([v is None or repr(v) == "<NA>" or v != v for v in values], dtype=bool)


def _one_column(y: np.ndarray) -> np.ndarray:
    """Return a (n, 1) array as (n,), with scikit-learn's usual warning."""
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def check_classes(estimator: Any, y: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the class number of each row."""
    classes, codes = check_new_classes(y, X)
    if len(classes) < 2:
        raise DSNAError(
            f"y holds one class only ({classes[0]}); {type(estimator).__name__} needs at least 2 classes. "
            "Check the class column or the split that made this table."
        )
    return classes, codes


def check_new_classes(y: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the class number of each row; a single class is accepted."""
    if y is None:
        raise DSNAError("This estimator requires y to be passed, but the target y is None.")
    y = check_array(y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y", ensure_min_samples=0)
    y = _one_column(y)
    if y.ndim != 1:
        raise DSNAError(f"y has shape {y.shape}; one class for each row is needed.")
    check_consistent_length(X, y)
    _refuse_missing(y, "y", "drop the rows whose class is unknown")
    if y.dtype.kind == "O" and len(y) and all(isinstance(label, bool | int | np.bool_ | np.integer) for label in y):
        y = np.array(y.tolist())  # numbers in an object array, which pandas makes of columns with missing values
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise DSNAError(
            f"y mixes classes that cannot be sorted ({error}); make them all text or all numbers."
        ) from error
    check_classification_targets(y)
    return classes, codes.astype(np.int64)


def check_targets(y: Any, X: np.ndarray) -> np.ndarray:
    """Return regression targets as float64, (n,) or (n, n_outputs)."""
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
    """Raise a DSNAError unless a number lies strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise DSNAError(f"{name}={value!r} must lie strictly between 0 and 1.")


def check_levels(values: Any, name: str) -> np.ndarray:
    """Return (k,) levels, each strictly between 0 and 1; at least one."""
    try:
        levels = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        levels = np.empty(0)
    if levels.ndim != 1 or not levels.size or not np.all((levels > 0.0) & (levels < 1.0)):
        raise DSNAError(f"{name}={values!r} must be a list of numbers strictly between 0 and 1, as [0.05, 0.5, 0.95].")
    return levels
