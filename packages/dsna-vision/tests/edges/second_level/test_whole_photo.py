"""What lines say of a photo as a whole: eigenvectors against dense ones, regions of drawn shapes, mirrors, sizes."""

import numpy as np
import pytest

from dsna_vision.edges.second_level import regions
from dsna_vision.edges.second_level import salience as spectral
from dsna_vision.edges.second_level.candidates import Candidates
from dsna_vision.edges.second_level.planes import View
from dsna_vision.edges.second_level.regions import merge_columns
from dsna_vision.edges.second_level.salience import block_maxima, block_side, salience


def room(height=64, width=96):
    """A box in a photo of two halves, and a short line that encloses nothing."""
    lines = np.zeros((height, width), dtype=np.float32)
    lines[:, 40] = 0.6
    lines[20:44, 60] = lines[20:44, 84] = 0.9
    lines[20, 60:85] = lines[44, 60:85] = 0.9
    lines[30:38, 20] = 0.9
    lines[30:33, 60] = 0.0  # a gap
    photo = np.full((height, width, 3), 90, dtype=np.uint8)
    photo[21:44, 61:84] = 220
    return lines, photo


def at(*places):
    return Candidates(np.array(places), np.ones(len(places)))


def view_of(lines, photo):
    return View(photo, (np.zeros_like(lines),), lines)


def dense_salience(lines, places):
    """By the definition, with all eigenvectors of a dense matrix."""
    small = block_maxima(lines, 4).astype(float)
    height, width = small.shape
    links = np.zeros((small.size, small.size))
    for a in range(small.size):
        for b in range(a, small.size):
            (y, x), (v, u) = divmod(a, width), divmod(b, width)
            if (v - y) ** 2 + (u - x) ** 2 <= 25:
                way = np.linspace(0, 1, max(abs(v - y), abs(u - x), 1) + 1)
                rows, columns = (np.floor(p + way * (q - p) + 0.5).astype(int) for p, q in ((y, v), (x, u)))
                links[a, b] = links[b, a] = np.exp(-small[rows, columns].max() / 0.1)
    root = np.sqrt(links.sum(axis=1))
    values, vectors = np.linalg.eigh(links / np.outer(root, root))
    square, found = np.zeros(small.shape), []
    for k in range(2, 18):
        vector = (vectors[:, -k] / root * np.linalg.norm(root)).reshape(height, width)
        square += sum(one**2 for one in np.gradient(vector)) / (1 - values[-k])
        if k - 1 in spectral.COUNTS:
            found.append(np.log1p(np.sqrt(square))[tuple(places.T // 4)])
    return np.array(found).T


def test_salience_agrees_with_dense_eigenvectors():
    lines, _ = room()
    lines *= np.random.default_rng(0).uniform(0.5, 1, lines.shape).astype(np.float32)  # no eigenvalues alike
    candidates = at(*np.argwhere(lines > 0)[::7])
    found = salience(lines, candidates)
    np.testing.assert_allclose(found, dense_salience(lines, candidates.pixels), rtol=1e-4, atol=1e-5)


def test_salience_is_high_on_what_divides_the_photo():
    lines, _ = room()
    through, box, short = salience(lines, at([5, 40], [44, 70], [34, 20]))[:, 1]
    assert min(through, box) > short + 0.5


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (1, 200), (9, 9), (20, 16)])
def test_small_photos_are_taken(shape):
    lines = np.zeros(shape, dtype=np.float32)
    lines[shape[0] // 2] = 0.5
    places = at([shape[0] // 2, 0])
    for found in (salience(lines, places), merge_columns(view_of(lines, np.zeros((*shape, 3), np.uint8)), places)):
        assert np.all(np.isfinite(found))
        assert np.all(found >= 0)


def test_without_candidates():
    lines, photo = room()
    none = Candidates(np.empty((0, 2), dtype=np.int64), np.empty(0))
    assert salience(lines, none).shape == (0, len(spectral.COUNTS))
    assert merge_columns(view_of(lines, photo), none).shape == (0, regions.N_MERGED)


def test_both_sides_of_a_box_are_known_when_it_is_merged():
    lines, photo = room()
    box, short = merge_columns(view_of(lines, photo), at([44, 70], [34, 20]))
    assert box[0] > 0.8  # although it has a gap
    np.testing.assert_allclose(np.expm1(box[1]), 23 * 23, rtol=0.15)
    assert short[0] < 0.5 * box[0]
    assert box[3] > 10 * short[3]


def test_mirrored_photos_say_the_same():
    lines, photo = room()
    candidates = at([5, 40], [44, 70], [34, 20], [25, 84])
    turned = at(*[[y, lines.shape[1] - 1 - x] for y, x in candidates.pixels])
    there = View(photo[:, ::-1].copy(), (np.zeros_like(lines),), lines[:, ::-1].copy())
    np.testing.assert_allclose(
        merge_columns(there, turned), merge_columns(view_of(lines, photo), candidates), rtol=0.05, atol=0.05
    )
    # Ways between pixels are rounded to one side where they run through the middle of two.
    np.testing.assert_allclose(salience(there.lines, turned), salience(lines, candidates), rtol=0.02)


def test_work_is_bounded_on_large_photos():
    for shape, least, most in [((3000, 4000), 1, 1_000_000), ((3000, 4000), 4, 40_000), ((1, 10**6), 4, 40_000)]:
        side = block_side(shape, least, most)
        assert -(-shape[0] // side) * -(-shape[1] // side) <= most
        smaller = side - 1
        assert smaller < least or -(-shape[0] // smaller) * -(-shape[1] // smaller) > most


def test_large_photos_are_looked_at_in_blocks(monkeypatch):
    lines, photo = room()
    candidates = at([5, 40], [44, 70], [34, 20])
    whole = merge_columns(view_of(lines, photo), candidates)
    monkeypatch.setattr(regions, "_MAX_PIXELS", lines.size // 4)
    halved = merge_columns(view_of(lines, photo), candidates)
    np.testing.assert_allclose(halved[:, 0], whole[:, 0], atol=0.2)
    np.testing.assert_allclose(halved[1, 1:3], whole[1, 1:3], rtol=0.1)


def test_a_photo_without_borders_needs_no_other_kernel():
    from dsna_vision._kernels.second_level.globalisation import merge_regions

    lines, photo = room()
    assert merge_columns(view_of(lines, photo), at((30, 60))).any()
    assert not merge_columns(view_of(np.zeros_like(lines), np.zeros_like(photo)), at((30, 60))).any()
    assert len(merge_regions.signatures) == 1
