"""Cross-fitting: a rescorer learns only from maps by first levels that were trained without the photo's block.

Photos are assigned to blocks.  For each block, a first level is trained on the other blocks and applied to the photos
of this one, so that its maps are as good as on new photos.  A rescorer for each block then learns from the candidates
of the other blocks, and draws lines in the photos of its own block for the next round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import distance_transform_edt
from sklearn.base import clone

from dsna import DSNAError
from dsna.extend.parallel import in_parallel

from .candidates import Candidates, find_candidates
from .description import describe
from .planes import View
from .rescorers.choices import Rescorer, fit_rescorers
from .rounds import Jury, Rounds, first_view

if TYPE_CHECKING:
    from ...datasets.boundaries import BoundarySet
    from ..detector import EdgeDetector

_MAX_DISTANCE = 3.0  # pixels from a boundary within which a candidate lies on it


@dataclass(frozen=True)
class Lessons:
    """Settings for training rescorers.

    Parameters
    ----------
    rescorer : str
        One of ``dsna_vision.edges.second_level.rescorers.choices.CHOICES``.
    n_rounds, n_blocks : int
    n_candidates : int
        Maximum number of candidates per photo that a rescorer learns from.
    n_trees : int
        Number of trees of a rescorer.
    scales : tuple of float
        Sizes at which the first level analyses photos.
    seed : int
    """

    rescorer: str
    n_rounds: int
    n_blocks: int
    n_candidates: int
    n_trees: int
    scales: tuple[float, ...]
    seed: int

    def generators(self, purpose: int, n: int) -> list[np.random.Generator]:
        """Create random number generators for n photos or blocks, different ones for each purpose."""
        seeds = np.random.SeedSequence([self.seed, purpose]).spawn(n)
        return [np.random.default_rng(seed) for seed in seeds]


def assign_blocks(n_photos: int, n_blocks: int) -> np.ndarray:
    """Assign photos to blocks in turn.

    Examples
    --------
    >>> assign_blocks(5, 2)
    array([0, 1, 0, 1, 0])
    """
    if n_photos < 2 * n_blocks:
        raise DSNAError(
            f"A second level of {n_blocks} blocks learns from at least {2 * n_blocks} photos, not {n_photos}; give "
            "more photos, or train an EdgeDetector."
        )
    return np.arange(n_photos) % n_blocks


def shares_drawn(boundaries: list[np.ndarray], candidates: Candidates) -> np.ndarray:
    """Share of the people who drew a boundary within three pixels of each candidate.

    Parameters
    ----------
    boundaries : list of bool arrays of shape (H, W)
    candidates : Candidates

    Returns
    -------
    array of shape (n,), float64

    Examples
    --------
    >>> import numpy as np
    >>> diagonal, nothing = np.eye(9, dtype=bool), np.zeros((9, 9), dtype=bool)
    >>> corner = Candidates(np.array([[0, 2], [0, 8]]), np.ones(2))
    >>> shares_drawn([diagonal, nothing], corner)
    array([0.5, 0. ])
    """
    y, x = candidates.pixels.T
    total = np.zeros(len(y))
    for boundary in boundaries:
        if boundary.any():
            total += distance_transform_edt(~boundary)[y, x] <= _MAX_DISTANCE
    return total / len(boundaries)


def out_of_block_views(
    photos: BoundarySet, template: EdgeDetector, lessons: Lessons, log: Callable[[str], None]
) -> list[View]:
    """Views of photos by first levels that were trained without the photo's block.

    Parameters
    ----------
    photos : BoundarySet
    template : EdgeDetector
        Not fitted; for each block, a copy of it is trained on the photos of all other blocks.
    lessons : Lessons
    log : callable
        Called with progress messages.

    Returns
    -------
    list of View
    """
    block = assign_blocks(len(photos), lessons.n_blocks)
    views: dict[int, View] = {}
    for b in range(lessons.n_blocks):
        log(f"first level without block {b + 1} of {lessons.n_blocks}")
        first = level_without(b, photos, template, lessons)
        rows = np.flatnonzero(block == b).tolist()
        log(f"its maps of the {len(rows)} photos of the block")
        tasks = [(photos, row, np.array(lessons.scales), first) for row in rows]
        unit = "photos" * bool(template.verbose)
        views.update(zip(rows, in_parallel(_first_view, tasks, template.n_jobs, unit), strict=True))
    return [views[row] for row in range(len(photos))]


def level_without(b: int, photos: BoundarySet, template: EdgeDetector, lessons: Lessons) -> EdgeDetector:
    """Train a first level without the photos of one block.

    Parameters
    ----------
    b : int
        The block.
    photos, template, lessons
        See :func:`out_of_block_views`.

    Returns
    -------
    EdgeDetector
    """
    seed = int(lessons.generators(0, lessons.n_blocks)[b].integers(2**31))
    other_photos = np.flatnonzero(assign_blocks(len(photos), lessons.n_blocks) != b)
    first: EdgeDetector = clone(template).set_params(random_state=seed)
    return first.fit(photos.subset(other_photos.tolist()))


def _first_view(photos: BoundarySet, row: int, scales: np.ndarray, first: EdgeDetector) -> View:
    return first_view(photos.image(row), scales, first.forest_, first.pool_, first.voting("dsna"))


def learn_rounds(
    photos: BoundarySet,
    views: list[View],
    lessons: Lessons,
    log: Callable[[str], None],
    n_jobs: int | None = None,
) -> Rounds:
    """Train the rescorers round by round.

    Parameters
    ----------
    photos : BoundarySet
    views : list of View
        Result of :func:`out_of_block_views`.
    lessons : Lessons
    log : callable
        Called with progress messages.
    n_jobs : int or None

    Returns
    -------
    Rounds
    """
    block = assign_blocks(len(views), lessons.n_blocks)
    rescorers: list[Rescorer] = []
    for round_number in range(lessons.n_rounds):
        log(f"round {round_number + 1} of {lessons.n_rounds}: candidates of {len(views)} photos")
        draws = lessons.generators(2 * round_number + 1, len(views))
        tasks = [(photos, row, view, lessons.n_candidates, draws[row]) for row, view in enumerate(views)]
        rows, shares = zip(*in_parallel(_training_rows, tasks, n_jobs), strict=True)
        n_rows = sum(map(len, shares))
        log(f"round {round_number + 1} of {lessons.n_rounds}: {lessons.n_blocks} rescorers of {n_rows} rows")
        seeds = [int(rng.integers(2**31)) for rng in lessons.generators(2 * round_number + 2, lessons.n_blocks)]
        others = [np.flatnonzero(block != b) for b in range(lessons.n_blocks)]
        blocks = [(rows, shares, photo_rows, lessons, seed) for photo_rows, seed in zip(others, seeds, strict=True)]
        fitted = in_parallel(_fit_block, blocks, n_jobs)
        rescorers += [rescorer for block_rescorers in fitted for rescorer in block_rescorers]
        if round_number + 1 < lessons.n_rounds:
            views = in_parallel(_next_view, [(view, fitted[b]) for view, b in zip(views, block, strict=True)], n_jobs)
    return Rounds(scales=np.array(lessons.scales, dtype=np.float64), rescorers=rescorers, n_rounds=lessons.n_rounds)


def _training_rows(
    photos: BoundarySet, row: int, view: View, max_candidates: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Descriptions of candidates of a photo, and shares of the people who drew them."""
    candidates = find_candidates(view.edges)
    if len(candidates) > max_candidates:
        candidates = candidates[np.sort(rng.choice(len(candidates), max_candidates, replace=False))]
    return describe(view, candidates, lambda rows: rows), shares_drawn(photos.boundaries(row), candidates)


def _fit_block(
    rows: tuple[np.ndarray, ...], shares: tuple[np.ndarray, ...], photo_rows: np.ndarray, lessons: Lessons, seed: int
) -> list[Rescorer]:
    """Fit rescorers to the candidates of the given photos."""
    X, share = np.concatenate([rows[k] for k in photo_rows]), np.concatenate([shares[k] for k in photo_rows])
    if not share.size or share.max() == 0:
        raise DSNAError(
            "The first level finds no edge that people drew in the photos, so the second level cannot learn; give more "
            "photos or patches, or check that photos and ground truth belong together."
        )
    return fit_rescorers(lessons.rescorer, X, share, lessons.n_trees, seed)


def _next_view(view: View, rescorers: list[Rescorer]) -> View:
    """View for the next round, with lines by rescorers that were trained without the photo."""
    candidates = find_candidates(view.edges)
    return view.with_lines(candidates.on_map(describe(view, candidates, Jury(rescorers)), view.edges.shape))
