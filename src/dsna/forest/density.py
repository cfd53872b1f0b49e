"""How common a regression target is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
        weight = weight / weight.sum()
        if not callable(kind) and kind not in DENSITIES:
            raise DSNAError(f"target_density={kind!r} is unknown: use one of {DENSITIES} or a callable.")
        distinct, first, code = np.unique(targets, axis=0, return_index=True, return_inverse=True)
        if kind == "per-output" and targets.shape[1] == 1:
            kind = "auto"
        if kind == "auto":
            kind = "exact" if _few(len(distinct), len(y)) else "kernel"
        self.offset = targets.mean(axis=0)
        self.scale = column_spread(targets)
        self.floor = 0.5 / len(y)
        if callable(kind):
            self.kind = "callable"
            shares = np.asarray(kind(y), dtype=np.float64)
            if shares.shape != (len(y),) or not np.all(np.isfinite(shares)) or np.any(shares <= 0):
                raise DSNAError("The callable target_density must give one positive, finite density for each target.")
            self.support = distinct
            self.values = shares[first] / max(shares.max(), 1.0)
        elif kind == "per-output":
            self.kind = kind
            self.support = distinct
            self.values = _rarest_output(targets, weight)[first]
        elif kind == "exact":
            self.kind = "exact"
            self.support = distinct
            self.values = np.bincount(code.ravel(), weights=weight, minlength=len(distinct))
        elif targets.shape[1] == 1:
            self.kind = kind
            self._on_grid(targets[:, 0], weight, kind)
        else:
            self.kind = kind
            step = max(1, len(y) // _CENTRES)
            self.support = targets[np.lexsort(targets.T)][::step]
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

    def _on_grid(self, y: np.ndarray, weight: np.ndarray, kind: str) -> None:
        low, high = float(y.min()), float(y.max())
        if high - low < _NARROWEST:
            self.support, self.values = np.array([[low]]), np.ones(1)
            return
        size = _BINS if kind == "bins" else _GRID
        edges = np.linspace(low, high, size + 1)
        at = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, size - 1)
        values = np.bincount(at, weights=weight, minlength=size)
        if kind == "kernel":
            quartiles = np.quantile(y, [0.25, 0.75])
            spread = min(s for s in (self.scale[0], (quartiles[1] - quartiles[0]) / 1.34) if s > 0)
            width = 0.9 * spread * len(y) ** -0.2 / ((high - low) / size)
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


def _rarest_output(targets: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(n,) smallest of the outputs' densities, each in units of its largest; none above the output's own density."""
    shares = np.stack([TargetDensity(column, "auto", weight).evaluate(column) for column in targets.T])
    largest = shares.max(axis=1)
    return np.asarray((shares * (largest.min() / largest)[:, None]).min(axis=0))
