"""Linear splits of a node: weighted SVM (eq. 9) and SVR (eq. 10) by Newton's method in the primal.

Both minimise, over w,

    1/2 |w|^2 + C / n * sum_i c_i * loss_i(x_i . w)

with the squared hinge ``max(0, 1 - t f)^2`` (t = +-1) or the squared epsilon-insensitive loss
``max(0, |t - f| - eps)^2``. Where the loss of a row is not zero it equals ``(a - f)^2`` for a working target a: t
itself, or t moved by eps toward f. So each Newton step is a ridge regression on the active rows, and the
solution is exact once a full step leaves the active rows as they were.
"""

import numpy as np

from ..jit import TIE, kernel, random_below, sums

WIDE = 32  # columns from which on it pays to work with products of rows, where these are fewer
HINGE = 0
EPSILON_INSENSITIVE = 1


@kernel
def _excess(kind, target, prediction, epsilon):
    """How far the working target of a row lies from its prediction; 0 where the loss is zero."""
    if kind == HINGE:
        return target * max(0.0, 1.0 - target * prediction)
    difference = target - prediction
    return max(0.0, difference - epsilon) + min(0.0, difference + epsilon)


@sums
def dot(a, b, n):
    """Sum of the products of ``a[:n]`` and ``b[:n]``."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@kernel
def cholesky_solve(H, b, d):
    """Solve H x = b for the leading d x d block (lower triangle given); H and b are overwritten, x is left in b."""
    for j in range(d):
        s = H[j, j]
        for k in range(j):
            s -= H[j, k] * H[j, k]
        root = np.sqrt(s)
        H[j, j] = root
        for i in range(j + 1, d):
            s = H[i, j]
            for k in range(j):
                s -= H[i, k] * H[j, k]
            H[i, j] = s / root
    for i in range(d):
        s = b[i]
        for k in range(i):
            s -= H[i, k] * b[k]
        b[i] = s / H[i, i]
    for i in range(d - 1, -1, -1):
        s = b[i]
        for k in range(i + 1, d):
            s -= H[k, i] * b[k]
        b[i] = s / H[i, i]


@sums
def _loss(kind, target, cost, prediction, direction, step, epsilon, n):
    total = 0.0
    for i in range(n):
        excess = _excess(kind, target[i], prediction[i] + step * direction[i], epsilon)
        total += cost[i] * excess * excess
    return total


@sums
def _slope(kind, target, cost, prediction, direction, epsilon, n):
    """Half the derivative of the loss along a direction."""
    total = 0.0
    for i in range(n):
        total -= cost[i] * _excess(kind, target[i], prediction[i], epsilon) * direction[i]
    return total


@kernel
def _ridge(X, working, weight, n, d, part, H, b):
    """Ridge regression of the working targets on the rows: fills ``b`` (d,)."""
    for a in range(d):
        for i in range(n):
            part[i] = weight[i] * X[a, i]
        b[a] = dot(part, working, n)
        for k in range(a + 1):
            H[a, k] = dot(part, X[k], n)
        H[a, a] += 1.0
    cholesky_solve(H, b, d)


@kernel
def _ridge_by_rows(rows, working, weight, n, d, products, H, b):
    """The same where rows (n, d) are fewer than columns.

    With R the active rows times the roots of their weights, ``(I + R'R)^-1 R' = R' (I + RR')^-1``.
    """
    active = np.empty(n, np.int64)
    root = np.empty(n)
    part = np.empty(n)
    m = np.int64(0)
    for i in range(n):
        if weight[i] > 0.0:
            active[m] = i
            root[m] = np.sqrt(weight[i])
            part[m] = root[m] * working[i]
            for k in range(m + 1):
                H[m, k] = root[m] * root[k] * products[i, active[k]]
            H[m, m] += 1.0
            m += 1
    cholesky_solve(H, part, m)
    for a in range(d):
        b[a] = 0.0
    for k in range(m):
        for a in range(d):
            b[a] += root[k] * part[k] * rows[active[k], a]


@kernel
def newton_split(X, target, cost, n, d, kind, C, epsilon, max_steps, w, prediction):
    """Fit one linear split on n rows, given as columns ``X[:d, :n]``; fills ``w[:d]`` and ``prediction[:n]``.

    Parameters
    ----------
    X : standardised columns, a constant one among them if there is to be a bias.
    target, cost : +-1 or target of each row; its weight (mean 1).
    kind : HINGE or EPSILON_INSENSITIVE.
    C, epsilon : weight of the mean loss against the norm; width of the tube.
    max_steps : Newton steps at most.

    Returns
    -------
    Number of steps taken; ``max_steps`` if the active rows had not settled.
    """
    by_rows = d >= WIDE and n < d
    size = n if by_rows else d
    H = np.empty((size, size))
    products = np.empty((size, size))
    rows = np.empty((n, d if by_rows else 0))
    if by_rows:
        for i in range(n):
            for a in range(d):
                rows[i, a] = X[a, i]
            for k in range(i + 1):
                products[i, k] = dot(rows[i], rows[k], d)
    b = np.empty(d)
    direction = np.empty(n)
    part = np.empty(n)
    working = np.empty(n)
    weight = np.empty(n)
    side = np.full(n, 2.0)
    for a in range(d):
        w[a] = 0.0
    for i in range(n):
        prediction[i] = 0.0
    scale = 2.0 * C / n
    for step in range(max_steps):
        changed = 0
        for i in range(n):
            excess = _excess(kind, target[i], prediction[i], epsilon)
            # On which side of its prediction the working target lies; 0 where the row is not active.
            now = np.float64(excess > 0.0) - np.float64(excess < 0.0)
            changed += now != side[i]
            side[i] = now
            weight[i] = scale * cost[i] * abs(now)
            working[i] = target[i] if kind == HINGE else target[i] - epsilon * now
        if changed == 0:
            return step
        if by_rows:
            _ridge_by_rows(rows, working, weight, n, d, products, H, b)
        else:
            _ridge(X, working, weight, n, d, part, H, b)
        norm_w = 0.0
        norm_p = 0.0
        w_p = 0.0
        for a in range(d):
            p = b[a] - w[a]
            norm_w += w[a] * w[a]
            norm_p += p * p
            w_p += w[a] * p
        for i in range(n):
            direction[i] = -prediction[i]
        for a in range(d):
            for i in range(n):
                direction[i] += b[a] * X[a, i]
        # The step is the exact minimiser of a quadratic that touches the objective at w, so it descends;
        # halve it until it does so far enough.
        length = 1.0
        start = 0.5 * norm_w + 0.5 * scale * _loss(kind, target, cost, prediction, direction, 0.0, epsilon, n)
        slope = w_p + scale * _slope(kind, target, cost, prediction, direction, epsilon, n)
        if slope > -1e-14 * (1.0 + start):
            return step
        for _ in range(30):
            value = 0.5 * norm_w + length * w_p + 0.5 * length * length * norm_p
            value += 0.5 * scale * _loss(kind, target, cost, prediction, direction, length, epsilon, n)
            if value <= start + 1e-4 * length * slope:
                break
            length *= 0.5
        for a in range(d):
            w[a] += length * (b[a] - w[a])
        for i in range(n):
            prediction[i] += length * direction[i]
        if length < 1.0:
            for i in range(n):
                side[i] = 2.0
    return max_steps


@kernel
def two_means(X, n, d, state, max_iter, group):
    """Split rows ``X[:n, :d]`` into two groups by Lloyd's algorithm; fills ``group[:n]`` with 0 and 1.

    Returns False if fewer than two different rows were found.
    """
    centres = np.empty((2, d))
    first = random_below(state, n)
    second = -1
    far = 0.0
    for _ in range(5):
        j = random_below(state, n)
        distance = 0.0
        for a in range(d):
            distance += (X[j, a] - X[first, a]) ** 2
        if distance > far:
            far = distance
            second = j
    if second < 0:
        return False
    for a in range(d):
        centres[0, a] = X[first, a]
        centres[1, a] = X[second, a]
    counts = np.zeros(2)
    for i in range(n):
        group[i] = -1
    for _ in range(max_iter):
        changed = False
        for i in range(n):
            near = 0.0
            other = 0.0
            for a in range(d):
                near += (X[i, a] - centres[0, a]) ** 2
                other += (X[i, a] - centres[1, a]) ** 2
            g = 1 if other < near * (1.0 - TIE) else 0
            if g != group[i]:
                group[i] = g
                changed = True
        if not changed:
            break
        counts[:] = 0.0
        centres[:, :] = 0.0
        for i in range(n):
            counts[group[i]] += 1.0
            for a in range(d):
                centres[group[i], a] += X[i, a]
        for g in range(2):
            for a in range(d):
                centres[g, a] /= max(counts[g], 1.0)
    return counts[0] > 0 and counts[1] > 0
