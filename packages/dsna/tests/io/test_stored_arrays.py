"""Arrays of model files, mapped and compressed: the same model, shared memory, no bombs, every damage found."""

import mmap
import zipfile

import numpy as np
import pytest
from tests.small_models import build

from dsna import DSNAClassifier, DSNARegressor
from dsna.io.archive import MOST_INFLATED
from dsna.io.model_file import ModelFileError, load, save

_RNG = np.random.RandomState(0)
X = _RNG.randn(160, 4)
QUERY = _RNG.randn(30, 4)
FEW = {"n_estimators": 10, "random_state": 0}


@pytest.fixture(scope="module", params=["classes", "targets"])
def model(request):
    kind, y = (DSNAClassifier, X[:, 0] > 0.8) if request.param == "classes" else (DSNARegressor, X[:, 0])
    return build(kind, **FEW).fit(X, y)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dsna"


def owner_of(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array


def test_mapped_models_stay_in_the_file_and_predict_alike(model, path):
    save(model, path)
    mapped = load(path, mmap=True)
    index = mapped._index
    held = [index.Z, index.label, *index.trees.nodes, index.trees.leaf_ptr, index.trees.leaf_rows]
    assert len({id(owner_of(array)) for array in held}) == 1
    assert isinstance(owner_of(index.Z), mmap.mmap)
    assert all(array.ctypes.data % 64 == 0 and not array.flags.writeable for array in held)
    np.testing.assert_array_equal(mapped.predict(QUERY), model.predict(QUERY))
    # What changes a model makes arrays of its own; what saves it reads them from the file.
    again = load(path, mmap=True).add_samples(X[:3], X[:3, 0] > 0.8)
    np.testing.assert_array_equal(again.predict(QUERY), load(path).add_samples(X[:3], X[:3, 0] > 0.8).predict(QUERY))
    save(mapped, path)
    np.testing.assert_array_equal(mapped.predict(QUERY), load(path).predict(QUERY))


def test_compressed_models_are_smaller_and_predict_alike(model, path):
    save(model, path)
    size = path.stat().st_size
    save(model, path, compress=True)
    assert path.stat().st_size < 0.8 * size
    for mapped in (False, True):
        np.testing.assert_array_equal(load(path, mmap=mapped).predict(QUERY), model.predict(QUERY))


def test_models_that_compress_too_well_are_stored_in_part(path):
    wide = build(DSNAClassifier, **FEW).fit(np.zeros((20, 30_000)) + np.arange(20)[:, None] // 10, np.arange(20) < 10)
    save(wide, path, compress=True)
    with zipfile.ZipFile(path) as archive:
        kinds = {entry.compress_type for entry in archive.infolist()[1:]}
    assert kinds == {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    assert load(path).n_features_in_ == 30_000


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("compress", [False, True])
def test_every_damaged_byte_of_an_array_is_found(model, path, mapped, compress):
    save(model, path, compress=compress)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        last = archive.getinfo("arrays/0.npy")
    for place in range(last.header_offset + 200, last.header_offset + 60 + last.compress_size, 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ModelFileError, match="damaged"):
            load(path, mmap=mapped)
    for length in np.linspace(1, len(whole) - 1, 20).astype(int):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load(path, mmap=mapped)


@pytest.mark.parametrize("mapped", [False, True])
def test_bombs_are_refused_before_they_are_inflated(model, path, mapped):
    save(model, path)
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo("arrays/999.npy")
        info.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(info, "w") as entry:
            for _ in range(64):
                entry.write(bytes(2**20))
    assert path.stat().st_size * MOST_INFLATED < 2**26
    with pytest.raises(ModelFileError, match=f"over {MOST_INFLATED} times"):
        load(path, mmap=mapped)


def test_arrays_that_inflate_to_more_than_they_declare_are_refused(model, path):
    save(model, path, compress=True)
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    entries["arrays/0.npy"] += bytes(1000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "header.json" else None)
    whole = bytearray(path.read_bytes())
    size = len(entries["arrays/0.npy"]).to_bytes(4, "little")
    less = (len(entries["arrays/0.npy"]) - 1000).to_bytes(4, "little")
    path.write_bytes(bytes(whole).replace(size, less))
    with pytest.raises(ModelFileError, match="damaged"):
        load(path)
