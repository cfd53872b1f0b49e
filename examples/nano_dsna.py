"""The paper's method in one short file, written to be read: numpy and a scikit-learn forest.

It follows "Discriminative Sparse Neighbor Approximation for Imbalanced Learning" (Huang, Loy and Tang). eq1 ... eq10
are the labels of the equations in the paper's LaTeX source, which has no eq3. Given the same trees, the file computes
what the library computes with `dsna.presets.paper`; a test compares the two. Comments that begin with "Library:" say
where both fill a gap in the paper or depart from its letter.

    python examples/nano_dsna.py
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor


@dataclass(frozen=True)
class Settings:
    """The constants of the method, with the values of `dsna.presets.paper`."""

    lam: float = 0.01  # weight of the l1 norm in eq6
    gamma: float = 1.0  # weight of the l1 distance from the prior in eq6
    tau: float = 1.0  # strength of the targets in eq1
    n_clusters: int = 3  # K
    overlap: float = 0.3  # the "slightly larger" of the text after eq1, in mean distances from the query
    bandwidth: float = 0.3  # h of eq4, in mean distances from the query
    ridge: float = 0.01  # Library: a small quadratic penalty, which makes the solution of eq6 unique
    max_iter: int = 10  # T of Algorithm 1


def safe_neighborhoods(trees, X, queries):
    """The neighbourhood R of each query: the rows of X that share a leaf with it in any tree, as a mask.

    eq7 bounds the error of a forest by rho (1 - m^2) / m^2: bagging and random features keep the correlation rho of the
    trees low, and cost-sensitive splits make the single trees stronger (m) on imbalanced data.
    eq8 is the gain of a split: criterion="entropy" with class_weight="balanced", or "squared_error".
    eq9, eq10: the paper learns each split by a cost-sensitive linear SVM or SVR, as the library's own forests do. A
    scikit-learn forest, which splits on single features, stands in for them here.
    """
    neighbors = np.zeros((len(queries), len(X)), dtype=bool)
    for tree, rows in trees:
        neighbors[:, rows] |= tree.apply(queries)[:, None] == tree.apply(X[rows])
    return neighbors


def label_factors(y, label, classify, tau):
    """eq1: factors that multiply the distances of rows with labels y from a point with the given label."""
    if classify:
        return (y != label).astype(float)
    gap, widest = np.abs(y - label), np.ptp(y)
    if widest == 0:
        return np.zeros(len(y))
    # Library: max{y} is the range of the neighbours' targets, eps a thousandth of it.
    return tau * gap / (np.maximum(widest - gap, 0) + 1e-3 * widest)


def typical_label(y, classify):
    """The majority class, or the mean target."""
    return np.bincount(y).argmax() if classify else y.mean()


def overlapping_clusters(L, y, to_query, classify, settings):
    """K-means in the distance of eq1; a row belongs to its nearest center and to any that is only slightly farther.

    `to_query` holds the distances of the rows L from the query.
    """

    def distances(center, label):
        # Library: a tiny share of the plain distance breaks ties between rows of one class.
        return np.linalg.norm(L - center, axis=1) * (label_factors(y, label, classify, settings.tau) + 1e-9)

    # Library: the first center is the row nearest the query, each further one the row farthest from the others.
    centers = [(L[to_query.argmin()], y[to_query.argmin()])]
    while len(centers) < settings.n_clusters:
        to_nearest = np.min([distances(*center) for center in centers], axis=0)
        if to_nearest.max() == 0:
            break
        centers.append((L[to_nearest.argmax()], y[to_nearest.argmax()]))
    members = None
    for _ in range(10):
        to_center = np.array([distances(*center) for center in centers])
        previous, members = members, to_center <= to_center.min(axis=0) + settings.overlap * to_query.mean()
        if np.array_equal(members, previous):
            break
        for k, rows in enumerate(members):
            if rows.any():
                centers[k] = L[rows].mean(axis=0), typical_label(y[rows], classify)
    return [np.flatnonzero(rows) for rows in members if rows.any()]


def nearest_hull_point(L, q):
    """eq2: the point mu + U v of the affine hull of the rows L that is nearest to q."""
    mu = L.mean(axis=0)
    length, U = np.linalg.svd(L - mu, full_matrices=False)[1:]
    U = U[length > 1e-6 * np.linalg.norm(length) + 1e-12]
    v = U @ (q - mu)
    return mu + v @ U


def prior_coefficients(distances, h):
    """eq4: weights of the neighbours N_k that fall with their label-aware distance from the query."""
    # Library: N_k is the nearer half of the cluster. Where all weights underflow, the nearest row gets 1.
    weights = np.where(distances <= np.sort(distances)[len(distances) // 2], np.exp(-distances / h), 0)
    if weights.sum() <= 1e-300:
        weights[distances.argmin()] = 1
    return weights / weights.sum()


def sparse_coefficients(L, point, prior, settings):
    """eq6 by the augmented Lagrange multiplier method: the coefficients of the rows L, and the objective."""
    # Library: the loss is half the squared norm, not the norm; and the rows approximate the hull point, as in eq5,
    # where eq6 has the query.
    lam, gamma, ridge = settings.lam, settings.gamma, settings.ridge
    inverse = np.linalg.inv(L @ L.T + (ridge + 1) * np.eye(len(L)))
    # Slopes of the l1 terms below 0, between 0 and the prior, and above the prior.
    slopes = np.array([[-lam - gamma], [lam - gamma], [lam + gamma]])
    alpha, multipliers = prior, np.zeros(len(L))
    for _ in range(100_000):
        # Each step has a closed form. The smooth terms lead to a linear system; the minimum for the l1 terms is the
        # median of five numbers: the two kinks, 0 and the prior, and the minimum for each of the three slopes.
        smooth = inverse @ (L @ point + alpha - multipliers)
        previous, alpha = alpha, np.sort(np.vstack([0 * prior, prior, smooth + multipliers - slopes]), axis=0)[2]
        multipliers = multipliers + smooth - alpha
        if np.abs([alpha - smooth, alpha - previous]).max() < 1e-10:
            break
    loss = np.sum((point - alpha @ L) ** 2) / 2 + ridge * alpha @ alpha / 2
    return alpha, loss + lam * np.abs(alpha).sum() + gamma * np.abs(alpha - prior).sum()


def approximate(q, L, y, rarity, settings):
    """Algorithm 1: the coefficients of the neighbours L, with labels y, of the query q.

    Classes are numbered from 0, and `rarity` is the inverse share of each; in regression it is None.
    """
    classify = rarity is not None
    to_query = np.linalg.norm(L - q, axis=1)
    # Library: the loss is divided by the mean squared distance, so that lam and gamma do not depend on the scale of X;
    # h and the overlap are multiples of the mean distance.
    unit, scale = np.sqrt(np.mean(to_query**2)) or 1.0, to_query.mean() or 1.0
    clusters = overlapping_clusters(L, y, to_query, classify, settings)
    points = [nearest_hull_point(L[rows], q) for rows in clusters]
    misfits = np.array([np.linalg.norm(q - point) for point in points])
    best_fit = clusters[np.argmax(misfits <= misfits.min() + 1e-9 * scale)]
    labels = [typical_label(y[best_fit], classify)]
    for _ in range(settings.max_iter):
        distances = to_query * label_factors(y, labels[-1], classify, settings.tau)
        lowest = np.inf
        for rows, point, misfit in zip(clusters, points, misfits, strict=True):
            prior = prior_coefficients(distances[rows], settings.bandwidth * scale)
            solution, objective = sparse_coefficients(L[rows] / unit, point / unit, prior, settings)
            # Library: k minimises the objective of eq5 in each step, and the distance of q from the hull is a term of
            # it, not a constraint. Algorithm 1 as printed chooses k from q alone, so that k would never change.
            objective += (misfit / unit) ** 2 / 2
            if objective < lowest - 1e-9:
                lowest, alpha = objective, np.zeros(len(L))
                alpha[rows] = solution
        # Library: the positive coefficients of each class are summed and multiplied by its rarity; the paper votes.
        mass = np.maximum(alpha, 0)
        label = np.argmax(np.bincount(y, mass, len(rarity)) * rarity) if classify else y @ alpha
        if any(abs(label - earlier) <= 1e-4 * np.ptp(y) for earlier in labels):
            break  # settled, or in a cycle
        labels.append(label)
    return alpha


class NanoDSNA:
    """Classification with a RandomForestClassifier, regression with a RandomForestRegressor."""

    def __init__(self, forest, **settings):
        self.forest, self.settings = forest, Settings(**settings)

    def fit(self, X, y):
        # Library: columns are standardised.
        self.mean, self.spread = X.mean(axis=0), np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 1)
        self.X, self.y, self.rarity = self.scaled(X), y, None
        if is_classifier(self.forest):
            self.classes, self.y = np.unique(y, return_inverse=True)
            self.rarity = len(y) / np.bincount(self.y)
        self.forest.fit(self.X, self.y)
        # Each tree with the rows of its leaves: here all. Library: each tree leaves out two fifths of the rows, and
        # predicts them "out of bag".
        self.trees = [(tree, np.arange(len(X))) for tree in self.forest.estimators_]
        return self

    def scaled(self, X):
        return (X - self.mean) / self.spread

    def coefficients(self, X):
        """The coefficient of each training row in the approximation of each row of X."""
        queries = self.scaled(X)
        alpha = np.zeros((len(X), len(self.X)))
        for i, rows in enumerate(safe_neighborhoods(self.trees, self.X, queries)):
            alpha[i, rows] = approximate(queries[i], self.X[rows], self.y[rows], self.rarity, self.settings)
        return alpha

    def predict(self, X):
        """The targets y' alpha, or the majority vote among the rows with nonzero coefficients."""
        alpha = self.coefficients(X)
        if self.rarity is None:
            return alpha @ self.y
        votes = np.abs(alpha) > 1e-3 * np.abs(alpha).max(axis=1, keepdims=True)
        return self.classes[np.argmax(votes @ np.eye(len(self.classes))[self.y], axis=1)]


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    target = np.round(X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=200), 2)
    label = np.where(target > 2.5, "rare", "common")
    query = np.array([[1.5, 1.2, 0.0, 0.0]])  # the target is 2.94, up to noise
    growth = {"n_estimators": 20, "max_depth": 10, "min_samples_leaf": 5, "random_state": 0}
    classifier = RandomForestClassifier(criterion="entropy", class_weight="balanced", **growth)
    for forest, y in ((classifier, label), (RandomForestRegressor(**growth), target)):
        model = NanoDSNA(forest, gamma=0.1).fit(X, y)
        alpha = model.coefficients(query)[0]
        largest = ", ".join(f"{alpha[i]:.2f} of {y[i]}" for i in np.argsort(-np.abs(alpha))[:5])
        print(f"prediction: {model.predict(query)[0]}, largest coefficients: {largest}")
