"""Pairs of methods where structures are rare: how much each finds at the same precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from dsna_vision.edges import BoundaryScores

from ..comparison import Scored
from ..methods import BEST_RESCORER, FULL, PLAIN
from ..runs import Run
from ..store import Store
from .classes import EdgeClasses
from .patches import RareRecall, rare_patches, rare_scores, recall_at_equal_precision

_BEST = f"SE+DSNA@2+{BEST_RESCORER}"
_PAIRS = (
    (FULL, PLAIN),
    ("SE+DSNA@2", "SE@2"),
    (_BEST, "SE@2"),
    (_BEST, "SE+DSNA@2"),
    (_BEST, f"SE@2+{BEST_RESCORER}"),
)


def scored_where_rare(runs: Mapping[str, Run], scored: Scored, classes: EdgeClasses, store: Store) -> Scored:
    """Score the methods that are compared, each seed that has maps, where rare patches lie.

    Parameters
    ----------
    runs : mapping from methods to Run
        On one collection; other seeds are found through them.
    scored : mapping from methods to mappings from seeds to BoundaryScores
        On whole photos.
    classes : EdgeClasses
    store : Store

    Returns
    -------
    mapping from methods to mappings from seeds to BoundaryScores

    Examples
    --------
    >>> from pathlib import Path
    >>> classes = EdgeClasses(np.eye(10, 256), np.arange(10, 0, -1), 40)
    >>> scored_where_rare({}, {}, classes, Store(Path("nowhere")))
    {}
    """
    names = dict.fromkeys(name for pair in _PAIRS if _shared(scored, *pair) for name in pair)
    wanted = [runs[name].of_seed(seed) for name in names for seed in scored[name]]
    rows = store.with_maps(wanted) if wanted else []
    if not rows:
        return {}
    photos = wanted[0].test.test
    patches = Parallel(store.jobs, prefer="threads")(delayed(rare_patches)(photos, row, classes) for row in rows)
    found: dict[str, dict[int, BoundaryScores]] = {}
    for run in wanted:
        maps = [store.map(run, row) for row in rows]
        scores = rare_scores(
            maps.__getitem__, patches, run.test.max_distance, out=store.counts(run) / "rare", n_jobs=store.jobs
        )
        found.setdefault(run.method, {})[run.seed] = scores
    return found


def rare_pairs(rare: Scored, scored: Scored) -> pd.DataFrame:
    """What methods find of rare structures, pair by pair, at the precision of the second at its own ODS threshold.

    Parameters
    ----------
    rare, scored : mappings from methods to mappings from seeds to BoundaryScores
        Where rare patches lie, and on whole photos.

    Returns
    -------
    data frame
        ``method``, ``against``, ``seeds``, ``photos``, and what a ``RareRecall`` says.

    Examples
    --------
    >>> rare_pairs({}, {}).empty
    True
    """
    rows = []
    for ours, other in _PAIRS:
        seeds = _shared(rare, ours, other)
        if seeds:
            threshold = float(np.mean([scored[other][seed].ods_threshold for seed in seeds]))
            one, two = (_summed([rare[name][seed] for seed in seeds]) for name in (ours, other))
            found = recall_at_equal_precision(one, two, threshold)
            if found is not None:
                counted = {"seeds": len(seeds), "photos": len(one.names)}
                rows.append({"method": ours, "against": other, **counted, **asdict(found)})
    return pd.DataFrame(rows, columns=["method", "against", "seeds", "photos", *RareRecall.__dataclass_fields__])


def rare_table(compared: pd.DataFrame) -> pd.DataFrame:
    """The pairs in words.

    Examples
    --------
    >>> one = {
    ...     "method": "SE@2",
    ...     "against": "SE",
    ...     "precision": 0.9,
    ...     "ours": 0.75,
    ...     "other": 0.7,
    ...     "low": 0.01,
    ...     "high": 0.1,
    ... }
    >>> rare_table(pd.DataFrame([one | {"seeds": 1}])).loc["SE@2 against SE", "gained"]
    '+0.050'
    """
    rows = {
        f"{one.method} against {one.against}": {
            "precision of both": f"{one.precision:.3f}",
            "recall of the first": f"{one.ours:.3f}",
            "of the second": f"{one.other:.3f}",
            "gained": f"{one.ours - one.other:+.3f}",
            "95 % of resampled photos": f"{one.low:+.3f} to {one.high:+.3f}",
            "seeds": str(one.seeds),
        }
        for one in compared.itertuples()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _shared(scored: Scored, ours: str, other: str) -> list[int]:
    """Seeds that both have."""
    return [seed for seed in scored.get(ours, {}) if seed in scored.get(other, {})]


def _summed(seeds: Sequence[BoundaryScores]) -> BoundaryScores:
    """Counts of all seeds added up, photo by photo."""
    counts = np.sum([scores.counts for scores in seeds], axis=0)
    return BoundaryScores(seeds[0].names, seeds[0].thresholds, counts)
