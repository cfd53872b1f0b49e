"""The experiments on heads."""

from __future__ import annotations

import numpy as np

from dsna_vision.datasets import PictureSet

from ..pictures.experiments import Experiment
from ..pictures.splits import person_folds
from ..study import DataError
from .heads import checksum
from .methods import FAST_METHODS, GAP_METHODS, PAPERS_FORM, REMOVAL_METHODS, SWEEP_METHODS
from .protocols import FOLDS, GAPS, SHARES, pose_folds, removals

_NAME = "Pointing'04"
_QUICK_FOLDS = _SWEEP_FOLDS = 2


def experiments(heads: PictureSet, quick_run: bool = False) -> list[Experiment]:
    """Plan all experiments, in the order in which they run.

    Parameters
    ----------
    heads : PictureSet
    quick_run : bool, default=False
        Whether to use few folds, few shares of removed pictures, and no sweeps.

    Returns
    -------
    list of Experiment

    Examples
    --------
    >>> from pathlib import Path
    >>> poses = np.array([(pitch, yaw) for pitch in (-90, 0, 90) for yaw in (-90, 0, 45)], dtype=float)
    >>> paths = [Path(f"{i}.jpg") for i in range(45)]
    >>> heads = PictureSet(paths, np.tile(poses, (5, 1)), np.repeat(list("abcde"), 9), boxes=np.ones((45, 4)))
    >>> [experiment.protocol for experiment in experiments(heads)][:3]
    ['5 folds', '5 person folds', '10 % removed']
    """
    labels, persons = heads.labels, np.asarray(heads.groups)
    most_common_count = int(np.unique(labels, axis=0, return_counts=True)[1].max())
    n_folds = _QUICK_FOLDS if quick_run else FOLDS
    if most_common_count < n_folds:
        raise DataError(
            f"No pose has more than {most_common_count} pictures: too few for {n_folds} folds; add persons or series."
        )
    folds, person_splits = pose_folds(labels, n_folds), person_folds(persons, n_folds)
    share_step = 4 if quick_run else 1
    planned = [
        ("table", folds, FAST_METHODS),
        ("persons", person_splits, FAST_METHODS),
        *(("removal", splits, REMOVAL_METHODS) for splits in removals(folds, labels[:, 0], SHARES[::share_step])),
        *(("gap", gap_splits, GAP_METHODS) for gap_splits in (gap.cut(folds, labels) for gap in GAPS) if gap_splits),
        *([] if quick_run else [("sweep", folds[:_SWEEP_FOLDS], SWEEP_METHODS)]),
        ("table", folds, (PAPERS_FORM,)),
        ("persons", person_splits, (PAPERS_FORM,)),
    ]
    head = (_NAME, checksum(heads), "quick" if quick_run else "full")
    return [Experiment(kind, splits, names, (*head, splits[0].protocol)) for kind, splits, names in planned]
