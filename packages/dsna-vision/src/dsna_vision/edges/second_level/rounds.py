"""Rounds of rescoring, each of which uses the lines drawn by the previous round."""

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

MAX_ROUNDS = 8
SMALLEST_SCALE, LARGEST_SCALE = 0.1, 4.0


@dataclass
class Rounds(Checked):
    """Rescorers of all rounds, and the sizes of the first level's maps.

    Parameters
    ----------
    scales : array of shape (n_scales,), float64
        Relative to the photo's own size.
    rescorers : list of BoostedTrees or Perceptrons
        Rescorers of the first round, one or more for each block of photos left out in training, followed by those of
        the next rounds.
    n_rounds : int
    """

    scales: np.ndarray
    rescorers: list[Any]
    n_rounds: int

    FIELDS = {
        "scales": Array("float64", "scales", SMALLEST_SCALE, LARGEST_SCALE),
        "rescorers": Parts("BoostedTrees Perceptrons", "rescorers"),
        "n_rounds": Number(1, MAX_ROUNDS, whole=True),
    }
    NOT_EMPTY = ("scales", "rescorers")

    def __post_init__(self) -> None:
        self.check()

    def _check_relations(self, sizes: dict[str, int]) -> None:
        require(sizes["rescorers"] % self.n_rounds == 0, "Rounds has different numbers of rescorers in its rounds")
        columns = {n_columns(sizes["scales"] * n, False): n for n in (1, 2)}
        n_methods = columns.get(self.rescorers[0].n_columns, 0)
        require(n_methods, "Rounds has rescorers whose number of columns matches no description of candidates")
        for round_index, rescorers in enumerate(self.by_round()):
            n_expected = n_columns(sizes["scales"] * n_methods, round_index > 0)
            all_match = all(rescorer.n_columns == n_expected for rescorer in rescorers)
            require(all_match, f"Rounds has rescorers without {n_expected} columns in round {round_index + 1}")

    def by_round(self) -> list[list[Rescorer]]:
        """Rescorers of each round."""
        n_per_round = len(self.rescorers) // int(self.n_rounds)
        return [self.rescorers[k : k + n_per_round] for k in range(0, len(self.rescorers), n_per_round)]

    @property
    def with_pool(self) -> bool:
        """Whether the first level's maps come from leaves and pool, rather than from leaves alone."""
        return bool(self.rescorers[0].n_columns == n_columns(2 * len(self.scales), False))

    def lines(self, view: View, n_jobs: int | None = None) -> np.ndarray:
        """Compute the thin map of a photo, the mean of all rounds.

        Parameters
        ----------
        view : View
            View with maps of the first level only.
        n_jobs : int or None

        Returns
        -------
        array of shape (H, W), float32
        """
        candidates = find_candidates(view.edges)
        scores: list[np.ndarray] = []
        current_view = view
        for rescorers in self.by_round():
            scores.append(describe(current_view, candidates, Jury(rescorers), n_jobs))
            current_view = view.with_lines(candidates.on_map(scores[-1], view.edges.shape))
        return candidates.on_map(np.mean(scores, axis=0), view.edges.shape)


@dataclass(frozen=True)
class Jury:
    """Mean of several rescorers."""

    rescorers: list[Rescorer]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Mean share of people, for rows (n, n_columns), float32."""
        total = np.zeros(len(rows))
        for rescorer in self.rescorers:
            total += rescorer(rows)
        return total / len(self.rescorers)


def first_view(
    photo: np.ndarray,
    scales: np.ndarray,
    forest: StructuredForest,
    pool: PatchPool | None,
    voting: Voting,
    n_jobs: int | None = None,
) -> View:
    """View of a photo by the first level: maps from its leaves and, if there is a pool, from the patches in them.

    Parameters
    ----------
    photo : array of shape (H, W, 3), uint8
    scales : array of shape (n_scales,)
    forest, pool, voting, n_jobs
        See :func:`dsna_vision.edges.detection.soft_map`.

    Returns
    -------
    View
    """
    maps = [edges for scale in scales for edges in first_maps(photo, float(scale), forest, pool, voting, n_jobs)]
    return View(photo, tuple(maps))
