"""Sums that the trend of a regression is solved from, over the rows of all partitions, fold by fold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._utils.parallel import chunks, one_blas_thread
from ...trend.ridge import FoldSums
from ...trend.trend import TrendColumns, trend_weights
from ..count import Totals
from ..sampling import FoldRule, hash_rows

_AT_ONCE = 8192


class TrendPass(NamedTuple):
    """What makes sums of rows: it is the same for all partitions."""

    totals: Totals
    folds: FoldRule
    seed: int
    columns: TrendColumns
    density: Any  # of the targets


def trend_sums(data: Any, number: int, told: TrendPass) -> FoldSums:
    """The sums of a partition."""
    totals, columns = told.totals, told.columns
    block, y, _ = totals.block(data, number)
    hashes = hash_rows(block, int(totals.offsets[number]), told.seed)
    fold = told.folds.folds(hashes.number, hashes.fold)
    r, k = columns.columns.shape[1], columns.responses(np.zeros((1, len(totals.low)))).shape[1]
    sums = FoldSums(np.empty((0, r)), np.empty((0, k)), np.empty(0), np.empty(0, dtype=np.int64))
    with one_blas_thread():
        for part in chunks(len(y), _AT_ONCE):
            F, responses = columns.transform(totals.scaling.transform(block.X[part])), columns.responses(y[part])
            weight = trend_weights(block.weight[part], told.density.evaluate(y[part]))
            sums = sums.plus(FoldSums(F, responses, weight, fold[part]))
    return sums


def add_trend_sums(one: FoldSums, other: FoldSums) -> FoldSums:
    """The sums of both."""
    return one.plus(other)
