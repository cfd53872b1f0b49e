"""Sparse neighbour approximation (eq. 6): two l1 terms and coefficients that sum to one.

    minimise  1/2 a' G a + sum_i lam_i |a_i| + gamma_i |a_i - b_i|    subject to  sum(a) = 1

a (``alpha``) are the coefficients, b (``prior``) also sums to one, and G is the Gram matrix of the rows relative to
the target, plus a small ridge. A solve that starts at the prior changes few coefficients, so rows of G are computed on
demand. Each step moves weight from one coefficient to another, so the sum never changes. Along such a pair the
objective is a parabola with at most four kinks and is minimised exactly.

Optimality: with g = G a (``gradient``), raising a_i costs ``up_i = g_i + right derivative`` and lowering it gains
``down_i = g_i + left derivative`` of the l1 terms. At the solution no pair step reduces the objective,
``max down <= min up``; the difference of the two is the optimality residual, and the solver stops when it is small.

Pair steps converge slowly if G is nearly singular and few coefficients lie on a kink (gamma = 0, small ridge).
Therefore every ``PATIENCE * m`` pair steps are followed by one Newton step on all coefficients that are not on a kink.

The same solver handles the problem without the constraint (the paper's form): the caller adds the origin as one more
row without a penalty, whose coefficient makes up the sum.
"""

from typing import NamedTuple

import numpy as np

from ..forest.splits import cholesky_solve
from ..jit import TIE, kernel
from ..sorting import order_of

PATIENCE = 5
MIN_CURVATURE = 1e-12  # smallest curvature along a pair
SLOPE_TIE = 1e-12  # slopes that differ by less are equal; the first row then moves


class Gram(NamedTuple):
    """A Gram matrix of at least m rows, computed on demand; see ``reset_gram``."""

    columns: np.ndarray  # (d, >= m) the rows, as columns
    ridge: np.ndarray  # (m,) added to the diagonal
    diagonal: np.ndarray  # (m,)
    computed: np.ndarray  # (m,) whether each row of the matrix has been computed
    rows: np.ndarray  # (m, >= m) the matrix, row by row


@kernel
def reset_gram(gram, m):
    """Fill the diagonal of the leading m x m block, and mark all rows as not computed."""
    for i in range(m):
        gram.diagonal[i] = 0.0
        gram.computed[i] = False
    for dimension in range(gram.columns.shape[0]):
        for i in range(m):
            gram.diagonal[i] += gram.columns[dimension, i] * gram.columns[dimension, i]
    for i in range(m):
        gram.diagonal[i] += gram.ridge[i]


@kernel
def _gram_row(gram, m, i):
    """Return row i of the matrix, which is computed on first use."""
    row = gram.rows[i]
    if not gram.computed[i]:
        gram.computed[i] = True
        for j in range(m):
            row[j] = 0.0
        for dimension in range(gram.columns.shape[0]):
            factor = gram.columns[dimension, i]
            for j in range(m):
                row[j] += factor * gram.columns[dimension, j]
        row[i] = gram.diagonal[i]
    return row


@kernel
def _left_slope(alpha, prior, lam, gamma):
    slope = lam if alpha > 0.0 else -lam
    return slope + (gamma if alpha > prior else -gamma)


@kernel
def _right_slope(alpha, prior, lam, gamma):
    slope = lam if alpha >= 0.0 else -lam
    return slope + (gamma if alpha >= prior else -gamma)


@kernel
def _set_slopes(i, lam, gamma, prior, alpha, left_slopes, right_slopes):
    """Slopes of the l1 terms on either side of coefficient i."""
    left_slopes[i] = _left_slope(alpha[i], prior[i], lam[i], gamma[i])
    right_slopes[i] = _right_slope(alpha[i], prior[i], lam[i], gamma[i])


@kernel
def _next_kink(value, first_kink, second_kink, direction):
    """Distance from ``value`` to the next kink in ``direction``; infinite if there are no more."""
    nearest = np.inf
    distance = (first_kink - value) * direction
    if distance > 0.0:
        nearest = distance
    distance = (second_kink - value) * direction
    if 0.0 < distance < nearest:
        nearest = distance
    return nearest


@kernel
def _kink_ahead(value, prior, distance, direction):
    """The kink, 0 or b, that lies ``distance`` ahead of ``value``."""
    if abs((0.0 - value) * direction - distance) <= abs((prior - value) * direction - distance):
        return 0.0
    return prior


@kernel
def _gram_product(gram, m, alpha, gradient):
    """Fill ``gradient`` with G a."""
    for i in range(m):
        gradient[i] = gram.ridge[i] * alpha[i]
    for dimension in range(gram.columns.shape[0]):
        total = 0.0
        for j in range(m):
            total += gram.columns[dimension, j] * alpha[j]
        for i in range(m):
            gradient[i] += total * gram.columns[dimension, i]


@kernel
def _newton_step(gram, m, lam, gamma, prior, alpha):
    """Move all coefficients that are not on a kink toward their joint optimum, as long as the objective falls.

    The last of them balances the changes of the others, which keeps the sum. The path may pass kinks; it ends exactly
    on a kink, or at the minimum of the parabola between two of them.
    """
    free_rows = np.empty(m, np.int64)
    n_free = 0
    for i in range(m):
        if (alpha[i] != 0.0 or lam[i] == 0.0) and (alpha[i] != prior[i] or gamma[i] == 0.0):
            free_rows[n_free] = i
            n_free += 1
    if n_free < 2:
        return
    last = free_rows[n_free - 1]
    slope = np.empty(n_free)
    for k in range(n_free):
        i = free_rows[k]
        slope[k] = lam[i] * np.sign(alpha[i]) + gamma[i] * np.sign(alpha[i] - prior[i])
        row = _gram_row(gram, m, i)
        for j in range(m):
            slope[k] += row[j] * alpha[j]
    gram_rows = gram.rows
    hessian = np.empty((n_free - 1, n_free - 1))
    direction = np.empty(n_free)
    largest = 0.0
    for k in range(n_free - 1):
        for j in range(k + 1):
            hessian[k, j] = (
                gram_rows[free_rows[k], free_rows[j]]
                - gram_rows[free_rows[k], last]
                - gram_rows[last, free_rows[j]]
                + gram_rows[last, last]
            )
        largest = max(largest, hessian[k, k])
        direction[k] = slope[n_free - 1] - slope[k]
    for k in range(n_free - 1):
        hessian[k, k] += 1e-12 * largest
    cholesky_solve(hessian, direction, n_free - 1)
    direction[n_free - 1] = 0.0
    for k in range(n_free - 1):
        direction[n_free - 1] -= direction[k]
    descent = 0.0
    for k in range(n_free):
        descent += slope[k] * direction[k]
    if not -np.inf < descent < 0.0:
        return
    curvature = -descent
    kink_steps = np.full(2 * n_free, np.inf)
    slope_jumps = np.zeros(2 * n_free)
    for k in range(n_free):
        i = free_rows[k]
        if lam[i] > 0.0 and alpha[i] * direction[k] < 0.0:
            kink_steps[2 * k] = -alpha[i] / direction[k]
            slope_jumps[2 * k] = 2.0 * lam[i] * abs(direction[k])
        if gamma[i] > 0.0 and (prior[i] - alpha[i]) * direction[k] > 0.0:
            kink_steps[2 * k + 1] = (prior[i] - alpha[i]) / direction[k]
            slope_jumps[2 * k + 1] = 2.0 * gamma[i] * abs(direction[k])
    step = 1.0
    for kink in order_of(kink_steps):
        if kink_steps[kink] >= step:
            break
        descent += slope_jumps[kink]
        step = max(kink_steps[kink], -descent / curvature)
    excess = 0.0
    absorber = -1
    for k in range(n_free):
        i = free_rows[k]
        value = alpha[i] + step * direction[k]
        if kink_steps[2 * k] == step:
            value = 0.0
        elif kink_steps[2 * k + 1] == step:
            value = prior[i]
        elif absorber < 0 or abs(value) > abs(alpha[absorber]):
            absorber = i
        excess += value - alpha[i]
        alpha[i] = value
    if absorber >= 0:
        alpha[absorber] -= excess


@kernel
def sparse_approximation(gram, m, lam, gamma, prior, tol, max_steps, alpha, gradient):
    """Solve the problem of this module for the leading m x m block of G, starting at ``alpha``.

    Parameters
    ----------
    gram : ``Gram`` prepared by ``reset_gram``; rows computed by earlier solves are reused.
    lam, gamma, prior : (m,) penalties lam_i and gamma_i, prior.
    tol : optimality residual at which the solver stops.
    alpha : (m,) start with sum one; holds the solution afterwards.
    gradient : (m,) workspace; holds G a afterwards.

    Returns
    -------
    (optimality residual, objective, steps)
    """
    _gram_product(gram, m, alpha, gradient)
    left_slopes = np.empty(m)
    right_slopes = np.empty(m)
    decrease = np.empty(m)
    for i in range(m):
        _set_slopes(i, lam, gamma, prior, alpha, left_slopes, right_slopes)
    residual = np.inf
    steps = 0
    while steps < max_steps:
        donor = 0
        max_down = -np.inf
        min_up = np.inf
        for i in range(m):
            value = gradient[i] + left_slopes[i]
            if value > max_down + SLOPE_TIE:
                max_down = value
                donor = i
            value = gradient[i] + right_slopes[i]
            if value < min_up - SLOPE_TIE:
                min_up = value
        residual = max_down - min_up
        if residual <= tol:
            break
        # The receiver with the largest decrease of the smooth part.
        receiver = -1
        best_decrease = 0.0
        donor_row = _gram_row(gram, m, donor)
        donor_diagonal = donor_row[donor]
        for i in range(m):
            slope = max(max_down - (gradient[i] + right_slopes[i]), 0.0)
            decrease[i] = slope * slope / max(donor_diagonal + gram.diagonal[i] - 2.0 * donor_row[i], MIN_CURVATURE)
        for i in range(m):
            if decrease[i] > best_decrease * (1.0 + TIE) and i != donor:
                best_decrease = decrease[i]
                receiver = i
        if receiver < 0:
            break
        curvature = max(donor_diagonal + gram.diagonal[receiver] - 2.0 * donor_row[receiver], MIN_CURVATURE)
        shift = 0.0
        donor_value = alpha[donor]
        receiver_value = alpha[receiver]
        gradient_gap = gradient[donor] - gradient[receiver]
        while True:
            gain = (
                gradient_gap
                - curvature * shift
                + _left_slope(donor_value, prior[donor], lam[donor], gamma[donor])
                - _right_slope(receiver_value, prior[receiver], lam[receiver], gamma[receiver])
            )
            if not gain > 0.0:
                break
            free_shift = gain / curvature
            donor_kink = _next_kink(donor_value, 0.0, prior[donor], -1.0)
            receiver_kink = _next_kink(receiver_value, 0.0, prior[receiver], 1.0)
            if free_shift < donor_kink and free_shift < receiver_kink:
                shift += free_shift
                donor_value -= free_shift
                receiver_value += free_shift
                break
            # End on the kink itself, so that zeros are exact.
            if donor_kink <= receiver_kink:
                shift += donor_kink
                receiver_value += donor_kink
                donor_value = _kink_ahead(donor_value, prior[donor], donor_kink, -1.0)
            else:
                shift += receiver_kink
                donor_value -= receiver_kink
                receiver_value = _kink_ahead(receiver_value, prior[receiver], receiver_kink, 1.0)
        if shift <= 0.0:
            break
        alpha[donor] = donor_value
        alpha[receiver] = receiver_value
        receiver_row = _gram_row(gram, m, receiver)
        for i in range(m):
            gradient[i] += shift * (receiver_row[i] - donor_row[i])
        steps += 1
        if steps % (PATIENCE * m) == 0:
            _newton_step(gram, m, lam, gamma, prior, alpha)
            _gram_product(gram, m, alpha, gradient)
            for i in range(m):
                _set_slopes(i, lam, gamma, prior, alpha, left_slopes, right_slopes)
        else:
            _set_slopes(donor, lam, gamma, prior, alpha, left_slopes, right_slopes)
            _set_slopes(receiver, lam, gamma, prior, alpha, left_slopes, right_slopes)
    objective = 0.0
    for i in range(m):
        objective += 0.5 * alpha[i] * gradient[i] + lam[i] * abs(alpha[i]) + gamma[i] * abs(alpha[i] - prior[i])
    return residual, objective, steps
