"""The first pass: what all partitions together hold. Summaries are merged in the order of the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from ..forest.scaling import Scaling
from .blocks import Block, Roles, to_block

RANGES = 10  # of equal width, along which the rows of a regression are sampled and kept
MOST_CLASSES = 10_000
_CONSTANT = 1e-10


class Summary(NamedTuple):
    """What one partition holds."""

    rows: int  # of the partition, those of weight zero included
    names: tuple[str, ...] | None
    width: int
    classes: np.ndarray  # of a classification; (2, q) lowest and highest targets of a regression
    counts: np.ndarray  # rows of each class
    weights: np.ndarray  # their weight
    kept: int  # rows that have a weight
    moments: np.ndarray  # (3, d) power of two near the largest value, mean and mean squared deviation in these units
    targets: np.ndarray  # (3, q) the same of the targets of a regression
    grouped: bool  # whether rows have groups


class Totals(NamedTuple):
    """What all partitions hold."""

    roles: Roles
    offsets: np.ndarray  # (partitions + 1,) number of the first row of each
    names: tuple[str, ...] | None
    width: int
    classes: np.ndarray | None  # of a classification
    low: np.ndarray  # (q,) targets of a regression
    high: np.ndarray
    mean: np.ndarray  # (q,) of the targets
    spread: np.ndarray  # (q,) their standard deviations, one where an output is constant
    counts: np.ndarray  # (strata,) rows of each class or range of targets
    weights: np.ndarray  # (strata,) their weight
    scaling: Scaling
    grouped: bool  # whether rows have groups

    @property
    def n_strata(self) -> int:
        """Classes, or ranges of the target."""
        return len(self.counts)

    @property
    def middle(self) -> np.ndarray:
        """(q,) halfway between the lowest and the highest targets."""
        return np.asarray(0.5 * self.low + 0.5 * self.high)

    def strata(self, y: np.ndarray, where: str) -> np.ndarray:
        """(n,) class or range of each row."""
        if self.classes is None:
            # Several outputs have one place among the ranges: halfway between their own.
            place = ((y - self.low) / np.maximum(self.high - self.low, 1e-300)).mean(axis=1)
            return np.asarray(np.searchsorted(np.linspace(0.0, 1.0, RANGES + 1)[1:-1], place))
        at = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        if np.any(self.classes[at] != y):
            raise DSNAError(f"{where} holds a class that it did not hold before: partitions must not change in fit.")
        return at

    def block(self, data: Any, number: int) -> tuple[Block, np.ndarray, np.ndarray]:
        """A partition, its targets, and its strata; refused where it is not what was counted."""
        where = f"partition {number}"
        block = to_block(data, self.roles, where)
        if block.length != self.offsets[number + 1] - self.offsets[number]:
            raise DSNAError(f"{where} has another number of rows than before: partitions must not change in fit.")
        if block.X.shape[1] != self.width and block.length:
            raise DSNAError(f"{where} has {block.X.shape[1]} columns, and the others have {self.width}.")
        y = _targets(block, self.classes is not None, where)
        y = np.empty((0, len(self.low))) if self.classes is None and not len(y) else y
        return block, y, self.strata(y, where)


def _targets(block: Block, classification: bool, where: str) -> np.ndarray:
    """(n,) classes, or (n, q) targets as float64; what is missing is refused."""
    if block.y is None:
        raise DSNAError(f"{where} has no target: pass y.")
    y = block.y[:, 0] if classification and block.y.ndim == 2 and block.y.shape[1] == 1 else block.y
    if y.ndim != 1 and (classification or y.ndim != 2 or not y.shape[1]):
        raise DSNAError(
            f"{where}: y has shape {y.shape}; one column of classes is needed, or of a regression one for each output."
        )
    y = y[:, None] if y.ndim == 1 and not classification else y
    if not len(y):
        return y if classification else np.empty(y.shape)
    missing: np.ndarray
    if y.dtype.kind == "O":
        missing = np.array([one is None or one != one for one in y.ravel()]).reshape(y.shape)
        y = y if missing.any() else np.array(y.tolist())
    else:
        missing = ~np.isfinite(y) if y.dtype.kind == "f" else np.zeros(y.shape, dtype=bool)
    if missing.any():
        n_missing = np.count_nonzero(missing.reshape(len(y), -1).any(axis=1))
        raise DSNAError(f"{where}: {n_missing} rows have no target. Drop them before.")
    if classification:
        return y
    if y.dtype.kind not in "biuf":
        raise DSNAError(f"{where}: the target holds text, and a regression needs numbers.")
    return y.astype(np.float64)


def summarize(data: Any, number: int, roles: Roles, classification: bool) -> Summary:
    """The summary of a partition."""
    where = f"partition {number}"
    block = to_block(data, roles, where)
    y = _targets(block, classification, where)
    counts: np.ndarray
    weights: np.ndarray
    if classification:
        classes, code = np.unique(y, return_inverse=True)
        if len(classes) > MOST_CLASSES:
            raise DSNAError(f"{where} holds {len(classes)} classes; is it a regression?")
        counts, weights = np.bincount(code), np.bincount(code, weights=block.weight)
    else:
        classes = np.stack([y.min(axis=0), y.max(axis=0)]) if len(y) else np.empty((0, y.shape[1]))
        counts, weights = np.empty(0, dtype=np.int64), np.empty(0)
    return Summary(
        block.length,
        block.names,
        block.X.shape[1],
        classes,
        counts,
        weights,
        len(y),
        _moments(block.X),
        _moments(y if not classification else np.empty((0, 0))),
        block.group is not None,
    )


def _moments(X: np.ndarray) -> np.ndarray:
    """(3, d) unit, mean and mean squared deviation of each column."""
    moments = np.zeros((3, X.shape[1]))
    for j, column in enumerate(X.T if len(X) else ()):  # one at a time: no copy of the partition
        unit = np.exp2(np.clip(np.frexp(np.abs(column).max())[1], -1000, 1000))
        scaled = column / unit
        moments[:, j] = unit, scaled.mean(), scaled.var()
    return moments


def add_up(summaries: Sequence[Summary], roles: Roles, classification: bool, scaling: str) -> Totals:
    """All summaries as one; partitions of other columns or classes of other types are refused by their numbers."""
    filled = [(i, one) for i, one in enumerate(summaries) if one.kept]
    if not filled:
        raise DSNAError("No partition holds a row that has a weight.")
    first_at, first = filled[0]
    for i, one in filled:
        if one.names is not None and set(one.names) != set(first.names or ()):
            odd = sorted(set(one.names) ^ set(first.names or ()))
            raise DSNAError(
                f"partition {i} and partition {first_at} differ in columns: {', '.join(map(repr, odd[:5]))}. Give all "
                "partitions the same columns."
            )
        if one.width != first.width:
            raise DSNAError(f"partition {i} has {one.width} columns, and partition {first_at} has {first.width}.")
        if not classification and one.targets.shape != first.targets.shape:
            raise DSNAError(
                f"the target of partition {i} has {one.targets.shape[1]} outputs, and that of partition {first_at} has "
                f"{first.targets.shape[1]}. Give all partitions the same outputs."
            )
        if _kind(one.classes) != _kind(first.classes):
            raise DSNAError(
                f"the target of partition {i} holds {_kind(one.classes)}, and that of partition {first_at} holds "
                f"{_kind(first.classes)}. Give the target one type."
            )
    every = np.concatenate([one.classes for _, one in filled])
    classes: np.ndarray | None = None
    counts: np.ndarray = np.empty(0, dtype=np.int64)
    weights: np.ndarray = np.empty(0)
    if classification:
        classes, code = np.unique(every, return_inverse=True)
        if len(classes) < 2:
            raise DSNAError(
                f"All partitions hold one class only ({classes[0]}). Check the class column, or the split that made "
                "this table."
            )
        counts = np.bincount(code, weights=np.concatenate([one.counts for _, one in filled])).astype(np.int64)
        weights = np.bincount(code, weights=np.concatenate([one.weights for _, one in filled]))
    mean, spread = (np.zeros(1), np.ones(1)) if classification else _target_moments([one for _, one in filled])
    return Totals(
        roles=Roles(roles.target, roles.weight, roles.group, roles.key, first.names),
        offsets=np.cumsum([0, *(one.rows for one in summaries)]),
        names=first.names,
        width=first.width,
        classes=classes,
        low=np.zeros(1) if classification else every.min(axis=0),
        high=np.zeros(1) if classification else every.max(axis=0),
        mean=mean,
        spread=spread,
        counts=counts,
        weights=weights,
        scaling=_scaling([one for _, one in filled], first.names, scaling),
        grouped=any(one.grouped for one in summaries),
    )


def _kind(classes: np.ndarray) -> str:
    return "text" if classes.dtype.kind in "USO" else "numbers"


def _scaling(summaries: list[Summary], names: tuple[str, ...] | None, kind: str) -> Scaling:
    """The common scale of all rows."""
    width = summaries[0].width
    scaling = Scaling(np.zeros((1, width)), "none", np.ones(1))
    if kind == "none":
        return scaling
    order = [slice(None) if one.names == names else _order(one.names, names) for one in summaries]
    moments = np.stack([one.moments[:, by] for one, by in zip(summaries, order, strict=True)], axis=1)
    scaling.offset, spread = _joint_moments(moments, summaries)
    if kind == "global":
        largest = max(spread.max(), 1e-300)
        spread = np.full(width, largest * np.sqrt(np.mean((spread / largest) ** 2)))
    scaling.scale = np.where(spread > 0, spread, 1.0)
    scaling.check()
    return scaling


def _joint_moments(moments: np.ndarray, summaries: list[Summary]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column, zero where it is rounding, given (3, summaries, d) moments."""
    units, means, squares = moments
    share = np.array([one.kept for one in summaries], dtype=np.float64)
    share /= share.sum()
    unit = units.max(axis=0)
    part = units / unit
    mean = share @ (means * part)
    spread = np.sqrt(share @ (squares * part**2 + (means * part - mean) ** 2))
    spread[spread <= _CONSTANT * np.abs(mean)] = 0.0
    return mean * unit, spread * unit


def _target_moments(summaries: list[Summary]) -> tuple[np.ndarray, np.ndarray]:
    """(q,) mean and standard deviation of each output, the latter one where it is constant."""
    mean, spread = _joint_moments(np.stack([one.targets for one in summaries], axis=1), summaries)
    return mean, np.where(spread > 0, spread, 1.0)


def _order(given: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> list[int]:
    """Where the wanted columns are among those given."""
    return [(given or ()).index(name) for name in wanted or ()]
