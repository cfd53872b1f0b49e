"""Cross-fitting: a rescorer learns only from maps by trees, patches and embeddings that omit the photo's block.

Photos are dealt to blocks.  A first level is trained without each block and maps the photos in it, so that its maps are
as good on them as on new photos.  A rescorer for each block then learns from the candidates of the others, and draws
lines in the photos of its own block for the next round.
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

_NEAR = 3.0  # pixels from a boundary within which a candidate lies on it


@dataclass(frozen=True)
class Lessons:
    """How rescorers learn.

    Parameters
    ----------
    rescorer : str
        One of ``dsna_vision.edges.second_level.rescorers.choices.CHOICES``.
    n_rounds, n_blocks : int
    n_candidates : int
        Candidates of each photo that a rescorer learns from, at most.
    n_trees : int
        Trees of a rescorer.
    scales : tuple of float
        Sizes at which the first level looks at photos.
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
        """Generators of random numbers for n photos or blocks, others for each purpose."""
        seeds = np.random.SeedSequence([self.seed, purpose]).spawn(n)
        return [np.random.default_rng(one) for one in seeds]


def dealt(n_photos: int, n_blocks: int) -> np.ndarray:
    """Block of each photo, in turn.

    Examples
    --------
    >>> dealt(5, 2)
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
    >>> one, nothing = np.eye(9, dtype=bool), np.zeros((9, 9), dtype=bool)
    >>> corner = Candidates(np.array([[0, 2], [0, 8]]), np.ones(2))
    >>> shares_drawn([one, nothing], corner)
    array([0.5, 0. ])
    """
    y, x = candidates.places.T
    total = np.zeros(len(y))
    for drawn in boundaries:
        if drawn.any():
            total += distance_transform_edt(~drawn)[y, x] <= _NEAR
    return total / len(boundaries)


def honest_views(
    photos: BoundarySet, template: EdgeDetector, lessons: Lessons, say: Callable[[str], None]
) -> list[View]:
    """Photos as first levels see them that know no photo of their block.

    Parameters
    ----------
    photos : BoundarySet
    template : EdgeDetector
        Not fitted; a copy of it learns for each block from the photos of all others.
    lessons : Lessons
    say : callable
        Called with what is being done.

    Returns
    -------
    list of View
    """
    block = dealt(len(photos), lessons.n_blocks)
    views: dict[int, View] = {}
    for b in range(lessons.n_blocks):
        say(f"first level without block {b + 1} of {lessons.n_blocks}")
        first = level_without(b, photos, template, lessons)
        rows = np.flatnonzero(block == b).tolist()
        say(f"its maps of {len(rows)} photos that it does not know")
        tasks = [(photos, row, np.array(lessons.scales), first) for row in rows]
        unit = "photos" * bool(template.verbose)
        views.update(zip(rows, in_parallel(_seen, tasks, template.n_jobs, unit), strict=True))
    return [views[row] for row in range(len(photos))]


def level_without(b: int, photos: BoundarySet, template: EdgeDetector, lessons: Lessons) -> EdgeDetector:
    """A first level that knows no photo of one block.

    Parameters
    ----------
    b : int
        The block.
    photos, template, lessons
        As :func:`honest_views` takes them.

    Returns
    -------
    EdgeDetector
    """
    seed = int(lessons.generators(0, lessons.n_blocks)[b].integers(2**31))
    others = np.flatnonzero(dealt(len(photos), lessons.n_blocks) != b)
    first: EdgeDetector = clone(template).set_params(random_state=seed)
    return first.fit(photos.subset(others.tolist()))


def _seen(photos: BoundarySet, row: int, scales: np.ndarray, first: EdgeDetector) -> View:
    return first_view(photos.image(row), scales, first.forest_, first.pool_, first.voting("dsna"))


def learn_rounds(
    photos: BoundarySet,
    views: list[View],
    lessons: Lessons,
    say: Callable[[str], None],
    n_jobs: int | None = None,
) -> Rounds:
    """Learn to score candidates, round by round.

    Parameters
    ----------
    photos : BoundarySet
    views : list of View
        As :func:`honest_views` gives them.
    lessons : Lessons
    say : callable
        Called with what is being done.
    n_jobs : int or None

    Returns
    -------
    Rounds
    """
    block = dealt(len(views), lessons.n_blocks)
    rescorers: list[Rescorer] = []
    for number in range(lessons.n_rounds):
        say(f"round {number + 1} of {lessons.n_rounds}: candidates of {len(views)} photos")
        draws = lessons.generators(2 * number + 1, len(views))
        tasks = [(photos, row, view, lessons.n_candidates, draws[row]) for row, view in enumerate(views)]
        rows, shares = zip(*in_parallel(_lesson, tasks, n_jobs), strict=True)
        say(f"round {number + 1} of {lessons.n_rounds}: {lessons.n_blocks} rescorers of {sum(map(len, shares))} rows")
        seeds = [int(rng.integers(2**31)) for rng in lessons.generators(2 * number + 2, lessons.n_blocks)]
        others = [np.flatnonzero(block != b) for b in range(lessons.n_blocks)]
        blocks = [(rows, shares, some, lessons, seed) for some, seed in zip(others, seeds, strict=True)]
        learned = in_parallel(_learned, blocks, n_jobs)
        rescorers += [one for jury in learned for one in jury]
        if number + 1 < lessons.n_rounds:
            views = in_parallel(_redrawn, [(view, learned[b]) for view, b in zip(views, block, strict=True)], n_jobs)
    return Rounds(scales=np.array(lessons.scales, dtype=np.float64), rescorers=rescorers, n_rounds=lessons.n_rounds)


def _lesson(
    photos: BoundarySet, row: int, view: View, most: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Descriptions of some candidates of a photo, and shares of the people who drew them."""
    candidates = find_candidates(view.edges)
    if len(candidates) > most:
        candidates = candidates[np.sort(rng.choice(len(candidates), most, replace=False))]
    return describe(view, candidates, lambda rows: rows), shares_drawn(photos.boundaries(row), candidates)


def _learned(
    rows: tuple[np.ndarray, ...], shares: tuple[np.ndarray, ...], some: np.ndarray, lessons: Lessons, seed: int
) -> list[Rescorer]:
    """Rescorers of the candidates of some photos."""
    X, share = np.concatenate([rows[k] for k in some]), np.concatenate([shares[k] for k in some])
    if not share.size or share.max() == 0:
        raise DSNAError(
            "The first level finds no edge that people drew in the photos, so a second one cannot learn; give more "
            "photos or patches, or check that photos and ground truth belong together."
        )
    return fit_rescorers(lessons.rescorer, X, share, lessons.n_trees, seed)


def _redrawn(view: View, rescorers: list[Rescorer]) -> View:
    """The view of the next round, by rescorers that do not know the photo."""
    candidates = find_candidates(view.edges)
    return view.after(candidates.on_map(describe(view, candidates, Jury(rescorers)), view.edges.shape))
