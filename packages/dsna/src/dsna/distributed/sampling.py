"""The second pass: a bounded sample of the rows of all partitions, and the held-out fold of every row.

Every row has a hash, of its key or of its number in the table. A sample holds the rows of lowest hash of each class or
range of targets, so it depends neither on the worker nor on the order in which partitions are read.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from ..forest.held_out import N_FOLDS
from .blocks import Block
from .count import Totals

_ROUND = 64
_SURE = 8.0  # standard deviations by which a partition offers more rows than are needed
_FOLD, _KEEP = 1, 2  # streams of hashes


def mixed(values: np.ndarray, stream: int) -> np.ndarray:
    """(n,) uint64 hashes of uint64 numbers; streams are independent of each other.

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
    """(n,) uint64 hashes of keys or groups; equal values have equal hashes in all partitions.

    Examples
    --------
    >>> import numpy as np
    >>> bool(hash_values(np.array(["a", "b"]))[0] == hash_values(np.array(["c", "a"], dtype=object))[1])
    True
    """
    if values.dtype.kind in "biu":
        return mixed(values.astype(np.int64).view(np.uint64), 0)
    names, at = np.unique([str(one) for one in values.tolist()], return_inverse=True)
    digests = [int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little") for name in names]
    return np.asarray(np.array(digests, dtype=np.uint64)[at]) if len(names) else np.empty(0, dtype=np.uint64)


class Hashes(NamedTuple):
    """What is drawn for the rows of a block."""

    number: np.ndarray  # (n,) number of each row in the table
    key: np.ndarray  # (n,) uint64
    fold: np.ndarray  # (n,) held-out fold by the hash of the row or of its group

    @property
    def draw(self) -> np.ndarray:
        """(n,) uniform numbers by which rows are drawn."""
        return mixed(self.key, _KEEP) / 2.0**64


def hash_rows(block: Block, first: int, seed: int) -> Hashes:
    """Hashes of the rows of a block whose first row has a number."""
    number = first + block.position
    salt = mixed(np.array([seed], dtype=np.int64).view(np.uint64), 3)
    key = mixed((number.view(np.uint64) if block.key is None else hash_values(block.key)) ^ salt, 4)
    by = key if block.group is None else hash_values(block.group) ^ salt
    return Hashes(number, key, (mixed(by, _FOLD) % np.uint64(N_FOLDS)).astype(np.int64))


def quotas(counts: np.ndarray, most: int) -> np.ndarray:
    """(strata,) rows that a sample takes of each stratum: rare ones whole, the others in equal parts.

    Examples
    --------
    >>> import numpy as np
    >>> quotas(np.array([1_000_000, 40, 5_000_000]), 1000).tolist()
    [480, 40, 480]
    """
    quota = np.zeros(len(counts), dtype=np.int64)
    left = most
    for place, s in enumerate(np.argsort(counts, kind="stable")):
        quota[s] = min(counts[s], max(1, left // (len(counts) - place)))
        left -= quota[s]
    return quota


class Sample(NamedTuple):
    """Rows of a sample; n rows."""

    X: np.ndarray  # (n, d) on the common scale
    y: np.ndarray  # (n,) class numbers, or (n, q) targets
    stratum: np.ndarray
    weight: np.ndarray  # (n,) of the rows themselves
    number: np.ndarray
    draw: np.ndarray
    fold: np.ndarray  # (n,) by hash
    group: np.ndarray  # (n,) uint64 hashes of groups; of rows where there are no groups


def offer(data: Any, number: int, totals: Totals, quota: np.ndarray, seed: int) -> Sample:
    """The rows of a partition that may belong to the sample: those whose draw is low enough in any case."""
    block, y, stratum = totals.block(data, number)
    hashes = hash_rows(block, int(totals.offsets[number]), seed)
    draw = hashes.draw
    wanted = np.where(quota < totals.counts, quota + _SURE * np.sqrt(quota) + _ROUND, np.inf)
    some = np.flatnonzero(draw < (wanted / np.maximum(totals.counts, 1))[stratum])
    group = hashes.key if block.group is None else hash_values(block.group)
    return Sample(
        totals.scaling.transform(block.X[some]),
        (stratum if totals.classes is not None else y)[some],
        stratum[some],
        block.weight[some],
        hashes.number[some],
        draw[some],
        hashes.fold[some],
        group[some],
    )


def settle_sample(offers: list[Sample], totals: Totals, quota: np.ndarray) -> Sample:
    """The rows of lowest draw of each stratum, weighted to stand for all rows.

    They come in the order of the table or, where a key says which row is which, in that of their draws: trees depend on
    the order, and tables with a key may come in any.
    """
    every = Sample(*(np.concatenate(parts) for parts in zip(*offers, strict=True)))
    order = np.lexsort((every.number, every.draw, every.stratum))
    stratum = every.stratum[order]
    rank = np.arange(len(order)) - np.searchsorted(stratum, stratum)
    chosen = order[rank < quota[stratum]]
    by = every.number if totals.roles.key is None else every.draw
    chosen = chosen[np.argsort(by[chosen], kind="stable")]
    found = Sample(*(a[chosen] for a in every))
    held = np.bincount(found.stratum, weights=found.weight, minlength=len(quota))
    return found._replace(weight=found.weight * (totals.weights / np.maximum(held, 1e-300))[found.stratum])


class FoldRule(NamedTuple):
    """Held-out folds: rows of strata that are whole in the sample evenly, the others (and groups) by hash."""

    number: np.ndarray  # (m,) rows that are dealt evenly, by rising number
    fold: np.ndarray  # (m,) their folds

    @classmethod
    def of(cls, sample: Sample, totals: Totals, quota: np.ndarray) -> FoldRule:
        """The rule that a sample makes."""
        whole = quota[sample.stratum] >= totals.counts[sample.stratum]
        rare = np.flatnonzero(whole) if not totals.grouped else np.empty(0, dtype=np.int64)
        rare = rare[np.argsort(sample.number[rare])]
        fold = np.empty(len(rare), dtype=np.int64)
        fold[np.lexsort((sample.draw[rare], sample.stratum[rare]))] = np.arange(len(rare)) % N_FOLDS
        return cls(sample.number[rare], fold)

    def folds(self, number: np.ndarray, by_hash: np.ndarray) -> np.ndarray:
        """(n,) fold of rows of given numbers and hash folds."""
        if not len(self.number):
            return by_hash
        at = np.minimum(np.searchsorted(self.number, number), len(self.number) - 1)
        return np.where(self.number[at] == number, self.fold[at], by_hash)
