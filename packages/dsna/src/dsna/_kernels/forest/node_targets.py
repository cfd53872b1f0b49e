"""What the split of a node separates or predicts: two groups of classes, or targets; and the weights of its rows.

``Growth`` holds the settings of growth, ``Table`` the training rows.
"""

from typing import NamedTuple

import numpy as np

from ..jit import first_smallest, kernel
from .splits import two_means

COST_NONE, COST_PAPER, COST_INVERSE, COST_TABLE = 0, 1, 2, 3
DENSITY_EXACT, DENSITY_BINS, DENSITY_STATIC = 0, 1, 2
NODE_BINS = 10
EARLIER = 1e-6
SAME_SIZE = 1e-4  # of two components of a direction: the first decides about its sign


class Growth(NamedTuple):
    """How a tree grows; every field is a plain number, so one compilation serves all settings."""

    n_classes: int  # 0: regression
    n_codes: int  # distinct targets where the target density is exact
    max_depth: int
    min_leaf: int
    max_split: int  # rows that a split is learned on, at most
    group_features: int  # 1: groups by 2-means on the features, 0: on the targets
    free_cut: int  # 1: the cut along the split is chosen by the gain too, 0: it is the sign
    common_scale: int  # 1: one scale for all columns of a node, 0: each its own
    cost: int
    density: int
    axis: int  # 1: single features are cut at their best threshold, 0: along a prediction, as several are
    rows_per_feature: int  # that a linear split needs; a node with fewer takes a single feature instead
    C: float
    epsilon: float


class Table(NamedTuple):
    """What a tree is grown on; N rows throughout."""

    columns: np.ndarray  # (D, N) features
    label: np.ndarray  # (N, q) scaled targets; one unused column for classes
    code: np.ndarray  # (N,) class, or number of the distinct target
    share: np.ndarray  # (N,) share of rows with nearly that target, for DENSITY_STATIC
    weight: np.ndarray  # (N,) sample weight
    gain: np.ndarray  # (N,) weight in the gain: inverse frequency of the class or target
    cost_table: np.ndarray  # f(p) at p = logspace(-6, 0), for COST_TABLE


@kernel
def cost_of_share(kind, p, table):
    """f(p) of eq. 9 and 10."""
    if kind == COST_PAPER:
        return (1.0 - p) / p
    if kind == COST_INVERSE:
        return 1.0 / p
    if kind == COST_TABLE:
        last = table.shape[0] - 1
        at = (np.log10(max(p, 1e-6)) / 6.0 + 1.0) * last
        low = min(int(at), last - 1)
        return table[low] + (at - low) * (table[low + 1] - table[low])
    return 1.0


@kernel
def group_classes(picked, mass, m, table, growth, state, side):
    """Classes of a node in two groups: themselves if two, else 2-means over their centroids; fills ``side`` (C,)."""
    present = np.empty(growth.n_classes, np.int64)
    slot = np.full(growth.n_classes, -1)
    k = np.int64(0)
    for i in range(m):
        c = table.code[picked[i]]
        if slot[c] < 0:
            slot[c] = k
            present[k] = c
            k += 1
    if k < 2:
        return False
    if k == 2:
        side[present[0]] = 0
        side[present[1]] = 1
        return True
    d = table.columns.shape[0]
    centroid = np.zeros((k, d))
    total = np.zeros(k)
    for i in range(m):
        total[slot[table.code[picked[i]]]] += mass[i]
    for a in range(d):
        for i in range(m):
            centroid[slot[table.code[picked[i]]], a] += mass[i] * table.columns[a, picked[i]]
    for s in range(k):
        for a in range(d):
            centroid[s, a] /= total[s]
    group = np.zeros(k, np.int64)
    if not two_means(centroid, k, d, state, np.int64(20), group):
        for s in range(k):
            group[s] = s % 2
    for s in range(k):
        side[present[s]] = group[s]
    return True


@kernel
def main_direction(picked, mass, m, table, target):
    """Targets of a node on their first principal component, standardised; returns their total variance."""
    q = table.label.shape[1]
    mean = np.zeros(q)
    total = 0.0
    for i in range(m):
        total += mass[i]
        for a in range(q):
            mean[a] += mass[i] * table.label[picked[i], a]
    for a in range(q):
        mean[a] /= total
    cov = np.zeros((q, q))
    for i in range(m):
        for a in range(q):
            u = mass[i] * (table.label[picked[i], a] - mean[a])
            for b in range(q):
                cov[a, b] += u * (table.label[picked[i], b] - mean[b]) / total
    spread = 0.0
    for a in range(q):
        spread += cov[a, a]
    direction = np.ones(q)
    if q > 1 and spread > 0.0:
        # Where outputs vary alike and independently, rounding would choose: earlier ones count as a little wider.
        for a in range(q):
            cov[a, a] *= 1.0 + EARLIER * (q - a)
        vectors = np.linalg.eigh(cov)[1]
        size = np.empty(q)
        for a in range(q):
            size[a] = -abs(vectors[a, q - 1])
        sign = -1.0 if vectors[first_smallest(size, SAME_SIZE), q - 1] < 0.0 else 1.0
        for a in range(q):
            direction[a] = sign * vectors[a, q - 1]
    variance = 0.0
    for i in range(m):
        t = 0.0
        for a in range(q):
            t += direction[a] * (table.label[picked[i], a] - mean[a])
        target[i] = t
        variance += mass[i] * t * t / total
    if variance > 0.0:
        root = np.sqrt(variance)
        for i in range(m):
            target[i] /= root
    return spread if variance > 0.0 else 0.0


@kernel
def target_costs(picked, mass, m, target, table, growth, counts, cost):
    """f(p_y) of eq. 10 for the rows of a node; uniform where all rows share one target or bin."""
    total = 0.0
    for i in range(m):
        total += mass[i]
    if growth.density == DENSITY_STATIC:
        for i in range(m):
            cost[i] = cost_of_share(growth.cost, table.share[picked[i]], table.cost_table)
    elif growth.density == DENSITY_EXACT:
        for i in range(m):
            counts[table.code[picked[i]]] = 0.0
        for i in range(m):
            counts[table.code[picked[i]]] += mass[i]
        for i in range(m):
            cost[i] = cost_of_share(growth.cost, counts[table.code[picked[i]]] / total, table.cost_table)
    else:
        low = target[0]
        high = target[0]
        for i in range(m):
            low = min(low, target[i])
            high = max(high, target[i])
        width = max((high - low) / NODE_BINS, 1e-300)
        bins = np.zeros(NODE_BINS)
        for i in range(m):
            bins[min(int((target[i] - low) / width), NODE_BINS - 1)] += mass[i]
        for i in range(m):
            p = bins[min(int((target[i] - low) / width), NODE_BINS - 1)] / total
            cost[i] = cost_of_share(growth.cost, p, table.cost_table)


@kernel
def normalise_costs(cost, mass, m):
    """Costs times sample masses, mean 1; plain masses where every cost is zero."""
    total = 0.0
    plain = 0.0
    for i in range(m):
        total += cost[i] * mass[i]
        plain += mass[i]
    for i in range(m):
        cost[i] = cost[i] * mass[i] * m / total if total > 0.0 else mass[i] * m / plain


@kernel
def group_costs(group, mass, m, table, growth, target, cost):
    """Sides +-1 of two groups, and f(p_k) of eq. 9 for their rows."""
    shares = np.zeros(2)
    for i in range(m):
        shares[group[i]] += mass[i]
    for i in range(m):
        target[i] = 2.0 * group[i] - 1.0
        cost[i] = cost_of_share(growth.cost, shares[group[i]] / (shares[0] + shares[1]), table.cost_table)
    normalise_costs(cost, mass, m)
