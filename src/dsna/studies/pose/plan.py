"""What is run: experiments, and the jobs that they consist of."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...vision.datasets import PictureSet
from ..crops import CropRows
from ..jobs import LAYOUT, Job
from ..splits import Split, person_folds
from .heads import COMPONENTS, PoseError, checksum
from .methods import FAST_METHODS, GAP_METHODS, PAPERS_FORM, REMOVAL_METHODS, SWEEP_METHODS, pose_families
from .protocols import FOLDS, GAPS, SHARES, pose_folds, removals

_NAME = "Pointing'04"
_QUICK_FOLDS = _SWEEP_FOLDS = 2


@dataclass(frozen=True)
class Experiment:
    """Methods under one protocol.

    Parameters
    ----------
    kind : {"table", "persons", "gap", "removal", "sweep"}
    splits : list of Split
        Of one protocol.
    methods : tuple of str
    filed : tuple of str
        What results are filed under, up to the protocol.

    Examples
    --------
    >>> one = Experiment("table", [], ("RF",), ("Pointing'04", "00", "full", "5 folds"))
    >>> one.key(Split("5 folds", "3", np.arange(4), np.arange(4, 6)), "RF")
    ("Pointing'04", '00', 'full', '5 folds', '3', 'RF')
    """

    kind: str
    splits: list[Split]
    methods: tuple[str, ...]
    filed: tuple[str, ...]

    @property
    def folds(self) -> list[str]:
        """Names of the folds."""
        return [split.fold for split in self.splits]

    def key(self, split: Split, method: str) -> tuple[str, ...]:
        """What a result is filed under, in the order of the layout."""
        return (*self.filed, split.fold, method)

    def results(self, filed: pd.DataFrame) -> pd.DataFrame:
        """Those of the filed results that belong here."""
        matching = [filed[name] == value for name, value in zip(LAYOUT.key, self.filed, strict=False)]
        return filed[np.logical_and.reduce(matching)]


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
    >>> [one.filed[-1] for one in experiments(heads)][:3]
    ['5 folds', '5 person folds', '10 % removed']
    """
    labels, persons = heads.labels, np.asarray(heads.groups)
    fewest = int(np.unique(labels, axis=0, return_counts=True)[1].max())
    count = _QUICK_FOLDS if quick else FOLDS
    if fewest < count:
        raise PoseError(f"No pose has more than {fewest} pictures: too few for {count} folds; add persons or series.")
    folds, apart = pose_folds(labels, count), person_folds(persons, count)
    few = 4 if quick else 1
    planned = [
        ("table", folds, FAST_METHODS),
        ("persons", apart, FAST_METHODS),
        *(("removal", some, REMOVAL_METHODS) for some in removals(folds, labels[:, 0], SHARES[::few])),
        *(("gap", gap.cut(folds, labels), GAP_METHODS) for gap in GAPS if gap.inside(labels).any()),
        *([] if quick else [("sweep", folds[:_SWEEP_FOLDS], SWEEP_METHODS)]),
        ("table", folds, (PAPERS_FORM,)),
        ("persons", apart, (PAPERS_FORM,)),
    ]
    head = (_NAME, checksum(heads), "quick" if quick else "full")
    return [Experiment(kind, splits, names, (*head, splits[0].protocol)) for kind, splits, names in planned]


def left(one: Experiment, done: Container[tuple[str, ...]]) -> list[tuple[Split, tuple[str, ...]]]:
    """Splits with the methods that are not done yet.

    Examples
    --------
    >>> split = Split("5 folds", "0", np.arange(4), np.arange(4, 6))
    >>> one = Experiment("table", [split], ("RF", "CS-RF"), ("Pointing'04", "00", "full", "5 folds"))
    >>> [methods for _, methods in left(one, {one.key(split, "RF")})]
    [('CS-RF',)]
    """
    found = ((split, tuple(m for m in one.methods if one.key(split, m) not in done)) for split in one.splits)
    return [(split, methods) for split, methods in found if methods]


def jobs_of(
    everything: Iterable[Experiment],
    done: Container[tuple[str, ...]],
    heads: PictureSet,
    rows: np.ndarray,
    quick: bool,
) -> list[Job]:
    """A job for each split that has methods left; persons are kept together where folds share none.

    Parameters
    ----------
    everything : iterable of Experiment
    done : container of keys
    heads : PictureSet
    rows : array of shape (n, n_features)
        Gradients of all heads.
    quick : bool

    Returns
    -------
    list of Job

    Examples
    --------
    >>> from pathlib import Path
    >>> heads = PictureSet([Path("1.jpg"), Path("2.jpg")], np.array([[0.0, 0.0], [0.0, 15.0]]))
    >>> split = Split("2 folds", "0", np.array([0]), np.array([1]))
    >>> one = Experiment("table", [split], ("RF",), ("Pointing'04", "00", "full", "2 folds"))
    >>> [job.methods for job in jobs_of([one], set(), heads, np.eye(2), quick=True)]
    [('RF',)]
    """
    where = CropRows(rows, COMPONENTS)
    return [
        Job(
            one.key(split, "")[:-1],
            heads.labels,
            heads.groups if one.kind == "persons" else None,
            where,
            split,
            methods,
            quick,
            pose_families,
        )
        for one in everything
        for split, methods in left(one, done)
    ]
