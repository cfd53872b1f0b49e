"""Two methods on the same photos: who is ahead, on how many of them, and whether it may be chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from dsna_vision.edges import BoundaryScores

from .methods import BEST_RESCORER, FULL, PLAIN, RESCORERS

_PAIRS = (
    (FULL, PLAIN),
    (FULL, "SE+AH"),
    (FULL, "SE+kernel"),
    ("SE@2", PLAIN),
    ("SE+DSNA@2", "SE@2"),
    *((f"{first}@2+{rescorer}", "SE@2") for first in (PLAIN, FULL) for rescorer in RESCORERS),
    *((f"{first}@2+{BEST_RESCORER}", f"{first}@2+{other}") for first in (PLAIN, FULL) for other in RESCORERS[:-1]),
    *((f"SE+DSNA@2+{rescorer}", f"SE@2+{rescorer}") for rescorer in RESCORERS),
)
_RESAMPLED = 500
_BETWEEN = (2.5, 97.5)

#: Scores of each method: one for each seed.
Scored = Mapping[str, Mapping[int, BoundaryScores]]


@dataclass(frozen=True)
class Comparison:
    """What one method gains over another.

    Parameters
    ----------
    seeds, photos : int
        How many both have.
    gain : float
        Difference of ODS, mean of the seeds.
    each : tuple of float
        The same, seed by seed.
    low, high : float
        Where 95 % of the differences lie if photos are drawn anew, with replacement.
    best, fixed : float
        Share of the photos on which its F is higher, means of the seeds: each at the photo's own best threshold, and
        at that of ODS. Ties count half.

    Examples
    --------
    >>> Comparison(1, 4, 0.01, (0.01,), -0.01, 0.03, 0.75, 0.5).gain
    0.01
    """

    seeds: int
    photos: int
    gain: float
    each: tuple[float, ...]
    low: float
    high: float
    best: float
    fixed: float


def compare(scored: Scored, ours: str, other: str) -> Comparison | None:
    """Compare two methods on the seeds and photos that both have.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores
    ours, other : str

    Returns
    -------
    Comparison or None
        None where no seed has both.

    Examples
    --------
    >>> import numpy as np
    >>> good, poor = np.array([[[9, 10, 9, 10]]] * 3), np.array([[[5, 10, 5, 10]]] * 3)
    >>> names = ["a", "b", "c"]
    >>> scored = {k: {0: BoundaryScores(names, np.array([0.5]), v)} for k, v in (("DSNA", good), ("SE", poor))}
    >>> found = compare(scored, "DSNA", "SE")
    >>> round(found.gain, 2), found.best, round(found.low, 2)
    (0.4, 1.0, 0.4)
    """
    seeds = [seed for seed in scored.get(ours, {}) if seed in scored.get(other, {})]
    pairs = [_shared(scored[ours][seed], scored[other][seed]) for seed in seeds]
    pairs = [pair for pair in pairs if pair[0].names]
    if not pairs:
        return None
    gains = tuple(one.ods - two.ods for one, two in pairs)
    low, high = np.percentile(_resampled(pairs), _BETWEEN)
    return Comparison(
        seeds=len(pairs),
        photos=len(pairs[0][0].names),
        gain=float(np.mean(gains)),
        each=gains,
        low=float(low),
        high=float(high),
        best=_ahead(pairs, "f"),
        fixed=_ahead(pairs, "f_at_ods"),
    )


def pairs_of(scored: Scored) -> pd.DataFrame:
    """All pairs of which both were run: what one method gains over the other.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores

    Returns
    -------
    data frame
        ``method``, ``against`` and what a ``Comparison`` says; ``each`` as text.

    Examples
    --------
    >>> pairs_of({}).empty
    True
    """
    rows = []
    for ours, other in _PAIRS:
        found = compare(scored, ours, other)
        if found is not None:
            each = " ".join(f"{gain:+.4f}" for gain in found.each)
            rows.append({"method": ours, "against": other, **asdict(found), "each": each})
    return pd.DataFrame(rows, columns=["method", "against", *Comparison.__dataclass_fields__])


def pairs_table(compared: pd.DataFrame) -> pd.DataFrame:
    """The pairs in words.

    Parameters
    ----------
    compared : data frame
        As :func:`pairs_of` makes it.

    Returns
    -------
    data frame

    Examples
    --------
    >>> one = {"method": "SE@2", "against": "SE", "gain": 0.01, "low": -0.01, "high": 0.03, "best": 0.75, "fixed": 0.5}
    >>> pairs_table(pd.DataFrame([one | {"each": "+0.0100"}])).loc["SE@2 against SE", "ODS gained"]
    '+0.0100'
    """
    rows = {
        f"{one.method} against {one.against}": {
            "ODS gained": f"{one.gain:+.4f}",
            "95 % of resampled photos": f"{one.low:+.4f} to {one.high:+.4f}",
            "seed by seed": one.each,
            "photos ahead, best F": f"{100 * one.best:.0f} %",
            "photos ahead, F at ODS threshold": f"{100 * one.fixed:.0f} %",
        }
        for one in compared.itertuples()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def half(scored: Scored, parity: int) -> Scored:
    """Scores of every second photo, in the order of names.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores
        Photos are numbered through all that any of them has.
    parity : {0, 1}
        0: those of even numbers, counted from 0.

    Returns
    -------
    the same of fewer photos; methods and seeds that have none of them are left out

    Examples
    --------
    >>> import numpy as np
    >>> scores = BoundaryScores(["b", "a", "c"], np.array([0.5]), np.ones((3, 1, 4)))
    >>> half({"SE": {0: scores}}, 0)["SE"][0].names
    ['a', 'c']
    """
    known = sorted({name for seeds in scored.values() for one in seeds.values() for name in one.names})
    wanted = known[parity::2]
    found: dict[str, dict[int, BoundaryScores]] = {}
    for method, seeds in scored.items():
        for seed, one in seeds.items():
            rows = [one.names.index(name) for name in wanted if name in one.names]
            if rows:
                some = BoundaryScores([one.names[row] for row in rows], one.thresholds, one.counts[rows])
                found.setdefault(method, {})[seed] = some
    return found


_Pair = tuple[BoundaryScores, BoundaryScores]


def _shared(one: BoundaryScores, two: BoundaryScores) -> _Pair:
    """Both, on the photos that both have, in one order."""
    names = sorted(set(one.names) & set(two.names))
    some = [scores.counts[[scores.names.index(name) for name in names]] for scores in (one, two)]
    return BoundaryScores(names, one.thresholds, some[0]), BoundaryScores(names, two.thresholds, some[1])


def _ahead(pairs: list[_Pair], what: str) -> float:
    shares = []
    for one, two in pairs:
        gain = np.array([a[what] - b[what] for a, b in zip(one.table, two.table, strict=True)])
        shares.append(((gain > 0) + 0.5 * (gain == 0)).mean())
    return float(np.mean(shares))


def _resampled(pairs: list[_Pair]) -> np.ndarray:
    """Differences of ODS, means of the seeds, on photos drawn with replacement; the same ones for all seeds."""
    rng = np.random.default_rng(0)
    n = min(len(one.names) for one, _ in pairs)
    gains = np.empty(_RESAMPLED)
    for k in range(_RESAMPLED):
        drawn = rng.integers(n, size=n)
        gains[k] = np.mean([_ods(one, drawn) - _ods(two, drawn) for one, two in pairs])
    return gains


def _ods(scores: BoundaryScores, drawn: np.ndarray) -> float:
    pooled = scores.counts[drawn].sum(axis=0, keepdims=True)
    return BoundaryScores(["drawn"], scores.thresholds, pooled).ods
