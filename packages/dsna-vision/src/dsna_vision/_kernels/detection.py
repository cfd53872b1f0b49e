"""Detection: patches routed through structured trees, and votes of masks for an edge map."""

from typing import NamedTuple

import numpy as np

from dsna.extend.kernels import kernel

from .patches import AREA, SIDE, feature, outline

MAX_SEGMENTS = 16  # masks with more segments are not sharpened


class Nodes(NamedTuple):
    """Concatenated nodes of all trees, laid out as in ``structured``."""

    root: np.ndarray  # (n_trees,) first node of each tree
    child: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray


@kernel
def route_patches(channels, starts, trees, first, second, low, step, nodes, leaves):
    """Leaf that each patch reaches in each of its trees.

    Parameters
    ----------
    channels : flat channels of one photo.
    starts : (n,) start of each patch in the channels.
    trees : (n, T) trees to query for each patch.
    first, second, low, step : offsets and binning of features.
    nodes : Nodes
    leaves : (n, T) filled.
    """
    root, child, node_feature, threshold = nodes
    for i in range(starts.shape[0]):
        for t in range(trees.shape[1]):
            node = root[trees[i, t]]
            while child[node] >= 0:
                feature_index = node_feature[node]
                value = (
                    feature(channels, starts[i], first[feature_index], second[feature_index]) - low[feature_index]
                ) / step[feature_index]
                node = child[node] + (1 if np.uint8(min(max(value, 0.0), 255.0)) >= threshold[node] else 0)
            leaves[i, t] = -1 - child[node]


@kernel
def _cut_patch(photo, y, x, patch, in_photo):
    """Fill ``patch`` (3, AREA) with the colours from (y, x) on, and ``in_photo`` (AREA,) with 1 inside the photo."""
    in_photo[:] = 0
    for row in range(max(0, -y), min(SIDE, photo.shape[0] - y)):
        for column in range(max(0, -x), min(SIDE, photo.shape[1] - x)):
            in_photo[row * SIDE + column] = 1
            for channel in range(3):
                patch[channel, row * SIDE + column] = photo[y + row, x + column, channel]


@kernel
def _mean_colours(patch, in_photo, mask, n, lanes, colours, sizes):
    """Mean colour and size of each of the n segments of a mask, inside the photo.

    Each column has its own sum, so that the loop vectorizes; the column sums are then added.
    """
    for s in range(n):
        lanes[:] = 0.0
        for a in range(SIDE):
            for b in range(SIDE):
                p = a * SIDE + b
                weight = np.float32((mask[p] == s) & (in_photo[p] == 1))
                lanes[0, b] += weight * patch[0, p]
                lanes[1, b] += weight * patch[1, p]
                lanes[2, b] += weight * patch[2, p]
                lanes[3, b] += weight
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
def _outline_pixels(edge, in_photo, pixels):
    """Fill ``pixels`` (AREA + 1,) with the pixels of an outline inside the photo, and return their number."""
    n = 0
    for p in range(AREA):
        pixels[n] = p
        n += int(edge[p] & in_photo[p])
    return n


@kernel
def _sharpen(patch, pixels, colours, sizes, mask, old_mask):
    """Reassign the boundary ``pixels`` to the neighbouring segment of closest mean colour."""
    old_mask[:] = mask
    for pixel in pixels:
        segment = old_mask[pixel]
        best = segment
        min_distance = _distance(patch, pixel, colours, segment)
        for direction in range(4):
            if direction == 0:
                neighbor = pixel - SIDE if pixel >= SIDE else pixel
            elif direction == 1:
                neighbor = pixel + SIDE if pixel < AREA - SIDE else pixel
            elif direction == 2:
                neighbor = pixel - 1 if pixel % SIDE > 0 else pixel
            else:
                neighbor = pixel + 1 if pixel % SIDE < SIDE - 1 else pixel
            neighbor_segment = old_mask[neighbor]
            if neighbor_segment == best or neighbor_segment == segment or sizes[neighbor_segment] == 0.0:
                continue
            distance = _distance(patch, pixel, colours, neighbor_segment)
            if distance < min_distance:
                min_distance = distance
                best = neighbor_segment
        mask[pixel] = best


@kernel
def cast_votes(photo, corners, ballots, weights, ptr, masks, passes, edges):
    """Add the outlines of masks to an edge map.

    Parameters
    ----------
    photo : (H, W, 3) float32 colours used to sharpen outlines.
    corners : (n, 2) upper left corner (y, x) of each patch's mask in the photo; may lie outside.
    ballots, weights, ptr : patch i votes for the masks ``ballots[ptr[i] : ptr[i + 1]]`` with these weights.
    masks : (m, AREA)
    passes : number of sharpening passes.
    edges : (H, W) float64, added to.
    """
    mask = np.empty(AREA, np.uint8)
    old_mask = np.empty(AREA, np.uint8)
    edge = np.empty(AREA, np.uint8)
    in_photo = np.empty(AREA, np.uint8)
    pixels = np.empty(AREA + 1, np.int64)
    patch = np.zeros((3, AREA), np.float32)
    lanes = np.empty((4, SIDE), np.float32)
    colours = np.empty((MAX_SEGMENTS, 3), np.float32)
    sizes = np.empty(MAX_SEGMENTS, np.float32)
    for i in range(corners.shape[0]):
        y, x = corners[i]
        if ptr[i] < ptr[i + 1]:
            _cut_patch(photo, y, x, patch, in_photo)
        for k in range(ptr[i], ptr[i + 1]):
            mask[:] = masks[ballots[k]]
            outline(mask, edge)
            n_segments = np.int64(mask.max()) + 1
            if passes > 0 and n_segments <= MAX_SEGMENTS:
                _mean_colours(patch, in_photo, mask, n_segments, lanes, colours, sizes)
                for _ in range(passes):
                    _sharpen(patch, pixels[: _outline_pixels(edge, in_photo, pixels)], colours, sizes, mask, old_mask)
                    outline(mask, edge)
            for pixel in pixels[: _outline_pixels(edge, in_photo, pixels)]:
                edges[y + pixel // SIDE, x + pixel % SIDE] += weights[k]
