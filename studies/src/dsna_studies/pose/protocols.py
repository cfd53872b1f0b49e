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
_LEAST = 5


def pose_folds(labels: np.ndarray, folds: int = FOLDS, seed: int = 0) -> list[Split]:
    """Folds with the same number of pictures of every pose in each; persons are in all of them.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.repeat([[0, 0], [0, 15]], 5, axis=0)
    >>> [len(split.test) for split in pose_folds(labels)]
    [2, 2, 2, 2, 2]
    """
    pose = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(labels, pose)
    return [Split(f"{folds} folds", str(k), train, test) for k, (train, test) in enumerate(parts)]


def thinned(split: Split, pitch: np.ndarray, share: float, seed: int) -> Split:
    """A share of the training pictures removed, so that pitch angles follow the shape of a normal distribution.

    Of the pictures of a pitch angle p a number proportional to exp(-p^2 / (2 s^2)) stays, with s such that the share
    is met, and no less than five (or all, where there are fewer): a model that has never seen an angle is another
    experiment.

    Parameters
    ----------
    split : Split
    pitch : array of shape (n,), of all pictures
    share : float, of the training pictures that are to be removed
    seed : int

    Returns
    -------
    Split

    Examples
    --------
    >>> import numpy as np
    >>> pitch = np.repeat([-30.0, 0.0, 30.0], 100)
    >>> few = thinned(Split("5 folds", "0", np.arange(300), np.empty(0, dtype=int)), pitch, 0.5, seed=0)
    >>> few.protocol, [int((pitch[few.train] == angle).sum()) for angle in (-30, 0, 30)]
    ('50 % removed', [25, 100, 25])
    """
    angles, at, counts = np.unique(pitch[split.train], return_inverse=True, return_counts=True)
    least = np.minimum(counts, _LEAST)

    def stay(log_width: float) -> np.ndarray:
        return np.asarray(np.maximum(counts * np.exp(-0.5 * (angles / np.exp(log_width)) ** 2), least))

    wanted = (1 - share) * len(split.train)
    narrow, wide = -3.0, 15.0
    if not stay(narrow).sum() < wanted < stay(wide).sum():
        numbers = counts if share <= 0 else np.round(stay(narrow)).astype(int)
    else:
        numbers = np.round(stay(brentq(lambda width: stay(width).sum() - wanted, narrow, wide))).astype(int)
    random = np.random.default_rng([seed, round(100 * share)])
    kept = [random.permutation(split.train[at == k])[:number] for k, number in enumerate(numbers)]
    name = f"{round(100 * share)} % removed"
    return replace(split, protocol=name, fold=str(seed), train=np.sort(np.concatenate(kept)))


def removals(splits: list[Split], pitch: np.ndarray, shares: Iterable[float] = SHARES) -> list[list[Split]]:
    """For each share the thinned splits: the k-th with seed k.

    Examples
    --------
    >>> import numpy as np
    >>> split = Split("5 folds", "0", np.arange(90), np.arange(0))
    >>> [some[0].protocol for some in removals([split], np.repeat([0.0, 15.0, 30.0], 30), (0.1, 0.2))]
    ['10 % removed', '20 % removed']
    """
    return [[thinned(split, pitch, share, seed) for seed, split in enumerate(splits)] for share in shares]


@dataclass(frozen=True)
class Gap:
    """Poses that are missing from training and make up the test rows.

    Parameters
    ----------
    name : str
    angles : tuple of (int, float)
        Column of the labels (0: pitch, 1: yaw) and size of the angle; a pose in the gap has at least one of them.

    Examples
    --------
    >>> import numpy as np
    >>> Gap("no yaw 45", ((1, 45.0),)).inside(np.array([[0.0, -45.0], [45.0, 0.0]]))
    array([ True, False])
    """

    name: str
    angles: tuple[tuple[int, float], ...]

    def inside(self, labels: np.ndarray) -> np.ndarray:
        """Mask of the poses in the gap."""
        return np.asarray(np.any([np.abs(labels[:, column]) == size for column, size in self.angles], axis=0))

    def cut(self, splits: Iterable[Split], labels: np.ndarray) -> list[Split]:
        """The same splits, with the poses of the gap gone from training and alone in the test rows."""
        return with_gap(splits, self.name, self.inside(labels))


#: A gap within the range of yaw, and one beyond the ends of both angles.
GAPS = (Gap("no yaw of 45", ((1, 45.0),)), Gap("no yaw or pitch of 90", ((1, 90.0), (0, 90.0))))
