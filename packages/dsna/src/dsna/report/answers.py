"""The out-of-bag answers of a model to its own training rows, checked against the table they are said to come from."""

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


class Answered(NamedTuple):
    """Training rows that a model answered out of bag; n cases of N rows."""

    model: Any  # the last step of a pipeline
    table: Columns  # N rows in the user's columns
    label: np.ndarray  # (N,) class numbers or targets
    rare: np.ndarray  # (N,) whether the class or target is rare
    rows: np.ndarray  # (n,) numbers of the cases
    cases: Cases
    fold: np.ndarray  # (n,)
    why: Explanation  # of the cases, by what has not seen them
    predicted: np.ndarray  # (n,) class numbers or targets
    proba: np.ndarray  # (n, n_classes) out-of-bag probabilities
    kernel: np.ndarray  # (n, M) the forest's own weights of the neighbours, which add up to one

    @property
    def truth(self) -> np.ndarray:
        """(n,) class numbers or targets of the cases."""
        return np.asarray(self.label[self.rows])

    @property
    def is_classification(self) -> bool:
        """Whether classes are predicted."""
        return hasattr(self.model, "classes_")


def answered(model: Any, X: Any, y: Any, groups: Any, id: Any) -> Answered:
    """The answers of a fitted model, or of a pipeline that ends in one, to rows of the table that it was fitted on."""
    last = split_pipeline(getattr(model, "best_estimator_", model))[1]
    if not hasattr(last, "_explain_oob"):
        raise DSNAError(
            f"A report needs a DSNAClassifier, a DSNARegressor or a pipeline that ends in one, and this is a "
            f"{type(last).__name__}."
        )
    check_is_fitted(last)
    if getattr(last, "n_outputs_", 1) > 1:
        raise DSNAError(
            f"A report shows one output, and this model has {last.n_outputs_}: fit a model for each of them."
        )
    rows = last.oob_rows_
    if not len(rows):
        raise DSNAError("The model has no out-of-bag rows to report on: fit it on more rows.")
    table = Columns.read(X)
    label = _checked_labels(last, y, len(table))
    why = explain_out_of_bag(model, X, id=id)
    if id is not None:
        table = replace(table, id=np.array(id, dtype=object)) if np.ndim(id) else table.identified_by(id)
    groups = None if groups is None else np.asarray(groups)
    if groups is not None and len(groups) != len(table):
        raise DSNAError(f"groups has {len(groups)} entries and X {len(table)} rows: pass one for each row.")
    cases = Cases.of(len(rows), last._oob_weight, None if groups is None else groups[rows])
    classification = hasattr(last, "classes_")
    said = last.oob_prediction_
    return Answered(
        model=last,
        table=table,
        label=label,
        rare=_rare_classes(last)[label] if classification else rare_targets(label),
        rows=rows,
        cases=cases,
        fold=last._index.fold[rows],
        why=why,
        predicted=np.searchsorted(last.classes_, said) if classification else said,
        proba=why.predict_proba() if classification else np.empty((len(rows), 0)),
        kernel=forest_weights(why),
    )


def _checked_labels(last: Any, y: Any, n: int) -> np.ndarray:
    """(N,) class numbers or targets, which must be those of the fit."""
    given = np.asarray(y)
    if given.shape != (n,):
        raise DSNAError(f"y has shape {given.shape} and X {n} rows: pass the classes or targets given to fit.")
    own = last._index.label[:n, 0]
    if hasattr(last, "classes_"):
        label = np.searchsorted(last.classes_, given)
        same = bool(np.all(last.classes_[np.minimum(label, len(last.classes_) - 1)] == given))
    else:
        label, same = given.astype(np.float64), True
    if len(own) != n or not same or not np.allclose(label, own, rtol=1e-9, atol=0.0):
        raise DSNAError(
            "y does not hold the classes or targets that the model was fitted on: pass these, in their order."
        )
    return np.asarray(label)


def _rare_classes(last: Any) -> np.ndarray:
    """(n_classes,) the rarest class, and others that have less than half of an equal share."""
    prior = last.class_prior_
    return np.asarray((prior < 0.5 / len(prior)) | (prior == prior.min()))
