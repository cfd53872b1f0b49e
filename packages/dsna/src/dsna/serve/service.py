"""Questions to a model and its answers, independent of routes, pages and sockets."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._utils.errors import DSNAError
from .._utils.parallel import chunks
from ..app.inspect import describe
from ..app.predict import Answerer, PredictOptions, decide_anew, is_classification, read_costs, row_numbers
from ..inspection.comparison import said
from ..io import ModelFileError
from ..report.text import clean
from ..tables import CsvWriter
from ..tables.ranges import TrainingRanges
from .case import Case, build_cases
from .fields import form_fields
from .limits import Limits, Refused
from .rows import TypedRows, parse_file, parse_form

_BATCH_ROWS = 200  # between two checks of the time limit
_MAX_TITLE_LENGTH = 120
_MAX_COSTS_LENGTH = 200_000  # characters: a matrix of over a hundred classes
Pause = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Settings of the decision; None keeps the setting of training.

    Parameters
    ----------
    decision, costs, balance : as in ``dsna predict``.
    coverage : share of cases whose true value intervals or sets should contain.

    Examples
    --------
    >>> Question(costs="20:1").coverage
    0.9
    """

    decision: str | None = None
    costs: str | None = None
    balance: float | None = None
    coverage: float = 0.9


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Extra columns of a table of answers: ``repeat`` those of the file, ``explain`` with training rows."""

    repeat: bool = False
    explain: bool = False


class Service:
    """Answers questions with a model; thread-safe.

    Parameters
    ----------
    model : fitted pipeline of a TableEncoder and a DSNA estimator, as saved by ``dsna train``.
    limits : limits of every request.

    Attributes
    ----------
    fields : tuple of Field, one per column.
    about : dict, as printed by ``dsna info --json``.

    Examples
    --------
    >>> import polars
    >>> from sklearn.pipeline import make_pipeline
    >>> from dsna import CostSensitiveForestClassifier, DSNAClassifier
    >>> from dsna.tables import TableEncoder
    >>> frame = polars.DataFrame({"size": range(60), "kind": ["rare" if i > 50 else "common" for i in range(60)]})
    >>> forest = CostSensitiveForestClassifier(5)
    >>> model = make_pipeline(TableEncoder(target="kind"), DSNAClassifier(forest, random_state=0))
    >>> service = Service(model.fit(frame, frame["kind"].to_numpy()))
    >>> from dsna.serve.rows import parse_form
    >>> answers = service.answers(parse_form(service.fields, {"c0": "58"}), Question(), lambda: None)
    >>> answers[0]["prediction"], answers[0]["set"]
    ('rare', ['rare'])
    """

    def __init__(self, model: Pipeline, limits: Limits | None = None) -> None:
        encoder, estimator = (step for _, step in model.steps)
        if not hasattr(encoder, "feature_names_in_"):
            raise ModelFileError(
                "the model was trained on an array, without column names. Remedy: train it with `dsna train`, or on a "
                "data frame."
            )
        if getattr(estimator, "n_outputs_", 1) > 1:
            raise ModelFileError(
                f"the model predicts {estimator.n_outputs_} targets at once. Remedy: serve one model per target."
            )
        self.model, self.limits = model, limits or Limits()
        self.encoder = encoder
        self.fields = form_fields(encoder)
        self.about = describe(model)
        self.model_for = lru_cache(maxsize=32)(self._model_for)

    @property
    def title(self) -> str:
        """Title of the pages."""
        return f"Predicting {clean(self.about['target'] or 'the target', _MAX_TITLE_LENGTH)}"

    @property
    def is_classification(self) -> bool:
        """Whether the model predicts classes."""
        return is_classification(self.model)

    def warm_up(self) -> None:
        """Answer a case of missing values, so that all code is imported and compiled before the first request."""
        self.case_of_form({}, Question(), 1, lambda: None)

    def _model_for(self, question: Question) -> Pipeline:
        """The model with another decision, without retraining."""
        decision: Any = question.decision
        if question.costs is not None:
            if decision is not None:
                raise Refused("decision and costs exclude each other. Remedy: give one of them.")
            decision = read_costs(question.costs) if len(question.costs) <= _MAX_COSTS_LENGTH else None
            if decision is None:
                raise Refused("costs must be MISS:ALARM, such as 20:1, or a matrix such as [[0, 1], [20, 0]].")
        estimator = self.model.steps[-1][1]
        effective_decision = estimator.decision if decision is None else decision
        if self.is_classification and question.balance is not None and not _is_balanced(effective_decision):
            raise Refused("balance applies to the decision 'balanced' only. Remedy: leave one of them out.")
        if question.balance is not None and not 0.0 <= question.balance <= 1.0:
            raise Refused("balance must be a number from 0 to 1.")
        try:
            return decide_anew(self.model, decision, question.balance)
        except DSNAError:
            raise
        except (ValueError, TypeError) as error:  # from scorers and matrices that do not fit the model
            raise Refused(
                "the decision or costs do not suit this model. Remedy: give another decision, or other costs."
            ) from error

    def _answerer(self, question: Question, **options: Any) -> Answerer:
        if not 0.01 <= question.coverage <= 0.99:
            raise Refused("coverage must be a number from 0.01 to 0.99.")
        return Answerer(self.model_for(question), PredictOptions(coverage=question.coverage, **options))

    def answers(self, rows: TypedRows, question: Question, pause: Pause) -> list[dict[str, Any]]:
        """Predict rows, as plain values; notes of the encoder are added to those of the rows."""
        answerer = self._answerer(question)
        X, notes = self.encoder.transform_with_notes(rows.frame)
        ranges = TrainingRanges(self.encoder)
        ranges.add(X)
        rows.notes.extend([*notes, *ranges.notes()])
        answers: list[dict[str, Any]] = []
        for batch in chunks(len(X), _BATCH_ROWS):
            pause()
            answers += (
                self._class_answers(answerer, X[batch])
                if self.is_classification
                else _target_answers(answerer, X[batch])
            )
        return answers

    def _class_answers(self, answerer: Answerer, X: np.ndarray) -> Iterator[dict[str, Any]]:
        names = [said(label) for label in answerer.model.classes_]
        for predicted, proba, is_member in zip(*answerer.decided(X), strict=True):
            yield {
                "prediction": said(predicted),
                "probabilities": dict(zip(names, proba.tolist(), strict=True)),
                "set": [name for name, is_in_set in zip(names, is_member, strict=True) if is_in_set],
            }

    def cases(self, rows: TypedRows, question: Question, largest: int, pause: Pause) -> list[Case]:
        """Predict and explain rows."""
        if len(rows.frame) > self.limits.explained:
            raise Refused(
                f"explanations are limited to {self.limits.explained} rows per request. Remedy: send fewer.", 413
            )
        answers = self.answers(rows, question, pause)
        pause()
        estimator = self.model_for(question).steps[-1][1]
        X = self.encoder.transform_with_notes(rows.frame)[0]
        names = list(self.encoder.feature_names_in_)
        explanation = estimator.explain(X).beside(rows.frame, self.encoder.rows_, None, names)
        return build_cases(replace(explanation, numbers=row_numbers(self.encoder, explanation.rows)), answers, largest)

    def case_of_form(
        self, values: dict[str, str], question: Question, largest: int, pause: Pause
    ) -> tuple[Case, list[str]]:
        """Predict and explain the row of a form; also returns notes on it."""
        rows = parse_form(self.fields, values)
        case = self.cases(rows, question, largest, pause)[0]
        return case, list(dict.fromkeys(rows.notes))

    def table(
        self, content: bytes, question: Question, options: TableOptions, pause: Pause, *, tabs: bool = False
    ) -> tuple[list[TypedRows], list[Any], list[str]]:
        """Predict the rows of a file; returns chunks of rows, a frame of answers for each chunk, and notes."""
        tables = parse_file(self.fields, content, self.limits, tabs=tabs)
        columns = tuple(tables[0].frame.columns) if options.repeat else ()
        predict_options = PredictOptions(coverage=question.coverage, explain=options.explain, columns=columns)
        self._answerer(question)  # validates the question
        answerer = Answerer(self.model_for(question), predict_options, pause=pause)
        frames = []
        for table in tables:
            answerer.note(table.notes)
            frames.append(answerer.answer(table.frame, table.unreadable))
        answerer.readable.check("the file", can_allow=False)
        answerer.note_summary()
        return tables, frames, [*answerer.notes]


def as_csv(frames: Sequence[Any]) -> bytes:
    r"""Write answers as CSV that is safe to open in a spreadsheet, as ``dsna predict`` does.

    Examples
    --------
    >>> import polars
    >>> as_csv([polars.DataFrame({"prediction": ["=1+1"]})])
    b"prediction\n'=1+1\n"
    """
    stream = io.BytesIO()
    writer = CsvWriter(stream)
    for frame in frames:
        writer.write(frame)
    return stream.getvalue()


def _target_answers(answerer: Answerer, X: np.ndarray) -> Iterator[dict[str, Any]]:
    targets = answerer.targets(X)
    for i, predicted in enumerate(targets["prediction"].tolist()):
        answer: dict[str, Any] = {"prediction": predicted}
        if "low" in targets:
            answer["interval"] = [finite(targets["low"][i]), finite(targets["high"][i])]
        if "extrapolated" in targets:
            answer["extrapolated"] = bool(targets["extrapolated"][i])
        yield answer


def finite(value: Any) -> float | None:
    """Convert a number for JSON; None if it is infinite or missing.

    Examples
    --------
    >>> finite(float("inf")), finite(1.5)
    (None, 1.5)
    """
    return float(value) if np.isfinite(value) else None


def _is_balanced(decision: Any) -> bool:
    return isinstance(decision, str) and decision == "balanced"
