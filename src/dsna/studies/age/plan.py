"""What is run on which collection: experiments, and the jobs that they consist of."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..jobs import LAYOUT, Job
from ..splits import Split, person_folds
from .collections import Collection, FacesError
from .methods import GAP_METHODS, LARGE_METHODS, SWEEP_METHODS, TABLE_METHODS, families_of
from .protocols import GAPS, leave_one_person_out, three_subsets, with_gap
from .rows import rows_of

_WHERE = 4  # parts of a key that say where, not which fold and method
_LARGE = 10_000
_QUICK_PERSONS, _QUICK_FOLDS, _QUICK_PICTURES, _FOLDS = 3, 2, 300, 5


@dataclass(frozen=True)
class Experiment:
    """Methods under one protocol on one collection.

    Parameters
    ----------
    collection : Collection
    splits : sequence of Split
        Of one protocol.
    methods : tuple of str
        What is run, as far as it was asked for.
    kind : {"table", "gap", "sweep"}, default="table"
        What it is for.
    pooled : bool, default=True
        Whether errors are means over pictures, or over folds.

    Examples
    --------
    See :func:`experiments`.
    """

    collection: Collection
    splits: Sequence[Split]
    methods: tuple[str, ...]
    kind: str = "table"
    pooled: bool = True

    @property
    def protocol(self) -> str:
        """Name of the protocol."""
        return self.splits[0].protocol

    @property
    def folds(self) -> list[str]:
        """Names of the folds."""
        return [split.fold for split in self.splits]

    def key(self, split: Split, method: str, quick: bool) -> tuple[str, ...]:
        """What a result is filed under, in the order of the layout."""
        scale = "quick" if quick else "full"
        return (self.collection.name, self.collection.checksum, scale, split.protocol, split.fold, method)

    def results(self, filed: pd.DataFrame, quick: bool) -> pd.DataFrame:
        """Those of the filed results that belong here."""
        mine = self.key(self.splits[0], "", quick)[:_WHERE]
        return filed[
            np.logical_and.reduce([filed[name] == value for name, value in zip(LAYOUT.key, mine, strict=False)])
        ]


def experiments(collections: Iterable[Collection], quick: bool = False) -> list[Experiment]:
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
    list of Experiment

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from dsna.vision.datasets import PictureSet
    >>> paths = [Path(f"{i}.jpg") for i in range(12)]
    >>> faces = PictureSet(paths, np.arange(12.0) * 5, np.repeat(["a", "b", "c"], 4), [None] * 12)
    >>> [one.protocol for one in experiments([Collection("FG-NET", Path("fgnet"), faces)])]
    ['leave one person out', 'no ages over 50', 'no ages 30 to 39', '3 person folds']
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
            found.append(Experiment(some, splits, LARGE_METHODS if large else TABLE_METHODS, pooled=False))
    return found


def _of_persons(collection: Collection, persons: np.ndarray, quick: bool) -> list[Experiment]:
    if len(np.unique(persons)) < 3:
        raise FacesError(f"{collection.folder} holds pictures of fewer than 3 persons: too few to leave one out.")
    folds = person_folds(persons, _QUICK_FOLDS if quick else _FOLDS)
    gaps = [with_gap(folds, collection.pictures.labels, gap) for gap in GAPS]
    return [
        Experiment(collection, leave_one_person_out(persons, _QUICK_PERSONS if quick else None), TABLE_METHODS),
        *(Experiment(collection, splits, GAP_METHODS, "gap") for splits in gaps if splits),
        *([] if quick else [Experiment(collection, folds, SWEEP_METHODS, "sweep")]),
    ]


def _thinned(collection: Collection) -> Collection:
    """A few pictures, evenly along the file names."""
    n = len(collection.pictures)
    rows = np.unique(np.linspace(0, n - 1, min(n, _QUICK_PICTURES)).astype(int))
    return Collection(collection.name, collection.folder, collection.pictures.subset(rows))


def jobs_of(experiments: Iterable[Experiment], quick: bool, done: Container[tuple[str, ...]] = ()) -> list[Job]:
    """A job for each split, with the methods that are not done yet; rows of a collection are read once, if at all.

    Parameters
    ----------
    experiments : iterable of Experiment
    quick : bool
    done : container of keys, default=()

    Returns
    -------
    list of Job

    Examples
    --------
    >>> jobs_of([], quick=True)
    []
    """
    rows: dict[str, Any] = {}
    jobs = []
    for one in experiments:
        pictures, checksum = one.collection.pictures, one.collection.checksum
        for split in one.splits:
            left = tuple(m for m in one.methods if one.key(split, m, quick) not in done)
            if not left:
                continue
            if checksum not in rows:
                rows[checksum] = rows_of(one.collection)
            filed = one.key(split, "", quick)[:-1]
            jobs.append(Job(filed, pictures.labels, pictures.groups, rows[checksum], split, left, quick, families_of))
    return jobs
