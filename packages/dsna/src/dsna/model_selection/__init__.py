"""Splits of rows in which rare classes, rare target ranges and groups are taken into account.

The splitters are scikit-learn's kind: pass them as ``cv=`` to `cross_val_score`, `GridSearchCV` and the like, and
groups as usual. :func:`rare_first_split` stands in for `train_test_split`.
"""

from .copies import equal_rows
from .folds import StratifiedRareKFold, StratifiedTargetKFold
from .holdout import StratifiedTargetShuffleSplit, rare_first_split

__all__ = [
    "StratifiedRareKFold",
    "StratifiedTargetKFold",
    "StratifiedTargetShuffleSplit",
    "equal_rows",
    "rare_first_split",
]
