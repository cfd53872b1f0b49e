"""What a model file holds, in words and as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..inspection.comparison import said
from .predict import is_classification

_MOST_CLASSES = 20


def describe(model: Pipeline) -> dict[str, Any]:
    """What a trained pipeline is, as plain values that JSON can hold.

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
    encoder, last = (step for _, step in model.steps)
    whole = getattr(last, "model", last)  # of a folder, that of all rows
    importances = encoder.sum_by_column(last.feature_importances_) if last._index.trees is not None else {}
    found: dict[str, Any] = {
        "estimator": type(whole).__name__,
        "task": "classification" if is_classification(model) else "regression",
        "target": encoder.target,
        "training_rows": getattr(whole, "n_rows_", len(last._index.fold)),
        "added_rows": int(np.sum(last._index.fold < 0)),
        # That numbers have a decimal point goes without saying.
        "columns": {
            name: "ordered" if isinstance(spec, list) else spec.removesuffix(":point")
            for name, spec in encoder.types_.items()
        },
        "left_out": [*(encoder.drop or ())],
        "importances": dict(sorted(importances.items(), key=lambda pair: -pair[1])),
        "holds_training_rows": encoder.rows_ is not None,
        "row_names": None if encoder.rows_ is None else encoder.rows_.id_name,
        "held_out_rows": len(last.oob_rows_),
    }
    scores = {"accuracy" if is_classification(model) else "R2": last.oob_score_}
    if is_classification(model):
        counts = zip(last.classes_.tolist(), last._class_weight.tolist(), strict=True)
        found["classes"] = {said(name): int(count) if count == int(count) else count for name, count in counts}
        found["decision"] = last.decision if isinstance(last.decision, str) else np.asarray(last.decision).tolist()
        scores["balanced accuracy"] = last.oob_balanced_accuracy_
    else:
        label = last._index.label[:, 0]
        found["range"] = [float(label.min()), float(label.max())]
        found["decision"] = last.decision_
        found["balance"] = last.balance_
    found["out_of_bag"] = {name: None if np.isnan(one) else float(one) for name, one in scores.items()}
    return found


def description_lines(found: dict[str, Any]) -> list[str]:
    """What :func:`describe` found, a line each.

    Examples
    --------
    >>> description_lines({"task": "regression", "target": "rent"})[0]
    'predicts: rent (regression)'
    """
    lines = [f"predicts: {found.get('target') or 'a column without a name'} ({found['task']})"]
    if "classes" in found:
        shown = [f"{name} {count:g}" for name, count in list(found["classes"].items())[:_MOST_CLASSES]]
        more = len(found["classes"]) - len(shown)
        lines.append(f"classes: {', '.join(shown)}" + (f" and {more} more" if more else ""))
    if "range" in found:
        lines.append("targets: from {} to {}".format(*map(said, found["range"])))
    if "columns" not in found:
        return lines
    added = f", {found['added_rows']} of them added later" if found["added_rows"] else ""
    lines.append(f"training rows: {found['training_rows']}{added}")
    shares = found["importances"]
    of_gain = " (shares of the splits' gain are not a measure of importance)" if shares else ""
    lines.append(f"columns: {len(found['columns'])}{of_gain}")
    for name, kind in found["columns"].items():
        lines.append(f"  {name}: {kind}" + (f", {shares[name]:.1%} of the splits' gain" if name in shares else ""))
    if found["left_out"]:
        lines.append(f"left out: {', '.join(found['left_out'])}")
    lines.append(f"decision: {found['decision']}")
    scores = ", ".join(f"{name} {'-' if one is None else f'{one:.3f}'}" for name, one in found["out_of_bag"].items())
    lines.append(f"out of bag, on {found['held_out_rows']} rows: {scores}")
    if found["holds_training_rows"]:
        lines.append(f"this file holds the training rows in their own values (called by: {found['row_names']})")
    else:
        lines.append("this file does not hold the training rows in their own values, only as numbers that trees use")
    return lines
