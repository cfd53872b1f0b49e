"""TwoLevelDetector: an EdgeDetector whose edges are scored anew, each in the frame of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from dsna import DSNAError
from dsna.extend.containers import Attributes, Part, require
from dsna.extend.parameters import JOBS, CheckedEstimator, at_least, check_nested, is_number

from ...photos import as_photo
from ..detector import EdgeDetector
from .cross_fitting import Lessons, dealt, honest_views, learn_rounds
from .rescorers.choices import CHOICES, check_trainable
from .rounds import LARGEST_SCALE, MOST_ROUNDS, SMALLEST_SCALE, first_view

if TYPE_CHECKING:
    from ...datasets.boundaries import BoundarySet

_SHIPPED = Path(__file__).parents[1] / "bsds500.dsna"


def _check_rounds(model: Any) -> None:
    """Whether the second level has learned from maps such as the first one makes."""
    matching = model.rounds_.with_pool == (model.pool_ is not None)
    require(matching, "rounds_ has learned from a first level with other maps than this one")


class TwoLevelDetector(CheckedEstimator):
    """Finds edges in two levels: candidates by an :class:`EdgeDetector`, which are then scored anew.

    The maps of the first level, at several sizes, are averaged and thinned.  What stays are candidates.  Each is
    described in the frame of its own edge, along and across, by maps, gradients, texture and colours up to 32 pixels
    away, and a rescorer says how many people would draw it.  A second round also sees the lines of the first, nearby,
    and what they divide the whole photo into.

    Parameters
    ----------
    first_level : EdgeDetector or None, default=None
        The first level; None: ``EdgeDetector()``.  Its ``n_jobs`` and ``verbose`` are those given here.
    rescorer : {"boosted+perceptrons", "boosted", "perceptrons"}, default="boosted+perceptrons"
        The mean of boosted trees, which LightGBM trains (``pip install dsna-vision[train]``), and small perceptrons; or
        one of the two.
    scales : sequence of float, default=(1.0, 0.5)
        Sizes at which the first level looks at photos.
    n_rounds : int, default=2
        The map is the mean of all rounds.
    n_blocks : int, default=2
        Blocks of photos: rescorers learn from maps by first levels that know no photo of the same block.  Training
        takes one first level and one rescorer a round for each block; detection averages the rescorers.
    n_candidates : int, default=4000
        Candidates of each photo that rescorers learn from, at most.
    n_estimators : int, default=100
        Trees of a rescorer.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
    verbose : bool, default=False
        Whether to say what is being done.

    Attributes
    ----------
    forest_ : StructuredForest
        Of the first level.
    pool_ : PatchPool or None
        Of the first level.
    rounds_ : Rounds
        The second level.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import numpy as np
    >>> from PIL import Image
    >>> from dsna_vision.datasets import load_boundaries
    >>> from dsna_vision.edges import EdgeDetector, TwoLevelDetector
    >>> folders = mkdtemp(), mkdtemp()
    >>> for k in range(4):
    ...     photo = np.full((64, 64, 3), 60, dtype=np.uint8)
    ...     photo[:, 24 + 4 * k :] = 200
    ...     truth = np.zeros((64, 64), dtype=np.uint8)
    ...     truth[:, 23 + 4 * k] = 255
    ...     for folder, picture in zip(folders, (photo, truth)):
    ...         Image.fromarray(picture).save(f"{folder}/wall{k}.png")
    >>> first = EdgeDetector(n_estimators=2, n_patches=400, n_pool=0)
    >>> detector = TwoLevelDetector(first, n_estimators=10, random_state=0).fit(load_boundaries(*folders))
    >>> edges = detector.detect(photo)
    >>> edges.shape, int(edges[32].argmax()) in (35, 36)
    ((64, 64), True)
    """

    _parameter_constraints: dict[str, Any] = {
        "first_level": [EdgeDetector, None],
        "rescorer": [StrOptions(set(CHOICES))],
        "scales": ["array-like"],
        "n_rounds": [at_least(1, MOST_ROUNDS)],
        "n_blocks": [at_least(2)],
        "n_candidates": [at_least(1)],
        "n_estimators": [at_least(1)],
        "random_state": ["random_state"],
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }
    FITTED = Attributes({**EdgeDetector.FITTED.needed, "rounds_": Part("Rounds")}, check_relations=_check_rounds)

    def __init__(
        self,
        first_level: EdgeDetector | None = None,
        rescorer: str = "boosted+perceptrons",
        *,
        scales: Sequence[float] = (1.0, 0.5),
        n_rounds: int = 2,
        n_blocks: int = 2,
        n_candidates: int = 4000,
        n_estimators: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.first_level = first_level
        self.rescorer = rescorer
        self.scales = scales
        self.n_rounds = n_rounds
        self.n_blocks = n_blocks
        self.n_candidates = n_candidates
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, photos: BoundarySet, y: None = None) -> TwoLevelDetector:
        """Learn both levels from photos in which people drew boundaries.

        Parameters
        ----------
        photos : BoundarySet
            As ``dsna_vision.datasets.load_bsds500``, ``load_nyud`` or ``load_boundaries`` reads it.
        y : None
            Not used.

        Returns
        -------
        self
        """
        self.check_parameters()
        if not hasattr(photos, "segmentations"):
            raise TypeError(f"fit takes photos with boundaries, as EdgeDetector.fit, not a {type(photos).__name__}.")
        dealt(len(photos), self.n_blocks)
        check_trainable(self.rescorer)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        lessons = self.lessons(int(seeds[0]))
        template = self._first().set_params(n_jobs=self.n_jobs, verbose=self.verbose)
        views = honest_views(photos, template, lessons, self._say)
        rounds = learn_rounds(photos, views, lessons, self._say, self.n_jobs)
        self._say("first level of all photos")
        first = clone(template).set_params(random_state=int(seeds[1])).fit(photos)
        self.forest_ = first.forest_
        self.pool_ = first.pool_
        self.rounds_ = rounds
        return self

    def detect(self, photo: ArrayLike) -> np.ndarray:
        """Thin edge map of a photo.

        For a soft map, or another method or size, ask the ``first_level_``.

        Parameters
        ----------
        photo : array of shape (H, W), (H, W, 3) or (H, W, 4)
            Bytes, 16 bits, or floats from 0 to 1; any size.

        Returns
        -------
        edges : array of shape (H, W), float32
            From 0 to 1: the share of people who would draw an edge there.
        """
        first, rounds = self.first_level_, self.rounds_
        colours, voting = as_photo(photo), first.voting("dsna")
        view = first_view(colours, rounds.scales, first.forest_, first.pool_, voting, self.n_jobs)
        return rounds.lines(view, self.n_jobs)

    def lessons(self, seed: int) -> Lessons:
        """How the rescorers learn, by the parameters."""
        return Lessons(
            rescorer=self.rescorer,
            n_rounds=int(self.n_rounds),
            n_blocks=int(self.n_blocks),
            n_candidates=int(self.n_candidates),
            n_trees=int(self.n_estimators),
            scales=tuple(float(scale) for scale in self.scales),
            seed=seed,
        )

    @property
    def first_level_(self) -> EdgeDetector:
        """The first level, fitted."""
        check_is_fitted(self, "rounds_")
        first = self._first().set_params(n_jobs=self.n_jobs)
        first.forest_, first.pool_ = self.forest_, self.pool_
        return first

    def check_parameters(self) -> None:
        """Refuse parameter values that are out of range, those of the first level included."""
        self._validate_params()
        self._first().check_parameters()
        sizes = list(self.scales)
        if not sizes or not all(is_number(size) and SMALLEST_SCALE <= size <= LARGEST_SCALE for size in sizes):
            raise DSNAError(
                f"scales={self.scales!r} must be numbers from {SMALLEST_SCALE} to {LARGEST_SCALE}, such as (1, 0.5)."
            )

    def set_params(self, **params: Any) -> TwoLevelDetector:
        """Set parameters of this detector and of its first level.

        Parameters
        ----------
        **params : dict
            ``n_rounds=...``, ``first_level__n_patches=...`` and so on; nested names need a ``first_level``.

        Returns
        -------
        self
        """
        check_nested(self, params, {"first_level": "EdgeDetector()"})
        super().set_params(**params)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the detector to a file of arrays and plain values, as :func:`dsna.save` does."""
        from dsna import save

        save(self, path)

    def _first(self) -> EdgeDetector:
        """A fresh first level, not fitted."""
        return EdgeDetector() if self.first_level is None else clone(self.first_level)

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"dsna edges: {text}", file=sys.stderr, flush=True)


def load_detector(path: str | os.PathLike[str]) -> EdgeDetector | TwoLevelDetector:
    """Read a detector that :meth:`EdgeDetector.save` or :meth:`TwoLevelDetector.save` wrote.

    Raises
    ------
    ModelFileError
        The file is foreign, damaged, from another version, or holds another kind of model.
    """
    from dsna import ModelFileError, load

    detector = load(path)
    if not isinstance(detector, EdgeDetector | TwoLevelDetector):
        kind = type(detector).__name__
        raise ModelFileError(
            f"{os.fspath(path)} holds a {kind}, not an EdgeDetector or TwoLevelDetector: use dsna.load."
        )
    return detector


@overload
def pretrained(levels: Literal[1]) -> EdgeDetector: ...


@overload
def pretrained(levels: Literal[2] = 2) -> TwoLevelDetector: ...


def pretrained(levels: int = 2) -> EdgeDetector | TwoLevelDetector:
    """A detector that ships with the package, trained on the training photos of BSDS500.

    Parameters
    ----------
    levels : {1, 2}, default=2
        2: the better lines.  1: its first level alone, quicker, for soft maps, other sizes and methods, and to explain
        edges by training patches.

    Returns
    -------
    TwoLevelDetector or EdgeDetector

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.edges import pretrained
    >>> photo = np.full((64, 64, 3), 40, dtype=np.uint8)
    >>> photo[:, 32:] = (220, 180, 60)
    >>> edges = pretrained().detect(photo)
    >>> int(edges[32].argmax()) in (31, 32)
    True
    """
    from dsna import load

    if levels not in (1, 2):
        raise DSNAError(f"levels={levels!r}: the detector that ships with the package has 2 levels, of which 1 can do.")
    shipped: TwoLevelDetector = load(_SHIPPED)
    return shipped if levels == 2 else shipped.first_level_
