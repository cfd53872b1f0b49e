"""Algorithm 1 for a batch of queries: sparse coefficients of each cluster, and label feedback."""

from typing import NamedTuple

import numpy as np

from ..jit import TIE, first_smallest, kernel
from ..sorting import kth_smallest
from .clustering import label_factor, majority, widest_gap
from .groups import seen_from
from .sparse import Gram, begin_gram, sparse_approximation

MAX_STEPS = 20_000
SETTLED = 1e-4  # a label has settled if it moves less than this share of the widest gap,
ROUNDING = 1e-13  # or than labels of this size are rounded by


class Settings(NamedTuple):
    """How a query is approximated; every field is a plain number."""

    n_classes: int  # 0: regression
    n_clusters: int
    overlap: float  # slack of the clusters, in mean distances from the query
    tau: float
    best: int  # 1: the best cluster only, 0: all, weighted by exp(-objective / temperature)
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


class Answers(NamedTuple):
    """What is found out about each of n queries, with M rows and K clusters at most."""

    alpha: np.ndarray  # (n, M) coefficients
    member: np.ndarray  # (n, M, K) which rows belong to which cluster
    share: np.ndarray  # (n, K) weight of each cluster in alpha
    hull_residual: np.ndarray  # (n, K) distance of the query from each hull
    objective: np.ndarray  # (n, K) joint objective (eq. 5)
    labels: np.ndarray  # (n, max_iter + 1, q) how the label settled: the start, then one for each solve
    history: np.ndarray  # (n, max_iter + 1) objective of the best cluster at each solve
    steps: np.ndarray  # (n,) how many of those are filled
    residual: np.ndarray  # (n,) largest optimality residual of the sparse solver


@kernel
def _prior(away, factor, proximity, m, how, scale, inside, b):
    """Prior weights (eq. 4) over the rows of one cluster: fills ``b`` with sum one."""
    n = np.int64(0)
    reach = np.empty(m)
    for i in range(m):
        if inside[i]:
            reach[n] = away[i] * factor[i]
            n += 1
    bound = np.inf
    if how.radius < 1.0:
        bound = kth_smallest(reach, n, min(int(how.radius * n), n - 1)) * (1.0 + TIE)
    total = 0.0
    nearest = -1
    for i in range(m):
        b[i] = 0.0
        if inside[i]:
            d = away[i] * factor[i]
            if nearest < 0 or d < away[nearest] * factor[nearest] * (1.0 - TIE):
                nearest = i
            if d <= bound:
                b[i] = np.exp(-d / (how.bandwidth * scale))
                if how.use_proximity == 1:
                    b[i] *= proximity[i]
                total += b[i]
    if total <= 1e-300:
        b[nearest] = 1.0
        total = 1.0
    for i in range(m):
        b[i] /= total


class Cluster(NamedTuple):
    """Work space for the rows of one cluster, as its point sees them; the origin may be one more."""

    gram: Gram
    place: np.ndarray  # which rows of the neighbourhood they are
    lam: np.ndarray
    gamma: np.ndarray
    prior: np.ndarray
    start: np.ndarray  # coefficients, before a solve and after it
    slope: np.ndarray


@kernel
def _room(m, d):
    """Work space for clusters of up to m rows of d numbers."""
    n = m + 1
    gram = Gram(np.empty((d, n)), np.empty(n), np.empty(n), np.empty(n, np.bool_), np.empty((n, n)))
    return Cluster(gram, np.empty(n, np.int64), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n))


@kernel
def _enter(cluster, L, point, inside, proximity, m, squared, how):
    """Fill the rows of a cluster and their penalties. Returns how many rows there are."""
    most = 0.0
    for i in range(m):
        most = max(most, proximity[i])
    unit = np.sqrt(squared)
    columns = cluster.gram.columns
    n = np.int64(0)
    for i in range(m):
        if inside[i]:
            for a in range(L.shape[1]):
                columns[a, n] = (L[i, a] - point[a]) / unit
            cluster.place[n] = i
            cluster.lam[n] = how.lam * (most / proximity[i] if how.use_proximity == 1 else 1.0)
            cluster.gamma[n] = how.gamma
            cluster.gram.ridge[n] = how.ridge
            n += 1
    if how.sum_to_one == 0:
        # The origin, free of penalties, takes up what the sum lacks.
        for a in range(L.shape[1]):
            columns[a, n] = -point[a] / unit
        cluster.lam[n] = 0.0
        cluster.gamma[n] = 0.0
        cluster.gram.ridge[n] = 0.0
        cluster.prior[n] = 0.0
    begin_gram(cluster.gram, n + 1 - how.sum_to_one)
    return n


@kernel
def _solve_cluster(cluster, n, b, m, how, alpha):
    """Sparse coefficients of the n rows of a cluster; fills ``alpha[:m]``. Returns (objective, optimality residual)."""
    size = n + 1 - how.sum_to_one
    for k in range(n):
        cluster.prior[k] = b[cluster.place[k]]
    for k in range(size):
        cluster.start[k] = cluster.prior[k]
    residual, objective, _ = sparse_approximation(
        cluster.gram, size, cluster.lam, cluster.gamma, cluster.prior, how.tol, MAX_STEPS, cluster.start, cluster.slope
    )
    for i in range(m):
        alpha[i] = 0.0
    for k in range(n):
        alpha[cluster.place[k]] = cluster.start[k]
    return objective, residual


@kernel
def _label_of(alpha, label, m, how, class_scale, out):
    """Label that coefficients stand for: mean, or the class of largest positive mass after scaling."""
    if how.n_classes > 0:
        lack = np.zeros(how.n_classes)
        total = 0.0
        for i in range(m):
            mass = max(alpha[i], 0.0) * class_scale[int(label[i, 0])]
            lack[int(label[i, 0])] -= mass
            total += mass
        out[0] = first_smallest(lack, TIE * total)
        return
    for a in range(label.shape[1]):
        out[a] = 0.0
        for i in range(m):
            out[a] += alpha[i] * label[i, a]


@kernel
def approximate(Q, Z, label, class_scale, rows, proximity, size, how, found, point, answers):
    """Run Algorithm 1 for each query, given its clusters.

    Parameters
    ----------
    Q, Z : (n, D) queries and (N, D) training rows, in the space where distances are taken.
    label : (N, q) targets, or class numbers in one column.
    class_scale : (n_classes,) factor of each class where coefficients are summed by class.
    rows, proximity, size : the neighbourhoods, as ``gather`` leaves them.
    how : ``Settings``.
    found, point : number of clusters and their points, as ``group_neighbors`` leaves them.
    answers : ``Answers``; ``member`` and ``hull_residual`` are given, the others are filled.
    """
    D = Z.shape[1]
    q = label.shape[1]
    is_class = how.n_classes > 0
    cluster = _room(rows.shape[1], D)
    for i in range(Q.shape[0]):
        m = size[i]
        if m == 0:
            continue
        L = np.empty((m, D))
        y = np.empty((m, q))
        anchor = np.zeros(q)
        away = np.empty(m)
        squared, scale = seen_from(Q[i], Z, label, rows[i], m, how, L, y, anchor, away)
        largest = 0.0
        if not is_class:
            for a in range(q):
                largest = max(largest, abs(label[rows[i, 0], a]))
        near = proximity[i]
        n_found = found[i]
        member = answers.member[i]
        fits = answers.hull_residual[i]
        # Full hulls of large clusters fit exactly.
        chosen = first_smallest(fits[:n_found], TIE * scale)
        factor = np.ones(m)
        b = np.empty(m)
        alpha = np.zeros((n_found, m))
        objective = np.empty(n_found)
        settled = answers.labels[i]
        widest = widest_gap(y, m)
        settles = SETTLED * widest + ROUNDING * largest
        if how.max_iter > 0:
            n = np.int64(0)
            first = np.empty((m, q))
            ones = np.ones(m)
            for k in range(m):
                if member[k, chosen]:
                    for a in range(q):
                        first[n, a] = y[k, a]
                    n += 1
            if is_class:
                settled[0, 0] = majority(first, ones, n)
            else:
                for k in range(n):
                    for a in range(q):
                        settled[0, a] += first[k, a] / n
        step = 0
        entered = -1
        n_inner = np.int64(0)
        while True:
            if how.max_iter > 0:
                for k in range(m):
                    factor[k] = label_factor(y, k, settled[step], is_class, how.tau, widest)
            worst = 0.0
            for c in range(n_found):
                inner = member[:m, c]
                if entered != c:
                    n_inner = _enter(cluster, L, point[i, c], inner, near, m, squared, how)
                    entered = c
                _prior(away, factor, near, m, how, scale, inner, b)
                objective[c], residual = _solve_cluster(cluster, n_inner, b, m, how, alpha[c])
                objective[c] += 0.5 * fits[c] ** 2 / squared
                worst = max(worst, residual)
            best = first_smallest(objective, TIE)
            for c in range(n_found):
                answers.objective[i, c] = objective[c]
                answers.share[i, c] = 1.0 if c == best else 0.0
            if how.best == 0 and n_found > 1:
                total = 0.0
                for c in range(n_found):
                    answers.share[i, c] = np.exp(-(objective[c] - objective[best]) / how.temperature)
                    total += answers.share[i, c]
                for c in range(n_found):
                    answers.share[i, c] /= total
            for k in range(m):
                answers.alpha[i, k] = 0.0
                for c in range(n_found):
                    answers.alpha[i, k] += answers.share[i, c] * alpha[c, k]
            answers.residual[i] = worst
            answers.history[i, step] = objective[best]
            if how.max_iter == 0:
                _label_of(answers.alpha[i], y, m, how, class_scale, settled[0])
                break
            step += 1
            _label_of(answers.alpha[i], y, m, how, class_scale, settled[step])
            # Settled, or back at a label met before: a cycle would never end.
            again = False
            for past in range(step):
                gap = 0.0
                for a in range(q):
                    gap = max(gap, abs(settled[step, a] - settled[past, a]))
                if gap <= settles:
                    again = True
            if again or step == how.max_iter:
                break
        answers.steps[i] = step + 1
        for s in range(step + 1):
            for a in range(q):
                settled[s, a] += anchor[a]
