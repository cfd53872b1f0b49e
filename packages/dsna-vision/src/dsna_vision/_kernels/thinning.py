"""Thinning of binary maps to lines one pixel wide (Guo and Hall 1989, first algorithm)."""

import numpy as np

from dsna.extend.kernels import kernel


def _removable():
    """Whether a pixel is removed, by half step (2) and neighbours (256: bit k is the one at k times 45 degrees)."""
    table = np.zeros((2, 256), np.uint8)
    for code in range(256):
        x = [bool(code >> k & 1) for k in range(8)]
        crossings = sum(not x[k] and (x[k + 1] or x[(k + 2) % 8]) for k in (0, 2, 4, 6))
        pairs = min(sum(x[k] or x[k + 1] for k in (0, 2, 4, 6)), sum(x[k + 1] or x[(k + 2) % 8] for k in (0, 2, 4, 6)))
        if crossings == 1 and 2 <= pairs <= 3:
            table[0, code] = not ((x[1] or x[2] or not x[7]) and x[0])
            table[1, code] = not ((x[5] or x[6] or not x[3]) and x[4])
    return table


_REMOVABLE = _removable()


@kernel
def thin(mask):
    """Thin ``mask`` in place until nothing changes: (H, W) uint8 of zeros and ones whose outermost pixels are zero.

    Each of the two half steps removes its pixels simultaneously.  Only neighbours of removed pixels are checked again.
    """
    width = mask.shape[1]
    flat = mask.reshape(mask.size)
    neighbor_steps = np.array([1, 1 - width, -width, -1 - width, -1, width - 1, width, width + 1])
    n = 0
    for p in range(flat.size):
        n += flat[p]
    queue = np.empty((2, n), np.int64)  # pixels that each half step has to check
    size = np.zeros(2, np.int64)
    is_queued = np.zeros((2, flat.size), np.uint8)
    removed = np.empty(n, np.int64)
    for p in range(flat.size):
        if flat[p]:
            n_neighbors = 0
            for direction in range(8):
                n_neighbors += flat[p + neighbor_steps[direction]]
            if n_neighbors < 8:
                queue[0, size[0]] = p
                size[0] += 1
                queue[1, size[1]] = p
                size[1] += 1
                is_queued[0, p] = 1
                is_queued[1, p] = 1
    half_step = 0
    while size[0] + size[1] > 0:
        n_removed = 0
        for k in range(size[half_step]):
            p = queue[half_step, k]
            is_queued[half_step, p] = 0
            if flat[p]:
                code = np.int64(0)
                for direction in range(8):
                    code += np.int64(flat[p + neighbor_steps[direction]]) << direction
                if _REMOVABLE[half_step, code]:
                    removed[n_removed] = p
                    n_removed += 1
        size[half_step] = 0
        for k in range(n_removed):
            flat[removed[k]] = 0
        for k in range(n_removed):
            for direction in range(8):
                p = removed[k] + neighbor_steps[direction]
                if flat[p]:
                    for step in range(2):
                        if not is_queued[step, p]:
                            is_queued[step, p] = 1
                            queue[step, size[step]] = p
                            size[step] += 1
        half_step = 1 - half_step
