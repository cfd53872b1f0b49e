"""Constraints of parameters, for scikit-learn's ``_parameter_constraints``."""

from .._utils.parameters import JOBS, NON_NEGATIVE, SHARE, CheckedEstimator, at_least, check_nested, is_number
from .._utils.validation import check_weights

__all__ = [
    "JOBS",
    "NON_NEGATIVE",
    "SHARE",
    "CheckedEstimator",
    "at_least",
    "check_nested",
    "check_weights",
    "is_number",
]
