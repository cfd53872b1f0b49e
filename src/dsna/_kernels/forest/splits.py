"""Linear splits of a node: weighted SVM (eq. 9) and SVR (eq. 10) by Newton's method in the primal.

Both minimise, over w,

    1/2 |w|^2 + C / n * sum_i c_i * loss_i(x_i . w)

with the squared hinge ``max(0, 1 - t f)^2`` (t = +-1) or the squared epsilon-insensitive loss
``max(0, |t - f| - eps)^2``. Where the loss of a row is not zero it equals ``(a - f)^2`` for a working target a: t
itself, or t moved by eps toward f. So each Newton step is a ridge regression on the active rows, and the
solution is exact once a full step leaves the active rows as they were.
"""

import numpy as np

from ..jit import TIE, kernel, random_below

WIDE = 32  # columns from which on it pays to work with products of rows, where these are fewer
HINGE = 0
EPSILON_INSENSITIVE = 1


@kernel
def _working_target(kind, target, prediction, epsilon):
    """Working target of one row and whether its loss is not zero."""
    if kind == HINGE:
        return target, target * prediction < 1.0
    difference = target - prediction
    if difference > epsilon:
        return target - epsilon, True
    if difference < -epsilon:
        return target + epsilon, True
    return target, False


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


@kernel
def _loss(kind, target, cost, prediction, direction, step, epsilon, n):
    total = 0.0
    for i in range(n):
        f = prediction[i] + step * direction[i]
        working, active = _working_target(kind, target[i], f, epsilon)
        if active:
            total += cost[i] * (working - f) * (working - f)
    return total


@kernel
def _ridge(X, working, cost, scale, n, d, H, b):
    """Ridge regression of the working targets on the rows, without those of infinite targets: fills ``b`` (d,)."""
    for a in range(d):
        b[a] = 0.0
        for k in range(a + 1):
            H[a, k] = 0.0
        H[a, a] = 1.0
    for i in range(n):
        if working[i] < np.inf:
            weight = scale * cost[i]
            for a in range(d):
                v = weight * X[i, a]
                b[a] += v * working[i]
                for k in range(a + 1):
                    H[a, k] += v * X[i, k]
    cholesky_solve(H, b, d)


@kernel
def _ridge_by_rows(X, working, cost, scale, n, d, products, H, b):
    """The same where rows are fewer than columns.

    With R the active rows times the roots of their weights, ``(I + R'R)^-1 R' = R' (I + RR')^-1``.
    """
    active = np.empty(n, np.int64)
    root = np.empty(n)
    part = np.empty(n)
    m = 0
    for i in range(n):
        if working[i] < np.inf:
            active[m] = i
            root[m] = np.sqrt(scale * cost[i])
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
            b[a] += root[k] * part[k] * X[active[k], a]


@kernel
def newton_split(X, target, cost, n, d, kind, C, epsilon, max_steps, w, prediction):
    """Fit one linear split on the rows ``X[:n, :d]``; fills ``w[:d]`` and ``prediction[:n]``.

    Parameters
    ----------
    X : standardised rows, a constant column among them if there is to be a bias.
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
    if by_rows:
        for i in range(n):
            for k in range(i + 1):
                product = 0.0
                for a in range(d):
                    product += X[i, a] * X[k, a]
                products[i, k] = product
    b = np.empty(d)
    direction = np.empty(n)
    working = np.empty(n)
    for a in range(d):
        w[a] = 0.0
    for i in range(n):
        prediction[i] = 0.0
        working[i] = np.nan
    scale = 2.0 * C / n
    for step in range(max_steps):
        settled = True
        for i in range(n):
            current, active = _working_target(kind, target[i], prediction[i], epsilon)
            if not active:
                current = np.inf
            if current != working[i]:
                settled = False
                working[i] = current
        if settled:
            return step
        if by_rows:
            _ridge_by_rows(X, working, cost, scale, n, d, products, H, b)
        else:
            _ridge(X, working, cost, scale, n, d, H, b)
        norm_w = 0.0
        norm_p = 0.0
        w_p = 0.0
        for a in range(d):
            p = b[a] - w[a]
            norm_w += w[a] * w[a]
            norm_p += p * p
            w_p += w[a] * p
        for i in range(n):
            f = 0.0
            for a in range(d):
                f += X[i, a] * b[a]
            direction[i] = f - prediction[i]
        # The step is the exact minimiser of a quadratic that touches the objective at w, so it descends;
        # halve it until it does so far enough.
        length = 1.0
        start = 0.5 * norm_w + 0.5 * scale * _loss(kind, target, cost, prediction, direction, 0.0, epsilon, n)
        slope = w_p
        for i in range(n):
            current, active = _working_target(kind, target[i], prediction[i], epsilon)
            if active:
                slope += scale * cost[i] * (prediction[i] - current) * direction[i]
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
                working[i] = np.nan
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
