"""Scores and errors that give weight to rare classes and rare targets.

Each is a plain function of true and predicted classes or targets, in scikit-learn's order of arguments.

- Classes, higher is better: :func:`g_mean_score`, :func:`minority_recall_score`, :func:`minority_precision_score`.
- Probabilities, lower is better: :func:`expected_calibration_error`.
- Targets, lower is better: :func:`balanced_absolute_error`, :func:`rare_target_absolute_error`, :func:`sera_error`.
- Intervals, closer to the requested coverage is better: :func:`interval_coverage_score`,
  :func:`rare_target_coverage_score`.

:data:`SCORERS` has scikit-learn scorers of the functions that need only true and predicted values, for ``scoring=`` in
cross-validation and searches. Functions that depend on how rare a target was in training take the training targets (or
a density) as keyword arguments; make scorers of them with :func:`sklearn.metrics.make_scorer`:

>>> from sklearn.datasets import load_diabetes
>>> from sklearn.linear_model import Ridge
>>> from sklearn.metrics import make_scorer
>>> from sklearn.model_selection import cross_val_score
>>> from dsna.metrics import SCORERS, sera_error
>>> X, y = load_diabetes(return_X_y=True)
>>> scorer = make_scorer(sera_error, greater_is_better=False, y_train=y, normalize=True)
>>> cross_val_score(Ridge(), X, y, scoring=scorer).shape
(5,)
>>> cross_val_score(Ridge(), X, y, scoring=SCORERS["neg_balanced_absolute_error"]).shape
(5,)
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics import make_scorer

from .classes import expected_calibration_error, g_mean_score, minority_precision_score, minority_recall_score
from .intervals import interval_coverage_score, rare_target_coverage_score
from .targets import balanced_absolute_error, rare_target_absolute_error, sera_error

__all__ = [
    "SCORERS",
    "balanced_absolute_error",
    "expected_calibration_error",
    "g_mean_score",
    "interval_coverage_score",
    "minority_precision_score",
    "minority_recall_score",
    "rare_target_absolute_error",
    "rare_target_coverage_score",
    "sera_error",
]

#: scikit-learn scorers, by name; as everywhere in scikit-learn, errors are negated so that higher is better.
SCORERS: dict[str, Any] = {
    "g_mean": make_scorer(g_mean_score),
    "minority_recall": make_scorer(minority_recall_score),
    "minority_precision": make_scorer(minority_precision_score),
    "neg_expected_calibration_error": make_scorer(
        expected_calibration_error, greater_is_better=False, response_method="predict_proba"
    ),
    "neg_balanced_absolute_error": make_scorer(balanced_absolute_error, greater_is_better=False),
}
