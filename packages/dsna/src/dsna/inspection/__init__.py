"""Which training rows made a prediction, how good predictions are, and whether to rebalance."""

from .displays import BalanceCurveDisplay, ErrorByRangeDisplay, NeighborhoodDisplay, RecallByClassDisplay
from .explanation import Explanation
from .imbalance import ImbalanceReport, imbalance_report
from .out_of_bag import explain_out_of_bag
from .pipeline import explain
from .reliability import plot_reliability

__all__ = [
    "BalanceCurveDisplay",
    "ErrorByRangeDisplay",
    "Explanation",
    "ImbalanceReport",
    "NeighborhoodDisplay",
    "RecallByClassDisplay",
    "explain",
    "explain_out_of_bag",
    "imbalance_report",
    "plot_reliability",
]
