"""Patches of photos: lookup of features in the channels, and extraction of masks from segmentations."""

import numpy as np

from dsna.extend.kernels import kernel

SIDE = 16  # side of a mask in pixels
AREA = SIDE * SIDE


@kernel
def cut_masks(segmentation, centres, masks):
    """Fill ``masks`` (n, AREA) with the segmentation around each centre (y, x), renumbered in order of appearance."""
    segment_values = np.empty(AREA, segmentation.dtype)
    for i in range(centres.shape[0]):
        n = 0
        for a in range(SIDE):
            for b in range(SIDE):
                value = segmentation[centres[i, 0] - SIDE // 2 + a, centres[i, 1] - SIDE // 2 + b]
                segment = 0
                while segment < n and segment_values[segment] != value:
                    segment += 1
                if segment == n:
                    segment_values[n] = value
                    n += 1
                masks[i, a * SIDE + b] = segment


@kernel
def outline(mask, edge):
    """Fill ``edge`` (AREA,) with 1 where a pixel touches another segment, 0 elsewhere."""
    for p in range(SIDE):
        edge[p] = mask[p] != mask[p + SIDE]
        edge[p + AREA - SIDE] = mask[p + AREA - SIDE] != mask[p + AREA - 2 * SIDE]
    for p in range(SIDE, AREA - SIDE):
        edge[p] = (mask[p] != mask[p + SIDE]) | (mask[p] != mask[p - SIDE])
    for a in range(SIDE):
        row = mask[a * SIDE : (a + 1) * SIDE]
        row_edge = edge[a * SIDE : (a + 1) * SIDE]
        row_edge[0] |= np.uint8(row[0] != row[1])
        row_edge[SIDE - 1] |= np.uint8(row[SIDE - 1] != row[SIDE - 2])
        for b in range(1, SIDE - 1):
            row_edge[b] |= np.uint8((row[b] != row[b + 1]) | (row[b] != row[b - 1]))


@kernel
def outlines(masks, edges):
    """Fill each row of ``edges`` with the ``outline`` of a row of ``masks``."""
    for i in range(masks.shape[0]):
        outline(masks[i], edges[i])


@kernel
def feature(channels, start, first, second):
    """One feature of the patch that starts at ``start``: a pixel, or the difference of two (second >= 0)."""
    value = channels[start + first]
    if second >= 0:
        value -= channels[start + second]
    return value


@kernel
def look_up(channels, starts, first, second, out):
    """Fill ``out`` (n, d) with features of the patches at ``starts``."""
    for i in range(starts.shape[0]):
        for f in range(first.shape[0]):
            out[i, f] = feature(channels, starts[i], first[f], second[f])


@kernel
def look_up_bins(channels, starts, first, second, low, step, out):
    """Fill ``out`` (n, d) with features as bytes: the number of steps above ``low``, from 0 to 255."""
    for i in range(starts.shape[0]):
        for f in range(first.shape[0]):
            value = (feature(channels, starts[i], first[f], second[f]) - low[f]) / step[f]
            out[i, f] = np.uint8(min(max(value, 0.0), 255.0))
