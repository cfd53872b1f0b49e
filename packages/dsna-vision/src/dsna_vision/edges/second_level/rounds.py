"""Rounds: candidates are scored, and scored again with the lines that the round before has drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dsna.extend.containers import Array, Checked, Number, Parts, require

from ..detection import first_maps
from ..forest import StructuredForest
from ..pool import PatchPool, Voting
from .candidates import find_candidates
from .description import describe, n_columns
from .planes import View
from .rescorers.choices import Rescorer

MOST_ROUNDS = 8
SMALLEST_SCALE, LARGEST_SCALE = 0.1, 4.0


@dataclass
class Rounds(Checked):
    """Rescorers of all rounds, and the sizes at which they see the first level.

    Parameters
    ----------
    scales : array of shape (n_scales,), float64
        In shares of the photo's own.
    rescorers : list of BoostedTrees or Perceptrons
        Those of the first round, one or more for each block of photos that they have not seen; then those of the next.
    n_rounds : int
    """

    scales: np.ndarray
    rescorers: list[Any]
    n_rounds: int

    FIELDS = {
        "scales": Array("float64", "scales", SMALLEST_SCALE, LARGEST_SCALE),
        "rescorers": Parts("BoostedTrees Perceptrons", "rescorers"),
        "n_rounds": Number(1, MOST_ROUNDS, whole=True),
    }
    NOT_EMPTY = ("scales", "rescorers")

    def __post_init__(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(sizes["rescorers"] % self.n_rounds == 0, "Rounds has another number of rescorers in some of them")
        columns = {n_columns(sizes["scales"] * n, False): n for n in (1, 2)}
        n_methods = columns.get(self.rescorers[0].n_columns, 0)
        require(n_methods, "Rounds has rescorers of other columns than candidates have")
        for number, asked in enumerate(self.by_round()):
            wanted = n_columns(sizes["scales"] * n_methods, number > 0)
            right = all(one.n_columns == wanted for one in asked)
            require(right, f"Rounds has rescorers of other columns than {wanted} in round {number + 1}")

    def by_round(self) -> list[list[Rescorer]]:
        """Rescorers of one round after another."""
        each = len(self.rescorers) // int(self.n_rounds)
        return [self.rescorers[k : k + each] for k in range(0, len(self.rescorers), each)]

    @property
    def with_pool(self) -> bool:
        """Whether the first level's maps come from its leaves and from its pool, or from its leaves alone."""
        return bool(self.rescorers[0].n_columns == n_columns(2 * len(self.scales), False))

    def lines(self, view: View, n_jobs: int | None = None) -> np.ndarray:
        """Thin map of a photo: the mean of all rounds.

        Parameters
        ----------
        view : View
            Of the first level alone.
        n_jobs : int or None

        Returns
        -------
        array of shape (H, W), float32
        """
        candidates = find_candidates(view.edges)
        opinions: list[np.ndarray] = []
        after = view
        for asked in self.by_round():
            opinions.append(describe(after, candidates, Jury(asked), n_jobs))
            after = view.after(candidates.on_map(opinions[-1], view.edges.shape))
        return candidates.on_map(np.mean(opinions, axis=0), view.edges.shape)


@dataclass(frozen=True)
class Jury:
    """Several rescorers, whose mean counts."""

    rescorers: list[Rescorer]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Mean share of people, for rows (n, n_columns), float32."""
        total = np.zeros(len(rows))
        for one in self.rescorers:
            total += one(rows)
        return total / len(self.rescorers)


def first_view(
    photo: np.ndarray,
    scales: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None = None,
) -> View:
    """A photo as the first level sees it: maps by its leaves and, where there is a pool, by the patches in them.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    scales : array of shape (n_scales,)
    forest, pool, voting, n_jobs
        As :func:`dsna_vision.edges.detection.soft_map` takes them.

    Returns
    -------
    View
    """
    maps = [one for scale in scales for one in first_maps(photo, float(scale), forest, pool, voting, n_jobs)]
    return View(photo, tuple(maps))
