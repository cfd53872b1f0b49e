"""What comes from a worker or out of a pickle is checked before any kernel sees it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from tests.distributed.tables import classes, classifier, cut, shards_of

from dsna import DSNAError, load, save
from dsna._utils.invariants import InvariantError
from dsna.distributed.asking.core import prepare, shard_answer
from dsna.distributed.asking.neighbors import merge, query_shard

QUERIES = classes(30, seed=2)[0]


@pytest.fixture(scope="module")
def model():
    return classifier().fit(cut(*classes()), None)


@pytest.fixture(scope="module")
def asked(model):
    prepared = prepare(model._core, QUERIES, 0, "X")
    return prepared.request, [shard_answer(prepared, shard) for shard in shards_of(model)]


def spoilt(made, **changed):
    """The same object with other attributes, which were not checked."""
    made = copy.copy(made)
    vars(made).update(changed)
    return made


def filled(array, value):
    array = array.copy()
    array.flat[0] = value
    return array


def test_pickles_of_distributed_models(model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(QUERIES), model.predict_proba(QUERIES))


@pytest.mark.parametrize(
    "name, value",
    [("label", 2.0**30), ("leaf_rows", 2**30), ("code", -3), ("fold", 99), ("Z", np.nan), ("number", 10**9)],
)
def test_pickled_shards(model, name, value):
    shard = shards_of(model)[0]
    data = pickle.dumps(spoilt(shard, **{name: filled(getattr(shard, name), value)}))
    if name == "label":  # which numbers are classes is the model's to say
        with pytest.raises(DSNAError, match=r"a shard of the model: Shard\.label holds other numbers.*Ask again"):
            query_shard(pickle.loads(data), prepare(model._core, QUERIES, 0, "X").request)
    else:
        with pytest.raises(DSNAError, match=rf"an unpickled Shard: Shard\.{name}.*Fit the model again"):
            pickle.loads(data)


@pytest.mark.parametrize("name, value", [("reached", -1), ("fold", 7), ("total", np.nan), ("rarity", 0.0)])
def test_pickled_requests(asked, name, value):
    request = asked[0]
    data = pickle.dumps(spoilt(request, **{name: filled(getattr(request, name), value)}))
    with pytest.raises(DSNAError, match=rf"an unpickled Request: Request\.{name} ranges"):
        pickle.loads(data)


@pytest.mark.parametrize("name, value", [("reached", 2**30), ("total", 1e300), ("Q", None), ("rarity", None)])
def test_requests_that_do_not_fit_a_shard(model, asked, name, value):
    request = asked[0]
    given = getattr(request, name)
    other = given[..., :1] if value is None else filled(given, value)
    with pytest.raises(DSNAError, match=r"a shard of the model: .*Ask again"):
        query_shard(shards_of(model)[0], replace(request, **{name: other}))


@pytest.mark.parametrize(
    "name, value", [("rows", 10**6), ("rows", -1), ("size", 10**6), ("settled", 10**6), ("met", 0)]
)
def test_pickled_answers(asked, name, value):
    answer = asked[1][0]
    data = pickle.dumps(spoilt(answer, **{name: filled(getattr(answer, name), value)}))
    with pytest.raises(DSNAError, match=rf"an unpickled Answer: Answer\.{name}"):
        pickle.loads(data)


def test_answers_that_do_not_fit_the_request(model, asked):
    request, answers = asked
    one, *others = answers
    forest = model._core.forest
    known = one.known
    for odd in (
        replace(one, sums=one.sums + 1e6),
        replace(one, known=replace(known, label=known.label + 5.0)),
        replace(one, known=replace(known, Z=known.Z[:, :1])),
        replace(one, **{name: getattr(one, name)[1:] for name in ("rows", "sums", "size", "settled", "met")}),
    ):
        with pytest.raises(DSNAError, match=r"an answer of a worker: .*Ask again"):
            merge(forest, request, [odd, *others])
    with pytest.raises(DSNAError, match="a row is on two shards"):
        merge(forest, request, [one, *answers])


def test_pickled_cores(model):
    core = model._core
    for odd in (
        spoilt(core, features=("a",)),
        spoilt(core, forest=spoilt(core.forest, n_classes=3)),
        spoilt(core, forest=spoilt(core.forest, leaf_total=core.forest.leaf_total[:-1])),
        spoilt(core, scaling=spoilt(core.scaling, offset=core.scaling.offset[:-1])),
    ):
        with pytest.raises(DSNAError, match=r"an unpickled (Core|DistributedForest|Scaling): "):
            pickle.loads(pickle.dumps(odd))


def test_trees_take_rows_of_their_width_only(model):
    with pytest.raises(InvariantError, match="X has 3 columns, and the trees 4"):
        model._core.forest.trees.apply(np.zeros((2, 3)))


def test_pickles_of_ordinary_models(model, tmp_path):
    ordinary = model.model_
    index = ordinary._index
    for odd, words in (
        (spoilt(index, label=index.label + 7.0), "not class numbers"),
        (spoilt(index, fold=index.fold + 70), "NeighborIndex.fold ranges"),
        (spoilt(index, trees=spoilt(index.trees, child=index.trees.child * 0)), "Trees"),
        (spoilt(index, Z=index.Z.astype(np.float32)), "NeighborIndex.Z has dtype float32"),
    ):
        with pytest.raises(DSNAError, match=f"an unpickled .*{words}.*Fit the model again"):
            pickle.loads(pickle.dumps(spoilt(ordinary, _index=odd)))
    incomplete = copy.copy(ordinary)
    del incomplete._gain
    with pytest.raises(DSNAError, match=r"an unpickled DSNAClassifier: .*lacks _gain"):
        pickle.loads(pickle.dumps(incomplete))
    # What users add is theirs, and an estimator that was not fitted holds nothing to check.
    own = spoilt(ordinary, note="mine")
    assert pickle.loads(pickle.dumps(own)).note == "mine"
    unfitted = copy.copy(ordinary)
    vars(unfitted).clear()
    vars(unfitted).update({**ordinary.get_params(deep=False), "n_features_in_": 4})
    assert pickle.loads(pickle.dumps(unfitted)).n_features_in_ == 4
    save(ordinary, tmp_path / "ordinary.dsna")
    same = pickle.loads(pickle.dumps(load(tmp_path / "ordinary.dsna")))
    np.testing.assert_array_equal(same.predict_proba(QUERIES), ordinary.predict_proba(QUERIES))


def test_forged_skops_files(model):
    """skops refuses code; bounds of arrays are checked here, as it restores objects like pickle does."""
    skops_io = pytest.importorskip("skops.io")
    index = model.model_._index
    data = skops_io.dumps(spoilt(model.model_, _index=spoilt(index, label=index.label + 7.0)))
    with pytest.raises(DSNAError, match="not class numbers"):
        skops_io.loads(data, trusted=skops_io.get_untrusted_types(data=data))
