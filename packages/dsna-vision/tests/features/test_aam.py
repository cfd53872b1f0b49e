"""Active appearance models on drawn faces."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from skimage.transform import PiecewiseAffineTransform, warp
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from tests.synthetic_faces import LANDMARKS, draw, drawn

from dsna_vision.datasets import load_fgnet
from dsna_vision.features import AAM, Face
from dsna_vision.features.components import principal_components
from dsna_vision.features.shape import align, mean_shape, mirror_pairs, unit, upright_symmetric
from dsna_vision.features.warp import Frame, locate, sample, triangulate

FACES, LABELS = drawn(60)
RADIUS = 20


@pytest.fixture(scope="module")
def model():
    return AAM(n_components=0.95, radius=RADIUS).fit(FACES[:40])


def turned(points, angle, scale, shift):
    cos, sin = np.cos(angle), np.sin(angle)
    return scale * points @ np.array([[cos, sin], [-sin, cos]]) + shift


def test_alignment_undoes_turn_scale_and_shift():
    target = unit(LANDMARKS)
    assert_allclose(align(turned(LANDMARKS, 0.7, 3.0, [5, -9]), target), target, atol=1e-12)
    assert_allclose(align(LANDMARKS[None], target)[0], target, atol=1e-12)


def test_alignment_never_mirrors():
    lopsided = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    flipped = lopsided * [-1, 1]
    best = align(flipped, unit(lopsided))
    edges, wanted = (np.linalg.det(p[1:] - p[0]) for p in (best, flipped))
    assert np.sign(edges) == np.sign(wanted)


def test_mean_shape_does_not_depend_on_pose():
    rng = np.random.default_rng(0)
    shapes = LANDMARKS + rng.normal(0, 2, (30, *LANDMARKS.shape))
    moved = np.array([turned(s, rng.normal(0, 0.1), rng.uniform(0.5, 2), rng.normal(0, 9, 2)) for s in shapes])
    assert_allclose(align(mean_shape(moved), mean_shape(shapes)), mean_shape(shapes), atol=1e-6)


@pytest.mark.parametrize("stretch", [0.7, 1.0, 1.5])
def test_landmarks_pair_off_across_the_axis(stretch):
    face = LANDMARKS * [stretch, 1]
    noisy = unit(turned(face + np.random.default_rng(0).normal(0, 1, face.shape), 0.05, 1.0, 0))
    pairs = mirror_pairs(noisy)
    assert_allclose(LANDMARKS[pairs] * [-1, 1], LANDMARKS)
    symmetric = upright_symmetric(noisy, pairs)
    assert_allclose(symmetric[pairs] * [-1, 1], symmetric, atol=1e-12)


def test_landmarks_without_a_mirror_image_are_refused():
    spiral = [[0.0, 0.0], [1.0, 0.0], [1.3, 1.0], [0.2, 2.6], [-2.0, 2.0], [-3.0, -1.0], [-1.0, -4.0]]
    rng = np.random.default_rng(1)
    faces = [Face(rng.uniform(0, 9, (40, 40)), 4 * np.array(spiral) + 20 + rng.normal(0, 0.1, (7, 2))) for _ in "abc"]
    with pytest.raises(ValueError, match="symmetric=False"):
        AAM(radius=8).fit(faces)
    AAM(radius=8, symmetric=False).fit(faces)


def test_barycentric_coordinates_give_the_pixels_back():
    points = LANDMARKS - LANDMARKS.min(axis=0)
    mask, weights = locate(points, triangulate(points), (125, 105))
    y, x = np.nonzero(mask)
    assert_allclose(weights @ points, np.c_[x, y], atol=1e-9)
    assert weights.min() > -1e-6
    hull_area = 0.5 * sum(abs(np.linalg.det([b - a, c - a])) for a, b, c in points[triangulate(points)])
    assert mask.sum() == pytest.approx(hull_area, rel=0.05)


@pytest.mark.skipif(not hasattr(PiecewiseAffineTransform, "from_estimate"), reason="scikit-image before 0.26")
def test_warp_agrees_with_scikit_image():
    face = FACES[0]
    frame = Frame.of_shape(unit(LANDMARKS), 30, symmetric=False)
    ours = frame.warp([face])[0]
    transform = PiecewiseAffineTransform.from_estimate(frame.points, face.points)
    theirs = warp(face.image.astype(float), transform, output_shape=frame.mask.shape, order=1, mode="edge")
    # Both triangulate the frame by Delaunay; ties between the diagonals of a square may fall either way.
    assert np.median(np.abs(ours - theirs[frame.mask])) < 1e-3
    assert np.mean(np.abs(ours - theirs[frame.mask]) < 1) > 0.9


def test_sample_interpolates_and_holds_the_edge():
    image = np.array([[0.0, 10.0], [20.0, 30.0]], dtype=np.float32)
    places = np.array([[0.5, 0.5], [0.25, 0.0], [-5.0, 1.0], [9.0, 9.0]])
    assert_allclose(sample(image, places), [15.0, 2.5, 20.0, 30.0])
    assert_allclose(sample(image[:1, :1], places), 0.0)


@pytest.mark.parametrize("shape", [(12, 40), (40, 12)])
def test_components_agree_with_a_singular_value_decomposition(shape):
    rows = np.random.default_rng(0).normal(size=shape)
    centred = rows - rows.mean(axis=0)
    _, s, vt = np.linalg.svd(centred, full_matrices=False)
    ours = principal_components(rows, 5)
    assert_allclose(ours.variance, s[:5] ** 2 / len(rows))
    assert_allclose(np.abs(vt[:5] @ ours.basis), np.eye(5), atol=1e-8)
    assert ours.total == pytest.approx((centred**2).sum() / len(rows))
    half = principal_components(rows, 0.5)
    share = np.cumsum(s**2) / (s**2).sum()
    assert len(half.variance) == np.searchsorted(share, 0.5) + 1


def test_parameters_are_uncorrelated_on_training_faces(model):
    scores = model.transform(FACES[:40])
    covariance = scores.T @ scores / len(scores)
    assert_allclose(covariance, np.diag(model.explained_variance_), atol=2e-3 * covariance.max())
    assert model.explained_variance_ratio_.sum() >= 0.95
    assert_allclose(AAM(n_components=0.95, radius=RADIUS).fit_transform(FACES[:40]), scores, atol=1e-5)


@pytest.mark.parametrize("texture", ["grey", "gradient", "both"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_parameters_tell_the_label(texture, symmetric):
    pipeline = make_pipeline(AAM(10, radius=RADIUS, texture=texture, symmetric=symmetric), Ridge(1e-3))
    pipeline.fit(FACES[:40], LABELS[:40])
    assert pipeline.score(FACES[40:], LABELS[40:]) > 0.8


def test_parameters_ignore_pose_scale_brightness_and_contrast(model):
    upright = draw(np.random.default_rng(7), 0.5)
    other = draw(np.random.default_rng(7), 0.5, turn=0.15, scale=0.9)
    other = Face(other.image * 0.5 + 30, other.points)
    spread = np.linalg.norm(model.transform(FACES), axis=1).mean()
    assert np.linalg.norm(model.transform([upright]) - model.transform([other])) < 0.6 * spread


def test_symmetric_model_sees_no_difference_in_a_mirror(model):
    face = FACES[50].shrunk(RADIUS)
    pairs = mirror_pairs(unit(model.mean_shape_))
    mirrored = Face(face.image[:, ::-1], ((face.image.shape[1] - 1, 0) + face.points * [-1, 1])[pairs])
    assert_allclose(model.transform([mirrored]), model.transform([face]), atol=0.15)
    plain = AAM(n_components=0.95, radius=RADIUS, symmetric=False).fit(FACES[:40])
    moved = np.linalg.norm(plain.transform([mirrored]) - plain.transform([face]))
    assert moved > 3 * np.linalg.norm(model.transform([mirrored]) - model.transform([face]))


def test_colour_is_read_as_grey(model):
    grey, colour = (draw(np.random.default_rng(3), 0.2, colour=c) for c in (False, True))
    assert_allclose(model.transform([colour]), model.transform([grey]), atol=1e-3)


def test_shrunk_faces_give_the_same_parameters(model):
    small = [face.shrunk(RADIUS) for face in FACES[:5]]
    assert small[0].radius == pytest.approx(RADIUS, rel=1e-6)
    assert small[0].shrunk(RADIUS) is small[0]
    assert_allclose(model.transform(small), model.transform(FACES[:5]), atol=1e-6)


@pytest.mark.parametrize("texture", ["grey", "gradient", "both"])
def test_drawn_training_faces_look_like_them(texture):
    model = AAM(n_components=59, radius=RADIUS, texture=texture, texture_energy=1.0, symmetric=False).fit(FACES)
    truth = model.warp(FACES)
    inside = model.frame_.mask
    assert np.isnan(truth[:, ~inside]).all()
    drawn_back = model.pictures(model.transform(FACES))
    likeness = [np.corrcoef(a[inside], b[inside])[0, 1] for a, b in zip(truth, drawn_back, strict=True)]
    assert min(likeness) > 0.97


def test_inverse_transform_gives_pictures_of_their_own_shape(model):
    scores = model.transform(FACES[:3])
    faces = model.inverse_transform(scores)
    for face, original in zip(faces, FACES, strict=False):
        aligned = align(original.points, unit(model.mean_shape_)) * RADIUS
        mirrored = aligned[mirror_pairs(unit(model.mean_shape_))] * [-1, 1]
        wanted = (aligned + mirrored) / 2
        assert_allclose(face.points - face.points.mean(axis=0), wanted, atol=0.1 * RADIUS)
    again = model.transform(faces)
    assert np.abs(again - scores).mean() < 0.5 * np.abs(scores).mean()


def test_mean_parameters_give_the_mean_face(model):
    face = model.inverse_transform(np.zeros((1, model.n_components_)))[0]
    assert_allclose(face.points - face.points.mean(axis=0), model.mean_shape_, atol=0.2)


def test_copies_and_pickles(model):
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert_allclose(again.transform(FACES[:2]), model.transform(FACES[:2]))
    assert list(model.get_feature_names_out()[:2]) == ["aam0", "aam1"]


def test_points_outside_the_image_take_its_edge(model):
    face = FACES[0]
    cut = Face(face.image[:, 40:], face.points - [40, 0])
    assert (cut.points < 0).any()
    assert np.isfinite(model.transform([cut])).all()


def test_a_blank_face_is_no_trouble(model):
    assert np.isfinite(model.transform([Face(np.full((180, 160), 7.0), FACES[0].points)])).all()


def test_folded_triangles_are_no_trouble(model):
    points = FACES[0].points.copy()
    points[11], points[14] = points[14].copy(), points[11].copy()
    assert np.isfinite(model.transform([Face(FACES[0].image, points)])).all()


@pytest.mark.parametrize(
    "bad, message",
    [
        ([], "No faces"),
        ([FACES[0]], "at least two"),
        ([FACES[0], FACES[0]], "are equal"),
        ([FACES[0], Face(FACES[1].image, FACES[1].points[:-1])], "Face 1 has 22 landmarks and 23"),
        ([Face(np.eye(9), [[1, 1], [2, 2], [4, 4.0]]), Face(np.eye(9), [[1, 1], [3, 3], [4, 4.0]])], "one line"),
    ],
)
def test_bad_faces_are_named(bad, message):
    with pytest.raises(ValueError, match=message):
        AAM(radius=RADIUS).fit(bad)


def test_bad_items_and_sizes_are_named(model):
    with pytest.raises(TypeError, match="Face\\(image, points\\)"):
        model.transform([np.zeros((3, 3))])
    with pytest.raises(ValueError, match="23 are expected"):
        model.transform([Face(FACES[1].image, FACES[1].points[:-1])])
    with pytest.raises(ValueError, match="parameters"):
        model.pictures(np.zeros((1, 2)))


@pytest.mark.parametrize(
    "image, points, message",
    [
        (np.zeros((2, 2, 2)), LANDMARKS, "shape"),
        (np.zeros((0, 4)), LANDMARKS, "at least one pixel"),
        (np.full((4, 4), np.nan), LANDMARKS, "NaN"),
        (np.zeros((4, 4)), LANDMARKS[:2], "at least 3"),
        (np.zeros((4, 4)), [[0, 0], [1, 1], [np.nan, 0]], "landmarks are not all known"),
        (np.zeros((4, 4)), np.ones((5, 2)), "same position"),
    ],
)
def test_bad_pictures_and_points_are_named(image, points, message):
    with pytest.raises(ValueError, match=message):
        Face(image, points)


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_components", 0),
        ("n_components", 1.5),
        ("n_components", "all"),
        ("texture", "colour"),
        ("radius", 0),
        ("softness", -1),
        ("shape_energy", 0),
        ("texture_energy", 2),
        ("grey_weight", -0.1),
        ("shape_weight", np.inf),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        AAM(**{name: value}).fit(FACES[:3])


def test_fgnet_ages():
    folder = Path(os.environ.get("DSNA_DATA", "")) / "fgnet"
    if "DSNA_DATA" not in os.environ or not folder.is_dir():
        pytest.skip("DSNA_DATA names no folder that holds fgnet/")
    pictures = load_fgnet(folder)
    faces = pictures.faces(AAM().radius)
    pipeline = make_pipeline(AAM(), SVR(C=100, gamma=0.05))
    errors = -cross_val_score(
        pipeline,
        np.array(faces, dtype=object),
        pictures.labels,
        groups=pictures.groups,
        cv=GroupKFold(3),
        scoring="neg_mean_absolute_error",
    )
    assert errors.mean() < 6.5
