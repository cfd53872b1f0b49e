"""An answer and its training rows, compared column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inspection.averaging import plain_average
from ..inspection.columns import is_missing
from ..inspection.comparison import TOLERANCE, said
from ..inspection.explanation import Explanation
from ..prediction.digits import like_targets


@dataclass(frozen=True, kw_only=True)
class Neighbor:
    """A training row behind an answer.

    Parameters
    ----------
    row : index of the training row, from 0.
    name : its identifier, or its number from 1.
    target : its class or target.
    carried : its target, shifted along the trend to the case; None without a trend.
    weight : its weight in the answer.
    """

    row: int
    name: str
    target: Any
    carried: float | None
    weight: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """A column: the value of the case, the values of its neighbours, and which of these differ from it."""

    name: str
    case_value: Any
    values: tuple[Any, ...]
    differs: tuple[bool, ...]


@dataclass(frozen=True, kw_only=True)
class Case:
    """An answer and the training rows behind it.

    Parameters
    ----------
    answer : prediction, probabilities and set, or prediction and interval, as plain values.
    plain : prediction by plain averaging of all neighbours.
    plain_share : share of votes for that class; None in regression.
    n_contributing : number of training rows with a weight in the answer.
    weight_share : share of the total absolute weight held by ``neighbors``.
    neighbors : the training rows that contribute most to the decision.
    lines : one line per column; empty if the model does not hold its training rows.
    opinions : contributions to the log odds of the predicted class, by source.
    """

    answer: dict[str, Any]
    plain: Any
    plain_share: float | None
    n_contributing: int
    weight_share: float
    neighbors: tuple[Neighbor, ...]
    lines: tuple[Line, ...]
    opinions: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """Convert the case to the API's JSON."""
        rows = []
        for k, neighbor in enumerate(self.neighbors):
            row: dict[str, Any] = {
                "row": neighbor.row,
                "name": neighbor.name,
                "target": neighbor.target,
                "weight": neighbor.weight,
            }
            if neighbor.carried is not None:
                row["carried"] = neighbor.carried
            if self.lines:
                row["values"] = {line.name: line.values[k] for line in self.lines}
                row["differs"] = [line.name for line in self.lines if line.differs[k]]
            rows.append(row)
        plain: dict[str, Any] = {"prediction": self.plain}
        if self.plain_share is not None:
            plain["share"] = self.plain_share
        result = {**self.answer, "plain_average": plain, "training_rows": rows, "rows_behind": self.n_contributing}
        return result | ({"log_odds": self.opinions} if self.opinions else {})


def build_cases(explanation: Explanation, answers: list[dict[str, Any]], largest: int) -> list[Case]:
    """Cases for the queries of an explanation, each with its ``largest`` neighbours of most weight."""
    plain, share = plain_average(explanation)
    plain = plain if explanation.classes is not None else like_targets(plain, explanation.label)
    odds = None if explanation.voices is None else explanation.opinion_odds()
    cases = []
    for i, answer in enumerate(answers):
        row_explanation = explanation[i]
        order, n_rows = row_explanation.ordered()
        positions = order[0, : min(largest, n_rows[0])]
        comparison = row_explanation.comparison(0, largest)
        carried = (
            None
            if row_explanation.carried is None
            else like_targets(row_explanation.carried[0, positions, 0], explanation.label)
        )
        cases.append(
            Case(
                answer=answer,
                plain=_target(plain[i]) if explanation.classes is None else said(explanation.classes[plain[i]]),
                plain_share=float(share[i]) if len(share) else None,
                n_contributing=int(n_rows[0]),
                weight_share=row_explanation.part_of_weight(len(positions)),
                neighbors=tuple(
                    Neighbor(
                        row=int(row_explanation.rows[0, k]),
                        name=name,
                        target=_target(row_explanation.label[0, k])
                        if explanation.classes is None
                        else said(row_explanation.label[0, k]),
                        carried=None if carried is None else float(carried[position]),
                        weight=float(row_explanation.weight[0, k]),
                    )
                    for position, (k, name) in enumerate(
                        zip(positions, row_explanation.row_names(0, positions), strict=True)
                    )
                ),
                lines=tuple(
                    Line(
                        name=name,
                        case_value=as_plain(cells[0]),
                        values=tuple(map(as_plain, cells[1:])),
                        differs=tuple((distances > TOLERANCE).tolist()),
                    )
                    for (name, cells), distances in zip(comparison.features, comparison.away, strict=True)
                ),
                opinions={} if odds is None else dict(zip(explanation.voices or (), odds[i].tolist(), strict=True)),
            )
        )
    return cases


def _target(value: Any) -> float:
    return float(np.asarray(value).ravel()[0])


def as_plain(cell: Any) -> Any:
    """Convert a cell for JSON: a number, a boolean, a string, or None if it is missing.

    Examples
    --------
    >>> as_plain(np.float64(2.5)), as_plain(np.datetime64("2024-03-01")), as_plain(float("nan"))
    (2.5, '2024-03-01', None)
    """
    if is_missing(cell) or (isinstance(cell, float | np.floating) and not np.isfinite(cell)):
        return None
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, int | np.integer):
        return int(cell)
    return float(cell) if isinstance(cell, float | np.floating) else said(cell)
