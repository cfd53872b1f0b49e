"""`dsna edges ...` with a detector that is quick: what is written where, what is said, exit codes."""

import csv
import os
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("PIL")

from PIL import Image
from scipy.io import savemat

import dsna.vision.datasets
import dsna.vision.edges
from dsna import DSNAError
from dsna.vision.datasets import MissingPictures
from dsna.vision.edges.batch import Detection
from dsna.vision.edges.drawing.lines import opened
from dsna.vision.edges.planning import EdgesError, plan
from dsna.vision.photos import read_photo
from tests.vision.boundary_folders import write_bsds
from tests.vision.edges.quick import Annotated, Quick, Scores, ask, expect_exit, files
from tests.vision.odd_pictures import bad_pictures, good_pictures, scene


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo.png"
    path.write_bytes(good_pictures()["colour.png"])
    return path


def test_help_teaches():
    pages = {"": "dsna edges detect photo.jpg", "detect": "--invert", "train": "--patches", "evaluate": "--split"}
    for command, part in pages.items():
        run = ask(*command.split(), "--help")
        assert run.exit_code == 0
        assert part in run.output
        assert "For example" in run.output


def test_one_photo(shipped, photo, tmp_path):
    run = ask("detect", photo, "-o", tmp_path / "edges.png")
    assert expect_exit(run, 0) == ""
    assert "edges.png" in run.stdout
    expected = Quick().detect(scene())
    np.testing.assert_allclose(read_photo(tmp_path / "edges.png")[..., 0] / 255, expected, atol=0.003)
    assert files(tmp_path) == ["edges.png", "photo.png"]
    assert shipped.asked == [((1.0,), "dsna", True, 1)]


def test_beside_the_photo(shipped, photo, tmp_path):
    run = ask("detect", photo)
    assert expect_exit(run, 0) == ""
    assert "photo.edges.png" in run.stdout
    assert files(tmp_path) == ["photo.edges.png", "photo.png"]
    expected = Quick().detect(scene())
    np.testing.assert_allclose(read_photo(tmp_path / "photo.edges.png")[..., 0] / 255, expected, atol=0.003)
    for name in ("photo.jpg", "other.png"):
        (tmp_path / name).write_bytes(photo.read_bytes())
    run = ask("detect", photo, tmp_path / "photo.jpg", tmp_path / "other.png", photo, "--svg")
    expect_exit(run, 0)
    assert "3 of 3 maps beside the photos" in run.stdout
    drawn = {"other.edges.svg", "photo.jpg.edges.svg", "photo.png.edges.svg"}
    assert set(files(tmp_path)) == {*drawn, "photo.edges.png", "photo.png", "photo.jpg", "other.png"}
    assert "gone.jpg" in expect_exit(ask("detect", tmp_path / "nowhere" / "gone.jpg"), 2)
    expect_exit(ask("detect", tmp_path, "--out", tmp_path / "maps"), 0)  # finds no maps of its own
    assert files(tmp_path / "maps") == ["other.png", "photo.jpg.png", "photo.png.png"]


@pytest.mark.parametrize(
    "name, options, area",
    [
        ("e.png", (), 10),
        ("e.png", ("--min-length", 3), 3),
        ("e.png", ("--min-length", 1), 1),
        ("e.png", ("--no-nms",), 1),
        ("e.npy", (), 1),
        ("e.npy", ("--min-length", 10), 10),
    ],
)
def test_crumbs_of_maps(shipped, tmp_path, name, options, area):
    noisy = scene() // 2 + np.random.default_rng(0).integers(0, 99, scene().shape, dtype=np.uint8)
    Image.fromarray(noisy).save(tmp_path / "noisy.png")
    expect_exit(ask("detect", tmp_path / "noisy.png", "-o", tmp_path / name, *options), 0)
    path, edges = tmp_path / name, Quick().detect(noisy)
    found = np.load(path) if name == "e.npy" else read_photo(path)[..., 0] / 255
    np.testing.assert_allclose(found, opened(edges, area), atol=0.003)
    assert (np.abs(found - edges).max() > 0.003) == (area > 1)


def test_kinds_of_drawings(shipped, photo, tmp_path):
    expected = Quick().detect(scene())
    expect_exit(ask("detect", photo, "-o", tmp_path / "t.npy", "--threshold", 0.1, "--min-length", 0), 0)
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), expected >= 0.1)
    expect_exit(ask("detect", photo, "-o", tmp_path / "o.png", "--overlay", "--threshold", 0.1), 0)
    assert read_photo(tmp_path / "o.png").shape == scene().shape
    expect_exit(ask("detect", photo, "-o", tmp_path / "lines.svg"), 0)
    assert (tmp_path / "lines.svg").read_text("utf-8").startswith("<svg")
    expect_exit(ask("detect", photo, "--out", tmp_path / "maps", "--svg"), 0)
    assert files(tmp_path / "maps") == ["photo.svg"]
    shipped.asked.clear()
    expect_exit(ask("detect", photo, "--fast"), 0)
    assert shipped.asked == [((1.0,), "se", True, 1)]


@pytest.mark.parametrize(
    "options, said",
    [
        (("--svg", "--overlay"), "either --svg or --overlay"),
        (("--svg", "--invert"), "for grey maps"),
        (("--svg", "--no-nms"), "--no-nms leaves none"),
        (("--no-nms", "-o", "e.svg"), "--no-nms leaves none"),
        (("--fast", "--scales", "two"), "leave these out"),
        (("--svg", "-o", "e.png"), "use .svg"),
        (("--overlay", "-o", "e.npy"), "use .png"),
        (("--threshold", "2"), "threshold"),
    ],
)
def test_drawings_that_cannot_be(shipped, photo, options, said):
    run = ask("detect", photo, *options)
    assert said in " ".join(expect_exit(run, 2).replace("│", " ").split())
    assert shipped.asked == []


@pytest.mark.parametrize(("name", "scales"), [("two", (0.5, 1.0)), ("multi", (0.5, 1.0, 2.0))])
def test_options_reach_the_detector(shipped, photo, tmp_path, name, scales):
    options = ("--scales", name, "--method", "se", "--no-nms", "--invert", "--jobs", 2)
    expect_exit(ask("detect", photo, "-o", tmp_path / "e.npy", *options), 0)
    assert shipped.asked == [(scales, "se", False, 2)]
    np.testing.assert_allclose(np.load(tmp_path / "e.npy"), 1 - Quick().detect(scene()))


def test_another_model(monkeypatch, photo, tmp_path):
    seen = []
    monkeypatch.setattr(dsna.vision.edges, "load_detector", lambda path: seen.append(path) or Quick())
    model = tmp_path / "mine.dsna"
    said = expect_exit(ask("detect", photo, "-o", tmp_path / "e.png", "--model", model), 2)
    assert "mine.dsna" in said
    assert "dsna edges train" in said
    model.write_bytes(b"")
    expect_exit(ask("detect", photo, "-o", tmp_path / "e.png", "--model", model), 0)
    assert seen == [model]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_of_everything(shipped, tmp_path, jobs):
    folder, out = tmp_path / "photos", tmp_path / "maps"
    (folder / "sub").mkdir(parents=True)
    for name, content in good_pictures().items():
        (folder / "sub" / name).write_bytes(content)
    for name, (content, _) in bad_pictures().items():
        (folder / name).write_bytes(content)
    (folder / "notes.txt").write_text("no photo")
    for size in (13, 14):
        Image.new("L", (size, size)).save(folder / f"size{size}.bmp")
    run = ask("detect", folder, "--out", out, "--jobs", jobs)
    said = expect_exit(run, 1)
    for name, (_, part) in bad_pictures().items():
        line = next(line for line in said.splitlines() if f"{name}:" in line and line.startswith("failed"))
        assert part in line
        assert "Remedy" in line
    assert "size13.bmp: RuntimeError: thirteen" in said
    assert "size14.bmp: not enough memory" in said
    assert "note: " in said
    assert "animated.gif: holds 3 frames" in said
    assert f"{len(good_pictures())} of {len(good_pictures()) + len(bad_pictures()) + 2} maps" in run.stdout
    alone = {f"sub/{Path(name).stem}.png" for name in ("grey.jpg", "palette.png", "pixel.png", "animated.gif")}
    assert alone | {"sub/cmyk.jpg.png", "sub/cmyk.tif.png"} <= set(files(out))
    assert len(files(out)) == len(good_pictures())
    assert Image.open(out / "sub" / "pixel.png").size == (1, 1)
    again = ask("detect", folder, "--out", folder / "maps")
    assert len(files(folder / "maps")) == len(good_pictures())
    said = expect_exit(ask("detect", folder, "--out", folder / "maps"), 1)
    assert said.count("failed") == again.stderr.count("failed")


@pytest.mark.parametrize("name", [*bad_pictures(), "gone.jpg"])
def test_nothing_is_left_of_a_photo_that_fails(shipped, tmp_path, name):
    content = bad_pictures().get(name, (None, "no such file"))
    if content[0] is not None:
        (tmp_path / name).write_bytes(content[0])
    said = expect_exit(ask("detect", tmp_path / name, "-o", tmp_path / "edges.png"), 2)
    assert name in said
    assert content[1] in said
    assert not (tmp_path / "edges.png").exists()
    expect_exit(ask("detect", tmp_path / name, "--out", tmp_path / "new"), 2)
    assert not (tmp_path / "new").exists()


def test_folders_without_photos(shipped, photo, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    said = expect_exit(ask("detect", empty, "--out", tmp_path / "maps"), 2)
    assert "empty: no pictures" in said
    assert "Remedy" in said
    assert not (tmp_path / "maps").exists()
    expect_exit(ask("detect", empty, photo, "--out", tmp_path / "maps"), 1)
    assert files(tmp_path / "maps") == ["photo.png"]


@pytest.mark.parametrize("out, said", [("edges.jpg", "use .png, .npy or .svg"), ("photo.png", "overwrite")])
def test_places_that_one_map_cannot_go(shipped, photo, tmp_path, out, said):
    before = photo.read_bytes()
    assert said in expect_exit(ask("detect", photo, "-o", tmp_path / out), 2)
    assert files(tmp_path) == ["photo.png"]
    assert photo.read_bytes() == before
    assert shipped.asked == []


def test_places_that_several_maps_cannot_go(shipped, photo, tmp_path):
    assert "name a folder, as in --out" in expect_exit(ask("detect", photo, photo, "-o", tmp_path / "e.png"), 2)
    assert "name a folder, as in --out" in expect_exit(ask("detect", tmp_path, "-o", tmp_path / "maps"), 2)
    assert "a file stands where a folder is needed" in expect_exit(ask("detect", tmp_path, "--out", photo), 2)
    assert "name the file for one map with -o" in expect_exit(ask("detect", photo, "--out", tmp_path / "e.png"), 2)
    assert "another folder" in expect_exit(ask("detect", tmp_path, "--out", tmp_path), 2)
    both = ("-o", tmp_path / "e.png", "--out", tmp_path / "maps")
    assert "either a file for one map" in expect_exit(ask("detect", photo, *both), 2)
    assert "name it, as in --out" in expect_exit(ask("detect", tmp_path), 2)
    expect_exit(ask("detect", photo, "--out", tmp_path), 2)  # the map would have the photo's name
    assert files(tmp_path) == ["photo.png"]
    assert shipped.asked == []


def test_a_folder_that_cannot_be_made(shipped, photo, tmp_path):
    (tmp_path / "file").write_text("")
    assert "file/e.png: a file stands where" in expect_exit(ask("detect", photo, "-o", tmp_path / "file" / "e.png"), 2)
    assert "file/maps: a file stands where" in expect_exit(ask("detect", photo, "--out", tmp_path / "file" / "maps"), 2)
    assert shipped.asked == []


def test_maps_of_the_same_name(tmp_path):
    for part in ("x", "y"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "a.jpg").write_bytes(b"")
    jobs, problems = plan([tmp_path / "x" / "a.jpg", tmp_path / "y" / "a.jpg"], out=tmp_path / "maps")
    assert len(jobs) == 1
    assert "would overwrite that of" in problems[0]
    jobs, problems = plan([tmp_path], out=tmp_path / "maps")
    assert [job.map.relative_to(tmp_path / "maps").as_posix() for job in jobs] == ["x/a.png", "y/a.png"]
    assert problems == []


def test_interrupted(shipped, photo, tmp_path, monkeypatch):
    def impatient(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(shipped, "detect", impatient)
    assert "Stopped. Nothing was written." in expect_exit(ask("detect", photo, "-o", tmp_path / "e.png"), 130)
    assert files(tmp_path) == ["photo.png"]


def test_interrupted_after_a_map(shipped, photo, tmp_path, monkeypatch):
    def impatient(photo, **how):
        if shipped.asked:
            raise KeyboardInterrupt
        return Quick.detect(shipped, photo, **how)

    monkeypatch.setattr(shipped, "detect", impatient)
    (tmp_path / "tree.png").write_bytes(photo.read_bytes())
    said = expect_exit(ask("detect", photo, tmp_path / "tree.png", "--out", tmp_path / "maps"), 130)
    assert f"Stopped. 1 of 2 maps in {tmp_path / 'maps'} were written." in said
    assert files(tmp_path / "maps") == ["photo.png"]


def test_a_detector_without_patches(shipped, photo, tmp_path):
    shipped.pool_ = None
    expect_exit(ask("detect", photo), 0)
    assert shipped.asked == [((1.0,), "se", True, 1)]
    assert "keeps no patches for --method dsna" in expect_exit(ask("detect", photo, "--method", "dsna"), 2)


@pytest.mark.parametrize("option", [(), ("--overlay",), ("--svg",)])
def test_what_shows_nothing_is_noted(shipped, photo, tmp_path, option):
    strongest = Quick().detect(scene()).max()
    said = expect_exit(ask("detect", photo, "--threshold", 1, *option), 0)
    assert f"no edge reaches 1: the strongest is {strongest:.2f}" in " ".join(said.split())
    Image.new("L", (20, 20), 99).save(tmp_path / "flat.png")
    assert "note: " in (said := expect_exit(ask("detect", tmp_path / "flat.png", *option), 0))
    assert "there is no edge" in said


def test_a_photo_that_may_not_be_read_stops_no_other(shipped, photo, tmp_path, monkeypatch):
    closed = tmp_path / "closed.png"
    closed.write_bytes(photo.read_bytes())
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, *how, **more: Path(path) != closed and may(path, *how, **more))
    run = ask("detect", closed, photo, "--out", tmp_path / "maps")
    assert "closed.png: may not be read" in expect_exit(run, 1)
    assert files(tmp_path / "maps") == ["photo.png"]


def test_without_pillow(shipped, photo, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert "pip install 'dsna[cli,report,vision]'" in expect_exit(ask("detect", photo, "-o", tmp_path / "e.png"), 2)


@pytest.fixture
def collection(monkeypatch):
    """The data that load_bsds500 finds; what it was asked."""
    found, asked = Annotated(), []

    def load(*place):
        asked.append(place)
        if not Path(place[0]).is_dir():
            raise MissingPictures(f"{place[0]} is not a folder; give another.")
        return found

    monkeypatch.setattr(dsna.vision.datasets, "load_bsds500", load)
    monkeypatch.setattr(dsna.vision.datasets, "load_boundaries", load)
    return found, asked


@pytest.fixture
def trained(monkeypatch):
    made = []

    def make(**parameters):
        made.append(Quick(**parameters))
        return made[-1]

    monkeypatch.setattr(dsna.vision.edges, "EdgeDetector", make)
    return made


def test_training(collection, trained, tmp_path):
    photos, asked = collection
    out = tmp_path / "m.dsna"
    how = ("--trees", 3, "--patches", 500, "--splits", "svm", "--cost", 0.5, "--pool", 90, "--seed", 7, "--jobs", 2)
    run = ask("train", "--data", tmp_path, "-o", out, *how)
    assert expect_exit(run, 0) == ""
    assert "m.dsna" in run.stdout
    assert "2 photos" in run.stdout
    assert out.read_bytes() == b"model of 3 trees"
    assert trained[0].photos is photos
    expected = {"n_estimators": 3, "n_patches": 500, "splits": "svm", "cost": 0.5, "n_pool": 90}
    assert trained[0].parameters == {**expected, "random_state": 7, "n_jobs": 2, "verbose": True}
    expect_exit(ask("train", "--data", tmp_path, "--truth", tmp_path / "drawn", "-o", out), 0)
    assert asked == [(tmp_path, "train"), (tmp_path, tmp_path / "drawn")]


def test_training_with_photos_left_out(collection, trained, tmp_path):
    collection[0].problems.append("hill.jpg: the photo has 4 x 4 pixels, its ground truth 5 x 5")
    said = expect_exit(ask("train", "--data", tmp_path, "-o", tmp_path / "m.dsna"), 1)
    assert "left out: hill.jpg: the photo has 4 x 4" in said
    assert (tmp_path / "m.dsna").exists()


def test_training_that_cannot_begin(collection, trained, tmp_path):
    for out, said in ((tmp_path, "a folder, and a file"), (tmp_path / "nowhere" / "m.dsna", "there is no folder")):
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

    monkeypatch.setattr(dsna.vision.edges, "evaluate", evaluate)
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
        Detection("gone.dsna").prepared(1)


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


@pytest.mark.parametrize(
    "missing, options, command",
    [
        ("lightgbm", ("--levels", 2), "pip install 'dsna[cli,report,vision,train]'"),
        ("torch", ("--levels", 2, "--network"), "pip install 'dsna[cli,report,vision,train,network]'"),
    ],
)
def test_one_command_installs_what_training_needs(tmp_path, monkeypatch, missing, options, command):
    monkeypatch.setitem(sys.modules, missing, None)
    write_bsds(tmp_path, "train", 4)
    said = expect_exit(ask("train", "--data", tmp_path, "-o", tmp_path / "m.dsna", *options), 2)
    assert f"this needs {missing}, which is not installed. Remedy: {command}" in said
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
    monkeypatch.setattr(dsna.vision.edges, "evaluate", lambda maps, *_, **__: maps(0))
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
