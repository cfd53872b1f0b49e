"""Area opening: peaks are lowered until they are large enough (union-find of Meijster and Wilkinson, PAMI 2002)."""

import numpy as np

from dsna.extend.kernels import kernel


@kernel
def open_area(values, order, area, opened):
    """Lower each pixel to the highest level at which its 8-connected component has ``area`` pixels.

    ``order`` holds the flat indices of the positive pixels of ``values`` (H, W), highest first.  ``opened`` (H, W)
    holds zeros and receives the result, which is 0 where components are too small at every level.
    """
    height, width = values.shape
    flat, result = values.reshape(values.size), opened.reshape(opened.size)
    rank = np.full(flat.size, -1, np.int32)
    parent = np.empty(order.size, np.int32)
    size = np.ones(order.size, np.int32)
    for k in range(order.size):
        p = order[k]
        level, y, x = flat[p], p // width, p % width
        parent[k] = k
        rank[p] = k
        for row in range(max(0, y - 1), min(height, y + 2)):
            for column in range(max(0, x - 1), min(width, x + 2)):
                r = rank[row * width + column]
                if r < 0:
                    continue
                root = r
                while parent[root] != root:
                    root = parent[root]
                while parent[r] != root:
                    parent[r], r = root, parent[r]
                if root == k:
                    continue
                if size[root] < area or flat[order[root]] == level:
                    parent[root] = k
                    size[k] = min(area, size[k] + size[root])
                else:
                    size[k] = area
    for k in range(order.size - 1, -1, -1):
        if parent[k] != k:
            result[order[k]] = result[order[parent[k]]]
        elif size[k] >= area:
            result[order[k]] = flat[order[k]]
