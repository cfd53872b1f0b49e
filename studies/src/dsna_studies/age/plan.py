"""The experiments on each collection of faces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..pictures.experiments import Experiment
from ..pictures.splits import Split, person_folds, with_gap
from ..study import DataError
from .collections import FaceCollection
from .methods import GAP_METHODS, LARGE_METHODS, SWEEP_METHODS, TABLE_METHODS
from .protocols import GAPS, leave_one_person_out, three_subsets

_LARGE = 10_000
_QUICK_PERSONS, _QUICK_FOLDS, _QUICK_PICTURES, _FOLDS = 3, 2, 300, 5


@dataclass(frozen=True)
class FaceExperiment(Experiment):
    """An experiment on one collection.

    Parameters
    ----------
    kind : {"table", "gap", "sweep"}
    splits, methods, head
        See :class:`dsna_studies.pictures.experiments.Experiment`.
    collection : FaceCollection
    pooled : bool
        Whether errors are means over pictures, or over folds.

    Examples
    --------
    See :func:`planned`.
    """

    collection: FaceCollection
    pooled: bool


def planned(
    collection: FaceCollection,
    splits: Sequence[Split],
    methods: tuple[str, ...],
    kind: str = "table",
    *,
    pooled: bool = True,
    quick_run: bool = False,
) -> FaceExperiment:
    """Plan an experiment, including the key of its results.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna_vision.datasets import PictureSet
    >>> faces = PictureSet([Path("1.jpg")] * 3, np.array([20.0, 30.0, 40.0]), points=[None] * 3)
    >>> experiment = planned(FaceCollection("UTKFace", Path("."), faces), three_subsets(3), ("RF",), pooled=False)
    >>> experiment.head[0], experiment.head[2:]
    ('UTKFace', ('full', 'S1, S2, S3'))
    """
    head = (collection.name, collection.checksum, "quick" if quick_run else "full", splits[0].protocol)
    return FaceExperiment(kind, splits, methods, head, collection, pooled)


def experiments(collections: Iterable[FaceCollection], quick_run: bool = False) -> list[FaceExperiment]:
    """Plan all experiments on collections, in the order of the page.

    FG-NET: each person left out in turn; gaps in the ages and parameter sweeps on person-disjoint folds. MORPH, or
    UTKFace instead: three subsets.

    Parameters
    ----------
    collections : iterable of FaceCollection
    quick_run : bool, default=False
        Whether to use few persons, folds and pictures, and no sweeps.

    Returns
    -------
    list of FaceExperiment

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from dsna_vision.datasets import PictureSet
    >>> paths = [Path(f"{i}.jpg") for i in range(12)]
    >>> faces = PictureSet(paths, np.arange(12.0) * 5, np.repeat(["a", "b", "c"], 4), [None] * 12)
    >>> protocols = [
    ...     experiment.protocol for experiment in experiments([FaceCollection("FG-NET", Path("fgnet"), faces)])
    ... ]
    >>> protocols[:4]
    ['leave one person out', 'no ages over 50', 'no ages over 40', 'no ages under 5']
    >>> protocols[4:]
    ['no ages 30 to 39', '3 person folds']
    """
    planned_experiments = []
    for collection in collections:
        pictures = collection.pictures
        if collection.name == "FG-NET":
            planned_experiments += _person_experiments(collection, np.asarray(pictures.groups), quick_run)
        else:
            pictures_used = _thinned(collection) if quick_run else collection
            splits = three_subsets(len(pictures_used.pictures), pictures_used.pictures.groups)
            large = max(len(split.train) for split in splits) > _LARGE
            methods = LARGE_METHODS if large else TABLE_METHODS
            planned_experiments.append(planned(pictures_used, splits, methods, pooled=False, quick_run=quick_run))
    return planned_experiments


def _person_experiments(collection: FaceCollection, persons: np.ndarray, quick_run: bool) -> list[FaceExperiment]:
    if len(np.unique(persons)) < 3:
        raise DataError(f"{collection.folder} holds pictures of fewer than 3 persons: too few to leave one out.")
    folds = person_folds(persons, _QUICK_FOLDS if quick_run else _FOLDS)
    gaps = [with_gap(folds, gap.name, gap.inside(collection.pictures.labels)) for gap in GAPS]
    single_persons = leave_one_person_out(persons, _QUICK_PERSONS if quick_run else None)
    return [
        planned(collection, single_persons, TABLE_METHODS, quick_run=quick_run),
        *(planned(collection, splits, GAP_METHODS, "gap", quick_run=quick_run) for splits in gaps if splits),
        *([] if quick_run else [planned(collection, folds, SWEEP_METHODS, "sweep")]),
    ]


def _thinned(collection: FaceCollection) -> FaceCollection:
    """A few pictures, evenly spaced by file name."""
    n = len(collection.pictures)
    rows = np.unique(np.linspace(0, n - 1, min(n, _QUICK_PICTURES)).astype(int))
    return FaceCollection(collection.name, collection.folder, collection.pictures.subset(rows))
