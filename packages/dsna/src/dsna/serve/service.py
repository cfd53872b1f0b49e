"""What is asked of a model and what it answers; nothing here knows of addresses, pages or sockets."""

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
from .case import Case, cases_of
from .fields import fields_of
from .limits import Limits, Refused
from .rows import Rows, rows_of_file, rows_of_form

_PART = 200  # rows between two looks at the clock
_LONGEST_TITLE = 120
_LONGEST_COSTS = 200_000  # letters: a matrix of over a hundred classes
Pause = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Question:
    """How answers are to be decided; None leaves it as it was in training.

    Parameters
    ----------
    decision, costs, balance : as ``dsna predict`` takes them.
    coverage : share of the cases that intervals or sets are to hold the truth of.

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
    """What a table of answers holds beside them: the columns of the file, the training rows behind each."""

    repeat: bool = False
    explain: bool = False


class Service:
    """Answers of one model, which is never changed; any number of threads may ask at once.

    Parameters
    ----------
    model : fitted pipeline of a TableEncoder and a DSNA estimator, as ``dsna train`` makes it.
    limits : of every request.

    Attributes
    ----------
    fields : tuple of Field, one for each column.
    about : dict, what ``dsna info --json`` says.

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
    >>> from dsna.serve.rows import rows_of_form
    >>> answers = service.answers(rows_of_form(service.fields, {"c0": "58"}), Question(), lambda: None)
    >>> answers[0]["prediction"], answers[0]["set"]
    ('rare', ['rare'])
    """

    def __init__(self, model: Pipeline, limits: Limits | None = None) -> None:
        encoder, last = (step for _, step in model.steps)
        if not hasattr(encoder, "feature_names_in_"):
            raise ModelFileError(
                "the model was trained on an array, without names of columns. Remedy: train it with `dsna train`, or "
                "on a data frame."
            )
        if getattr(last, "n_outputs_", 1) > 1:
            raise ModelFileError(
                f"the model predicts {last.n_outputs_} targets at once. Remedy: serve a model of each."
            )
        self.model, self.limits = model, limits or Limits()
        self.encoder = encoder
        self.fields = fields_of(encoder)
        self.about = describe(model)
        self.decided = lru_cache(maxsize=32)(self._decided)

    @property
    def title(self) -> str:
        """What the model does, as pages call it."""
        return f"Predicting {clean(self.about['target'] or 'the target', _LONGEST_TITLE)}"

    @property
    def is_classification(self) -> bool:
        """Whether classes are predicted."""
        return is_classification(self.model)

    def warm_up(self) -> None:
        """Answer a case of which nothing is known: what is compiled or imported at first use is ready then."""
        self.case_of_form({}, Question(), 1, lambda: None)

    def _decided(self, question: Question) -> Pipeline:
        """The model with the decision that is asked for; nothing is fitted again."""
        decision: Any = question.decision
        if question.costs is not None:
            if decision is not None:
                raise Refused("decision and costs are two ways to decide. Remedy: give one of them.")
            decision = read_costs(question.costs) if len(question.costs) <= _LONGEST_COSTS else None
            if decision is None:
                raise Refused("costs are MISS:ALARM, such as 20:1, or a matrix such as [[0, 1], [20, 0]].")
        last = self.model.steps[-1][1]
        chosen = last.decision if decision is None else decision
        if self.is_classification and question.balance is not None and not _is_balanced(chosen):
            raise Refused("balance goes with the decision balanced. Remedy: give one of them.")
        if question.balance is not None and not 0.0 <= question.balance <= 1.0:
            raise Refused("balance is a number from 0 to 1.")
        try:
            return decide_anew(self.model, decision, question.balance)
        except DSNAError:
            raise
        except (ValueError, TypeError) as error:  # of scorers and matrices that fit no such model
            raise Refused("this model cannot decide so. Remedy: give another decision, or other costs.") from error

    def _answerer(self, question: Question, **options: Any) -> Answerer:
        if not 0.01 <= question.coverage <= 0.99:
            raise Refused("coverage is a share from 0.01 to 0.99.")
        return Answerer(self.decided(question), PredictOptions(coverage=question.coverage, **options))

    def answers(self, rows: Rows, question: Question, pause: Pause) -> list[dict[str, Any]]:
        """An answer to each row, as plain values; notes of the encoder are added to those of the rows."""
        answerer = self._answerer(question)
        X, notes = self.encoder.transform_with_notes(rows.frame)
        ranges = TrainingRanges(self.encoder)
        ranges.add(X)
        rows.notes.extend([*notes, *ranges.notes()])
        found: list[dict[str, Any]] = []
        for part in chunks(len(X), _PART):
            pause()
            found += self._of_classes(answerer, X[part]) if self.is_classification else _of_targets(answerer, X[part])
        return found

    def _of_classes(self, answerer: Answerer, X: np.ndarray) -> Iterator[dict[str, Any]]:
        names = [said(one) for one in answerer.model.classes_]
        for predicted, proba, inside in zip(*answerer.decided(X), strict=True):
            yield {
                "prediction": said(predicted),
                "probabilities": dict(zip(names, proba.tolist(), strict=True)),
                "set": [name for name, there in zip(names, inside, strict=True) if there],
            }

    def cases(self, rows: Rows, question: Question, largest: int, pause: Pause) -> list[Case]:
        """The answer to each row beside the training rows behind it."""
        if len(rows.frame) > self.limits.explained:
            raise Refused(f"explanations are given for {self.limits.explained} rows at once. Remedy: send fewer.", 413)
        answers = self.answers(rows, question, pause)
        pause()
        last = self.decided(question).steps[-1][1]
        X = self.encoder.transform_with_notes(rows.frame)[0]
        names = list(self.encoder.feature_names_in_)
        why = last.explain(X).beside(rows.frame, self.encoder.rows_, None, names)
        return cases_of(replace(why, numbers=row_numbers(self.encoder, why.rows)), answers, largest)

    def case_of_form(
        self, values: dict[str, str], question: Question, largest: int, pause: Pause
    ) -> tuple[Case, list[str]]:
        """The answer to the one row of a form, and what was noted of it."""
        rows = rows_of_form(self.fields, values)
        case = self.cases(rows, question, largest, pause)[0]
        return case, list(dict.fromkeys(rows.notes))

    def table(
        self, content: bytes, question: Question, options: TableOptions, pause: Pause, *, tabs: bool = False
    ) -> tuple[list[Rows], list[Any], list[str]]:
        """The rows of a file in parts, a frame of answers to each part, and notes."""
        parts = rows_of_file(self.fields, content, self.limits, tabs=tabs)
        columns = tuple(parts[0].frame.columns) if options.repeat else ()
        asked = PredictOptions(coverage=question.coverage, explain=options.explain, columns=columns)
        self._answerer(question)  # which checks the question
        answerer = Answerer(self.decided(question), asked, pause=pause)
        frames = []
        for part in parts:
            answerer.note(part.notes)
            frames.append(answerer.answer(part.frame, part.unreadable))
        answerer.readable.check("the file", can_allow=False)
        answerer.note_summary()
        return parts, frames, [*answerer.notes]


def as_csv(frames: Sequence[Any]) -> bytes:
    r"""Answers as a CSV file that is safe to open in a spreadsheet, as ``dsna predict`` writes it.

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


def _of_targets(answerer: Answerer, X: np.ndarray) -> Iterator[dict[str, Any]]:
    found = answerer.targets(X)
    for i, predicted in enumerate(found["prediction"].tolist()):
        one: dict[str, Any] = {"prediction": predicted}
        if "low" in found:
            one["interval"] = [finite(found["low"][i]), finite(found["high"][i])]
        if "extrapolated" in found:
            one["extrapolated"] = bool(found["extrapolated"][i])
        yield one


def finite(value: Any) -> float | None:
    """A number as JSON holds it: None where it has no bound.

    Examples
    --------
    >>> finite(float("inf")), finite(1.5)
    (None, 1.5)
    """
    return float(value) if np.isfinite(value) else None


def _is_balanced(decision: Any) -> bool:
    return isinstance(decision, str) and decision == "balanced"
