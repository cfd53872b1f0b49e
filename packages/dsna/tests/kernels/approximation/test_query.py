"""Algorithm 1 as the kernel runs it against the same written with numpy and cvxpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.slow_algorithm import SlowAnswer
from dsna._kernels.approximation.query import SolverSettings
from dsna.neighbors.neighborhoods import Neighborhoods
from dsna.neighbors.solve import run_algorithm

modest = settings(max_examples=25)

PLAIN = SolverSettings(
    n_classes=0,
    n_clusters=1,
    overlap=0.3,
    tau=1.0,
    best=0,
    temperature=0.05,
    energy=0.9,
    lam=0.01,
    gamma=0.03,
    bandwidth=0.3,
    radius=0.5,
    use_proximity=1,
    sum_to_one=1,
    ridge=0.01,
    max_iter=10,
    tol=1e-10,
)


class Task:
    """Training rows with labels, and queries with neighbourhoods of various sizes among them."""

    def __init__(self, seed, n_classes=0, outputs=1, n=4, most=14, d=3):
        rng = np.random.default_rng(seed)
        self.Z = rng.normal(size=(40, d))
        signal = self.Z @ rng.normal(size=(d, outputs)) + 0.3 * rng.normal(size=(40, outputs))
        self.label = signal
        self.class_scale = np.ones(1)
        if n_classes:
            cuts = np.quantile(signal[:, 0], np.linspace(0, 1, n_classes + 1)[1:-1])
            self.label = np.searchsorted(cuts, signal[:, 0])[:, None].astype(float)
            self.class_scale = rng.uniform(0.5, 2.0, n_classes)
        self.Q = rng.normal(size=(n, d))
        self.size = rng.integers(2, most + 1, n)
        self.rows = np.array([rng.permutation(40)[:most] for _ in range(n)])
        self.proximity = -np.sort(-rng.uniform(0.02, 1.0, (n, most)), axis=1)

    def answers(self, how):
        near = (self.rows, self.proximity, self.size)
        return run_algorithm(
            self.Q, self.Z, self.label, self.class_scale, Neighborhoods(*near, np.empty((len(self.Q), 0))), how
        )

    def slow(self, i, how):
        m = self.size[i]
        rows = self.rows[i, :m]
        return SlowAnswer(self.Q[i], self.Z[rows], self.label[rows], self.proximity[i, :m], self.class_scale, how)


def check(task, how):
    ours = task.answers(how)
    assert ours.residual.max() < 1e-6
    for i, m in enumerate(task.size):
        slow = task.slow(i, how)
        found = len(slow.clusters)
        member = np.zeros((m, how.n_clusters), dtype=bool)
        for c, rows in enumerate(slow.clusters):
            member[rows, c] = True
        assert np.array_equal(ours.member[i, :m], member)
        assert not ours.member[i, m:].any()
        np.testing.assert_allclose(ours.objective[i, :found], slow.objective, atol=1e-6)
        np.testing.assert_allclose(ours.share[i, :found], slow.share, atol=1e-4)
        assert not ours.share[i, found:].any()
        np.testing.assert_allclose(ours.alpha[i, :m], slow.alpha, atol=1e-4)
        assert not ours.alpha[i, m:].any()
        if how.energy > 0:
            np.testing.assert_allclose(ours.hull_residual[i, :found], slow.off, atol=1e-9)
        assert ours.steps[i] == len(slow.settled)
        np.testing.assert_allclose(ours.labels[i, : ours.steps[i]], slow.settled, atol=1e-3)
        assert ours.history[i, max(ours.steps[i] - 2, 0)] == pytest.approx(slow.objective.min(), abs=1e-6)
        if how.sum_to_one:
            assert ours.alpha[i].sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("n_classes, outputs", [(0, 1), (0, 2), (2, 1), (3, 1)])
@pytest.mark.parametrize("n_clusters, best", [(1, 0), (2, 0), (2, 1), (4, 0)])
@pytest.mark.parametrize("max_iter", [0, 10])
def test_labels_and_classes(n_classes, outputs, n_clusters, best, max_iter):
    how = PLAIN._replace(n_classes=n_classes, n_clusters=n_clusters, best=best, max_iter=max_iter)
    for seed in range(2):
        check(Task(seed, n_classes, outputs), how)


@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("n_clusters", [1, 2])
@pytest.mark.parametrize(
    "change",
    [
        {"sum_to_one": 0},
        {"sum_to_one": 0, "use_proximity": 0, "lam": 0.1, "gamma": 0.2},
        {"energy": 0.0},
        {"energy": 1.0, "best": 1},
        {"use_proximity": 0},
        {"radius": 1.0},
        {"radius": 0.1, "bandwidth": 1e-4},
        {"lam": 0.0, "gamma": 0.0},
        {"gamma": 0.0, "lam": 0.3},
        {"gamma": 5.0},
        {"tau": 10.0, "overlap": 0.0},
        {"tau": 0.0, "overlap": 5.0},
        {"temperature": 1e-3},
        {"max_iter": 1},
        {"ridge": 1.0, "sum_to_one": 0},
    ],
    ids=str,
)
def test_settings(n_classes, n_clusters, change):
    how = PLAIN._replace(n_classes=n_classes, n_clusters=n_clusters, max_iter=4)._replace(**change)
    check(Task(5, n_classes, n=3), how)


def test_the_query_among_its_rows():
    task = Task(0)
    task.Q[:] = task.Z[task.rows[:, 1]]
    check(task, PLAIN)
    check(task, PLAIN._replace(energy=0.0, n_clusters=2))


@pytest.mark.parametrize("n_clusters", [1, 3])
@pytest.mark.parametrize("n_classes", [0, 2])
def test_all_rows_at_one_place(n_clusters, n_classes):
    task = Task(0, n_classes)
    task.Z[:] = 1.0
    for place in (1.0, 2.0):
        task.Q[:] = place
        answers = task.answers(PLAIN._replace(n_classes=n_classes, n_clusters=n_clusters))
        assert np.all(np.isfinite(answers.alpha))
        np.testing.assert_allclose(answers.alpha.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_allclose(answers.hull_residual[:, 0], np.sqrt(3) * (place - 1.0), atol=1e-12)


def test_equal_labels_stay():
    task = Task(0)
    task.label[:] = 7.0
    for n_clusters in (1, 3):
        answers = task.answers(PLAIN._replace(n_clusters=n_clusters))
        np.testing.assert_allclose(answers.labels[:, 0], 7.0)
        assert np.all(answers.steps <= 3)


def test_one_neighbour_and_none():
    task = Task(0)
    task.size[:] = [0, 1, 1, 5]
    for n_clusters in (1, 2):
        answers = task.answers(PLAIN._replace(n_clusters=n_clusters))
        assert not answers.alpha[0].any()
        assert answers.steps[0] == 0
        assert answers.alpha[1, 0] == answers.alpha[2, 0] == 1.0


def test_a_cycle_of_labels_ends():
    """Feedback stops at a label met before, never later than max_iter, and what is left is a solution."""
    ended = []
    for seed in range(30):
        task = Task(seed, n_classes=3)
        how = PLAIN._replace(n_classes=3, n_clusters=2, max_iter=50, gamma=0.3)
        answers = task.answers(how)
        for i in range(len(task.Q)):
            path = answers.labels[i, : answers.steps[i], 0]
            assert path[-1] in path[:-1]
            assert len(set(path[:-1])) == len(path) - 1
        ended += list(answers.steps)
    assert max(ended) < 10


drawn = st.tuples(st.integers(0, 10_000), st.sampled_from([0, 2, 3]), st.sampled_from([1, 3]))


@modest
@given(drawn)
def test_order_of_neighbours_does_not_matter(problem):
    seed, n_classes, n_clusters = problem
    task = Task(seed, n_classes)
    how = PLAIN._replace(n_classes=n_classes, n_clusters=n_clusters)
    ours = task.answers(how)
    rng = np.random.default_rng(0)
    before = [dict(zip(task.rows[i, :m], ours.alpha[i], strict=False)) for i, m in enumerate(task.size)]
    for i, m in enumerate(task.size):
        order = rng.permutation(m)
        task.rows[i, :m] = task.rows[i, order]
        task.proximity[i, :m] = task.proximity[i, order]
    again = task.answers(how)
    for i, m in enumerate(task.size):
        for r, a in zip(task.rows[i, :m], again.alpha[i], strict=False):
            assert a == pytest.approx(before[i][r], abs=1e-6)


@modest
@given(drawn, st.sampled_from([1e-3, 0.5, 1e4]))
def test_scaling_and_moving_the_space_changes_nothing(problem, factor):
    seed, n_classes, n_clusters = problem
    task = Task(seed, n_classes)
    how = PLAIN._replace(n_classes=n_classes, n_clusters=n_clusters)
    ours = task.answers(how)
    shift = factor * np.array([3.0, -1.0, 2.0])
    task.Z = factor * task.Z + shift
    task.Q = factor * task.Q + shift
    again = task.answers(how)
    np.testing.assert_allclose(again.alpha, ours.alpha, atol=1e-6)
    np.testing.assert_allclose(again.hull_residual, factor * ours.hull_residual, atol=1e-6 * factor)


@modest
@given(drawn)
def test_labels_in_other_units(problem):
    seed, _, n_clusters = problem
    task = Task(seed)
    how = PLAIN._replace(n_clusters=n_clusters)
    ours = task.answers(how)
    task.label = 1000.0 * task.label + 5.0
    again = task.answers(how)
    np.testing.assert_allclose(again.alpha, ours.alpha, atol=1e-6)
    filled = np.arange(again.labels.shape[1]) < ours.steps[:, None]
    np.testing.assert_allclose(again.labels[filled], 1000.0 * ours.labels[filled] + 5.0, rtol=1e-5, atol=1e-2)


def test_a_batch_is_its_queries_one_by_one():
    task = Task(3, n_classes=2, n=6)
    how = PLAIN._replace(n_classes=2, n_clusters=2)
    together = task.answers(how).alpha
    whole = (task.Q, task.rows, task.proximity, task.size)
    for i in range(6):
        task.Q, task.rows, task.proximity, task.size = (a[i : i + 1] for a in whole)
        assert np.array_equal(task.answers(how).alpha[0], together[i])
