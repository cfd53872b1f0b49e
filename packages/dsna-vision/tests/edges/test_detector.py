"""EdgeDetector on photos of a few shapes: what it finds, what it refuses, and that it is the same again."""

import copy
import io
import pickle
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import joblib
import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("skimage")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.boundary_folders import between, shapes, write_photo, write_shapes
from tests.edges.quick import ask, expect_exit

import dsna
from dsna import Approximation, DSNAError, ModelFileError
from dsna.extend.parallel import parts_shown
from dsna_vision.datasets import load_boundaries, load_bsds500
from dsna_vision.edges import (
    EdgeDetector,
    TwoLevelDetector,
    default_approximation,
    detection,
    evaluate,
    load_detector,
    pretrained,
)
from dsna_vision.edges.detection import METHODS, leaf_map, soft_map
from dsna_vision.edges.patches import Channels
from dsna_vision.edges.pool import Voting
from dsna_vision.photos import PhotoError, read_photo

FEW = {"n_estimators": 2, "n_patches": 150, "n_pool": 150}
PHOTO = shapes(100)[0]


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    root = tmp_path_factory.mktemp("shapes")
    write_shapes(root)
    return load_bsds500(root, "train")


@pytest.fixture(scope="module")
def detector(photos):
    return EdgeDetector(n_patches=600, n_pool=600, random_state=0).fit(photos)


@pytest.fixture(scope="module")
def small(photos):
    return EdgeDetector(**FEW, random_state=3).fit(photos)


def test_finds_edges(detector):
    new = [shapes(seed) for seed in range(100, 104)]
    truth = [[between(segments) > 0] for _, segments in new]
    rng = np.random.default_rng(0)
    how = {"thresholds": 19, "max_distance": 0.02}
    chance = evaluate([rng.random(photo.shape[:2]) for photo, _ in new], truth, **how).ods
    found = {m: evaluate([detector.detect(photo, method=m) for photo, _ in new], truth, **how).ods for m in METHODS}
    assert chance < 0.4
    assert min(found["se"], found["dsna"]) > 0.7
    assert min(found.values()) > chance + 0.3


def test_maps_are_thin_or_soft(detector):
    soft = detector.detect(PHOTO, suppress=False)
    thin = detector.detect(PHOTO)
    for edges in (soft, thin):
        assert edges.dtype == np.float32
        assert edges.shape == PHOTO.shape[:2]
        assert edges.min() >= 0
        assert edges.max() <= 1
    assert 0 < (thin > 0).sum() < 0.5 * (soft > 0).sum()
    assert np.all(thin <= soft)
    flat = detector.detect(np.full((40, 40, 3), 125, np.uint8), suppress=False)
    assert flat.max() < 0.5 * soft.max()


def test_blend_goes_from_leaves_to_neighbours(detector):
    maps = {blend: soft_map(PHOTO, detector.forest_, detector.pool_, Voting(blend=blend)) for blend in (0.0, 0.5, 1.0)}
    np.testing.assert_array_equal(maps[0.0], soft_map(PHOTO, detector.forest_, None, Voting("se")))
    between = (maps[0.0] + maps[1.0]) / 2
    assert np.all(maps[0.5] <= between + 1e-5)  # less where the neighbours vote against an edge
    assert np.mean(np.abs(maps[0.5] - between) < 1e-5) > 0.5
    assert np.abs(maps[1.0] - maps[0.0]).max() > 0.05


def with_parts_of(detector, **parameters):
    """A fitted detector with other parameters."""
    other = clone(detector).set_params(**parameters)
    other.forest_, other.pool_ = detector.forest_, detector.pool_
    return other


def test_approximation_is_a_part(detector):
    default = detector.detect(PHOTO, suppress=False)
    given = Approximation(lam=0.01, gamma=0.03, ridge=1.0, max_iter=0)
    assert default_approximation().get_params() == given.get_params()
    same = with_parts_of(detector, approximation=given)
    np.testing.assert_array_equal(same.detect(PHOTO, suppress=False), default)
    # A setting changed on the fitted detector takes full effect, and detection changes none.
    other = with_parts_of(detector, approximation=clone(given)).set_params(approximation__gamma=3.0)
    assert not np.array_equal(other.detect(PHOTO, suppress=False), default)
    other.detect(PHOTO, method="hull")
    assert other.approximation.get_params() == {**given.get_params(), "gamma": 3.0}
    with pytest.raises(DSNAError, match=r"approximation__lam cannot be set .* approximation=default_approximation\(\)"):
        EdgeDetector().set_params(approximation__lam=0.1)
    assert EdgeDetector().set_params(approximation=Approximation(), approximation__lam=0.1).approximation.lam == 0.1


def test_detect_writes_nothing(small):
    """Neither parameters nor fitted attributes change, and threads that ask at once get the same maps."""
    asked = copy.deepcopy(small)
    before = {name: id(value) for name, value in vars(asked).items()}
    parts = {name: asked.forest_.state[name].copy() for name in ("child", "threshold", "leaf_mask")}
    with ThreadPoolExecutor(8) as threads:
        maps = list(threads.map(lambda method: asked.detect(PHOTO, method=method), METHODS * 2))
    for method, found in zip(METHODS * 2, maps, strict=True):
        np.testing.assert_array_equal(found, small.detect(PHOTO, method=method))
    assert {name: id(value) for name, value in vars(asked).items()} == before
    for name, value in parts.items():
        np.testing.assert_array_equal(asked.forest_.state[name], value)
    assert asked.get_params() == small.get_params()


def test_several_scales(detector):
    def votes(scales):
        edges = detector.detect(PHOTO, scales, method="se", suppress=False)
        return edges / (1 - edges)  # the share of votes, up to a factor

    one, half = votes(1), votes(0.5)
    assert half.shape == one.shape
    np.testing.assert_allclose(votes((0.5, 1)), (one + half) / 2, atol=1e-5)
    assert np.corrcoef(one.ravel(), half.ravel())[0, 1] > 0.3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape, tile", [((151, 90), 32), ((90, 151), 64)])
def test_tiles_leave_no_trace(small, shape, tile, method):
    photo = shapes(7, shape)[0]
    whole = soft_map(photo, small.forest_, small.pool_, Voting(method))
    parts = soft_map(photo, small.forest_, small.pool_, Voting(method), tile=tile)
    np.testing.assert_array_equal(parts, whole)
    assert whole.max() > 0.1


@pytest.fixture
def seen(monkeypatch):
    """Sizes of the parts of photos whose channels are computed."""
    sizes = []

    class Watched(Channels):
        def __init__(self, photo):
            sizes.append(photo.shape[:2])
            super().__init__(photo)

    monkeypatch.setattr(detection, "Channels", Watched)
    return sizes


def test_work_at_once_is_bounded(small, seen):
    """What bounds memory: no more of a photo is looked at than a tile and its margin."""
    soft_map(shapes(7, (40, 400))[0], small.forest_, None, Voting("se"), tile=32)
    assert len(seen) == 2 * 13
    assert max(max(shape) for shape in seen) == 32 + 2 * 64


@pytest.mark.parametrize("width, computed", [(64, 4), (90, 2 * 6)])
def test_channels_are_computed_once(small, seen, width, computed):
    """Leaves and neighbours look at the same channels; those of more than four tiles are not kept."""
    soft_map(shapes(7, (64, width))[0], small.forest_, small.pool_, Voting(), tile=32)
    assert len(seen) == computed


def test_known_channels_give_the_same_map(small, seen):
    """Photos learned from have their channels already, even where they are larger than a tile."""
    photo = shapes(7, (90, 151))[0]
    known = leaf_map(photo, Channels(photo), small.forest_, (), small.sharpening)
    assert seen == []
    np.testing.assert_array_equal(known, soft_map(photo, small.forest_, None, Voting("se"), tile=64))


def test_jobs_change_nothing(detector, photos, small):
    for method in METHODS:
        one, two = (with_parts_of(detector, n_jobs=n).detect(PHOTO, method=method) for n in (1, 2))
        np.testing.assert_array_equal(one, two)
    same_detector(EdgeDetector(**FEW, random_state=3, n_jobs=2).fit(photos), small)


def test_seeds(photos, small):
    same_detector(EdgeDetector(**FEW, random_state=np.random.RandomState(3)).fit(photos), small)
    other = EdgeDetector(**FEW, random_state=4).fit(photos)
    assert not np.array_equal(other.detect(PHOTO), small.detect(PHOTO))


def same_detector(one, other):
    for part, name in (("forest_", "child"), ("forest_", "threshold"), ("forest_", "feature"), ("pool_", "codes")):
        np.testing.assert_array_equal(getattr(getattr(one, part), name), getattr(getattr(other, part), name))
    for method in ("se", "dsna"):
        np.testing.assert_array_equal(one.detect(PHOTO, method=method), other.detect(PHOTO, method=method))


def test_files(small, tmp_path):
    path = tmp_path / "model.dsna"
    small.save(path)
    for read in (load_detector, dsna.load):
        again = read(path)
        assert again.get_params() == small.get_params()
        same_detector(again, small)
    dsna.save(small, tmp_path / "same.dsna")  # after it has detected: what it worked out is not saved
    assert (tmp_path / "same.dsna").read_bytes() == path.read_bytes()
    joblib.dump(small, tmp_path / "model.joblib")
    same_detector(joblib.load(tmp_path / "model.joblib"), small)
    same_detector(pickle.loads(pickle.dumps(small)), small)


def test_files_that_hold_no_detector(small, tmp_path):
    path = tmp_path / "model.dsna"
    small.save(path)
    whole = path.read_bytes()
    write_photo(tmp_path / "photo.png", PHOTO)
    for size in (0, 10, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match=r"model.dsna: .*[Cc]opy it again"):
            load_detector(path)
        run = ask("detect", tmp_path / "photo.png", "-o", tmp_path / "edges.png", "--model", path)
        assert "opy it again" in expect_exit(run, 2)
    path.write_bytes(b"a letter")
    with pytest.raises(ModelFileError, match="not a dsna model file"):
        load_detector(path)
    dsna.save(dsna.DSNAClassifier(), path)
    with pytest.raises(
        ModelFileError, match=r"a DSNAClassifier, not an EdgeDetector or TwoLevelDetector: use dsna.load"
    ):
        load_detector(path)
    with pytest.raises(FileNotFoundError):
        load_detector(tmp_path / "gone.dsna")


def test_file_of_another_version(small, tmp_path):
    older = copy.deepcopy(small)
    older.pool_.embedding.weights = older.pool_.embedding.weights[:1413]
    older.save(tmp_path / "older.dsna")
    with pytest.raises(ModelFileError, match=r"older.dsna: .*another version of dsna.*dsna edges train"):
        load_detector(tmp_path / "older.dsna")


def test_the_shipped_detector_of_two_levels():
    shipped = pretrained()
    assert isinstance(shipped, TwoLevelDetector)
    assert [len(asked) for asked in shipped.rounds_.by_round()] == [4, 4]
    assert shipped.rounds_.with_pool
    edges = shipped.detect(PHOTO)
    assert edges.shape == PHOTO.shape[:2]
    assert edges.max() > 0.5
    with pytest.raises(DSNAError, match="use 2 for the shipped detector"):
        pretrained(levels=3)


def test_the_shipped_detector_of_one_level_is_as_by_default():
    shipped = pretrained(levels=1)
    assert shipped.get_params() == EdgeDetector(random_state=0).get_params()
    assert shipped.forest_.n_trees == 8
    edges = shipped.detect(PHOTO)
    assert edges.max() > 0.5


def test_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        EdgeDetector().detect(PHOTO)
    EdgeDetector(n_estimators=3).save(tmp_path / "empty.dsna")
    again = load_detector(tmp_path / "empty.dsna")
    assert again.n_estimators == 3
    with pytest.raises(NotFittedError):
        again.detect(PHOTO)


WRONG = {
    "n_estimators": (0, 1.5, "x", None),
    "n_patches": (1, -5, np.nan),
    "max_features": (0, "sqrt"),
    "min_samples_leaf": (0, None),
    "n_pool": (-1, 2.5),
    "leaf_pool": (0,),
    "n_dims": (0,),
    "max_neighbors": (0, None),
    "approximation": ("sparse", Approximation, {"lam": 0.1}),
    "blend": (-0.1, 1.1, "auto", np.nan),
    "sharpening": (-1, 1.5, False),
    "random_state": ("now", -1),
    "n_jobs": (0, 1.5),
    "verbose": ("loud", -1),
}


def test_bad_parameters(photos, small):
    assert set(WRONG) == set(EdgeDetector().get_params())
    for name, values in WRONG.items():
        for value in values:
            with pytest.raises(ValueError, match=rf"The '{name}' parameter of EdgeDetector must be"):
                EdgeDetector(**{name: value}).fit(photos)
            with pytest.raises(ValueError, match=rf"The '{name}' parameter of EdgeDetector must be"):  # set after fit
                with_parts_of(small, **{name: value}).detect(PHOTO)
    with pytest.raises(ValueError, match="The 'lam' parameter of Approximation must be"):
        EdgeDetector(approximation=Approximation(lam=-1)).fit(photos)
    with pytest.raises(ValueError, match="The 'lam' parameter of Approximation must be"):
        with_parts_of(small, approximation=Approximation(lam=-1)).detect(PHOTO)


def test_bad_questions(photos, small):
    with pytest.raises(ValueError, match=r"method='canny' is unknown: use one of se, kernel, hull, dsna"):
        small.detect(PHOTO, method="canny")
    for scales in ((), (0,), (1, -1), (np.nan,), ("single",), "multi", None, (np.inf,)):
        with pytest.raises(ValueError, match=r"scales=.* such as \(0.5, 1, 2\)"):
            small.detect(PHOTO, scales=scales)
    with pytest.raises(PhotoError, match=r"NaN.*np.nan_to_num"):
        small.detect(np.full((20, 20), np.nan))
    with pytest.raises(PhotoError, match="has no pixels"):
        small.detect(np.empty((0, 20), np.uint8))
    with pytest.raises(PhotoError, match="channels"):
        small.detect(np.zeros((3, 20, 20), np.uint8))


def test_without_a_pool(photos):
    plain = EdgeDetector(n_estimators=1, n_patches=100, n_pool=0, random_state=0).fit(photos)
    assert plain.pool_ is None
    assert plain.detect(PHOTO, method="se").max() > 0
    for method in ("dsna", "kernel", "hull"):
        with pytest.raises(ValueError, match=r'use method="se", or train one with n_pool > 0'):
            plain.detect(PHOTO, method=method)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (2, 2), (5, 300), (17, 3), (33, 31)])
def test_any_size(small, shape):
    photo = np.random.default_rng(0).integers(0, 256, (*shape, 3)).astype(np.uint8)
    for scales in ((1.0,), (0.5, 1.0, 2.0)):
        edges = small.detect(photo, scales=scales)
        assert edges.shape == shape
        assert np.isfinite(edges).all()


def test_any_kind_of_photo(small):
    expected = small.detect(PHOTO)
    opaque = np.dstack([PHOTO, np.full(PHOTO.shape[:2], 255, np.uint8)])
    for same in (PHOTO.astype(np.uint16) * 257, PHOTO / 255, (PHOTO / 255).astype(np.float32), opaque, PHOTO.tolist()):
        given = np.asarray(same, np.uint8) if isinstance(same, list) else same
        np.testing.assert_allclose(small.detect(given), expected, atol=1e-5)
    grey = small.detect(PHOTO[:, :, 1])
    np.testing.assert_array_equal(grey, small.detect(np.repeat(PHOTO[:, :, 1:2], 3, axis=2)))
    np.testing.assert_array_equal(grey, small.detect(PHOTO[:, :, 1:2]))
    clear = np.dstack([PHOTO, np.zeros(PHOTO.shape[:2], np.uint8)])  # nothing to be seen
    white = np.full_like(PHOTO, 255)
    np.testing.assert_array_equal(small.detect(clear), small.detect(white))


def test_nothing_to_learn_from(photos, tmp_path):
    with pytest.raises(ValueError, match="no photos to learn from; give some that have ground truth"):
        EdgeDetector(**FEW).fit(photos.subset([]))
    for wrong in ("folder", [PHOTO], PHOTO, None):
        with pytest.raises(TypeError, match="load_bsds500 or load_boundaries"):
            EdgeDetector(**FEW).fit(wrong)
    photo, segments = shapes(0, (15, 60))
    write_photo(tmp_path / "images" / "low.png", photo)
    write_photo(tmp_path / "truth" / "low.png", between(segments))
    tiny = load_boundaries(tmp_path / "images", tmp_path / "truth")
    with pytest.raises(ValueError, match=r"Too few patches .* from 1 photo.*16 x 16 pixels.*Give"):
        EdgeDetector(**FEW, random_state=0).fit(tiny)
    run = ask("train", "--data", tmp_path / "images", "--truth", tmp_path / "truth", "-o", tmp_path / "m.dsna")
    assert "Too few patches" in expect_exit(run, 2)
    assert not (tmp_path / "m.dsna").exists()


def test_photos_without_a_boundary(tmp_path):
    for name, drawn in (("hill", between(shapes(0, (30, 30))[1])), ("sky", np.zeros((30, 30), np.uint8))):
        write_photo(tmp_path / "images" / f"{name}.png", shapes(0, (30, 30))[0])
        write_photo(tmp_path / "truth" / f"{name}.png", drawn)
    with pytest.warns(UserWarning, match=r"The ground truth of sky\.png has no boundary"):
        sky = load_boundaries(tmp_path / "images", tmp_path / "truth").subset([1])
    assert EdgeDetector(**FEW, random_state=0).fit(sky).detect(PHOTO).max() == 0  # it has seen none, and finds none


def test_commands_from_drawn_lines(tmp_path):
    """Boundaries alone, in PNG files; a model, maps and scores by the commands."""
    for k in range(4):
        photo, segments = shapes(k)
        write_photo(tmp_path / "photos" / f"{k}.png", photo)
        write_photo(tmp_path / "truth" / f"{k}.png", 255 * between(segments))
    data, model = ("--data", tmp_path / "photos", "--truth", tmp_path / "truth"), tmp_path / "m.dsna"
    assert "4 trees" in expect_exit(ask("train", *data, "-o", model, "--trees", 4, "--patches", 300), 0)
    how = ("--out", tmp_path / "maps", "--model", model, "--min-length", 1)
    expect_exit(ask("detect", tmp_path / "photos", *how), 0)
    edges = read_photo(tmp_path / "maps" / "0.png")[..., 0] / 255
    np.testing.assert_allclose(edges, load_detector(model).detect(shapes(0)[0]), atol=0.003)
    scores = evaluate(tmp_path / "maps", load_boundaries(*data[1::2]), thresholds=19, max_distance=0.02)
    assert scores.ods > 0.6
    run = ask("evaluate", "--model", model, *data)
    expect_exit(run, 0)
    assert "4 photos   ODS 0." in run.stdout


def test_progress_of_a_large_photo(small, monkeypatch):
    """One photo of several tiles shows them on a terminal, where parts are to be shown."""
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("dsna._utils.progress.sys", SimpleNamespace(stderr=terminal))
    photo = shapes(7, (64, 90))[0]
    quiet = soft_map(photo, small.forest_, None, Voting("se"), tile=32)
    assert terminal.getvalue() == ""
    with parts_shown(True):
        np.testing.assert_array_equal(soft_map(photo, small.forest_, None, Voting("se"), tile=32), quiet)
    assert "tiles of the first level" in terminal.getvalue()
