"""Patches of photos: their features looked up in the channels, their segmentations cut out."""

import numpy as np

from dsna.extend.kernels import kernel

SIDE = 16  # of a mask
AREA = SIDE * SIDE


@kernel
def cut_masks(segmentation, centres, masks):
    """Fill ``masks`` (n, AREA) with the segmentation around each centre (y, x); segments numbered as they appear."""
    known = np.empty(AREA, segmentation.dtype)
    for i in range(centres.shape[0]):
        n = 0
        for a in range(SIDE):
            for b in range(SIDE):
                value = segmentation[centres[i, 0] - SIDE // 2 + a, centres[i, 1] - SIDE // 2 + b]
                k = 0
                while k < n and known[k] != value:
                    k += 1
                if k == n:
                    known[n] = value
                    n += 1
                masks[i, a * SIDE + b] = k


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
        found = edge[a * SIDE : (a + 1) * SIDE]
        found[0] |= np.uint8(row[0] != row[1])
        found[SIDE - 1] |= np.uint8(row[SIDE - 1] != row[SIDE - 2])
        for b in range(1, SIDE - 1):
            found[b] |= np.uint8((row[b] != row[b + 1]) | (row[b] != row[b - 1]))


@kernel
def outlines(masks, edges):
    """``outline`` of each row of ``masks`` into the rows of ``edges``."""
    for i in range(masks.shape[0]):
        outline(masks[i], edges[i])


@kernel
def feature(channels, at, first, second):
    """One feature of the patch at place ``at``: a pixel, or the difference of two (second >= 0)."""
    value = channels[at + first]
    if second >= 0:
        value -= channels[at + second]
    return value


@kernel
def look_up(channels, places, first, second, out):
    """Fill ``out`` (n, d) with features of the patches at ``places``."""
    for i in range(places.shape[0]):
        for f in range(first.shape[0]):
            out[i, f] = feature(channels, places[i], first[f], second[f])


@kernel
def look_up_bins(channels, places, first, second, low, step, out):
    """The same as bytes: how many steps above ``low`` a feature lies, from 0 to 255."""
    for i in range(places.shape[0]):
        for f in range(first.shape[0]):
            value = (feature(channels, places[i], first[f], second[f]) - low[f]) / step[f]
            out[i, f] = np.uint8(min(max(value, 0.0), 255.0))
