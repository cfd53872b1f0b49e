"""Boundary pixels of two maps matched one to one: as many as possible, and then as near as possible."""

import numpy as np

from .jit import kernel
from .thinning import thin

_UNIT = 1e6  # whole numbers stand for distances: ties are ties, and sums do not round
_ALONE = 1 << 44  # price of a pixel without a partner: more than all distances of a map together
_BIDS = 4  # in the auction, for each row that takes part


@kernel
def offsets(reach):
    """Steps (dy, dx) no longer than ``reach``, shortest first, and their lengths in millionths."""
    r = np.int64(reach)
    steps = np.empty(((2 * r + 1) ** 2, 2), np.int64)
    square = np.empty((2 * r + 1) ** 2)
    n = 0
    for dy in range(-r, r + 1):
        for dx in range(-r, r + 1):
            if dy * dy + dx * dx <= reach * reach:
                steps[n, 0] = dy
                steps[n, 1] = dx
                square[n] = dy * dy + dx * dx
                n += 1
    order = np.argsort(square[:n], kind="mergesort")
    return steps[order], np.rint(_UNIT * np.sqrt(square[order])).astype(np.int64)


@kernel
def _push(keys, items, size, key, item):
    k = size
    while k > 0 and keys[(k - 1) >> 1] > key:
        keys[k] = keys[(k - 1) >> 1]
        items[k] = items[(k - 1) >> 1]
        k = (k - 1) >> 1
    keys[k] = key
    items[k] = item


@kernel
def _pop(keys, items, size):
    """Remove the smallest of ``size`` entries."""
    last = size - 1
    key = keys[last]
    item = items[last]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= last:
            break
        if child + 1 < last and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[k] = keys[child]
        items[k] = items[child]
        k = child
    keys[k] = key
    items[k] = item


@kernel
def assign(begin, column, cost, n_columns):
    """Column of each row, -1 where it has none: the most pairs possible and, of these, the least total cost.

    Parameters
    ----------
    begin, column, cost : the pairs allowed, row after row; ``cost`` is not negative.

    Notes
    -----
    Each row may also stay alone, at a price above all costs.  Prices u of rows and v of columns certify the optimum:
    cost - u - v is never negative, is zero for pairs, and columns without a partner have v = 0.  Most rows find
    their partner in an auction; for each of the others Dijkstra's algorithm finds the cheapest chain of exchanges.
    """
    n = begin.size - 1
    partner = np.full(n, np.int64(-1))
    owner = np.full(n_columns, np.int64(-1))
    u = np.empty(n, np.int64)
    v = np.zeros(n_columns, np.int64)
    rest = np.empty(n, np.int64)
    n_rest = 0
    for i in range(n):
        u[i] = _ALONE
        for k in range(begin[i], begin[i + 1]):
            u[i] = min(u[i], cost[k])
        for k in range(begin[i], begin[i + 1]):
            if cost[k] == u[i] and owner[column[k]] < 0:
                owner[column[k]] = i
                partner[i] = column[k]
                break
        if partner[i] < 0 and begin[i + 1] > begin[i]:
            rest[n_rest] = i
            n_rest += 1
    n_rest = _auction(begin, column, cost, partner, owner, u, v, rest, n_rest)
    _exchange(begin, column, cost, partner, owner, u, v, rest[:n_rest])
    return partner


@kernel
def _auction(begin, column, cost, partner, owner, u, v, rest, n_rest):
    """Let the first ``n_rest`` rows of ``rest`` outbid others; the number of rows left over, which then stand there."""
    at = 0
    todo = n_rest
    n_rest = 0
    for _ in range(_BIDS * todo):
        if at == todo:
            break
        i = rest[at]
        at += 1
        first = np.int64(_ALONE)
        second = np.int64(_ALONE)
        best = np.int64(-1)
        other = np.int64(-1)
        for k in range(begin[i], begin[i + 1]):
            j = column[k]
            price = cost[k] - v[j]
            if price < first:
                second = first
                other = best
                first = price
                best = j
            elif price < second:
                second = price
                other = j
        u[i] = second
        if first == second and best >= 0 and owner[best] >= 0:
            best = other
        if best < 0:
            continue
        loser = owner[best]
        if first == second and loser >= 0:
            rest[n_rest] = i
            n_rest += 1
            continue
        v[best] -= second - first
        owner[best] = i
        partner[i] = best
        if loser >= 0:
            partner[loser] = -1
            at -= 1
            rest[at] = loser
    for k in range(at, todo):
        rest[n_rest] = rest[k]
        n_rest += 1
    return n_rest


@kernel
def _exchange(begin, column, cost, partner, owner, u, v, rest):
    """Find the best place for each row of ``rest`` in turn."""
    n_columns = v.size
    far = np.int64(1) << 60
    distance = np.full(n_columns, far)
    before = np.empty(n_columns, np.int64)
    settled = np.empty(n_columns, np.int64)
    touched = np.empty(n_columns, np.int64)
    keys = np.empty(column.size + 1, np.int64)
    items = np.empty(column.size + 1, np.int64)
    for start in rest:
        n_settled = 0
        n_touched = 0
        size = 0
        i = start
        base = np.int64(0)
        alone = _ALONE - u[start]  # the least price of leaving a row of the tree alone
        leaver = start
        end = np.int64(-1)
        while True:
            for k in range(begin[i], begin[i + 1]):
                j = column[k]
                d = base + cost[k] - u[i] - v[j]
                if d < distance[j] and d < alone:
                    if distance[j] == far:
                        touched[n_touched] = j
                        n_touched += 1
                    distance[j] = d
                    before[j] = i
                    _push(keys, items, size, d, j)
                    size += 1
            found = False
            while size > 0 and not found:
                base = keys[0]
                j = items[0]
                _pop(keys, items, size)
                size -= 1
                found = base == distance[j]
            if not found or base >= alone:
                break
            if owner[j] < 0:
                end = j
                break
            settled[n_settled] = j
            n_settled += 1
            i = owner[j]
            if base + _ALONE - u[i] < alone:
                alone = base + _ALONE - u[i]
                leaver = i
        total = distance[end] if end >= 0 else alone
        u[start] += total
        for k in range(n_settled):
            j = settled[k]
            v[j] += distance[j] - total
            u[owner[j]] += total - distance[j]
        for k in range(n_touched):
            distance[touched[k]] = far
        if end < 0:
            end = partner[leaver]
            partner[leaver] = -1
        while end >= 0:
            i = before[end]
            owner[end] = i
            following = partner[i]
            partner[i] = end
            end = following


@kernel
def _pairs(begin, column, cost, spots, index, steps, lengths):
    """Fill the pairs of each spot with the numbers that ``index`` holds around it."""
    n = 0
    for i in range(spots.size):
        begin[i] = n
        for k in range(steps.size):
            j = index[spots[i] + steps[k]]
            if j >= 0:
                column[n] = j
                cost[n] = lengths[k]
                n += 1
    begin[spots.size] = n
    return n


@kernel
def match(one, two, margin, steps, lengths):
    """Match the pixels of two padded maps; mark those that found a partner.

    Parameters
    ----------
    one, two : (H, W) uint8 of zeros and ones, zero within ``margin`` of the border.
    steps, lengths : from :func:`offsets`, of a reach that is at most the margin.

    Returns
    -------
    Maps like ``one`` and ``two``, one where a pixel has a partner.
    """
    first, second = one.reshape(one.size), two.reshape(two.size)
    found_one, found_two = np.zeros(one.size, np.uint8), np.zeros(one.size, np.uint8)
    here = np.flatnonzero(first)
    there = np.flatnonzero(second)
    swapped = here.size > there.size
    if swapped:
        here, there = there, here
    index = np.full(one.size, np.int32(-1))
    for j in range(there.size):
        index[there[j]] = j
    flat = steps[:, 0] * one.shape[1] + steps[:, 1]
    begin = np.empty(here.size + 1, np.int64)
    room = np.int64(0)
    for i in range(here.size):
        for k in range(flat.size):
            room += index[here[i] + flat[k]] >= 0
    column, cost = np.empty(room, np.int64), np.empty(room, np.int64)
    _pairs(begin, column, cost, here, index, flat, lengths)
    partner = assign(begin, column, cost, np.int64(there.size))
    for i in range(here.size):
        if partner[i] >= 0:
            if swapped:
                found_two[here[i]] = 1
                found_one[there[partner[i]]] = 1
            else:
                found_one[here[i]] = 1
                found_two[there[partner[i]]] = 1
    return found_one.reshape(one.shape), found_two.reshape(one.shape)


@kernel
def count_matches(values, truths, thresholds, reach, thinning, counts):
    """Count what is matched at each threshold.

    Parameters
    ----------
    values : (H, W) float64; pixels at or above a threshold are boundary, zeros never.
    truths : (A, H, W) uint8, zero or one, from each annotator.
    thresholds : (K,) rising.
    reach : how far apart partners may be, in pixels.
    thinning : whether the boundary is thinned first.
    counts : (K, 3) filled with true pixels matched, over all annotators; predicted pixels matched to some annotator;
        predicted pixels.
    """
    height, width = values.shape
    margin = max(np.int64(reach), np.int64(1))
    steps, lengths = offsets(reach)
    shape = (height + 2 * margin, width + 2 * margin)
    inner = (slice(margin, margin + height), slice(margin, margin + width))
    before = np.int64(-1)
    previous = np.zeros(shape, np.uint8)
    for k in range(thresholds.size - 1, -1, -1):
        mask = np.zeros(shape, np.uint8)
        n = np.int64(0)
        for y in range(height):
            for x in range(width):
                if values[y, x] >= thresholds[k] and values[y, x] > 0.0:
                    mask[y + margin, x + margin] = 1
                    n += 1
        if n == before:
            counts[k] = counts[k + 1]
            continue
        before = n
        if thinning:
            thin(mask)
        if k < thresholds.size - 1 and np.array_equal(mask, previous):
            counts[k] = counts[k + 1]
            continue
        previous = mask
        hit = np.zeros(shape, np.uint8)
        matched = np.int64(0)
        for a in range(truths.shape[0]):
            truth = np.zeros(shape, np.uint8)
            truth[inner] = truths[a]
            one, two = match(mask, truth, margin, steps, lengths)
            hit |= one
            matched += two.sum()
        counts[k, 0] = matched
        counts[k, 1] = hit.sum()
        counts[k, 2] = mask.sum()
