"""Which training rows made a prediction, and plots of how good predictions are."""

from .explanation import Explanation
from .pipeline import explain
from .reliability import plot_reliability

__all__ = ["Explanation", "explain", "plot_reliability"]
