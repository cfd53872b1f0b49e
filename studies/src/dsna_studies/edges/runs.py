"""What is run: a method of one seed, learned on one collection and scored on one."""

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
from .collections import Collection
from .methods import CROSS_METHODS, METHODS, detector_of, level_of

#: Scores of the runs.
LAYOUT = Layout(
    key=("train", "test", "scales", "settings", "seed", "method"),
    texts=("trees", "patches"),
    values=("ods", "ois", "ap", "r50", "seconds_a_photo", "photos"),
    whole=("seed",),
)
_ANSWERING = {one.name for one in fields(Voting)}  # what a fitted forest can still be asked for
_NO_MATTER = {"n_jobs", "verbose", "random_state"}


@dataclass(frozen=True)
class Run:
    """One method of one seed.

    Parameters
    ----------
    train, test : Collection
        Where it learns, and where it is scored.
    method : str
        One of ``METHODS``.
    detector : EdgeDetector
        Not fitted; its ``random_state`` is the seed.
    scales : {"single", "two", "multi"}
    level : TwoLevelDetector or None, default=None
        The second level, not fitted and without a first; None: the detector's own maps count.

    Examples
    --------
    >>> from dsna_vision.datasets.boundaries import BoundarySet
    >>> photos = Collection("BSDS500", "val", BoundarySet(["a"], [], []), BoundarySet(["b"], [], []))
    >>> run = Run(photos, photos, "SE", detector_of("SE", seed=2), "single")
    >>> run.name[:23], run.model[:20]
    ('BSDS500-BSDS500-val/SE-', 'BSDS500-SE-2-8x10000')
    """

    train: Collection
    test: Collection
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
        """What the forest is asked for."""
        return METHODS[self.method].answer

    @cached_property
    def settings(self) -> str:
        """Stands for all settings but the seed, and for the photos."""
        asked = {name: value for name, value in self._parameters.items() if self.answer != "se" or name not in _UNUSED}
        told = [self._learned, asked, self.answer, self.scales, self.test.max_distance, self.test.test.names]
        if self.level is None:
            return _checksum(told)
        return _checksum([*told, _parameters(self.level)])

    @property
    def name(self) -> str:
        """Of folders and files that belong to this run alone."""
        return f"{self.train.name}-{self.test.name}-{self.test.split}/{self.method}-{self.seed}-{self.settings}"

    @property
    def model(self) -> str:
        """Of the file that keeps the forest, which runs may share."""
        forest, trees = METHODS[self.method].forest, f"{self.detector.n_estimators}x{self.detector.n_patches}"
        return f"{self.train.name}-{forest}-{self.seed}-{trees}-{_checksum(self._learned)}.dsna"

    def model_without(self, b: int) -> str:
        """Of the file that keeps a first level that knows no photo of one block."""
        blocks = 0 if self.level is None else self.level.n_blocks
        return f"{self.model.removesuffix('.dsna')}-without-{b + 1}-of-{blocks}.dsna"

    @property
    def two_levels(self) -> str:
        """Of the file that keeps both levels."""
        return f"{self.train.name}-{self.method}-{self.seed}-{self.settings}.dsna"

    @property
    def key(self) -> tuple[Any, ...]:
        """What its scores are stored under, in the order of the layout."""
        test = f"{self.test.name} {self.test.split}"
        return self.train.name, test, self.scales, self.settings, self.seed, self.method

    def of_seed(self, seed: int) -> Run:
        """The same with another seed."""
        parameters = self.detector.get_params(deep=False) | {"random_state": int(seed)}
        return replace(self, detector=EdgeDetector(**parameters))

    @property
    def _parameters(self) -> dict[str, Any]:
        return _parameters(self.detector)

    @property
    def _learned(self) -> list[Any]:
        return [{k: v for k, v in self._parameters.items() if k not in _ANSWERING}, self.train.train.names]


_UNUSED = _ANSWERING - {"sharpening"}  # by the leaves' own masks


def _parameters(detector: EdgeDetector | TwoLevelDetector) -> dict[str, Any]:
    return {k: v for k, v in detector.get_params(deep=False).items() if k not in _NO_MATTER}


def _checksum(content: Any) -> str:
    return hashlib.sha256(
        json.dumps(content, sort_keys=True, default=lambda part: part.get_params()).encode()
    ).hexdigest()[:8]


def planned(
    collections: Sequence[Collection],
    methods: Iterable[str],
    seeds: Sequence[int],
    *,
    patches: int | None = None,
    scales: str = "single",
    quick: bool = False,
) -> list[Run]:
    """All runs, those of one forest together.

    Parameters
    ----------
    collections : sequence of Collection
        BSDS500; with NYUD after it, also that learned there, and both scored there, by few methods.
    methods : iterable of str
    seeds : sequence of int
    patches : int or None, default=None
        Patches of each tree; None: as EdgeDetector has it.
    scales : {"single", "two", "multi"}, default="single"
    quick : bool, default=False

    Returns
    -------
    list of Run

    Examples
    --------
    >>> from dsna_vision.datasets.boundaries import BoundarySet
    >>> one, other = (Collection(name, "val", *[BoundarySet([], [], [])] * 2) for name in ("BSDS500", "NYUD"))
    >>> runs = planned([one, other], ["SE", "SE+AH"], [0])
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
            detector=detector_of(method, seed, patches, quick),
            scales=METHODS[method].scales or scales,
            level=level_of(method, quick),
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
