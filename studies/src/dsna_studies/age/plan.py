"""The experiments on each collection of faces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..pictures.experiments import Experiment
from ..pictures.splits import Split, person_folds, with_gap
from ..study import DataError
from .collections import Collection
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
    collection : Collection
    pooled : bool
        Whether errors are means over pictures, or over folds.

    Examples
    --------
    See :func:`planned`.
    """

    collection: Collection
    pooled: bool


def planned(
    collection: Collection,
    splits: Sequence[Split],
    methods: tuple[str, ...],
    kind: str = "table",
    *,
    pooled: bool = True,
    quick: bool = False,
) -> FaceExperiment:
    """An experiment, with what its results are stored under.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dsna_vision.datasets import PictureSet
    >>> faces = PictureSet([Path("1.jpg")] * 3, np.array([20.0, 30.0, 40.0]), points=[None] * 3)
    >>> one = planned(Collection("UTKFace", Path("."), faces), three_subsets(3), ("RF",), pooled=False)
    >>> one.head[0], one.head[2:]
    ('UTKFace', ('full', 'S1, S2, S3'))
    """
    head = (collection.name, collection.checksum, "quick" if quick else "full", splits[0].protocol)
    return FaceExperiment(kind, splits, methods, head, collection, pooled)


def experiments(collections: Iterable[Collection], quick: bool = False) -> list[FaceExperiment]:
    """All experiments on collections, in the order of the page.

    FG-NET: each person left out in turn; gaps in the ages and sweeps of parameters on person-disjoint folds. MORPH, and
    UTKFace in its place: three subsets.

    Parameters
    ----------
    collections : iterable of Collection
    quick : bool, default=False
        Whether few persons, folds and pictures, and no sweeps, are enough.

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
    >>> found = [one.protocol for one in experiments([Collection("FG-NET", Path("fgnet"), faces)])]
    >>> found[:4]
    ['leave one person out', 'no ages over 50', 'no ages over 40', 'no ages under 5']
    >>> found[4:]
    ['no ages 30 to 39', '3 person folds']
    """
    found = []
    for collection in collections:
        pictures = collection.pictures
        if collection.name == "FG-NET":
            found += _of_persons(collection, np.asarray(pictures.groups), quick)
        else:
            some = _thinned(collection) if quick else collection
            splits = three_subsets(len(some.pictures), some.pictures.groups)
            large = max(len(split.train) for split in splits) > _LARGE
            methods = LARGE_METHODS if large else TABLE_METHODS
            found.append(planned(some, splits, methods, pooled=False, quick=quick))
    return found


def _of_persons(collection: Collection, persons: np.ndarray, quick: bool) -> list[FaceExperiment]:
    if len(np.unique(persons)) < 3:
        raise DataError(f"{collection.folder} holds pictures of fewer than 3 persons: too few to leave one out.")
    folds = person_folds(persons, _QUICK_FOLDS if quick else _FOLDS)
    gaps = [with_gap(folds, gap.name, gap.inside(collection.pictures.labels)) for gap in GAPS]
    alone = leave_one_person_out(persons, _QUICK_PERSONS if quick else None)
    return [
        planned(collection, alone, TABLE_METHODS, quick=quick),
        *(planned(collection, splits, GAP_METHODS, "gap", quick=quick) for splits in gaps if splits),
        *([] if quick else [planned(collection, folds, SWEEP_METHODS, "sweep")]),
    ]


def _thinned(collection: Collection) -> Collection:
    """A few pictures, evenly along the file names."""
    n = len(collection.pictures)
    rows = np.unique(np.linspace(0, n - 1, min(n, _QUICK_PICTURES)).astype(int))
    return Collection(collection.name, collection.folder, collection.pictures.subset(rows))
