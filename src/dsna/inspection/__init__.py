"""Which training rows made a prediction, how good predictions are, and whether to rebalance."""

from .explanation import Explanation
from .imbalance import ImbalanceReport, imbalance_report
from .pipeline import explain
from .reliability import plot_reliability

__all__ = ["Explanation", "ImbalanceReport", "explain", "imbalance_report", "plot_reliability"]
