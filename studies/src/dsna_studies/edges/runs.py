"""Runs of the study: a method with a seed, trained on one collection and scored on one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from dsna_vision.edges import EdgeDetector, TwoLevelDetector
from dsna_vision.edges.pool import Voting

from ..results_file import Layout
from .collections import PhotoCollection
from .methods import CROSS_METHODS, METHODS, detector_of, level_of

#: Scores of the runs.
LAYOUT = Layout(
    key=("train", "test", "scales", "settings", "seed", "method"),
    texts=("trees", "patches"),
    values=("ods", "ois", "ap", "r50", "seconds_a_photo", "photos"),
    whole=("seed",),
)
_VOTING_FIELDS = {field.name for field in fields(Voting)}  # parameters that take effect on a fitted forest
_IGNORED_PARAMETERS = {"n_jobs", "verbose", "random_state"}


@dataclass(frozen=True)
class Run:
    """One method with one seed.

    Parameters
    ----------
    train, test : PhotoCollection
        Collections for training and for scoring.
    method : str
        One of ``METHODS``.
    detector : EdgeDetector
        Not fitted; its ``random_state`` is the seed.
    scales : {"single", "two", "multi"}
    level : TwoLevelDetector or None, default=None
        The second level, not fitted and without a first level; None: the detector's own maps are scored.

    Examples
    --------
    >>> from dsna_vision.datasets.boundaries import BoundarySet
    >>> photos = PhotoCollection("BSDS500", "val", BoundarySet(["a"], [], []), BoundarySet(["b"], [], []))
    >>> run = Run(photos, photos, "SE", detector_of("SE", seed=2), "single")
    >>> run.name[:23], run.model[:20]
    ('BSDS500-BSDS500-val/SE-', 'BSDS500-SE-2-8x10000')
    """

    train: PhotoCollection
    test: PhotoCollection
    method: str
    detector: EdgeDetector
    scales: str
    level: TwoLevelDetector | None = None

    @property
    def seed(self) -> int:
        """Seed of patches and trees."""
        return int(self.detector.random_state)

    @property
    def answer(self) -> str:
        """Method of voting of the forest."""
        return METHODS[self.method].answer

    @cached_property
    def settings(self) -> str:
        """Checksum of all settings except the seed, and of the photos."""
        detector_settings = {
            name: value
            for name, value in self._parameters.items()
            if self.answer != "se" or name not in _UNUSED_BY_LEAVES
        }
        content = [
            self._training_settings,
            detector_settings,
            self.answer,
            self.scales,
            self.test.max_distance,
            self.test.test.names,
        ]
        if self.level is None:
            return _checksum(content)
        return _checksum([*content, _parameters(self.level)])

    @property
    def name(self) -> str:
        """Name of folders and files that belong to this run alone."""
        return f"{self.train.name}-{self.test.name}-{self.test.split}/{self.method}-{self.seed}-{self.settings}"

    @property
    def model(self) -> str:
        """Name of the file of the forest, which runs may share."""
        forest, trees = METHODS[self.method].forest, f"{self.detector.n_estimators}x{self.detector.n_patches}"
        return f"{self.train.name}-{forest}-{self.seed}-{trees}-{_checksum(self._training_settings)}.dsna"

    def model_without(self, b: int) -> str:
        """Name of the file of a first level trained without one block of photos."""
        blocks = 0 if self.level is None else self.level.n_blocks
        return f"{self.model.removesuffix('.dsna')}-without-{b + 1}-of-{blocks}.dsna"

    @property
    def two_levels(self) -> str:
        """Name of the file of both levels."""
        return f"{self.train.name}-{self.method}-{self.seed}-{self.settings}.dsna"

    @property
    def key(self) -> tuple[Any, ...]:
        """Key of the scores, in the order of the layout."""
        test = f"{self.test.name} {self.test.split}"
        return self.train.name, test, self.scales, self.settings, self.seed, self.method

    def of_seed(self, seed: int) -> Run:
        """Copy with another seed."""
        parameters = self.detector.get_params(deep=False) | {"random_state": int(seed)}
        return replace(self, detector=EdgeDetector(**parameters))

    @property
    def _parameters(self) -> dict[str, Any]:
        return _parameters(self.detector)

    @property
    def _training_settings(self) -> list[Any]:
        return [{k: v for k, v in self._parameters.items() if k not in _VOTING_FIELDS}, self.train.train.names]


_UNUSED_BY_LEAVES = _VOTING_FIELDS - {"sharpening"}  # by the masks of the leaves


def _parameters(detector: EdgeDetector | TwoLevelDetector) -> dict[str, Any]:
    return {k: v for k, v in detector.get_params(deep=False).items() if k not in _IGNORED_PARAMETERS}


def _checksum(content: Any) -> str:
    return hashlib.sha256(
        json.dumps(content, sort_keys=True, default=lambda part: part.get_params()).encode()
    ).hexdigest()[:8]


def planned(
    collections: Sequence[PhotoCollection],
    methods: Iterable[str],
    seeds: Sequence[int],
    *,
    patches: int | None = None,
    scales: str = "single",
    quick_run: bool = False,
) -> list[Run]:
    """Plan all runs, with those of one forest together.

    Parameters
    ----------
    collections : sequence of PhotoCollection
        BSDS500, optionally followed by NYUD, on which few methods are trained, and on which those trained on either
        collection are scored.
    methods : iterable of str
    seeds : sequence of int
    patches : int or None, default=None
        Number of patches per tree; None: the default of EdgeDetector.
    scales : {"single", "two", "multi"}, default="single"
    quick_run : bool, default=False

    Returns
    -------
    list of Run

    Examples
    --------
    >>> from dsna_vision.datasets.boundaries import BoundarySet
    >>> bsds, nyud = (PhotoCollection(name, "val", *[BoundarySet([], [], [])] * 2) for name in ("BSDS500", "NYUD"))
    >>> runs = planned([bsds, nyud], ["SE", "SE+AH"], [0])
    >>> [(run.train.name, run.test.name, run.method) for run in runs]
    [('BSDS500', 'BSDS500', 'SE'), ('BSDS500', 'NYUD', 'SE'), ('NYUD', 'NYUD', 'SE'), ('BSDS500', 'BSDS500', 'SE+AH')]
    """
    main = collections[0]
    pairs = [
        (main, main),
        *((main, other) for other in collections[1:]),
        *((other, other) for other in collections[1:]),
    ]
    runs = [
        Run(
            train=train,
            test=test,
            method=method,
            detector=detector_of(method, seed, patches, quick_run),
            scales=METHODS[method].scales or scales,
            level=level_of(method, quick_run),
        )
        for method in methods
        for seed in seeds
        for train, test in pairs
        if test is main or method in CROSS_METHODS
    ]
    forests = list(dict.fromkeys(METHODS[run.method].forest for run in runs))
    return sorted(
        runs, key=lambda run: (seeds.index(run.seed), forests.index(METHODS[run.method].forest), run.train is not main)
    )
