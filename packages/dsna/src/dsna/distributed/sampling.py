"""The second pass: a bounded sample of the rows of all partitions, and the held-out fold of every row.

Every row has a hash, of its key or of its number in the table. A sample holds the rows of lowest hash of each class or
range of targets, so it depends neither on the worker nor on the order in which partitions are read.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from ..forest.held_out import N_FOLDS
from .blocks import Partition
from .count import Totals

_EXTRA_ROWS = 64
_EXTRA_DEVIATIONS = 8.0  # standard deviations by which the partitions offer more rows than the sample takes
_FOLD_STREAM, _DRAW_STREAM = 1, 2  # streams of hashes


def mixed(values: np.ndarray, stream: int) -> np.ndarray:
    """Hash (n,) uint64 numbers to uint64; streams are independent of each other.

    Examples
    --------
    >>> import numpy as np
    >>> hashes = mixed(np.arange(10_000, dtype=np.uint64), 1) / 2.0**64
    >>> bool(abs(hashes.mean() - 0.5) < 0.01)
    True
    """
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15) * np.uint64(2 * stream + 1)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def hash_values(values: np.ndarray) -> np.ndarray:
    """Hash (n,) keys or groups to uint64; equal values have equal hashes in all partitions.

    Examples
    --------
    >>> import numpy as np
    >>> bool(hash_values(np.array(["a", "b"]))[0] == hash_values(np.array(["c", "a"], dtype=object))[1])
    True
    """
    if values.dtype.kind in "biu":
        return mixed(values.astype(np.int64).view(np.uint64), 0)
    texts, codes = np.unique([str(value) for value in values.tolist()], return_inverse=True)
    digests = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") for text in texts]
    return np.asarray(np.array(digests, dtype=np.uint64)[codes]) if len(texts) else np.empty(0, dtype=np.uint64)


class Hashes(NamedTuple):
    """Row numbers, hashes and folds of the rows of a partition."""

    number: np.ndarray  # (n,) number of each row in the table
    key: np.ndarray  # (n,) uint64
    fold: np.ndarray  # (n,) held-out fold by the hash of the row or of its group

    @property
    def draw(self) -> np.ndarray:
        """(n,) uniform random numbers; rows of low numbers are sampled and kept first."""
        return mixed(self.key, _DRAW_STREAM) / 2.0**64


def hash_rows(partition: Partition, first: int, seed: int) -> Hashes:
    """Hash the rows of a partition whose first row has the number ``first``."""
    number = first + partition.position
    salt = mixed(np.array([seed], dtype=np.int64).view(np.uint64), 3)
    key = mixed((number.view(np.uint64) if partition.key is None else hash_values(partition.key)) ^ salt, 4)
    fold_key = key if partition.group is None else hash_values(partition.group) ^ salt
    return Hashes(number, key, (mixed(fold_key, _FOLD_STREAM) % np.uint64(N_FOLDS)).astype(np.int64))


def quotas(counts: np.ndarray, sample_size: int) -> np.ndarray:
    """(strata,) number of sampled rows of each stratum: all of rare ones, equal numbers of the others.

    Examples
    --------
    >>> import numpy as np
    >>> quotas(np.array([1_000_000, 40, 5_000_000]), 1000).tolist()
    [480, 40, 480]
    """
    quota = np.zeros(len(counts), dtype=np.int64)
    remaining = sample_size
    for rank, stratum in enumerate(np.argsort(counts, kind="stable")):
        quota[stratum] = min(counts[stratum], max(1, remaining // (len(counts) - rank)))
        remaining -= quota[stratum]
    return quota


class Sample(NamedTuple):
    """The n rows of a sample."""

    X: np.ndarray  # (n, d) on the common scale
    y: np.ndarray  # (n,) class numbers, or (n, q) targets
    stratum: np.ndarray
    weight: np.ndarray  # (n,) sample weights; after ``merge_offers`` scaled to stand for all rows
    number: np.ndarray  # (n,) in the table
    draw: np.ndarray
    fold: np.ndarray  # (n,) by hash
    group: np.ndarray  # (n,) uint64 hashes of groups; of the rows themselves in a table without groups


def offer(data: Any, partition_number: int, totals: Totals, quota: np.ndarray, seed: int) -> Sample:
    """Select the rows of a partition whose draw is low enough that they may belong to the sample."""
    partition, y, stratum = totals.read(data, partition_number)
    hashes = hash_rows(partition, int(totals.offsets[partition_number]), seed)
    draw = hashes.draw
    n_offered = quota + _EXTRA_DEVIATIONS * np.sqrt(quota) + _EXTRA_ROWS
    draw_limit = np.where(quota < totals.counts, n_offered, np.inf) / np.maximum(totals.counts, 1)
    candidates = np.flatnonzero(draw < draw_limit[stratum])
    group = hashes.key if partition.group is None else hash_values(partition.group)
    return Sample(
        totals.scaling.transform(partition.X[candidates]),
        (stratum if totals.classes is not None else y)[candidates],
        stratum[candidates],
        partition.weight[candidates],
        hashes.number[candidates],
        draw[candidates],
        hashes.fold[candidates],
        group[candidates],
    )


def merge_offers(offers: list[Sample], totals: Totals, quota: np.ndarray) -> Sample:
    """Select the rows of lowest draw of each stratum, and weight them to stand for all rows.

    Trees depend on the order of the sample: it is that of the table or, if rows have keys, that of their draws, so that
    tables with a key may come in any order.
    """
    candidates = Sample(*(np.concatenate(arrays) for arrays in zip(*offers, strict=True)))
    order = np.lexsort((candidates.number, candidates.draw, candidates.stratum))
    stratum = candidates.stratum[order]
    rank = np.arange(len(order)) - np.searchsorted(stratum, stratum)
    selected_rows = order[rank < quota[stratum]]
    sort_key = candidates.number if totals.roles.key is None else candidates.draw
    selected_rows = selected_rows[np.argsort(sort_key[selected_rows], kind="stable")]
    sample = Sample(*(array[selected_rows] for array in candidates))
    sampled_weight = np.bincount(sample.stratum, weights=sample.weight, minlength=len(quota))
    return sample._replace(weight=sample.weight * (totals.weights / np.maximum(sampled_weight, 1e-300))[sample.stratum])


class FoldRule(NamedTuple):
    """Assignment of held-out folds: even for rows of completely sampled strata, by hash for groups and other rows."""

    number: np.ndarray  # (m,) increasing numbers of the rows with evenly assigned folds
    fold: np.ndarray  # (m,) their folds

    @classmethod
    def of(cls, sample: Sample, totals: Totals, quota: np.ndarray) -> FoldRule:
        """Assign folds to the rows of the completely sampled strata."""
        is_complete = quota[sample.stratum] >= totals.counts[sample.stratum]
        rare = np.flatnonzero(is_complete) if not totals.has_groups else np.empty(0, dtype=np.int64)
        rare = rare[np.argsort(sample.number[rare])]
        fold = np.empty(len(rare), dtype=np.int64)
        fold[np.lexsort((sample.draw[rare], sample.stratum[rare]))] = np.arange(len(rare)) % N_FOLDS
        return cls(sample.number[rare], fold)

    def folds(self, number: np.ndarray, hash_fold: np.ndarray) -> np.ndarray:
        """(n,) folds of rows, given their numbers and their folds by hash."""
        if not len(self.number):
            return hash_fold
        position = np.minimum(np.searchsorted(self.number, number), len(self.number) - 1)
        return np.where(self.number[position] == number, self.fold[position], hash_fold)
