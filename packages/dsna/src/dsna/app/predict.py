"""Answers of a trained pipeline to rows of a table: predictions, how sure they are, and the rows behind them."""

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
from .train import check_settings, costs_of

EXPLAINED = 5  # training rows that an answer names
BETWEEN = " | "  # classes of a set
_PART = 256  # rows between two pauses


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """What is asked about rows.

    Parameters
    ----------
    explain : whether to name the training rows behind each prediction.
    coverage : share of the cases that intervals or sets are to hold the truth of.
    columns : columns of the table to repeat beside the answers.
    allow_unreadable : whether columns that cannot be read are only noted.
    """

    explain: bool = False
    coverage: float = 0.9
    columns: tuple[str, ...] = ()
    allow_unreadable: bool = False


def load_model(path: str | os.PathLike[str]) -> Pipeline:
    """A pipeline that reads tables, from a model file or folder; refuses models that take plain numbers.

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
    last = model.steps[-1][1]
    if not hasattr(last, "oob_rows_"):
        raise ModelFileError(
            f"{os.fspath(path)}: holds a {type(last).__name__}"
            + (", which is not fitted." if hasattr(last, "explain") else ", which has no explanations.")
            + " Remedy: use a model of `dsna train`, or dsna.load in Python."
        )
    return model


def is_classification(model: Pipeline) -> bool:
    """Whether a pipeline predicts classes."""
    return hasattr(model.steps[-1][1], "classes_")


def decide_anew(model: Pipeline, decision: Any = None, balance: float | None = None) -> Pipeline:
    """The same pipeline with another decision; nothing is fitted again.

    Parameters
    ----------
    model : fitted pipeline of an encoder and a DSNA estimator.
    decision : as in the estimators; of two classes, also a pair, the costs of a miss and of an alarm.
    balance : as in the estimators.
    """
    if decision is None and balance is None:
        return model
    last = model.steps[-1][1]
    check_settings("classification" if is_classification(model) else "regression", decision, balance)
    if is_classification(model):
        view = last.with_decision(costs_of(decision, last.classes_[last._code]), balance=balance)
    else:
        settings = {"decision": decision, "balance": balance}
        view = last.with_settings(**{name: value for name, value in settings.items() if value is not None})
    return Pipeline([*model.steps[:-1], (model.steps[-1][0], view)])


def read_costs(text: str) -> tuple[float, float] | list[Any] | None:
    """Costs as users write them, MISS:ALARM or a matrix; None where a text is neither.

    Examples
    --------
    >>> read_costs("20:1"), read_costs("[[0, 1], [20, 0]]"), read_costs("20")
    ((20.0, 1.0), [[0, 1], [20, 0]], None)
    """
    miss, sign, alarm = text.partition(":")
    try:
        found = (float(miss), float(alarm)) if sign else json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, tuple | list) else None


def row_numbers(encoder: Any, rows: np.ndarray) -> np.ndarray:
    """Numbers by which users know training rows: those of their file where the model keeps its rows; from 1 on.

    Examples
    --------
    >>> import numpy as np
    >>> from dsna.tables import TableEncoder
    >>> row_numbers(TableEncoder(), np.array([0, 99])).tolist()
    [1, 100]
    """
    kept = getattr(encoder, "rows_", None)
    if kept is None:
        return np.asarray(rows + 1)
    return np.where(rows < len(kept), kept.number[np.minimum(rows, len(kept) - 1)], rows + 1)


class Answerer:
    """Answers questions about rows, a part of a table at a time.

    Parameters
    ----------
    model : fitted pipeline of a TableEncoder and a DSNA estimator.
    options : what is asked.
    pause : called before every few rows; what it raises ends the work.

    Attributes
    ----------
    notes : what was noted of the rows so far, and how often.
    readable : how much of their columns could be read.
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
        """Keep notes, each once."""
        for one in notes:
            self.notes[one] = self.notes.get(one, 0) + 1

    def note_summary(self) -> None:
        """Note what all rows show: cells that cannot be read, numbers outside training's ranges; called once, last."""
        self.note([*self.readable.notes(), *self._ranges.notes()])

    def answer(self, frame: Any, unreadable: Mapping[str, Unreadable] | None = None) -> Any:
        """Answers to the rows of a polars frame, which follow those of the frames before, as a polars frame.

        Parameters
        ----------
        frame : the rows.
        unreadable : cells of them that could not be read from their file, by column.
        """
        pl = import_extra("polars", "app")
        X, notes, strange = self.encoder.transform_with_counts(frame)
        self.note(notes)
        self.readable.count({**strange, **(unreadable or {})})
        self._ranges.add(X)
        columns: dict[str, Any] = {"row": np.arange(self.done + 1, self.done + frame.height + 1)}
        for name in self._repeated(frame):
            columns[name if name not in columns else f"{name} (of the table)"] = frame[name]
        self.done += frame.height
        if self._pause is None:
            own = pl.DataFrame(self._own(X))
        else:
            parts = []
            for part in chunks(len(X), _PART):
                self._pause()
                parts.append(pl.DataFrame(self._own(X[part])))
            own = pl.concat(parts, how="diagonal_relaxed")
        taken = set(own.columns)
        columns = {f"{name} (of the table)" if name in taken else name: one for name, one in columns.items()}
        return pl.DataFrame({**columns, **own.to_dict(as_series=True)})

    def _own(self, X: np.ndarray) -> dict[str, Any]:
        """Columns that answer encoded rows."""
        why = self.model.explain(X) if self.options.explain else None
        own = self._classes(X, why) if hasattr(self.model, "classes_") else self.targets(X)
        return own if why is None else own | self.behind(why)

    def _repeated(self, frame: Any) -> tuple[str, ...]:
        """Columns of the table that stand beside the answers."""
        if self.options.columns:
            for name in self.options.columns:
                check_option("--columns", name, frame.columns)
            return self.options.columns
        return (self._id_name,) if self._id_name is not None and self._id_name in frame.columns else ()

    def decided(self, X: np.ndarray, why: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Classes, probabilities and sets of encoded rows; ``why`` is their explanation, if there is one."""
        model = self.model
        proba = model.predict_proba(X) if why is None else why.predict_proba()
        if model._by_votes:
            predicted = model.predict(X) if why is None else why.predict()
        else:
            predicted = model.classes_[best_class(proba, model._gain)]
        return predicted, proba, model.in_set(proba, self.options.coverage)

    def _classes(self, X: np.ndarray, why: Any) -> dict[str, Any]:
        predicted, proba, sets = self.decided(X, why)
        names = [said(one) for one in self.model.classes_]
        found = {"prediction": [said(one) for one in predicted] if predicted.dtype.kind not in "biuf" else predicted}
        found |= {f"probability of {name}": rounded(proba[:, c]) for c, name in enumerate(names)}
        texts = {tuple(one): BETWEEN.join(np.array(names, dtype=object)[one]) for one in np.unique(sets, axis=0)}
        return {**found, "set": [texts[tuple(one)] for one in sets]}

    def targets(self, X: np.ndarray) -> dict[str, Any]:
        """Targets of encoded rows, with their intervals and whether they are extrapolated, where these are known.

        Numbers have six significant digits, or as many decimals as the targets of training where these are more.
        """
        model = self.model
        if model._regions:
            bounds, predicted = model.predict_interval(X, self.options.coverage, return_prediction=True)
            found: dict[str, Any] = {"prediction": predicted, "low": bounds[:, 0], "high": bounds[:, 1]}
        else:
            found = {"prediction": model.predict(X)}
        found = {name: rounded(values, self._decimals) for name, values in found.items()}
        if model.trend_ is not None:
            found["extrapolated"] = model.is_extrapolated(X)
        return found

    def behind(self, why: Any) -> dict[str, Any]:
        """Names, classes or targets, and weights of the training rows that add most to each answer."""
        order, number = why.ordered()
        places = order[:, :EXPLAINED]
        rows = np.take_along_axis(why.rows, places, axis=1)
        weight = np.take_along_axis(why.weight, places, axis=1)
        label = np.take_along_axis(why.label.reshape(why.rows.shape), places, axis=1)
        names = row_numbers(self.encoder, rows).astype(object)
        if self._ids is not None:
            known = rows < len(self._ids)
            names[known] = self._ids[rows[known]]
        found: dict[str, Any] = {}
        for k in range(rows.shape[1]):
            has = number > k
            found[f"training row {k + 1}"] = _texts(names[:, k], has)
            if why.classes is None:
                found[f"target {k + 1}"] = np.where(has, rounded(label[:, k], self._decimals), np.nan)
            else:
                found[f"class {k + 1}"] = _texts(label[:, k], has)
            found[f"weight {k + 1}"] = np.where(has, rounded(weight[:, k]), np.nan)
        return found


def _texts(values: np.ndarray, has: np.ndarray) -> list[str | None]:
    return [said(one) if there else None for one, there in zip(values, has, strict=True)]
