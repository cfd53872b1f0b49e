"""Sparse neighbour approximation (eq. 6): two l1 terms and coefficients that sum to one.

    minimise  1/2 a' G a + sum_i lam_i |a_i| + gamma |a_i - b_i|    subject to  sum(a) = 1

G is the Gram matrix of the rows seen from the target, plus a small ridge; b is the prior, whose sum is one too.
A solve that starts at the prior moves few coefficients, so a row of G is computed when it is needed first.
Each step moves weight from one coefficient to another, so the sum never changes.  Along such a pair the objective
is a parabola with at most four kinks and is minimised exactly.

Optimality: with g = G a, raising a_i costs ``up_i = g_i + right derivative`` and lowering it earns
``down_i = g_i + left derivative`` of the l1 terms.  The solution is where no pair gains, ``max down <= min up``; the
difference of the two is the optimality residual on which the solver stops.

Pair steps crawl where G is nearly singular and few coefficients rest on a kink (gamma = 0, small ridge).  So after
every ``PATIENCE * m`` of them comes one Newton step on all coefficients that are off their kinks.

Without the constraint (the paper's form) the same solver serves: the caller adds the origin as one more row with no
penalty, and the origin takes up whatever the sum lacks.
"""

from typing import NamedTuple

import numpy as np

from ..forest.splits import cholesky_solve
from ..jit import TIE, kernel
from ..sorting import order_of

PATIENCE = 5
FLAT = 1e-12  # least curvature along a pair
EQUAL = 1e-12  # slopes that differ by less are equal; of these, the first row moves


class Gram(NamedTuple):
    """A Gram matrix of m rows or more; see ``begin_gram``."""

    columns: np.ndarray  # (d, >= m) the rows, as columns
    ridge: np.ndarray  # (m,) added to the diagonal
    diagonal: np.ndarray  # (m,)
    known: np.ndarray  # (m,) which rows of the matrix have been computed
    rows: np.ndarray  # (m, >= m) the matrix, row by row


@kernel
def begin_gram(gram, m):
    """Fill the diagonal of the leading m x m block; no row is known yet."""
    for i in range(m):
        gram.diagonal[i] = 0.0
        gram.known[i] = False
    for a in range(gram.columns.shape[0]):
        for i in range(m):
            gram.diagonal[i] += gram.columns[a, i] * gram.columns[a, i]
    for i in range(m):
        gram.diagonal[i] += gram.ridge[i]


@kernel
def _row_of(gram, m, i):
    """Row i of the matrix."""
    row = gram.rows[i]
    if not gram.known[i]:
        gram.known[i] = True
        for j in range(m):
            row[j] = 0.0
        for a in range(gram.columns.shape[0]):
            factor = gram.columns[a, i]
            for j in range(m):
                row[j] += factor * gram.columns[a, j]
        row[i] = gram.diagonal[i]
    return row


@kernel
def _left_slope(a, b, lam, gamma):
    slope = lam if a > 0.0 else -lam
    return slope + (gamma if a > b else -gamma)


@kernel
def _right_slope(a, b, lam, gamma):
    slope = lam if a >= 0.0 else -lam
    return slope + (gamma if a >= b else -gamma)


@kernel
def _set_slopes(i, lam, gamma, b, a, left, right):
    """Slopes of the l1 terms on either side of coefficient i."""
    left[i] = _left_slope(a[i], b[i], lam[i], gamma[i])
    right[i] = _right_slope(a[i], b[i], lam[i], gamma[i])


@kernel
def _next_kink(value, kink_a, kink_b, direction):
    """Distance from ``value`` to the nearest kink strictly ahead in ``direction``; infinite if there is none."""
    best = np.inf
    ahead = (kink_a - value) * direction
    if ahead > 0.0:
        best = ahead
    ahead = (kink_b - value) * direction
    if 0.0 < ahead < best:
        best = ahead
    return best


@kernel
def _landing(value, b, distance, direction):
    """The kink, 0 or b, that lies ``distance`` ahead of ``value``."""
    if abs((0.0 - value) * direction - distance) <= abs((b - value) * direction - distance):
        return 0.0
    return b


@kernel
def _product(gram, m, a, g):
    """Fill g with G a."""
    for i in range(m):
        g[i] = gram.ridge[i] * a[i]
    for c in range(gram.columns.shape[0]):
        total = 0.0
        for j in range(m):
            total += gram.columns[c, j] * a[j]
        for i in range(m):
            g[i] += total * gram.columns[c, i]


@kernel
def _newton_step(gram, m, lam, gamma, b, a):
    """Move all coefficients that are off their kinks toward their joint optimum, while the objective falls.

    The last of them takes up what the others give, so that the sum stays.  The way there may pass kinks; it ends
    on one, exactly, or where the parabola between two has its bottom.
    """
    free = np.empty(m, np.int64)
    n = 0
    for i in range(m):
        if (a[i] != 0.0 or lam[i] == 0.0) and (a[i] != b[i] or gamma[i] == 0.0):
            free[n] = i
            n += 1
    if n < 2:
        return
    last = free[n - 1]
    slope = np.empty(n)
    for k in range(n):
        i = free[k]
        slope[k] = lam[i] * np.sign(a[i]) + gamma[i] * np.sign(a[i] - b[i])
        row = _row_of(gram, m, i)
        for j in range(m):
            slope[k] += row[j] * a[j]
    G = gram.rows
    H = np.empty((n - 1, n - 1))
    move = np.empty(n)
    largest = 0.0
    for k in range(n - 1):
        for j in range(k + 1):
            H[k, j] = G[free[k], free[j]] - G[free[k], last] - G[last, free[j]] + G[last, last]
        largest = max(largest, H[k, k])
        move[k] = slope[n - 1] - slope[k]
    for k in range(n - 1):
        H[k, k] += 1e-12 * largest
    cholesky_solve(H, move, n - 1)
    move[n - 1] = 0.0
    for k in range(n - 1):
        move[n - 1] -= move[k]
    descent = 0.0
    for k in range(n):
        descent += slope[k] * move[k]
    if not -np.inf < descent < 0.0:
        return
    curvature = -descent
    when = np.full(2 * n, np.inf)
    jump = np.zeros(2 * n)
    for k in range(n):
        i = free[k]
        if lam[i] > 0.0 and a[i] * move[k] < 0.0:
            when[2 * k] = -a[i] / move[k]
            jump[2 * k] = 2.0 * lam[i] * abs(move[k])
        if gamma[i] > 0.0 and (b[i] - a[i]) * move[k] > 0.0:
            when[2 * k + 1] = (b[i] - a[i]) / move[k]
            jump[2 * k + 1] = 2.0 * gamma[i] * abs(move[k])
    length = 1.0
    for s in order_of(when):
        if when[s] >= length:
            break
        descent += jump[s]
        length = max(when[s], -descent / curvature)
    excess = 0.0
    balance = -1
    for k in range(n):
        i = free[k]
        value = a[i] + length * move[k]
        if when[2 * k] == length:
            value = 0.0
        elif when[2 * k + 1] == length:
            value = b[i]
        elif balance < 0 or abs(value) > abs(a[balance]):
            balance = i
        excess += value - a[i]
        a[i] = value
    if balance >= 0:
        a[balance] -= excess


@kernel
def sparse_approximation(gram, m, lam, gamma, b, tol, max_steps, a, g):
    """Solve the problem of this module for the leading m x m block of G, starting at the ``a`` given.

    Parameters
    ----------
    gram : ``Gram`` that ``begin_gram`` has begun; may hold rows that an earlier solve needed.
    lam, gamma, b : (m,) penalties lam_i and gamma_i, prior.
    tol : optimality residual at which to stop.
    a : (m,) start with sum one; holds the solution afterwards.
    g : (m,) work space; holds G a afterwards.

    Returns
    -------
    (optimality residual, objective, steps)
    """
    _product(gram, m, a, g)
    left = np.empty(m)
    right = np.empty(m)
    promised = np.empty(m)
    for i in range(m):
        _set_slopes(i, lam, gamma, b, a, left, right)
    residual = np.inf
    steps = 0
    while steps < max_steps:
        give = 0
        down = -np.inf
        up_least = np.inf
        for i in range(m):
            value = g[i] + left[i]
            if value > down + EQUAL:
                down = value
                give = i
            value = g[i] + right[i]
            if value < up_least - EQUAL:
                up_least = value
        residual = down - up_least
        if residual <= tol:
            break
        # The partner that promises the largest decrease of the smooth part.
        take = -1
        promise = 0.0
        row = _row_of(gram, m, give)
        own = row[give]
        for i in range(m):
            want = max(down - (g[i] + right[i]), 0.0)
            promised[i] = want * want / max(own + gram.diagonal[i] - 2.0 * row[i], FLAT)
        for i in range(m):
            if promised[i] > promise * (1.0 + TIE) and i != give:
                promise = promised[i]
                take = i
        if take < 0:
            break
        curvature = max(own + gram.diagonal[take] - 2.0 * row[take], FLAT)
        moved = 0.0
        at_give = a[give]
        at_take = a[take]
        pull = g[give] - g[take]
        while True:
            gain = (
                pull
                - curvature * moved
                + _left_slope(at_give, b[give], lam[give], gamma[give])
                - _right_slope(at_take, b[take], lam[take], gamma[take])
            )
            if not gain > 0.0:
                break
            free = gain / curvature
            kink_give = _next_kink(at_give, 0.0, b[give], -1.0)
            kink_take = _next_kink(at_take, 0.0, b[take], 1.0)
            if free < kink_give and free < kink_take:
                moved += free
                at_give -= free
                at_take += free
                break
            # Land on the kink itself, so that zeros are exact zeros.
            if kink_give <= kink_take:
                moved += kink_give
                at_take += kink_give
                at_give = _landing(at_give, b[give], kink_give, -1.0)
            else:
                moved += kink_take
                at_give -= kink_take
                at_take = _landing(at_take, b[take], kink_take, 1.0)
        if moved <= 0.0:
            break
        a[give] = at_give
        a[take] = at_take
        other = _row_of(gram, m, take)
        for i in range(m):
            g[i] += moved * (other[i] - row[i])
        steps += 1
        if steps % (PATIENCE * m) == 0:
            _newton_step(gram, m, lam, gamma, b, a)
            _product(gram, m, a, g)
            for i in range(m):
                _set_slopes(i, lam, gamma, b, a, left, right)
        else:
            _set_slopes(give, lam, gamma, b, a, left, right)
            _set_slopes(take, lam, gamma, b, a, left, right)
    objective = 0.0
    for i in range(m):
        objective += 0.5 * a[i] * g[i] + lam[i] * abs(a[i]) + gamma[i] * abs(a[i] - b[i])
    return residual, objective, steps
