"""Newton splits against liblinear and cvxpy, and by properties of the problem they solve."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC, LinearSVR

from dsna._kernels.forest.splits import EPSILON_INSENSITIVE, HINGE, cholesky_solve, newton_split, two_means

KINDS = (HINGE, EPSILON_INSENSITIVE)
EPSILON = 0.1
modest = settings(max_examples=30)
problems = st.tuples(
    st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 6), st.sampled_from([0.1, 1.0, 10.0, 100.0])
)


def draw(seed, n, d, kind):
    """Rows with a constant column last, targets and costs of mean one."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, d)), np.ones(n)])
    score = X @ rng.normal(size=d + 1) + 0.5 * rng.normal(size=n)
    target = np.where(score > 0, 1.0, -1.0) if kind == HINGE else score
    cost = rng.uniform(0.1, 3.0, n)
    return X, target, cost / cost.mean()


def fit(X, target, cost, kind, C, max_steps=200):
    n, d = X.shape
    w, prediction = np.empty(d), np.empty(n)
    steps = newton_split(X.T.copy(), target, cost, n, d, kind, C, EPSILON, max_steps, w, prediction)
    assert steps < max_steps
    np.testing.assert_allclose(prediction, X @ w, atol=1e-9 * (1 + np.abs(target).max()))
    return w


def loss_terms(f, target, kind):
    """How far each prediction is inside the zone that costs; zero outside."""
    if kind == HINGE:
        return np.maximum(0.0, 1.0 - target * f)
    return np.maximum(0.0, np.abs(target - f) - EPSILON)


def objective(w, X, target, cost, kind, C):
    return 0.5 * w @ w + C * np.mean(cost * loss_terms(X @ w, target, kind) ** 2)


def gradient(w, X, target, cost, kind, C):
    f = X @ w
    side = target if kind == HINGE else np.sign(target - f)
    return w - 2.0 * C / len(f) * X.T @ (cost * side * loss_terms(f, target, kind))


def liblinear(X, target, cost, kind, C):
    """The same problem in liblinear's words: the constant column is its intercept, C / n its C."""
    common = {"C": C / len(X), "dual": False, "tol": 1e-12, "max_iter": 100_000, "intercept_scaling": 1.0}
    if kind == HINGE:
        model = LinearSVC(loss="squared_hinge", **common)
    else:
        model = LinearSVR(loss="squared_epsilon_insensitive", epsilon=EPSILON, **common)
    model.fit(X[:, :-1], target, sample_weight=cost)
    return np.append(np.ravel(model.coef_), model.intercept_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("n, d", [(12, 20), (80, 3), (300, 15), (12, 60), (50, 55)])
def test_liblinear_finds_the_same_split(kind, C, n, d):
    X, target, cost = draw(n + d, n, d, kind)
    ours, theirs = fit(X, target, cost, kind, C), liblinear(X, target, cost, kind, C)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5 * np.abs(ours).max())
    least = objective(ours, X, target, cost, kind, C)
    assert least <= objective(theirs, X, target, cost, kind, C) * (1 + 1e-10)


def test_liblinear_dual_finds_the_same_split():
    X, target, cost = draw(3, 60, 4, HINGE)
    model = LinearSVC(C=10.0 / 60, dual=True, tol=1e-10, max_iter=1_000_000)
    model.fit(X[:, :-1], target, sample_weight=cost)
    ours = fit(X, target, cost, HINGE, 10.0)
    np.testing.assert_allclose(ours, np.append(model.coef_[0], model.intercept_), atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_cvxpy_finds_the_same_split(kind, seed):
    X, target, cost = draw(seed, 40, 3 + 10 * seed, kind)
    cost[::3] = 0.0
    w = cp.Variable(X.shape[1])
    inside = 1 - cp.multiply(target, X @ w) if kind == HINGE else cp.abs(target - X @ w) - EPSILON
    paid = cp.sum(cp.multiply(cost, cp.square(cp.pos(inside))))
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 10.0 / len(X) * paid)).solve(solver="CLARABEL")
    ours = fit(X, target, cost, kind, 10.0)
    np.testing.assert_allclose(ours, w.value, atol=1e-4)
    assert objective(ours, X, target, cost, kind, 10.0) <= objective(w.value, X, target, cost, kind, 10.0) + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_ten_steps_are_nearly_enough(kind):
    from dsna._kernels.forest.node import NEWTON_STEPS

    for seed in range(20):
        X, target, cost = draw(seed, 200, 5, kind)
        w, prediction = np.empty(6), np.empty(200)
        newton_split(X.T.copy(), target, cost, 200, 6, kind, 10.0, EPSILON, NEWTON_STEPS, w, prediction)
        best = objective(fit(X, target, cost, kind, 10.0), X, target, cost, kind, 10.0)
        assert objective(w, X, target, cost, kind, 10.0) <= best * (1 + 1e-6)


@pytest.mark.parametrize("kind", KINDS)
@modest
@given(problem=problems)
def test_gradient_vanishes(kind, problem):
    *size, C = problem
    X, target, cost = draw(*size, kind)
    w = fit(X, target, cost, kind, C)
    at_start = np.abs(gradient(np.zeros_like(w), X, target, cost, kind, C)).max()
    assert np.abs(gradient(w, X, target, cost, kind, C)).max() <= 1e-7 * (1 + at_start)


@pytest.mark.parametrize("kind", KINDS)
@modest
@given(problem=problems)
def test_order_of_rows_and_features_does_not_matter(kind, problem):
    *size, C = problem
    X, target, cost = draw(*size, kind)
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    w = fit(X, target, cost, kind, C)
    shuffled = fit(X[rows][:, columns], target[rows], cost[rows], kind, C)
    np.testing.assert_allclose(shuffled, w[columns], atol=1e-6 * (1 + np.abs(w).max()))


@pytest.mark.parametrize("kind", KINDS)
@modest
@given(problem=problems)
def test_a_row_twice_is_a_row_of_double_cost(kind, problem):
    *size, C = problem
    X, target, cost = draw(*size, kind)
    n = len(X)
    twice = np.append(np.arange(n), 0)
    double = cost.copy()
    double[0] *= 2
    w = fit(X, target, double, kind, C)
    # C weighs the mean loss, whose n grew by one.
    again = fit(X[twice], target[twice], cost[twice], kind, C * (n + 1) / n)
    np.testing.assert_allclose(again, w, atol=1e-6 * (1 + np.abs(w).max()))


@pytest.mark.parametrize("kind", KINDS)
@modest
@given(problem=problems, factor=st.sampled_from([1e-2, 0.5, 3.0, 1e2]))
def test_scaling(kind, problem, factor):
    *size, C = problem
    X, target, cost = draw(*size, kind)
    w = fit(X, target, cost, kind, C)
    tolerance = 1e-6 * (1 + np.abs(w).max())
    np.testing.assert_allclose(factor * fit(factor * X, target, cost, kind, C / factor**2), w, atol=tolerance)
    np.testing.assert_allclose(fit(X, target, factor * cost, kind, C / factor), w, atol=tolerance)
    np.testing.assert_allclose(fit(X, -target, cost, kind, C), -w, atol=tolerance)


@modest
@given(seed=st.integers(0, 10_000), d=st.integers(1, 12))
def test_cholesky_solve(seed, d):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    H = A @ A.T + np.eye(d)
    b = rng.normal(size=d)
    x = b.copy()
    cholesky_solve(np.ascontiguousarray(np.tril(H)), x, d)
    np.testing.assert_allclose(H @ x, b, atol=1e-9)


@modest
@given(seed=st.integers(0, 10_000), n=st.integers(2, 40), d=st.integers(1, 4))
def test_two_means_settles_on_nearest_centres(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    group = np.empty(n, dtype=np.int64)
    found = two_means(X, n, d, np.full(1, seed, dtype=np.uint64), 1000, group)
    if not found:
        # Five draws in a row hit the first row.
        assert n < 5
        return
    assert set(group) == {0, 1}
    centres = np.array([X[group == g].mean(axis=0) for g in (0, 1)])
    away = ((X[:, None, :] - centres) ** 2).sum(axis=2)
    chosen = away[np.arange(n), group]
    assert np.all(chosen <= away.min(axis=1) + 1e-12)


def test_two_means_of_equal_rows():
    group = np.empty(5, dtype=np.int64)
    assert not two_means(np.ones((5, 2)), 5, 2, np.zeros(1, dtype=np.uint64), 10, group)
