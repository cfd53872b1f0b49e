"""Edges explained by training patches: where these are from, and that they are those that were voted for."""

import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("skimage")
pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from tests.boundary_folders import shapes, write_photo, write_shapes
from tests.edges.quick import ask, expect_exit

from dsna import DSNAError
from dsna_vision.datasets import load_bsds500
from dsna_vision.edges import EdgeDetector, detection, forest, load_detector, pretrained
from dsna_vision.edges.embedding import outlines_of

PHOTO = shapes(100)[0]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    write_shapes(folder, 4)
    return folder


@pytest.fixture(scope="module")
def photos(root):
    return load_bsds500(root, "train")


@pytest.fixture(scope="module")
def detector(photos):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "_RANGE_PATCHES", 200)
        return EdgeDetector(n_estimators=2, n_patches=400, n_pool=400, random_state=0).fit(photos)


@pytest.fixture(scope="module")
def place(detector):
    soft = detector.detect(PHOTO, suppress=False)
    row, column = np.unravel_index(soft.argmax(), soft.shape)
    return int(row), int(column)


def test_patches_are_where_the_model_says(detector, photos):
    """The mask of each patch is what some annotator drew around its centre in its photo."""
    pool = detector.pool_
    masks = pool.mask_table.masks[pool.mask].reshape(-1, 16, 16)
    assert pool.origins.names == photos.names
    for k in range(0, len(pool), 7):
        y, x = pool.origins.centre[k]
        drawn = photos.segmentations(int(pool.origins.photo[k]))
        cut = [one[y - 8 : y + 8, x - 8 : x + 8] for one in drawn]
        alike = [np.array_equal(np.unique(one, return_inverse=True)[1].reshape(16, 16) > 0, masks[k] > 0)
                 or len(np.unique(np.stack([one, masks[k]], -1).reshape(-1, 2), axis=0)) == len(np.unique(one))
                 for one in cut]  # fmt: skip
        assert any(alike)


def test_an_edge_is_made_of_patches_that_have_one(detector, place):
    found = detector.explain(PHOTO, place, n=5)
    assert found.place == place
    assert found.strength == pytest.approx(detector.detect(PHOTO, suppress=False).max())
    assert 0 < len(found.patches) <= 5
    shares = [patch.share for patch in found.patches]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0
    assert sum(map(abs, shares)) <= 1 + 1e-9
    for patch in found.patches:
        y, x = patch.place
        assert patch.outline[max(0, y - 2) : y + 3, max(0, x - 2) : x + 3].any()
        assert patch.photo in detector.pool_.origins.names


def test_votes_are_those_of_the_map(detector, place):
    """Outlines of the neighbours at a place, weighted, without sharpening, are the map before it is smoothed."""
    voting = detector.set_params(sharpening=0).voting("dsna")
    pool = detector.pool_
    positions, (voters, rows, weights) = detection.neighbors_at(PHOTO, place, detector.forest_, pool, voting)
    outlines = outlines_of(pool.mask_table.masks).reshape(-1, 16, 16)[pool.mask[rows]]
    at = np.array(place) - positions[voters] + 8
    total = sum((weights[k] * outlines[k, :, at[k, 0], at[k, 1]]).sum() for k in range(len(voters)))
    context = detection.Context(detection._smoothed(detection._vote_map(
        detection.Tiles(PHOTO, 1024), PHOTO.shape[:2], detection.LeafVotes(detector.forest_), 0, 1)))  # fmt: skip
    votes = detection.NeighborVotes(detector.forest_, pool, voting, context)
    voted = detection._vote_map(detection.Tiles(PHOTO, 1024), PHOTO.shape[:2], votes, 0, 1)
    detector.set_params(sharpening=2)
    assert voted[place] == pytest.approx(total * 16 / 256, rel=1e-4)


def test_commands(detector, root, place, tmp_path):
    detector.save(tmp_path / "mine.dsna")
    write_photo(tmp_path / "photo.png", PHOTO)
    again = load_detector(tmp_path / "mine.dsna")
    np.testing.assert_array_equal(again.pool_.origins.centre, detector.pool_.origins.centre)
    at = f"{place[1]},{place[0]}"
    run = ask("explain", tmp_path / "photo.png", "--at", at, "--model", tmp_path / "mine.dsna")
    expect_exit(run, 0)
    best = detector.explain(PHOTO, place).patches[0]
    assert f"Edge at {at}" in run.stdout
    assert best.origin in run.stdout
    plain = (tmp_path / "photo.explained.png").read_bytes()
    options = ("--data", root, "-o", tmp_path / "why.png")
    expect_exit(ask("explain", tmp_path / "photo.png", "--at", at, "--model", tmp_path / "mine.dsna", *options), 0)
    assert (tmp_path / "why.png").read_bytes() != plain
    detector.pool_.origins, kept = None, detector.pool_.origins
    detector.save(tmp_path / "old.dsna")
    detector.pool_.origins = kept
    run = ask("explain", tmp_path / "photo.png", "--at", at, "--model", tmp_path / "old.dsna")
    expect_exit(run, 0)
    assert "does not record which photos" in run.stdout


@pytest.mark.parametrize(
    "options, said",
    [
        (("--at", "1"), "two whole numbers"),
        (("--at", "a,b"), "two whole numbers"),
        (("--at", "5000,1"), "is not in the photo"),
        (("--at", "1,1", "-o", "why.txt"), "written as .png"),
        (("--at", "1,1", "--data", "nowhere"), "nowhere"),
    ],
)
def test_mistakes(detector, tmp_path, options, said):
    detector.save(tmp_path / "mine.dsna")
    write_photo(tmp_path / "photo.png", PHOTO)
    run = ask("explain", tmp_path / "photo.png", "--model", tmp_path / "mine.dsna", *options)
    expect_exit(run, 2)
    assert said in run.output
    assert not (tmp_path / "photo.explained.png").exists()
    other = EdgeDetector()
    other.forest_, other.pool_ = detector.forest_, None
    with pytest.raises(DSNAError, match="stores no patches"):
        other.explain(PHOTO, (1, 1))


def test_no_edge_no_explanation(detector, tmp_path):
    flat = np.full((64, 80, 3), 99, np.uint8)
    flat[:, 40:] = 220
    write_photo(tmp_path / "photo.png", flat)
    detector.save(tmp_path / "mine.dsna")
    run = ask("explain", tmp_path / "photo.png", "--at", "12,20", "--model", tmp_path / "mine.dsna")
    assert "No edge within 3 pixels of 12,20." in expect_exit(run, 2)
    assert not (tmp_path / "photo.explained.png").exists()
    lines = detector.detect(flat)
    row, column = 30, int(lines[30].argmax())
    assert detector.explain(flat, (row, column)).place == (row, column)
    near = detector.explain(flat, (row, column + 3)).place
    window = lines[row - 3 : row + 4, column : column + 7]
    assert lines[near] == window.max() > 0.03


def test_the_edge_is_looked_for_in_the_lines_that_are_given(detector, place):
    lines = np.zeros(PHOTO.shape[:2], np.float32)
    lines[place] = 0.5
    other = place[0] + 2, place[1] - 1
    lines[other] = 0.4
    assert detector.explain(PHOTO, other, lines=lines).place == other
    assert detector.explain(PHOTO, (place[0] - 1, place[1] + 1), lines=lines).place == place


def test_a_detector_without_patches(detector, tmp_path):
    other = EdgeDetector(n_pool=0)
    other.forest_, other.pool_ = detector.forest_, None
    other.save(tmp_path / "mine.dsna")
    write_photo(tmp_path / "photo.png", PHOTO)
    run = ask("explain", tmp_path / "photo.png", "--at", "12,20", "--model", tmp_path / "mine.dsna")
    assert "stores no patches to explain edges with. Remedy: train one with --pool." in expect_exit(run, 2)
    expect_exit(ask("detect", tmp_path / "photo.png", "--model", tmp_path / "mine.dsna"), 0)


def test_wrong_places_and_data_are_told_before_detecting(detector, root, tmp_path, monkeypatch):
    detector.save(tmp_path / "mine.dsna")
    write_photo(tmp_path / "photo.png", PHOTO)
    write_shapes(tmp_path / "other", 3)
    monkeypatch.setattr(EdgeDetector, "detect", None)
    options = ("--model", tmp_path / "mine.dsna")
    run = ask("explain", tmp_path / "photo.png", "--at", "500,1", *options)
    assert "is not in the photo" in expect_exit(run, 2)
    run = ask("explain", tmp_path / "photo.png", "--at", "1,1", "--data", tmp_path / "other", *options)
    assert "The data lacks 1 photo that the model learned from, such as 3." in expect_exit(run, 2)


def test_the_shipped_detector_knows_its_photos():
    origins = pretrained(levels=1).pool_.origins
    assert len(origins.names) == 200
    assert np.bincount(origins.photo, minlength=200).min() > 100
