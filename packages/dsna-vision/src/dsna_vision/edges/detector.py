"""EdgeDetector: a structured forest combined with DSNA on the patches in its leaves."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from dsna import Approximation, DSNAError
from dsna.extend.containers import Attributes, Part
from dsna.extend.parallel import in_parallel, one_blas_thread
from dsna.extend.parameters import JOBS, SHARE, CheckedEstimator, at_least, check_nested, is_number

from ..photos import as_photo
from ..wording import number_of
from .detection import METHODS, as_share, first_maps, leaf_map
from .explanation.edge import ExplainedEdge, check_inside, explain_edge, find_edge_near
from .forest import StructuredForest, grow_forest, learning_photos
from .pool import Voting, default_approximation, fill_pool
from .sampling import AnnotatedPhotos
from .suppression import suppress as thin_edges

if TYPE_CHECKING:
    from ..datasets.boundaries import BoundarySet

_MAX_DEPTH = 64
_MAX_PASSES = 100


class EdgeDetector(CheckedEstimator):
    """Detect edges in photos that people would draw as boundaries.

    Patches of the photo are passed through a forest whose leaves are small segmentations (Dollar and Zitnick, 2015).
    Each patch is then approximated by a few of the training patches in its leaves, and votes for their outlines with
    the coefficients as weights.

    Parameters
    ----------
    n_estimators : int, default=8
        Number of trees; every position uses half of them.
    n_patches : int, default=100_000
        Number of training patches per tree.
    max_features : int, default=43
        Number of features considered at each node, out of the random quarter that a tree uses.
    min_samples_leaf : int, default=8
    n_pool : int, default=50_000
        Number of patches drawn to be stored in the leaves; with 0, only the method "se" is available.  Four times as
        many are used to learn the embedding in which patches are compared.
    leaf_pool : int, default=32
        Maximum number of patches stored in a leaf.
    n_dims : int, default=32
        Number of dimensions of the embedding in which patches are compared.
    max_neighbors : int, default=100
        Maximum number of patches that approximate a query.
    approximation : dsna.Approximation or None, default=None
        Settings of the approximation of a patch by its neighbours, whose outlines are the targets. None: those of
        :func:`dsna_vision.edges.default_approximation`, ``Approximation(lam=0.01, gamma=0.03, ridge=1.0, max_iter=0)``.
    blend : float, default=1.0
        Share of the neighbours in the votes; the masks of the leaves have the rest.
    sharpening : int, default=2
        Number of passes that move outlines to colour changes.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
    verbose : bool, default=False
        Whether to report progress.

    Attributes
    ----------
    forest_ : StructuredForest
    pool_ : PatchPool or None

    Examples
    --------
    >>> import numpy as np
    >>> from dsna_vision.datasets import load_boundaries
    >>> from dsna_vision.edges import EdgeDetector
    >>> photo = np.full((96, 96, 3), 60, dtype=np.uint8)
    >>> photo[:, 48:] = 200
    >>> truth = np.zeros((96, 96), dtype=np.uint8)
    >>> truth[:, 47] = 255
    >>> from tempfile import mkdtemp
    >>> from PIL import Image
    >>> folders = mkdtemp(), mkdtemp()
    >>> for folder, picture in zip(folders, (photo, truth)):
    ...     Image.fromarray(picture).save(f"{folder}/wall.png")
    >>> wall = load_boundaries(*folders)
    >>> detector = EdgeDetector(n_estimators=2, n_patches=400, n_pool=400, random_state=0).fit(wall)
    >>> edges = detector.detect(photo)
    >>> edges.shape, int(edges[48].argmax()) in (47, 48)
    ((96, 96), True)
    """

    _parameter_constraints: dict[str, Any] = {
        "n_estimators": [at_least(1)],
        "n_patches": [at_least(2)],
        "max_features": [at_least(1)],
        "min_samples_leaf": [at_least(1)],
        "n_pool": [at_least(0)],
        "leaf_pool": [at_least(1)],
        "n_dims": [at_least(1)],
        "max_neighbors": [at_least(1)],
        "approximation": [Approximation, None],
        "blend": [SHARE],
        "sharpening": [at_least(0, _MAX_PASSES)],
        "random_state": ["random_state"],
        "n_jobs": JOBS,
        "verbose": ["verbose"],
    }
    FITTED = Attributes(
        {"forest_": Part("StructuredForest", "leaves"), "pool_": Part("PatchPool", "leaves", none=True)}
    )

    def __init__(
        self,
        n_estimators: int = 8,
        n_patches: int = 100_000,
        max_features: int = 43,
        min_samples_leaf: int = 8,
        n_pool: int = 50_000,
        leaf_pool: int = 32,
        n_dims: int = 32,
        max_neighbors: int = 100,
        approximation: Approximation | None = None,
        blend: float = 1.0,
        sharpening: int = 2,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.n_patches = n_patches
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.n_pool = n_pool
        self.leaf_pool = leaf_pool
        self.n_dims = n_dims
        self.max_neighbors = max_neighbors
        self.approximation = approximation
        self.blend = blend
        self.sharpening = sharpening
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, photos: BoundarySet, y: None = None) -> EdgeDetector:
        """Learn from photos in which people drew boundaries.

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
        from .._kernels.structured import StructuredGrowth

        self.check_parameters()
        if not hasattr(photos, "segmentations"):
            raise TypeError(
                "fit takes photos with boundaries, as load_bsds500 or load_boundaries reads them, "
                f"not a {type(photos).__name__}."
            )
        if not len(photos):
            raise DSNAError("There are no photos to learn from; give some that have ground truth.")
        rng = check_random_state(self.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=2)
        self._log(f"channels of {number_of(len(photos), 'photo')}")
        annotated = AnnotatedPhotos.of(photos, self.n_jobs, bool(self.verbose))
        growth = StructuredGrowth(
            n_tried=int(self.max_features),
            min_leaf=int(self.min_samples_leaf),
            max_depth=_MAX_DEPTH,
        )
        self._log(f"{number_of(self.n_estimators, 'tree')} of {self.n_patches} patches")
        photo_mask = learning_photos(self.n_estimators, len(photos), all_photos=not self.n_pool)
        unit = "trees" * bool(self.verbose)
        forest = grow_forest(annotated, self.n_patches, growth, int(seeds[0]), photo_mask, self.n_jobs, unit)
        pool = None
        if self.n_pool:
            self._log("maps of the photos by trees that have not seen them")
            maps = self._out_of_sample_maps(annotated, forest, photo_mask)
            self._log(f"{self.n_pool} patches to store in the leaves")
            draws = np.random.default_rng(int(seeds[1]))
            with one_blas_thread():
                pool = fill_pool(annotated, forest, maps, self.n_pool, self.n_dims, self.leaf_pool, draws)
        self.forest_ = forest
        self.pool_ = pool
        return self

    def detect(
        self, photo: ArrayLike, scales: float | Sequence[float] = (1.0,), method: str = "dsna", suppress: bool = True
    ) -> np.ndarray:
        """Compute the edge map of a photo.

        Parameters
        ----------
        photo : array of shape (H, W), (H, W, 3) or (H, W, 4)
            Bytes, 16 bits, or floats from 0 to 1; any size.
        scales : float or sequence of float, default=(1.0,)
            Sizes at which the photo is analysed; ``(0.5, 1)`` finds slightly more edges and takes 40 % longer.
        method : {"dsna", "se", "kernel", "hull"}, default="dsna"
            Sparse approximation by the patches in the leaves; the masks of the leaves only; patches weighted by
            distance; patches weighted by an affine hull.
        suppress : bool, default=True
            Whether edges are thinned to lines.

        Returns
        -------
        edges : array of shape (H, W), float32
            From 0 to 1.
        """
        check_is_fitted(self, "forest_")
        self.check_parameters()
        if method not in METHODS:
            raise DSNAError(f"method={method!r} is unknown: use one of {', '.join(METHODS)}.")
        if method != "se" and self.pool_ is None:
            raise DSNAError(
                f'This detector stores no patches; use method="se", or train one with n_pool > 0 for {method!r}.'
            )
        sizes = list(np.atleast_1d(scales))
        if not sizes or not all(is_number(size) and 0 < size < np.inf for size in sizes):
            raise DSNAError(f"scales={scales!r} must be positive numbers, such as (0.5, 1, 2).")
        colours = as_photo(photo)
        voting = self.voting(method)
        edges = np.zeros(colours.shape[:2], dtype=np.float32)
        for size in sizes:
            edges += first_maps(colours, float(size), self.forest_, self.pool_, voting, self.n_jobs)[-1] / len(sizes)
        edges = as_share(edges)
        return thin_edges(edges) if suppress else edges

    def explain(
        self, photo: ArrayLike, place: tuple[int, int], n: int = 8, lines: np.ndarray | None = None
    ) -> ExplainedEdge:
        """Explain an edge by the training patches that contributed to it.

        The edge at ``place``, or the strongest within three pixels of it, is explained by the training patches whose
        outlines pass there and received votes at the photo's own size.

        Parameters
        ----------
        photo : array
            See :meth:`detect`.
        place : (int, int)
            Row and column.
        n : int, default=8
            Maximum number of patches to return.
        lines : array of shape (H, W) or None, default=None
            Thin map in which to look for the edge, such as that of a :class:`TwoLevelDetector`; None uses ``detect``.

        Returns
        -------
        ExplainedEdge
            Each of its ``patches`` has ``outline``, ``share``, ``photo`` and ``centre``.
        """
        colours = as_photo(photo)
        check_inside(place, colours.shape)
        soft = self.detect(colours, suppress=False)
        pixel = find_edge_near(thin_edges(soft) if lines is None else lines, place)
        pool: Any = self.pool_  # not None: detect has checked it
        level = (self.forest_, pool, self.voting("dsna"))
        return explain_edge(colours, pixel, float(soft[pixel]), level, n, self.n_jobs)

    def voting(self, method: str) -> Voting:
        """Voting settings of a method."""
        approximation = default_approximation() if self.approximation is None else clone(self.approximation)
        return Voting(
            method=method,
            approximation=approximation,
            blend=self.blend,
            max_neighbors=self.max_neighbors,
            sharpening=self.sharpening,
        )

    def check_parameters(self) -> None:
        """Validate parameter values, including those of the approximation."""
        self._validate_params()
        if self.approximation is not None:
            self.approximation.check()

    def set_params(self, **params: Any) -> EdgeDetector:
        """Set parameters of this detector and of its approximation.

        Parameters that only ``detect`` uses (``approximation``, ``blend``, ``max_neighbors``, ``sharpening``) take
        effect on a fitted detector immediately; the others take effect at the next ``fit``.

        Parameters
        ----------
        **params : dict
            Parameters such as ``blend`` or ``approximation__lam``; nested names need an ``approximation``.

        Returns
        -------
        self
        """
        check_nested(self, params, {"approximation": "default_approximation()"})
        super().set_params(**params)
        return self

    def _out_of_sample_maps(
        self, photos: AnnotatedPhotos, forest: StructuredForest, photo_mask: np.ndarray
    ) -> list[np.ndarray]:
        """Maps of the training photos, each by the trees that have not seen it, or by all trees if there are none."""
        tasks = [
            (photo, channels, forest, np.flatnonzero(~learned).tolist(), self.sharpening)
            for photo, channels, learned in zip(photos.photos, photos.channels, photo_mask.T, strict=True)
        ]
        return in_parallel(leaf_map, tasks, self.n_jobs, "photos" * bool(self.verbose))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the detector to a file of arrays and plain values, as :func:`dsna.save` does."""
        from dsna import save

        save(self, path)

    def _log(self, text: str) -> None:
        if self.verbose:
            print(f"dsna edges: {text}", file=sys.stderr, flush=True)
