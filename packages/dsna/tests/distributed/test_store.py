"""Distributed models on disk: whole or not at all, read as needed, refused where they are not what was saved."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest
from tests.distributed.tables import classes, classifier, cut, pairs_of_targets, regressor, shards_of, targets

from dsna import DSNAError
from dsna.distributed import load
from dsna.distributed.arrays_file import StoredShard, read_arrays, write_arrays


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
    with pytest.raises(DSNAError, match="not a file in its own folder"):
        load(folder)


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda m: m.update(version=99), "in format 99"),
        (lambda m: m.update(kind="Pipeline"), "damaged"),
        (lambda m: m.update(kind="DistributedDSNARegressor"), "not the fitted model of a DistributedDSNARegressor"),
        (lambda m: m["files"][0]["arrays"].pop("rarity"), "leaves.bin: invalid content: holds leaf_total"),
        (lambda m: m.pop("files"), "damaged"),
        (lambda m: m["files"].pop(1), r"names \d+ shards, and the model that was saved has \d+\."),
        (lambda m: m["files"].pop(), r"names \d+ shards, and the model that was saved has \d+\."),
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


def rewritten(folder, number, change):
    """Change the arrays of a file of a model, with digests that are right."""
    about = json.loads((folder / "manifest.json").read_text("utf-8"))["files"][number]
    arrays = {name: np.array(a) for name, a in read_arrays(folder / about["file"], about).items()}
    change(arrays)
    new = write_arrays(folder / about["file"], arrays)
    forged(folder, lambda manifest: manifest["files"].__setitem__(number, new))


@pytest.mark.parametrize(
    "array, value",
    [
        ("leaf_rows", 2**30),
        ("leaf_rows", -1),
        ("leaf_ptr", -5),
        ("leaf_ptr", 2**40),
        ("code", 77),
        ("code", -1),
        ("Z", np.nan),
        ("Z", 1e200),
        ("weight", 0.0),
        ("fold", 5),
        ("fold", -1),
        ("number", -1),
        ("label", 2.0**30),
        ("label", -1.0),
        ("label", 0.5),
        ("label", 1.0),  # a class, and not that of the code
    ],
)
def test_forged_shards(folder, array, value):
    """A file with the right digest and numbers that would lead kernels astray."""
    rewritten(folder, 1, lambda arrays: arrays[array].flat.__setitem__(1, value))
    with pytest.raises(DSNAError, match=rf"shard-00000\.bin: invalid content: Shard\.{array}.*Copy the whole"):
        load(folder).predict(QUERIES)


@pytest.mark.parametrize(
    "array, change",
    [
        ("Z", lambda a: a[:, :2]),
        ("Z", lambda a: a[:-1]),
        ("label", lambda a: np.hstack([a, a])),
        ("label", lambda a: a.astype(np.int64)),
        ("code", lambda a: a.astype(np.float64)),
        ("leaf_ptr", lambda a: np.append(a, a[-1])),
        ("leaf_rows", lambda a: a.astype(np.int64)),
        ("trend", lambda a: np.zeros((len(a), 1))),
        ("fold", lambda a: a[:, None]),
    ],
)
def test_forged_shapes_of_shards(folder, array, change):
    rewritten(folder, 1, lambda arrays: arrays.update({array: change(arrays[array])}))
    with pytest.raises(DSNAError, match=r"shard-00000\.bin: invalid content: Shard.*Copy the whole"):
        load(folder).predict(QUERIES)


@pytest.mark.parametrize(
    "array, change",
    [
        ("leaf_total", lambda a: -a),
        ("leaf_total", lambda a: a[:-1]),
        ("rarity", lambda a: a * 0.0),
        ("rarity", lambda a: np.append(a, 1.0)),
        ("scale", lambda a: -a),
        ("offset", lambda a: np.append(a, 0.0)),
        ("shard_numbers", lambda a: a[::-1]),
        ("shard_numbers", lambda a: a + np.array([0, 0, 10**6])),
        ("shard_numbers", lambda a: a + np.array([10**6, 0, 0])),
        ("shard_numbers", lambda a: a.astype(np.float64)),
    ],
)
def test_forged_leaves(folder, array, change):
    rewritten(folder, 0, lambda arrays: arrays.update({array: change(arrays[array])}))
    with pytest.raises(DSNAError, match=r"leaves\.bin: invalid content: .*Copy the whole"):
        load(folder)


@pytest.fixture
def twins(tmp_path):
    """A folder of a model two of whose shards have equal sizes."""
    X, y = classes(800)
    model = classifier(max_neighbors=None).fit([(X[:400], y[:400]), (X[400:], y[400:])], None)
    model.save(tmp_path / "twins")
    manifest = json.loads((tmp_path / "twins" / "manifest.json").read_text("utf-8"))
    shards = manifest["files"][1:]
    assert len(shards) == 2
    assert shards[0]["arrays"]["number"][1] == shards[1]["arrays"]["number"][1]
    return tmp_path / "twins"


def test_shards_that_are_swapped(twins):
    """Each by itself is sound, has its size and its digest."""
    untouched = load(twins).predict(QUERIES)

    def swap(manifest):
        manifest["files"][1:] = manifest["files"][:0:-1]

    forged(twins, swap)
    with pytest.raises(DSNAError, match=r"shard-00001\.bin: does not hold the rows of this shard"):
        load(twins)
    forged(twins, swap)
    np.testing.assert_array_equal(load(twins).predict(QUERIES), untouched)
    # The files change their names, and the manifest follows: two sound shards, each in the place of the other.
    for old, new in (("shard-00000.bin", "a"), ("shard-00001.bin", "shard-00000.bin"), ("a", "shard-00001.bin")):
        (twins / old).rename(twins / new)

    def follow(manifest):
        swap(manifest)
        for about, name in zip(manifest["files"][1:], ("shard-00000.bin", "shard-00001.bin"), strict=True):
            about["file"] = name

    forged(twins, follow)
    with pytest.raises(DSNAError, match=r"shard-00000\.bin: does not hold the rows of this shard"):
        load(twins)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
def test_a_pipe_as_manifest(folder):
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(DSNAError, match="not a regular file"):
        load(folder)


def test_a_manifest_without_end(folder):
    (folder / "manifest.json").write_text("[" * 100_000, "utf-8")
    with pytest.raises(DSNAError, match="not the manifest of a distributed model"):
        load(folder)


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
