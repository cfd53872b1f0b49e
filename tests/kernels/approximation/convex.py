"""The sparse approximation stated as a convex program and left to an interior-point solver."""

import cvxpy as cp
import numpy as np

_TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def best_coefficients(R, ridge, lam, gamma, b, target=None, sum_to_one=True):
    """Minimise 1/2 |R' a - target|^2 + ridge / 2 |a|^2 + sum lam_i |a_i| + gamma_i |a_i - b_i|."""
    m = len(R)
    a = cp.Variable(m)
    off = R.T @ a if target is None else R.T @ a - target
    cost = 0.5 * cp.sum_squares(off) + lam @ cp.abs(a) + gamma @ cp.abs(a - b)
    if ridge > 0:
        cost += 0.5 * ridge * cp.sum_squares(a)
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(a) == 1] if sum_to_one else [])
    problem.solve(solver="CLARABEL", **_TIGHT)
    assert problem.status in ("optimal", "optimal_inaccurate")
    return np.asarray(a.value)
