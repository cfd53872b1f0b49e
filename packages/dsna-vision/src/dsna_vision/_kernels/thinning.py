"""Thinning of binary maps to lines one pixel wide (Guo and Hall 1989, first algorithm)."""

import numpy as np

from dsna.extend.kernels import kernel


def _removable():
    """Whether a pixel goes, by half step (2) and neighbours (256: bit k is the one at k times 45 degrees)."""
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

    Each of the two half steps removes all its pixels at once.  Only pixels beside a removed one are looked at again.
    """
    width = mask.shape[1]
    flat = mask.reshape(mask.size)
    around = np.array([1, 1 - width, -width, -1 - width, -1, width - 1, width, width + 1])
    n = 0
    for p in range(flat.size):
        n += flat[p]
    look = np.empty((2, n), np.int64)  # what each half step has to look at
    size = np.zeros(2, np.int64)
    waits = np.zeros((2, flat.size), np.uint8)
    gone = np.empty(n, np.int64)
    for p in range(flat.size):
        if flat[p]:
            inside = 0
            for a in range(8):
                inside += flat[p + around[a]]
            if inside < 8:
                look[0, size[0]] = p
                size[0] += 1
                look[1, size[1]] = p
                size[1] += 1
                waits[0, p] = 1
                waits[1, p] = 1
    half = 0
    while size[0] + size[1] > 0:
        n_gone = 0
        for k in range(size[half]):
            p = look[half, k]
            waits[half, p] = 0
            if flat[p]:
                code = np.int64(0)
                for a in range(8):
                    code += np.int64(flat[p + around[a]]) << a
                if _REMOVABLE[half, code]:
                    gone[n_gone] = p
                    n_gone += 1
        size[half] = 0
        for k in range(n_gone):
            flat[gone[k]] = 0
        for k in range(n_gone):
            for a in range(8):
                p = gone[k] + around[a]
                if flat[p]:
                    for h in range(2):
                        if not waits[h, p]:
                            waits[h, p] = 1
                            look[h, size[h]] = p
                            size[h] += 1
        half = 1 - half
