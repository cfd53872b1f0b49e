"""New rows of known target for a trained pipeline, without another training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from .._utils.errors import DSNAError
from ..inspection.comparison import said
from ..tables import FileTable
from .columns import check_new_rows, encoded_rows, known_rows
from .predict import is_classification
from .target import known_labels, known_target, same_classes


class Added(NamedTuple):
    """What was added to a model."""

    rows: int
    total: int
    new_classes: list[str]
    notes: list[str]


def add_rows(model: Pipeline, table: FileTable, target: str | None = None, *, allow_unreadable: bool = False) -> Added:
    """Add the rows of a table to a fitted pipeline of a TableEncoder and a DSNA estimator, which changes.

    Parameters
    ----------
    model : the pipeline.
    table : rows with the columns of training and the target.
    target : name of the target column; None: the one of training.
    allow_unreadable : whether columns that cannot be read are only noted.

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
    encoder, last = (step for _, step in model.steps)
    classes = is_classification(model)
    found = known_target(table, target or encoder.target, "classification" if classes else "regression")
    check_new_rows(encoder, table)
    frame = table.frame[found.rows]
    again = known_rows(encoder, frame)
    if again:
        raise DSNAError(f"{table.name}: {again}: they would count twice. Remedy: leave these out.")
    y, before = found.values, []
    if classes:
        y = same_classes(y, last.classes_, found.name, new=True, labels=known_labels(encoder))
        before = [said(one) for one in last.classes_]
    X, notes = encoded_rows(encoder, table, found.rows, allow_unreadable)
    last.add_samples(X, y)
    if encoder.rows_ is not None:
        encoder.rows_ = encoder.rows_.extended(frame)
    new = [said(one) for one in np.unique(y) if said(one) not in before] if classes else []
    return Added(len(y), len(last._index.fold), new, [*table.notes, *found.notes, *notes])
