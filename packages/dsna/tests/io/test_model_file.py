"""Saved models come back exactly; files that are not whole models are refused with the reason and the remedy."""

import io
import json
import os
import pickle
import stat
import struct
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn import config_context
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from tests.small_models import build

from dsna import (
    CostSensitiveForestClassifier,
    CostSensitiveForestRegressor,
    DSNAClassifier,
    DSNAError,
    DSNARegressor,
    presets,
)
from dsna._utils.invariants import Checked
from dsna.io.encoding import CONTAINERS, class_of
from dsna.io.estimators import ESTIMATORS
from dsna.io.model_file import ModelFileError, load, save

_RNG = np.random.RandomState(0)
X = _RNG.randn(140, 4)
CODE = (X[:, 0] + X[:, 1] > 0.9).astype(int) + (X[:, 2] > 1.2)
LABEL = 2 * X[:, 0] + X[:, 1] + 0.1 * _RNG.randn(len(X))
NAMES = np.array(["rare é", "b", "common"], dtype=object)[CODE]
QUERY = _RNG.randn(30, 4)
FEW = {"n_estimators": 10, "random_state": 0}
BOTH = np.c_[LABEL, X[:, 2]]
CASES = {
    "forest, integer classes": (CostSensitiveForestClassifier(oob_score=True, **FEW), CODE),
    "forest, labels": (CostSensitiveForestRegressor(oob_score=True, metric_rounds=2, **FEW), LABEL),
    "forest, two outputs": (CostSensitiveForestRegressor(**FEW), BOTH),
    "strings as objects": (build(DSNAClassifier, **FEW), NAMES),
    "strings as unicode": (build(DSNAClassifier, **FEW), NAMES.astype(str)),
    "booleans": (build(DSNAClassifier, **FEW), CODE > 0),
    "integers": (build(DSNAClassifier, n_clusters=2, **FEW), 10 * CODE),
    "labels": (build(DSNARegressor, **FEW), LABEL),
    "repeated labels": (build(DSNARegressor, balance=0.5, **FEW), np.round(LABEL)),
    "two outputs": (build(DSNARegressor, **FEW), BOTH),
    "paper, classes": (DSNAClassifier(**presets.paper("classification"), random_state=0), CODE),
    "paper, labels": (DSNARegressor(**presets.paper("regression"), random_state=0), LABEL),
    "random forest": (
        DSNAClassifier(RandomForestClassifier(10, class_weight={0: 1, 1: 2, 2: 3}), random_state=0),
        CODE,
    ),
    "tuned": (build(DSNAClassifier, tune="oob", **FEW), CODE),
    "extra trees": (DSNARegressor(ExtraTreesRegressor(10, min_samples_leaf=3), random_state=0), LABEL),
    "nearest neighbours": (DSNAClassifier(NearestNeighbors(n_neighbors=12), random_state=0), NAMES),
}


@pytest.fixture(scope="module")
def fitted():
    """Models by the name of their case, each fitted once."""
    models = {}

    def get(name):
        if name not in models:
            model, y = CASES[name]
            models[name] = model.fit(X, y)
        return models[name]

    return get


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dsna"


@pytest.fixture
def saved(fitted, path):
    """A small whole file."""
    save(fitted("forest, integer classes"), path)
    return path


def same(a, b):
    """Whether two states are equal in every bit and type."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        bits = a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
        return a.dtype == b.dtype and a.shape == b.shape and bits
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float | np.generic):
        return repr(a) == repr(b)
    if isinstance(a, np.random.RandomState):
        return same(a.get_state(), b.get_state())
    if isinstance(a, Checked):
        return same(a.state, b.state)
    return same(vars(a), vars(b)) if hasattr(a, "__dict__") else a == b


def assert_predicts_alike(model, again):
    for method in ("predict", "predict_proba", "predict_interval", "predict_quantiles", "apply"):
        if hasattr(model, method):
            assert same(getattr(model, method)(QUERY), getattr(again, method)(QUERY)), method


def by_file(model, path):
    save(model, path)
    return load(path)


def by_joblib(model, path):
    joblib.dump(model, path)
    return joblib.load(path)


def by_skops(model, path):
    data = skops.io.dumps(model)
    kinds = skops.io.get_untrusted_types(data=data)
    assert all(kind.startswith("dsna.") for kind in kinds)
    return skops.io.loads(data, trusted=kinds)


def by_pickle(model, path):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("way", [by_file, by_pickle, by_joblib, by_skops])
@pytest.mark.parametrize("name", CASES)
def test_fitted_models_come_back(fitted, path, name, way):
    model = fitted(name)
    again = way(model, path)
    assert same(vars(model), vars(again))
    assert_predicts_alike(model, again)


@pytest.mark.parametrize("name", CASES)
def test_unfitted_models_come_back(path, name):
    model = type(CASES[name][0])(**CASES[name][0].get_params(deep=False))
    again = by_file(model, path)
    assert same(vars(model), vars(again))
    assert not hasattr(again, "n_features_in_")


def test_a_loaded_model_can_be_fitted_and_saved_again(fitted, path):
    again = by_file(fitted("random forest"), path)
    first = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == first
    assert same(again.fit(X, CODE).predict_proba(QUERY), fitted("random forest").predict_proba(QUERY))


@pytest.mark.parametrize("name", ["strings as objects", "labels"])
def test_samples_added_before_and_after_saving_count_alike(path, name):
    model = CASES[name][0]
    model = type(model)(**model.get_params(deep=False)).fit(X, CASES[name][1])
    save(model, path)
    again = load(path)
    for grown in (model, again):
        grown.add_samples(QUERY[:5], CASES[name][1][:5])
    assert_predicts_alike(model, again)
    assert_predicts_alike(model, by_file(model, path))


def test_feature_names_come_back(path):
    table = pd.DataFrame(X, columns=["a", "b", "größe", "d"])
    model = build(DSNAClassifier, **FEW).fit(table, pd.Series(NAMES))
    again = by_file(model, path)
    assert again.feature_names_in_.dtype == object
    assert again.feature_names_in_.tolist() == list(table.columns)
    assert same(again.predict_proba(table), model.predict_proba(table))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(table.rename(columns={"a": "z"}))


def test_random_states_come_back_where_they_stand(path):
    generator = np.random.RandomState(5)
    generator.randn(3)
    again = by_file(DSNAClassifier(KNeighborsClassifier(3), random_state=generator), path)
    assert same(again.random_state.randn(5), generator.randn(5))
    assert repr(again.forest) == repr(KNeighborsClassifier(3))


def test_metadata_requests_come_back(path):
    with config_context(enable_metadata_routing=True):
        model = DSNAClassifier().set_fit_request(groups=True, sample_weight="w")
        again = by_file(model, path)
        assert again.get_metadata_routing().fit.requests == {"groups": True, "sample_weight": "w"}
    assert "fit" in json.loads(zipfile.ZipFile(path).read("header.json"))["state"]["requests"]


class Stranger(DSNAClassifier):
    pass


@pytest.mark.parametrize(
    "model, words",
    [
        (build(DSNAClassifier, cost=np.reciprocal), ["cost", "'inverse'", "joblib"]),
        (DSNARegressor(target_density=len), ["target_density", "'kernel'", "joblib"]),
        (DSNARegressor(relevance=len), ["relevance", "'high'", "pairs", "joblib"]),
        (DSNAClassifier(NearestNeighbors(metric=np.hypot)), ["forest__metric", "named", "joblib"]),
        (build(DSNAClassifier, max_features=np.array(["a", 1], dtype=object)), ["max_features", "int, str", "joblib"]),
        (build(DSNAClassifier, max_features=np.zeros(2, dtype="i4,f8")), ["max_features", "dtype", "joblib"]),
        (build(DSNAClassifier, max_features=np.ma.masked_all(2)), ["max_features", "MaskedArray", "joblib"]),
        (build(DSNAClassifier, tau=[1j]), ["tau[0]", "complex", "joblib"]),
        (DSNAClassifier(random_state=np.random.RandomState(np.random.PCG64())), ["random_state", "joblib"]),
        (DSNAClassifier(make_pipeline(NearestNeighbors())), ["forest", "Pipeline", "joblib"]),
        (make_pipeline(DSNAClassifier()), ["Pipeline", "DSNAClassifier", "skops"]),
        (Stranger(), ["Stranger", "DSNAClassifier", "skops"]),
    ],
)
def test_what_cannot_be_saved_is_named(path, model, words):
    path.write_bytes(b"older")
    with pytest.raises(TypeError) as caught:
        save(model, path)
    assert [word for word in words if word not in str(caught.value)] == []
    assert path.read_bytes() == b"older"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("failing", ["os.fsync", "os.replace", "numpy.lib.format.write_array"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_older_file(saved, fitted, monkeypatch, failing, error):
    before = saved.read_bytes()

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(failing, fail)
    with pytest.raises(type(error)):
        save(fitted("labels"), saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_places_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.dsna: there is no such file; check the name") as unread:
        load(tmp_path / "none.dsna")
    with pytest.raises(FileNotFoundError, match="create it") as homeless:
        save(DSNAClassifier(), tmp_path / "none" / "model.dsna")
    with pytest.raises(IsADirectoryError, match="folder") as taken:
        save(DSNAClassifier(), tmp_path)
    assert all(isinstance(caught.value, DSNAError) for caught in (unread, homeless, taken))
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_and_links(path):
    old = os.umask(0o027)
    try:
        save(DSNAClassifier(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        link = path.with_name("link")
        link.symlink_to(path)
        save(DSNARegressor(), link)
    finally:
        os.umask(old)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert isinstance(load(path), DSNARegressor)


def repacked(path, change, **how):
    """Write the file again with the entries, a dict, changed."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def with_header(**values):
    def change(entries):
        entries["header.json"] = json.dumps({**json.loads(entries["header.json"]), **values}).encode()

    return change


def with_text(old, new):
    return lambda entries: entries.update({"header.json": entries["header.json"].replace(old, new)})


def with_array(shape, dtype="<f8", data=b""):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return lambda entries: entries.update({"arrays/0.npy": stream.getvalue() + data})


def refused(path, *words):
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert [word for word in (str(path), *words) if word not in str(caught.value)] == []


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda entries: entries.pop("header.json"), ["no dsna model", "header.json", "Check the path"]),
        (with_header(format="onnx"), ["no dsna model", "another format", "Check the path"]),
        (with_header(version=6, dsna="9.1", state=None), ["newer dsna", "9.1", "format 6", "pip install -U dsna"]),
        (with_header(version=2, dsna="0.0.9"), ["older dsna", "0.0.9", "format 2", "Fit the model again"]),
        (with_header(version="1"), ["damaged", "save the model again"]),
        (with_header(estimator="GridSearchCV"), ["'GridSearchCV'", "unknown", "dsna 0", "or a newer one"]),
        (with_header(estimator="Pipeline"), ["damaged", "steps"]),
        (with_header(estimator=["DSNAClassifier"]), ["damaged"]),
        (with_header(state=[]), ["damaged"]),
        (with_text(b'"Trees"', b'"Popen"'), ["'Popen'", "unknown", "or a newer one"]),
        (with_text(b'"Trees"', b'"os.system"'), ["'os.system'", "unknown"]),
        (with_text(b'"n_draws"', b'"n_dice"'), ["'n_dice'", "CostSensitiveForestClassifier", "unknown"]),
        (with_text(b'"object"', b'"global"'), ["global", "unknown"]),
        (lambda entries: entries.update({"header.json": b"{"}), ["damaged", "save the model again"]),
        (lambda entries: entries.update({"header.json": b"[" * 10**6}), ["damaged"]),
        (lambda entries: entries.pop("arrays/3.npy"), ["arrays/3.npy", "damaged", "save the model again"]),
        (lambda entries: entries.update({"arrays/0.npy": b"text"}), ["damaged"]),
        (with_array((1,), "|O", pickle.dumps([1]).ljust(8)[:8]), ["arrays/0.npy", "damaged"]),
        (with_array((10**15,), "|S0"), ["arrays/0.npy", "damaged"]),
        (with_array((10**15,)), ["arrays/0.npy", "damaged"]),
        (with_array((2,), data=bytes(17)), ["arrays/0.npy", "damaged"]),
        (with_array((0, 2**70)), ["damaged"]),
    ],
)
def test_changed_files_are_refused(saved, change, words):
    repacked(saved, change)
    refused(saved, *words)


def test_every_flipped_bit_of_a_compressed_file_is_refused_or_harmless(fitted, path):
    model = fitted("forest, integer classes")
    save(model, path, compress=True)
    data, rng = path.read_bytes(), np.random.RandomState(0)
    refusals = 0
    for bit in rng.randint(8 * len(data), size=400):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            again = load(path)
        except ModelFileError:
            refusals += 1
        else:
            np.testing.assert_array_equal(again.predict_proba(QUERY), model.predict_proba(QUERY))
    assert refusals > 300


@pytest.mark.parametrize("place", [2**40, 2**62, 2**63 - 1, 2**64 - 1])
def test_entries_far_past_the_end_are_refused(saved, place):
    """In a field for large files, where an entry begins may be any number; systems refuse to go to some of them."""
    data = saved.read_bytes()
    start, end = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    entry, last = bytearray(data[start:end]), bytearray(data[end:])
    name, extra = struct.unpack_from("<2H", entry, 28)
    struct.pack_into("<H", entry, 30, extra + 12)
    struct.pack_into("<I", entry, 42, 2**32 - 1)
    entry[46 + name : 46 + name] = struct.pack("<HHQ", 1, 8, place)
    struct.pack_into("<I", last, 12, struct.unpack_from("<I", last, 12)[0] + 12)
    saved.write_bytes(data[:start] + entry + last)
    refused(saved, "damaged", "save the model again")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_repacked_files_are_refused(saved, compression):
    repacked(saved, lambda entries: None, compression=compression)
    refused(saved, "repacked", "zip -0")


def test_entries_that_share_their_bytes_are_refused(saved):
    data = saved.read_bytes()
    start, count = data.index(b"PK\x01\x02"), 50
    end = data.index(b"PK\x05\x06")
    total = len(zipfile.ZipFile(saved).infolist()) * count
    directory = data[start:end] * count
    record = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, total, total, len(directory), start, 0)
    saved.write_bytes(data[:start] + directory + record)
    refused(saved, "damaged", "save the model again")


def test_truncated_files_are_refused(saved):
    data = saved.read_bytes()
    for length in [*range(50), *range(50, len(data), len(data) // 40), len(data) - 1]:
        saved.write_bytes(data[:length])
        refused(saved, "cut short" if length == 0 else "truncated or damaged", "save the model again")


def test_damaged_bytes_are_found_or_harmless(saved, fitted):
    data = saved.read_bytes()
    rng = np.random.RandomState(0)
    found = 0
    for at in rng.randint(len(data), size=300):
        damaged = bytearray(data)
        damaged[at] ^= 1 << rng.randint(8)
        saved.write_bytes(damaged)
        try:
            again = load(saved)
        except ModelFileError:
            found += 1
        else:  # dates, unused fields
            assert same(vars(again), vars(fitted("forest, integer classes")))
    assert found > 200
    saved.write_bytes(data[:100] + data[140:])
    refused(saved, "damaged")


@pytest.mark.parametrize("content", [pickle.dumps([1]), b"a,b\n1,2\n", bytes(100), b"PK\x05\x06" + bytes(18)])
def test_foreign_files_are_refused(path, content):
    path.write_bytes(content)
    refused(path, "not a dsna model file", "joblib")


def test_every_registered_class_exists():
    for modules in (ESTIMATORS, CONTAINERS):
        assert [class_of(name, modules).__name__ for name in modules] == list(modules)
