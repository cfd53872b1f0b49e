"""Training and test faces, which never share a person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..pictures.splits import Split


def leave_one_person_out(groups: np.ndarray, at_most: int | None = None) -> list[Split]:
    """Split off each person once as the test set; all others are used for training.

    With ``at_most``, only that many persons, evenly spaced, become test sets.

    Examples
    --------
    >>> import numpy as np
    >>> [(s.fold, s.test.tolist()) for s in leave_one_person_out(np.array(["a", "b", "a"]))]
    [('a', [0, 2]), ('b', [1])]
    """
    persons = np.unique(groups)
    if at_most is not None and at_most < len(persons):
        persons = persons[np.linspace(0, len(persons) - 1, at_most).astype(int)]
    return [
        Split("leave one person out", str(p), np.flatnonzero(groups != p), np.flatnonzero(groups == p)) for p in persons
    ]


def three_subsets(n: int, groups: np.ndarray | None = None, seed: int = 0) -> list[Split]:
    """MORPH's protocol: disjoint thirds; train on S1 and test on S2 and S3, then train on S2 and test on S1 and S3.

    Parameters
    ----------
    n : int
        Number of pictures.
    groups : array of shape (n,) or None, default=None
        Person in each picture, if known; a person is in one third only.
    seed : int, default=0

    Returns
    -------
    list of two Split
        The protocol's error is the mean of both errors.

    Examples
    --------
    >>> [(split.fold, len(split.train), len(split.test)) for split in three_subsets(9)]
    [('S1', 3, 6), ('S2', 3, 6)]
    """
    _, person = np.unique(np.arange(n) if groups is None else groups, return_inverse=True)
    shuffled = np.random.default_rng(seed).permutation(person.max() + 1)
    subset = (shuffled * 3 // len(shuffled))[person]
    return [
        Split("S1, S2, S3", f"S{k + 1}", np.flatnonzero(subset == k), np.flatnonzero(subset != k)) for k in range(2)
    ]


@dataclass(frozen=True)
class AgeGap:
    """Ages that are missing from training and make up the test rows.

    Parameters
    ----------
    lowest, highest : float
        Both belong to the gap.

    Examples
    --------
    >>> AgeGap(51, float("inf")).name, AgeGap(0, 4).name, AgeGap(30, 39).name
    ('no ages over 50', 'no ages under 5', 'no ages 30 to 39')
    """

    lowest: float
    highest: float

    @property
    def name(self) -> str:
        """Ages that training lacks, in words."""
        if self.highest == float("inf"):
            return f"no ages over {self.lowest - 1:g}"
        if self.lowest == 0:
            return f"no ages under {self.highest + 1:g}"
        return f"no ages {self.lowest:g} to {self.highest:g}"

    def inside(self, ages: np.ndarray) -> np.ndarray:
        """Mask of the ages in the gap."""
        return (ages >= self.lowest) & (ages <= self.highest)


#: Gaps of the extrapolation experiment.
GAPS = (AgeGap(51, float("inf")), AgeGap(41, float("inf")), AgeGap(0, 4), AgeGap(30, 39))
