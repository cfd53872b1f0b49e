"""TwoLevelDetector on photos of a few shapes: what it finds, that it is honest, and that files hold all of it."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("skimage")
pytest.importorskip("typer")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.boundary_folders import shapes, write_mat, write_photo, write_shapes
from tests.edges.quick import ask, expect_exit

import dsna
from dsna import DSNAError, ModelFileError
from dsna.extend.containers import InvariantError
from dsna_vision.datasets import load_bsds500
from dsna_vision.edges import EdgeDetector, TwoLevelDetector, forest, load_detector
from dsna_vision.edges.second_level import cross_fitting
from dsna_vision.edges.second_level.candidates import Candidates
from dsna_vision.edges.second_level.cross_fitting import Lessons, learn_rounds, out_of_block_views, shares_drawn
from dsna_vision.edges.second_level.rounds import Rounds

FIRST = {"n_estimators": 2, "n_patches": 200, "n_pool": 200}
PHOTO = shapes(100)[0]
LESSONS = Lessons("boosted", n_rounds=2, n_blocks=2, n_candidates=300, n_trees=5, scales=(1.0, 0.5), seed=0)


def quiet(text):
    pass


@pytest.fixture(scope="module", autouse=True)
def _few_patches_for_ranges():
    """Ranges of features from few patches, for they take most of the time of so small a fit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "_RANGE_PATCHES", 200)
        yield


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
    return TwoLevelDetector(EdgeDetector(**FIRST), n_estimators=20, n_candidates=500, random_state=0).fit(photos)


@pytest.fixture(scope="module")
def views(photos):
    return out_of_block_views(photos, EdgeDetector(**FIRST), LESSONS, quiet)


def test_maps_are_lines_of_shares(detector):
    edges = detector.detect(PHOTO)
    first = detector.first_level_.detect(PHOTO, scales=(1, 0.5))
    assert edges.shape == PHOTO.shape[:2]
    assert edges.dtype == np.float32
    assert edges.min() >= 0
    assert edges.max() <= 1
    assert 0 < np.mean(edges > 0) < 0.4
    assert edges.max() > 0.5
    drawn = np.zeros(edges.shape, bool)
    _, segments = shapes(100)
    drawn[:, :-1] = segments[:, :-1] != segments[:, 1:]
    share = shares_drawn([drawn], Candidates(np.argwhere(edges > 0), edges[edges > 0]))
    right, wrong = edges[edges > 0][share == 1], edges[edges > 0][share == 0]
    assert right.mean() > wrong.mean() + 0.1
    assert not np.array_equal(first, edges)


def test_it_is_the_same_again(detector, photos):
    """Whatever the number of threads; the rescorers and pools of the detector have tests of their own."""
    plain = {"n_rounds": 1, "first_level__n_pool": 0, "rescorer": "perceptrons", "n_candidates": 200}
    one, same, other = (
        clone(detector).set_params(**plain, n_jobs=n_jobs, random_state=seed).fit(photos)
        for n_jobs, seed in ((1, 0), (2, 0), (1, 1))
    )
    np.testing.assert_array_equal(same.detect(PHOTO), one.detect(PHOTO))
    assert not np.array_equal(other.detect(PHOTO), one.detect(PHOTO))
    assert one.pool_ is None
    assert len(one.rounds_.rescorers) == 2


def test_rounds_and_blocks_are_averaged(detector):
    rounds = detector.rounds_
    assert [len(asked) for asked in rounds.by_round()] == [4, 4]  # boosted trees and perceptrons, for each block
    assert rounds.with_pool
    first = detector.first_level_
    view = cross_fitting.first_view(PHOTO, rounds.scales, first.forest_, first.pool_, first.voting("dsna"))
    candidates = cross_fitting.find_candidates(view.edges)
    shares = []
    for asked in rounds.by_round():
        rows = cross_fitting.describe(view, candidates, lambda rows: rows)
        shares.append(np.mean([one(rows) for one in asked], axis=0))
        view = view.with_lines(candidates.on_map(shares[-1], view.edges.shape))
    expected = candidates.on_map(np.mean(shares, axis=0), view.edges.shape)
    np.testing.assert_allclose(detector.detect(PHOTO), expected, atol=1e-6)


def test_first_level(detector):
    first = detector.first_level_
    assert type(first) is EdgeDetector
    assert first.forest_ is detector.forest_
    assert first.detect(PHOTO, method="se", suppress=False).shape == PHOTO.shape[:2]


@pytest.mark.parametrize("photo", [np.zeros((1, 1), np.uint8), np.full((5, 40, 4), 0.5), np.zeros((30, 3), np.uint16)])
def test_any_photo(detector, photo):
    edges = detector.detect(photo)
    assert edges.shape == photo.shape[:2]
    assert np.isfinite(edges).all()


def test_no_first_level_maps_a_photo_that_it_knows(photos, monkeypatch):
    """Whoever maps a photo has learned from no photo of its block."""
    taught, mapped = [], []
    fit = EdgeDetector.fit

    def recorded(self, some):
        taught.append(set(some.names))
        self.number_ = len(taught) - 1
        return fit(self, some)

    def seen(photos, row, scales, first):
        mapped.append((photos.names[row], first.number_))
        return None

    monkeypatch.setattr(EdgeDetector, "fit", recorded)
    monkeypatch.setattr(cross_fitting, "_first_view", seen)
    out_of_block_views(photos, EdgeDetector(n_estimators=1, n_patches=100, n_pool=0), LESSONS, quiet)
    assert sorted(name for name, _ in mapped) == sorted(photos.names)
    block = dict(zip(photos.names, cross_fitting.assign_blocks(len(photos), 2), strict=True))
    for name, number in mapped:
        assert not {other for other in photos.names if block[other] == block[name]} & taught[number]
        assert {other for other in photos.names if block[other] != block[name]} == taught[number]


def test_maps_do_not_know_the_truth_of_their_block(views, tmp_path):
    """Trees, pool and embedding: where the truth of photos changes, maps of their block stay, and others change."""
    write_shapes(tmp_path, 4)
    for k in (0, 2):
        segments = np.random.default_rng(k).integers(1, 3, (4, 5)).repeat(16, axis=0).repeat(16, axis=1)
        write_mat(tmp_path / "groundTruth" / "train" / f"{k}.mat", [segments.astype(np.uint16)])
    changed = out_of_block_views(load_bsds500(tmp_path, "train"), EdgeDetector(**FIRST), LESSONS, quiet)
    for row, (one, other) in enumerate(zip(views, changed, strict=True)):
        assert len(one.maps) == 4
        for before, after in zip(one.maps, other.maps, strict=True):
            assert np.array_equal(before, after) == (row % 2 == 0)


class Redrawn:
    """Photos of which the truth of some is nonsense."""

    def __init__(self, photos, nonsense):
        self.photos, self.nonsense = photos, nonsense

    def boundaries(self, row):
        drawn = self.photos.boundaries(row)
        return [np.random.default_rng(row).random(one.shape) < 0.01 for one in drawn] if row in self.nonsense else drawn


def test_lines_do_not_know_the_truth_of_their_block(photos, views, monkeypatch):
    lines = {}
    redrawn = cross_fitting._next_view

    def recorded(view, rescorer):
        after = redrawn(view, rescorer)
        lines.setdefault(id(view), []).append(after.lines)
        return after

    monkeypatch.setattr(cross_fitting, "_next_view", recorded)
    for nonsense in ((), (1, 3)):
        learn_rounds(Redrawn(photos, nonsense), views, LESSONS, quiet)
    for row, view in enumerate(views):
        before, after = lines[id(view)]
        assert np.array_equal(before, after) == (row % 2 == 1)


def test_shares_of_people():
    drawn = np.zeros((3, 20, 20), bool)
    drawn[0, 10] = drawn[1, 12] = True
    at = Candidates(np.array([[10, 3], [13, 3], [14, 3], [16, 3]]), np.ones(4))
    np.testing.assert_allclose(shares_drawn(list(drawn), at), [2 / 3, 2 / 3, 1 / 3, 0])


def test_files_hold_all_of_it(detector, tmp_path):
    detector.save(tmp_path / "two.dsna")
    for again in (dsna.load(tmp_path / "two.dsna"), load_detector(tmp_path / "two.dsna")):
        assert type(again) is TwoLevelDetector
        assert again.first_level.get_params() == detector.first_level.get_params()
        np.testing.assert_array_equal(again.detect(PHOTO), detector.detect(PHOTO))
    again = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(again.detect(PHOTO), detector.detect(PHOTO))
    TwoLevelDetector(scales=[1.0]).save(tmp_path / "unfitted.dsna")
    assert dsna.load(tmp_path / "unfitted.dsna").first_level is None
    dsna.save(dsna.CostSensitiveForestClassifier(), tmp_path / "other.dsna")
    with pytest.raises(ModelFileError, match="CostSensitiveForestClassifier, not an EdgeDetector or Two"):
        load_detector(tmp_path / "other.dsna")


@pytest.mark.parametrize("rescorer", ["boosted", "perceptrons", "boosted+perceptrons"])
def test_other_rescorers(photos, views, tmp_path, rescorer):
    lessons = replace(LESSONS, rescorer=rescorer, n_trees=3, n_candidates=60, n_rounds=1)
    rounds = learn_rounds(photos, views, lessons, quiet)
    assert len(rounds.rescorers) == 2 * len(rescorer.split("+"))
    lines = rounds.lines(views[0])
    assert 0 < lines.max() <= 1
    again = Rounds.restored(rounds.state)
    np.testing.assert_array_equal(again.lines(views[0]), lines)


def test_parts_that_do_not_belong_together_are_refused(detector, tmp_path):
    rounds = detector.rounds_
    state = rounds.state
    for change, said in (
        ({"n_rounds": 3}, "different numbers"),
        ({"n_rounds": 4}, "columns"),
        ({"rescorers": rounds.rescorers[::-1]}, "columns"),
        ({"rescorers": []}, "no rescorers"),
        ({"scales": np.array([1.0])}, "columns"),
        ({"scales": np.array([1.0, 1e9])}, "scales"),
    ):
        with pytest.raises(InvariantError, match=said):
            Rounds.restored({**state, **change})
    other = clone(detector)
    other.forest_, other.pool_, other.rounds_ = detector.forest_, None, rounds
    with pytest.raises(ValueError, match="other maps"):
        other.save(tmp_path / "never.dsna")


def test_mistakes(photos, detector):
    with pytest.raises(NotFittedError):
        TwoLevelDetector().detect(PHOTO)
    with pytest.raises(DSNAError, match="at least 4 photos, not 3"):
        TwoLevelDetector().fit(photos.subset([0, 1, 2]))
    with pytest.raises(TypeError, match="photos with boundaries"):
        TwoLevelDetector().fit([PHOTO])
    for scales in ((), (0,), ("a",), "one", 1.0, (1, np.inf)):
        with pytest.raises(ValueError, match="scales"):
            TwoLevelDetector(scales=scales).fit(photos)
    with pytest.raises(ValueError, match="rescorer"):
        TwoLevelDetector(rescorer="network").fit(photos)
    with pytest.raises(DSNAError, match="first_level=EdgeDetector"):
        TwoLevelDetector().set_params(first_level__n_patches=3)
    empty = Redrawn(photos, ())
    empty.boundaries = lambda row: [np.zeros((64, 80), bool)]
    flat = [cross_fitting.View(PHOTO, (np.full((64, 80), 0.2, np.float32),)) for _ in range(4)]
    with pytest.raises(DSNAError, match="no edge that people drew"):
        learn_rounds(empty, flat, LESSONS, quiet)


def test_commands(root, tmp_path):
    """Train two levels, detect with both or with the first alone, and score."""
    model, photo = tmp_path / "two.dsna", tmp_path / "photo.png"
    write_photo(photo, PHOTO)
    few = ("--trees", 2, "--patches", 200, "--pool", 0)
    said = expect_exit(ask("train", "--data", root, "-o", model, "--levels", 2, *few), 0)
    assert "round 2 of 2" in said
    detector = load_detector(model)
    for options, expected in (
        ((), detector.detect(PHOTO)),
        (("--method", "se"), detector.first_level_.detect(PHOTO, method="se")),
        (("--no-nms", "--scales", "two", "--method", "se"), None),
    ):
        expect_exit(ask("detect", photo, "-o", tmp_path / "e.npy", "--model", model, *options), 0)
        found = np.load(tmp_path / "e.npy")
        if expected is not None:
            np.testing.assert_array_equal(found, expected)
    assert np.mean(found > 0) > 0.3
