"""Out-of-bag predictions of a model, with the table that it was fitted on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.errors import DSNAError
from ..inspection.averaging import forest_weights
from ..inspection.columns import Columns
from ..inspection.explanation import Explanation
from ..inspection.figures import Cases, rare_targets
from ..inspection.out_of_bag import explain_out_of_bag
from ..inspection.pipeline import split_pipeline


class OutOfBagAnswers(NamedTuple):
    """Out-of-bag predictions and explanations of n cases among N training rows."""

    model: Any  # the last step of a pipeline
    table: Columns  # N rows with the user's columns
    label: np.ndarray  # (N,) class numbers or targets
    rare: np.ndarray  # (N,) whether the class or target is rare
    rows: np.ndarray  # (n,) numbers of the cases
    cases: Cases
    fold: np.ndarray  # (n,)
    explanation: Explanation  # of the cases, by what has not seen them
    predicted: np.ndarray  # (n,) class numbers or targets
    proba: np.ndarray  # (n, n_classes) out-of-bag probabilities
    kernel: np.ndarray  # (n, M) weights that the forest gives to the neighbours; they sum to one

    @property
    def truth(self) -> np.ndarray:
        """(n,) class numbers or targets of the cases."""
        return np.asarray(self.label[self.rows])

    @property
    def is_classification(self) -> bool:
        """Whether the model is a classifier."""
        return hasattr(self.model, "classes_")


def out_of_bag_answers(model: Any, X: Any, y: Any, groups: Any, id: Any) -> OutOfBagAnswers:
    """Out-of-bag predictions of a fitted model, or of a pipeline that ends in one, for its training rows."""
    last = split_pipeline(getattr(model, "best_estimator_", model))[1]
    if not hasattr(last, "_explain_oob"):
        raise DSNAError(
            f"A report needs a DSNAClassifier, a DSNARegressor or a pipeline that ends in one; got "
            f"{type(last).__name__}."
        )
    check_is_fitted(last)
    if getattr(last, "n_outputs_", 1) > 1:
        raise DSNAError(
            f"A report shows one output, but this model has {last.n_outputs_}: fit a model for each of them."
        )
    rows = last.oob_rows_
    if not len(rows):
        raise DSNAError("The model has no out-of-bag rows to report on: fit it on more rows.")
    table = Columns.read(X)
    label = _checked_labels(last, y, len(table))
    explanation = explain_out_of_bag(model, X, id=id)
    if id is not None:
        table = replace(table, id=np.array(id, dtype=object)) if np.ndim(id) else table.identified_by(id)
    groups = None if groups is None else np.asarray(groups)
    if groups is not None and len(groups) != len(table):
        raise DSNAError(f"groups has {len(groups)} entries, but X has {len(table)} rows: pass one for each row.")
    cases = Cases.of(len(rows), last._oob_weight, None if groups is None else groups[rows])
    classification = hasattr(last, "classes_")
    predicted = last.oob_prediction_
    return OutOfBagAnswers(
        model=last,
        table=table,
        label=label,
        rare=_rare_classes(last)[label] if classification else rare_targets(label),
        rows=rows,
        cases=cases,
        fold=last._index.fold[rows],
        explanation=explanation,
        predicted=np.searchsorted(last.classes_, predicted) if classification else predicted,
        proba=explanation.predict_proba() if classification else np.empty((len(rows), 0)),
        kernel=forest_weights(explanation),
    )


def _checked_labels(last: Any, y: Any, n: int) -> np.ndarray:
    """(N,) class numbers or targets; validates that the model was fitted on them."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise DSNAError(f"y has shape {labels.shape} but X has {n} rows: pass the classes or targets given to fit.")
    fitted_labels = last._index.label[:n, 0]
    if hasattr(last, "classes_"):
        codes = np.searchsorted(last.classes_, labels)
        equal = bool(np.all(last.classes_[np.minimum(codes, len(last.classes_) - 1)] == labels))
    else:
        codes, equal = labels.astype(np.float64), True
    if len(fitted_labels) != n or not equal or not np.allclose(codes, fitted_labels, rtol=1e-9, atol=0.0):
        raise DSNAError(
            "y differs from the classes or targets that the model was fitted on: pass these, in the same order."
        )
    return np.asarray(codes)


def _rare_classes(last: Any) -> np.ndarray:
    """(n_classes,) mask of the rarest class and of classes with less than half of an equal share."""
    prior = last.class_prior_
    return np.asarray((prior < 0.5 / len(prior)) | (prior == prior.min()))
