"""The figures of the study, drawn from what the runs keep on disk, and the text on rare structures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ...vision.edges import BoundaryScores
from ...vision.photos import read_photo
from .comparison import Scored
from .figures import plot_curves, plot_pictures
from .methods import FULL, PLAIN
from .rare.classes import EdgeClasses, edge_classes, plot_power_law
from .rare.neighbors import approximated, plot_neighbors
from .rare.patches import RarePatches, rare_patches, rare_scores, recall_at_equal_precision
from .runs import Run
from .store import Store

_PICTURED, _PATCHES = 4, 5
_QUICK_PATCHES = 2000
_OURS = ("CS-SE+DSNA@2+boosted", "SE+DSNA@2+boosted", "SE@2+boosted", FULL)  # the first that was run is shown


def illustrate(runs: Sequence[Run], scored: Scored, store: Store, quick: bool) -> tuple[list[str], dict[str, Any]]:
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
    list of str, dict
        Paragraphs on rare structures, and figures by file name.

    Examples
    --------
    >>> from pathlib import Path
    >>> illustrate([], {}, Store(Path("nowhere")), quick=True)
    ([], {})
    """
    if not scored:
        return [], {}
    figures: dict[str, Any] = {"pr.png": plot_curves(scored)}
    photos = runs[0].train.train
    classes = edge_classes(photos, store.jobs, _QUICK_PATCHES) if quick else edge_classes(photos, store.jobs)
    if classes is not None:
        figures["power_law.png"] = plot_power_law(classes)
    mine = {run.method: run for run in runs}
    ours = next((name for name in _OURS if name in scored), FULL)
    pair = mine[ours], mine[PLAIN]
    seeds = [seed for seed in scored.get(ours, {}) if seed in scored.get(PLAIN, {})]
    if not seeds or not _with_maps([run.of_seed(seed) for run in pair for seed in seeds], store):
        return [], figures
    figures["pictures.png"] = _pictures([run.of_seed(seeds[0]) for run in pair], store)
    if classes is None:
        return [], figures
    threshold = float(np.mean([scored[PLAIN][seed].ods_threshold for seed in seeds]))
    text, figures["rare.png"] = _rare(pair, seeds, threshold, classes, store)
    neighbors = _neighbors(pair[0].of_seed(seeds[0]), classes, store)
    return text, figures | ({"neighbours.png": neighbors} if neighbors else {})


def _spread(n: int, most: int) -> list[int]:
    """Some of n photos, evenly spread."""
    return [int(place) for place in np.unique(np.linspace(0, n - 1, most).astype(int))]


def _map(run: Run, row: int, store: Store) -> np.ndarray:
    return read_photo(store.maps(run) / f"{run.test.test.names[row]}.png")[..., 0] / 255


def _with_maps(runs: Sequence[Run], store: Store) -> list[int]:
    """Photos of which all runs have a map."""
    names = runs[0].test.test.names
    return [row for row, name in enumerate(names) if all((store.maps(run) / f"{name}.png").is_file() for run in runs)]


def _pictures(runs: Sequence[Run], store: Store) -> Any:
    there = _with_maps(runs, store)
    rows = [there[k] for k in _spread(len(there), _PICTURED)]
    maps = {run.method: [_map(run, row, store) for row in rows] for run in runs[::-1]}
    return plot_pictures(runs[0].test.test, rows, maps)


def _rare(
    pair: Sequence[Run], seeds: Sequence[int], threshold: float, classes: EdgeClasses, store: Store
) -> tuple[list[str], Any]:
    """Recall of rare structures: in words, and drawn."""
    runs = [[run.of_seed(seed) for seed in seeds] for run in pair]
    rows = _with_maps([run for each in runs for run in each], store)
    work = (delayed(rare_patches)(pair[0].test.test, row, classes) for row in rows)
    patches = Parallel(store.jobs, prefer="threads")(work)
    scored = {
        each[0].method: {run.seed: _rare_scores(run, rows, patches, store) for run in each} for each in runs[::-1]
    }
    ours, other = (_summed(list(scored[run.method].values())) for run in pair)
    found = recall_at_equal_precision(ours, other, threshold)
    rule = (
        f"Outlines of training masks in {len(classes.sizes)} classes (k-means on blurred outlines); the rarest fifth "
        "of the classes is rare. Patches are looked for every eight pixels. Recall is that of what an annotator drew "
        "in the 16 x 16 pixels of patches that are rare by the same drawing, precision that of what is predicted where "
        "any annotator has rare patches; matched as in the scores above."
    )
    said = "There was nothing to compare."
    if found is not None:
        said = (
            f"At the precision that {PLAIN} has there at its ODS threshold, {found.precision:.3f}, {pair[0].method} "
            f"finds {found.ours:.3f} of them and {PLAIN} {found.other:.3f}: {found.ours - found.other:+.3f}, and from "
            f"{found.low:+.3f} to {found.high:+.3f} in 95 % of resampled photos."
        )
    return ["## Rare structures", rule, said], plot_curves(scored, "rare structures")


def _rare_scores(run: Run, rows: Sequence[int], patches: Sequence[RarePatches], store: Store) -> BoundaryScores:
    def edges(k: int) -> np.ndarray:
        return _map(run, rows[k], store)

    return rare_scores(edges, patches, run.test.max_distance, out=store.counts(run) / "rare", n_jobs=store.jobs)


def _summed(seeds: Sequence[BoundaryScores]) -> BoundaryScores:
    """Counts of all seeds added up, photo by photo."""
    counts = np.sum([scores.counts for scores in seeds], axis=0)
    return BoundaryScores(seeds[0].names, seeds[0].thresholds, counts)


def _neighbors(run: Run, classes: EdgeClasses, store: Store) -> Any:
    """What the rarest patches of some photos are made of; nothing where the forest is not kept any more."""
    detector = store.kept(run)
    if detector is None or detector.pool_ is None:
        return None
    photos = run.test.test
    found = []
    for row in _spread(len(photos), _PATCHES):
        patches = rare_patches(photos, row, classes)
        if len(patches.centres):
            k = int(patches.kinds.argmax())  # classes are sorted, the rarest last
            truth = patches.truths[patches.annotator[k]]
            found.append(approximated(detector, photos.image(row), truth, patches.centres[k]))
    return plot_neighbors(found) if found else None
