"""Targets and costs of a node's split: two groups of classes, or regression targets, and the weights of its rows.

``GrowthSettings`` holds the settings of growth, ``GrowthTable`` the training rows.
"""

from typing import NamedTuple

import numpy as np

from ..jit import first_smallest, kernel
from .splits import two_means

COST_NONE, COST_PAPER, COST_INVERSE, COST_TABLE = 0, 1, 2, 3
DENSITY_EXACT, DENSITY_BINS, DENSITY_STATIC = 0, 1, 2
NODE_BINS = 10
OUTPUT_PREFERENCE = 1e-6
SAME_SIZE = 1e-4  # components of a direction that differ by less are equal; the first then decides the sign


class GrowthSettings(NamedTuple):
    """Settings of a tree's growth; every field is a plain number, so one compilation serves all settings."""

    n_classes: int  # 0: regression
    n_codes: int  # distinct targets where the target density is exact
    max_depth: int
    min_leaf: int
    max_split: int  # maximum number of rows that a split is learned on
    group_features: int  # 1: groups by 2-means on the features, 0: on the targets
    free_cut: int  # 1: a split cuts where the gain is largest, 0: at the sign of the prediction
    common_scale: int  # 1: one scale for all columns of a node, 0: one for each column
    cost: int
    density: int
    axis: int  # 1: single features are cut at their best threshold, 0: along a prediction
    rows_per_feature: int  # needed for a linear split; nodes with fewer rows split on a single feature
    C: float
    epsilon: float


class GrowthTable(NamedTuple):
    """Training rows of a tree; N rows."""

    columns: np.ndarray  # (D, N) features
    label: np.ndarray  # (N, q) scaled targets; one unused column for classes
    code: np.ndarray  # (N,) number of the class or distinct target
    share: np.ndarray  # (N,) share of rows with (nearly) that target, for DENSITY_STATIC
    weight: np.ndarray  # (N,) sample weight
    gain: np.ndarray  # (N,) weight in the gain: inverse frequency of the class or target
    cost_table: np.ndarray  # f(p) at p = logspace(-6, 0), for COST_TABLE


@kernel
def cost_of_share(kind, share, table):
    """Cost f(p) of eq. 9 and 10."""
    if kind == COST_PAPER:
        return (1.0 - share) / share
    if kind == COST_INVERSE:
        return 1.0 / share
    if kind == COST_TABLE:
        last = table.shape[0] - 1
        position = (np.log10(max(share, 1e-6)) / 6.0 + 1.0) * last
        low = min(int(position), last - 1)
        return table[low] + (position - low) * (table[low + 1] - table[low])
    return 1.0


@kernel
def group_classes(sample, mass, n_sampled, table, growth, state, class_group):
    """Fill ``class_group`` (C,) with two groups of classes: 2-means of their centroids if there are more than two.

    Returns whether the node has at least two classes.
    """
    present = np.empty(growth.n_classes, np.int64)
    slot = np.full(growth.n_classes, -1)
    n_present = np.int64(0)
    for i in range(n_sampled):
        class_number = table.code[sample[i]]
        if slot[class_number] < 0:
            slot[class_number] = n_present
            present[n_present] = class_number
            n_present += 1
    if n_present < 2:
        return False
    if n_present == 2:
        class_group[present[0]] = 0
        class_group[present[1]] = 1
        return True
    n_features = table.columns.shape[0]
    centroid = np.zeros((n_present, n_features))
    total = np.zeros(n_present)
    for i in range(n_sampled):
        total[slot[table.code[sample[i]]]] += mass[i]
    for a in range(n_features):
        for i in range(n_sampled):
            centroid[slot[table.code[sample[i]]], a] += mass[i] * table.columns[a, sample[i]]
    for s in range(n_present):
        for a in range(n_features):
            centroid[s, a] /= total[s]
    group = np.zeros(n_present, np.int64)
    if not two_means(centroid, n_present, n_features, state, np.int64(20), group):
        for s in range(n_present):
            group[s] = s % 2
    for s in range(n_present):
        class_group[present[s]] = group[s]
    return True


@kernel
def main_direction(sample, mass, n_sampled, table, target):
    """Fill ``target`` with the standardised first principal component of a node's targets; return their variance."""
    n_outputs = table.label.shape[1]
    mean = np.zeros(n_outputs)
    total = 0.0
    for i in range(n_sampled):
        total += mass[i]
        for a in range(n_outputs):
            mean[a] += mass[i] * table.label[sample[i], a]
    for a in range(n_outputs):
        mean[a] /= total
    covariance = np.zeros((n_outputs, n_outputs))
    for i in range(n_sampled):
        for a in range(n_outputs):
            deviation = mass[i] * (table.label[sample[i], a] - mean[a])
            for b in range(n_outputs):
                covariance[a, b] += deviation * (table.label[sample[i], b] - mean[b]) / total
    spread = 0.0
    for a in range(n_outputs):
        spread += covariance[a, a]
    direction = np.ones(n_outputs)
    if n_outputs > 1 and spread > 0.0:
        # For uncorrelated outputs of equal variance, rounding would decide: earlier outputs get slightly more variance.
        for a in range(n_outputs):
            covariance[a, a] *= 1.0 + OUTPUT_PREFERENCE * (n_outputs - a)
        vectors = np.linalg.eigh(covariance)[1]
        size = np.empty(n_outputs)
        for a in range(n_outputs):
            size[a] = -abs(vectors[a, n_outputs - 1])
        sign = -1.0 if vectors[first_smallest(size, SAME_SIZE), n_outputs - 1] < 0.0 else 1.0
        for a in range(n_outputs):
            direction[a] = sign * vectors[a, n_outputs - 1]
    variance = 0.0
    for i in range(n_sampled):
        projection = 0.0
        for a in range(n_outputs):
            projection += direction[a] * (table.label[sample[i], a] - mean[a])
        target[i] = projection
        variance += mass[i] * projection * projection / total
    if variance > 0.0:
        deviation_scale = np.sqrt(variance)
        for i in range(n_sampled):
            target[i] /= deviation_scale
    return spread if variance > 0.0 else 0.0


@kernel
def target_costs(sample, mass, n_sampled, target, table, growth, counts, cost):
    """Fill ``cost`` with f(p_y) of eq. 10 for the rows of a node."""
    total = 0.0
    for i in range(n_sampled):
        total += mass[i]
    if growth.density == DENSITY_STATIC:
        for i in range(n_sampled):
            cost[i] = cost_of_share(growth.cost, table.share[sample[i]], table.cost_table)
    elif growth.density == DENSITY_EXACT:
        for i in range(n_sampled):
            counts[table.code[sample[i]]] = 0.0
        for i in range(n_sampled):
            counts[table.code[sample[i]]] += mass[i]
        for i in range(n_sampled):
            cost[i] = cost_of_share(growth.cost, counts[table.code[sample[i]]] / total, table.cost_table)
    else:
        low = target[0]
        high = target[0]
        for i in range(n_sampled):
            low = min(low, target[i])
            high = max(high, target[i])
        width = max((high - low) / NODE_BINS, 1e-300)
        bins = np.zeros(NODE_BINS)
        for i in range(n_sampled):
            bins[min(int((target[i] - low) / width), NODE_BINS - 1)] += mass[i]
        for i in range(n_sampled):
            share = bins[min(int((target[i] - low) / width), NODE_BINS - 1)] / total
            cost[i] = cost_of_share(growth.cost, share, table.cost_table)


@kernel
def normalise_costs(cost, mass, n_sampled):
    """Multiply costs by sample masses and scale them to mean 1; masses alone if every cost is zero."""
    total = 0.0
    mass_sum = 0.0
    for i in range(n_sampled):
        total += cost[i] * mass[i]
        mass_sum += mass[i]
    for i in range(n_sampled):
        cost[i] = cost[i] * mass[i] * n_sampled / total if total > 0.0 else mass[i] * n_sampled / mass_sum


@kernel
def group_costs(group, mass, n_sampled, table, growth, target, cost):
    """Fill ``target`` with +-1 for two groups, and ``cost`` with f(p_k) of eq. 9 for their rows."""
    shares = np.zeros(2)
    for i in range(n_sampled):
        shares[group[i]] += mass[i]
    for i in range(n_sampled):
        target[i] = 2.0 * group[i] - 1.0
        cost[i] = cost_of_share(growth.cost, shares[group[i]] / (shares[0] + shares[1]), table.cost_table)
    normalise_costs(cost, mass, n_sampled)
