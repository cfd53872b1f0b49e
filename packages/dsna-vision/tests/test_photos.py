"""Photos of every kind in, maps out."""

import contextlib
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("PIL")

from PIL import Image
from tests.odd_pictures import animated, bad_pictures, encoded, good_pictures, scene

from dsna_vision.photos import PhotoError, as_photo, read_photo, write_map


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", good_pictures())
@pytest.mark.filterwarnings("ignore:.*frames")
def test_every_kind_is_read(tmp_path, name):
    photo = read_photo(put(tmp_path, name, good_pictures()[name]))
    assert photo.dtype == np.uint8
    assert photo.ndim == 3
    assert photo.shape[2] == 3
    if photo.shape == (24, 32, 3):
        expected = scene() if name.startswith(("colour", "palette", "alpha", "cmyk")) else None
        if expected is None:
            assert (photo[..., 0] == photo[..., 2]).all()
            expected = np.repeat(np.asarray(Image.fromarray(scene()).convert("L"))[..., None], 3, axis=2)
        if name != "bits.png":
            assert np.abs(photo.astype(int) - expected)[:8, :12].max() <= 8


def test_paths_may_be_text_and_the_photo_may_be_changed(tmp_path):
    photo = read_photo(str(put(tmp_path, "a.PNG", good_pictures()["colour.png"])))
    photo[:] = 0
    np.testing.assert_array_equal(read_photo(tmp_path / "a.PNG"), scene())


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    "kind, mode", [*product(["PNG", "JPEG", "TIFF"], ["RGB", "L"]), ("PNG", "I;16"), ("TIFF", "I;16")]
)
def test_photos_stand_upright(tmp_path, kind, orientation, mode):
    upright = np.zeros((32, 48), dtype=np.uint8)
    upright[:16, :16] = 250
    turns = {
        1: lambda a: a, 2: np.fliplr, 3: lambda a: np.rot90(a, 2), 4: np.flipud,
        5: np.transpose, 6: lambda a: np.rot90(a, 1), 7: lambda a: np.rot90(a, 2).T, 8: lambda a: np.rot90(a, -1),
    }  # fmt: skip
    stored = np.ascontiguousarray(turns[orientation](upright))
    if mode == "I;16":
        picture = Image.fromarray(stored.astype(np.uint16) * 257)
    else:
        picture = Image.fromarray(stored).convert(mode)
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = put(tmp_path, "a", encoded(picture, kind, exif=exif))
    photo = read_photo(path)
    assert photo.shape == (32, 48, 3)
    assert np.abs(photo[..., 0].astype(int) - upright).max() <= 8


def test_what_is_transparent_lies_on_white(tmp_path):
    levels = np.zeros((4, 4, 4), dtype=np.uint8)
    levels[:2, :, 3] = 255
    levels[3, :, 3] = 128
    photo = read_photo(put(tmp_path, "a.png", encoded(Image.fromarray(levels), "PNG")))
    assert photo[:, 0, 0].tolist() == [0, 0, 255, 127]
    np.testing.assert_array_equal(as_photo(levels), photo)
    palette = Image.new("P", (3, 1))
    palette.putpalette([10, 20, 30, 200, 100, 50])
    palette.putpixel((1, 0), 1)
    photo = read_photo(put(tmp_path, "b.png", encoded(palette, "PNG", transparency=1)))
    assert photo[0].tolist() == [[10, 20, 30], [255, 255, 255], [10, 20, 30]]
    grey = Image.fromarray(np.array([[7, 9]], dtype=np.uint8))
    assert read_photo(put(tmp_path, "c.png", encoded(grey, "PNG", transparency=9)))[0, :, 0].tolist() == [7, 255]


@pytest.mark.parametrize(
    "levels, expected",
    [
        (np.array([[0, 32768, 65535]], np.uint16), [0, 128, 255]),
        (np.array([[0, 2048, 4095]], np.uint16), [0, 128, 255]),
        (np.array([[0, 128, 255]], np.uint16), [0, 128, 255]),
        (np.array([[0, 1 << 30, (1 << 31) - 1]], np.int32), [0, 128, 255]),
        (np.array([[-1000, 0, 1000]], np.int32), [0, 128, 255]),
        (np.array([[0, 0.5, 1]], np.float32), [0, 128, 255]),
        (np.array([[0, 128, 255]], np.float32), [0, 128, 255]),
        (np.array([[-2, 0, 2]], np.float32), [0, 128, 255]),
        (np.zeros((1, 3), np.int32), [0, 0, 0]),
        (np.full((1, 3), 5e3, np.float32), [255, 255, 255]),
    ],
)
def test_many_bits_are_scaled_to_eight(tmp_path, levels, expected):
    photo = read_photo(put(tmp_path, "a.tif", encoded(Image.fromarray(levels), "TIFF")))
    assert photo[0, :, 0].tolist() == expected
    assert photo.shape == (1, 3, 3)


def test_deep_colours_are_read(tmp_path):
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = b"\0" + np.array([0, 65535, 32896], dtype=">u2").tobytes()
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0))
    content += chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")
    assert read_photo(put(tmp_path, "a.png", content))[0, 0].tolist() == [0, 255, 128]


def test_the_first_frame_of_an_animation_is_read_with_a_warning(tmp_path):
    path = put(tmp_path, "moving.gif", animated())
    with pytest.warns(UserWarning, match=r"moving.gif: holds 3 frames; the first is used"):
        photo = read_photo(path)
    assert (photo == 60).all()


def test_phone_photos_with_a_preview_come_without_warning(tmp_path):
    first = Image.fromarray(scene())
    path = put(tmp_path, "a.jpg", encoded(first, "MPO", save_all=True, append_images=[first]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_photo(path).shape == (24, 32, 3)


def test_twelve_megapixels(tmp_path):
    path = put(tmp_path, "a.jpg", encoded(Image.new("RGB", (4000, 3000), (9, 9, 9)), "JPEG"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_photo(path).shape == (3000, 4000, 3)


@pytest.mark.parametrize("name", bad_pictures())
def test_files_that_cannot_be_read_are_named(tmp_path, name):
    content, said = bad_pictures()[name]
    with pytest.raises(PhotoError, match=said) as caught:
        read_photo(put(tmp_path, name, content))
    assert name in str(caught.value)
    assert "Remedy: " in str(caught.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(PhotoError, match=r"gone.jpg: there is no such file\. Remedy"):
        read_photo(tmp_path / "gone.jpg")
    with pytest.raises(PhotoError, match=r"a folder, not a file\. Remedy"):
        read_photo(tmp_path)


@pytest.mark.parametrize("level", [np.nan, np.inf])
def test_files_with_levels_that_are_no_numbers(tmp_path, level):
    levels = np.array([[0, level]], dtype=np.float32)
    with pytest.raises(PhotoError, match=r"a.tif: some levels are NaN or infinite\. Remedy"):
        read_photo(put(tmp_path, "a.tif", encoded(Image.fromarray(levels), "TIFF")))


@pytest.mark.parametrize("name", ["colour.jpg", "palette.png", "deep.tif", "animated.gif"])
@pytest.mark.filterwarnings("ignore")
def test_damage_anywhere_is_a_photo_error_or_a_photo(tmp_path, name):
    content = good_pictures()[name]
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(content[: rng.integers(1, len(content) + 1)])
        for place in rng.integers(0, len(damaged), 4):
            damaged[place] = rng.integers(0, 256)
        with contextlib.suppress(PhotoError):
            assert read_photo(put(tmp_path, name, bytes(damaged))).ndim == 3


@pytest.mark.parametrize("dtype", ["uint8", "uint16", ">u2", "float32", "float64", "float16"])
@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 1), (5, 4, 3), (5, 4, 4), (1, 1)])
def test_arrays_of_users(dtype, shape):
    white = 1 if "f" in dtype else np.iinfo(dtype).max
    given_photo = np.full(shape, white, dtype=dtype)
    before = given_photo.copy()
    photo = as_photo(given_photo)
    assert photo.shape == (*shape[:2], 3)
    assert photo.dtype == np.uint8
    assert photo.flags.c_contiguous
    assert (photo == 255).all()
    photo[:] = 0
    np.testing.assert_array_equal(given_photo, before)


@pytest.mark.parametrize(
    "photo, said",
    [
        (np.zeros(5), "one photo at a time"),
        (np.zeros((2, 5, 5, 3)), "one photo at a time"),
        (np.zeros((3, 5, 7)), "moveaxis"),
        (np.zeros((5, 5, 2)), "1, 3 or 4 channels"),
        (np.zeros((0, 5)), "no pixels"),
        (np.full((2, 2), np.nan), "NaN"),
        (np.full((2, 2), 255.0), "astype"),
        (np.full((2, 2), -1.0), "between 0 and 1"),
        (np.zeros((2, 2), dtype=int), "uint8"),
        (np.zeros((2, 2), dtype=complex), "uint8"),
        ([["a", "b"]], "uint8"),
        (None, "height, width"),
    ],
)
def test_arrays_that_are_no_photos(photo, said):
    with pytest.raises(PhotoError, match=said):
        as_photo(photo)


@given(arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(0, 1, width=32)))
@settings(max_examples=30)
def test_maps_come_back(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("maps")
    write_map(values, folder / "a.png")
    np.testing.assert_allclose(read_photo(folder / "a.png")[..., 1] / 255, values, atol=0.502 / 255)
    write_map(values, str(folder / "b.PNG"), "uint16")
    np.testing.assert_allclose(np.asarray(Image.open(folder / "b.PNG")) / 65535, values, atol=0.51 / 65535)
    write_map(values, folder / "c.npy")
    np.testing.assert_array_equal(np.load(folder / "c.npy"), values)
    assert sorted(path.name for path in folder.iterdir()) == ["a.png", "b.PNG", "c.npy"]


@pytest.mark.parametrize(
    "name, values, dtype, said",
    [
        ("a.jpg", np.zeros((2, 2)), None, r"a\.jpg: maps are not written as \.jpg\. Remedy: use \.png or \.npy"),
        ("a", np.zeros((2, 2)), None, "without ending"),
        ("a.png", np.zeros((2, 2)), "float32", "uint8 or uint16"),
        ("a.png", np.zeros((2, 2, 3)), None, "height, width"),
        ("a.png", np.zeros((0, 2)), None, "height, width"),
        ("a.png", np.full((2, 2), 2.0), None, "outside 0 to 1"),
        ("a.png", np.array([[0, np.nan]]), None, "NaN"),
        ("gone/a.png", np.zeros((2, 2)), None, "check the name and the folder"),
    ],
)
def test_maps_that_cannot_be_written(tmp_path, name, values, dtype, said):
    with pytest.raises(PhotoError, match=said):
        write_map(values, tmp_path / name, dtype)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_older_map(tmp_path, monkeypatch):
    write_map(np.zeros((2, 2)), tmp_path / "a.png")
    before = (tmp_path / "a.png").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(PhotoError, match="the disk is full"):
        write_map(np.ones((2, 2)), tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == before
