"""How common a regression target is."""

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
_GRID = 1024
_BINS = 20
_TEMPER = 0.6
_CENTRES = 500
_NARROWEST = 1e-100  # targets that differ by less count as equal: their squares vanish
_TIE = 1e-9  # in standard deviations: distances that differ by less are equal


class CountedTargets(NamedTuple):
    """Targets that stand for many rows; m of them, of q outputs."""

    value: np.ndarray  # (m, q)
    upper: np.ndarray  # (m, q) the largest of the targets that each stands for
    counts: np.ndarray  # (m,) rows that each stands for
    weight: np.ndarray  # (m,) weight of these rows
    whole: bool  # whether these are all different targets, and each stands for equal ones
    rows: float  # number of all rows, also of those for which no target stands
    total: float  # weight of all rows
    mean: np.ndarray  # (q,) of all rows
    spread: np.ndarray  # (q,)

    @classmethod
    def of(cls, value: np.ndarray, count: np.ndarray, weight: np.ndarray) -> CountedTargets:
        """Targets each of which stands for equal ones, so many; a target may be there several times.

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
        """Each output on its own, where all different targets are known."""
        return [CountedTargets.of(column[:, None], self.counts, self.weight) for column in self.value.T]


def counted_quantiles(lower: np.ndarray, upper: np.ndarray, count: np.ndarray, at: Sequence[float]) -> np.ndarray:
    """Quantiles as ``np.quantile`` has them, of numbers each repeated so often, from lower to upper in equal steps.

    Examples
    --------
    >>> import numpy as np
    >>> counted_quantiles(np.array([1.0, 3.0]), np.array([2.0, 3.0]), np.array([3, 2]), [0.0, 0.25, 0.5, 1.0])
    array([1. , 1.5, 2. , 3. ])
    """
    order = np.argsort(lower, kind="stable")
    reached = np.cumsum(count[order])
    values = []
    for rank in np.asarray(at) * (reached[-1] - 1.0):
        k = min(int(np.searchsorted(reached, rank, side="right")), len(order) - 1)
        here, after = order[k], order[min(k + 1, len(order) - 1)]
        ranks = [reached[k] - count[here], reached[k] - 1.0, reached[k]]
        values.append(np.interp(rank, ranks, [lower[here], upper[here], lower[after]]))
    return np.array(values)


class TargetDensity(Checked):
    """Share of the training rows whose target is (nearly) a given one.

    Parameters
    ----------
    y : array of shape (n,) or (n, n_outputs)
        Training targets.
    kind : {"auto", "exact", "bins", "kernel", "per-output"} or callable, default="auto"
        "exact" counts equal targets, "bins" counts targets in 20 bins of equal width, "kernel" is a kernel density;
        "auto" is exact where targets repeat (ages, angles, ratings), otherwise a kernel density. "per-output" takes
        the "auto" density of each output, relative to that of its commonest target, and of these the smallest: a
        target is as rare as the rarest of its outputs. With one output it is "auto". A callable maps targets to
        positive densities.
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
        """The density of targets that stand for many rows.

        Parameters
        ----------
        counted : CountedTargets
            Those of "per-output" and of a callable are where the density is known; the others are counted.
        kind : as in the constructor.
        columns : of each output, where `counted` is not whole and `kind` is "per-output".
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
            kind = "exact" if counted.whole and _few(len(distinct), counted.rows) else "kernel"
        self.offset, self.scale = counted.mean, counted.spread
        self.floor = 0.5 / counted.rows
        self.kind = "callable" if callable(kind) else kind
        if callable(kind):
            shares = np.asarray(kind(targets), dtype=np.float64)
            if shares.shape != (len(targets),) or not np.all(np.isfinite(shares)) or np.any(shares <= 0):
                raise DSNAError("The callable target_density must give one positive, finite density for each target.")
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
            ranks = np.arange(0, counted.rows, max(1, int(counted.rows) // _CENTRES))
            at = np.searchsorted(np.cumsum(counted.counts[order]), ranks, side="right")
            self.support = targets[order[np.minimum(at, len(order) - 1)]]
            self.values = np.ones(1)
        self.check()

    @property
    def repeats(self) -> bool:
        """Whether the distinct targets are few, so that predictions and intervals may keep to them."""
        few = self.kind == "per-output" and _few(len(self.support), 0.5 / self.floor)
        return self.kind == "exact" or few

    def _check_relations(self, sizes: dict[str, int]) -> None:
        spread = sizes["outputs"] > 1 and self.kind in ("kernel", "bins")
        require(sizes["shares"] == (1 if spread else sizes["points"]), "TargetDensity.values has another length")
        if sizes["outputs"] == 1:
            require(np.all(self.support[1:] >= self.support[:-1]), "TargetDensity.support falls")

    def _on_grid(self, counted: CountedTargets, kind: str) -> None:
        y, upper = counted.value[:, 0], counted.upper[:, 0]
        low, high = float(y.min()), float(upper.max())
        if high - low < _NARROWEST:
            self.support, self.values = np.array([[low]]), np.ones(1)
            return
        size = _BINS if kind == "bins" else _GRID
        edges = np.linspace(low, high, size + 1)
        at = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, size - 1)
        values = np.bincount(at, weights=counted.weight / counted.total, minlength=size)
        if kind == "kernel":
            quartiles = counted_quantiles(y, upper, counted.counts, [0.25, 0.75])
            spread = min(s for s in (self.scale[0], (quartiles[1] - quartiles[0]) / 1.34) if s > 0)
            width = 0.9 * spread * counted.rows**-0.2 / ((high - low) / size)
            values = gaussian_filter1d(values, max(width, 1.0), mode="constant") * (size / _BINS)
        self.support = (0.5 * (edges[1:] + edges[:-1]))[:, None]
        self.values = values

    def _standardized(self, targets: np.ndarray) -> np.ndarray:
        """Targets in units of their spread, within the range whose squares a search tree can sum."""
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((targets - self.offset) / self.scale, -LARGEST, LARGEST))

    def evaluate(self, y: Any) -> np.ndarray:
        """Shares, each in (0, 1], of the targets ``y``; an unseen target has the share of the nearest one seen."""
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if targets.shape[1] > 1 and self.kind in ("kernel", "bins"):
            tree = cKDTree(self._standardized(self.support))
            width = len(self.support) ** (-1.0 / (targets.shape[1] + 4))
            near = tree.query_ball_point(self._standardized(targets), r=2 * width + _TIE, return_length=True)
            shares = near / len(self.support)
        elif targets.shape[1] == 1:
            at = np.searchsorted(self.support[:, 0], targets[:, 0])
            at = np.clip(at, 1, max(len(self.support) - 1, 1))
            lower = targets[:, 0] - self.support[at - 1, 0]
            upper = self.support[np.minimum(at, len(self.support) - 1), 0] - targets[:, 0]
            shares = self.values[
                np.where(lower <= upper + _TIE * self.scale[0], at - 1, np.minimum(at, len(self.support) - 1))
            ]
        else:
            _, at = cKDTree(self._standardized(self.support)).query(self._standardized(targets))
            shares = self.values[at]
        return np.asarray(np.clip(shares, self.floor, 1.0))

    def rarity(self, y: Any) -> np.ndarray:
        """What the weights of rows with the targets ``y`` are multiplied by where all regions count the same."""
        return rarity_of(self.evaluate(y))


def rarity_of(share: np.ndarray) -> np.ndarray:
    """Rarities of targets of the given shares.

    Neighbourhoods already favour rare targets: the full inverse density would overshoot.

    Examples
    --------
    >>> import numpy as np
    >>> rarity_of(np.array([1.0, 0.1])).round(2)
    array([1.  , 3.98])
    """
    return np.asarray(share**-_TEMPER)


def _few(distinct: int, rows: float) -> bool:
    return distinct <= max(2, min(200, rows / 10))


def _rarest_output(targets: np.ndarray, columns: Sequence[CountedTargets]) -> np.ndarray:
    """(n,) smallest of the outputs' densities, each in units of its largest; none above the output's own density."""
    densities = [TargetDensity.of_counts(column, "auto") for column in columns]
    shares = np.stack([one.evaluate(column) for one, column in zip(densities, targets.T, strict=True)])
    largest = np.array([one.evaluate(column.value).max() for one, column in zip(densities, columns, strict=True)])
    return np.asarray((shares * (largest.min() / largest)[:, None]).min(axis=0))
