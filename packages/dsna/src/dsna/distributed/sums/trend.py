"""Sums that the trend of a regression is solved from, over the rows of all partitions, fold by fold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._utils.parallel import chunks, one_blas_thread
from ...trend.ridge import FoldSums
from ...trend.trend import TrendColumns, trend_weights
from ..count import Totals
from ..sampling import FoldRule, hash_rows

_CHUNK_ROWS = 8192


class TrendPass(NamedTuple):
    """Settings of the sums, the same for all partitions."""

    totals: Totals
    folds: FoldRule
    seed: int
    columns: TrendColumns
    density: Any  # of the targets


def trend_sums(data: Any, partition_number: int, settings: TrendPass) -> FoldSums:
    """Sum over the rows of a partition."""
    totals, columns = settings.totals, settings.columns
    partition, y, _ = totals.read(data, partition_number)
    hashes = hash_rows(partition, int(totals.offsets[partition_number]), settings.seed)
    fold = settings.folds.folds(hashes.number, hashes.fold)
    n_columns, n_values = columns.columns.shape[1], columns.responses(np.zeros((1, len(totals.low)))).shape[1]
    sums = FoldSums(np.empty((0, n_columns)), np.empty((0, n_values)), np.empty(0), np.empty(0, dtype=np.int64))
    with one_blas_thread():
        for chunk in chunks(len(y), _CHUNK_ROWS):
            F, values = columns.transform(totals.scaling.transform(partition.X[chunk])), columns.responses(y[chunk])
            weight = trend_weights(partition.weight[chunk], settings.density.evaluate(y[chunk]))
            sums = sums.plus(FoldSums(F, values, weight, fold[chunk]))
    return sums
