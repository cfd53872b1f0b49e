"""Sorting and selection for a few hundred numbers; compiles in a fraction of the time of numpy's functions."""

import numpy as np

from .jit import kernel

RUN_LENGTH = 8
MERGE_BELOW = 32  # fewer values are merge-sorted without buckets
MAX_MEAN_SQUARE = 8  # largest mean of the squared bucket sizes for which buckets are used


@kernel
def order_of(values):
    """Return the indices that sort the values in ascending order; the sort is stable.

    Values are distributed over as many buckets as there are values, which leaves little to sort. Where a few buckets
    receive most of the values, merge sort is used instead.
    """
    n = values.shape[0]
    if n < MERGE_BELOW:
        return _merge_sort(values)
    low = values[0]
    high = values[0]
    for i in range(n):
        low = min(low, values[i])
        high = max(high, values[i])
    buckets_per_unit = (n - 1) / (high - low)
    if not 0.0 < buckets_per_unit < np.inf:
        return _merge_sort(values)
    bucket = np.empty(n, np.int64)
    bucket_end = np.zeros(n + 1, np.int64)
    for i in range(n):
        bucket[i] = min(max(np.int64((values[i] - low) * buckets_per_unit), 0), n - 1)
        bucket_end[bucket[i] + 1] += 1
    square_sum = 0
    for b in range(n):
        square_sum += bucket_end[b + 1] * bucket_end[b + 1]
        bucket_end[b + 1] += bucket_end[b]
    if square_sum > MAX_MEAN_SQUARE * n:
        return _merge_sort(values)
    order = np.empty(n, np.int64)
    sorted_values = np.empty(n)
    for i in range(n):
        position = bucket_end[bucket[i]]
        bucket_end[bucket[i]] += 1
        order[position] = i
        sorted_values[position] = values[i]
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
def _merge_sort(values):
    """Return the same order by merge sort."""
    n = values.shape[0]
    order = np.empty(n, np.int64)
    merged_order = np.empty(n, np.int64)
    for start in range(0, n, RUN_LENGTH):
        for k in range(start, min(start + RUN_LENGTH, n)):
            j = k
            while j > start and values[k] < values[order[j - 1]]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
    width = RUN_LENGTH
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            left = start
            right = middle
            for k in range(start, end):
                if left < middle and (right >= end or not values[order[right]] < values[order[left]]):
                    merged_order[k] = order[left]
                    left += 1
                else:
                    merged_order[k] = order[right]
                    right += 1
        order, merged_order = merged_order, order
        width *= 2
    return order


@kernel
def kth_smallest(values, n, k):
    """Return the k-th smallest of ``values[:n]``, counted from 0; reorders the values."""
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
