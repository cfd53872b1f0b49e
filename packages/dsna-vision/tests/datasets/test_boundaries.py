"""Photos with boundaries in their owners' layouts; files that cannot be used are named."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io

pytest.importorskip("PIL")
from PIL import Image
from tests.boundary_folders import between, scene, write_bsds, write_gupta, write_mat, write_photo

from dsna import DSNAError
from dsna_vision.datasets import load_boundaries, load_bsds500, load_nyud
from dsna_vision.datasets.pictures import UnusableFile


def test_bsds500(tmp_path):
    write_bsds(tmp_path / "BSR" / "BSDS500" / "data")
    found = load_bsds500(tmp_path, "val")
    assert found.names == ["000", "100", "200"]
    assert found.problems == []
    assert found.image(1).shape == (48, 64, 3)
    assert found.image(1).dtype == np.uint8
    segments = scene(seed=1)[1]
    assert [each.shape for each in found.segmentations(1)] == [(48, 64)] * 2
    assert np.array_equal(found.segmentations(1)[0], segments)
    assert found.boundaries(1)[0].dtype == bool
    assert np.array_equal(found.boundaries(1)[0], between(segments) > 0)
    assert found.subset([2, 0]).names == ["200", "000"]
    assert found.subset(np.array([False, True, False])).names == ["100"]
    assert repr(found) == "BoundarySet(3 photos, 0 problems)"


def test_what_cannot_be_used_is_named(tmp_path):
    write_bsds(tmp_path, n=7)
    photos, truths = tmp_path / "images" / "val", tmp_path / "groundTruth" / "val"
    (photos / "000.jpg").write_bytes(b"not a picture")
    (truths / "100.mat").unlink()
    (truths / "200.mat").write_bytes(b"MATLAB 5.0 MAT-file, cut off")
    write_mat(truths / "300.mat", [scene((20, 30))[1]])
    scipy.io.savemat(truths / "400.mat", {"something": 1})
    (photos / "500.jpg").write_bytes((photos / "500.jpg").read_bytes()[:-150])
    write_photo(photos / "600.png", scene()[0])
    write_mat(truths / "900.mat", [scene()[1]])
    found = load_bsds500(tmp_path, "val")
    assert found.names == ["500", "600"]
    for problem, (name, why) in zip(
        found.problems,
        [
            ("000.jpg", "not a readable picture"),
            ("100.jpg", "no ground truth of this name"),
            ("200.jpg", "200.mat is not in the format of BSDS500"),
            ("300.jpg", "the photo has 64 x 48 pixels, its ground truth 300.mat 30 x 20"),
            ("400.jpg", "400.mat is not in the format of BSDS500"),
            ("600.png", "another photo has the same name"),
            ("900", "ground truth without a photo"),
        ],
        strict=True,
    ):
        assert problem.startswith(f"{name}: ")
        assert why in problem
    with pytest.raises(UnusableFile, match=r"500.jpg is damaged.*check='full'"):
        found.image(0)
    assert load_bsds500(tmp_path, "val", check="full").names == ["600"]


def test_nothing_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"images/test/\*.jpg and groundTruth/test/\*.mat are expected"):
        load_bsds500(tmp_path, "test")
    with pytest.raises(FileNotFoundError, match=r"img_5001.*free for research"):
        load_nyud(tmp_path, "test")
    with pytest.raises(ValueError, match="use 'train', 'val' or 'test'"):
        load_bsds500(tmp_path, "validation")
    with pytest.raises(ValueError, match="or 'full'"):
        load_bsds500(tmp_path, "val", check="all")
    with pytest.raises(ValueError, match="folders of their own"):
        load_boundaries(tmp_path, tmp_path)
    with pytest.raises(FileNotFoundError, match="holds the photos"):
        load_boundaries(tmp_path / "none", tmp_path)
    (tmp_path / "a").mkdir()
    write_photo(tmp_path / "b" / "x.png", scene()[0])
    with pytest.raises(FileNotFoundError, match=r"pond/\*.png. Problems: x.png: no ground truth"):
        load_boundaries(tmp_path / "b", tmp_path / "a")


def test_nyud_in_split_folders(tmp_path):
    write_bsds(tmp_path / "BSR" / "NYUD" / "data", "train", shape=(96, 128))
    found = load_nyud(tmp_path, "train", size=(48, 64))
    assert found.image(0).shape == (48, 64, 3)
    assert found.segmentations(0)[0].shape == (48, 64)
    small = scene((96, 128), 0)[1][1::2, 1::2]
    assert np.array_equal(found.segmentations(0)[0], small)
    assert np.array_equal(found.boundaries(0)[0], between(small) > 0)
    assert found.subset([1]).image(0).shape == (48, 64, 3)
    assert load_nyud(tmp_path, "train").image(0).shape == (240, 320, 3)
    assert load_nyud(tmp_path, "train", size=None).boundaries(0)[0].shape == (96, 128)


def test_nyud_without_lists_is_split_by_order(tmp_path):
    write_gupta(tmp_path)
    parts = {split: load_nyud(tmp_path, split).names for split in ("train", "val", "test")}
    assert [len(names) for names in parts.values()] == [4, 2, 4]
    assert [name for names in parts.values() for name in names] == [f"img_{number}" for number in range(5001, 5011)]


def test_nyud_with_lists(tmp_path):
    write_gupta(tmp_path)
    lists = tmp_path / "data" / "benchmarkData" / "metadata" / "nyusplits.mat"
    lists.parent.mkdir()
    scipy.io.savemat(lists, {"train": [5001, 5004], "val": [5002], "tst": [5009, 5010]})
    assert load_nyud(tmp_path, "train").names == ["img_5001", "img_5004"]
    found = load_nyud(tmp_path / "data", "test")
    assert found.names == ["img_5009", "img_5010"]
    assert found.problems == []
    scipy.io.savemat(lists, {"train": [5001]})
    with pytest.raises(UnusableFile, match=r"nyusplits.mat does not list the split 'val'"):
        load_nyud(tmp_path, "val")


def test_any_folders(tmp_path):
    photo, segments = scene()
    lines = between(segments)
    for name in ("grey.png", "colour.JPG", "many.tif", "mat.bmp", "palette.png"):
        write_photo(tmp_path / "images" / name, photo)
    truth = tmp_path / "truth"
    write_photo(truth / "grey.png", 7 * lines)
    write_photo(truth / "colour.png", np.dstack([0 * lines, 200 * lines, 0 * lines]))
    write_photo(truth / "many" / "one.png", 255 * lines)
    write_photo(truth / "many" / "two.png", 255 * lines[::-1])
    write_mat(truth / "mat.mat", [segments] * 3)
    Image.fromarray(255 * lines).convert("1").convert("P").save(truth / "palette.png")
    found = load_boundaries(tmp_path / "images", truth)
    assert found.problems == []
    drawn = {name: found.boundaries(row) for row, name in enumerate(found.names)}
    assert {name: len(each) for name, each in drawn.items()} == {
        "colour": 1, "grey": 1, "many": 2, "mat": 3, "palette": 1,
    }  # fmt: skip
    assert all(np.array_equal(each[0], lines > 0) for each in drawn.values())
    assert np.array_equal(drawn["many"][1], lines[::-1] > 0)
    assert [len(found.segmentations(row)) for row in range(5)] == [0, 0, 0, 3, 0]


def test_turned_photo_fits_its_truth(tmp_path):
    photo, segments = scene()
    turned = Image.fromarray(np.ascontiguousarray(np.rot90(photo)))
    exif = turned.getexif()
    exif[0x0112] = 6  # to be turned clockwise
    (tmp_path / "images").mkdir()
    turned.save(tmp_path / "images" / "a.png", exif=exif)
    write_photo(tmp_path / "truth" / "a.png", 255 * between(segments))
    found = load_boundaries(tmp_path / "images", tmp_path / "truth")
    assert np.array_equal(found.image(0), photo)


def test_photos_of_every_kind_are_read_as_colours(tmp_path):
    """Levels of 16 bits, and a TIFF file that is to be turned: as `dsna edges detect` reads them."""
    photo, segments = scene()
    grey = photo[:, :, 0]
    (tmp_path / "images").mkdir()
    Image.fromarray(grey.astype(np.uint16) * 257).save(tmp_path / "images" / "deep.png")
    turned = Image.fromarray(np.ascontiguousarray(np.rot90(grey)))
    turned.save(tmp_path / "images" / "turned.tif", tiffinfo={0x0112: 6})
    Image.fromarray(np.dstack([photo, np.zeros_like(grey)])).save(tmp_path / "images" / "clear.png")
    for name in ("deep", "turned", "clear"):
        write_photo(tmp_path / "truth" / f"{name}.png", 255 * between(segments))
    for check in ("header", "full"):
        found = load_boundaries(tmp_path / "images", tmp_path / "truth", check=check)
        assert found.names == ["clear", "deep", "turned"]
        assert found.problems == []
        assert np.all(found.image(0) == 255)
        for row in (1, 2):
            assert np.array_equal(found.image(row), np.repeat(grey[:, :, None], 3, axis=2))


def test_no_rows_are_a_set_of_none(tmp_path):
    write_bsds(tmp_path)
    found = load_bsds500(tmp_path, "val")
    assert found.subset([]).names == found.subset([False] * 3).names == []


def test_lines_alone_are_reduced_too(tmp_path):
    photo, _ = scene()
    lines = np.zeros((48, 64), np.uint8)
    lines[20, 5:60] = lines[21, 30:60] = 255
    write_photo(tmp_path / "images" / "a.png", photo)
    write_photo(tmp_path / "truth" / "a.png", lines)
    found = load_boundaries(tmp_path / "images", tmp_path / "truth")
    found.size = (24, 32)
    (small,) = found.boundaries(0)
    assert small.shape == (24, 32)
    assert np.array_equal(np.flatnonzero(small.any(axis=1)), [10])
    assert 25 <= small.sum() <= 28


def test_real_bsds500():
    folder = Path(os.environ.get("DSNA_DATA", "")) / "bsds500"
    if "DSNA_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("DSNA_DATA names no folder that holds bsds500/")
    found = load_bsds500(folder, "val")
    assert len(found) == 100
    assert found.problems == []
    assert found.image(0).shape[:2] == found.boundaries(0)[0].shape == found.segmentations(0)[0].shape


def draw(folder, drawings):
    """Photos, and a drawing of each."""
    for name, lines in drawings.items():
        write_photo(folder / "photos" / f"{name}.png", scene()[0])
        write_photo(folder / "drawn" / f"{name}.png", lines.astype(np.uint8))
    return folder / "photos", folder / "drawn"


def test_drawings_that_are_nearly_all_boundary_are_left_out(tmp_path):
    lines = 255 * between(scene()[1])
    inverted = 255 - lines
    share = round(100 * np.mean(inverted > 0))
    found = load_boundaries(*draw(tmp_path, {"good": lines, "inverted": inverted}))
    assert found.names == ["good"]
    expected = f"{share} % of inverted.png is boundary: draw boundaries light on black, or invert it"
    assert found.problems == [f"inverted.png: {expected}"]


def test_drawings_without_a_boundary(tmp_path):
    lines = 255 * between(scene()[1])
    with pytest.warns(UserWarning, match=r"The ground truth of black\.png has no boundary\."):
        found = load_boundaries(*draw(tmp_path / "one", {"good": lines, "black": 0 * lines}))
    assert found.names == ["black", "good"]
    with pytest.raises(DSNAError, match=r"The ground truth of black\.png, other\.png has no boundary: draw"):
        load_boundaries(*draw(tmp_path / "all", {"black": 0 * lines, "other": 0 * lines}))
