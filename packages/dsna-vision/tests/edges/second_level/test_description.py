"""Candidates in their own frame: against a slow version, turned and mirrored photos, tiles and batches."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, label, map_coordinates

from dsna_vision.edges.second_level.candidates import Candidates, find_candidates
from dsna_vision.edges.second_level.contours import LEVELS, contour_sizes
from dsna_vision.edges.second_level.description import RINGS, describe, n_columns
from dsna_vision.edges.second_level.planes import View, normal_axes, planes_of
from dsna_vision.edges.second_level.regions import N_MERGED, merge_columns
from dsna_vision.edges.second_level.salience import COUNTS, salience

ANGLES = np.arange(4) * np.pi / 4
WHOLE = np.arange(7 + 2 * len(LEVELS), 7 + 2 * len(LEVELS) + len(COUNTS) + N_MERGED)  # columns of the whole photo


def made_view(shape=(52, 70), seed=0, lines=False):
    """A photo of soft noise, and maps that look like edges."""
    rng = np.random.default_rng(seed)
    photo = gaussian_filter(rng.random((*shape, 3)), (2, 2, 0))
    photo = (255 * (photo - photo.min()) / np.ptp(photo)).astype(np.uint8)
    maps = []
    for sigma in (1.5, 3.0):
        noise = gaussian_filter(rng.random(shape), sigma)
        maps.append(((noise - noise.min()) / np.ptp(noise)).astype(np.float32) ** 2)
    view = View(photo, tuple(maps))
    return view.with_lines(find_candidates(maps[1]).on_map(0.7, shape)) if lines else view


def described(view, **how):
    candidates = find_candidates(view.edges)
    return candidates, describe(view, candidates, lambda rows: rows, **how)


def slow_rings(view, candidates):
    """All columns but those of the whole photo, by the definition: eigenvectors, sines, scipy's interpolation."""
    edges = view.edges
    soft = np.pad(smoothed(edges.astype(float), 4), 1, mode="edge")
    planes = planes_of(view, normal_axes(edges))
    height, width = edges.shape
    rows = []
    for y, x in candidates.pixels:
        s = soft[y : y + 3, x : x + 3]
        yy, xx = s[0, 1] - 2 * s[1, 1] + s[2, 1], s[1, 0] - 2 * s[1, 1] + s[1, 2]
        xy = (s[0, 0] + s[2, 2] - s[0, 2] - s[2, 0]) / 4
        _, vectors = np.linalg.eigh(np.array([[yy, xy], [xy, xx]]))
        theta = np.arctan2(vectors[0, 0], vectors[1, 0])  # of the most negative bend
        row = list(planes.scalars[:, y, x])
        for ring in RINGS:
            stack = planes.stack if ring.step == 1 else halved(planes.stack)
            stack = np.stack([smoothed(one.astype(float), ring.blur) for one in stack])
            for angle in ANGLES:
                dy, dx = ring.radius * np.sin(theta + angle), ring.radius * np.cos(theta + angle)
                ahead, behind = (sampled(stack, y + d * dy, x + d * dx, height, width, ring.step) for d in (1, -1))
                n = planes.n_scalars
                for a, b in zip(ahead[:n], behind[:n], strict=True):
                    row += [(a + b) / 2, abs(a - b)]
                for k in range(planes.n_pairs):
                    vector = (ahead + behind)[n + 2 * k : n + 2 * k + 2]
                    turn = np.array([np.cos(2 * theta), np.sin(2 * theta)])
                    row += [vector @ turn, abs(vector[1] * turn[0] - vector[0] * turn[1])]
                row += list(abs(ahead - behind)[n + 2 * planes.n_pairs :])
        rows.append(row)
    return np.array(rows)


def smoothed(plane, radius):
    rising = np.convolve(np.ones(radius + 1), np.ones(radius + 1)) / (radius + 1) ** 2
    for axis in range(2):
        padded = np.pad(plane, [(radius, radius) if a == axis else (0, 0) for a in range(2)], mode="symmetric")
        plane = np.apply_along_axis(np.convolve, axis, padded, rising, "valid")
    return plane


def halved(stack):
    odd = [(0, 0), *((0, side % 2) for side in stack.shape[1:])]
    even = np.pad(stack, odd, mode="edge")
    return even.reshape(len(even), even.shape[1] // 2, 2, even.shape[2] // 2, 2).mean(axis=(2, 4))


def sampled(stack, y, x, height, width, step):
    y, x = (abs((v + n - 1) % (2 * n - 2) - (n - 1)) for v, n in ((y, height), (x, width)))
    at = [[(v - (step - 1) / 2) / step] for v in (y, x)]
    return np.array([map_coordinates(one, at, order=1, mode="nearest")[0] for one in stack])


@pytest.mark.parametrize("lines", [False, True])
def test_agrees_with_the_definition(lines):
    view = made_view((37, 45), lines=lines)
    candidates, found = described(view)
    some = np.arange(0, len(found), max(1, len(found) // 12))
    slow = slow_rings(view, candidates[some])
    assert len(some) > 8
    assert found.shape == (len(candidates), n_columns(2, lines))
    np.testing.assert_allclose(found[some, -slow.shape[1] :], slow, atol=2e-4)


def test_whole_photo_columns():
    view = made_view(lines=True)
    candidates, found = described(view)
    y, x = candidates.pixels.T
    edges = view.edges.astype(float)
    np.testing.assert_allclose(found[:, 1], edges.mean(), rtol=1e-5)
    np.testing.assert_allclose(found[:, 2], np.sqrt((edges**2).mean()), rtol=1e-5)
    np.testing.assert_allclose(found[:, 3], edges[y, x] / (edges[y, x] + edges.mean()), rtol=1e-4)
    thin = candidates.on_map(candidates.strength, edges.shape)
    np.testing.assert_array_equal(found[:, 0], thin[y, x])
    np.testing.assert_array_equal(found[:, 6], view.lines[y, x])
    for first, drawn in ((7, thin), (7 + len(LEVELS), view.lines)):
        for k, level in enumerate(LEVELS):
            contour, _ = label(drawn >= level, np.ones((3, 3)))
            sizes = [np.sum(contour == c) if c else 0 for c in contour[y, x][:20]]
            np.testing.assert_allclose(found[:20, first + k], np.log1p(sizes), rtol=1e-5)
    whole = np.concatenate([salience(view.lines, candidates), merge_columns(view, candidates)], axis=1)
    np.testing.assert_array_equal(found[:, WHOLE], whole)


def test_sizes_of_contours():
    lines = np.zeros((9, 9))
    lines[1, 1:4] = 0.45
    lines[2, 4] = 0.15  # touches at a corner, at the lowest levels only
    lines[7, 7] = 0.6
    candidates = Candidates(np.array([[1, 2], [7, 7], [4, 4]]), np.ones(3))
    pixels = np.rint(np.expm1(contour_sizes(lines, candidates)))
    np.testing.assert_array_equal(pixels, [[4, 4, 3, 3, 3, 0], [1, 1, 1, 1, 1, 1], [0] * 6])


def turned(view, turn):
    lines = None if view.lines is None else np.ascontiguousarray(turn(view.lines))
    return View(
        np.ascontiguousarray(turn(view.photo)), tuple(np.ascontiguousarray(turn(one)) for one in view.maps), lines
    )


def exchanged_diagonals(rows, view):
    """Columns of the mirror image: what is at 45 degrees from the normal comes to lie at 135."""
    with_lines = view.lines is not None
    in_angle = 2 * (len(view.maps) + 4 + with_lines) + 2 * (1 + with_lines) + 3
    rings = rows[:, -len(RINGS) * 4 * in_angle :].reshape(len(rows), len(RINGS), 4, in_angle)
    return np.concatenate(
        [rows[:, : -len(RINGS) * 4 * in_angle], rings[:, :, [0, 3, 2, 1]].reshape(len(rows), -1)], axis=1
    )


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("name", ["quarter turn", "half turn", "mirror"])
def test_turned_and_mirrored_photos(name, lines):
    """Candidates move with the photo, and their descriptions stay; photos have even sides, so halves stay halves.

    What is said of the photo as a whole stays but for ties of basins and of ways: test_whole_photo.py.
    """
    turn = {"quarter turn": np.rot90, "half turn": lambda a: a[::-1, ::-1], "mirror": lambda a: a[:, ::-1]}[name]
    view = made_view((60, 48), seed=3, lines=lines)
    candidates, found = described(view)
    number = candidates.on_map(np.arange(1, len(found) + 1), view.edges.shape)
    other = turned(view, turn)
    moved, again = described(other)
    of = turn(number)[moved.pixels[:, 0], moved.pixels[:, 1]].astype(int) - 1
    assert np.mean(of >= 0) > 0.99  # ties of rounding in non-maximum suppression
    assert len(again) > 0.99 * len(found)
    expected = exchanged_diagonals(found, view) if name == "mirror" else found
    both = of >= 0
    apart = np.delete(again[both] - expected[of[both]], WHOLE if lines else [], axis=1)
    np.testing.assert_allclose(apart, 0, atol=5e-4)


@pytest.mark.parametrize("lines", [False, True])
def test_tiles_and_batches_leave_no_trace(lines):
    view = made_view((151, 190), seed=5, lines=lines)
    _, whole = described(view)
    for how in ({"tile": 32}, {"tile": 64, "batch": 7}, {"batch": 100, "n_jobs": 2}):
        np.testing.assert_array_equal(described(view, **how)[1], whole)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (3, 2), (17, 40)])
def test_any_size(shape):
    view = View(np.full((*shape, 3), 90, np.uint8), (np.full(shape, 0.3, np.float32),))
    for one in (view, view.with_lines(np.full(shape, 0.2, np.float32))):
        _, found = described(one)
        assert found.shape[1] == n_columns(1, one.lines is not None)
        assert np.isfinite(found).all()


def test_some_candidates_are_described_as_among_all():
    view = made_view()
    candidates, found = described(view)
    some = np.random.default_rng(0).choice(len(found), 50, replace=False)
    np.testing.assert_array_equal(describe(view, candidates[some], lambda rows: rows), found[some])


def test_a_flat_map_has_a_direction():
    axes = normal_axes(np.full((9, 9), 0.3, np.float32))
    np.testing.assert_allclose(axes, np.broadcast_to([1.0, 0.0], axes.shape))
