"""Base class of estimators, and constraints for their ``_parameter_constraints``."""

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

# Bounds of numbers that are multiplied by each other and by squared distances.
_SMALLEST, _LARGEST = 1e-100, 1e100
_MOST_JOBS = 1024
_Method = TypeVar("_Method", bound=Callable[..., Any])

_BALANCE = "set balance, from 0 (as in the training rows) to 1 (rare and common alike), or pass sample_weight to fit"
_NO_STOPPING = "nothing is stopped early, and scores on held-out rows are there after fit, as oob_score_"
#: Parameters of estimators of other packages, and what to do instead.
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
    """An interval of numbers without True and False, for which kernels would be compiled again."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether a value is a number of the interval."""
        return not isinstance(val, bool | np.bool_) and bool(super().is_satisfied_by(val))


POSITIVE = Numbers(Real, _SMALLEST, _LARGEST, closed="both")
NON_NEGATIVE = Numbers(Real, 0, _LARGEST, closed="both")
SHARE = Numbers(Real, 0, 1, closed="both")
JOBS = [Numbers(Integral, 1, _MOST_JOBS, closed="both"), Numbers(Integral, -_MOST_JOBS, -1, closed="both"), None]


class CheckedEstimator(CheckedUnpickled, BaseEstimator):
    """Base class of estimators, which are checked after unpickling like estimators from a model file."""

    def _check_unpickled(self) -> None:
        # That module imports all estimators, so it is imported only when one is unpickled.
        import_module(f"{__name__.partition('.')[0]}.io.fitted").check_unpickled(self)


def at_least(minimum: int, maximum: int | None = None) -> Numbers:
    """Return the interval of whole numbers from ``minimum``, up to ``maximum`` where it is given."""
    return Numbers(Integral, minimum, maximum, closed="left" if maximum is None else "both")


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any, minimum: int) -> bool:
    """Whether a value is a whole number of at least ``minimum``; True, False and 2.0 are not."""
    return is_number(value) and not isinstance(value, float | np.floating) and value >= minimum


def check_own(estimator: Any, params: Mapping[str, Any], part_classes: Mapping[str, Any]) -> None:
    """Refuse parameters of an estimator's parts or of other packages, with a remedy.

    Parameters
    ----------
    estimator : DSNAClassifier or DSNARegressor.
    params : parameters by name.
    part_classes : classes of its parts, by the names of their parameters.
    """
    estimator_class = type(estimator)
    own_names = estimator_class._get_param_names()
    for name, value in params.items():
        remedies = [
            f"it is a parameter of its {part}, so pass {part}={part_class.__name__}({name}={value!r})"
            for part, part_class in part_classes.items()
            if name in part_class._get_param_names()
        ]
        remedy = _REMEDIES.get(name) or next(iter(remedies), None)
        if name not in own_names and remedy is not None:
            raise DSNAError(f"{estimator_class.__name__} has no {name}: {remedy}.")


def refusing_others(fit: _Method) -> _Method:
    """Decorate ``fit`` to refuse parameters of other packages, such as ``eval_set``, with a remedy."""

    @wraps(fit)
    def checked(self: Any, *arguments: Any, **keywords: Any) -> Any:
        check_own(self, keywords, {})
        return fit(self, *arguments, **keywords)

    return cast(_Method, checked)


def check_nested(owner: Any, params: Mapping[str, Any], default_parts: Mapping[str, str]) -> None:
    """Refuse nested parameters, such as ``approximation__lam``, of parts that are None.

    Parameters
    ----------
    owner : estimator whose ``set_params`` is called.
    params : its parameters.
    default_parts : code that makes the default part, by names of parameters that may be None.
    """
    for name in params:
        part, _, nested = name.partition("__")
        if nested and part in default_parts and params.get(part, getattr(owner, part)) is None:
            raise DSNAError(
                f"{name} cannot be set while {part} is None, the default: pass {part}={default_parts[part]} first."
            )
