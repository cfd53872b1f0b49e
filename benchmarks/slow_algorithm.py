"""Algorithm 1 for one query with numpy and cvxpy, written from the equations.

It shares no code with the kernels: the tests compare these with it, and the benchmark of predictions their speed.
"""

import cvxpy as cp
import numpy as np

NEGLIGIBLE = 1e-9  # of the plain distance, which breaks ties among rows of one label
MARGIN = 1e-3  # eps of g(.), in units of the widest label gap
TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def widest_gap(labels):
    return float(np.linalg.norm(np.ptp(labels, axis=0)))


def factors(labels, other, is_class, tau, widest):
    """Indicator of classes unlike another, or g of the gaps between labels and another."""
    if is_class:
        return (labels[:, 0] != other[0]).astype(float)
    gap = np.linalg.norm(labels - other, axis=1)
    return tau * gap / np.where(gap > 0, np.maximum(widest - gap, 0.0) + MARGIN * widest, 1.0)


def centre_label(labels, is_class):
    """Mean of labels; of classes the most frequent, the smallest of equals."""
    if not is_class:
        return labels.mean(axis=0)
    classes, counts = np.unique(labels[:, 0], return_counts=True)
    return classes[[np.argmax(counts)]]


def slow_clusters(Z, labels, is_class, k, tau, slack, first, max_iter=10):
    """Label-aware K-means with overlap (eq. 1): the rows of each cluster."""
    widest = widest_gap(labels)

    def distances(places, names):
        """(m, k) from each row to each centre."""
        away = np.stack([np.linalg.norm(Z - place, axis=1) for place in places], axis=1)
        return away * (np.stack([factors(labels, name, is_class, tau, widest) for name in names], axis=1) + NEGLIGIBLE)

    places, names = [Z[first]], [labels[first]]
    while len(places) < k:
        from_nearest = distances(places, names).min(axis=1)
        farthest = np.argmax(from_nearest)
        if from_nearest[farthest] <= 0.0:
            break
        places.append(Z[farthest])
        names.append(labels[farthest])
    inside = np.zeros((len(Z), len(places)), dtype=bool)
    for _ in range(max_iter):
        away = distances(places, names)
        before, inside = inside, away <= away.min(axis=1, keepdims=True) + slack
        if np.array_equal(inside, before):
            break
        for c in np.flatnonzero(inside.any(axis=0)):
            places[c] = Z[inside[:, c]].mean(axis=0)
            names[c] = centre_label(labels[inside[:, c]], is_class)
    return [np.flatnonzero(member) for member in inside.T if member.any()]


def nearest_in_hull(L, q, energy):
    """Eq. 2: q projected on the mean and the fewest leading directions that hold the share ``energy``."""
    mean = L.mean(axis=0)
    values, directions = np.linalg.svd(L - mean, full_matrices=False)[1:]
    if np.all(values <= 1e-12 * (1 + np.abs(mean).max())):
        return mean
    held = np.cumsum(values**2) / np.sum(values**2)
    basis = directions[: np.searchsorted(held, energy) + 1]
    return mean + basis.T @ (basis @ (q - mean))


def prior_of(reach, proximity, how, scale):
    """Eq. 4 over the rows of a cluster, from their label-aware distances."""
    bound = np.inf
    if how.radius < 1:
        bound = np.sort(reach)[min(int(how.radius * len(reach)), len(reach) - 1)]
    b = np.where(reach <= bound, np.exp(-reach / (how.bandwidth * scale)), 0.0)
    if how.use_proximity:
        b = b * proximity
    if b.sum() <= 1e-300:
        b = np.eye(len(b))[np.argmin(reach)]
    return b / b.sum()


def penalised(off, a, ridge, lam, gamma, b):
    """Objective of eq. 6 for coefficients a that leave ``off`` of the target."""
    smooth = 0.5 * cp.sum_squares(off) + 0.5 * ridge * cp.sum_squares(a)
    return smooth + lam @ cp.abs(a) + gamma @ cp.abs(a - b)


def best_coefficients(R, ridge, lam, gamma, b, target=None, sum_to_one=True, precision=TIGHT):
    """Minimise 1/2 |R' a - target|^2 + ridge / 2 |a|^2 + sum lam_i |a_i| + gamma_i |a_i - b_i| by interior points."""
    a = cp.Variable(len(R))
    off = R.T @ a if target is None else R.T @ a - target
    problem = cp.Problem(cp.Minimize(penalised(off, a, ridge, lam, gamma, b)), [cp.sum(a) == 1] if sum_to_one else [])
    problem.solve(solver=cp.CLARABEL, **precision)
    assert problem.status in ("optimal", "optimal_inaccurate")
    return np.asarray(a.value)


def label_of(alpha, labels, n_classes, class_scale):
    """Label that coefficients stand for."""
    if n_classes == 0:
        return alpha @ labels
    mass = np.bincount(labels[:, 0].astype(int), np.maximum(alpha, 0.0), n_classes)
    return np.array([float(np.argmax(mass * class_scale))])


class SlowAnswer:
    """What Algorithm 1 finds for the query q among the rows L with their labels and proximities.

    ``how`` has the fields of ``Approximation.kernel_settings``; ``solve`` takes what ``best_coefficients`` takes.
    """

    def __init__(self, q, L, labels, proximity, class_scale, how, solve=best_coefficients):
        self.how, self.L, self.proximity, self.solve = how, L, proximity, solve
        is_class = how.n_classes > 0
        away = np.linalg.norm(L - q, axis=1)
        self.squared, self.scale = np.mean(away**2), np.mean(away)
        if self.squared == 0:
            self.squared = self.scale = 1.0
        self.clusters = [np.arange(len(L))]
        if how.n_clusters > 1:
            slack = how.overlap * self.scale
            self.clusters = slow_clusters(L, labels, is_class, how.n_clusters, how.tau, slack, np.argmin(away))
        self.points = [q if how.energy == 0 else nearest_in_hull(L[c], q, how.energy) for c in self.clusters]
        self.off = np.array([np.linalg.norm(q - p) for p in self.points])
        widest = widest_gap(labels)
        self.settled = []
        if how.max_iter == 0:
            self._step(away)
            self.settled.append(label_of(self.alpha, labels, how.n_classes, class_scale))
            return
        first = int(np.argmin(np.round(self.off / self.scale, 6)))
        self.settled.append(centre_label(labels[self.clusters[first]], is_class))
        for _ in range(how.max_iter):
            self._step(away * factors(labels, self.settled[-1], is_class, how.tau, widest))
            label = label_of(self.alpha, labels, how.n_classes, class_scale)
            known = [np.abs(label - past).max() <= 1e-4 * widest for past in self.settled]
            self.settled.append(label)
            if any(known):
                break

    def _step(self, reach):
        """Coefficients of all clusters for label-aware distances ``reach``, and their mixture."""
        how = self.how
        self.objective, found = [], []
        for rows, point, off in zip(self.clusters, self.points, self.off, strict=True):
            prior = prior_of(reach[rows], self.proximity[rows], how, self.scale)
            lam = np.full(len(rows), how.lam)
            if how.use_proximity:
                lam *= self.proximity.max() / self.proximity[rows]
            gamma = np.full(len(rows), how.gamma)
            R, target = self.L[rows] / np.sqrt(self.squared), point / np.sqrt(self.squared)
            a = self.solve(R, how.ridge, lam, gamma, prior, target, bool(how.sum_to_one))
            value = 0.5 * np.sum((R.T @ a - target) ** 2) + 0.5 * how.ridge * a @ a
            value += lam @ np.abs(a) + gamma @ np.abs(a - prior)
            self.objective.append(value + 0.5 * off**2 / self.squared)
            full = np.zeros(len(self.L))
            full[rows] = a
            found.append(full)
        self.objective = np.array(self.objective)
        if how.best:
            self.share = np.eye(len(found))[np.argmin(self.objective)]
        else:
            self.share = np.exp(-(self.objective - self.objective.min()) / how.temperature)
            self.share /= self.share.sum()
        self.alpha = self.share @ np.array(found)
