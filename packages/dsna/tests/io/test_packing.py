"""Compressed model files: what is packed or left out comes back exactly, and forged parts are refused."""

import io
import json
from copy import copy
from types import SimpleNamespace

import numpy as np
import pytest
from tests.io import forged_models as forged
from tests.small_models import build

from dsna import DSNAClassifier, DSNARegressor
from dsna.forest.trees import Trees
from dsna.io.archive import ModelFileError
from dsna.io.derived import COMPRESSIONS
from dsna.io.encoding import Decoder, Encoder
from dsna.io.model_file import load, save

_RNG = np.random.RandomState(0)
X = _RNG.randn(400, 4)
SCORE = X[:, 0] + 0.5 * X[:, 1] + 0.1 * _RNG.randn(len(X))
FEW = {"n_estimators": 7, "random_state": 0}
_ENDS = [np.iinfo(np.int64).min, np.iinfo(np.int64).max]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(1000), np.arange(1000, dtype=np.int32)[::-1], np.cumsum(_RNG.randint(0, 9, 5000)), np.arange(-5, 95),
        np.array(_ENDS * 50), np.array([_ENDS[0], *range(70)]), _RNG.randint(-(2**40), 2**40, (50, 3)),
        np.full((40, 2), -1, dtype=np.int16), _RNG.randn(100), _RNG.randn(30, 3, 2).astype(np.float32),
        np.array([np.nan, -0.0, np.inf, 5e-324] * 20), np.asfortranarray(_RNG.randn(20, 9)), np.arange(300.0)[::-3],
        np.arange(10), np.zeros((80, 0)), np.array(7), np.ones(99, dtype=bool), np.arange(99, dtype=">i4"),
    ],
    ids=lambda a: f"{a.dtype.str}{a.shape}",
)  # fmt: skip
def test_packed_arrays_come_back(array):
    encoder = Encoder(packed=True)
    tree = json.loads(json.dumps([encoder.tree(array, "a"), encoder.tree(array, "b")]))
    archive = SimpleNamespace(array=[a.copy() for a in encoder.arrays].__getitem__, allows=lambda n: n <= array.nbytes)
    one, other = Decoder(archive, "this version").value(tree)
    assert one is other
    assert one.dtype == array.dtype
    assert one.flags.c_contiguous
    assert one.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "stored, how, dtype",
    [
        (np.zeros(80, np.uint8), "planes", "<f8"), (np.zeros((4, 20), np.uint8), "planes", "<f8"),
        (np.zeros(80), "whole", "<i8"), (np.zeros((8, 10), np.uint8), "steps", "<i8"),
        (np.zeros(80, np.uint8), "whole", "<f8"), (np.zeros(80, np.uint8), "whole", "O"),
        (np.zeros(80, np.uint8), "other", "<i8"), (np.zeros(99, np.uint8), "whole", "<i8"),
    ],
)  # fmt: skip
def test_arrays_that_are_not_packed_so_or_take_too_much_memory_are_refused(stored, how, dtype):
    archive = SimpleNamespace(array=lambda number: stored, allows=lambda n: n <= 640)
    with pytest.raises((ValueError, LookupError)):
        Decoder(archive, "this version").value({"packed": 0, "how": how, "dtype": dtype})


def fitted(task):
    if task == "targets":
        return build(DSNARegressor, **FEW).fit(X, SCORE)
    weight = None if task == "classes" else _RNG.randint(1, 4, len(X))
    return build(DSNAClassifier, **FEW).fit(X, SCORE > 1.0, sample_weight=weight)


@pytest.mark.parametrize("condense", [False, True])
@pytest.mark.parametrize("task", ["classes", "weighted classes", "targets"])
def test_compressed_models_are_the_same_to_the_last_bit(tmp_path, task, condense):
    model, paths = fitted(task), [tmp_path / "plain.dsna", tmp_path / "small.dsna"]
    for compress, path in enumerate(paths):
        save(model, path, compress=bool(compress), condense=condense)
    assert paths[1].stat().st_size < 0.6 * paths[0].stat().st_size
    plain, small = (load(path) for path in paths)
    for one, other in ((plain._index, small._index), (plain._index.trees, small._index.trees)):
        for name, value in one.state.items():
            if isinstance(value, np.ndarray):
                assert value.dtype == getattr(other, name).dtype
                np.testing.assert_array_equal(value, getattr(other, name))
    np.testing.assert_array_equal(small.predict(X), plain.predict(X))


def test_children_that_are_not_numbered_as_they_are_met_are_kept():
    trees = fitted("targets")._index.trees
    assert "child" not in COMPRESSIONS["Trees"].state(trees)
    first = np.flatnonzero((trees.child < 0).all(axis=1))[0]
    other = copy(trees)
    other.child = trees.child.copy()
    other.child[first] = other.child[first, ::-1]
    other.check()
    state = COMPRESSIONS["Trees"].state(other)
    np.testing.assert_array_equal(COMPRESSIONS["Trees"].restored(state).child, other.child)


def test_trees_of_a_single_leaf_come_back():
    alone = {name: value[:0] for name, value in fitted("targets")._index.trees.state.items()}
    alone.update(roots=np.array([-1, -2], dtype=np.int32), split_ptr=np.zeros(1, dtype=np.int32))
    alone.update(leaf_ptr=np.array([0, 0, 0], dtype=np.int32), left_out=np.zeros((2, 5), dtype=bool))
    trees = Trees(**{**alone, "importance": np.zeros(4)})
    again = COMPRESSIONS["Trees"].restored(COMPRESSIONS["Trees"].state(trees))
    np.testing.assert_array_equal(again.child, trees.child)
    np.testing.assert_array_equal(again.roots, trees.roots)


@pytest.mark.parametrize(
    "path, change",
    [
        ("trees.met", lambda a: a.fill(255)), ("trees.met", lambda a: a.fill(0)), ("trees.met", lambda a: a.sort()),
        ("trees.met", lambda a: a[:1].fill(0)), ("told", lambda a: a.fill(255)), ("label", lambda a: a.fill(255)),
        ("trees.leaf_rows", lambda a: a.fill(a.max() + 1)), ("trees.leaf_ptr", lambda a: a.fill(1)),
    ],
)  # fmt: skip
def test_forged_parts_of_compressed_models_are_refused(tmp_path, path, change):
    save(fitted("targets"), tmp_path / "model.dsna", compress=True)
    entries = forged.unpacked((tmp_path / "model.dsna").read_bytes())
    state = json.loads(entries[forged.HEADER])["state"]["fitted"]["_index"]["state"]
    *outer, name = path.split(".")
    place = (state[outer[0]]["state"] if outer else state)[name]
    entry = f"arrays/{place.get('packed', place.get('array'))}.npy"
    array = np.load(io.BytesIO(entries[entry]))
    change(array)
    entries[entry] = forged.as_npy(array)
    (tmp_path / "model.dsna").write_bytes(forged.packed(entries))
    with pytest.raises(ModelFileError):
        load(tmp_path / "model.dsna")


def test_models_of_format_4_are_read(tmp_path):
    model = fitted("targets")
    save(model, tmp_path / "model.dsna")
    entries = forged.unpacked((tmp_path / "model.dsna").read_bytes())
    header = json.loads(entries[forged.HEADER])
    assert header["state"]["fitted"]["_index"]["state"].pop("held") is None
    entries[forged.HEADER] = json.dumps({**header, "version": 4}).encode()
    (tmp_path / "model.dsna").write_bytes(forged.packed(entries))
    np.testing.assert_array_equal(load(tmp_path / "model.dsna").predict(X), model.predict(X))
