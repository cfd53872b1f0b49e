"""A bounded sample of rows that keeps rare rows."""

from __future__ import annotations

import numpy as np


def stratified_sample(strata: np.ndarray, max_rows: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Sample about ``max_rows`` rows: all rows of rare strata, and equal numbers of the others.

    Returns
    -------
    rows : sorted row numbers.
    weight : number of rows of the table that each row represents.

    Examples
    --------
    >>> import numpy as np
    >>> rows, weight = stratified_sample(np.r_[np.zeros(90), np.ones(10)], 30, np.random.RandomState(0))
    >>> len(rows), float(weight[-1]), float(weight[0])
    (30, 1.0, 4.5)
    """
    labels, sizes = np.unique(strata, return_counts=True)
    quotas = np.zeros(len(labels), dtype=np.int64)
    n_left = max_rows
    for position, stratum in enumerate(np.argsort(sizes, kind="stable")):
        quotas[stratum] = min(sizes[stratum], max(1, n_left // (len(labels) - position)))
        n_left -= quotas[stratum]
    rows, weight = [], []
    for stratum in range(len(labels)):
        members = np.flatnonzero(strata == labels[stratum])
        if quotas[stratum] < sizes[stratum]:
            members = rng.choice(members, quotas[stratum], replace=False)
        rows.append(members)
        weight.append(np.full(len(members), sizes[stratum] / quotas[stratum]))
    sampled_rows = np.concatenate(rows)
    order = np.argsort(sampled_rows)
    return sampled_rows[order], np.concatenate(weight)[order]
