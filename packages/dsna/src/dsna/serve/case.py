"""One answer beside the training rows that it is made of, column by column."""

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
    row : its number among the training rows, from 0 on.
    name : what it is called: by its identifier, or by a number from 1 on.
    target : its class or target.
    carried : its target as the trend carries it over to the case; None where it counts as it is.
    weight : in the answer.
    """

    row: int
    name: str
    target: Any
    carried: float | None
    weight: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """A column: the value of the case, those of its neighbours, and which of these differ from it."""

    name: str
    own: Any
    values: tuple[Any, ...]
    differs: tuple[bool, ...]


@dataclass(frozen=True, kw_only=True)
class Case:
    """An answer and what it is made of.

    Parameters
    ----------
    answer : prediction, probabilities and set, or prediction and interval, as plain values.
    plain : what plain averaging of all neighbours would have said.
    plain_share : share of that class in it; None in regression.
    behind : how many training rows have a part in the answer.
    part : share of those shown in the sizes of all weights.
    neighbors : those that add most to the decision.
    lines : one for each column; none where the model does not hold its training rows.
    opinions : parts of the log odds of the predicted class, by where they come from.
    """

    answer: dict[str, Any]
    plain: Any
    plain_share: float | None
    behind: int
    part: float
    neighbors: tuple[Neighbor, ...]
    lines: tuple[Line, ...]
    opinions: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """The case as the API gives it."""
        rows = []
        for k, one in enumerate(self.neighbors):
            row: dict[str, Any] = {"row": one.row, "name": one.name, "target": one.target, "weight": one.weight}
            if one.carried is not None:
                row["carried"] = one.carried
            if self.lines:
                row["values"] = {line.name: line.values[k] for line in self.lines}
                row["differs"] = [line.name for line in self.lines if line.differs[k]]
            rows.append(row)
        plain: dict[str, Any] = {"prediction": self.plain}
        if self.plain_share is not None:
            plain["share"] = self.plain_share
        found = {**self.answer, "plain_average": plain, "training_rows": rows, "rows_behind": self.behind}
        return found | ({"log_odds": self.opinions} if self.opinions else {})


def cases_of(why: Explanation, answers: list[dict[str, Any]], largest: int) -> list[Case]:
    """A case for each query of an explanation, with its ``largest`` neighbours."""
    plain, share = plain_average(why)
    plain = plain if why.classes is not None else like_targets(plain, why.label)
    odds = None if why.voices is None else why.opinion_odds()
    found = []
    for i, answer in enumerate(answers):
        one = why[i]
        order, number = one.ordered()
        places = order[0, : min(largest, number[0])]
        beside = one.comparison(0, largest)
        carried = None if one.carried is None else like_targets(one.carried[0, places, 0], why.label)
        found.append(
            Case(
                answer=answer,
                plain=_target(plain[i]) if why.classes is None else said(why.classes[plain[i]]),
                plain_share=float(share[i]) if len(share) else None,
                behind=int(number[0]),
                part=one.part_of_weight(len(places)),
                neighbors=tuple(
                    Neighbor(
                        row=int(one.rows[0, k]),
                        name=name,
                        target=_target(one.label[0, k]) if why.classes is None else said(one.label[0, k]),
                        carried=None if carried is None else float(carried[at]),
                        weight=float(one.weight[0, k]),
                    )
                    for at, (k, name) in enumerate(zip(places, one.row_names(0, places), strict=True))
                ),
                lines=tuple(
                    Line(
                        name=name,
                        own=as_plain(cells[0]),
                        values=tuple(map(as_plain, cells[1:])),
                        differs=tuple((away > TOLERANCE).tolist()),
                    )
                    for (name, cells), away in zip(beside.features, beside.away, strict=True)
                ),
                opinions={} if odds is None else dict(zip(why.voices or (), odds[i].tolist(), strict=True)),
            )
        )
    return found


def _target(value: Any) -> float:
    return float(np.asarray(value).ravel()[0])


def as_plain(cell: Any) -> Any:
    """A cell as JSON holds it: a number, true or false, a text, or None where it is missing.

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
