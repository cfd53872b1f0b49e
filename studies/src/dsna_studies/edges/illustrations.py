"""The figures of the study, drawn from results on disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .comparison import Scored
from .figures import plot_curves, plot_pictures
from .methods import BEST_RESCORER, FULL, PLAIN
from .rare.classes import EdgeClasses, edge_classes, plot_power_law
from .rare.comparison import scored_where_rare
from .rare.neighbors import approximate_patch, plot_neighbors
from .rare.patches import rare_patches
from .runs import Run
from .store import Store

_PICTURED, _PATCHES = 4, 5
_QUICK_PATCHES = 2000
#: Figures show the first of these methods that was run.
_OURS = (*(f"{first}@2+{rescorer}" for rescorer in (BEST_RESCORER, "boosted") for first in (FULL, PLAIN)), FULL)


def illustrate(runs: Sequence[Run], scored: Scored, store: Store, quick_run: bool) -> tuple[Scored, dict[str, Any]]:
    """Draw the figures for which there are results.

    Parameters
    ----------
    runs : sequence of Run
        Runs on one collection, one for each method, which stands for all seeds.
    scored : mapping from methods to mappings from seeds to BoundaryScores
    store : Store
    quick_run : bool
        Whether to use few patches.

    Returns
    -------
    mapping from methods to mappings from seeds to BoundaryScores, dict
        Scores where structures are rare, and figures by file name.

    Examples
    --------
    >>> from pathlib import Path
    >>> illustrate([], {}, Store(Path("nowhere")), quick_run=True)
    ({}, {})
    """
    if not scored:
        return {}, {}
    figures: dict[str, Any] = {"pr.png": plot_curves(scored)}
    run_of_method = {run.method: run for run in runs}
    our_method = next((name for name in _OURS if name in scored), FULL)
    seeds = [seed for seed in scored.get(our_method, {}) if seed in scored.get(PLAIN, {})]
    if seeds:
        figures |= _pictures([run_of_method[name].of_seed(seeds[0]) for name in (PLAIN, our_method)], store)
    photos = runs[0].train.train
    classes = edge_classes(photos, store.jobs, _QUICK_PATCHES) if quick_run else edge_classes(photos, store.jobs)
    if classes is None:
        return {}, figures
    figures["power_law.png"] = plot_power_law(classes)
    rare = scored_where_rare(run_of_method, scored, classes, store)
    if rare:
        figures["rare.png"] = plot_curves(rare, "rare structures")
    if our_method in scored:
        figures |= _neighbors(run_of_method[our_method].of_seed(next(iter(scored[our_method]))), classes, store)
    return rare, figures


def _evenly_spaced(n: int, n_selected: int) -> list[int]:
    """Indices of some of n photos, evenly spaced."""
    return [int(index) for index in np.unique(np.linspace(0, n - 1, n_selected).astype(int))]


def _pictures(runs: Sequence[Run], store: Store) -> dict[str, Any]:
    """Plot maps of some photos side by side, if they are still stored."""
    mapped_rows = store.with_maps(runs)
    if not mapped_rows:
        return {}
    rows = [mapped_rows[k] for k in _evenly_spaced(len(mapped_rows), _PICTURED)]
    maps = {run.method: [store.map(run, row) for row in rows] for run in runs}
    return {"pictures.png": plot_pictures(runs[0].test.test, rows, maps)}


def _neighbors(run: Run, classes: EdgeClasses, store: Store) -> dict[str, Any]:
    """Plot the neighbours of the rarest patches of some photos, if the forest is still stored."""
    detector = store.stored_detector(run)
    if detector is None or detector.pool_ is None:
        return {}
    photos = run.test.test
    approximations = []
    for row in _evenly_spaced(len(photos), _PATCHES):
        patches = rare_patches(photos, row, classes)
        if len(patches.centres):
            k = int(patches.kinds.argmax())  # classes are sorted, the rarest last
            truth = patches.truths[patches.annotator[k]]
            approximations.append(approximate_patch(detector, photos.image(row), truth, patches.centres[k]))
    return {"neighbours.png": plot_neighbors(approximations)} if approximations else {}
