"""Matched boundary pixels against scipy's assignment: as many pairs, and as short in all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from dsna_vision._kernels.matching import ABSENT, rematch
from dsna_vision.edges.scoring.evaluation import _UNIT, _count, _steps_within


def oracle(one, two, reach):
    """Number of pairs and their total length; pixels of ``one`` may stay alone, in a column of their own."""
    here, there = np.argwhere(one), np.argwhere(two)
    if not len(here) or not len(there):
        return 0, 0.0
    lengths = np.hypot(*np.moveaxis(here[:, None] - there, -1, 0))
    i, j = np.nonzero(lengths <= reach)
    own = np.arange(len(here))
    weights = np.r_[1.0 + lengths[i, j], np.full(len(here), 1e5)]  # scipy takes zeros for missing entries
    where = np.r_[i, own], np.r_[j, len(there) + own]
    rows, columns = min_weight_full_bipartite_matching(
        csr_matrix((weights, where), (len(here), len(there) + len(here)))
    )
    paired = columns < len(there)
    return paired.sum(), lengths[rows[paired], columns[paired]].sum()


class Matcher:
    """An assignment to one truth that is mended from map to map."""

    def __init__(self, truth, reach):
        self.margin = max(1, int(reach))
        padded = np.pad(truth, self.margin)
        self.spots = np.flatnonzero(padded)
        self.index = np.full(padded.size, -1, np.int32)
        self.index[self.spots] = np.arange(len(self.spots))
        self.steps, self.lengths = _steps_within(reach, padded.shape[1])
        self.u, self.v = np.zeros(padded.size, np.int64), np.zeros(len(self.spots), np.int64)
        self.partner = np.full(padded.size, ABSENT, np.int32)
        self.owner = np.full(len(self.spots), -1)
        self.hits = np.zeros(padded.size, np.int64)
        self.before = np.zeros(padded.size, bool)
        self.width = padded.shape[1]
        self.pairs = 0

    def show(self, predicted):
        now = np.pad(predicted, self.margin).ravel()
        gone, come = np.flatnonzero(self.before & ~now), np.flatnonzero(now & ~self.before)
        state = self.u, self.partner, self.v, self.owner, self.hits
        more, _ = rematch(gone, come, self.index, self.spots, self.steps, self.lengths, *state)
        self.pairs += more
        self.before = now
        rows = np.flatnonzero(self.partner >= 0)
        assert np.array_equal(self.owner[self.partner[rows]], rows)
        assert len(rows) == self.pairs == (self.owner >= 0).sum() == (self.hits > 0).sum()
        assert np.array_equal(np.flatnonzero(self.partner != ABSENT), np.flatnonzero(now))
        away = np.array(np.divmod(rows, self.width)) - np.divmod(self.spots[self.partner[rows]], self.width)
        return self.pairs, np.hypot(*away).sum()


def pictures(rng, n):
    shape = rng.integers(1, 24, 2)
    return [rng.random(shape) < rng.choice([0.05, 0.3, 0.8]) for _ in range(n)]


@given(st.integers(0, 10**6), st.floats(0.3, 5.0))
@settings(max_examples=60)
def test_one_map(seed, reach):
    predicted, truth = pictures(np.random.default_rng(seed), 2)
    n, length = Matcher(truth, reach).show(predicted)
    assert (n, length) == (
        oracle(predicted, truth, reach)[0],
        pytest.approx(oracle(predicted, truth, reach)[1], abs=1e-3),
    )


@given(st.integers(0, 10**6), st.floats(0.3, 5.0))
@settings(max_examples=40)
def test_map_after_map(seed, reach):
    truth, *maps = pictures(np.random.default_rng(seed), 5)
    matcher = Matcher(truth, reach)
    for predicted in [*maps, np.zeros_like(truth), maps[0]]:
        n, length = oracle(predicted, truth, reach)
        assert matcher.show(predicted) == (n, pytest.approx(length, abs=1e-3))


def test_long_lines_are_shifted_as_one():
    truth, predicted = np.zeros((2, 40, 300), bool)
    truth[20, :200] = True
    predicted[20, 1:201] = True
    predicted[21, 100] = True
    assert Matcher(truth, 3.0).show(predicted) == (200, pytest.approx(oracle(predicted, truth, 3.0)[1]))


def test_counts_of_all_annotators():
    rng = np.random.default_rng(0)
    values = np.round(rng.random((30, 40)), 1)
    truths = (rng.random((3, 30, 40)) < 0.1).astype(np.uint8)
    levels = np.array([0.15, 0.5, 0.55, 0.95])  # nothing lies between the two in the middle
    counts = _count(values, truths, levels, 0.05, False)
    for level, found in zip(levels, counts, strict=True):
        each = [oracle(values >= level, truth, 2.5)[0] for truth in truths]
        assert found[0] == sum(each)
        assert found[1] == truths.sum()
        assert max(each) <= found[2] <= sum(each)
        assert found[3] == (values >= level).sum()
    assert np.array_equal(counts[1][3:], [(values >= 0.5).sum()])


def test_lengths_are_exact_enough():
    steps, lengths = _steps_within(4.34, 100)
    assert len(steps) == len(set(steps.tolist())) == 61
    assert np.all(np.diff(lengths) >= 0)
    assert lengths[0] == 0
    assert lengths[-1] == round(_UNIT * np.sqrt(18))
