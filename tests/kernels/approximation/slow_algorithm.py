"""Algorithm 1 for one query with numpy and cvxpy, written from the equations."""

import numpy as np

from tests.kernels.approximation.convex import best_coefficients
from tests.kernels.approximation.slow_clusters import centre_of, factor, slow_clusters, widest_gap


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


def read_label(alpha, labels, n_classes, class_scale):
    if n_classes == 0:
        return alpha @ labels
    mass = np.zeros(n_classes)
    np.add.at(mass, labels[:, 0].astype(int), np.maximum(alpha, 0.0))
    return np.array([float(np.argmax(mass * class_scale))])


class SlowAnswer:
    """What Algorithm 1 finds for the query q among the rows L with their labels and proximities."""

    def __init__(self, q, L, labels, proximity, class_scale, how):
        self.how, self.labels, self.proximity = how, labels, proximity
        self.L = L
        is_class = how.n_classes > 0
        away = np.linalg.norm(L - q, axis=1)
        self.squared, self.scale = np.mean(away**2), np.mean(away)
        if self.squared == 0:
            self.squared = self.scale = 1.0
        self.clusters = [list(range(len(L)))]
        if how.n_clusters > 1:
            slack = how.overlap * self.scale
            found = slow_clusters(L, labels, is_class, how.n_clusters, how.tau, slack, int(np.argmin(away)))
            self.clusters = [sorted(rows) for rows in found]
        self.points = [q if how.energy == 0 else nearest_in_hull(L[c], q, how.energy) for c in self.clusters]
        self.off = np.array([np.linalg.norm(q - p) for p in self.points])
        widest = widest_gap(labels)
        self.settled = []
        if how.max_iter == 0:
            self._step(away)
            self.settled.append(read_label(self.alpha, labels, how.n_classes, class_scale))
            return
        first = int(np.argmin(np.round(self.off / self.scale, 6)))
        self.settled.append(np.asarray(centre_of(self.clusters[first], L, labels, is_class)[1]))
        for _ in range(how.max_iter):
            seen = np.array([factor(y, self.settled[-1], is_class, how.tau, widest) for y in labels])
            self._step(away * seen)
            label = read_label(self.alpha, labels, how.n_classes, class_scale)
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
            R, aim = self.L[rows] / np.sqrt(self.squared), point / np.sqrt(self.squared)
            a = best_coefficients(R, how.ridge, lam, gamma, prior, aim, bool(how.sum_to_one))
            value = 0.5 * np.sum((R.T @ a - aim) ** 2) + 0.5 * how.ridge * a @ a
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
