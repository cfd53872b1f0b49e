"""Comparison of methods on the same photos: the gain in ODS, its interval, and the share of photos ahead."""

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
_N_RESAMPLES = 500
_PERCENTILES = (2.5, 97.5)

#: Scores of each method: one for each seed.
Scored = Mapping[str, Mapping[int, BoundaryScores]]


@dataclass(frozen=True)
class MethodGain:
    """Gain of one method over another.

    Parameters
    ----------
    seeds, photos : int
        Numbers of seeds and photos that both methods have.
    gain : float
        Difference of ODS, averaged over seeds.
    each : tuple of float
        Difference of ODS for each seed.
    low, high : float
        Bootstrap interval of 95 % over photos.
    best, fixed : float
        Share of photos on which F is higher, averaged over seeds: at each photo's own best threshold, and at the
        threshold of ODS. Ties count half.

    Examples
    --------
    >>> MethodGain(1, 4, 0.01, (0.01,), -0.01, 0.03, 0.75, 0.5).gain
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


def compare(scored: Scored, ours: str, other: str) -> MethodGain | None:
    """Compare two methods on the seeds and photos that both have.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores
    ours, other : str

    Returns
    -------
    MethodGain or None
        None if no seed has both.

    Examples
    --------
    >>> import numpy as np
    >>> good, poor = np.array([[[9, 10, 9, 10]]] * 3), np.array([[[5, 10, 5, 10]]] * 3)
    >>> names = ["a", "b", "c"]
    >>> scored = {k: {0: BoundaryScores(names, np.array([0.5]), v)} for k, v in (("DSNA", good), ("SE", poor))}
    >>> comparison = compare(scored, "DSNA", "SE")
    >>> round(comparison.gain, 2), comparison.best, round(comparison.low, 2)
    (0.4, 1.0, 0.4)
    """
    seeds = [seed for seed in scored.get(ours, {}) if seed in scored.get(other, {})]
    pairs = [_on_shared_photos(scored[ours][seed], scored[other][seed]) for seed in seeds]
    pairs = [pair for pair in pairs if pair[0].names]
    if not pairs:
        return None
    gains = tuple(ours_scores.ods - other_scores.ods for ours_scores, other_scores in pairs)
    low, high = np.percentile(_resampled_gains(pairs), _PERCENTILES)
    return MethodGain(
        seeds=len(pairs),
        photos=len(pairs[0][0].names),
        gain=float(np.mean(gains)),
        each=gains,
        low=float(low),
        high=float(high),
        best=_share_ahead(pairs, "f"),
        fixed=_share_ahead(pairs, "f_at_ods"),
    )


def pairs_of(scored: Scored) -> pd.DataFrame:
    """Compare all pairs of methods that were both run.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores

    Returns
    -------
    data frame
        ``method``, ``against`` and the fields of ``MethodGain``, with ``each`` as text.

    Examples
    --------
    >>> pairs_of({}).empty
    True
    """
    rows = []
    for ours, other in _PAIRS:
        gain = compare(scored, ours, other)
        if gain is not None:
            each = " ".join(f"{seed_gain:+.4f}" for seed_gain in gain.each)
            rows.append({"method": ours, "against": other, **asdict(gain), "each": each})
    return pd.DataFrame(rows, columns=["method", "against", *MethodGain.__dataclass_fields__])


def pairs_table(compared: pd.DataFrame) -> pd.DataFrame:
    """Format the comparisons as text.

    Parameters
    ----------
    compared : data frame
        Result of :func:`pairs_of`.

    Returns
    -------
    data frame

    Examples
    --------
    >>> pair = {"method": "SE@2", "against": "SE", "gain": 0.01, "low": -0.01, "high": 0.03, "best": 0.75, "fixed": 0.5}
    >>> pairs_table(pd.DataFrame([pair | {"each": "+0.0100"}])).loc["SE@2 against SE", "ODS gained"]
    '+0.0100'
    """
    rows = {
        f"{pair.method} against {pair.against}": {
            "ODS gained": f"{pair.gain:+.4f}",
            "95 % of resampled photos": f"{pair.low:+.4f} to {pair.high:+.4f}",
            "seed by seed": pair.each,
            "photos ahead, best F": f"{100 * pair.best:.0f} %",
            "photos ahead, F at ODS threshold": f"{100 * pair.fixed:.0f} %",
        }
        for pair in compared.itertuples()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def every_second_photo(scored: Scored, parity: int) -> Scored:
    """Select every second photo, in the order of names.

    Parameters
    ----------
    scored : mapping from methods to mappings from seeds to BoundaryScores
        Photos are numbered over the union of all scores.
    parity : {0, 1}
        0: photos of even numbers, counted from 0.

    Returns
    -------
    scores of these photos, without methods and seeds that have none of them

    Examples
    --------
    >>> import numpy as np
    >>> scores = BoundaryScores(["b", "a", "c"], np.array([0.5]), np.ones((3, 1, 4)))
    >>> every_second_photo({"SE": {0: scores}}, 0)["SE"][0].names
    ['a', 'c']
    """
    all_names = sorted({name for seeds in scored.values() for scores in seeds.values() for name in scores.names})
    chosen_names = all_names[parity::2]
    halved: dict[str, dict[int, BoundaryScores]] = {}
    for method, seeds in scored.items():
        for seed, scores in seeds.items():
            rows = [scores.names.index(name) for name in chosen_names if name in scores.names]
            if rows:
                photos_scores = BoundaryScores(
                    [scores.names[row] for row in rows], scores.thresholds, scores.counts[rows]
                )
                halved.setdefault(method, {})[seed] = photos_scores
    return halved


_Pair = tuple[BoundaryScores, BoundaryScores]


def _on_shared_photos(first: BoundaryScores, second: BoundaryScores) -> _Pair:
    """Restrict both to the photos that they share, in the same order."""
    names = sorted(set(first.names) & set(second.names))
    counts = [scores.counts[[scores.names.index(name) for name in names]] for scores in (first, second)]
    return BoundaryScores(names, first.thresholds, counts[0]), BoundaryScores(names, second.thresholds, counts[1])


def _share_ahead(pairs: list[_Pair], column: str) -> float:
    shares = []
    for first, second in pairs:
        gain = np.array(
            [
                first_row[column] - second_row[column]
                for first_row, second_row in zip(first.table, second.table, strict=True)
            ]
        )
        shares.append(((gain > 0) + 0.5 * (gain == 0)).mean())
    return float(np.mean(shares))


def _resampled_gains(pairs: list[_Pair]) -> np.ndarray:
    """Differences of ODS, averaged over seeds, on photos drawn with replacement, the same for all seeds."""
    rng = np.random.default_rng(0)
    n = min(len(first.names) for first, _ in pairs)
    gains = np.empty(_N_RESAMPLES)
    for k in range(_N_RESAMPLES):
        photo_rows = rng.integers(n, size=n)
        gains[k] = np.mean([_ods(first, photo_rows) - _ods(second, photo_rows) for first, second in pairs])
    return gains


def _ods(scores: BoundaryScores, photo_rows: np.ndarray) -> float:
    pooled = scores.counts[photo_rows].sum(axis=0, keepdims=True)
    return BoundaryScores(["drawn"], scores.thresholds, pooled).ods
