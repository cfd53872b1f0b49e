"""Progress: a bar on a terminal, nothing where stderr is piped, and results as without it."""

import io
import sys
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from tests.small_models import build

from dsna import CostSensitiveForestClassifier, DSNARegressor
from dsna._utils import parallel as pools
from dsna._utils.parallel import in_parallel
from dsna._utils.progress import parts_shown, tracked, tracked_parts


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("dsna._utils.progress.sys", SimpleNamespace(stderr=stream))
    return stream


def test_a_bar_on_a_terminal(terminal):
    assert list(tracked(range(4), 4, "trees")) == [0, 1, 2, 3]
    assert "trees" in terminal.getvalue()
    assert "4" in terminal.getvalue()


def test_nothing_where_it_is_piped(capsys):
    assert list(tracked(range(4), 4, "trees")) == [0, 1, 2, 3]
    assert capsys.readouterr().err == ""


def test_nothing_without_a_unit(terminal):
    assert list(tracked(range(4), 4, "")) == [0, 1, 2, 3]
    assert terminal.getvalue() == ""


def test_parts_are_shown_where_that_is_asked_for(terminal):
    assert list(tracked_parts("abc", 3, "tiles")) == ["a", "b", "c"]
    with parts_shown(False):
        assert list(tracked_parts("abc", 3, "tiles")) == ["a", "b", "c"]
    with parts_shown(True):
        assert list(tracked_parts("a", 1, "tiles")) == ["a"]
        assert terminal.getvalue() == ""
        assert list(tracked_parts("abc", 3, "tiles")) == ["a", "b", "c"]
    assert "tiles" in terminal.getvalue()


def test_lines_where_tqdm_is_missing(terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr("dsna._utils.progress._SECONDS", 0.0)
    assert list(tracked("ab", 2, "trees")) == ["a", "b"]
    assert terminal.getvalue().splitlines() == ["dsna: 1 of 2 trees", "dsna: 2 of 2 trees"]


def _square(k):
    return k * k


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_results_keep_their_order(terminal, backend):
    with joblib.parallel_config(backend):
        assert in_parallel(_square, [(k,) for k in range(8)], 2, "squares") == [k * k for k in range(8)]
    assert "squares" in terminal.getvalue()


def test_backends_that_cannot_hand_over_one_by_one(terminal, monkeypatch):
    class Unable(pools.Parallel):
        def __init__(self, *args, return_as="list", **kwargs):
            if return_as != "list":
                raise ValueError("this backend has no generators")
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(pools, "Parallel", Unable)
    assert in_parallel(_square, [(1,), (2,), (3,)], 2, "squares") == [1, 4, 9]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_verbose_shows_trees_and_changes_nothing(terminal, n_jobs):
    X = np.random.default_rng(0).normal(size=(60, 3))
    loud = build(DSNARegressor, n_estimators=6, random_state=0, verbose=1, n_jobs=n_jobs).fit(X, X[:, 0])
    assert "trees" in terminal.getvalue()
    assert "folds out of bag" in terminal.getvalue()
    quiet = build(DSNARegressor, n_estimators=6, random_state=0).fit(X, X[:, 0])
    assert np.array_equal(loud.predict(X), quiet.predict(X))


def test_the_forest_alone_shows_its_trees(terminal):
    X = np.random.default_rng(0).normal(size=(60, 3))
    CostSensitiveForestClassifier(4, random_state=0, verbose=1).fit(X, X[:, 0] > 0)
    assert "trees" in terminal.getvalue()
