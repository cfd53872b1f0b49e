"""Readers, on small trees in the layouts of the owners, and on the real folders where there are any."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from tests.synthetic_faces import LANDMARKS, drawn

from dsna_vision import datasets
from dsna_vision.features import AAM, HOG, Face


def picture(path, colour=False, size=(20, 30)):
    path.parent.mkdir(parents=True, exist_ok=True)
    levels = np.arange(size[0] * size[1], dtype=np.uint8).reshape(size)
    Image.fromarray(np.repeat(levels[:, :, None], 3, axis=2) if colour else levels).save(path, quality=95)


def points(path, place=((1, 2), (3, 4), (5.5, 7)), announced=3):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f"{x} {y}" for x, y in place)
    path.write_text(f"version: 1\nn_points: {announced}\n{{\n{lines}\n}}\n")


@pytest.fixture
def fgnet(tmp_path):
    for name in ("001A02", "001A43a", "002A10", "003A05", "004A07", "005A01"):
        picture(tmp_path / "images" / f"{name}.JPG", colour=name == "002A10")
        points(tmp_path / "points" / f"{name.lower()}.pts")
    (tmp_path / "points" / "003a05.pts").unlink()
    points(tmp_path / "points" / "004a07.pts", announced=4)
    (tmp_path / "images" / "005A01.JPG").write_bytes(b"no picture")
    (tmp_path / "images" / "notes.jpg").write_bytes(b"")
    return tmp_path


def test_fgnet(fgnet):
    pictures = datasets.load_fgnet(fgnet)
    assert len(pictures) == 3
    assert_array_equal(pictures.labels, [2, 43, 10])
    assert_array_equal(pictures.groups, ["001", "001", "002"])
    assert_array_equal(pictures.points[0], [[1, 2], [3, 4], [5.5, 7]])
    assert pictures.image(0).shape == (20, 30)
    assert pictures.image(2).shape == (20, 30, 3)
    assert isinstance(pictures.face(1), Face)
    assert pictures.faces(1.0)[2].radius == pytest.approx(1.0)
    wrong = "\n".join(pictures.problems)
    for name, reason in (
        ("003A05.JPG", "no landmarks"),
        ("004A07.JPG", "3 of 4 points"),
        ("005A01.JPG", "not a readable picture"),
        ("notes.jpg", "does not follow"),
    ):
        assert f"{name}: " in wrong
        assert reason in wrong
    assert repr(pictures) == "PictureSet(3 pictures, 4 problems)"


def test_damage_inside_a_picture_is_found_when_asked_for(fgnet):
    path = fgnet / "images" / "002A10.JPG"
    path.write_bytes(path.read_bytes()[:-200])
    pictures = datasets.load_fgnet(fgnet)
    with pytest.raises(ValueError, match=r"002A10\.JPG is damaged.*check='full'"):
        pictures.image(2)
    whole = datasets.load_fgnet(fgnet, check="full")
    assert len(whole) == 2
    assert any("002A10.JPG" in problem for problem in whole.problems)
    with pytest.raises(ValueError, match="check='none'"):
        datasets.load_fgnet(fgnet, check="none")


def test_subset(fgnet):
    pictures = datasets.load_fgnet(fgnet)
    for rows in ([2, 0], np.array([2, 0])):
        assert_array_equal(pictures.subset(rows).labels, [10, 2])
    old = pictures.subset(pictures.labels > 5)
    assert_array_equal(old.groups, ["001", "002"])
    assert [path.name for path in old.paths] == ["001A43a.JPG", "002A10.JPG"]
    assert len(old.points) == 2


def test_morph(tmp_path):
    for name in ("009055_1M54.JPG", "009055_2M55.JPG", "123456_0F16.JPG", "strange.JPG"):
        picture(tmp_path / "Album2" / name)
    points(tmp_path / "Album2" / "123456_0F16.pts")
    (tmp_path / "MORPH_2008.csv").write_text(
        "id_num,picture_num,dob,doa,race,gender,age,photo\n"
        "9055,1,,,B,M,54,Album2/009055_1M54.JPG\n9055,2,,,B,M,56,009055_2M55.JPG\n"
        "777777,0,,,W,F,30,777777_0F30.JPG\n888888,0,,,W,F,old,888888_0F30.JPG\n"
    )
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    pictures = datasets.load_morph(tmp_path)
    assert_array_equal(pictures.labels, [54, 56, 16])
    assert_array_equal(pictures.groups, ["009055", "009055", "123456"])
    assert [place is None for place in pictures.points] == [True, True, False]
    wrong = "\n".join(pictures.problems)
    for part in ("777777_0F30.JPG: named in the CSV", "no age or photo in 888888", "other.csv: has no", "strange.JPG"):
        assert part in wrong
    with pytest.raises(ValueError, match=r"no landmarks.*HOG"):
        pictures.face(0)


def test_utkface(tmp_path):
    for name in ("31_0_2_20170101.jpg", "100_1_0_20170102.jpg.chip.jpg", "61_3_20170109.jpg", "x_1_2_3.jpg"):
        picture(tmp_path / "part1" / name)
    points(tmp_path / "part1" / "31_0_2_20170101.pts")
    pictures = datasets.load_utkface(tmp_path)
    assert_array_equal(pictures.labels, [100, 31, 61])
    assert pictures.groups is None
    assert pictures.points[1].shape == (3, 2)
    assert [problem.split(":")[0] for problem in pictures.problems] == ["x_1_2_3.jpg"]
    with pytest.raises(ValueError, match="without head boxes"):
        pictures.crop(0)


def test_pointing04(tmp_path):
    boxes = {"person01100-90+0": "10\n8\n8\n6", "person01292+15-75": "2\n2\n4\n4", "person02100+0+0": "2\n-\n4\n4"}
    for name, box in boxes.items():
        picture(tmp_path / "Person01" / f"{name}.jpg")
        (tmp_path / "Person01" / f"{name}.txt").write_text(f"{name}.jpg\n\nFace\n{box}\n")
    picture(tmp_path / "Person01" / "person01100-60+0.jpg")
    picture(tmp_path / "Person01" / "me.jpg")
    pictures = datasets.load_pointing04(tmp_path)
    assert_array_equal(pictures.labels, [[-90, 0], [15, -75]])
    assert_array_equal(pictures.groups, ["01", "01"])
    image = pictures.image(0)
    assert_array_equal(pictures.crop(0, margin=1.0), image[5:11, 6:14])
    # The second box reaches beyond the picture, whose edge goes on.
    crop = pictures.crop(1, margin=2.0)
    assert crop.shape == (8, 8)
    assert_array_equal(crop[0], crop[1])
    assert HOG(size=(32, 32)).fit_transform(pictures.crops()).shape[0] == 2
    wrong = "\n".join(pictures.problems)
    for part in ("person02100+0+0.jpg: damaged head box", "person01100-60+0.jpg: no head box", "me.jpg: the name"):
        assert part in wrong


@pytest.mark.parametrize("name", ["fgnet", "morph", "utkface", "pointing04"])
def test_empty_folders_say_what_is_missing_and_where_to_get_it(tmp_path, name):
    load = getattr(datasets, f"load_{name}")
    with pytest.raises(FileNotFoundError, match="http"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        load(tmp_path / "nowhere")
    picture(tmp_path / "holiday.jpg")
    with pytest.raises(FileNotFoundError, match=r"Problems: holiday\.jpg"):
        load(tmp_path)


def test_faces_go_into_a_model(tmp_path):
    faces, labels = drawn(6)
    for number, (face, label) in enumerate(zip(faces, labels, strict=True)):
        Image.fromarray(face.image.clip(0, 255).astype(np.uint8)).save(
            tmp_path / f"00{number}A{int(90 * label):02d}.JPG"
        )
        points(tmp_path / f"00{number}a{int(90 * label):02d}.pts", face.points, len(LANDMARKS))
    pictures = datasets.load_fgnet(tmp_path)
    assert AAM(3, radius=15).fit_transform(pictures.faces(15)).shape == (6, 3)


@pytest.mark.parametrize(
    "name, count, outputs", [("fgnet", 1002, ()), ("utkface", 9780, ()), ("pointing04", 2790, (2,))]
)
def test_real_folders(name, count, outputs):
    folder = Path(os.environ.get("DSNA_DATA", "")) / name
    if "DSNA_DATA" not in os.environ or not folder.is_dir():
        pytest.skip(f"DSNA_DATA names no folder that holds {name}/")
    pictures = getattr(datasets, f"load_{name}")(folder)
    assert len(pictures) + len(pictures.problems) >= count
    assert pictures.labels.shape == (len(pictures), *outputs)
    assert pictures.image(0).ndim in (2, 3)
