"""Comparison of methods on rare structures: recall at equal precision."""

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
    """Score the compared methods on rare patches, for each seed that has maps.

    Parameters
    ----------
    runs : mapping from methods to Run
        Runs on one collection, which stand for all seeds.
    scored : mapping from methods to mappings from seeds to BoundaryScores
        Scores on whole photos.
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
    names = dict.fromkeys(name for pair in _PAIRS if _shared_seeds(scored, *pair) for name in pair)
    seed_runs = [runs[name].of_seed(seed) for name in names for seed in scored[name]]
    rows = store.with_maps(seed_runs) if seed_runs else []
    if not rows:
        return {}
    photos = seed_runs[0].test.test
    patches = Parallel(store.jobs, prefer="threads")(delayed(rare_patches)(photos, row, classes) for row in rows)
    rare_scored: dict[str, dict[int, BoundaryScores]] = {}
    for run in seed_runs:
        maps = [store.map(run, row) for row in rows]
        scores = rare_scores(
            maps.__getitem__, patches, run.test.max_distance, out=store.counts(run) / "rare", n_jobs=store.jobs
        )
        rare_scored.setdefault(run.method, {})[run.seed] = scores
    return rare_scored


def rare_pairs(rare: Scored, scored: Scored) -> pd.DataFrame:
    """Compare the recall of pairs of methods on rare structures, at the precision of the second at its ODS threshold.

    Parameters
    ----------
    rare, scored : mappings from methods to mappings from seeds to BoundaryScores
        Scores on rare patches, and on whole photos.

    Returns
    -------
    data frame
        ``method``, ``against``, ``seeds``, ``photos``, and the fields of ``RareRecall``.

    Examples
    --------
    >>> rare_pairs({}, {}).empty
    True
    """
    rows = []
    for ours, other in _PAIRS:
        seeds = _shared_seeds(rare, ours, other)
        if seeds:
            threshold = float(np.mean([scored[other][seed].ods_threshold for seed in seeds]))
            ours_scores, other_scores = (
                _sum_over_seeds([rare[name][seed] for seed in seeds]) for name in (ours, other)
            )
            recall = recall_at_equal_precision(ours_scores, other_scores, threshold)
            if recall is not None:
                n_compared = {"seeds": len(seeds), "photos": len(ours_scores.names)}
                rows.append({"method": ours, "against": other, **n_compared, **asdict(recall)})
    return pd.DataFrame(rows, columns=["method", "against", "seeds", "photos", *RareRecall.__dataclass_fields__])


def rare_table(compared: pd.DataFrame) -> pd.DataFrame:
    """Format the comparisons as text.

    Examples
    --------
    >>> pair = {
    ...     "method": "SE@2",
    ...     "against": "SE",
    ...     "precision": 0.9,
    ...     "ours": 0.75,
    ...     "other": 0.7,
    ...     "low": 0.01,
    ...     "high": 0.1,
    ... }
    >>> rare_table(pd.DataFrame([pair | {"seeds": 1}])).loc["SE@2 against SE", "gained"]
    '+0.050'
    """
    rows = {
        f"{pair.method} against {pair.against}": {
            "precision of both": f"{pair.precision:.3f}",
            "recall of the first": f"{pair.ours:.3f}",
            "of the second": f"{pair.other:.3f}",
            "gained": f"{pair.ours - pair.other:+.3f}",
            "95 % of resampled photos": f"{pair.low:+.3f} to {pair.high:+.3f}",
            "seeds": str(pair.seeds),
        }
        for pair in compared.itertuples()
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _shared_seeds(scored: Scored, ours: str, other: str) -> list[int]:
    """Seeds that both have."""
    return [seed for seed in scored.get(ours, {}) if seed in scored.get(other, {})]


def _sum_over_seeds(seeds: Sequence[BoundaryScores]) -> BoundaryScores:
    """Sum counts over seeds, photo by photo."""
    counts = np.sum([scores.counts for scores in seeds], axis=0)
    return BoundaryScores(seeds[0].names, seeds[0].thresholds, counts)
