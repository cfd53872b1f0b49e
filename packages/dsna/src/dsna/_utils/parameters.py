"""What estimators share: constraints of ``_parameter_constraints``, and the check of what was unpickled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

from .errors import DSNAError
from .invariants import CheckedUnpickled

# Of numbers that are multiplied by each other and by squares of distances.
_SMALLEST, _LARGEST = 1e-100, 1e100
_MOST_JOBS = 1024
_Method = TypeVar("_Method", bound=Callable[..., Any])

_BALANCE = "set balance, from 0 (as in the training rows) to 1 (rare and common alike), or pass sample_weight to fit"
_NO_STOPPING = "nothing is stopped early, and scores on held-out rows are there after fit, as oob_score_"
#: Parameters that estimators of other packages take, and what to do in their place.
_REMEDIES = {
    "class_weight": _BALANCE,
    "scale_pos_weight": _BALANCE,
    "is_unbalance": _BALANCE,
    "warm_start": "call fit anew, or add_samples(X, y) to add rows to a fitted model",
    "eval_set": _NO_STOPPING,
    "early_stopping": _NO_STOPPING,
    "early_stopping_rounds": _NO_STOPPING,
    "validation_fraction": _NO_STOPPING,
    "oob_score": "oob_score_ is there after every fit",
}


class Numbers(Interval):
    """An interval of numbers; True and False, which kernels would take for a type of their own, are not in it."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether a value is a number of the interval."""
        return not isinstance(val, bool | np.bool_) and bool(super().is_satisfied_by(val))


POSITIVE = Numbers(Real, _SMALLEST, _LARGEST, closed="both")
NON_NEGATIVE = Numbers(Real, 0, _LARGEST, closed="both")
SHARE = Numbers(Real, 0, 1, closed="both")
JOBS = [Numbers(Integral, 1, _MOST_JOBS, closed="both"), Numbers(Integral, -_MOST_JOBS, -1, closed="both"), None]


class CheckedEstimator(CheckedUnpickled, BaseEstimator):
    """Base class of estimators: what was unpickled is checked as what a model file holds."""

    def _check_unpickled(self) -> None:
        # It knows all estimators, so it is imported only where one is unpickled.
        import_module(f"{__name__.partition('.')[0]}.io.fitted").check_unpickled(self)


def at_least(least: int, most: int | None = None) -> Numbers:
    """Whole numbers from ``least`` on, up to ``most`` where it is given."""
    return Numbers(Integral, least, most, closed="left" if most is None else "both")


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any, least: int) -> bool:
    """Whether a value is a whole number of at least ``least``; True and False are not, nor is 2.0."""
    return is_number(value) and not isinstance(value, float | np.floating) and value >= least


def check_own(estimator: Any, given: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
    """Refuse parameters that others have, the parts of an estimator or other packages, in a sentence with the remedy.

    Parameters
    ----------
    estimator : DSNAClassifier or DSNARegressor.
    given : parameters by name.
    parts : classes of its parts, by the parameters that take them.
    """
    kind = type(estimator)
    own = kind._get_param_names()
    for name, value in given.items():
        remedies = [
            f"it is a parameter of its {part}, so pass {part}={made.__name__}({name}={value!r})"
            for part, made in parts.items()
            if name in made._get_param_names()
        ]
        remedy = _REMEDIES.get(name) or next(iter(remedies), None)
        if name not in own and remedy is not None:
            raise DSNAError(f"{kind.__name__} has no {name}: {remedy}.")


def refusing_others(fit: _Method) -> _Method:
    """A ``fit`` that refuses what that of other packages takes, such as ``eval_set``, as ``check_own`` does."""

    @wraps(fit)
    def checked(self: Any, *arguments: Any, **named: Any) -> Any:
        check_own(self, named, {})
        return fit(self, *arguments, **named)

    return cast(_Method, checked)


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
