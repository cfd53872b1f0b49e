"""Lines seen from the whole photo: which pixels belong together, and at which height regions merge."""

import heapq

import numpy as np

from dsna.extend.kernels import kernel


@kernel
def link_pixels(lines, steps, softness, first, second, strength):
    """Links between pixels, weaker the stronger the strongest line between them: exp(-line / softness).

    Parameters
    ----------
    lines : float64 (height, width)
    steps : int64 (n_steps, 2); down and across, from a pixel to the ones that it is linked with.
    softness : float64
    first, second : int32 (height * width * n_steps,); numbers of linked pixels, row by row.
    strength : float64, of the same shape

    Returns
    -------
    int64
        Number of links.
    """
    height, width = lines.shape
    n = 0
    for y in range(height):
        for x in range(width):
            for k in range(steps.shape[0]):
                down, across = steps[k, 0], steps[k, 1]
                if y + down < 0 or y + down >= height or x + across < 0 or x + across >= width:
                    continue
                length = max(abs(down), abs(across))
                strongest = 0.0
                for s in range(length + 1):
                    row = y + (2 * s * down + length) // (2 * length)
                    column = x + (2 * s * across + length) // (2 * length)
                    strongest = max(strongest, lines[row, column])
                first[n] = y * width + x
                second[n] = (y + down) * width + x + across
                strength[n] = np.exp(-strongest / softness)
                n += 1
    return n


@kernel
def merge_regions(ends, length, total, size, colours, out):
    """Merge neighbouring regions, those first whose common border is the weakest on average, until one is left.

    Parameters
    ----------
    ends : int64 (n_borders, 2); the two regions of each border; no two borders have the same.
    length : float64 (n_borders,)
    total : float64 (n_borders,); strengths of the border, added up.
    size : float64 (n_regions,)
    colours : float64 (n_regions, n_colours); means.
    out : float64 (n_borders, 5); when the regions merge that a border is between: the strength of all that is between
        them, never less than that of earlier ones; sizes of the smaller and of the larger; how far their colours are
        apart; length of what is between them.

    ``length``, ``total``, ``size`` and ``colours`` are used up.
    """
    n_borders, n_regions = ends.shape[0], size.shape[0]
    # Borders of a region: a chain through slots, two for each border, one for each end.
    after = np.full(2 * n_borders, -1, dtype=np.int64)
    head = np.full(n_regions, -1, dtype=np.int64)
    for slot in range(2 * n_borders):
        region = ends[slot // 2, slot % 2]
        after[slot] = head[region]
        head[region] = slot
    became = np.arange(n_borders)  # the border that one was joined to
    changed = np.zeros(n_borders, dtype=np.int64)
    meets = np.full(n_regions, -1, dtype=np.int64)  # border between the region kept and each of its neighbours
    waiting = [(total[k] / length[k], k, np.int64(0)) for k in range(n_borders)]
    heapq.heapify(waiting)
    height = 0.0
    while len(waiting) > 0:
        strength, border, version = heapq.heappop(waiting)
        if became[border] != border or changed[border] != version:
            continue
        height = max(height, strength)
        kept, gone = ends[border, 0], ends[border, 1]
        apart = 0.0
        for c in range(colours.shape[1]):
            apart += (colours[kept, c] - colours[gone, c]) ** 2
        out[border, 0] = height
        out[border, 1] = min(size[kept], size[gone])
        out[border, 2] = max(size[kept], size[gone])
        out[border, 3] = np.sqrt(apart)
        out[border, 4] = length[border]
        changed[border] = -1  # it is no border any more
        both = size[kept] + size[gone]
        for c in range(colours.shape[1]):
            colours[kept, c] = (size[kept] * colours[kept, c] + size[gone] * colours[gone, c]) / both
        size[kept] = both
        slot, last = head[kept], np.int64(-1)
        head[kept] = -1
        while slot >= 0:  # what is no border any more leaves the chain
            one, following = slot // 2, after[slot]
            if became[one] == one and changed[one] >= 0:
                meets[ends[one, 1 - slot % 2]] = one
                head[kept], last = _append(after, head[kept], last, slot)
            slot = following
        slot = head[gone]
        while slot >= 0:
            one, side, following = slot // 2, slot % 2, after[slot]
            if became[one] == one and changed[one] >= 0:
                twin = meets[ends[one, 1 - side]]
                if twin >= 0:
                    length[twin] += length[one]
                    total[twin] += total[one]
                    became[one] = twin
                    changed[twin] += 1
                    heapq.heappush(waiting, (total[twin] / length[twin], twin, changed[twin]))
                else:
                    ends[one, side] = kept
                    head[kept], last = _append(after, head[kept], last, slot)
            slot = following
        slot = head[kept]
        while slot >= 0:
            meets[ends[slot // 2, 1 - slot % 2]] = -1
            slot = after[slot]
    for k in range(n_borders):
        root = k
        while became[root] != root:
            root = became[root]
        out[k] = out[root]


@kernel
def _append(after, head, last, slot):
    """Head and end of a chain that a slot is added to."""
    after[slot] = -1
    if last < 0:
        return slot, slot
    after[last] = slot
    return head, slot
