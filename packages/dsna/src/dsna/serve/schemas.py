"""What the JSON API takes and gives; the page about it is made of the same."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from ..tables.files.delimited import short
from .service import Question

_CELL = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}, {"type": "null"}]}
Cell = Annotated[Any, WithJsonSchema(_CELL)]
#: Lists are looked into where they are used, up to the first mistake: a list of all mistakes may be long.
_ROWS = {"type": "array", "items": {"type": "object", "additionalProperties": _CELL}}
_MATRIX = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
_COSTS = {"anyOf": [{"type": "string"}, _MATRIX, {"type": "null"}]}
_MOST = 2_000  # letters of a decision
_NOTES = "What was noted of the rows: columns that were ignored, numbers outside the training range and the like."


class PredictRequest(BaseModel):
    """Rows to answer, and how to decide."""

    rows: Annotated[list[Any], WithJsonSchema(_ROWS)] = Field(
        description="An object for each row: the value of each column, null if missing."
    )
    decision: str | None = Field(None, max_length=_MOST, description="As `dsna predict --decision` takes it.")
    costs: Annotated[Any, WithJsonSchema(_COSTS)] = Field(
        None, description="What mistakes cost: MISS:ALARM, such as 20:1, or a matrix of true by predicted class."
    )
    balance: float | None = Field(None, ge=0, le=1, description="Weight of rare cases, from 0 to 1.")
    coverage: float = Field(0.9, ge=0.01, le=0.99, description="Share of the cases whose truth sets or intervals hold.")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        """Refuse fields that there are none of; the first is named."""
        strange = (
            next((name for name in given if name not in cls.model_fields), None) if isinstance(given, dict) else None
        )
        if strange is not None:
            raise ValueError(f"there is no field {short(strange)}")
        return given

    def question(self) -> Question:
        """How to decide."""
        costs = self.costs if self.costs is None or isinstance(self.costs, str) else json.dumps(self.costs)
        return Question(decision=self.decision, costs=costs, balance=self.balance, coverage=self.coverage)


class ExplainRequest(PredictRequest):
    """Rows to answer and to explain, and how to decide."""

    largest: int = Field(6, ge=1, le=50, description="Training rows to name, by the size of their weights.")


class ClassAnswer(BaseModel):
    """The class of a row."""

    prediction: str
    probabilities: dict[str, float] = Field(description="In the population that the training rows come from.")
    set: list[str] = Field(description="All classes that the row may well have.")


class TargetAnswer(BaseModel):
    """The target of a row."""

    prediction: float
    interval: list[float | None] | None = Field(None, description="Low and high end; null where there is no bound.")
    extrapolated: bool | None = Field(None, description="Whether the row lies past the training rows along the trend.")


class PlainAverage(BaseModel):
    """What plain averaging of all neighbours would have said."""

    prediction: str | float
    share: float | None = Field(None, description="Of the class among the neighbours' votes.")


class TrainingRow(BaseModel):
    """A training row behind an answer."""

    row: int = Field(description="Its number among the training rows, from 0 on.")
    name: str = Field(
        description="What it is called in the training table: by its identifier, or by a number from 1 on."
    )
    target: str | float
    carried: float | None = Field(None, description="Its target as the trend carries it over to the case.")
    weight: float
    values: dict[str, Cell] | None = Field(None, description="Its own values, where the model holds them.")
    differs: list[str] | None = Field(None, description="Columns in which it differs from the case.")


class _Explained(BaseModel):
    plain_average: PlainAverage
    training_rows: list[TrainingRow] = Field(description="By falling size of their weights.")
    rows_behind: int = Field(description="How many training rows have a part in the answer.")


class ExplainedClass(ClassAnswer, _Explained):
    """The class of a row, and the training rows behind it."""

    log_odds: dict[str, float] | None = Field(None, description="Parts of the log odds against the next class.")


class ExplainedTarget(TargetAnswer, _Explained):
    """The target of a row, and the training rows behind it."""


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
    """What the model is, and what a request may hold."""

    model_config = ConfigDict(extra="allow")

    task: str
    target: str | None
    training_rows: int
    columns: dict[str, str] = Field(description="Type of each column that a row is to have.")
    holds_training_rows: bool = Field(description="Whether explanations show training rows in their own values.")
    limits: dict[str, int | float]


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="One sentence: what is wrong, where, and what to do.")
