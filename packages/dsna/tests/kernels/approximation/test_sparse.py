"""The sparse solver against cvxpy, against its optimality conditions, and by properties of the problem."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.slow_algorithm import best_coefficients
from dsna._kernels.approximation.query import MAX_STEPS
from dsna._kernels.approximation.sparse import Gram, reset_gram, sparse_approximation

modest = settings(max_examples=40)


def gram_of(R, ridge):
    """The Gram matrix of rows R, of which nothing but the diagonal is known."""
    m = len(R)
    gram = Gram(
        columns=np.ascontiguousarray(R.T),
        ridge=np.broadcast_to(np.asarray(ridge, dtype=np.float64), m).copy(),
        diagonal=np.full(m, np.nan),
        computed=np.ones(m, dtype=bool),
        rows=np.full((m, m), np.nan),
    )
    reset_gram(gram, m)
    return gram


class Problem:
    """1/2 |R' a|^2 + ridge / 2 |a|^2 + sum lam_i |a_i| + gamma_i |a_i - b_i| over sum(a) = 1."""

    def __init__(self, R, ridge, lam, gamma, b):
        self.R = np.asarray(R, dtype=np.float64)
        m = len(self.R)
        self.ridge = ridge
        self.lam = np.broadcast_to(np.asarray(lam, dtype=np.float64), m).copy()
        self.gamma = np.broadcast_to(np.asarray(gamma, dtype=np.float64), m).copy()
        self.b = np.asarray(b, dtype=np.float64)

    @property
    def G(self):
        return self.R @ self.R.T + self.ridge * np.eye(len(self.R))

    def objective(self, a):
        smooth = 0.5 * np.sum((self.R.T @ a) ** 2) + 0.5 * self.ridge * a @ a
        return smooth + self.lam @ np.abs(a) + self.gamma @ np.abs(a - self.b)

    @property
    def gram(self):
        return gram_of(self.R, self.ridge)

    def solve(self, start=None, tol=1e-9, gram=None):
        a = (self.b if start is None else start).copy()
        g = np.empty(len(a))
        gram = self.gram if gram is None else gram
        residual, objective, steps = sparse_approximation(
            gram, len(a), self.lam, self.gamma, self.b, tol, MAX_STEPS, a, g
        )
        assert np.all(np.isfinite(a))
        scale = 1 + abs(objective)
        assert abs(objective - self.objective(a)) <= 1e-9 * scale
        np.testing.assert_allclose(g, self.G @ a, atol=1e-9 * (1 + np.abs(self.G @ a).max()))
        assert residual < 1e-6
        assert steps <= MAX_STEPS
        return a

    def violation(self, a):
        """Width by which no common multiplier fits all subdifferentials; at most zero at an optimum."""
        smooth = self.G @ a
        low, high = smooth.copy(), smooth.copy()
        for penalty, kink in ((self.lam, 0.0), (self.gamma, self.b)):
            low += np.where(a > kink, penalty, -penalty)
            high += np.where(a < kink, -penalty, penalty)
        return low.max() - high.min()


def prior(rng, m, share=0.6):
    b = rng.random(m) * (rng.random(m) < share)
    if b.sum() == 0:
        b[0] = 1.0
    return b / b.sum()


def random_problem(seed, m, d, lam, gamma, ridge, uneven=False):
    rng = np.random.default_rng(seed)
    R = rng.normal(size=(m, d)) / np.sqrt(d)
    weight = rng.uniform(1.0, 10.0, m) if uneven else 1.0
    return Problem(R, ridge, lam * weight, gamma, prior(rng, m))


def check(problem, a):
    """All that must hold of any solution, and that cvxpy finds none better."""
    size = 1 + problem.lam.max() + problem.gamma.max()
    assert problem.violation(a) < 1e-6 + 1e-14 * size
    assert abs(a.sum() - 1.0) <= 1e-12 * max(1.0, np.abs(a).max())
    best = problem.objective(best_coefficients(problem.R, problem.ridge, problem.lam, problem.gamma, problem.b))
    ours = problem.objective(a)
    assert ours == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert ours <= best + 1e-9 * (1 + abs(best))


@pytest.mark.parametrize("lam, gamma", [(0.0, 0.0), (0.01, 0.0), (0.0, 0.03), (0.003, 0.1), (0.3, 0.03)])
@pytest.mark.parametrize("ridge", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("m, d", [(6, 3), (40, 10)])
def test_random_problems(m, d, ridge, lam, gamma):
    for seed, uneven in ((0, False), (1, True)):
        problem = random_problem(seed, m, d, lam, gamma, ridge, uneven)
        check(problem, problem.solve())


def adversarial():
    rng = np.random.default_rng(5)
    R = rng.normal(size=(12, 4))
    b = prior(rng, 12)
    even = np.full(12, 1 / 12)
    one = np.eye(12)[3]
    far = (R + 100.0) / np.sqrt(np.mean(np.sum((R + 100.0) ** 2, axis=1)))
    yield "duplicates", Problem(R[[0] * 4 + [1] * 4 + [2] * 4], 0.0, 0.01, 0.03, b)
    yield "duplicates of unlike penalties", Problem(R[[0] * 6 + [1] * 6], 0.0, np.arange(12) / 50, 0.01, b)
    yield "all rows equal", Problem(R[[0] * 12], 0.0, 0.02, 0.05, b)
    yield "zero rows", Problem(np.where(np.arange(12)[:, None] < 6, 0.0, R), 0.0, 0.01, 0.03, b)
    yield "all zero", Problem(np.zeros((12, 4)), 0.0, 0.01, 0.03, b)
    yield "all zero, no penalty", Problem(np.zeros((12, 4)), 0.0, 0.0, 0.0, b)
    yield "rank one", Problem(R[:, :1] + 3.0, 0.0, 0.01, 0.0, even)
    yield "no penalty", Problem(R + 2.0, 0.0, 0.0, 0.0, b)
    yield "no penalty, more columns than rows", Problem(rng.normal(size=(12, 30)), 0.0, 0.0, 0.0, b)
    yield "prior on one row", Problem(R, 0.0, 0.01, 0.03, one)
    yield "target far outside", Problem(far, 0.0, 0.01, 0.03, b)
    yield "far outside, tiny ridge", Problem(far, 1e-6, 0.01, 0.0, b)
    yield "huge lam", Problem(R, 0.01, 1e6, 0.03, b)
    yield "huge gamma", Problem(R, 0.01, 0.01, 1e6, b)
    yield "both huge", Problem(R, 0.01, 1e6, 1e6, b)
    yield "one penalty huge", Problem(R, 0.01, np.where(np.arange(12) == 3, 1e6, 0.01), 0.0, one)
    yield "negative prior", Problem(R, 0.01, 0.01, 0.05, np.append(np.full(10, 0.2), [-0.5, -0.5]))
    yield "nearly equal rows", Problem(R[[0] * 12] + 1e-7 * R, 0.0, 0.001, 0.01, b)
    yield "one row", Problem(R[:1], 0.01, 0.1, 0.1, [1.0])
    yield "one row, nothing else", Problem(np.zeros((1, 4)), 0.0, 0.0, 0.0, [1.0])
    yield "two rows", Problem(R[:2], 0.0, 0.01, 0.03, [0.7, 0.3])
    yield "two equal rows", Problem(R[[0, 0]], 0.0, 0.01, 0.03, [1.0, 0.0])
    yield "two rows, no penalty", Problem(R[:2], 0.0, 0.0, 0.0, [0.5, 0.5])


@pytest.mark.parametrize("name, problem", list(adversarial()))
def test_adversarial_problems(name, problem):
    check(problem, problem.solve())


def test_many_coefficients_off_their_kinks():
    """Gamma = 0 and a small ridge: pair steps alone would need hundreds of thousands."""
    for ridge in (1e-6, 1e-4, 1e-2):
        for lam in (0.0, 0.01):
            problem = random_problem(2, 150, 8, lam, 0.0, ridge)
            a = problem.solve()
            assert problem.violation(a) < 1e-8


def test_against_the_closed_form_without_penalties():
    rng = np.random.default_rng(0)
    R = rng.normal(size=(8, 20))
    problem = Problem(R, 0.01, 0.0, 0.0, np.full(8, 1 / 8))
    inverse = np.linalg.solve(problem.G, np.ones(8))
    np.testing.assert_allclose(problem.solve(tol=1e-12), inverse / inverse.sum(), atol=1e-9)


def test_zeros_and_priors_are_exact():
    problem = random_problem(3, 60, 8, 0.05, 0.0, 0.01, uneven=True)
    a = problem.solve()
    exact = best_coefficients(problem.R, problem.ridge, problem.lam, problem.gamma, problem.b)
    gone = np.abs(exact) < 1e-6
    assert 10 < gone.sum() < 60
    assert np.all(a[gone] == 0.0)
    problem = random_problem(3, 60, 8, 0.0, 0.05, 0.01)
    a = problem.solve()
    exact = best_coefficients(problem.R, problem.ridge, problem.lam, problem.gamma, problem.b)
    kept = np.abs(exact - problem.b) < 1e-6
    assert 10 < kept.sum() < 60
    assert np.all(a[kept] == problem.b[kept])


def test_default_tolerance_bounds_the_loss():
    """Residual r and coefficients that differ by s in l1 norm: at most r * s / 2 above the least objective."""
    for seed in range(10):
        problem = random_problem(seed, 50, 10, 0.003, 0.1, 0.01)
        exact = problem.solve()
        g = np.empty(50)
        rough = problem.b.copy()
        residual, *_ = sparse_approximation(
            problem.gram, 50, problem.lam, problem.gamma, problem.b, 1e-3, MAX_STEPS, rough, g
        )
        assert residual <= 1e-3
        lost = problem.objective(rough) - problem.objective(exact)
        assert -1e-12 <= lost <= 0.5e-3 * np.abs(rough - exact).sum() + 1e-12


@pytest.mark.parametrize("lam, gamma", [(0.0, 0.0), (0.01, 0.03), (0.3, 0.0), (0.0, 0.3), (1.0, 1.0)])
@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_without_the_constraint(lam, gamma, ridge):
    """The origin as one more row, free of penalties and of the ridge, is the problem without the sum."""
    rng = np.random.default_rng(7)
    for m, d in ((5, 3), (30, 6)):
        L, target = rng.normal(size=(m, d)), rng.normal(size=d)
        b = prior(rng, m)
        R = np.vstack([L - target, -target])
        gram = gram_of(R, np.append(np.full(m, ridge), 0.0))
        a, g = np.append(b, 0.0), np.empty(m + 1)
        penalties = np.append(np.full(m, lam), 0.0), np.append(np.full(m, gamma), 0.0)
        residual, objective, _ = sparse_approximation(gram, m + 1, *penalties, np.append(b, 0.0), 1e-9, MAX_STEPS, a, g)
        assert residual < 1e-6
        x = cp.Variable(m)
        fit = 0.5 * cp.sum_squares(L.T @ x - target) + 0.5 * ridge * cp.sum_squares(x)
        best = cp.Problem(cp.Minimize(fit + lam * cp.norm1(x) + gamma * cp.norm1(x - b))).solve(solver="CLARABEL")
        assert objective == pytest.approx(best, abs=1e-6)
        if ridge:
            np.testing.assert_allclose(a[:m], x.value, atol=1e-4)


drawn = st.tuples(
    st.integers(0, 100_000),
    st.integers(1, 25),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.01, 0.5]),
    st.sampled_from([0.0, 0.03, 0.5]),
)


@modest
@given(drawn)
def test_lattice_problems_full_of_ties(problem):
    seed, m, d, lam, gamma = problem
    rng = np.random.default_rng(seed)
    b = np.bincount(rng.integers(0, m, 4), minlength=m) / 4
    tied = Problem(rng.integers(-1, 2, (m, d)), 0.0, lam, gamma, b)
    a = tied.solve()
    assert tied.violation(a) < 1e-6
    assert abs(a.sum() - 1.0) <= 1e-12 * max(1.0, np.abs(a).max())


@modest
@given(drawn)
def test_order_of_rows_does_not_matter(problem):
    problem = random_problem(*problem, 0.01, uneven=True)
    a = problem.solve()
    order = np.random.default_rng(0).permutation(len(a))
    other = Problem(problem.R[order], 0.01, problem.lam[order], problem.gamma[order], problem.b[order])
    np.testing.assert_allclose(other.solve(), a[order], atol=1e-6)


@modest
@given(drawn, st.sampled_from([1e-3, 0.1, 7.0, 1e3]))
def test_scaling_gram_and_penalties_together(problem, factor):
    problem = random_problem(*problem, 0.01)
    scaled = Problem(
        np.sqrt(factor) * problem.R, factor * 0.01, factor * problem.lam, factor * problem.gamma, problem.b
    )
    np.testing.assert_allclose(scaled.solve(tol=1e-9 * min(1.0, factor)), problem.solve(), atol=1e-6)


@modest
@given(drawn)
def test_start_does_not_matter(problem):
    problem = random_problem(*problem, 0.01)
    m = len(problem.b)
    far = np.random.default_rng(1).normal(size=m)
    far[0] += 1.0 - far.sum()
    a = problem.solve()
    for start in (np.full(m, 1 / m), np.eye(m)[m - 1], far):
        np.testing.assert_allclose(problem.solve(start), a, atol=1e-6)


@modest
@given(drawn)
def test_duplicates_share_what_one_row_has(problem):
    """A row as two halves, prior halved too, changes nothing but where the coefficient stands."""
    problem = random_problem(*problem, 0.0)
    m = len(problem.b)
    twice = np.append(np.arange(m), 0)
    b = problem.b[twice]
    b[[0, m]] /= 2
    doubled = Problem(problem.R[twice], 0.0, problem.lam[twice], problem.gamma[twice], b)
    a = doubled.solve()
    assert doubled.objective(a) == pytest.approx(problem.objective(problem.solve()), abs=1e-7)
    merged = a[:m].copy()
    merged[0] += a[m]
    assert problem.objective(merged) <= doubled.objective(a) + 1e-9


@modest
@given(drawn)
def test_more_penalty_on_a_row_never_enlarges_it(problem):
    problem = random_problem(*problem, 0.01)
    before = np.abs(problem.solve()[0])
    problem.lam[0] += 0.2
    assert np.abs(problem.solve()[0]) <= before + 1e-7


@modest
@given(drawn)
def test_only_rows_that_are_needed_are_computed(problem):
    """They are those of the Gram matrix; the next solve uses them, and finds what it would find without them."""
    problem = random_problem(*problem, 0.01, uneven=True)
    gram = problem.gram
    np.testing.assert_allclose(gram.diagonal, np.diag(problem.G), rtol=1e-12)
    assert not gram.computed.any()
    a = problem.solve(gram=gram)
    moved = np.flatnonzero(a != problem.b)
    assert gram.computed[moved].all()
    np.testing.assert_allclose(gram.rows[gram.computed], problem.G[gram.computed], rtol=1e-12, atol=1e-12)
    assert np.isnan(gram.rows[~gram.computed]).all()
    np.testing.assert_array_equal(problem.solve(gram=gram), a)


def test_a_block_of_a_larger_work_space():
    problem = random_problem(4, 20, 5, 0.003, 0.1, 0.01)
    wide = Gram(np.zeros((5, 31)), np.full(31, 0.01), np.empty(31), np.empty(31, dtype=bool), np.full((31, 31), np.nan))
    wide.columns[:, :20] = problem.R.T
    reset_gram(wide, 20)
    np.testing.assert_array_equal(problem.solve(gram=wide), problem.solve())
