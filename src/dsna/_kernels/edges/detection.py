"""Detection: patches sent down structured trees, and masks cast as votes into an edge map."""

from typing import NamedTuple

import numpy as np

from ..jit import kernel
from .patches import AREA, SIDE, feature, outline

MAX_SEGMENTS = 16  # a mask of more is not sharpened


class Nodes(NamedTuple):
    """Nodes of all trees, one after another, laid out as in ``structured``."""

    root: np.ndarray  # (n_trees,) first node of each tree
    child: np.ndarray
    ptr: np.ndarray
    features: np.ndarray
    weights: np.ndarray
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
    root, child, ptr, features, weights, threshold = nodes
    for i in range(places.shape[0]):
        for t in range(trees.shape[1]):
            node = root[trees[i, t]]
            while child[node] >= 0:
                score = 0.0
                for k in range(ptr[node], ptr[node + 1]):
                    f = features[k]
                    value = (feature(channels, places[i], first[f], second[f]) - low[f]) / step[f]
                    score += weights[k] * np.float64(np.uint8(min(max(value, 0.0), 255.0)))
                node = child[node] + (1 if score >= threshold[node] else 0)
            leaves[i, t] = -1 - child[node]


@kernel
def _mean_colours(photo, y, x, top, bottom, left, right, mask, colours, sizes):
    """Mean colour of each segment of a mask whose upper left corner lies at (y, x); False if there are too many."""
    n = 0
    for p in range(AREA):
        n = max(n, mask[p] + 1)
    if n > MAX_SEGMENTS:
        return False
    colours[:n] = 0.0
    sizes[:n] = 0.0
    for a in range(top, bottom):
        for b in range(left, right):
            s = mask[a * SIDE + b]
            sizes[s] += np.float32(1.0)
            colours[s, 0] += photo[y + a, x + b, 0]
            colours[s, 1] += photo[y + a, x + b, 1]
            colours[s, 2] += photo[y + a, x + b, 2]
    for s in range(n):
        for c in range(3):
            colours[s, c] /= max(sizes[s], np.float32(1.0))
    return True


@kernel
def _distance(photo, y, x, colours, segment):
    red = photo[y, x, 0] - colours[segment, 0]
    green = photo[y, x, 1] - colours[segment, 1]
    blue = photo[y, x, 2] - colours[segment, 2]
    return red * red + green * green + blue * blue


@kernel
def _sharpen(photo, y, x, passes, mask, was, edge, colours, sizes):
    """Give pixels at a boundary to the neighbouring segment of closest mean colour, ``passes`` times.

    ``edge`` holds the outline of the mask, before and after.
    """
    top = max(0, -y)
    bottom = min(SIDE, photo.shape[0] - y)
    left = max(0, -x)
    right = min(SIDE, photo.shape[1] - x)
    if not _mean_colours(photo, y, x, top, bottom, left, right, mask, colours, sizes):
        return
    for _ in range(passes):
        was[:] = mask
        for a in range(top, bottom):
            for b in range(left, right):
                p = a * SIDE + b
                if edge[p] == 0:
                    continue
                own = was[p]
                best = own
                least = _distance(photo, y + a, x + b, colours, own)
                for side in range(4):
                    if side == 0:
                        q = p - SIDE if a > 0 else p
                    elif side == 1:
                        q = p + SIDE if a < SIDE - 1 else p
                    elif side == 2:
                        q = p - 1 if b > 0 else p
                    else:
                        q = p + 1 if b < SIDE - 1 else p
                    s = was[q]
                    if s == best or s == own or sizes[s] == 0.0:
                        continue
                    away = _distance(photo, y + a, x + b, colours, s)
                    if away < least:
                        least = away
                        best = s
                mask[p] = best
        outline(mask, edge)


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
    height, width = edges.shape
    mask = np.empty(AREA, np.uint8)
    was = np.empty(AREA, np.uint8)
    edge = np.empty(AREA, np.uint8)
    colours = np.empty((MAX_SEGMENTS, 3), np.float32)
    sizes = np.empty(MAX_SEGMENTS, np.float32)
    for i in range(corners.shape[0]):
        y, x = corners[i]
        for k in range(ptr[i], ptr[i + 1]):
            mask[:] = masks[ballots[k]]
            if not outline(mask, edge):
                continue
            if passes > 0:
                _sharpen(photo, y, x, passes, mask, was, edge, colours, sizes)
            for a in range(max(0, -y), min(SIDE, height - y)):
                for b in range(max(0, -x), min(SIDE, width - x)):
                    if edge[a * SIDE + b]:
                        edges[y + a, x + b] += weights[k]
