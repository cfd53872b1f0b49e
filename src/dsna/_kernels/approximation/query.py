"""Algorithm 1 for a batch of queries: clusters, hulls, sparse coefficients, label feedback."""

from typing import NamedTuple

import numpy as np

from ..jit import TIE, first_smallest, kernel
from .clustering import label_factor, label_means, majority, widest_gap
from .hull import hull_point
from .sparse import sparse_approximation

MAX_STEPS = 20_000
CLUSTER_STEPS = 10
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
    max_iter: int  # label feedback steps; 0: labels have no say in the prior
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
    n = 0
    reach = np.empty(m)
    for i in range(m):
        if inside[i]:
            reach[n] = away[i] * factor[i]
            n += 1
    bound = np.inf
    if how.radius < 1.0:
        bound = np.sort(reach[:n])[min(int(how.radius * n), n - 1)] * (1.0 + TIE)
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


@kernel
def _solve_cluster(L, point, b, inside, proximity, most, m, squared, how, alpha):
    """Sparse coefficients of one cluster; fills ``alpha[:m]``. Returns (objective, optimality residual)."""
    d = L.shape[1]
    n = 0
    place = np.empty(m, np.int64)
    for i in range(m):
        if inside[i]:
            place[n] = i
            n += 1
    size = n + 1 - how.sum_to_one
    R = np.empty((size, d))
    lam = np.zeros(size)
    gamma = np.zeros(size)
    prior = np.zeros(size)
    for k in range(n):
        i = place[k]
        for a in range(d):
            R[k, a] = L[i, a] - point[a]
        lam[k] = how.lam * (most / proximity[i] if how.use_proximity == 1 else 1.0)
        gamma[k] = how.gamma
        prior[k] = b[i]
    if how.sum_to_one == 0:
        # The origin, free of penalties, takes up what the sum lacks.
        for a in range(d):
            R[n, a] = -point[a]
    G = np.dot(R, R.T)
    for k in range(size):
        for j in range(size):
            G[k, j] /= squared
    for k in range(n):
        G[k, k] += how.ridge
    start = prior.copy()
    work = np.empty(size)
    residual, objective, _ = sparse_approximation(G, size, lam, gamma, prior, how.tol, MAX_STEPS, start, work)
    for i in range(m):
        alpha[i] = 0.0
    for k in range(n):
        alpha[place[k]] = start[k]
    return objective, residual


@kernel
def _label_of(alpha, label, m, how, class_scale, out):
    """Label that coefficients stand for: mean, or the class of largest positive mass after scaling."""
    if how.n_classes > 0:
        mass = np.zeros(how.n_classes)
        for i in range(m):
            mass[int(label[i, 0])] += max(alpha[i], 0.0) * class_scale[int(label[i, 0])]
        out[0] = first_smallest(-mass, TIE * mass.sum())
        return
    for a in range(label.shape[1]):
        out[a] = 0.0
        for i in range(m):
            out[a] += alpha[i] * label[i, a]


@kernel
def approximate(Q, Z, label, class_scale, rows, proximity, size, how, answers):
    """Run Algorithm 1 for each query.

    Parameters
    ----------
    Q, Z : (n, D) queries and (N, D) training rows, in the space where distances are taken.
    label : (N, q) labels, or class numbers in one column.
    class_scale : (n_classes,) factor of each class when the label is read off the coefficients.
    rows, proximity, size : the neighbourhoods, as ``gather`` leaves them.
    how, answers : ``Settings`` and ``Answers``; the latter is filled.
    """
    D = Z.shape[1]
    q = label.shape[1]
    K = how.n_clusters
    is_class = how.n_classes > 0
    for i in range(Q.shape[0]):
        m = size[i]
        if m == 0:
            continue
        L = np.empty((m, D))
        y = np.empty((m, q))
        # Labels of coefficients that sum to one count from the first row's: what all have in common does not round.
        anchor = np.zeros(q)
        largest = 0.0
        if not is_class:
            for a in range(q):
                largest = max(largest, abs(label[rows[i, 0], a]))
                if how.sum_to_one == 1:
                    anchor[a] = label[rows[i, 0], a]
        away = np.empty(m)
        near = proximity[i, :m].copy()
        most = 0.0
        squared = 0.0
        scale = 0.0
        for k in range(m):
            r = rows[i, k]
            L[k] = Z[r]
            for a in range(q):
                y[k, a] = label[r, a] - anchor[a]
            total = 0.0
            for a in range(D):
                total += (Z[r, a] - Q[i, a]) ** 2
            away[k] = np.sqrt(total)
            squared += total / m
            scale += away[k] / m
            most = max(most, near[k])
        if squared <= 1e-300:
            squared = 1.0
            scale = 1.0
        member = answers.member[i]
        found = 1
        if K > 1:
            found = label_means(
                L,
                y,
                m,
                is_class,
                K,
                how.tau,
                how.overlap * scale,
                first_smallest(away, TIE * scale),
                CLUSTER_STEPS,
                member,
            )
        else:
            member[:m, 0] = True
        points = np.empty((found, D))
        fits = np.empty(found)
        inside = np.empty((m, D))
        for c in range(found):
            points[c] = Q[i]
            fits[c] = 0.0
            if how.energy > 0.0:
                n = np.int64(0)
                for k in range(m):
                    if member[k, c]:
                        inside[n] = L[k]
                        n += 1
                fits[c] = hull_point(inside, n, how.energy, Q[i], points[c])
                answers.hull_residual[i, c] = fits[c]
        # Full hulls of large clusters fit exactly.
        chosen = first_smallest(fits, TIE * scale)
        factor = np.ones(m)
        b = np.empty(m)
        alpha = np.zeros((found, m))
        objective = np.empty(found)
        settled = answers.labels[i]
        widest = widest_gap(y, m)
        settles = SETTLED * widest + ROUNDING * largest
        if how.max_iter > 0:
            n = np.int64(0)
            first = np.empty((m, q))
            ones = np.ones(m)
            for k in range(m):
                if member[k, chosen]:
                    first[n] = y[k]
                    n += 1
            if is_class:
                settled[0, 0] = majority(first, ones, n)
            else:
                settled[0] = 0.0
                for k in range(n):
                    for a in range(q):
                        settled[0, a] += first[k, a] / n
        step = 0
        while True:
            if how.max_iter > 0:
                for k in range(m):
                    factor[k] = label_factor(y, k, settled[step], is_class, how.tau, widest)
            worst = 0.0
            for c in range(found):
                inner = member[:m, c]
                _prior(away, factor, near, m, how, scale, inner, b)
                objective[c], residual = _solve_cluster(L, points[c], b, inner, near, most, m, squared, how, alpha[c])
                objective[c] += 0.5 * fits[c] ** 2 / squared
                worst = max(worst, residual)
            best = first_smallest(objective, TIE)
            for c in range(found):
                answers.objective[i, c] = objective[c]
                answers.share[i, c] = 1.0 if c == best else 0.0
            if how.best == 0 and found > 1:
                total = 0.0
                for c in range(found):
                    answers.share[i, c] = np.exp(-(objective[c] - objective[best]) / how.temperature)
                    total += answers.share[i, c]
                for c in range(found):
                    answers.share[i, c] /= total
            for k in range(m):
                answers.alpha[i, k] = 0.0
                for c in range(found):
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
