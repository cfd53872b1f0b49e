"""Splits of rows that take rare classes, rare target ranges and groups into account.

The splitters have scikit-learn's interface: pass them as ``cv=`` to `cross_val_score` or `GridSearchCV`, with
``groups=`` if needed. :func:`rare_first_split` replaces `train_test_split`.
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
