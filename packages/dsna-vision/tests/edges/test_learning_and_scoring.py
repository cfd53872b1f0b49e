"""`dsna edges train` and `evaluate`: what is learned from and judged by drawings, what is said, exit codes."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("PIL")

from PIL import Image
from scipy.io import savemat
from tests.boundary_folders import write_bsds
from tests.edges.quick import Annotated, Quick, Scores, ask, expect_exit, files
from tests.odd_pictures import bad_pictures, good_pictures, scene

import dsna_vision.datasets
import dsna_vision.edges
from dsna import DSNAError
from dsna_vision.datasets import MissingPictures
from dsna_vision.edges.batch import Detection
from dsna_vision.edges.planning import EdgesError


@pytest.fixture
def collection(monkeypatch):
    """The data that load_bsds500 finds; what it was asked."""
    found, asked = Annotated(), []

    def load(*place):
        asked.append(place)
        if not Path(place[0]).is_dir():
            raise MissingPictures(f"{place[0]} is not a folder; give another.")
        return found

    monkeypatch.setattr(dsna_vision.datasets, "load_bsds500", load)
    monkeypatch.setattr(dsna_vision.datasets, "load_boundaries", load)
    return found, asked


@pytest.fixture
def trained(monkeypatch):
    made = []

    def make(**parameters):
        made.append(Quick(**parameters))
        return made[-1]

    monkeypatch.setattr(dsna_vision.edges, "EdgeDetector", make)
    return made


def test_training(collection, trained, tmp_path):
    photos, asked = collection
    out = tmp_path / "m.dsna"
    how = ("--trees", 3, "--patches", 500, "--pool", 90, "--seed", 7, "--jobs", 2)
    run = ask("train", "--data", tmp_path, "-o", out, *how)
    assert expect_exit(run, 0) == ""
    assert "m.dsna" in run.stdout
    assert "2 photos" in run.stdout
    assert out.read_bytes() == b"model of 3 trees"
    assert trained[0].photos is photos
    expected = {"n_estimators": 3, "n_patches": 500, "n_pool": 90}
    assert trained[0].parameters == {**expected, "random_state": 7, "n_jobs": 2, "verbose": True}
    expect_exit(ask("train", "--data", tmp_path, "--truth", tmp_path / "drawn", "-o", out), 0)
    assert asked == [(tmp_path, "train"), (tmp_path, tmp_path / "drawn")]


def test_training_with_photos_left_out(collection, trained, tmp_path):
    collection[0].problems.append("hill.jpg: the photo has 4 x 4 pixels, its ground truth 5 x 5")
    said = expect_exit(ask("train", "--data", tmp_path, "-o", tmp_path / "m.dsna"), 1)
    assert "left out: hill.jpg: the photo has 4 x 4" in said
    assert (tmp_path / "m.dsna").exists()


def test_training_that_cannot_begin(collection, trained, tmp_path):
    for out, said in ((tmp_path, "a folder, but a file"), (tmp_path / "nowhere" / "m.dsna", "there is no folder")):
        assert said in expect_exit(ask("train", "--data", tmp_path, "-o", out), 2)
    out = tmp_path / "m.dsna"
    assert "is not a folder" in expect_exit(ask("train", "--data", tmp_path / "nowhere", "-o", out), 2)
    assert trained == []
    assert "use 100" in expect_exit(ask("train", "--data", tmp_path, "-o", out, "--patches", 101), 2)
    assert files(tmp_path) == []


@pytest.fixture
def scored(monkeypatch):
    """What evaluate was given; what it found wrong."""
    calls, problems = [], []

    def evaluate(predictions, truth, *, n_jobs=None, out=None):
        if problems == ["all"]:
            raise DSNAError("No photo could be scored.")
        calls.append(([predictions(row) for row in range(len(truth))], n_jobs, out))
        return Scores(truth.names, problems)

    monkeypatch.setattr(dsna_vision.edges, "evaluate", evaluate)
    return calls, problems


@pytest.fixture
def maps(tmp_path):
    folder = tmp_path / "maps"
    folder.mkdir()
    for name in ("pond", "tree"):
        (folder / f"{name}.png").write_bytes(good_pictures()["grey.jpg"])
    return folder


def test_scores_of_a_folder(collection, scored, maps, tmp_path):
    run = ask("evaluate", maps, "--data", tmp_path, "--split", "test", "--out", tmp_path / "scores", "--jobs", 2)
    said = expect_exit(run, 0)
    assert "2/2" in said  # both photos, and no problem
    assert "left out" not in said
    assert "ODS 0.710   OIS 0.720   AP 0.730   R50 0.740" in run.stdout
    ((read, jobs, filed),) = scored[0]
    assert (jobs, filed) == (2, tmp_path / "scores" / "counts")
    for found, name in zip(read, ("pond", "tree"), strict=True):
        np.testing.assert_array_equal(found, np.asarray(Image.open(maps / f"{name}.png").convert("L")) / 255)
    assert collection[1] == [(tmp_path, "test")]
    assert files(tmp_path / "scores") == ["photos.csv", "pr.png", "scores.csv"]
    (overall,) = csv.DictReader((tmp_path / "scores" / "scores.csv").open())
    assert overall == {"photos": "2", "ods": "0.71", "ois": "0.72", "ap": "0.73", "r50": "0.74"}
    assert [row["name"] for row in csv.DictReader((tmp_path / "scores" / "photos.csv").open())] == ["pond", "tree"]
    assert (tmp_path / "scores" / "pr.png").read_bytes().startswith(b"\x89PNG")


def test_scores_of_a_model(collection, scored, shipped, tmp_path):
    expect_exit(ask("evaluate", "--model", "shipped", "--data", tmp_path, "--method", "se", "--scales", "multi"), 0)
    assert [found.shape for found in scored[0][0][0]] == [(24, 32)] * 2
    assert shipped.asked == [((0.5, 1.0, 2.0), "se", True, 1)] * 2
    assert files(tmp_path) == []


def test_scores_with_photos_left_out(collection, scored, maps, tmp_path):
    scored[1].append("tree: the map has 3 x 3 pixels, the ground truth 24 x 32")
    run = ask("evaluate", maps, "--data", tmp_path)
    assert "left out: tree: the map has 3 x 3" in expect_exit(run, 1)
    assert "ODS" in run.stdout


def test_scores_that_cannot_be_had(collection, scored, maps, tmp_path):
    data = ("--data", tmp_path)
    assert "either a folder of maps or --model" in " ".join(expect_exit(ask("evaluate", *data), 2).split())
    assert "either" in expect_exit(ask("evaluate", maps, "--model", "shipped", *data), 2)
    assert "is not a folder" in expect_exit(ask("evaluate", tmp_path / "gone", *data), 2)
    assert "is not a folder" in expect_exit(ask("evaluate", maps, "--data", tmp_path / "gone"), 2)
    assert "a file stands where a folder" in expect_exit(ask("evaluate", maps, *data, "--out", maps / "pond.png"), 2)
    assert "pond.png and so on" in expect_exit(ask("evaluate", tmp_path, *data), 2)
    for option in (("--scales", "two"), ("--method", "se")):
        assert "are for --model" in " ".join(expect_exit(ask("evaluate", maps, *data, *option), 2).split())
    both = ("--truth", tmp_path, "--split", "test")
    assert "with --truth all" in expect_exit(ask("evaluate", maps, *data, *both), 2)
    scored[1].append("all")
    out = tmp_path / "scores"
    assert "No photo could be scored" in expect_exit(ask("evaluate", maps, *data, "--out", out), 2)
    assert not out.exists()


def test_a_model_that_is_not_there():
    with pytest.raises(EdgesError, match=r"gone\.dsna: there is no such file"):
        Detection("gone.dsna").map_function(1)


def write_bsds500(folder, names, drawn):
    """Photos of 24 x 32 pixels, each with what one person drew."""
    for part in ("images", "groundTruth"):
        (folder / part / "val").mkdir(parents=True)
    for name in names:
        Image.fromarray(scene()).save(folder / "images" / "val" / f"{name}.jpg")
        cells = np.empty((1, 1), dtype=object)
        cells[0, 0] = {"Boundaries": drawn.get(name, drawn["all"]), "Segmentation": drawn.get(name, drawn["all"])}
        savemat(folder / "groundTruth" / "val" / f"{name}.mat", {"groundTruth": cells})


def test_scores_of_files_that_are_and_are_not_as_they_should_be(tmp_path):
    line = np.zeros((24, 32), dtype=np.uint8)
    line[:, 15] = 1
    write_bsds500(tmp_path, ["good", "cut", "lost", "large", "broken"], {"all": line, "cut": line[:20]})
    (tmp_path / "images" / "val" / "broken.jpg").write_bytes(bad_pictures()["text.png"][0])
    maps = tmp_path / "maps"
    maps.mkdir()
    Image.fromarray(line * 200).save(maps / "good.png")
    Image.fromarray(np.kron(line, np.ones((2, 2), np.uint8)) * 200).save(maps / "large.png")
    run = ask("evaluate", maps, "--data", tmp_path, "--out", tmp_path / "scores")
    said = expect_exit(run, 1)
    for part in (
        "cut.jpg: the photo has 32 x 24 pixels, its ground truth cut.mat 32 x 20",
        "broken.jpg: not a readable",
    ):
        assert f"left out: {part}" in said
    for part in ("lost: lost.png is missing", "large: the map has 64 x 48 pixels, the ground truth 32 x 24"):
        assert f"left out: {part}" in said
    assert "1 photo   ODS 1.000" in run.stdout
    assert [row["name"] for row in csv.DictReader((tmp_path / "scores" / "photos.csv").open())] == ["good"]
    (maps / "good.png").unlink()
    assert "No photo could be scored" in expect_exit(ask("evaluate", maps, "--data", tmp_path), 2)


def test_one_command_installs_what_training_needs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    write_bsds(tmp_path, "train", 4)
    said = expect_exit(ask("train", "--data", tmp_path, "-o", tmp_path / "m.dsna", "--levels", 2), 2)
    assert "this needs lightgbm, which is not installed. Remedy: pip install 'dsna-vision[train]'" in said
    assert said.count("pip install") == 1


def test_photos_without_drawings_are_told_how_to_name_them(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.fromarray(scene()).save(tmp_path / "photos" / "a.png")
    said = expect_exit(ask("evaluate", "--model", "shipped", "--data", tmp_path / "photos"), 2)
    assert "name the drawings with --truth" in said


def test_scores_of_a_model_that_are_interrupted(collection, shipped, tmp_path, monkeypatch):
    def impatient(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(shipped, "detect", impatient)
    monkeypatch.setattr(dsna_vision.edges, "evaluate", lambda maps, *_, **__: maps(0))
    said = expect_exit(ask("evaluate", "--model", "shipped", "--data", tmp_path, "--out", tmp_path / "scores"), 130)
    assert "a --model detects them again" in said


def test_black_lines_on_white_are_not_learned(tmp_path):
    for part in ("photos", "drawn"):
        (tmp_path / part).mkdir()
    line = np.full((24, 32), 255, dtype=np.uint8)
    line[:, 15:17] = 0
    Image.fromarray(scene()).save(tmp_path / "photos" / "a.png")
    Image.fromarray(line).save(tmp_path / "drawn" / "a.png")
    where = ("--data", tmp_path / "photos", "--truth", tmp_path / "drawn")
    said = expect_exit(ask("train", *where, "-o", tmp_path / "m.dsna"), 2)
    assert "94 % of a.png is boundary: draw boundaries light on black, or invert it" in said
    assert not (tmp_path / "m.dsna").exists()
