"""Predictions of a trained pipeline for rows of a table, with their uncertainty and the training rows behind them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._utils.choices import best_class
from .._utils.optional import import_extra
from .._utils.parallel import chunks
from ..distributed.store import is_store
from ..inspection.comparison import said
from ..io import ModelFileError, load
from ..prediction.digits import decimals_of, rounded
from ..tables.cells import Unreadable
from ..tables.ranges import TrainingRanges
from .columns import ReadableColumns, check_option
from .train import check_settings, cost_matrix

N_NEIGHBORS = 5  # training rows named in an answer
SEPARATOR = " | "  # between the classes of a set
_BATCH_ROWS = 256  # between two pauses


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Options of a prediction.

    Parameters
    ----------
    explain : whether to name the training rows behind each prediction.
    coverage : share of cases whose true value intervals or sets should contain.
    columns : columns of the table to repeat beside the answers.
    allow_unreadable : whether unreadable columns are noted instead of raising an error.
    """

    explain: bool = False
    coverage: float = 0.9
    columns: tuple[str, ...] = ()
    allow_unreadable: bool = False


def load_model(path: str | os.PathLike[str]) -> Pipeline:
    """Load a pipeline that reads tables from a model file or folder; raise an error for models of plain arrays.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dsna import DSNAClassifier, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(DSNAClassifier(), Path(folder) / "m.dsna")
    ...     load_model(Path(folder) / "m.dsna")
    Traceback (most recent call last):
    dsna.io.archive.ModelFileError: ...m.dsna: holds a DSNAClassifier without the columns of a table. ...
    """
    if is_store(path):
        from .out_of_core import load_folder

        return load_folder(path)
    model = load(path)
    if not isinstance(model, Pipeline):
        raise ModelFileError(
            f"{os.fspath(path)}: holds a {type(model).__name__} without the columns of a table. Remedy: use a model of "
            "`dsna train`, or dsna.load in Python."
        )
    estimator = model.steps[-1][1]
    if not hasattr(estimator, "oob_rows_"):
        raise ModelFileError(
            f"{os.fspath(path)}: holds a {type(estimator).__name__}"
            + (", which is not fitted." if hasattr(estimator, "explain") else ", which has no explanations.")
            + " Remedy: use a model of `dsna train`, or dsna.load in Python."
        )
    return model


def is_classification(model: Pipeline) -> bool:
    """Whether a pipeline predicts classes."""
    return hasattr(model.steps[-1][1], "classes_")


def decide_anew(model: Pipeline, decision: Any = None, balance: float | None = None) -> Pipeline:
    """The same pipeline with another decision, without retraining.

    Parameters
    ----------
    model : fitted pipeline of an encoder and a DSNA estimator.
    decision : as in the estimators; for two classes, also a pair of costs (miss, false alarm).
    balance : as in the estimators.
    """
    if decision is None and balance is None:
        return model
    estimator = model.steps[-1][1]
    check_settings("classification" if is_classification(model) else "regression", decision, balance)
    if is_classification(model):
        decided = estimator.with_decision(cost_matrix(decision, estimator.classes_[estimator._code]), balance=balance)
    else:
        settings = {"decision": decision, "balance": balance}
        decided = estimator.with_settings(**{name: value for name, value in settings.items() if value is not None})
    return Pipeline([*model.steps[:-1], (model.steps[-1][0], decided)])


def read_costs(text: str) -> tuple[float, float] | list[Any] | None:
    """Parse costs, MISS:ALARM or a matrix; None if the text is neither.

    Examples
    --------
    >>> read_costs("20:1"), read_costs("[[0, 1], [20, 0]]"), read_costs("20")
    ((20.0, 1.0), [[0, 1], [20, 0]], None)
    """
    miss, sign, alarm = text.partition(":")
    try:
        costs = (float(miss), float(alarm)) if sign else json.loads(text)
    except (ValueError, RecursionError):
        return None
    return costs if isinstance(costs, tuple | list) else None


def row_numbers(encoder: Any, rows: np.ndarray) -> np.ndarray:
    """Row numbers, from 1: those of the user's file if the model keeps its rows, else positions in training.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.tables import TableEncoder
    >>> row_numbers(TableEncoder(), np.array([0, 99])).tolist()
    [1, 100]
    """
    training_rows = getattr(encoder, "rows_", None)
    if training_rows is None:
        return np.asarray(rows + 1)
    return np.where(rows < len(training_rows), training_rows.number[np.minimum(rows, len(training_rows) - 1)], rows + 1)


class Answerer:
    """Predicts the rows of a table, chunk by chunk.

    Parameters
    ----------
    model : fitted pipeline of a TableEncoder and a DSNA estimator.
    options : options of the prediction.
    pause : called before each batch of rows; may raise to stop the work.

    Attributes
    ----------
    notes : notes on the rows so far, with counts.
    readable : counts of unreadable cells.
    done : rows answered so far.

    Examples
    --------
    >>> import polars
    >>> from sklearn.pipeline import make_pipeline
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.app.predict import Answerer, PredictOptions, decide_anew
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": range(60), "kind": ["rare" if i > 50 else "common" for i in range(60)]})
    >>> forest = CostSensitiveForestClassifier(5)
    >>> model = make_pipeline(TableEncoder(target="kind"), DSNAClassifier(forest, random_state=0))
    >>> model = model.fit(frame, frame["kind"].to_numpy())
    >>> Answerer(decide_anew(model, (20.0, 1.0)), PredictOptions()).answer(frame[58:]).columns
    ['row', 'prediction', 'probability of common', 'probability of rare', 'set']
    """

    def __init__(self, model: Pipeline, options: PredictOptions, *, pause: Callable[[], None] | None = None) -> None:
        self.encoder, self.model = model.steps[0][1], model.steps[1][1]
        self.options, self._pause = options, pause
        self.notes: dict[str, int] = {}
        self.readable = ReadableColumns(self.encoder, options.allow_unreadable)
        rows = getattr(self.encoder, "rows_", None)
        self._ids = None if rows is None else rows.identifiers()
        self._id_name = None if rows is None or rows.id is None else rows.id_name
        self._ranges = TrainingRanges(self.encoder)
        self._decimals = None if hasattr(self.model, "classes_") else decimals_of(self.model._index.label)
        self.done = 0

    def note(self, notes: Iterable[str]) -> None:
        """Add notes; each is kept once, with its count."""
        for note in notes:
            self.notes[note] = self.notes.get(note, 0) + 1

    def note_summary(self) -> None:
        """Add notes on unreadable cells and numbers outside the training range; call once, after all rows."""
        self.note([*self.readable.notes(), *self._ranges.notes()])

    def answer(self, frame: Any, unreadable: Mapping[str, Unreadable] | None = None) -> Any:
        """Answers to the next rows of a table, as a polars frame.

        Parameters
        ----------
        frame : polars frame of the rows.
        unreadable : unreadable cells in the file, by column.
        """
        pl = import_extra("polars", "app")
        X, notes, unreadable_values = self.encoder.transform_with_counts(frame)
        self.note(notes)
        self.readable.count({**unreadable_values, **(unreadable or {})})
        self._ranges.add(X)
        columns: dict[str, Any] = {"row": np.arange(self.done + 1, self.done + frame.height + 1)}
        for name in self._repeated(frame):
            columns[name if name not in columns else f"{name} (of the table)"] = frame[name]
        self.done += frame.height
        if self._pause is None:
            answers = pl.DataFrame(self._answers(X))
        else:
            batches = []
            for batch in chunks(len(X), _BATCH_ROWS):
                self._pause()
                batches.append(pl.DataFrame(self._answers(X[batch])))
            answers = pl.concat(batches, how="diagonal_relaxed")
        answer_names = set(answers.columns)
        columns = {
            f"{name} (of the table)" if name in answer_names else name: values for name, values in columns.items()
        }
        return pl.DataFrame({**columns, **answers.to_dict(as_series=True)})

    def _answers(self, X: np.ndarray) -> dict[str, Any]:
        """Answer columns for encoded rows."""
        explanation = self.model.explain(X) if self.options.explain else None
        answers = self._classes(X, explanation) if hasattr(self.model, "classes_") else self.targets(X)
        return answers if explanation is None else answers | self.behind(explanation)

    def _repeated(self, frame: Any) -> tuple[str, ...]:
        """Names of the table's columns to repeat beside the answers."""
        if self.options.columns:
            for name in self.options.columns:
                check_option("--columns", name, frame.columns)
            return self.options.columns
        return (self._id_name,) if self._id_name is not None and self._id_name in frame.columns else ()

    def decided(self, X: np.ndarray, explanation: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Predicted classes, probabilities and prediction sets of encoded rows, from their explanation if given."""
        model = self.model
        proba = model.predict_proba(X) if explanation is None else explanation.predict_proba()
        if model._by_votes:
            predicted = model.predict(X) if explanation is None else explanation.predict()
        else:
            predicted = model.classes_[best_class(proba, model._gain)]
        return predicted, proba, model.in_set(proba, self.options.coverage)

    def _classes(self, X: np.ndarray, explanation: Any) -> dict[str, Any]:
        predicted, proba, sets = self.decided(X, explanation)
        names = [said(label) for label in self.model.classes_]
        answers = {
            "prediction": [said(label) for label in predicted] if predicted.dtype.kind not in "biuf" else predicted
        }
        answers |= {f"probability of {name}": rounded(proba[:, c]) for c, name in enumerate(names)}
        class_names = np.array(names, dtype=object)
        texts = {tuple(mask): SEPARATOR.join(class_names[mask]) for mask in np.unique(sets, axis=0)}
        return {**answers, "set": [texts[tuple(mask)] for mask in sets]}

    def targets(self, X: np.ndarray) -> dict[str, Any]:
        """Predicted targets of encoded rows, with intervals and extrapolation flags if the model has them.

        Numbers are rounded to six significant digits, or to the decimals of the training targets if these are more.
        """
        model = self.model
        if model._regions:
            bounds, predicted = model.predict_interval(X, self.options.coverage, return_prediction=True)
            answers: dict[str, Any] = {"prediction": predicted, "low": bounds[:, 0], "high": bounds[:, 1]}
        else:
            answers = {"prediction": model.predict(X)}
        answers = {name: rounded(values, self._decimals) for name, values in answers.items()}
        if model.trend_ is not None:
            answers["extrapolated"] = model.is_extrapolated(X)
        return answers

    def behind(self, explanation: Any) -> dict[str, Any]:
        """Names, classes or targets, and weights of the training rows that contribute most to each answer."""
        order, n_rows = explanation.ordered()
        positions = order[:, :N_NEIGHBORS]
        rows = np.take_along_axis(explanation.rows, positions, axis=1)
        weights = np.take_along_axis(explanation.weight, positions, axis=1)
        targets = np.take_along_axis(explanation.label.reshape(explanation.rows.shape), positions, axis=1)
        names = row_numbers(self.encoder, rows).astype(object)
        if self._ids is not None:
            has_name = rows < len(self._ids)
            names[has_name] = self._ids[rows[has_name]]
        answers: dict[str, Any] = {}
        for k in range(rows.shape[1]):
            has_row = n_rows > k
            answers[f"training row {k + 1}"] = _optional_texts(names[:, k], has_row)
            if explanation.classes is None:
                answers[f"target {k + 1}"] = np.where(has_row, rounded(targets[:, k], self._decimals), np.nan)
            else:
                answers[f"class {k + 1}"] = _optional_texts(targets[:, k], has_row)
            answers[f"weight {k + 1}"] = np.where(has_row, rounded(weights[:, k]), np.nan)
        return answers


def _optional_texts(values: np.ndarray, mask: np.ndarray) -> list[str | None]:
    return [said(value) if is_present else None for value, is_present in zip(values, mask, strict=True)]
