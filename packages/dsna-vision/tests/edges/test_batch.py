"""`dsna edges detect` with a detector that is quick: what is written where, what is said, exit codes."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("PIL")

from PIL import Image
from tests.edges.quick import Quick, ask, expect_exit, files
from tests.odd_pictures import bad_pictures, good_pictures, scene

import dsna_vision.edges
from dsna_vision.edges.drawing.lines import open_contours
from dsna_vision.edges.planning import plan
from dsna_vision.photos import read_photo


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
    np.testing.assert_allclose(found, open_contours(edges, area), atol=0.003)
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
        (("--svg", "--no-nms"), "which --no-nms does not give"),
        (("--no-nms", "-o", "e.svg"), "which --no-nms does not give"),
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
    monkeypatch.setattr(dsna_vision.edges, "load_detector", lambda path: seen.append(path) or Quick())
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
    assert "stores no patches for --method dsna" in expect_exit(ask("detect", photo, "--method", "dsna"), 2)


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
