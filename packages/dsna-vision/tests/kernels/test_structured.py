"""Kernels of the structured forest against brute force: patches, growth, routing, votes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.boundary_folders import scene

from dsna_vision._kernels import structured
from dsna_vision._kernels.detection import cast_votes
from dsna_vision._kernels.patches import cut_masks, look_up, look_up_bins, outlines
from dsna_vision._kernels.structured import StructuredGrowth, grow_structured
from dsna_vision.edges.forest import _feature_ranges, grow_forest, learning_photos
from dsna_vision.edges.patches import N_FEATURES, Channels
from dsna_vision.edges.sampling import AnnotatedPhotos

SEEDS = st.integers(0, 2**32 - 1)


def blobs(rng, n_segments, n=1):
    """Masks of 16 x 16 pixels whose segments are the cells of random points, numbered as they appear."""
    y, x = np.mgrid[:16, :16]
    found = np.empty((n, 256), np.uint8)
    for i in range(n):
        points = rng.uniform(0, 16, (n_segments, 2))
        cells = ((y[..., None] - points[:, 0]) ** 2 + (x[..., None] - points[:, 1]) ** 2).argmin(axis=-1).ravel()
        order = list(dict.fromkeys(cells.tolist()))
        found[i] = [order.index(cell) for cell in cells]
    return found


def slow_outline(mask):
    grid = mask.reshape(16, 16)
    edge = np.zeros((16, 16), np.uint8)
    for y, x in np.ndindex(16, 16):
        for b, a in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
            if 0 <= a < 16 and 0 <= b < 16 and grid[b, a] != grid[y, x]:
                edge[y, x] = 1
    return edge.ravel()


@given(SEEDS)
@settings(max_examples=10)
def test_cut_masks(seed):
    rng = np.random.default_rng(seed)
    segmentation = rng.integers(-5, 5 + 10**9 * rng.integers(0, 2), (rng.integers(16, 30), rng.integers(16, 30)))
    height, width = segmentation.shape
    centres = np.column_stack([rng.integers(8, height - 7, 4), rng.integers(8, width - 7, 4)])
    masks = np.empty((4, 256), np.uint8)
    cut_masks(segmentation, centres, masks)
    for (y, x), mask in zip(centres, masks, strict=True):
        window = segmentation[y - 8 : y + 8, x - 8 : x + 8].ravel().tolist()
        order = list(dict.fromkeys(window))
        assert mask.tolist() == [order.index(value) for value in window]


@given(SEEDS, st.integers(1, 6))
@settings(max_examples=15)
def test_outlines(seed, n_segments):
    masks = blobs(np.random.default_rng(seed), n_segments, 2)
    edges = np.full((2, 256), 7, np.uint8)
    outlines(masks, edges)
    for mask, edge in zip(masks, edges, strict=True):
        np.testing.assert_array_equal(edge, slow_outline(mask))


def test_look_up():
    rng = np.random.default_rng(0)
    channels = rng.normal(size=500).astype(np.float32)
    places = rng.integers(0, 100, 7)
    first, second = rng.integers(0, 400, 9), rng.integers(-1, 400, 9)
    second[:3] = -1
    found = np.empty((7, 9), np.float32)
    look_up(channels, places, first, second, found)
    low, step = np.full(9, -1.5, np.float32), np.full(9, 0.011, np.float32)
    bins = np.empty((7, 9), np.uint8)
    look_up_bins(channels, places, first, second, low, step, bins)
    for (i, f), value in np.ndenumerate(found):
        other = channels[places[i] + second[f]] if second[f] >= 0 else np.float32(0)
        assert value == channels[places[i] + first[f]] - other
        assert bins[i, f] == int(np.clip((value - low[f]) / step[f], 0, 255))
    assert bins.min() == 0
    assert bins.max() == 255


@given(SEEDS)
@settings(max_examples=10)
def test_main_direction(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 60))
    Z = np.zeros((structured.SAMPLE, structured.PAIRS), np.float32)
    Z[:m] = rng.normal(size=(m, structured.PAIRS)) + 9 * np.outer(rng.normal(size=m), rng.normal(size=structured.PAIRS))
    Z[:m] -= Z[:m].mean(axis=0)
    Z[m:] = 100  # left over from another node
    v = np.empty(structured.PAIRS, np.float32)
    assert structured._main_direction(Z, m, v)
    main = np.linalg.svd(Z[:m], full_matrices=False)[2][0]
    assert abs(v @ main) / np.linalg.norm(v) > 0.999
    away = np.linalg.norm(Z[:m].astype(float), axis=1)
    assert away[structured._representative(Z, m)] <= away.min() * (1 + 1e-6)  # two rows are equally far from their mean
    Z[:m] = 0
    assert not structured._main_direction(Z, m, v)


def growth(**changes):
    return StructuredGrowth(**{"n_tried": 10, "min_leaf": 3, "max_depth": 64} | changes)


def grown(X, masks, seed=0, **changes):
    return grow_structured(X, masks, growth(**changes), np.uint64(seed))


def routed(tree, X):
    """Leaf that each patch reaches, node by node."""
    leaves = np.empty(X.shape[1], int)
    for i in range(X.shape[1]):
        node = 0
        while tree.child[node] >= 0:
            node = tree.child[node] + (X[tree.feature[node], i] >= tree.threshold[node])
        leaves[i] = -1 - tree.child[node]
    return leaves


def check_tree(tree, X, min_leaf):
    n_leaves = len(tree.representative)
    assert len(tree.child) == len(tree.feature) == len(tree.threshold) == 2 * n_leaves - 1
    assert sorted(-1 - tree.child[tree.child < 0]) == list(range(n_leaves))
    leaf = routed(tree, X)
    sizes = np.bincount(leaf, minlength=n_leaves)
    assert n_leaves == 1 or sizes.min() >= min_leaf
    assert leaf[tree.representative].tolist() == list(range(n_leaves))


@given(SEEDS, st.sampled_from([1, 4, 20]), st.sampled_from([1, 255]))
@settings(max_examples=12)
def test_trees_keep_every_patch(seed, min_leaf, spread):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 150))
    X = rng.integers(0, spread + 1, (12, n)).astype(np.uint8)
    masks = blobs(rng, 2, 6)[rng.integers(0, 6, n)]
    tree = grown(X, masks, seed, min_leaf=min_leaf)
    check_tree(tree, X, min_leaf)
    for one, same in zip(tree, grown(X, masks, seed, min_leaf=min_leaf), strict=True):
        np.testing.assert_array_equal(one, same)


def two_kinds(on):
    """Masks without an edge, or with an upright one where ``on``."""
    masks = np.zeros((len(on), 16, 16), np.uint8)
    masks[on, :, 8:] = 1
    return masks.reshape(-1, 256)


def test_a_tree_finds_the_feature_that_tells_edges():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (10, 200)).astype(np.uint8)
    masks = two_kinds(X[4] >= 90)
    tree = grown(X, masks)
    assert tree.child.tolist() == [1, -1, -2]
    assert tree.feature[0] == 4
    assert X[4][X[4] < 90].max() < tree.threshold[0] <= 90
    np.testing.assert_array_equal(masks, masks[tree.representative][routed(tree, X)])
    assert len(grown(X, masks, max_depth=1, min_leaf=1).child) <= 3
    assert len(grown(X, two_kinds(np.zeros(200, bool))).child) == 1  # nothing to tell apart


@pytest.fixture(scope="module")
def photos():
    found = [scene((40, 50), seed) for seed in range(3)]
    rng = np.random.default_rng(0)
    noisy = [np.clip(photo + rng.normal(0, 6, photo.shape), 0, 255).astype(np.uint8) for photo, _ in found]
    segments = [segments.astype(np.int64) for _, segments in found]
    return AnnotatedPhotos(
        noisy, [Channels(photo) for photo in noisy], [[segments[0]] * 2, [segments[1]], [segments[2]]]
    )


def test_draws_are_even(photos):
    rng = np.random.default_rng(0)
    patches = photos.draw(30, rng)
    assert [(p, part.stop - part.start) for p, part in patches.of_photos()] == [(0, 10), (1, 10), (2, 10)]
    assert len(photos.draw(2, rng)) == 2  # fewer than there are drawings
    for centre, mask, photo in zip(patches.centres, patches.masks, patches.photo, strict=True):
        y, x = centre
        window = photos.segmentations[photo][0][y - 8 : y + 8, x - 8 : x + 8].ravel()
        assert len(np.unique(mask)) == len(np.unique(window)) == len(np.unique(np.column_stack([mask, window]), axis=0))


def test_routing_photos_reaches_the_leaf_that_holds_the_patch(photos):
    rng = np.random.default_rng(3)
    low, step = _feature_ranges(photos, rng)
    patches = photos.draw(2000, rng)
    which = np.arange(0, N_FEATURES, 5)
    X = photos.bins(patches, which, low, step)
    check_tree(grown(X, patches.masks, 1, n_tried=30), X, 3)
    # grow_forest draws the same patches anew, and photos are looked up on the fly.
    how = growth(n_tried=30)
    known = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 0]], bool)
    forest = grow_forest(photos, 2000, how, 5, known)
    again = grow_forest(photos, 2000, how, 5, known, n_jobs=2)
    np.testing.assert_array_equal(forest.child, again.child)
    np.testing.assert_array_equal(forest.threshold, again.threshold)
    assert forest.n_trees == 3
    seeds = np.random.SeedSequence(5).spawn(4)
    for t in range(3):
        generator = np.random.default_rng(seeds[t])
        drawn = photos.draw(2000, generator, np.flatnonzero(known[t]).tolist())
        assert set(drawn.photo) == set(np.flatnonzero(known[t]))  # others stay unknown to this tree
        mine = np.sort(generator.choice(N_FEATURES, N_FEATURES // 4, replace=False))
        bins = photos.bins(drawn, mine, forest.low, forest.step)
        alone = grow_structured(bins, drawn.masks, how, np.uint64(generator.integers(2**63)))
        expected = routed(alone, bins)
        before = (forest.child[: forest.root[t]] < 0).sum()
        for p, part in drawn.of_photos():
            channels = photos.channels[p]
            places = channels.starts(drawn.centres[part])
            reached = forest.route(channels, places, np.full((len(places), 1), t))
            np.testing.assert_array_equal(reached[:, 0], before + expected[part])
        masks = forest.mask_table.masks[forest.leaf_mask[before : before + len(alone.representative)]]
        few = drawn.masks[alone.representative].max(axis=1) < 4
        np.testing.assert_array_equal(masks[few], drawn.masks[alone.representative][few])


@pytest.mark.parametrize("n_trees, n_photos", [(8, 4), (8, 11), (4, 200)])
def test_every_photo_is_unknown_to_half_of_the_trees(n_trees, n_photos):
    known = learning_photos(n_trees, n_photos)
    assert known.shape == (n_trees, n_photos)
    assert np.all(known.sum(axis=0) == n_trees // 2)
    assert np.all(known.any(axis=1))
    assert learning_photos(n_trees, 3).all()  # too few to leave any out


def slow_votes(photo, corners, ballots, weights, ptr, masks, passes, edges):
    height, width = edges.shape
    for i, (y, x) in enumerate(corners):
        for k in range(ptr[i], ptr[i + 1]):
            mask = slow_sharpened(photo, y, x, masks[ballots[k]], passes)
            for p, edge in enumerate(slow_outline(mask)):
                at = (y + p // 16, x + p % 16)
                if edge and 0 <= at[0] < height and 0 <= at[1] < width:
                    edges[at] += weights[k]


def slow_sharpened(photo, y, x, mask, passes):
    grid = mask.reshape(16, 16).astype(int)
    inside = [(a, b) for a, b in np.ndindex(16, 16) if 0 <= y + a < photo.shape[0] and 0 <= x + b < photo.shape[1]]
    pixels = {s: [photo[y + a, x + b] for a, b in inside if grid[a, b] == s] for s in np.unique(grid)}
    mean = {s: np.mean(colours, axis=0) for s, colours in pixels.items() if colours}
    for _ in range(passes):
        was = grid.copy()
        for a, b in inside:
            around = [(a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1)]
            known = {was[q] for q in around if 0 <= q[0] < 16 and 0 <= q[1] < 16 and was[q] in mean}
            away = {s: ((photo[y + a, x + b] - mean[s]) ** 2).sum() for s in known | {was[a, b]}}
            if min(away.values()) < away[was[a, b]]:
                grid[a, b] = min(away, key=away.get)
    return grid.ravel()


@pytest.mark.parametrize("passes", [0, 1, 2])
@given(SEEDS)
@settings(max_examples=6)
def test_votes(passes, seed):
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 24)), int(rng.integers(1, 24)))
    photo = rng.random((*shape, 3)).astype(np.float32)
    corners = np.column_stack([rng.integers(-15, shape[0], 5), rng.integers(-15, shape[1], 5)])  # some far outside
    masks = np.concatenate([blobs(rng, k) for k in (1, 2, 3, 4)])
    ptr = np.array([0, 2, 2, 4, 7, 8])
    ballots = rng.integers(0, 4, 8)
    weights = rng.uniform(-1, 1, 8)
    found = rng.random(shape)
    expected = found.copy()
    cast_votes(photo, corners, ballots, weights, ptr, masks, passes, found)
    slow_votes(photo.astype(float), corners, ballots, weights, ptr, masks, passes, expected)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_sharpening_moves_an_outline_to_where_colours_change():
    photo = np.zeros((16, 16, 3), np.float32)
    photo[:, 10:] = 1
    mask = np.zeros((1, 16, 16), np.uint8)
    mask[:, :, 8:] = 1
    ones, start = np.ones(1), np.zeros((1, 2), np.int64)
    columns = {}
    for passes in (0, 1, 2):
        edges = np.zeros((16, 16))
        cast_votes(photo, start, np.zeros(1, np.int64), ones, np.array([0, 1]), mask.reshape(1, 256), passes, edges)
        columns[passes] = np.flatnonzero(edges[8]).tolist()
    assert columns == {0: [7, 8], 1: [8, 9], 2: [9, 10]}
