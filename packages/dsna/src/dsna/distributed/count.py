"""The first pass: counts, targets and moments of all partitions, merged in the order of the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils.errors import DSNAError
from ..forest.scaling import Scaling
from .blocks import Partition, Roles, read_partition

RANGES = 10  # of equal width; the rows of a regression are sampled and kept by range of the target
MAX_CLASSES = 10_000
_CONSTANT = 1e-10


class Summary(NamedTuple):
    """Counts and moments of one partition."""

    n_rows: int  # including those of weight zero
    names: tuple[str, ...] | None
    width: int
    classes: np.ndarray  # of a classification; (2, q) lowest and highest targets of a regression
    counts: np.ndarray  # rows of each class
    weights: np.ndarray  # their weight
    n_weighted: int  # rows of weight above zero
    moments: np.ndarray  # (3, d) power of two near the largest value, mean and mean squared deviation in these units
    targets: np.ndarray  # (3, q) moments of the targets of a regression
    has_groups: bool  # whether rows have groups


class Totals(NamedTuple):
    """Counts and moments of all partitions."""

    roles: Roles
    offsets: np.ndarray  # (partitions + 1,) number of the first row of each
    names: tuple[str, ...] | None
    width: int
    classes: np.ndarray | None  # of a classification
    low: np.ndarray  # (q,) lowest targets of a regression
    high: np.ndarray  # (q,) highest targets
    mean: np.ndarray  # (q,) of the targets
    spread: np.ndarray  # (q,) their standard deviations; 1 for a constant output
    counts: np.ndarray  # (strata,) rows of each class or range of targets
    weights: np.ndarray  # (strata,) their weight
    scaling: Scaling
    has_groups: bool  # whether rows have groups

    @property
    def n_strata(self) -> int:
        """Number of classes, or of ranges of the target."""
        return len(self.counts)

    @property
    def middle(self) -> np.ndarray:
        """(q,) midpoints between the lowest and the highest targets."""
        return np.asarray(0.5 * self.low + 0.5 * self.high)

    def strata(self, y: np.ndarray, source: str) -> np.ndarray:
        """(n,) class or range of each row."""
        if self.classes is None:
            # The range of a row with several outputs is that of the mean of their relative positions.
            position = ((y - self.low) / np.maximum(self.high - self.low, 1e-300)).mean(axis=1)
            return np.asarray(np.searchsorted(np.linspace(0.0, 1.0, RANGES + 1)[1:-1], position))
        code = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        if np.any(self.classes[code] != y):
            raise DSNAError(f"{source} has a class that it did not have before: partitions must not change in fit.")
        return code

    def read(self, data: Any, partition_number: int) -> tuple[Partition, np.ndarray, np.ndarray]:
        """Read a partition, its targets and its strata; refuse one that changed since it was counted."""
        source = f"partition {partition_number}"
        partition = read_partition(data, self.roles, source)
        if partition.length != self.offsets[partition_number + 1] - self.offsets[partition_number]:
            raise DSNAError(f"{source} has another number of rows than before: partitions must not change in fit.")
        if partition.X.shape[1] != self.width and partition.length:
            raise DSNAError(f"{source} has {partition.X.shape[1]} columns, and the others have {self.width}.")
        y = _targets(partition, self.classes is not None, source)
        y = np.empty((0, len(self.low))) if self.classes is None and not len(y) else y
        return partition, y, self.strata(y, source)


def _targets(partition: Partition, classification: bool, source: str) -> np.ndarray:
    """(n,) classes, or (n, q) targets as float64; missing ones are refused."""
    if partition.y is None:
        raise DSNAError(f"{source} has no target: pass y.")
    y = partition.y[:, 0] if classification and partition.y.ndim == 2 and partition.y.shape[1] == 1 else partition.y
    if y.ndim != 1 and (classification or y.ndim != 2 or not y.shape[1]):
        raise DSNAError(
            f"{source}: y has shape {y.shape}; it must be one column of classes or, for a regression, one column for "
            "each output."
        )
    y = y[:, None] if y.ndim == 1 and not classification else y
    if not len(y):
        return y if classification else np.empty(y.shape)
    is_missing: np.ndarray
    if y.dtype.kind == "O":
        is_missing = np.array([value is None or value != value for value in y.ravel()]).reshape(y.shape)
        y = y if is_missing.any() else np.array(y.tolist())
    else:
        is_missing = ~np.isfinite(y) if y.dtype.kind == "f" else np.zeros(y.shape, dtype=bool)
    if is_missing.any():
        n_missing = np.count_nonzero(is_missing.reshape(len(y), -1).any(axis=1))
        raise DSNAError(f"{source}: {n_missing} rows have no target. Drop them first.")
    if classification:
        return y
    if y.dtype.kind not in "biuf":
        raise DSNAError(f"{source}: the target holds text, and a regression needs numbers.")
    return y.astype(np.float64)


def summarize(data: Any, partition_number: int, roles: Roles, classification: bool) -> Summary:
    """Summarize a partition."""
    source = f"partition {partition_number}"
    partition = read_partition(data, roles, source)
    y = _targets(partition, classification, source)
    counts: np.ndarray
    weights: np.ndarray
    if classification:
        classes, code = np.unique(y, return_inverse=True)
        if len(classes) > MAX_CLASSES:
            raise DSNAError(f"{source} has {len(classes)} classes. Is this a regression?")
        counts, weights = np.bincount(code), np.bincount(code, weights=partition.weight)
    else:
        classes = np.stack([y.min(axis=0), y.max(axis=0)]) if len(y) else np.empty((0, y.shape[1]))
        counts, weights = np.empty(0, dtype=np.int64), np.empty(0)
    return Summary(
        partition.length,
        partition.names,
        partition.X.shape[1],
        classes,
        counts,
        weights,
        len(y),
        _moments(partition.X),
        _moments(y if not classification else np.empty((0, 0))),
        partition.group is not None,
    )


def _moments(X: np.ndarray) -> np.ndarray:
    """(3, d) unit, mean and mean squared deviation of each column."""
    moments = np.zeros((3, X.shape[1]))
    for j, column in enumerate(X.T if len(X) else ()):  # column by column, without a copy of the partition
        unit = np.exp2(np.clip(np.frexp(np.abs(column).max())[1], -1000, 1000))
        scaled = column / unit
        moments[:, j] = unit, scaled.mean(), scaled.var()
    return moments


def merge_summaries(summaries: Sequence[Summary], roles: Roles, classification: bool, scaling: str) -> Totals:
    """Merge the summaries of all partitions; refuse partitions with other columns or with classes of another type."""
    numbered_summaries = [(number, summary) for number, summary in enumerate(summaries) if summary.n_weighted]
    if not numbered_summaries:
        raise DSNAError("No partition has a row of weight above zero.")
    first_number, first = numbered_summaries[0]
    for number, summary in numbered_summaries:
        _check_alike(summary, first, f"partition {number}", f"partition {first_number}", classification)
    non_empty = [summary for _, summary in numbered_summaries]
    classes_or_limits = np.concatenate([summary.classes for summary in non_empty])
    classes: np.ndarray | None = None
    counts: np.ndarray = np.empty(0, dtype=np.int64)
    weights: np.ndarray = np.empty(0)
    if classification:
        classes, code = np.unique(classes_or_limits, return_inverse=True)
        if len(classes) < 2:
            raise DSNAError(
                f"All partitions have one class only ({classes[0]}). Check the class column, or the split that made "
                "this table."
            )
        counts = np.bincount(code, weights=np.concatenate([summary.counts for summary in non_empty])).astype(np.int64)
        weights = np.bincount(code, weights=np.concatenate([summary.weights for summary in non_empty]))
    mean, spread = (np.zeros(1), np.ones(1)) if classification else _target_moments(non_empty)
    return Totals(
        roles=Roles(roles.target, roles.weight, roles.group, roles.key, first.names),
        offsets=np.cumsum([0, *(summary.n_rows for summary in summaries)]),
        names=first.names,
        width=first.width,
        classes=classes,
        low=np.zeros(1) if classification else classes_or_limits.min(axis=0),
        high=np.zeros(1) if classification else classes_or_limits.max(axis=0),
        mean=mean,
        spread=spread,
        counts=counts,
        weights=weights,
        scaling=_scaling(non_empty, first.names, scaling),
        has_groups=any(summary.has_groups for summary in summaries),
    )


def _check_alike(summary: Summary, first: Summary, source: str, first_source: str, classification: bool) -> None:
    """Raise a DSNAError if a partition and the first one differ in columns, outputs or type of the target."""
    if summary.names is not None and set(summary.names) != set(first.names or ()):
        differing_names = sorted(set(summary.names) ^ set(first.names or ()))
        raise DSNAError(
            f"{source} and {first_source} differ in columns: {', '.join(map(repr, differing_names[:5]))}. Give all "
            "partitions the same columns."
        )
    if summary.width != first.width:
        raise DSNAError(f"{source} has {summary.width} columns, and {first_source} has {first.width}.")
    if not classification and summary.targets.shape != first.targets.shape:
        raise DSNAError(
            f"the target of {source} has {summary.targets.shape[1]} outputs, and that of {first_source} has "
            f"{first.targets.shape[1]}. Give all partitions the same outputs."
        )
    if _kind(summary.classes) != _kind(first.classes):
        raise DSNAError(
            f"the target of {source} holds {_kind(summary.classes)}, and that of {first_source} holds "
            f"{_kind(first.classes)}. Give the target one type."
        )


def _kind(classes: np.ndarray) -> str:
    return "text" if classes.dtype.kind in "USO" else "numbers"


def _scaling(summaries: list[Summary], names: tuple[str, ...] | None, kind: str) -> Scaling:
    """Estimate the scaling of all rows."""
    width = summaries[0].width
    scaling = Scaling(np.zeros((1, width)), "none", np.ones(1))
    if kind == "none":
        return scaling
    orders = [slice(None) if summary.names == names else _order(summary.names, names) for summary in summaries]
    moments = np.stack([summary.moments[:, order] for summary, order in zip(summaries, orders, strict=True)], axis=1)
    scaling.offset, spread = _joint_moments(moments, summaries)
    if kind == "global":
        largest = max(spread.max(), 1e-300)
        spread = np.full(width, largest * np.sqrt(np.mean((spread / largest) ** 2)))
    scaling.scale = np.where(spread > 0, spread, 1.0)
    scaling.check()
    return scaling


def _joint_moments(moments: np.ndarray, summaries: list[Summary]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column, zero if it is only rounding, given (3, summaries, d) moments."""
    units, means, squares = moments
    share = np.array([summary.n_weighted for summary in summaries], dtype=np.float64)
    share /= share.sum()
    unit = units.max(axis=0)
    relative_units = units / unit
    mean = share @ (means * relative_units)
    spread = np.sqrt(share @ (squares * relative_units**2 + (means * relative_units - mean) ** 2))
    spread[spread <= _CONSTANT * np.abs(mean)] = 0.0
    return mean * unit, spread * unit


def _target_moments(summaries: list[Summary]) -> tuple[np.ndarray, np.ndarray]:
    """(q,) mean and standard deviation of each output; the deviation of a constant output is 1."""
    mean, spread = _joint_moments(np.stack([summary.targets for summary in summaries], axis=1), summaries)
    return mean, np.where(spread > 0, spread, 1.0)


def _order(names: tuple[str, ...] | None, first_names: tuple[str, ...] | None) -> list[int]:
    """Positions in ``names`` of the names of the first partition."""
    return [(names or ()).index(name) for name in first_names or ()]
