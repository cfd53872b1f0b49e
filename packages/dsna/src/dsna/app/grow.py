"""Add labelled rows to a trained pipeline without retraining."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._utils.errors import DSNAError
from ..inspection.comparison import said
from ..tables import FileTable
from .columns import check_new_rows, encode_rows, known_rows_note
from .predict import is_classification
from .target import match_classes, read_known_target, training_labels


class Added(NamedTuple):
    """Counts of added rows, with new classes and notes."""

    rows: int
    total: int
    new_classes: list[str]
    notes: list[str]


def add_rows(model: Pipeline, table: FileTable, target: str | None = None, *, allow_unreadable: bool = False) -> Added:
    """Add the rows of a table to a fitted pipeline of a TableEncoder and a DSNA estimator, in place.

    Parameters
    ----------
    model : the pipeline.
    table : rows with the columns of training and the target.
    target : name of the target column; None: as in training.
    allow_unreadable : whether unreadable columns are noted instead of raising an error.

    Examples
    --------
    >>> import polars
    >>> from sklearn.pipeline import make_pipeline
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.tables import FileTable, TableEncoder
    >>> frame = polars.DataFrame({"size": range(60), "kind": ["rare" if i > 50 else "common" for i in range(60)]})
    >>> forest = CostSensitiveForestClassifier(5)
    >>> model = make_pipeline(TableEncoder(target="kind"), DSNAClassifier(forest, random_state=0))
    >>> new = FileTable(name="new.csv", frame=polars.DataFrame({"size": [99], "kind": ["new"]}), types={}, notes=[])
    >>> add_rows(model.fit(frame, frame["kind"].to_numpy()), new)
    Added(rows=1, total=61, new_classes=['new'], notes=[])
    """
    encoder, estimator = (step for _, step in model.steps)
    classification = is_classification(model)
    new_target = read_known_target(
        table, target or encoder.target, "classification" if classification else "regression"
    )
    check_new_rows(encoder, table)
    frame = table.frame[new_target.rows]
    known_note = known_rows_note(encoder, frame)
    if known_note:
        raise DSNAError(f"{table.name}: {known_note}: they would count twice. Remedy: leave these out.")
    y, known_classes = new_target.values, []
    if classification:
        y = match_classes(y, estimator.classes_, new_target.name, allow_new=True, labels=training_labels(encoder))
        known_classes = [said(label) for label in estimator.classes_]
    X, notes = encode_rows(encoder, table, new_target.rows, allow_unreadable)
    estimator.add_samples(X, y)
    if encoder.rows_ is not None:
        encoder.rows_ = encoder.rows_.extended(frame)
    new_classes = [said(label) for label in np.unique(y) if said(label) not in known_classes] if classification else []
    return Added(len(y), len(estimator._index.fold), new_classes, [*table.notes, *new_target.notes, *notes])
