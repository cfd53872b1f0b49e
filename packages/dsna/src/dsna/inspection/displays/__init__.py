"""Plots as scikit-learn Displays: ``from_estimator``, ``from_predictions``, ``plot``."""

from .balance import BalanceCurveDisplay
from .classes import RecallByClassDisplay
from .neighborhood import NeighborhoodDisplay
from .ranges import ErrorByRangeDisplay

__all__ = ["BalanceCurveDisplay", "ErrorByRangeDisplay", "NeighborhoodDisplay", "RecallByClassDisplay"]
