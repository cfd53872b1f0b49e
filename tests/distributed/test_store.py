"""Distributed models on disk: whole or not at all, read as needed, refused where they are not what was saved."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest

from dsna import DSNAError
from dsna.distributed import load
from dsna.distributed.arrays_file import StoredShard
from tests.distributed.tables import classes, classifier, cut, pairs_of_targets, regressor, shards_of, targets


@pytest.fixture(scope="module")
def model():
    return classifier().fit(cut(*classes()), None)


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


QUERIES = classes(60, seed=2)[0]


def test_loaded_models_answer_alike(model, folder):
    again = load(folder)
    assert all(shard._shard is None for shard in again._placed.shards)  # nothing is read before it is asked for
    np.testing.assert_array_equal(again.predict_proba(QUERIES), model.predict_proba(QUERIES))
    assert isinstance(again._placed.shards[0].open().Z, np.memmap)
    assert again.n_rows_ == model.n_rows_
    again.save(folder, overwrite=True)
    np.testing.assert_array_equal(load(folder).predict(QUERIES), model.predict(QUERIES))


@pytest.mark.parametrize("make, y", [(targets, "y0"), (pairs_of_targets, ["y0", "y1"])])
def test_a_regression_with_a_trend(make, y, tmp_path):
    X, given = make()
    columns = {
        **{f"x{j}": one for j, one in enumerate(X.T)},
        **{f"y{j}": one for j, one in enumerate(given.T.reshape(-1, len(X)))},
    }
    parts = [{name: one[i : i + 450] for name, one in columns.items()} for i in (0, 450)]
    model = regressor(trend="linear").fit(parts, y)
    assert model.model_.trend_ == "linear"
    found = model.predict(X[:40])
    assert found.shape == given[:40].shape
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X[:40]), found)


def test_shards_on_disk_while_the_model_is_made(model, tmp_path):
    on_disk = classifier().set_params(store=tmp_path / "rows").fit(cut(*classes()), None)
    assert all(isinstance(shard, StoredShard) for shard in on_disk._placed.shards)
    assert len(os.listdir(tmp_path / "rows")) == len(on_disk._placed.shards)  # what was passed over is gone
    np.testing.assert_array_equal(on_disk.predict_proba(QUERIES), model.predict_proba(QUERIES))
    assert sum(shard.n_rows for shard in shards_of(on_disk)) <= model.n_rows_


@pytest.mark.parametrize("name", ["model.dsna", "leaves.bin"])
def test_damage_of_what_all_shards_share(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(DSNAError, match=f"{name}: changed since the model was saved"):
        load(folder)


def test_links(folder, tmp_path):
    (folder / "shard-00001.bin").rename(tmp_path / "elsewhere.bin")
    (folder / "shard-00001.bin").symlink_to(tmp_path / "elsewhere.bin")
    with pytest.raises(DSNAError, match="a link to somewhere else"):
        load(folder)


def test_damage(folder):
    shard = folder / "shard-00001.bin"
    content = shard.read_bytes()
    shard.write_bytes(content[:-8] + b"\xff" * 8)
    with pytest.raises(DSNAError, match=r"shard-00001.bin: changed since the model was saved"):
        load(folder).predict(QUERIES)
    shard.write_bytes(content[:-8])
    with pytest.raises(DSNAError, match=r"shard-00001.bin: changed since the model was saved"):
        load(folder)
    shard.unlink()
    with pytest.raises(DSNAError, match=r"shard-00001.bin: this file of the model is missing"):
        load(folder)


def forged(folder, change):
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


@pytest.mark.parametrize("name", ["../model.dsna", "/etc/passwd", ".hidden", "a\\b"])
def test_files_outside_the_folder(folder, name):
    forged(folder, lambda manifest: manifest["files"][1].update(file=name))
    with pytest.raises(DSNAError, match="no file of its own folder"):
        load(folder)


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda m: m.update(version=99), "of format 99"),
        (lambda m: m.update(kind="Pipeline"), "damaged"),
        (lambda m: m.update(kind="DistributedDSNARegressor"), "not the fitted model of a DistributedDSNARegressor"),
        (lambda m: m["files"][0]["arrays"].pop("rarity"), "does not fit the trees"),
        (lambda m: m.pop("files"), "damaged"),
        (lambda m: m["files"].pop(1), r"names \d+ shards that are not the \d+ of the model"),
        (lambda m: m["files"].pop(), r"names \d+ shards that are not the \d+ of the model"),
        (lambda m: m["files"].append(m["files"][1]), r"names shard-00000\.bin twice"),
        (lambda m: m["files"].__setitem__(2, m["files"][1]), r"names shard-00000\.bin twice"),
        (lambda m: m["files"][1]["arrays"].pop("number"), "damaged"),
        (lambda m: m.update(format="other"), "not the manifest of a distributed model"),
    ],
)
def test_forged_manifests(folder, change, problem):
    forged(folder, change)
    with pytest.raises(DSNAError, match=problem):
        load(folder)


@pytest.mark.parametrize(
    "array, value", [("leaf_rows", 2**30), ("leaf_ptr", -5), ("code", 77), ("Z", np.nan), ("weight", 0.0)]
)
def test_forged_shards(folder, array, value):
    """A file with the right digest and numbers that would lead kernels astray."""
    from dsna.distributed.arrays_file import read_arrays, write_arrays

    about = json.loads((folder / "manifest.json").read_text("utf-8"))["files"][1]
    arrays = {name: np.array(a) for name, a in read_arrays(folder / about["file"], about).items()}
    arrays[array].flat[1] = value
    new = write_arrays(folder / about["file"], arrays)
    forged(folder, lambda manifest: manifest["files"].__setitem__(1, new))
    with pytest.raises(DSNAError, match="no sound shard of this model"):
        load(folder).predict(QUERIES)


def test_a_full_disk_leaves_nothing_behind(model, tmp_path, monkeypatch):
    from dsna.distributed import arrays_file

    class Full:
        def __init__(self, stream):
            self.stream = stream

        def write(self, piece):
            raise OSError(errno.ENOSPC, "No space left on device")

    whole = arrays_file.whole_file

    def full(path):
        from contextlib import contextmanager

        @contextmanager
        def opened():
            with whole(path) as stream:
                yield Full(stream)

        return opened()

    monkeypatch.setattr(arrays_file, "whole_file", full)
    with pytest.raises(DSNAError, match="the disk is full"):
        model.save(tmp_path / "model")
    assert os.listdir(tmp_path) == []
    # Under the row store, a disk may be full when much is there already.
    written = []

    def full_later(path):
        written.append(path)
        return full(path) if len(written) > 3 else whole(path)

    monkeypatch.setattr(arrays_file, "whole_file", full_later)
    with pytest.raises(DSNAError, match="the disk is full"):
        classifier().set_params(store=tmp_path / "rows").fit(cut(*classes()), None)
    assert os.listdir(tmp_path / "rows") == []


def test_places_that_cannot_be_written(model, folder, tmp_path):
    with pytest.raises(DSNAError, match="there already"):
        model.save(folder)
    (tmp_path / "photos").mkdir()
    with pytest.raises(DSNAError, match="not a folder of a distributed model"):
        model.save(tmp_path / "photos", overwrite=True)
    with pytest.raises(DSNAError, match="there is no such folder"):
        model.save(tmp_path / "nowhere" / "model")
    with pytest.raises(DSNAError, match=r"manifest\.json is missing"):
        load(tmp_path)


def test_overwriting_keeps_what_is_no_part_of_the_model(model, folder):
    (folder / "notes.txt").write_text("mine", "utf-8")
    (folder / "photos").mkdir()
    with pytest.raises(DSNAError, match=r"holds 'notes\.txt' and 1 more, no part of the model"):
        model.save(folder, overwrite=True)
    (folder / "photos").rmdir()
    with pytest.raises(DSNAError, match=r"holds 'notes\.txt', no part of the model"):
        model.save(folder, overwrite=True)
    assert (folder / "notes.txt").read_text("utf-8") == "mine"
    (folder / "notes.txt").unlink()
    (folder / "shard-00001.bin").unlink()  # a model that is not whole is replaced all the same
    model.save(folder, overwrite=True)
    np.testing.assert_array_equal(load(folder).predict(QUERIES), model.predict(QUERIES))


def test_a_manifest_of_something_else_is_not_replaced(model, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "manifest.json").write_text('{"name": "app"}', "utf-8")
    with pytest.raises(DSNAError, match="not a folder of a distributed model"):
        model.save(tmp_path / "app", overwrite=True)
    assert os.listdir(tmp_path / "app") == ["manifest.json"]
