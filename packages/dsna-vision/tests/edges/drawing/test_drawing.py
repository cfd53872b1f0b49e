"""Lines for people: what is left out, how lines are followed, and what the files hold."""

import itertools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("PIL")
pytest.importorskip("skimage")

from scipy.ndimage import label, maximum_filter

from dsna_vision.edges.drawing.lines import open_contours, trace_lines
from dsna_vision.edges.drawing.products import Product, overlay_lines
from dsna_vision.edges.drawing.svg import as_svg
from dsna_vision.photos import read_photo


def cross():
    mask = np.zeros((21, 21), bool)
    mask[10, 2:19] = mask[2:19, 10] = True
    return mask


def ring():
    y, x = np.mgrid[:31, :31]
    away = np.hypot(y - 15, x - 15)
    return (away > 9.3) & (away < 10.5)


def test_lines_end_at_crossings():
    paths = trace_lines(cross())
    ends = sorted(tuple(path[0]) for path in paths) + sorted(tuple(path[-1]) for path in paths)
    assert {(2, 10), (18, 10), (10, 2), (10, 18)} <= set(ends)
    assert len([path for path in paths if len(path) > 4]) == 4


def test_a_ring_is_closed():
    (path,) = trace_lines(ring())
    np.testing.assert_array_equal(path[0], path[-1])
    assert len(path) > 50


@given(arrays(bool, st.tuples(st.integers(1, 16), st.integers(1, 16))))
@settings(max_examples=100)
def test_lines_follow_pixels(mask):
    """Each step goes to a neighbour; lines cover all pixels that have one; no link is followed twice."""
    paths = trace_lines(mask)
    links = [frozenset(map(tuple, pair)) for path in paths for pair in itertools.pairwise(path)]
    assert len(links) == len(set(links))
    for path in paths:
        assert np.abs(np.diff(path, axis=0)).max(axis=1).tolist() == [1] * (len(path) - 1)
        assert mask[path[:, 0], path[:, 1]].all()
    covered = np.zeros(mask.shape, bool)
    for path in paths:
        covered[path[:, 0], path[:, 1]] = True
    if covered.any():
        assert label(covered, np.ones((3, 3)))[1] <= label(mask, np.ones((3, 3)))[1]


def test_crumbs_go():
    edges = np.zeros((12, 30), np.float32)
    edges[2, 2:20] = 0.4
    edges[3, 20:24] = 0.2  # goes on at a corner
    edges[3, 7:9] = 0.9  # a dot beside the contour
    edges[8, 5:9] = 0.9
    edges[10, :] = 0.05
    kept = open_contours(edges, 10)
    edges[3, 7:9], edges[8] = 0.4, 0
    np.testing.assert_array_equal(kept, edges)


@given(
    arrays(
        np.float32, st.tuples(st.integers(1, 14), st.integers(1, 14)), elements=st.sampled_from([0, 0, 0.25, 0.5, 1])
    ),
    st.integers(1, 12),
)
@settings(max_examples=200)
def test_a_threshold_leaves_contours_of_so_many_pixels(edges, area):
    lowered = open_contours(edges, area)
    for level in (0.25, 0.5, 1):
        contour, _ = label(edges >= level, np.ones((3, 3)))
        large = np.bincount(contour.ravel()) >= area
        large[0] = False
        np.testing.assert_array_equal(lowered >= level, large[contour])


def test_products():
    edges = np.zeros((12, 30), np.float32)
    edges[2, 2:20], edges[8, 5:9], edges[10, 3:27] = 0.4, 0.9, 0.15
    assert Product(min_length=1).lines(edges) is edges
    assert Product(min_length=4).lines(edges).max() == np.float32(0.9)
    np.testing.assert_array_equal(Product().lines(edges), np.where(edges == np.float32(0.9), 0, edges))
    clear = Product(threshold=0.3).lines(edges)
    assert set(np.unique(clear)) == {0, 1}
    assert clear.sum() == 18
    assert np.count_nonzero(Product("overlay").lines(edges)) == 18 + 24


def test_files(tmp_path):
    photo = np.full((31, 31, 3), 100, np.uint8)
    edges = np.where(ring(), 0.5, 0).astype(np.float32)
    Product("overlay", threshold=0.2).write(edges, photo, tmp_path / "o.png")
    over = read_photo(tmp_path / "o.png")
    beside = maximum_filter(ring(), (3, 3)) & ~ring()
    np.testing.assert_array_equal(over[~ring() & ~beside], 100)
    np.testing.assert_array_equal(over[beside], 40)
    assert (over[ring()] == over[ring()][0]).all()
    np.testing.assert_array_equal(over[ring()][0], [0, 255, 255])
    sea = overlay_lines(np.full((31, 31, 3), (0, 150, 200), np.uint8), edges > 0)
    np.testing.assert_array_equal(sea[ring()][0], [255, 30, 0])
    np.testing.assert_array_equal(overlay_lines(photo, 0 * edges), photo)
    Product("svg").write(edges, photo, tmp_path / "o.svg")
    drawing = ElementTree.fromstring((tmp_path / "o.svg").read_text("utf-8"))
    (path,) = drawing.iter("{http://www.w3.org/2000/svg}path")
    assert path.get("stroke-opacity") == "0.5"
    points = np.array([point.split() for point in path.get("d")[1:].split("L")], dtype=float)
    assert np.abs(np.hypot(*(points - 15.5).T) - 10).max() < 1.5
    assert 6 < len(points) < 40
    Product(threshold=0.2, invert=True).write(edges, photo, tmp_path / "m.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "m.npy") == 0, ring())


def test_strokes_that_lead_nowhere():
    lines = np.zeros((30, 40))
    lines[10, 2:14] = 0.5  # of two halves of 6 pixels, for a spur of 4 in the middle
    lines[7:10, 8] = 0.5
    lines[20, 2:38] = 0.5
    lines[21:25, 20] = 0.5
    lines[27, 5:9] = 0.5
    assert as_svg(lines).count("<path") == 7
    drawn = as_svg(lines, min_length=10)
    assert drawn.count("<path") == 4
    ends = [point for part in drawn.split('d="M')[1:] for point in part.split('"')[0].split("L")]
    assert {"2.5 10.5", "13.5 10.5", "2.5 20.5", "37.5 20.5"} <= set(ends)


def test_nothing_to_draw():
    assert trace_lines(np.zeros((5, 5), bool)) == []
    assert "path" not in as_svg(np.zeros((5, 5)))
    assert trace_lines(np.eye(1, dtype=bool)) == []
