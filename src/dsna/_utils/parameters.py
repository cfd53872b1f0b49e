"""Constraints that parameters of several estimators share, for scikit-learn's ``_parameter_constraints``."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from .errors import DSNAError

# Of numbers that are multiplied by each other and by squares of distances.
_SMALLEST, _LARGEST = 1e-100, 1e100
_MOST_JOBS = 1024

POSITIVE = Interval(Real, _SMALLEST, _LARGEST, closed="both")
NON_NEGATIVE = Interval(Real, 0, _LARGEST, closed="both")
SHARE = Interval(Real, 0, 1, closed="both")
JOBS = [Interval(Integral, 1, _MOST_JOBS, closed="both"), Interval(Integral, -_MOST_JOBS, -1, closed="both"), None]


def at_least(least: int, most: int | None = None) -> Interval:
    """Whole numbers from ``least`` on, up to ``most`` where it is given."""
    return Interval(Integral, least, most, closed="left" if most is None else "both")


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any, least: int) -> bool:
    """Whether a value is a whole number of at least ``least``; True and False are not, nor is 2.0."""
    return is_number(value) and not isinstance(value, float | np.floating) and value >= least


def check_nested(owner: Any, params: Mapping[str, Any], parts: Mapping[str, str]) -> None:
    """Refuse nested names, such as ``approximation__lam``, of parts that are None.

    Parameters
    ----------
    owner : estimator whose ``set_params`` is called.
    params : what it is given.
    parts : names of the parts that may be None, and what makes the default one.
    """
    for name in params:
        part, _, nested = name.partition("__")
        if nested and part in parts and params.get(part, getattr(owner, part)) is None:
            raise DSNAError(f"{name} cannot be set while {part} is None, the default: pass {part}={parts[part]} first.")
