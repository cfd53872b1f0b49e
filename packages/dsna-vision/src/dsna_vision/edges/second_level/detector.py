"""TwoLevelDetector: an EdgeDetector whose edges are rescored, each in its own frame."""

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
from .cross_fitting import Lessons, assign_blocks, learn_rounds, out_of_block_views
from .rescorers.choices import CHOICES, check_trainable
from .rounds import LARGEST_SCALE, MAX_ROUNDS, SMALLEST_SCALE, first_view

if TYPE_CHECKING:
    from ...datasets.boundaries import BoundarySet

_SHIPPED = Path(__file__).parents[1] / "bsds500.dsna"


def _check_rounds_match_pool(model: Any) -> None:
    """Check that the second level was trained on the kind of maps that the first level makes."""
    matching = model.rounds_.with_pool == (model.pool_ is not None)
    require(matching, "rounds_ was trained on other maps than this first level makes")


class TwoLevelDetector(CheckedEstimator):
    """Detect edges in two levels: an :class:`EdgeDetector` finds candidates, which are then rescored.

    The maps of the first level, at several sizes, are averaged and thinned.  The remaining pixels are candidates.  Each
    is described in the frame of its own edge, along and across, by maps, gradients, texture and colours up to 32 pixels
    away, and a rescorer predicts the share of people who would draw it.  A second round also uses nearby lines of the
    first round and the regions into which they divide the photo.

    Parameters
    ----------
    first_level : EdgeDetector or None, default=None
        The first level; None means ``EdgeDetector()``.  Its ``n_jobs`` and ``verbose`` are overridden by those below.
    rescorer : {"boosted+perceptrons", "boosted", "perceptrons"}, default="boosted+perceptrons"
        Boosted trees, trained by LightGBM (``pip install dsna-vision[train]``), small perceptrons, or the mean of both.
    scales : sequence of float, default=(1.0, 0.5)
        Sizes at which the first level analyses photos.
    n_rounds : int, default=2
        Number of rounds; the map is their mean.
    n_blocks : int, default=2
        Number of blocks of photos: rescorers learn from maps by first levels trained without the photo's block.
        Training fits one first level for each block, and one rescorer for each block and round; detection averages the
        rescorers.
    n_candidates : int, default=4000
        Maximum number of candidates per photo that rescorers learn from.
    n_estimators : int, default=100
        Number of trees of a rescorer.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
    verbose : bool, default=False
        Whether to report progress.

    Attributes
    ----------
    forest_ : StructuredForest
        Forest of the first level.
    pool_ : PatchPool or None
        Patches of the first level.
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
        "n_rounds": [at_least(1, MAX_ROUNDS)],
        "n_blocks": [at_least(2)],
        "n_candidates": [at_least(1)],
        "n_estimators": [at_least(1)],
        "random_state": ["random_state"],
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }
    FITTED = Attributes(
        {**EdgeDetector.FITTED.needed, "rounds_": Part("Rounds")}, check_relations=_check_rounds_match_pool
    )

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
            Photos read by ``dsna_vision.datasets.load_bsds500``, ``load_nyud`` or ``load_boundaries``.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self.check_parameters()
        if not hasattr(photos, "segmentations"):
            raise TypeError(f"fit takes photos with boundaries, as EdgeDetector.fit, not a {type(photos).__name__}.")
        assign_blocks(len(photos), self.n_blocks)
        check_trainable(self.rescorer)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=2)
        lessons = self.lessons(int(seeds[0]))
        template = self._new_first_level().set_params(n_jobs=self.n_jobs, verbose=self.verbose)
        views = out_of_block_views(photos, template, lessons, self._log)
        rounds = learn_rounds(photos, views, lessons, self._log, self.n_jobs)
        self._log("first level of all photos")
        first_level = clone(template).set_params(random_state=int(seeds[1])).fit(photos)
        self.forest_ = first_level.forest_
        self.pool_ = first_level.pool_
        self.rounds_ = rounds
        return self

    def detect(self, photo: ArrayLike) -> np.ndarray:
        """Compute the thin edge map of a photo.

        For a soft map, or another method or size, use ``first_level_``.

        Parameters
        ----------
        photo : array of shape (H, W), (H, W, 3) or (H, W, 4)
            Bytes, 16 bits, or floats from 0 to 1; any size.

        Returns
        -------
        edges : array of shape (H, W), float32
            From 0 to 1: the share of people who would draw an edge there.
        """
        first_level, rounds = self.first_level_, self.rounds_
        colours, voting = as_photo(photo), first_level.voting("dsna")
        view = first_view(colours, rounds.scales, first_level.forest_, first_level.pool_, voting, self.n_jobs)
        return rounds.lines(view, self.n_jobs)

    def lessons(self, seed: int) -> Lessons:
        """Settings for training rescorers, from this detector's parameters."""
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
        first = self._new_first_level().set_params(n_jobs=self.n_jobs)
        first.forest_, first.pool_ = self.forest_, self.pool_
        return first

    def check_parameters(self) -> None:
        """Validate parameter values, including those of the first level."""
        self._validate_params()
        self._new_first_level().check_parameters()
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
            Parameters such as ``n_rounds`` or ``first_level__n_patches``; nested names need a ``first_level``.

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

    def _new_first_level(self) -> EdgeDetector:
        """Create a first level that is not fitted."""
        return EdgeDetector() if self.first_level is None else clone(self.first_level)

    def _log(self, text: str) -> None:
        if self.verbose:
            print(f"dsna edges: {text}", file=sys.stderr, flush=True)


def load_detector(path: str | os.PathLike[str]) -> EdgeDetector | TwoLevelDetector:
    """Read a detector written by :meth:`EdgeDetector.save` or :meth:`TwoLevelDetector.save`.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, is from another version, or holds another kind of model.
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
    """Load the detector that ships with the package, trained on the training photos of BSDS500.

    Parameters
    ----------
    levels : {1, 2}, default=2
        2: better lines.  1: the first level alone, which is faster and supports soft maps, other sizes and methods, and
        explanations of edges by training patches.

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
        raise DSNAError(f"levels={levels!r}: use 2 for the shipped detector, or 1 for its first level alone.")
    shipped: TwoLevelDetector = load(_SHIPPED)
    return shipped if levels == 2 else shipped.first_level_
