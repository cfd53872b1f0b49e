"""The figures of the study, drawn from what the runs keep on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .comparison import Scored
from .figures import plot_curves, plot_pictures
from .methods import BEST_RESCORER, FULL, PLAIN
from .rare.classes import EdgeClasses, edge_classes, plot_power_law
from .rare.comparison import scored_where_rare
from .rare.neighbors import approximated, plot_neighbors
from .rare.patches import rare_patches
from .runs import Run
from .store import Store

_PICTURED, _PATCHES = 4, 5
_QUICK_PATCHES = 2000
#: The first of them that was run is shown.
_OURS = (*(f"{first}@2+{one}" for one in (BEST_RESCORER, "boosted") for first in (FULL, PLAIN)), FULL)


def illustrate(runs: Sequence[Run], scored: Scored, store: Store, quick: bool) -> tuple[Scored, dict[str, Any]]:
    """Draw the figures for which there are results.

    Parameters
    ----------
    runs : sequence of Run
        On one collection, one for each method; other seeds are found through it.
    scored : mapping from methods to mappings from seeds to BoundaryScores
    store : Store
    quick : bool
        Whether few patches are enough.

    Returns
    -------
    mapping from methods to mappings from seeds to BoundaryScores, dict
        Scores where structures are rare, and figures by file name.

    Examples
    --------
    >>> from pathlib import Path
    >>> illustrate([], {}, Store(Path("nowhere")), quick=True)
    ({}, {})
    """
    if not scored:
        return {}, {}
    figures: dict[str, Any] = {"pr.png": plot_curves(scored)}
    mine = {run.method: run for run in runs}
    ours = next((name for name in _OURS if name in scored), FULL)
    seeds = [seed for seed in scored.get(ours, {}) if seed in scored.get(PLAIN, {})]
    if seeds:
        figures |= _pictures([mine[name].of_seed(seeds[0]) for name in (PLAIN, ours)], store)
    photos = runs[0].train.train
    classes = edge_classes(photos, store.jobs, _QUICK_PATCHES) if quick else edge_classes(photos, store.jobs)
    if classes is None:
        return {}, figures
    figures["power_law.png"] = plot_power_law(classes)
    rare = scored_where_rare(mine, scored, classes, store)
    if rare:
        figures["rare.png"] = plot_curves(rare, "rare structures")
    if ours in scored:
        figures |= _neighbors(mine[ours].of_seed(next(iter(scored[ours]))), classes, store)
    return rare, figures


def _spread(n: int, most: int) -> list[int]:
    """Some of n photos, evenly spread."""
    return [int(place) for place in np.unique(np.linspace(0, n - 1, most).astype(int))]


def _pictures(runs: Sequence[Run], store: Store) -> dict[str, Any]:
    """Maps of some photos side by side; nothing where maps are not kept any more."""
    there = store.with_maps(runs)
    if not there:
        return {}
    rows = [there[k] for k in _spread(len(there), _PICTURED)]
    maps = {run.method: [store.map(run, row) for row in rows] for run in runs}
    return {"pictures.png": plot_pictures(runs[0].test.test, rows, maps)}


def _neighbors(run: Run, classes: EdgeClasses, store: Store) -> dict[str, Any]:
    """What the rarest patches of some photos are made of; nothing where the forest is not kept any more."""
    detector = store.kept(run)
    if detector is None or detector.pool_ is None:
        return {}
    photos = run.test.test
    found = []
    for row in _spread(len(photos), _PATCHES):
        patches = rare_patches(photos, row, classes)
        if len(patches.centres):
            k = int(patches.kinds.argmax())  # classes are sorted, the rarest last
            truth = patches.truths[patches.annotator[k]]
            found.append(approximated(detector, photos.image(row), truth, patches.centres[k]))
    return {"neighbours.png": plot_neighbors(found)} if found else {}
