"""Boundary pixels matched one to one: as many as possible, and then as near as possible.

Predicted pixels are rows, true pixels columns of an assignment problem.  A row may also stay alone, at a price above
all distances together.  Prices u of rows and v of columns certify that an assignment is the best: length - u - v is
never negative and is zero for pairs, u of a row that is alone is the price of that, v of a free column is zero.

From one threshold to the next few pixels change, so the assignment is not made anew but mended: for a row that comes,
and for a column whose row goes, Dijkstra's algorithm finds the cheapest chain of exchanges.
"""

import numpy as np

from dsna.extend.kernels import kernel

from .thinning import thin

ALONE = 1 << 44
ABSENT = -2  # partner of a pixel that is not predicted; -1 is that of a row which stays alone
_FAR = 1 << 60


@kernel
def _lower(heap, place, distance, size, j):
    """Move column j, whose distance has become less, up the heap; enter it if it is new.  Returns the heap's size."""
    k = place[j]
    if k < 0:
        k = size
        size += 1
    while k > 0:
        above = heap[(k - 1) >> 1]
        if distance[above] <= distance[j]:
            break
        heap[k] = above
        place[above] = k
        k = (k - 1) >> 1
    heap[k] = j
    place[j] = k
    return size


@kernel
def _settle(heap, place, distance, size, settled, n_settled):
    """Move the nearest column from the heap of this size to those that are settled.  Returns it and its distance."""
    nearest = heap[0]
    place[nearest] = -1
    settled[n_settled] = nearest
    last = size - 1
    j = heap[last]
    k = np.int64(0)
    while 2 * k + 1 < last:
        below = 2 * k + 1
        if below + 1 < last and distance[heap[below + 1]] < distance[heap[below]]:
            below += 1
        if distance[heap[below]] >= distance[j]:
            break
        heap[k] = heap[below]
        place[heap[k]] = k
        k = below
    if last > 0:
        heap[k] = j
        place[j] = k
    return nearest, distance[nearest]


@kernel
def _enter(p, index, steps, lengths, u, partner, v, owner, distance, before, heap, place, settled):
    """Find the best place for the new row p.  Returns the row that is alone for it, maybe p itself, or -1."""
    u[p] = 0
    best = np.int64(ALONE)
    end, end_row, leaver = np.int64(-1), np.int64(-1), p
    size, n_settled = np.int64(0), np.int64(0)
    i, base = p, np.int64(0)
    while True:
        for k in range(steps.size):
            j = np.int64(index[i + steps[k]])
            if j < 0:
                continue
            d = base + lengths[k] - u[i] - v[j]
            if d >= best or d >= distance[j]:
                continue
            if owner[j] < 0:
                best, end, end_row = d, j, i
            else:
                distance[j] = d
                before[j] = i
                size = _lower(heap, place, distance, size, j)
        if size == 0 or distance[heap[0]] >= best:
            break
        j, base = _settle(heap, place, distance, size, settled, n_settled)
        size -= 1
        n_settled += 1
        i = owner[j]
        if base + ALONE - u[i] < best:
            best, end, leaver = base + ALONE - u[i], np.int64(-1), i
    u[p] += best
    for k in range(n_settled):
        j = settled[k]
        v[j] -= best - distance[j]
        u[owner[j]] += best - distance[j]
        distance[j] = _FAR
    for k in range(size):
        distance[heap[k]] = _FAR
        place[heap[k]] = -1
    j, i = end, end_row
    if end < 0:
        j = np.int64(partner[leaver]) if leaver != p else np.int64(-1)
        partner[leaver] = -1
        i = before[j] if j >= 0 else p
    while j >= 0:
        owner[j] = i
        left = np.int64(partner[i]) if i != p else np.int64(-1)
        partner[i] = j
        j = left
        i = before[j] if j >= 0 else p
    return leaver if end < 0 else np.int64(-1)


@kernel
def _fill(free, spots, steps, lengths, u, partner, v, owner, distance, before, heap, place, settled):
    """Find the best use for a column that became free.  Returns the row that is alone no longer, or -1."""
    best = -v[free]
    end, row = free, np.int64(-1)  # the column that stays free; or the one that the row takes
    size, n_settled = np.int64(0), np.int64(0)
    j, base = free, np.int64(0)
    while True:
        for k in range(steps.size):
            i = spots[j] + steps[k]
            if partner[i] == ABSENT:
                continue
            d = base + lengths[k] - u[i] - v[j]
            if d >= best:
                continue
            other = np.int64(partner[i])
            if other < 0:
                best, end, row = d, j, i
            elif d < distance[other]:
                distance[other] = d
                before[other] = j
                size = _lower(heap, place, distance, size, other)
        if size == 0 or distance[heap[0]] >= best:
            break
        j, base = _settle(heap, place, distance, size, settled, n_settled)
        size -= 1
        n_settled += 1
        if base - v[j] < best:
            best, end, row = base - v[j], j, np.int64(-1)
    v[free] += best
    for k in range(n_settled):
        j = settled[k]
        v[j] += best - distance[j]
        u[owner[j]] -= best - distance[j]
        distance[j] = _FAR
    for k in range(size):
        distance[heap[k]] = _FAR
        place[heap[k]] = -1
    j, i = end, row
    if row < 0 and end != free:
        i = owner[end]
        owner[end] = -1
        j = before[end]
    while i >= 0:
        left = owner[j]
        owner[j] = i
        partner[i] = j
        if j == free:
            break
        i = left
        j = before[j]
    return row


@kernel
def rematch(gone, come, index, spots, steps, lengths, u, partner, v, owner, hits):
    """Mend an assignment after rows went and came.  Returns by how many the pairs, and the rows ever hit, increased.

    Parameters
    ----------
    gone, come : rows, as places in flat maps.
    index : (P,) int32, number of the true pixel at each place, or -1.
    spots : (n,) place of each true pixel.
    steps, lengths : what to add to a place to come to those within reach, and how far that is, in whole units.
    u, partner : (P,) int64 and int32, price and column of each row; ABSENT where no row is.
    v, owner : (n,) price and row of each column, -1 where it has none.
    hits : (P,) how many annotators match a row; kept up to date.
    """
    n = spots.size
    distance = np.empty(n, np.int64)
    before = np.empty(n, np.int64)
    heap = np.empty(n, np.int64)
    place = np.empty(n, np.int64)
    settled = np.empty(n, np.int64)
    for column in range(n):
        distance[column] = _FAR
        place[column] = -1
    pairs, any_hit, n_free = np.int64(0), np.int64(0), np.int64(0)
    freed = np.empty(gone.size, np.int64)
    for p in gone:
        if partner[p] >= 0:
            freed[n_free] = partner[p]
            n_free += 1
            owner[partner[p]] = -1
            pairs -= 1
            hits[p] -= 1
            any_hit -= hits[p] == 0
        partner[p] = ABSENT
    # Rows whose nearest column is free come first: the others then settle in one go.
    late = np.empty(come.size, np.int64)
    n_late = np.int64(0)
    for p in come:
        best, at = np.int64(ALONE), np.int64(-1)
        for k in range(steps.size):
            j = np.int64(index[p + steps[k]])
            if j >= 0:
                d = lengths[k] - v[j]
                if d < best or (d == best and at >= 0 and owner[at] >= 0):
                    best, at = d, j
        if at >= 0 and owner[at] < 0:
            u[p] = best
            partner[p] = at
            owner[at] = p
            pairs += 1
            hits[p] += 1
            any_hit += hits[p] == 1
        else:
            late[n_late] = p
            n_late += 1
    for p in late[:n_late]:
        row = _enter(p, index, steps, lengths, u, partner, v, owner, distance, before, heap, place, settled)
        if row != p:
            hits[p] += 1
            any_hit += hits[p] == 1
            if row >= 0:
                hits[row] -= 1
                any_hit -= hits[row] == 0
            else:
                pairs += 1
    for j in freed[:n_free]:
        if owner[j] < 0 and v[j] < 0:
            row = _fill(j, spots, steps, lengths, u, partner, v, owner, distance, before, heap, place, settled)
            if row >= 0:
                pairs += 1
                hits[row] += 1
                any_hit += hits[row] == 1
    return pairs, any_hit


@kernel
def count_matches(values, truths, thresholds, thinning, margin, steps, lengths, counts):
    """Count what is matched at each threshold.

    Parameters
    ----------
    values : (H, W) float64, zero within ``margin`` of the border; what is above zero and not below a threshold is
        boundary.
    truths : (A, H, W) uint8, zero or one, from each annotator, likewise zero within the margin.
    thresholds : (K,) rising.
    thinning : whether the boundary is thinned first.
    margin : at least 1 and at least the longest step.
    steps, lengths : as :func:`rematch` takes them.
    counts : (K, 3) filled with true pixels matched, over all annotators; predicted pixels that some annotator matches;
        predicted pixels.
    """
    n_places = values.size
    flat = values.reshape(n_places)
    n_truths = truths.shape[0]
    index = np.empty((n_truths, n_places), np.int32)
    partner = np.empty((n_truths, n_places), np.int32)
    u = np.empty((n_truths, n_places), np.int64)
    first = np.zeros(n_truths + 1, np.int64)
    spots = np.empty(np.count_nonzero(truths), np.int64)
    n = np.int64(0)
    for a in range(n_truths):
        truth = truths[a].reshape(n_places)
        for p in range(n_places):
            partner[a, p] = ABSENT
            index[a, p] = -1
            if truth[p]:
                index[a, p] = n - first[a]
                spots[n] = p
                n += 1
        first[a + 1] = n
    v = np.zeros(n, np.int64)
    owner = np.empty(n, np.int64)
    for j in range(n):
        owner[j] = -1
    hits = np.zeros(n_places, np.int64)
    previous = np.zeros(n_places, np.uint8)
    gone = np.empty(n_places, np.int64)
    come = np.empty(n_places, np.int64)
    mask = np.empty(values.shape, np.uint8)
    line = mask.reshape(n_places)
    matched, any_hit, predicted, above = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for k in range(thresholds.size - 1, -1, -1):
        n_above = np.int64(0)
        for p in range(n_places):
            line[p] = flat[p] >= thresholds[k] and flat[p] > 0.0
            n_above += line[p]
        if n_above != above:  # otherwise the map is the same
            above = n_above
            if thinning:
                thin(mask)
            n_gone, n_come = np.int64(0), np.int64(0)
            for p in range(n_places):
                if line[p] != previous[p]:
                    if line[p]:
                        come[n_come] = p
                        n_come += 1
                    else:
                        gone[n_gone] = p
                        n_gone += 1
                    previous[p] = line[p]
            predicted += n_come - n_gone
            for a in range(n_truths):
                b, e = first[a], first[a + 1]
                rows, columns = (gone[:n_gone], come[:n_come], index[a]), (v[b:e], owner[b:e], hits)
                pairs, more = rematch(*rows, spots[b:e], steps, lengths, u[a], partner[a], *columns)
                matched += pairs
                any_hit += more
        counts[k, 0] = matched
        counts[k, 1] = any_hit
        counts[k, 2] = predicted
