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


def experiments(heads: PictureSet, quick: bool = False) -> list[Experiment]:
    """All experiments, in the order in which they are run.

    Parameters
    ----------
    heads : PictureSet
    quick : bool, default=False
        Whether few folds, few shares of pictures removed, and no sweeps, are enough.

    Returns
    -------
    list of Experiment

    Examples
    --------
    >>> from pathlib import Path
    >>> poses = np.array([(pitch, yaw) for pitch in (-90, 0, 90) for yaw in (-90, 0, 45)], dtype=float)
    >>> paths = [Path(f"{i}.jpg") for i in range(45)]
    >>> heads = PictureSet(paths, np.tile(poses, (5, 1)), np.repeat(list("abcde"), 9), boxes=np.ones((45, 4)))
    >>> [one.protocol for one in experiments(heads)][:3]
    ['5 folds', '5 person folds', '10 % removed']
    """
    labels, persons = heads.labels, np.asarray(heads.groups)
    fewest = int(np.unique(labels, axis=0, return_counts=True)[1].max())
    count = _QUICK_FOLDS if quick else FOLDS
    if fewest < count:
        raise DataError(f"No pose has more than {fewest} pictures: too few for {count} folds; add persons or series.")
    folds, apart = pose_folds(labels, count), person_folds(persons, count)
    few = 4 if quick else 1
    planned = [
        ("table", folds, FAST_METHODS),
        ("persons", apart, FAST_METHODS),
        *(("removal", some, REMOVAL_METHODS) for some in removals(folds, labels[:, 0], SHARES[::few])),
        *(("gap", cut, GAP_METHODS) for cut in (gap.cut(folds, labels) for gap in GAPS) if cut),
        *([] if quick else [("sweep", folds[:_SWEEP_FOLDS], SWEEP_METHODS)]),
        ("table", folds, (PAPERS_FORM,)),
        ("persons", apart, (PAPERS_FORM,)),
    ]
    head = (_NAME, checksum(heads), "quick" if quick else "full")
    return [Experiment(kind, splits, names, (*head, splits[0].protocol)) for kind, splits, names in planned]
