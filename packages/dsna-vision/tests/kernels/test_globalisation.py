"""Links of pixels and merging of regions, against slow versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsna_vision._kernels.second_level.globalisation import link_pixels, merge_regions

pytestmark = pytest.mark.property


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7))
def test_links_fall_with_the_strongest_line_between(seed, height, width):
    lines = np.random.default_rng(seed).random((height, width))
    steps = np.array([(0, 1), (0, 3), (1, -2), (2, 2), (3, 1)])
    most = lines.size * len(steps)
    first, second, strength = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most)
    n = link_pixels(lines, steps, 0.2, first, second, strength)
    found = {(a, b): s for a, b, s in zip(first[:n].tolist(), second[:n].tolist(), strength[:n], strict=True)}
    wanted = {}
    for y, x in np.ndindex(height, width):
        for down, across in steps:
            if 0 <= y + down < height and 0 <= x + across < width:
                far = max(abs(down), abs(across))
                way = np.arange(far + 1) / far
                rows, columns = np.floor(y + way * down + 0.5), np.floor(x + way * across + 0.5)
                between = lines[rows.astype(int), columns.astype(int)].max()
                wanted[y * width + x, (y + down) * width + x + across] = np.exp(-between / 0.2)
    assert found == pytest.approx(wanted)


def slow_merges(ends, length, total, size, colours):
    """All borders looked through in each step; regions as sets, the sums over what is in them."""
    where = {region: {region} for region in range(len(size))}
    names = list(range(len(size)))
    out, height = np.zeros((len(ends), 5)), 0.0
    while len(set(names)) > 1:
        sums = {}
        for k, (a, b) in enumerate(ends):
            pair = frozenset((names[a], names[b]))
            if len(pair) == 2:
                sums.setdefault(pair, []).append(k)
        pair = min(sums, key=lambda pair: (total[sums[pair]].sum() / length[sums[pair]].sum(), min(sums[pair])))
        between, sides = sums[pair], [sorted(where[name]) for name in pair]
        height = max(height, total[between].sum() / length[between].sum())
        sizes = sorted(size[side].sum() for side in sides)
        means = [np.average(colours[side], axis=0, weights=size[side]) for side in sides]
        out[between] = height, *sizes, np.linalg.norm(means[0] - means[1]), length[between].sum()
        kept, gone = sorted(pair)
        where[kept] |= where.pop(gone)
        names = [kept if name == gone else name for name in names]
    return out


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(0, 25))
def test_regions_merge_in_the_order_of_their_borders(seed, n, extra):
    rng = np.random.default_rng(seed)
    tree = [(int(rng.integers(k)), k) for k in range(1, n)]  # all are connected
    more = [tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(extra if n > 1 else 0)]
    ends = np.array(sorted({*tree, *more}), dtype=np.int64).reshape(-1, 2)
    length = rng.integers(1, 9, len(ends)).astype(float)
    total = length * rng.permutation(np.linspace(0.1, 0.9, len(ends)))  # no two alike
    size, colours = rng.integers(1, 50, n).astype(float), rng.random((n, 3))
    out = np.zeros((len(ends), 5))
    merge_regions(ends.copy(), length.copy(), total.copy(), size.copy(), colours.copy(), out)
    np.testing.assert_allclose(out, slow_merges(ends, length, total, size, colours))
    assert np.all(out[:, 1] + out[:, 2] <= size.sum())


def test_ends_of_an_open_line_merge_before_a_closed_one():
    # Region 0 is enclosed by strong borders; 1 and 2 are divided by one as strong that ends in a weak one.
    ends = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int64)
    length, total = np.array([10.0, 10.0, 20.0]), np.array([8.0, 8.0, 9.0])
    out = np.zeros((3, 5))
    merge_regions(ends, length, total, np.array([9.0, 20.0, 20.0]), np.zeros((3, 1)), out)
    np.testing.assert_allclose(out[:, 0], [0.8, 0.8, 0.45])
    np.testing.assert_allclose(out[0, 1:3], [9, 40])
