"""Density of regression targets: how common a target is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import cKDTree

from .._utils.errors import DSNAError
from .._utils.invariants import LARGEST, POSITIVE, Array, Checked, Choice, Number, require
from .scaling import column_spread

DENSITIES = ("auto", "exact", "bins", "kernel", "per-output")
_N_GRID = 1024
_N_BINS = 20
_RARITY_EXPONENT = 0.6
_N_CENTRES = 500
_MIN_RANGE = 1e-100  # targets within a smaller range count as equal: their squares underflow
_TIE = 1e-9  # distances that differ by less, in standard deviations, are equal


class CountedTargets(NamedTuple):
    """m targets of q outputs, each of which represents many rows."""

    value: np.ndarray  # (m, q)
    upper: np.ndarray  # (m, q) largest target that each represents
    counts: np.ndarray  # (m,) number of rows that each represents
    weight: np.ndarray  # (m,) weight of these rows
    complete: bool  # whether these are all distinct targets, and each represents equal ones only
    rows: float  # number of all rows, including those that no target represents
    total: float  # weight of all rows
    mean: np.ndarray  # (q,) of all rows
    spread: np.ndarray  # (q,)

    @classmethod
    def of(cls, value: np.ndarray, count: np.ndarray, weight: np.ndarray) -> CountedTargets:
        """Build from targets with counts and weights; a target may occur several times.

        Examples
        --------
        >>> import numpy as np
        >>> counted = CountedTargets.of(np.array([[1.0], [5.0]]), np.array([9, 1]), np.array([9.0, 1.0]))
        >>> TargetDensity.of_counts(counted, "exact").evaluate(np.array([1.0, 5.0]))
        array([0.9, 0.1])
        """
        mean = np.average(value, axis=0, weights=count)
        rows, total = float(count.sum()), float(weight.sum())
        return cls(value, value, count, weight, True, rows, total, mean, column_spread(value, count))

    @property
    def columns(self) -> list[CountedTargets]:
        """Each output on its own; requires ``complete``."""
        return [CountedTargets.of(column[:, None], self.counts, self.weight) for column in self.value.T]


def counted_quantiles(lower: np.ndarray, upper: np.ndarray, count: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Quantiles, as of ``np.quantile``, of ranges that stand for ``count`` numbers each, equally spaced.

    Examples
    --------
    >>> import numpy as np
    >>> counted_quantiles(np.array([1.0, 3.0]), np.array([2.0, 3.0]), np.array([3, 2]), [0.0, 0.25, 0.5, 1.0])
    array([1. , 1.5, 2. , 3. ])
    """
    order = np.argsort(lower, kind="stable")
    cumulative = np.cumsum(count[order])
    values = []
    for rank in np.asarray(levels) * (cumulative[-1] - 1.0):
        position = min(int(np.searchsorted(cumulative, rank, side="right")), len(order) - 1)
        index, next_index = order[position], order[min(position + 1, len(order) - 1)]
        ranks = [cumulative[position] - count[index], cumulative[position] - 1.0, cumulative[position]]
        values.append(np.interp(rank, ranks, [lower[index], upper[index], lower[next_index]]))
    return np.array(values)


class TargetDensity(Checked):
    """Density of targets: the share of training rows with (nearly) a given target.

    Parameters
    ----------
    y : array of shape (n,) or (n, n_outputs)
        Training targets.
    kind : {"auto", "exact", "bins", "kernel", "per-output"} or callable, default="auto"
        "exact" counts equal targets, "bins" counts targets in 20 bins of equal width, "kernel" is a kernel density;
        "auto" is "exact" if targets repeat (ages, angles, ratings), otherwise "kernel". "per-output" is the minimum
        over outputs of the "auto" density of each, relative to that of its commonest target: a target is as rare as
        the rarest of its outputs. With one output it is the same as "auto". A callable maps targets to positive
        densities.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> import numpy as np
    >>> TargetDensity(np.array([1.0] * 9 + [5.0]), kind="exact").evaluate(np.array([1.0, 5.0]))
    array([0.9, 0.1])
    >>> y = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [9.0, 1.0]]).repeat(10, axis=0)
    >>> TargetDensity(y, kind="per-output").evaluate(y[::10]).round(2)
    array([0.25, 0.5 , 0.25, 0.17])
    """

    FIELDS = {
        "offset": Array("float64", "outputs"),
        "scale": Array("float64", "outputs", POSITIVE),
        "floor": Number(POSITIVE, 1.0),
        "kind": Choice(("exact", "bins", "kernel", "per-output", "callable")),
        "support": Array("float64", "points, outputs"),
        "values": Array("float64", "shares", low=0.0),
    }
    NOT_EMPTY = ("outputs", "points", "shares")

    def __init__(self, y: Any, kind: str | Callable[[Any], Any] = "auto", sample_weight: Any = None):
        y = np.asarray(y, dtype=np.float64)
        targets = y.reshape(len(y), -1)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        counted = CountedTargets.of(targets, np.ones(len(y)), weight)
        self._estimate(counted, (lambda _: kind(y)) if callable(kind) else kind)

    @classmethod
    def of_counts(
        cls, counted: CountedTargets, kind: str | Callable[[Any], Any], columns: Sequence[CountedTargets] | None = None
    ) -> TargetDensity:
        """Estimate the density from targets that represent many rows.

        Parameters
        ----------
        counted : CountedTargets
            Targets and counts; "per-output" and callable densities are evaluated at these targets.
        kind : as in the constructor.
        columns : counted targets of each output; needed for "per-output" if `counted` is not complete.
        """
        density = cls.__new__(cls)
        density._estimate(counted, kind, columns)
        return density

    def _estimate(self, counted: CountedTargets, kind: Any, columns: Sequence[CountedTargets] | None = None) -> None:
        if not callable(kind) and kind not in DENSITIES:
            raise DSNAError(f"target_density={kind!r} is unknown: use one of {DENSITIES} or a callable.")
        targets, weight = counted.value, counted.weight / counted.total
        distinct, first, code = np.unique(targets, axis=0, return_index=True, return_inverse=True)
        if kind == "per-output" and targets.shape[1] == 1:
            kind = "auto"
        if kind == "auto":
            kind = "exact" if counted.complete and _is_discrete(len(distinct), counted.rows) else "kernel"
        self.offset, self.scale = counted.mean, counted.spread
        self.floor = 0.5 / counted.rows
        self.kind = "callable" if callable(kind) else kind
        if callable(kind):
            shares = np.asarray(kind(targets), dtype=np.float64)
            if shares.shape != (len(targets),) or not np.all(np.isfinite(shares)) or np.any(shares <= 0):
                raise DSNAError("The callable target_density must return one positive, finite density for each target.")
            self.support = distinct
            self.values = shares[first] / max(shares.max(), 1.0)
        elif kind == "per-output":
            self.support = distinct
            self.values = _rarest_output(distinct, counted.columns if columns is None else columns)
        elif kind == "exact":
            self.support = distinct
            self.values = np.bincount(code.ravel(), weights=weight, minlength=len(distinct))
        elif targets.shape[1] == 1:
            self._on_grid(counted, kind)
        else:
            order = np.lexsort(targets.T)
            ranks = np.arange(0, counted.rows, max(1, int(counted.rows) // _N_CENTRES))
            positions = np.searchsorted(np.cumsum(counted.counts[order]), ranks, side="right")
            self.support = targets[order[np.minimum(positions, len(order) - 1)]]
            self.values = np.ones(1)
        self.check()

    @property
    def repeats(self) -> bool:
        """Whether there are few distinct targets, so that predictions and intervals may be restricted to them."""
        if self.kind == "per-output":
            return _is_discrete(len(self.support), 0.5 / self.floor)
        return self.kind == "exact"

    def _check_relations(self, sizes: dict[str, int]) -> None:
        is_smooth = sizes["outputs"] > 1 and self.kind in ("kernel", "bins")
        require(sizes["shares"] == (1 if is_smooth else sizes["points"]), "TargetDensity.values has the wrong length")
        if sizes["outputs"] == 1:
            require(np.all(self.support[1:] >= self.support[:-1]), "TargetDensity.support is not in ascending order")

    def _on_grid(self, counted: CountedTargets, kind: str) -> None:
        """Estimate the density of a single output by a histogram, which is smoothed for "kernel"."""
        y, upper = counted.value[:, 0], counted.upper[:, 0]
        low, high = float(y.min()), float(upper.max())
        if high - low < _MIN_RANGE:
            self.support, self.values = np.array([[low]]), np.ones(1)
            return
        size = _N_BINS if kind == "bins" else _N_GRID
        edges = np.linspace(low, high, size + 1)
        bin_numbers = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, size - 1)
        values = np.bincount(bin_numbers, weights=counted.weight / counted.total, minlength=size)
        if kind == "kernel":
            quartiles = counted_quantiles(y, upper, counted.counts, [0.25, 0.75])
            spread = min(s for s in (self.scale[0], (quartiles[1] - quartiles[0]) / 1.34) if s > 0)
            width = 0.9 * spread * counted.rows**-0.2 / ((high - low) / size)
            values = gaussian_filter1d(values, max(width, 1.0), mode="constant") * (size / _N_BINS)
        self.support = (0.5 * (edges[1:] + edges[:-1]))[:, None]
        self.values = values

    def _standardized(self, targets: np.ndarray) -> np.ndarray:
        """Standardise targets, and clip them to a range in which the squares of a search tree do not overflow."""
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((targets - self.offset) / self.scale, -LARGEST, LARGEST))

    def evaluate(self, y: Any) -> np.ndarray:
        """Return the share, in (0, 1], of each target in ``y``; for an unseen target, that of the nearest one."""
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if targets.shape[1] > 1 and self.kind in ("kernel", "bins"):
            tree = cKDTree(self._standardized(self.support))
            width = len(self.support) ** (-1.0 / (targets.shape[1] + 4))
            neighbor_counts = tree.query_ball_point(self._standardized(targets), r=2 * width + _TIE, return_length=True)
            shares = neighbor_counts / len(self.support)
        elif targets.shape[1] == 1:
            positions = np.searchsorted(self.support[:, 0], targets[:, 0])
            positions = np.clip(positions, 1, max(len(self.support) - 1, 1))
            next_positions = np.minimum(positions, len(self.support) - 1)
            distance_below = targets[:, 0] - self.support[positions - 1, 0]
            distance_above = self.support[next_positions, 0] - targets[:, 0]
            is_below_nearer = distance_below <= distance_above + _TIE * self.scale[0]
            shares = self.values[np.where(is_below_nearer, positions - 1, next_positions)]
        else:
            _, positions = cKDTree(self._standardized(self.support)).query(self._standardized(targets))
            shares = self.values[positions]
        return np.asarray(np.clip(shares, self.floor, 1.0))

    def rarity(self, y: Any) -> np.ndarray:
        """Return the weights of the targets ``y`` under which all regions of the target are equally important."""
        return rarity_of(self.evaluate(y))


def rarity_of(share: np.ndarray) -> np.ndarray:
    """Return the rarity of targets with the given shares: a power of the inverse density.

    Neighbourhoods already favour rare targets, so the full inverse density would overcorrect.

    Examples
    --------
    >>> import numpy as np
    >>> rarity_of(np.array([1.0, 0.1])).round(2)
    array([1.  , 3.98])
    """
    return np.asarray(share**-_RARITY_EXPONENT)


def _is_discrete(n_distinct: int, n_rows: float) -> bool:
    return n_distinct <= max(2, min(200, n_rows / 10))


def _rarest_output(targets: np.ndarray, columns: Sequence[CountedTargets]) -> np.ndarray:
    """(n,) minimum over outputs of the density relative to its maximum, scaled so as not to exceed any density."""
    densities = [TargetDensity.of_counts(column, "auto") for column in columns]
    shares = np.stack([density.evaluate(column) for density, column in zip(densities, targets.T, strict=True)])
    largest = np.array(
        [density.evaluate(column.value).max() for density, column in zip(densities, columns, strict=True)]
    )
    return np.asarray((shares * (largest.min() / largest)[:, None]).min(axis=0))
