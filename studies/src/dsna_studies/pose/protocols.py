"""Training and test heads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from sklearn.model_selection import StratifiedKFold

from ..pictures.splits import Split, with_gap

FOLDS = 5
#: Shares of the training pictures that are removed.
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_MIN_PER_ANGLE = 5


def pose_folds(labels: np.ndarray, folds: int = FOLDS, seed: int = 0) -> list[Split]:
    """Split into folds with equal numbers of pictures of every pose; persons are in all folds.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.repeat([[0, 0], [0, 15]], 5, axis=0)
    >>> [len(split.test) for split in pose_folds(labels)]
    [2, 2, 2, 2, 2]
    """
    pose = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    indices = StratifiedKFold(folds, shuffle=True, random_state=seed).split(labels, pose)
    return [Split(f"{folds} folds", str(k), train, test) for k, (train, test) in enumerate(indices)]


def remove_pictures(split: Split, pitch: np.ndarray, share: float, seed: int) -> Split:
    """Remove a share of the training pictures, so that pitch angles follow the shape of a normal distribution.

    The number of pictures that remain of a pitch angle p is proportional to exp(-p^2 / (2 s^2)), with s chosen to match
    the share, but at least five (or all, if there are fewer): angles that training lacks are another experiment.

    Parameters
    ----------
    split : Split
    pitch : array of shape (n,), of all pictures
    share : float, share of the training pictures to remove
    seed : int

    Returns
    -------
    Split

    Examples
    --------
    >>> import numpy as np
    >>> pitch = np.repeat([-30.0, 0.0, 30.0], 100)
    >>> few = remove_pictures(Split("5 folds", "0", np.arange(300), np.empty(0, dtype=int)), pitch, 0.5, seed=0)
    >>> few.protocol, [int((pitch[few.train] == angle).sum()) for angle in (-30, 0, 30)]
    ('50 % removed', [25, 100, 25])
    """
    angles, angle_index, counts = np.unique(pitch[split.train], return_inverse=True, return_counts=True)
    minimum_counts = np.minimum(counts, _MIN_PER_ANGLE)

    def expected_counts(log_width: float) -> np.ndarray:
        return np.asarray(np.maximum(counts * np.exp(-0.5 * (angles / np.exp(log_width)) ** 2), minimum_counts))

    n_remaining = (1 - share) * len(split.train)
    low, high = -3.0, 15.0
    if not expected_counts(low).sum() < n_remaining < expected_counts(high).sum():
        n_of_angle = counts if share <= 0 else np.round(expected_counts(low)).astype(int)
    else:
        n_of_angle = np.round(
            expected_counts(brentq(lambda width: expected_counts(width).sum() - n_remaining, low, high))
        ).astype(int)
    rng = np.random.default_rng([seed, round(100 * share)])
    remaining = [rng.permutation(split.train[angle_index == k])[:n_kept] for k, n_kept in enumerate(n_of_angle)]
    name = f"{round(100 * share)} % removed"
    return replace(split, protocol=name, fold=str(seed), train=np.sort(np.concatenate(remaining)))


def removals(splits: list[Split], pitch: np.ndarray, shares: Iterable[float] = SHARES) -> list[list[Split]]:
    """Remove pictures for each share, with seed k for the k-th split.

    Examples
    --------
    >>> import numpy as np
    >>> split = Split("5 folds", "0", np.arange(90), np.arange(0))
    >>> [changed[0].protocol for changed in removals([split], np.repeat([0.0, 15.0, 30.0], 30), (0.1, 0.2))]
    ['10 % removed', '20 % removed']
    """
    return [[remove_pictures(split, pitch, share, seed) for seed, split in enumerate(splits)] for share in shares]


@dataclass(frozen=True)
class PoseGap:
    """Poses that are missing from training and make up the test rows.

    Parameters
    ----------
    name : str
    angles : tuple of (int, float)
        Column of the labels (0: pitch, 1: yaw) and absolute angle; a pose in the gap has at least one of these angles.

    Examples
    --------
    >>> import numpy as np
    >>> PoseGap("no yaw 45", ((1, 45.0),)).inside(np.array([[0.0, -45.0], [45.0, 0.0]]))
    array([ True, False])
    """

    name: str
    angles: tuple[tuple[int, float], ...]

    def inside(self, labels: np.ndarray) -> np.ndarray:
        """Mask of the poses in the gap."""
        return np.asarray(np.any([np.abs(labels[:, column]) == size for column, size in self.angles], axis=0))

    def cut(self, splits: Iterable[Split], labels: np.ndarray) -> list[Split]:
        """Splits with the poses of the gap removed from training and as the only test rows."""
        return with_gap(splits, self.name, self.inside(labels))


#: A gap within the range of yaw, and one beyond the ends of both angles.
GAPS = (PoseGap("no yaw of 45", ((1, 45.0),)), PoseGap("no yaw or pitch of 90", ((1, 90.0), (0, 90.0))))
