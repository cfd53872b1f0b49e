"""Lines in the context of the whole photo: links between pixels, and merging of regions."""

import heapq

import numpy as np

from dsna.extend.kernels import kernel


@kernel
def link_pixels(lines, steps, softness, first, second, strength):
    """Links between pixels with weights exp(-line / softness), by the strongest line between them.

    Parameters
    ----------
    lines : float64 (height, width)
    steps : int64 (n_steps, 2); offsets (down, across) from a pixel to those that it is linked with.
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
    """Merge neighbouring regions, in ascending order of the mean strength of their border, until one is left.

    Parameters
    ----------
    ends : int64 (n_borders, 2); the two regions of each border; no two borders have the same regions.
    length : float64 (n_borders,)
    total : float64 (n_borders,); summed strengths of the border.
    size : float64 (n_regions,)
    colours : float64 (n_regions, n_colours); mean colours.
    out : float64 (n_borders, 5); when the regions on both sides of a border merge: the mean strength of the border
        between them, at least that of earlier merges; sizes of the smaller and of the larger region; distance of their
        colours; length of the border.

    ``ends``, ``length``, ``total``, ``size`` and ``colours`` are overwritten.
    """
    n_borders, n_regions = ends.shape[0], size.shape[0]
    # The borders of a region form a linked list of slots; each border has two slots, one for each of its regions.
    next_slot = np.full(2 * n_borders, -1, dtype=np.int64)
    head = np.full(n_regions, -1, dtype=np.int64)
    for slot in range(2 * n_borders):
        owner = ends[slot // 2, slot % 2]
        next_slot[slot] = head[owner]
        head[owner] = slot
    merged_into = np.arange(n_borders)  # the border that each one was merged into
    changed = np.zeros(n_borders, dtype=np.int64)
    border_with = np.full(n_regions, -1, dtype=np.int64)  # border between the merged region and each of its neighbours
    queue = [(total[k] / length[k], k, np.int64(0)) for k in range(n_borders)]
    heapq.heapify(queue)
    height = 0.0
    while len(queue) > 0:
        strength, border, version = heapq.heappop(queue)
        if merged_into[border] != border or changed[border] != version:
            continue
        height = max(height, strength)
        region, absorbed = ends[border, 0], ends[border, 1]
        squared_distance = 0.0
        for c in range(colours.shape[1]):
            squared_distance += (colours[region, c] - colours[absorbed, c]) ** 2
        out[border, 0] = height
        out[border, 1] = min(size[region], size[absorbed])
        out[border, 2] = max(size[region], size[absorbed])
        out[border, 3] = np.sqrt(squared_distance)
        out[border, 4] = length[border]
        changed[border] = -1  # no longer a border
        merged_size = size[region] + size[absorbed]
        for c in range(colours.shape[1]):
            colours[region, c] = (
                size[region] * colours[region, c] + size[absorbed] * colours[absorbed, c]
            ) / merged_size
        size[region] = merged_size
        slot, last_slot = head[region], np.int64(-1)
        head[region] = -1
        while slot >= 0:  # drop merged borders from the list
            neighbor_border, next_in_chain = slot // 2, next_slot[slot]
            if merged_into[neighbor_border] == neighbor_border and changed[neighbor_border] >= 0:
                border_with[ends[neighbor_border, 1 - slot % 2]] = neighbor_border
                head[region], last_slot = _append(next_slot, head[region], last_slot, slot)
            slot = next_in_chain
        slot = head[absorbed]
        while slot >= 0:
            neighbor_border, end, next_in_chain = slot // 2, slot % 2, next_slot[slot]
            if merged_into[neighbor_border] == neighbor_border and changed[neighbor_border] >= 0:
                joint_border = border_with[ends[neighbor_border, 1 - end]]
                if joint_border >= 0:
                    length[joint_border] += length[neighbor_border]
                    total[joint_border] += total[neighbor_border]
                    merged_into[neighbor_border] = joint_border
                    changed[joint_border] += 1
                    heapq.heappush(
                        queue, (total[joint_border] / length[joint_border], joint_border, changed[joint_border])
                    )
                else:
                    ends[neighbor_border, end] = region
                    head[region], last_slot = _append(next_slot, head[region], last_slot, slot)
            slot = next_in_chain
        slot = head[region]
        while slot >= 0:
            border_with[ends[slot // 2, 1 - slot % 2]] = -1
            slot = next_slot[slot]
    for k in range(n_borders):
        root = k
        while merged_into[root] != root:
            root = merged_into[root]
        out[k] = out[root]


@kernel
def _append(next_slot, head, last_slot, slot):
    """Append a slot to a linked list; return its head and last slot."""
    next_slot[slot] = -1
    if last_slot < 0:
        return slot, slot
    next_slot[last_slot] = slot
    return head, slot
