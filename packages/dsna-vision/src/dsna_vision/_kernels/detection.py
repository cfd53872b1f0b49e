"""Detection: patches sent down structured trees, and masks cast as votes into an edge map."""

from typing import NamedTuple

import numpy as np

from dsna.extend.kernels import kernel

from .patches import AREA, SIDE, feature, outline

MAX_SEGMENTS = 16  # a mask of more is not sharpened


class Nodes(NamedTuple):
    """Nodes of all trees, one after another, laid out as in ``structured``."""

    root: np.ndarray  # (n_trees,) first node of each tree
    child: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray


@kernel
def route_patches(channels, places, trees, first, second, low, step, nodes, leaves):
    """Leaf that each patch reaches in each of its trees.

    Parameters
    ----------
    channels : flat channels of one photo.
    places : (n,) where patches start in it.
    trees : (n, T) trees to ask for each patch.
    first, second, low, step : how features are looked up.
    nodes : Nodes
    leaves : (n, T) filled.
    """
    root, child, looked_at, threshold = nodes
    for i in range(places.shape[0]):
        for t in range(trees.shape[1]):
            node = root[trees[i, t]]
            while child[node] >= 0:
                f = looked_at[node]
                value = (feature(channels, places[i], first[f], second[f]) - low[f]) / step[f]
                node = child[node] + (1 if np.uint8(min(max(value, 0.0), 255.0)) >= threshold[node] else 0)
            leaves[i, t] = -1 - child[node]


@kernel
def _cut(photo, y, x, patch, inside):
    """Fill ``patch`` (3, AREA) with the colours from (y, x) on, ``inside`` (AREA,) with 1 where the photo reaches."""
    inside[:] = 0
    for a in range(max(0, -y), min(SIDE, photo.shape[0] - y)):
        for b in range(max(0, -x), min(SIDE, photo.shape[1] - x)):
            inside[a * SIDE + b] = 1
            for c in range(3):
                patch[c, a * SIDE + b] = photo[y + a, x + b, c]


@kernel
def _mean_colours(patch, inside, mask, n, lanes, colours, sizes):
    """Mean colour and size of each of the n segments of a mask, where the photo reaches.

    Columns are added up side by side, which processors do at once, and then one after another.
    """
    for s in range(n):
        lanes[:] = 0.0
        for a in range(SIDE):
            for b in range(SIDE):
                p = a * SIDE + b
                here = np.float32((mask[p] == s) & (inside[p] == 1))
                lanes[0, b] += here * patch[0, p]
                lanes[1, b] += here * patch[1, p]
                lanes[2, b] += here * patch[2, p]
                lanes[3, b] += here
        sizes[s] = lanes[3].sum()
        for c in range(3):
            colours[s, c] = lanes[c].sum() / max(sizes[s], np.float32(1.0))


@kernel
def _distance(patch, p, colours, segment):
    red = patch[0, p] - colours[segment, 0]
    green = patch[1, p] - colours[segment, 1]
    blue = patch[2, p] - colours[segment, 2]
    return red * red + green * green + blue * blue


@kernel
def _pixels(edge, inside, found):
    """Fill ``found`` (AREA + 1,) with the pixels of an outline where the photo reaches; returns how many they are."""
    n = 0
    for p in range(AREA):
        found[n] = p
        n += int(edge[p] & inside[p])
    return n


@kernel
def _sharpen(patch, some, colours, sizes, mask, was):
    """Give ``some`` pixels, those at a boundary, to the neighbouring segment of closest mean colour."""
    was[:] = mask
    for p in some:
        own = was[p]
        best = own
        least = _distance(patch, p, colours, own)
        for side in range(4):
            if side == 0:
                q = p - SIDE if p >= SIDE else p
            elif side == 1:
                q = p + SIDE if p < AREA - SIDE else p
            elif side == 2:
                q = p - 1 if p % SIDE > 0 else p
            else:
                q = p + 1 if p % SIDE < SIDE - 1 else p
            s = was[q]
            if s == best or s == own or sizes[s] == 0.0:
                continue
            away = _distance(patch, p, colours, s)
            if away < least:
                least = away
                best = s
        mask[p] = best


@kernel
def cast_votes(photo, corners, ballots, weights, ptr, masks, passes, edges):
    """Add the outlines of masks to an edge map.

    Parameters
    ----------
    photo : (H, W, 3) float32 colours by which outlines are sharpened.
    corners : (n, 2) upper left corner (y, x) of each patch's mask in the photo; may lie outside.
    ballots, weights, ptr : patch i votes for the masks ``ballots[ptr[i] : ptr[i + 1]]`` with these weights.
    masks : (m, AREA)
    passes : sharpening passes.
    edges : (H, W) float64, added to.
    """
    mask = np.empty(AREA, np.uint8)
    was = np.empty(AREA, np.uint8)
    edge = np.empty(AREA, np.uint8)
    inside = np.empty(AREA, np.uint8)
    found = np.empty(AREA + 1, np.int64)
    patch = np.zeros((3, AREA), np.float32)
    lanes = np.empty((4, SIDE), np.float32)
    colours = np.empty((MAX_SEGMENTS, 3), np.float32)
    sizes = np.empty(MAX_SEGMENTS, np.float32)
    for i in range(corners.shape[0]):
        y, x = corners[i]
        if ptr[i] < ptr[i + 1]:
            _cut(photo, y, x, patch, inside)
        for k in range(ptr[i], ptr[i + 1]):
            mask[:] = masks[ballots[k]]
            outline(mask, edge)
            n_segments = np.int64(mask.max()) + 1
            if passes > 0 and n_segments <= MAX_SEGMENTS:
                _mean_colours(patch, inside, mask, n_segments, lanes, colours, sizes)
                for _ in range(passes):
                    _sharpen(patch, found[: _pixels(edge, inside, found)], colours, sizes, mask, was)
                    outline(mask, edge)
            for p in found[: _pixels(edge, inside, found)]:
                edges[y + p // SIDE, x + p % SIDE] += weights[k]
