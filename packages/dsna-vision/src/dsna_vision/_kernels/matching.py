"""One-to-one matching of boundary pixels: as many pairs as possible, at the smallest total distance.

Predicted pixels are the rows, true pixels the columns of an assignment problem.  A row may also stay unmatched, at a
cost above the sum of all distances.  Dual prices u of rows and v of columns certify that an assignment is optimal:
length - u - v is never negative and is zero for pairs, u of an unmatched row is the cost of leaving it unmatched, and
v of a free column is zero.

From one threshold to the next few pixels change, so the assignment is updated: for each added row, and for each column
whose row is removed, Dijkstra's algorithm finds the cheapest augmenting path.
"""

import numpy as np

from dsna.extend.kernels import kernel

from .thinning import thin

ALONE = 1 << 44  # cost of an unmatched row
ABSENT = -2  # partner of a pixel that is not predicted; the partner of an unmatched row is -1
_FAR = 1 << 60


@kernel
def _decrease_key(heap, heap_index, distance, size, column):
    """Move a column whose distance has decreased up the heap, inserting it if it is new; return the heap's size."""
    slot = heap_index[column]
    if slot < 0:
        slot = size
        size += 1
    while slot > 0:
        parent = heap[(slot - 1) >> 1]
        if distance[parent] <= distance[column]:
            break
        heap[slot] = parent
        heap_index[parent] = slot
        slot = (slot - 1) >> 1
    heap[slot] = column
    heap_index[column] = slot
    return size


@kernel
def _pop_nearest(heap, heap_index, distance, size, settled, n_settled):
    """Move the nearest column from the heap to the settled columns; return it and its distance."""
    nearest = heap[0]
    heap_index[nearest] = -1
    settled[n_settled] = nearest
    last_slot = size - 1
    column = heap[last_slot]
    slot = np.int64(0)
    while 2 * slot + 1 < last_slot:
        child = 2 * slot + 1
        if child + 1 < last_slot and distance[heap[child + 1]] < distance[heap[child]]:
            child += 1
        if distance[heap[child]] >= distance[column]:
            break
        heap[slot] = heap[child]
        heap_index[heap[slot]] = slot
        slot = child
    if last_slot > 0:
        heap[slot] = column
        heap_index[column] = slot
    return nearest, distance[nearest]


@kernel
def _match_new_row(new_row, index, steps, lengths, u, partner, v, owner, distance, before, heap, heap_index, settled):
    """Match a new row; return the row that is left unmatched, possibly the new one, or -1."""
    u[new_row] = 0
    best = np.int64(ALONE)
    end, end_row, unmatched_row = np.int64(-1), np.int64(-1), new_row
    size, n_settled = np.int64(0), np.int64(0)
    row, base = new_row, np.int64(0)
    while True:
        for k in range(steps.size):
            column = np.int64(index[row + steps[k]])
            if column < 0:
                continue
            length = base + lengths[k] - u[row] - v[column]
            if length >= best or length >= distance[column]:
                continue
            if owner[column] < 0:
                best, end, end_row = length, column, row
            else:
                distance[column] = length
                before[column] = row
                size = _decrease_key(heap, heap_index, distance, size, column)
        if size == 0 or distance[heap[0]] >= best:
            break
        column, base = _pop_nearest(heap, heap_index, distance, size, settled, n_settled)
        size -= 1
        n_settled += 1
        row = owner[column]
        if base + ALONE - u[row] < best:
            best, end, unmatched_row = base + ALONE - u[row], np.int64(-1), row
    u[new_row] += best
    for k in range(n_settled):
        column = settled[k]
        v[column] -= best - distance[column]
        u[owner[column]] += best - distance[column]
        distance[column] = _FAR
    for k in range(size):
        distance[heap[k]] = _FAR
        heap_index[heap[k]] = -1
    column, row = end, end_row
    if end < 0:
        column = np.int64(partner[unmatched_row]) if unmatched_row != new_row else np.int64(-1)
        partner[unmatched_row] = -1
        row = before[column] if column >= 0 else new_row
    while column >= 0:
        owner[column] = row
        previous_column = np.int64(partner[row]) if row != new_row else np.int64(-1)
        partner[row] = column
        column = previous_column
        row = before[column] if column >= 0 else new_row
    return unmatched_row if end < 0 else np.int64(-1)


@kernel
def _use_free_column(
    free_column, positions, steps, lengths, u, partner, v, owner, distance, before, heap, heap_index, settled
):
    """Match a column that became free; return the row that is no longer unmatched, or -1."""
    best = -v[free_column]
    end, row = free_column, np.int64(-1)  # the column that remains free, or the one that ``row`` takes
    size, n_settled = np.int64(0), np.int64(0)
    column, base = free_column, np.int64(0)
    while True:
        for k in range(steps.size):
            candidate_row = positions[column] + steps[k]
            if partner[candidate_row] == ABSENT:
                continue
            length = base + lengths[k] - u[candidate_row] - v[column]
            if length >= best:
                continue
            partner_column = np.int64(partner[candidate_row])
            if partner_column < 0:
                best, end, row = length, column, candidate_row
            elif length < distance[partner_column]:
                distance[partner_column] = length
                before[partner_column] = column
                size = _decrease_key(heap, heap_index, distance, size, partner_column)
        if size == 0 or distance[heap[0]] >= best:
            break
        column, base = _pop_nearest(heap, heap_index, distance, size, settled, n_settled)
        size -= 1
        n_settled += 1
        if base - v[column] < best:
            best, end, row = base - v[column], column, np.int64(-1)
    v[free_column] += best
    for k in range(n_settled):
        column = settled[k]
        v[column] += best - distance[column]
        u[owner[column]] -= best - distance[column]
        distance[column] = _FAR
    for k in range(size):
        distance[heap[k]] = _FAR
        heap_index[heap[k]] = -1
    column, candidate_row = end, row
    if row < 0 and end != free_column:
        candidate_row = owner[end]
        owner[end] = -1
        column = before[end]
    while candidate_row >= 0:
        previous_row = owner[column]
        owner[column] = candidate_row
        partner[candidate_row] = column
        if column == free_column:
            break
        candidate_row = previous_row
        column = before[column]
    return row


@kernel
def rematch(removed, added, index, positions, steps, lengths, u, partner, v, owner, hits):
    """Update an assignment for removed and added rows; return the changes in the numbers of pairs and of rows hit.

    Parameters
    ----------
    removed, added : rows, as positions in flat maps.
    index : (P,) int32, number of the true pixel at each position, or -1.
    positions : (n,) position of each true pixel.
    steps, lengths : offsets to all positions within reach, and their distances as integers.
    u, partner : (P,) int64 and int32, price and column of each row; ABSENT where there is no row.
    v, owner : (n,) price and row of each column, -1 if it has no row.
    hits : (P,) number of annotators that match a row; updated.
    """
    n = positions.size
    distance = np.empty(n, np.int64)
    before = np.empty(n, np.int64)
    heap = np.empty(n, np.int64)
    heap_index = np.empty(n, np.int64)
    settled = np.empty(n, np.int64)
    for column in range(n):
        distance[column] = _FAR
        heap_index[column] = -1
    pairs, any_hit, n_free = np.int64(0), np.int64(0), np.int64(0)
    freed = np.empty(removed.size, np.int64)
    for pixel in removed:
        if partner[pixel] >= 0:
            freed[n_free] = partner[pixel]
            n_free += 1
            owner[partner[pixel]] = -1
            pairs -= 1
            hits[pixel] -= 1
            any_hit -= hits[pixel] == 0
        partner[pixel] = ABSENT
    # Rows whose nearest column is free are matched first, without a search.
    postponed = np.empty(added.size, np.int64)
    n_postponed = np.int64(0)
    for pixel in added:
        best, nearest = np.int64(ALONE), np.int64(-1)
        for k in range(steps.size):
            j = np.int64(index[pixel + steps[k]])
            if j >= 0:
                d = lengths[k] - v[j]
                if d < best or (d == best and nearest >= 0 and owner[nearest] >= 0):
                    best, nearest = d, j
        if nearest >= 0 and owner[nearest] < 0:
            u[pixel] = best
            partner[pixel] = nearest
            owner[nearest] = pixel
            pairs += 1
            hits[pixel] += 1
            any_hit += hits[pixel] == 1
        else:
            postponed[n_postponed] = pixel
            n_postponed += 1
    for pixel in postponed[:n_postponed]:
        row = _match_new_row(
            pixel, index, steps, lengths, u, partner, v, owner, distance, before, heap, heap_index, settled
        )
        if row != pixel:
            hits[pixel] += 1
            any_hit += hits[pixel] == 1
            if row >= 0:
                hits[row] -= 1
                any_hit -= hits[row] == 0
            else:
                pairs += 1
    for j in freed[:n_free]:
        if owner[j] < 0 and v[j] < 0:
            row = _use_free_column(
                j, positions, steps, lengths, u, partner, v, owner, distance, before, heap, heap_index, settled
            )
            if row >= 0:
                pairs += 1
                hits[row] += 1
                any_hit += hits[row] == 1
    return pairs, any_hit


@kernel
def count_matches(values, truths, thresholds, thinning, margin, steps, lengths, counts):
    """Count matched pixels at each threshold.

    Parameters
    ----------
    values : (H, W) float64, zero within ``margin`` of the border; positive values of at least the threshold are
        boundary.
    truths : (A, H, W) uint8, zero or one, from each annotator, also zero within the margin.
    thresholds : (K,) in ascending order.
    thinning : whether to thin the boundary first.
    margin : at least 1 and at least the longest step.
    steps, lengths : see :func:`rematch`.
    counts : (K, 3), filled with matched true pixels, over all annotators; predicted pixels matched to any annotator;
        predicted pixels.
    """
    n_pixels = values.size
    flat = values.reshape(n_pixels)
    n_truths = truths.shape[0]
    index = np.empty((n_truths, n_pixels), np.int32)
    partner = np.empty((n_truths, n_pixels), np.int32)
    u = np.empty((n_truths, n_pixels), np.int64)
    first = np.zeros(n_truths + 1, np.int64)
    positions = np.empty(np.count_nonzero(truths), np.int64)
    n = np.int64(0)
    for annotator in range(n_truths):
        truth = truths[annotator].reshape(n_pixels)
        for pixel in range(n_pixels):
            partner[annotator, pixel] = ABSENT
            index[annotator, pixel] = -1
            if truth[pixel]:
                index[annotator, pixel] = n - first[annotator]
                positions[n] = pixel
                n += 1
        first[annotator + 1] = n
    v = np.zeros(n, np.int64)
    owner = np.empty(n, np.int64)
    for j in range(n):
        owner[j] = -1
    hits = np.zeros(n_pixels, np.int64)
    previous = np.zeros(n_pixels, np.uint8)
    removed = np.empty(n_pixels, np.int64)
    added = np.empty(n_pixels, np.int64)
    mask = np.empty(values.shape, np.uint8)
    flat_mask = mask.reshape(n_pixels)
    matched, any_hit, predicted, previous_n_above = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for k in range(thresholds.size - 1, -1, -1):
        n_above = np.int64(0)
        for pixel in range(n_pixels):
            flat_mask[pixel] = flat[pixel] >= thresholds[k] and flat[pixel] > 0.0
            n_above += flat_mask[pixel]
        if n_above != previous_n_above:  # otherwise the map has not changed
            previous_n_above = n_above
            if thinning:
                thin(mask)
            n_removed, n_added = np.int64(0), np.int64(0)
            for pixel in range(n_pixels):
                if flat_mask[pixel] != previous[pixel]:
                    if flat_mask[pixel]:
                        added[n_added] = pixel
                        n_added += 1
                    else:
                        removed[n_removed] = pixel
                        n_removed += 1
                    previous[pixel] = flat_mask[pixel]
            predicted += n_added - n_removed
            for annotator in range(n_truths):
                start, stop = first[annotator], first[annotator + 1]
                rows, columns = (
                    (removed[:n_removed], added[:n_added], index[annotator]),
                    (v[start:stop], owner[start:stop], hits),
                )
                pairs, any_hit_change = rematch(
                    *rows, positions[start:stop], steps, lengths, u[annotator], partner[annotator], *columns
                )
                matched += pairs
                any_hit += any_hit_change
        counts[k, 0] = matched
        counts[k, 1] = any_hit
        counts[k, 2] = predicted
