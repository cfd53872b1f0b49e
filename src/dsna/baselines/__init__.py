"""What the paper compares with, as far as scikit-learn and imbalanced-learn do not have it."""

from .ordinal import REDSVM, OHRank
from .smote_forest import SMOTEForest

__all__ = ["REDSVM", "OHRank", "SMOTEForest"]
