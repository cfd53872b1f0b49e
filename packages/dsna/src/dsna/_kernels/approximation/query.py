"""Algorithm 1 for a batch of queries: sparse coefficients of each cluster, and label feedback."""

from typing import NamedTuple

import numpy as np

from ..jit import TIE, first_smallest, kernel
from ..sorting import kth_smallest
from .clustering import label_factor, majority, widest_gap
from .groups import load_neighbors
from .sparse import Gram, reset_gram, sparse_approximation

MAX_STEPS = 20_000
LABEL_TOLERANCE = 1e-4  # largest change of a label that counts as converged, as a share of the widest gap
ROUNDING = 1e-13  # the same, as a share of the largest label


class SolverSettings(NamedTuple):
    """Settings of the approximation of a query; every field is a plain number."""

    n_classes: int  # 0: regression
    n_clusters: int
    overlap: float  # slack of the clusters, in mean distances from the query
    tau: float
    best: int  # 1: the best cluster only, 0: all clusters, weighted by exp(-objective / temperature)
    temperature: float
    energy: float  # share of variance that a hull keeps; 0: the query itself is the target
    lam: float
    gamma: float
    bandwidth: float  # h, in mean distances from the query
    radius: float  # quantile of the distances within which rows enter the prior
    use_proximity: int
    sum_to_one: int
    ridge: float
    max_iter: int  # label feedback steps; 0: the prior ignores labels
    tol: float


class Solutions(NamedTuple):
    """Solutions for n queries, with at most M rows and K clusters each."""

    alpha: np.ndarray  # (n, M) coefficients
    member: np.ndarray  # (n, M, K) whether a row belongs to a cluster
    share: np.ndarray  # (n, K) weight of each cluster in alpha
    hull_residual: np.ndarray  # (n, K) distance of the query from each hull
    objective: np.ndarray  # (n, K) joint objective (eq. 5)
    labels: np.ndarray  # (n, max_iter + 1, q) the first label, then the label after each solve
    history: np.ndarray  # (n, max_iter + 1) objective of the best cluster at each solve
    steps: np.ndarray  # (n,) number of labels that are filled
    residual: np.ndarray  # (n,) largest optimality residual of the sparse solver


@kernel
def _prior(distances, factors, proximity, n_neighbors, settings, mean_distance, member, prior):
    """Fill ``prior`` with the weights of the rows of one cluster (eq. 4), which sum to one."""
    n_rows = np.int64(0)
    weighted_distances = np.empty(n_neighbors)
    for i in range(n_neighbors):
        if member[i]:
            weighted_distances[n_rows] = distances[i] * factors[i]
            n_rows += 1
    max_distance = np.inf
    if settings.radius < 1.0:
        max_distance = kth_smallest(weighted_distances, n_rows, min(int(settings.radius * n_rows), n_rows - 1)) * (
            1.0 + TIE
        )
    total = 0.0
    nearest = -1
    for i in range(n_neighbors):
        prior[i] = 0.0
        if member[i]:
            distance = distances[i] * factors[i]
            if nearest < 0 or distance < distances[nearest] * factors[nearest] * (1.0 - TIE):
                nearest = i
            if distance <= max_distance:
                prior[i] = np.exp(-distance / (settings.bandwidth * mean_distance))
                if settings.use_proximity == 1:
                    prior[i] *= proximity[i]
                total += prior[i]
    if total <= 1e-300:
        prior[nearest] = 1.0
        total = 1.0
    for i in range(n_neighbors):
        prior[i] /= total


class ClusterProblem(NamedTuple):
    """Workspace for the rows of one cluster relative to its point, and possibly the origin as one more row."""

    gram: Gram
    rows: np.ndarray  # position of each row in the neighbourhood
    lam: np.ndarray
    gamma: np.ndarray
    prior: np.ndarray
    start: np.ndarray  # coefficients, before and after a solve
    slope: np.ndarray


@kernel
def _cluster_workspace(max_rows, n_dims):
    """Allocate the workspace for clusters of up to ``max_rows`` rows."""
    size = max_rows + 1
    gram = Gram(
        np.empty((n_dims, size)), np.empty(size), np.empty(size), np.empty(size, np.bool_), np.empty((size, size))
    )
    return ClusterProblem(
        gram, np.empty(size, np.int64), np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    )


@kernel
def _load_cluster(cluster, neighbors, point, member, proximity, n_neighbors, mean_square, settings):
    """Load the rows of a cluster and their penalties into the workspace; return the number of rows."""
    max_proximity = 0.0
    for i in range(n_neighbors):
        max_proximity = max(max_proximity, proximity[i])
    rms_distance = np.sqrt(mean_square)
    columns = cluster.gram.columns
    n_rows = np.int64(0)
    for i in range(n_neighbors):
        if member[i]:
            for a in range(neighbors.shape[1]):
                columns[a, n_rows] = (neighbors[i, a] - point[a]) / rms_distance
            cluster.rows[n_rows] = i
            cluster.lam[n_rows] = settings.lam * (max_proximity / proximity[i] if settings.use_proximity == 1 else 1.0)
            cluster.gamma[n_rows] = settings.gamma
            cluster.gram.ridge[n_rows] = settings.ridge
            n_rows += 1
    if settings.sum_to_one == 0:
        # The origin, which has no penalty, makes up the sum.
        for a in range(neighbors.shape[1]):
            columns[a, n_rows] = -point[a] / rms_distance
        cluster.lam[n_rows] = 0.0
        cluster.gamma[n_rows] = 0.0
        cluster.gram.ridge[n_rows] = 0.0
        cluster.prior[n_rows] = 0.0
    reset_gram(cluster.gram, n_rows + 1 - settings.sum_to_one)
    return n_rows


@kernel
def _solve_cluster(cluster, n_rows, prior, n_neighbors, settings, alpha):
    """Fill ``alpha`` with the sparse coefficients of a cluster; return (objective, optimality residual)."""
    size = n_rows + 1 - settings.sum_to_one
    for k in range(n_rows):
        cluster.prior[k] = prior[cluster.rows[k]]
    for k in range(size):
        cluster.start[k] = cluster.prior[k]
    residual, objective, _ = sparse_approximation(
        cluster.gram,
        size,
        cluster.lam,
        cluster.gamma,
        cluster.prior,
        settings.tol,
        MAX_STEPS,
        cluster.start,
        cluster.slope,
    )
    for i in range(n_neighbors):
        alpha[i] = 0.0
    for k in range(n_rows):
        alpha[cluster.rows[k]] = cluster.start[k]
    return objective, residual


@kernel
def _label_from_coefficients(alpha, label, n_neighbors, settings, class_scale, out):
    """Fill ``out`` with the label that coefficients give: the mean, or the class of largest positive scaled mass."""
    if settings.n_classes > 0:
        negative_mass = np.zeros(settings.n_classes)
        total = 0.0
        for i in range(n_neighbors):
            mass = max(alpha[i], 0.0) * class_scale[int(label[i, 0])]
            negative_mass[int(label[i, 0])] -= mass
            total += mass
        out[0] = first_smallest(negative_mass, TIE * total)
        return
    for a in range(label.shape[1]):
        out[a] = 0.0
        for i in range(n_neighbors):
            out[a] += alpha[i] * label[i, a]


@kernel
def approximate(Q, Z, label, class_scale, rows, proximity, size, settings, cluster_counts, point, solutions):
    """Run Algorithm 1 for each query, given its clusters.

    Parameters
    ----------
    Q, Z : (n, D) queries and (N, D) training rows, in the space where distances are taken.
    label : (N, q) targets, or class numbers in one column.
    class_scale : (n_classes,) factor of each class in sums of coefficients by class.
    rows, proximity, size : the neighbourhoods, as filled by ``gather``.
    settings : ``SolverSettings``.
    cluster_counts, point : number of clusters and their points, as filled by ``group_neighbors``.
    solutions : ``Solutions``; ``member`` and ``hull_residual`` are inputs, the other fields are filled.
    """
    n_dims = Z.shape[1]
    n_outputs = label.shape[1]
    is_class = settings.n_classes > 0
    cluster = _cluster_workspace(rows.shape[1], n_dims)
    for i in range(Q.shape[0]):
        n_neighbors = size[i]
        if n_neighbors == 0:
            continue
        neighbors = np.empty((n_neighbors, n_dims))
        labels = np.empty((n_neighbors, n_outputs))
        anchor = np.zeros(n_outputs)
        distances = np.empty(n_neighbors)
        mean_square, mean_distance = load_neighbors(
            Q[i], Z, label, rows[i], n_neighbors, settings, neighbors, labels, anchor, distances
        )
        max_label = 0.0
        if not is_class:
            for a in range(n_outputs):
                max_label = max(max_label, abs(label[rows[i, 0], a]))
        query_proximity = proximity[i]
        n_clusters = cluster_counts[i]
        member = solutions.member[i]
        hull_residual = solutions.hull_residual[i]
        # Several distances may be zero: full hulls of large clusters fit exactly.
        nearest_hull = first_smallest(hull_residual[:n_clusters], TIE * mean_distance)
        factors = np.ones(n_neighbors)
        prior = np.empty(n_neighbors)
        alpha = np.zeros((n_clusters, n_neighbors))
        objective = np.empty(n_clusters)
        label_steps = solutions.labels[i]
        max_gap = widest_gap(labels, n_neighbors)
        tolerance = LABEL_TOLERANCE * max_gap + ROUNDING * max_label
        if settings.max_iter > 0:
            n_start = np.int64(0)
            start_labels = np.empty((n_neighbors, n_outputs))
            unit_weights = np.ones(n_neighbors)
            for k in range(n_neighbors):
                if member[k, nearest_hull]:
                    for a in range(n_outputs):
                        start_labels[n_start, a] = labels[k, a]
                    n_start += 1
            if is_class:
                label_steps[0, 0] = majority(start_labels, unit_weights, n_start)
            else:
                for k in range(n_start):
                    for a in range(n_outputs):
                        label_steps[0, a] += start_labels[k, a] / n_start
        n_steps = 0
        loaded = -1
        n_rows = np.int64(0)
        while True:
            if settings.max_iter > 0:
                for k in range(n_neighbors):
                    factors[k] = label_factor(labels, k, label_steps[n_steps], is_class, settings.tau, max_gap)
            max_residual = 0.0
            for c in range(n_clusters):
                in_cluster = member[:n_neighbors, c]
                if loaded != c:
                    n_rows = _load_cluster(
                        cluster, neighbors, point[i, c], in_cluster, query_proximity, n_neighbors, mean_square, settings
                    )
                    loaded = c
                _prior(distances, factors, query_proximity, n_neighbors, settings, mean_distance, in_cluster, prior)
                objective[c], residual = _solve_cluster(cluster, n_rows, prior, n_neighbors, settings, alpha[c])
                objective[c] += 0.5 * hull_residual[c] ** 2 / mean_square
                max_residual = max(max_residual, residual)
            best = first_smallest(objective, TIE)
            for c in range(n_clusters):
                solutions.objective[i, c] = objective[c]
                solutions.share[i, c] = 1.0 if c == best else 0.0
            if settings.best == 0 and n_clusters > 1:
                total = 0.0
                for c in range(n_clusters):
                    solutions.share[i, c] = np.exp(-(objective[c] - objective[best]) / settings.temperature)
                    total += solutions.share[i, c]
                for c in range(n_clusters):
                    solutions.share[i, c] /= total
            for k in range(n_neighbors):
                solutions.alpha[i, k] = 0.0
                for c in range(n_clusters):
                    solutions.alpha[i, k] += solutions.share[i, c] * alpha[c, k]
            solutions.residual[i] = max_residual
            solutions.history[i, n_steps] = objective[best]
            if settings.max_iter == 0:
                _label_from_coefficients(solutions.alpha[i], labels, n_neighbors, settings, class_scale, label_steps[0])
                break
            n_steps += 1
            _label_from_coefficients(
                solutions.alpha[i], labels, n_neighbors, settings, class_scale, label_steps[n_steps]
            )
            # Stop at a label seen before, too: a cycle would never end.
            settled = False
            for earlier in range(n_steps):
                gap = 0.0
                for a in range(n_outputs):
                    gap = max(gap, abs(label_steps[n_steps, a] - label_steps[earlier, a]))
                if gap <= tolerance:
                    settled = True
            if settled or n_steps == settings.max_iter:
                break
        solutions.steps[i] = n_steps + 1
        for s in range(n_steps + 1):
            for a in range(n_outputs):
                label_steps[s, a] += anchor[a]
