"""Requests and responses of the JSON API; the API page is generated from them."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from ..tables.files.delimited import short
from .service import Question

_CELL = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}, {"type": "null"}]}
Cell = Annotated[Any, WithJsonSchema(_CELL)]
#: Items are validated where they are used, up to the first error; pydantic would list all errors.
_ROWS = {"type": "array", "items": {"type": "object", "additionalProperties": _CELL}}
_MATRIX = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
_COSTS = {"anyOf": [{"type": "string"}, _MATRIX, {"type": "null"}]}
_MAX_LENGTH = 2_000  # characters of a decision
_NOTES = "Notes on the rows, such as ignored columns and numbers outside the training range."


class PredictRequest(BaseModel):
    """Rows to predict, and the decision to use."""

    rows: Annotated[list[Any], WithJsonSchema(_ROWS)] = Field(
        description="An object for each row: the value of each column, null if missing."
    )
    decision: str | None = Field(
        None, max_length=_MAX_LENGTH, description="Same values as for `dsna predict --decision`."
    )
    costs: Annotated[Any, WithJsonSchema(_COSTS)] = Field(
        None, description="Costs of errors: MISS:ALARM, such as 20:1, or a matrix of true by predicted class."
    )
    balance: float | None = Field(None, ge=0, le=1, description="Weight of rare cases, from 0 to 1.")
    coverage: float = Field(
        0.9, ge=0.01, le=0.99, description="Share of cases whose true value sets or intervals should contain."
    )

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: Any) -> Any:
        """Raise an error for the first unknown field."""
        unknown = (
            next((name for name in data if name not in cls.model_fields), None) if isinstance(data, dict) else None
        )
        if unknown is not None:
            raise ValueError(f"there is no field {short(unknown)}")
        return data

    def question(self) -> Question:
        """The decision to use."""
        costs = self.costs if self.costs is None or isinstance(self.costs, str) else json.dumps(self.costs)
        return Question(decision=self.decision, costs=costs, balance=self.balance, coverage=self.coverage)


class ExplainRequest(PredictRequest):
    """Rows to predict and explain, and the decision to use."""

    largest: int = Field(6, ge=1, le=50, description="Number of training rows to return, largest weights first.")


class ClassAnswer(BaseModel):
    """The predicted class of a row."""

    prediction: str
    probabilities: dict[str, float] = Field(description="Class probabilities in the population of the training rows.")
    set: list[str] = Field(description="Prediction set: all classes that are plausible for the row.")


class TargetAnswer(BaseModel):
    """The predicted target of a row."""

    prediction: float
    interval: list[float | None] | None = Field(None, description="Lower and upper bound; null if unbounded.")
    extrapolated: bool | None = Field(
        None, description="Whether the row lies beyond the training rows along the trend."
    )


class PlainAverage(BaseModel):
    """Prediction by plain averaging of all neighbours."""

    prediction: str | float
    share: float | None = Field(None, description="Share of the neighbours' votes for the class.")


class TrainingRow(BaseModel):
    """A training row behind an answer."""

    row: int = Field(description="Index of the training row, from 0.")
    name: str = Field(description="Identifier of the row in the training table, or its number from 1.")
    target: str | float
    carried: float | None = Field(None, description="Target of the row, shifted along the trend to the case.")
    weight: float
    values: dict[str, Cell] | None = Field(None, description="Original values, if the model holds them.")
    differs: list[str] | None = Field(None, description="Columns in which the row differs from the case.")


class _Explained(BaseModel):
    plain_average: PlainAverage
    training_rows: list[TrainingRow] = Field(description="Training rows, largest weights first.")
    rows_behind: int = Field(description="Number of training rows that contribute to the answer.")


class ExplainedClass(ClassAnswer, _Explained):
    """The predicted class of a row, and the training rows behind it."""

    log_odds: dict[str, float] | None = Field(
        None, description="Contributions to the log odds against the next class, by source."
    )


class ExplainedTarget(TargetAnswer, _Explained):
    """The predicted target of a row, and the training rows behind it."""


class ClassAnswers(BaseModel):
    """Answers, in the order of the rows."""

    answers: list[ClassAnswer]
    notes: list[str] = Field(description=_NOTES)


class TargetAnswers(BaseModel):
    """Answers, in the order of the rows."""

    answers: list[TargetAnswer]
    notes: list[str] = Field(description=_NOTES)


class ExplainedClasses(BaseModel):
    """Answers with their training rows, in the order of the rows."""

    answers: list[ExplainedClass]
    notes: list[str] = Field(description=_NOTES)


class ExplainedTargets(BaseModel):
    """Answers with their training rows, in the order of the rows."""

    answers: list[ExplainedTarget]
    notes: list[str] = Field(description=_NOTES)


class ModelAnswer(BaseModel):
    """Description of the model, and the limits of a request."""

    model_config = ConfigDict(extra="allow")

    task: str
    target: str | None
    training_rows: int
    columns: dict[str, str] = Field(description="Type of each column that a row must have.")
    holds_training_rows: bool = Field(description="Whether explanations show the values of training rows.")
    limits: dict[str, int | float]


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="One sentence: what is wrong, where, and what to do.")
