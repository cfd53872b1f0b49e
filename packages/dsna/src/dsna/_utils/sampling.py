"""A bounded sample of rows that keeps rare rows."""

from __future__ import annotations

import numpy as np


def stratified_sample(strata: np.ndarray, most: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """At most about ``most`` rows, rare strata whole and the others in equal parts.

    Returns
    -------
    rows : sorted row numbers.
    weight : how many rows of the table each stands for.

    Examples
    --------
    >>> import numpy as np
    >>> rows, weight = stratified_sample(np.r_[np.zeros(90), np.ones(10)], 30, np.random.RandomState(0))
    >>> len(rows), float(weight[-1]), float(weight[0])
    (30, 1.0, 4.5)
    """
    names, sizes = np.unique(strata, return_counts=True)
    quota = np.zeros(len(names), dtype=np.int64)
    left = most
    for place, s in enumerate(np.argsort(sizes, kind="stable")):
        quota[s] = min(sizes[s], max(1, left // (len(names) - place)))
        left -= quota[s]
    rows, weight = [], []
    for s in range(len(names)):
        members = np.flatnonzero(strata == names[s])
        if quota[s] < sizes[s]:
            members = rng.choice(members, quota[s], replace=False)
        rows.append(members)
        weight.append(np.full(len(members), sizes[s] / quota[s]))
    chosen = np.concatenate(rows)
    order = np.argsort(chosen)
    return chosen[order], np.concatenate(weight)[order]
