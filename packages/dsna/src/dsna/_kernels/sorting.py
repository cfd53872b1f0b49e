"""Order and rank of a few hundred numbers; small enough to compile in a fraction of the time that numpy's take."""

import numpy as np

from .jit import kernel

RUN = 8
FEW = 32  # values that are merged at once
CROWDED = 8  # mean square of the values in a bucket


@kernel
def order_of(values):
    """Indices that sort the values, rising; equals stay in the order in which they come.

    Values are dealt to as many buckets as there are values, which leaves little to sort; where many fall into a few
    buckets, they are merged instead.
    """
    n = values.shape[0]
    if n < FEW:
        return _merged(values)
    low = values[0]
    high = values[0]
    for i in range(n):
        low = min(low, values[i])
        high = max(high, values[i])
    scale = (n - 1) / (high - low)
    if not 0.0 < scale < np.inf:
        return _merged(values)
    bucket = np.empty(n, np.int64)
    end = np.zeros(n + 1, np.int64)
    for i in range(n):
        bucket[i] = min(max(np.int64((values[i] - low) * scale), 0), n - 1)
        end[bucket[i] + 1] += 1
    pairs = 0
    for b in range(n):
        pairs += end[b + 1] * end[b + 1]
        end[b + 1] += end[b]
    if pairs > CROWDED * n:
        return _merged(values)
    order = np.empty(n, np.int64)
    sorted_values = np.empty(n)
    for i in range(n):
        at = end[bucket[i]]
        end[bucket[i]] += 1
        order[at] = i
        sorted_values[at] = values[i]
    for k in range(1, n):
        value = sorted_values[k]
        i = order[k]
        j = k
        while j > 0 and value < sorted_values[j - 1]:
            sorted_values[j] = sorted_values[j - 1]
            order[j] = order[j - 1]
            j -= 1
        sorted_values[j] = value
        order[j] = i
    return order


@kernel
def _merged(values):
    """The same by merging."""
    n = values.shape[0]
    order = np.empty(n, np.int64)
    spare = np.empty(n, np.int64)
    for start in range(0, n, RUN):
        for k in range(start, min(start + RUN, n)):
            j = k
            while j > start and values[k] < values[order[j - 1]]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            left = start
            right = middle
            for k in range(start, end):
                if left < middle and (right >= end or not values[order[right]] < values[order[left]]):
                    spare[k] = order[left]
                    left += 1
                else:
                    spare[k] = order[right]
                    right += 1
        order, spare = spare, order
        width *= 2
    return order


@kernel
def kth_smallest(values, n, k):
    """The k-th smallest of ``values[:n]``, counted from 0; the values are left in another order."""
    low = 0
    high = n - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]
