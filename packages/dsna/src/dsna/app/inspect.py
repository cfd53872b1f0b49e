"""Description of a model file, as text and as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..inspection.comparison import said
from .predict import is_classification

_MAX_CLASSES = 20


def describe(model: Pipeline) -> dict[str, Any]:
    """Describe a trained pipeline with plain values that JSON can hold.

    Parameters
    ----------
    model : fitted pipeline of a TableEncoder and a DSNA estimator.

    Examples
    --------
    >>> import polars
    >>> from sklearn.pipeline import make_pipeline
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": range(60), "town": ["A", "B", "C"] * 20})
    >>> model = make_pipeline(TableEncoder(), DSNAClassifier(CostSensitiveForestClassifier(5), random_state=0))
    >>> found = describe(model.fit(frame, ["rare" if i > 50 else "common" for i in range(60)]))
    >>> found["columns"], found["classes"]
    ({'size': 'number', 'town': 'category'}, {'common': 51, 'rare': 9})
    """
    encoder, estimator = (step for _, step in model.steps)
    full_model = getattr(estimator, "model", estimator)  # a model folder wraps the model of all rows
    importances = encoder.sum_by_column(estimator.feature_importances_) if estimator._index.trees is not None else {}
    description: dict[str, Any] = {
        "estimator": type(full_model).__name__,
        "task": "classification" if is_classification(model) else "regression",
        "target": encoder.target,
        "training_rows": getattr(full_model, "n_rows_", len(estimator._index.fold)),
        "added_rows": int(np.sum(estimator._index.fold < 0)),
        # A decimal point is the default and is not mentioned.
        "columns": {
            name: "ordered" if isinstance(spec, list) else spec.removesuffix(":point")
            for name, spec in encoder.types_.items()
        },
        "left_out": [*(encoder.drop or ())],
        "importances": dict(sorted(importances.items(), key=lambda pair: -pair[1])),
        "holds_training_rows": encoder.rows_ is not None,
        "row_names": None if encoder.rows_ is None else encoder.rows_.id_name,
        "held_out_rows": len(estimator.oob_rows_),
    }
    scores = {"accuracy" if is_classification(model) else "R2": estimator.oob_score_}
    if is_classification(model):
        counts = zip(estimator.classes_.tolist(), estimator._class_weight.tolist(), strict=True)
        description["classes"] = {said(name): int(count) if count == int(count) else count for name, count in counts}
        description["decision"] = (
            estimator.decision if isinstance(estimator.decision, str) else np.asarray(estimator.decision).tolist()
        )
        scores["balanced accuracy"] = estimator.oob_balanced_accuracy_
    else:
        targets = estimator._index.label[:, 0]
        description["range"] = [float(targets.min()), float(targets.max())]
        description["decision"] = estimator.decision_
        description["balance"] = estimator.balance_
    description["out_of_bag"] = {name: None if np.isnan(score) else float(score) for name, score in scores.items()}
    return description


def description_lines(description: dict[str, Any]) -> list[str]:
    """Format the result of :func:`describe`, one line per fact.

    Examples
    --------
    >>> description_lines({"task": "regression", "target": "rent"})[0]
    'predicts: rent (regression)'
    """
    lines = [f"predicts: {description.get('target') or 'a column without a name'} ({description['task']})"]
    if "classes" in description:
        class_list = [f"{name} {count:g}" for name, count in list(description["classes"].items())[:_MAX_CLASSES]]
        n_more = len(description["classes"]) - len(class_list)
        lines.append(f"classes: {', '.join(class_list)}" + (f" and {n_more} more" if n_more else ""))
    if "range" in description:
        lines.append("targets: from {} to {}".format(*map(said, description["range"])))
    if "columns" not in description:
        return lines
    added_note = f", {description['added_rows']} of them added later" if description["added_rows"] else ""
    lines.append(f"training rows: {description['training_rows']}{added_note}")
    importances = description["importances"]
    importance_note = " (shares of the splits' gain are not a measure of importance)" if importances else ""
    lines.append(f"columns: {len(description['columns'])}{importance_note}")
    for name, kind in description["columns"].items():
        lines.append(
            f"  {name}: {kind}" + (f", {importances[name]:.1%} of the splits' gain" if name in importances else "")
        )
    if description["left_out"]:
        lines.append(f"left out: {', '.join(description['left_out'])}")
    lines.append(f"decision: {description['decision']}")
    scores = ", ".join(
        f"{name} {'-' if score is None else f'{score:.3f}'}" for name, score in description["out_of_bag"].items()
    )
    lines.append(f"out of bag, on {description['held_out_rows']} rows: {scores}")
    if description["holds_training_rows"]:
        lines.append(f"this file holds the original values of the training rows (named by: {description['row_names']})")
    else:
        lines.append("this file does not hold the original values of the training rows, only encoded numbers")
    return lines
