"""Rows that no leaf holds are not placed: the model answers as one that has placed them all."""

import numpy as np
import pytest
from tests.small_models import build

from dsna import DSNAClassifier
from dsna.io.estimators import condensed
from dsna.io.model_file import load, save
from dsna.neighbors.index import NeighborIndex

_RNG = np.random.RandomState(0)
X = _RNG.randn(4500, 3)
Y = X[:, 0] + 0.2 * _RNG.randn(len(X)) > 1.5
TRAIN, TEST = slice(4000), slice(4000, None)


def fitted(max_neighbors=30):
    model = build(DSNAClassifier, n_estimators=7, max_neighbors=max_neighbors, random_state=0)
    return model.fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def models():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(NeighborIndex, "_restricted", lambda self, oob_rows: self)
        whole = fitted()
    return fitted(), whole


def same(one, other):
    why, expected = one.explain(X[TEST]), other.explain(X[TEST])
    np.testing.assert_array_equal(why.rows, expected.rows)
    np.testing.assert_array_equal(why.coefficient, expected.coefficient)
    np.testing.assert_array_equal(one.predict_proba(X[TEST]), other.predict_proba(X[TEST]))


def test_answers_are_those_of_a_model_with_all_rows(models, tmp_path):
    few, whole = models
    assert whole._index.held is None
    assert len(few._index.Z) == len(few._index.held) < 0.9 * len(whole._index.Z)
    np.testing.assert_array_equal(few._index.Z, whole._index.Z[few._index.held])
    np.testing.assert_array_equal(few.oob_decision_function_, whole.oob_decision_function_)
    same(few, whole)
    save(few, tmp_path / "model.dsna")
    same(load(tmp_path / "model.dsna", mmap=True), whole)
    assert few.holds_rows(X[few.oob_rows_], few.oob_rows_).all()
    assert not few.holds_rows(X[few.oob_rows_] + 0.1, few.oob_rows_).any()


def test_added_and_condensed_rows_keep_their_numbers(models, tmp_path):
    few, whole = (condensed(model) for model in models)
    np.testing.assert_array_equal(few.kept_rows_, whole.kept_rows_)
    same(few, whole)
    save(models[0], tmp_path / "model.dsna", compress=True)
    grown, expected = load(tmp_path / "model.dsna"), models[1]
    for model in (grown, expected):
        model.add_samples(X[TEST][:50], Y[TEST][:50])
    same(grown, expected)


def test_an_index_that_names_rows_twice_or_past_the_last_is_refused(models):
    index = models[0]._index
    for place, row in ((0, index.held[1]), (-1, len(index.label))):
        held = index.held.copy()
        held[place] = row
        with pytest.raises(ValueError, match="held"):
            NeighborIndex.restored({**index.state, "held": held})
