"""Rescorers against the library that trained them, and what files may not hold."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

pytest.importorskip("lightgbm")

from dsna.extend.containers import InvariantError
from dsna.extend.parallel import one_blas_thread
from dsna_vision.datasets.boundaries import BoundarySet
from dsna_vision.edges import TwoLevelDetector
from dsna_vision.edges.second_level.rescorers.boosted import BoostedTrees, as_boosted_trees, boosting, fit_boosted
from dsna_vision.edges.second_level.rescorers.perceptrons import Perceptrons, fit_perceptrons


def table(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    rows = (np.tile(rng.normal(size=(n, 3)), 4) + 0.1 * rng.normal(size=(n, 12))).astype(np.float32)  # as rings are
    odds = 2 * rows[:, 0] * (rows[:, 1] > 0) - rows[:, 2]
    return rows, rng.binomial(5, 1 / (1 + np.exp(-odds))) / 5


@pytest.fixture(autouse=True, scope="module")
def alone():
    """As second levels learn; threads that wait for each other would take ten times as long on a busy machine."""
    with one_blas_thread():
        yield


def cross_entropy(share, found):
    return -np.mean(share * np.log(found) + (1 - share) * np.log(1 - found))


@pytest.fixture(scope="module")
def trees():
    return fit_boosted(*table(), 200, seed=0)


def test_trees_answer_as_the_library_does():
    rows, share = table()
    model = boosting(rows, share, 60, 3)
    trees = as_boosted_trees(model)
    new = np.concatenate([table(seed=1)[0], rows])
    np.testing.assert_allclose(trees.log_odds(new), model.predict(new, raw_score=True), atol=1e-9)
    np.testing.assert_allclose(trees(new), model.predict(new), atol=1e-9)
    assert len(trees.root) == 60
    assert np.ptp(trees.log_odds(new)) > 1


def test_values_at_a_threshold_go_where_the_library_sends_them():
    rows, share = table()
    model = boosting(rows, share, 5, 0)
    trees = as_boosted_trees(model)
    split = np.flatnonzero(trees.child >= 0)
    at = np.zeros((len(split), 12), np.float32)
    at[np.arange(len(split)), trees.feature[split]] = trees.number[split].astype(np.float32)
    np.testing.assert_allclose(trees.log_odds(at), model.predict(at, raw_score=True), atol=1e-9)


def by_a_line(rows, share, new):
    """Shares by logistic regression: each row twice, once for the people who drew and once for the others."""
    weight = np.concatenate([share, 1 - share])
    model = LogisticRegression(max_iter=300).fit(np.tile(rows, (2, 1)), np.repeat([1, 0], len(rows)), weight)
    return model.predict_proba(new)[:, 1]


def test_soft_labels_are_learned(trees):
    """Shares, not classes, and better than a line where columns interact."""
    rows, share = table()
    new, its_share = table(seed=2)
    mean = np.full(len(new), share.mean())
    found = {name: cross_entropy(its_share, one) for name, one in
             {"trees": trees(new), "line": by_a_line(rows, share, new), "mean": mean}.items()}  # fmt: skip
    assert found["trees"] < found["line"] - 0.01 < found["mean"] - 0.02
    assert abs(trees(new).mean() - its_share.mean()) < 0.03


@pytest.fixture(scope="module")
def minds():
    return fit_perceptrons(*table(6000), 0, seed=0)


def test_perceptrons_answer_as_the_library_does(monkeypatch):
    """Its classifier, given the same weights."""
    made = []

    def recorded(*given, **settings):
        made.append(MLPClassifier(*given, **settings))
        return made[-1]

    monkeypatch.setattr("sklearn.neural_network.MLPClassifier", recorded)
    rows, share = table(3000)
    found = fit_perceptrons(rows, share, 0, seed=0)
    new = table(seed=1)[0]
    scaled = np.clip((new - found.offset) / found.scale, -5, 5)
    expected = np.mean([one.predict_proba(scaled)[:, 1] for one in made], axis=0)
    np.testing.assert_allclose(found(new), expected, atol=1e-5)
    np.testing.assert_array_equal(found(new[3:5]), found(new)[3:5])
    assert len(found(new[:0])) == 0
    assert len({one.random_state for one in made}) == len(made) > 1


def test_perceptrons_learn_soft_labels(minds):
    new, its_share = table(seed=2)
    assert cross_entropy(its_share, minds(new)) < cross_entropy(its_share, by_a_line(*table(6000), new)) - 0.01
    assert abs(minds(new).mean() - its_share.mean()) < 0.03


def test_same_seed_same_perceptrons(minds):
    again = fit_perceptrons(*table(6000), 0, seed=0)
    np.testing.assert_array_equal(again.first, minds.first)
    assert not np.array_equal(fit_perceptrons(*table(6000), 0, seed=1).first, minds.first)


def test_forged_perceptrons_are_refused(minds):
    state = minds.state
    np.testing.assert_array_equal(Perceptrons.restored(state)(table()[0]), minds(table()[0]))
    for name, value in (
        ("scale", 0 * state["scale"]),
        ("first", state["first"][:, :-1]),
        ("second", state["second"] * np.float32(np.nan)),
        ("last", state["last"][:1]),
        ("last_bias", state["last_bias"][:, :0]),
    ):
        with pytest.raises(InvariantError, match="Perceptrons"):
            Perceptrons.restored({**state, name: value})


def test_same_seed_same_trees(trees):
    again = fit_boosted(*table(), 200, seed=0)
    for name, value in trees.state.items():
        np.testing.assert_array_equal(again.state[name], value)


def test_a_missing_library_is_named_before_any_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    photos = BoundarySet(list("abcd"), [Path("nowhere")] * 4, [[]] * 4)
    with pytest.raises(ImportError, match=r"lightgbm: run `pip install dsna-vision\[train\]`"):
        TwoLevelDetector().fit(photos)


def test_columns_that_do_not_vary():
    rows, share = table(300)
    rows[:, 3] = 7
    for fit in (fit_boosted, fit_perceptrons):
        one = fit(rows, share, 5, seed=0)
        assert np.isfinite(one(rows)).all()


@pytest.mark.parametrize(
    "change, said",
    [
        ({"child": lambda a: np.where(a >= 0, 0, a)}, "child"),
        ({"child": lambda a: np.where(a >= 0, len(a), a)}, "child"),
        ({"feature": lambda a: a + np.int16(12)}, "columns"),
        ({"feature": lambda a: a - np.int16(13)}, "feature"),
        ({"number": lambda a: a * np.nan}, "number"),
        ({"number": lambda a: a * 1e30}, "leaves"),
        ({"root": lambda a: a[::-1].copy()}, "roots"),
        ({"root": lambda a: a[:0]}, "no"),
        ({"n_columns": lambda a: 0}, "n_columns"),
        ({"base": lambda a: np.inf}, "base"),
    ],
)
def test_forged_trees_are_refused(trees, change, said):
    state = {name: change.get(name, lambda a: a)(value) for name, value in trees.state.items()}
    with pytest.raises(InvariantError, match=said):
        BoostedTrees.restored(state)
