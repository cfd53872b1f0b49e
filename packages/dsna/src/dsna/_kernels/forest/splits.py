"""Linear splits of a node: weighted SVM (eq. 9) and SVR (eq. 10) by Newton's method in the primal.

Both minimise, over w,

    1/2 |w|^2 + C / n * sum_i c_i * loss_i(x_i . w)

with the squared hinge ``max(0, 1 - t f)^2`` (t = +-1) or the squared epsilon-insensitive loss
``max(0, |t - f| - eps)^2``. If the loss of a row is positive, it equals ``(a - f)^2`` for a working target a: t
itself, or t moved by eps toward f. So each Newton step is a ridge regression on the rows with positive loss (the
active rows), and the solution is exact once a full step does not change the set of active rows.
"""

import numpy as np

from ..jit import TIE, kernel, random_below, sum_kernel

MIN_DUAL_COLUMNS = 32  # number of columns from which the dual problem is faster if there are fewer rows than columns
HINGE = 0
EPSILON_INSENSITIVE = 1


@kernel
def _excess(kind, target, prediction, epsilon):
    """Difference of a row's working target and its prediction; 0 if the loss is zero."""
    if kind == HINGE:
        return target * max(0.0, 1.0 - target * prediction)
    difference = target - prediction
    return max(0.0, difference - epsilon) + min(0.0, difference + epsilon)


@sum_kernel
def dot(a, b, n):
    """Sum of the products of ``a[:n]`` and ``b[:n]``."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@kernel
def cholesky_solve(H, b, d):
    """Solve H x = b for the leading d x d block, given its lower triangle; overwrites H, and b with x."""
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


@sum_kernel
def _loss(kind, target, cost, prediction, direction, step, epsilon, n):
    total = 0.0
    for i in range(n):
        excess = _excess(kind, target[i], prediction[i] + step * direction[i], epsilon)
        total += cost[i] * excess * excess
    return total


@sum_kernel
def _slope(kind, target, cost, prediction, direction, epsilon, n):
    """Half the derivative of the loss along a direction."""
    total = 0.0
    for i in range(n):
        total -= cost[i] * _excess(kind, target[i], prediction[i], epsilon) * direction[i]
    return total


@kernel
def _ridge(X, working_target, weight, n_rows, n_columns, weighted_column, H, solution):
    """Fill ``solution`` with the ridge regression of the working targets on the rows."""
    for a in range(n_columns):
        for i in range(n_rows):
            weighted_column[i] = weight[i] * X[a, i]
        solution[a] = dot(weighted_column, working_target, n_rows)
        for k in range(a + 1):
            H[a, k] = dot(weighted_column, X[k], n_rows)
        H[a, a] += 1.0
    cholesky_solve(H, solution, n_columns)


@kernel
def _ridge_by_rows(rows, working_target, weight, n_rows, n_columns, products, H, solution):
    """Fill the same solution through the dual problem, for fewer rows than columns.

    With R the active rows times the roots of their weights, ``(I + R'R)^-1 R' = R' (I + RR')^-1``.
    """
    active = np.empty(n_rows, np.int64)
    root_weights = np.empty(n_rows)
    dual_solution = np.empty(n_rows)
    n_active = np.int64(0)
    for i in range(n_rows):
        if weight[i] > 0.0:
            active[n_active] = i
            root_weights[n_active] = np.sqrt(weight[i])
            dual_solution[n_active] = root_weights[n_active] * working_target[i]
            for k in range(n_active + 1):
                H[n_active, k] = root_weights[n_active] * root_weights[k] * products[i, active[k]]
            H[n_active, n_active] += 1.0
            n_active += 1
    cholesky_solve(H, dual_solution, n_active)
    for a in range(n_columns):
        solution[a] = 0.0
    for k in range(n_active):
        for a in range(n_columns):
            solution[a] += root_weights[k] * dual_solution[k] * rows[active[k], a]


@kernel
def newton_split(X, target, cost, n_rows, n_columns, kind, C, epsilon, max_steps, w, prediction):
    """Fit one linear split on rows given as columns ``X[:n_columns, :n_rows]``; fill ``w`` and ``prediction``.

    Parameters
    ----------
    X : standardised columns, with a constant column for a bias.
    target, cost : +-1 or target of each row, and its weight (mean 1).
    kind : HINGE or EPSILON_INSENSITIVE.
    C, epsilon : weight of the mean loss against the norm, and width of the tube.
    max_steps : maximum number of Newton steps.

    Returns
    -------
    Number of steps; ``max_steps`` if the set of active rows has not converged.
    """
    by_rows = n_columns >= MIN_DUAL_COLUMNS and n_rows < n_columns
    size = n_rows if by_rows else n_columns
    H = np.empty((size, size))
    products = np.empty((size, size))
    rows = np.empty((n_rows, n_columns if by_rows else 0))
    if by_rows:
        for i in range(n_rows):
            for a in range(n_columns):
                rows[i, a] = X[a, i]
            for k in range(i + 1):
                products[i, k] = dot(rows[i], rows[k], n_columns)
    solution = np.empty(n_columns)
    direction = np.empty(n_rows)
    weighted_column = np.empty(n_rows)
    working_target = np.empty(n_rows)
    weight = np.empty(n_rows)
    active_side = np.full(n_rows, 2.0)
    for a in range(n_columns):
        w[a] = 0.0
    for i in range(n_rows):
        prediction[i] = 0.0
    scale = 2.0 * C / n_rows
    for step in range(max_steps):
        changed = 0
        for i in range(n_rows):
            excess = _excess(kind, target[i], prediction[i], epsilon)
            # Side of the prediction on which the working target lies; 0 if the row is not active.
            new_side = np.float64(excess > 0.0) - np.float64(excess < 0.0)
            changed += new_side != active_side[i]
            active_side[i] = new_side
            weight[i] = scale * cost[i] * abs(new_side)
            working_target[i] = target[i] if kind == HINGE else target[i] - epsilon * new_side
        if changed == 0:
            return step
        if by_rows:
            _ridge_by_rows(rows, working_target, weight, n_rows, n_columns, products, H, solution)
        else:
            _ridge(X, working_target, weight, n_rows, n_columns, weighted_column, H, solution)
        weight_square = 0.0
        change_square = 0.0
        product = 0.0
        for a in range(n_columns):
            change = solution[a] - w[a]
            weight_square += w[a] * w[a]
            change_square += change * change
            product += w[a] * change
        for i in range(n_rows):
            direction[i] = -prediction[i]
        for a in range(n_columns):
            for i in range(n_rows):
                direction[i] += solution[a] * X[a, i]
        # The step minimises a quadratic that touches the objective at w, so it descends; halve it until the
        # decrease is sufficient.
        step_length = 1.0
        start_objective = 0.5 * weight_square + 0.5 * scale * _loss(
            kind, target, cost, prediction, direction, 0.0, epsilon, n_rows
        )
        slope = product + scale * _slope(kind, target, cost, prediction, direction, epsilon, n_rows)
        if slope > -1e-14 * (1.0 + start_objective):
            return step
        for _ in range(30):
            objective = 0.5 * weight_square + step_length * product + 0.5 * step_length * step_length * change_square
            objective += 0.5 * scale * _loss(kind, target, cost, prediction, direction, step_length, epsilon, n_rows)
            if objective <= start_objective + 1e-4 * step_length * slope:
                break
            step_length *= 0.5
        for a in range(n_columns):
            w[a] += step_length * (solution[a] - w[a])
        for i in range(n_rows):
            prediction[i] += step_length * direction[i]
        if step_length < 1.0:
            for i in range(n_rows):
                active_side[i] = 2.0
    return max_steps


@kernel
def two_means(X, n, d, state, max_iter, group):
    """Split rows ``X[:n, :d]`` into two groups by Lloyd's algorithm; fills ``group[:n]`` with 0 and 1.

    Returns False if no two different rows were drawn as starts, or a group is empty.
    """
    centres = np.empty((2, d))
    first_row = random_below(state, n)
    second_row = -1
    max_distance = 0.0
    for _ in range(5):
        candidate = random_below(state, n)
        distance = 0.0
        for a in range(d):
            distance += (X[candidate, a] - X[first_row, a]) ** 2
        if distance > max_distance:
            max_distance = distance
            second_row = candidate
    if second_row < 0:
        return False
    for a in range(d):
        centres[0, a] = X[first_row, a]
        centres[1, a] = X[second_row, a]
    counts = np.zeros(2)
    for i in range(n):
        group[i] = -1
    for _ in range(max_iter):
        changed = False
        for i in range(n):
            distance_to_first = 0.0
            distance_to_second = 0.0
            for a in range(d):
                distance_to_first += (X[i, a] - centres[0, a]) ** 2
                distance_to_second += (X[i, a] - centres[1, a]) ** 2
            g = 1 if distance_to_second < distance_to_first * (1.0 - TIE) else 0
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
