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
_LOOKED_AT = 10_000  # rows in which cells that are no numbers are looked for


def check_rows(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Rows as C-contiguous float64 of the width seen in fit; what is no finite number is refused at once, by column."""
    strange = _strange_cells(X, _LOOKED_AT) if _begins_with_dates(X) else {}
    if strange:
        raise _not_numbers(estimator, strange)
    try:
        rows = validate_data(estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
    except (TypeError, ValueError) as error:
        is_text = "could not convert string" in str(error)
        strange = _strange_cells(X, _LOOKED_AT) if is_text or isinstance(error, TypeError) else {}
        if is_text and "text" not in strange:
            strange = _strange_cells(X, None)
        if not {"text", "dates"} & set(strange):
            raise
        raise _not_numbers(estimator, strange) from error
    if not np.all(np.isfinite(rows)):
        names = getattr(estimator, "feature_names_in_", np.arange(rows.shape[1]))
        raise _not_numbers(
            estimator,
            {
                word: [str(name) for name in names[held.any(axis=0)]]
                for word, held in (("NaN", np.isnan(rows)), ("inf", np.isinf(rows)))
                if held.any()
            },
        )
    return np.asarray(rows)


def _few(names: list[str]) -> str:
    """The first five names, and how many more there are."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _begins_with_dates(X: Any) -> bool:
    """Whether columns of a data frame, or cells in the first row of an array of objects, are dates."""
    if hasattr(X, "dtypes") and any(str(kind).lower().startswith("date") for kind in X.dtypes):
        return True
    if not hasattr(X, "columns") and getattr(getattr(X, "dtype", None), "kind", "") != "O":
        return False
    return any(isinstance(cell, date | np.datetime64) for cell in np.asarray(X[:1], dtype=object).ravel())


def _strange_cells(X: Any, most: int | None) -> dict[str, list[str]]:
    """Columns by what their first cells, or all, hold beside finite numbers."""
    found: dict[str, list[str]] = {}
    for name, cells in _first_cells(X, most).items():
        missing = np.isnat(cells) if cells.dtype.kind == "M" else _missing_cells(cells)
        present = cells[~missing]
        for what, there in (
            ("dates", any(isinstance(cell, date | np.datetime64) for cell in present)),
            ("text", any(isinstance(cell, str | bytes) for cell in present)),
            ("NaN", bool(missing.any())),
            ("inf", any(isinstance(cell, float) and np.isinf(cell) for cell in present)),
        ):
            if there:
                found.setdefault(what, []).append(name)
    return found


def _first_cells(X: Any, most: int | None) -> dict[str, np.ndarray]:
    """The first cells of each column of a data frame or an array."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        by_place = getattr(X, "iloc", X)
        return {str(name): np.asarray(by_place[:most, j]) for j, name in enumerate(X.columns)}
    cells = np.asarray(X, dtype=object)
    return {str(j): column for j, column in enumerate(cells[:most].T)} if cells.ndim == 2 else {}


def _not_numbers(estimator: Any, strange: dict[str, list[str]]) -> DSNAError:
    """One sentence on all cells that are no finite numbers, with one remedy for all."""
    kind = type(estimator).__name__
    held = " and ".join(f"{what} in column {_few(names)}" for what, names in strange.items())
    return DSNAError(
        f"Input X contains {held}. {kind} needs finite numbers: put dsna.tables.TableEncoder before it, "
        f"make_pipeline(TableEncoder(), {kind}())."
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
        missing = _missing_cells(values)
    else:
        return
    if missing.any():
        raise DSNAError(f"Input {name} contains NaN, inf or no value in row {np.flatnonzero(missing)[0]}; {remedy}.")


def _missing_cells(values: np.ndarray) -> np.ndarray:
    """Which cells hold None, NaN, NaT or another value that stands for none."""
    # pandas.NA has no truth value, so it is known by its name before NaN is by its comparison.
    return np.array([v is None or repr(v) == "<NA>" or v != v for v in values], dtype=bool)


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
